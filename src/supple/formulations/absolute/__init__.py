"""Nonlinear equations of motion in absolute coordinates: bodies on R³ × SO(3), multipliers, generalized-α."""
