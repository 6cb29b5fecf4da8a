"""Errors and warnings that help: the part, the value, the limit, the next step."""

from supple.diagnostics.errors import (
    EarlyEnd,
    InputError,
    NumericalError,
    SuppleError,
    SuppleNote,
    SuppleWarning,
    nearest,
)

__all__ = ["EarlyEnd", "InputError", "NumericalError", "SuppleError", "SuppleNote", "SuppleWarning", "nearest"]
