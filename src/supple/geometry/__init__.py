"""Rotations, rigid motions and spatial inertia."""
