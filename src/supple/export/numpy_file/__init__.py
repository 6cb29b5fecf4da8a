"""Export of a reduced model as one Python file that needs only NumPy."""
