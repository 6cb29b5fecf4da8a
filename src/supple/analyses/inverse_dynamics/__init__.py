"""Inverse dynamics: the forces that a motion needs, and who gives them."""
