"""Frozen description of a mechanism, with the names of the mechanism file."""
