"""Reduced models: evaluate, forward and inverse dynamics, simulate, linearize, save. Runs without the mechanism."""
