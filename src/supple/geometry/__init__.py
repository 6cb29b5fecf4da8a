"""Vectors, rotations, and the mass properties of rigid bodies."""
