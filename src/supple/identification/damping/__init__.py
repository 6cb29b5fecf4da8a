"""Damping from measured responses."""
