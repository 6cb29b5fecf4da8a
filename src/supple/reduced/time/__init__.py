"""Simulation of reduced models in time."""
