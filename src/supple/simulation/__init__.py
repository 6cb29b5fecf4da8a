"""Simulation in time: one driver, and the runs of every kind of system that it advances."""
