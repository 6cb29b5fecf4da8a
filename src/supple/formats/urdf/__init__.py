"""URDF robots, and the file beside them."""
