"""Simulation in time: a common driver, and the runs of every kind of system that it advances."""
