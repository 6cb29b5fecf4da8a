"""Reduction of a mechanism to a small model that is valid over a region of configurations."""
