"""Stability margins of a linear loop: gain, phase, delay and disk, one input at a time and all together."""
