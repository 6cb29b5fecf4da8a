"""Errors and warnings that help: the part, the value, the limit, the next step."""

from supple.diagnostics.errors import InputError, NumericalError, SuppleError, SuppleWarning, nearest

__all__ = ["InputError", "NumericalError", "SuppleError", "SuppleWarning", "nearest"]
