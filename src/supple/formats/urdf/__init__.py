"""URDF robots with their side-cars."""
