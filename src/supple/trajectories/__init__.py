"""Functions of time that a machine shall follow."""
