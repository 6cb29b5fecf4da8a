"""A reduced model as one Python file that needs NumPy alone."""
