"""Export of a reduced model as plain data: numbers and names for other programs."""
