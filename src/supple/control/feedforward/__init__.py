"""Feedforward: reference motions, input shaping, inversion, and time-optimal paths."""
