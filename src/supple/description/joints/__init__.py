"""Joints: their kinds, one record each, and their elasticity."""
