"""Elastic parts that a computation takes as rigid: said, unless that was asked for."""

from __future__ import annotations

import warnings

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleWarning


def taken_as_rigid(
    mechanism: Mechanism, meant: bool, instead: str, *, names: tuple[str, ...] | None = None, stacklevel: int = 3
) -> tuple[str, ...]:
    """The names of elastic parts that do not deform in what follows; unless that is meant, a SuppleWarning.

    instead    : what lets them deform, the next step of one who did not mean it
    names      : which; all of them if left out
    stacklevel : as `warnings.warn` counts; 3 is the line that called who calls this
    """
    names = mechanism.elastic_names if names is None else names
    if names and not meant:
        listed = ", ".join(f'"{name}"' for name in names[:12]) + (", ..." if len(names) > 12 else "")
        subject = f"its elastic parts {listed} are" if len(names) > 1 else f"its elastic part {listed} is"
        warnings.warn(
            f'mechanism "{mechanism.name}": {subject} taken as rigid; {instead}, '
            "or say rigid=True (--rigid) if that is meant",
            SuppleWarning,
            stacklevel=stacklevel,
        )
    return names


def require_rigid_alone(rigid: bool, modes: bool) -> None:
    """Refuse modes of deformation where everything is asked to be rigid."""
    if rigid and modes:
        raise InputError(
            "constraint or internal modes are asked for as well, and they deform", part="rigid", hint="leave one out"
        )
