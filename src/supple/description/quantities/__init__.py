"""Quantities: numbers with units, expressions, dimensions."""
