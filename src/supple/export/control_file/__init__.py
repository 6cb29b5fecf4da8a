"""Export of a reduced model as a python-control system that does not need supple."""
