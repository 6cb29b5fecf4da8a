"""Atomic writing of files without leftovers."""
