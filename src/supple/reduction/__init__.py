"""Sampling local models over a region, keeping them, and fitting the reduced model."""
