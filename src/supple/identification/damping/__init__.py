"""Identification of damping from measured responses."""
