"""Checks of a mechanism: what its file describes, and values that are unusual."""
