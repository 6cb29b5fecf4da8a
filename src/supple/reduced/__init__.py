"""Reduced models: their coefficients, dynamics, simulation and file."""
