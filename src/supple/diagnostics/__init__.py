"""Errors and warnings that help: the part, the value, the limit, the next step."""

from supple.diagnostics.errors import (
    ClusterError,
    EarlyEnd,
    InputError,
    NumericalError,
    SuppleError,
    SuppleNote,
    SuppleWarning,
    nearest,
)

__all__ = [
    "ClusterError", "EarlyEnd", "InputError", "NumericalError", "SuppleError", "SuppleNote", "SuppleWarning", "nearest",
]  # fmt: skip
