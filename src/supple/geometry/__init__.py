"""Vectors, rotations and inertia."""
