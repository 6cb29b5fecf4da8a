"""Copies of groups of parts."""
