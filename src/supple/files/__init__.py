"""Atomic writing of files without leftovers, and the check that a file exists."""
