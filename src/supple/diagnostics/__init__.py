"""Errors and warnings that help (the part, the value, the limit, the next step), checks of arguments, and limits."""

from supple.diagnostics.errors import (
    ClusterError,
    EarlyEnd,
    InputError,
    NumericalError,
    SuppleError,
    SuppleNote,
    SuppleWarning,
    UnstableLoop,
    describe_unknown,
    nearest,
    optional_package,
    require_known,
    unknown_name,
    user_level,
)

__all__ = [
    "ClusterError", "EarlyEnd", "InputError", "NumericalError", "SuppleError", "SuppleNote", "SuppleWarning",
    "UnstableLoop", "describe_unknown", "nearest", "optional_package", "require_known",
    "unknown_name", "user_level",
]  # fmt: skip
