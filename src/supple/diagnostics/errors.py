"""Errors and warnings: one sentence with the part, the value, the limit and the next step; and their formatting."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterable, Sequence
from importlib import import_module
from typing import Any, ClassVar

# The errors and warnings.


class SuppleError(Exception):
    """Base class of supple's errors: what is wrong, where, and what to do next.

    Parameters
    ----------
    message : str
        One clause that names the value and the limit.
    part : str, optional
        Part that the message is about, as the user calls it: ``joint "elbow"``.
    hint : str, optional
        Next step.
    path : tuple, optional
        Keys from the top of the mechanism file, ("joints", "elbow", "axis"). The reader of the file finds its line.
    file : str, optional
        File that is wrong.
    line : int, optional
        Line in the file.
    """

    exit_status: ClassVar[int] = 3

    def __init__(
        self,
        message: str,
        *,
        part: str | None = None,
        hint: str | None = None,
        path: tuple[str | int, ...] = (),
        file: str | None = None,
        line: int | None = None,
    ):
        super().__init__(message)
        self.message, self.part, self.hint = message, part, hint
        self.path, self.file, self.line = path, file, line

    def locate(self, file: str | None, line: int | None) -> SuppleError:
        """Return a copy of the error with its position in a file."""
        return type(self)(self.message, part=self.part, hint=self.hint, path=self.path, file=file, line=line)

    def __str__(self) -> str:
        place = ":".join(str(item) for item in (self.file, self.line) if item is not None)
        head = ": ".join(item for item in (place, self.part, self.message) if item)
        return " ".join((f"{head}; {self.hint}" if self.hint else head).splitlines())  # values may contain line breaks


class InputError(SuppleError):
    """Wrong input, or a request that cannot be met (exit status 1)."""

    exit_status: ClassVar[int] = 1


class NumericalError(SuppleError):
    """Failed computation (exit status 3)."""

    exit_status: ClassVar[int] = 3


class ClusterError(SuppleError):
    """Failure of the machines of a cluster, not of the computation (exit status 1)."""

    exit_status: ClassVar[int] = 1


class SuppleWarning(UserWarning):
    """Warning about the input or the result of a computation, which continues."""


class SuppleNote(UserWarning):
    """Note: an approximation replaced what the file describes, or an assumption was made."""


class EarlyEnd(SuppleWarning):
    """Warning that a simulation ended early; its result covers the time until then."""


class UnstableLoop(SuppleWarning):
    """Warning that a controller is unstable in closed loop with its design model."""


# Stack level of warnings, unknown names and missing packages.


def user_level() -> int:
    """Return the `stacklevel` with which the caller warns at the first line outside supple."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("supple."):
        level, frame = level + 1, frame.f_back
    return level


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name: the closest known names, or all of them."""
    names = list(dict.fromkeys(known))
    close = difflib.get_close_matches(str(name), names, n=2, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(f'"{item}"' for item in close) + "?"
    if not names:
        return "none is defined"
    listed = ", ".join(f'"{item}"' for item in names[:12])
    return f"known: {listed}" + (", ..." if len(names) > 12 else "")


def describe_unknown(what: str, name: object, known: Iterable[str], *, empty: str | None = None) -> tuple[str, str]:
    """Return message and hint for an unknown name: `unknown point "F"`, and the closest known names.

    what  : the thing that has the name, with its owner if necessary: "point", "option of target c"
    empty : hint if no name is known
    """
    names = list(known)
    thing, of, owner = what.partition(" of ")
    return f"unknown {thing} {quote(name)}{of}{owner}", empty if empty and not names else nearest(str(name), names)


def unknown_name(
    what: str, name: object, known: Iterable[str], *, empty: str | None = None, **where: Any
) -> InputError:
    """Return the error for an unknown name, as in `describe_unknown`.

    where : part, path, file and line of the InputError; the part of a path is its own if it is not given
    """
    message, hint = describe_unknown(what, name, known, empty=empty)
    if "path" in where:
        where.setdefault("part", part_name(where["path"]))
    return InputError(message, hint=hint, **where)


def require_known(what: str, name: object, known: Collection[str], *, empty: str | None = None, **where: Any) -> None:
    """Refuse a name that is not among the known ones; arguments as in `unknown_name`."""
    if name not in known:
        raise unknown_name(what, name, known, empty=empty, **where)


def optional_package(module: str, name: str, install: str, part: str | None = None) -> Any:
    """Import an optional package; if it is missing, raise an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(
            f"{name} is not installed", part=part, hint=f"install it with: pip install {install}"
        ) from None


# User input in messages: on one line, printable, shortened.


def excerpt(value: object, longest: int = 60) -> str:
    """Return the text of a value, shortened, with control characters escaped, since a terminal would obey them."""
    text = str(value)[: 4 * longest]
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return line if len(line) <= longest else line[: longest - 3] + "..."


def quote(value: object, longest: int = 60) -> str:
    """Return the excerpt of a value in double quotes."""
    return f'"{excerpt(value, longest)}"'


def item_list(items: Sequence[str], most: int = 12) -> str:
    """Join items in one line; long lists are shortened and end with the number of omitted items."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[: most - 2])} and {len(items) - most + 2} more"


def values_text(names: Iterable[str], values: Iterable[float], digits: int = 6) -> str:
    """Format values by name, `shoulder=0.5, elbow=-1.2`, with a number of significant digits."""
    return ", ".join(f"{name}={value:.{digits}g}" for name, value in zip(names, values, strict=True))


# Names of parts of the mechanism file.


PARTS = {
    "parameters": "parameter", "points": "point", "materials": "material",
    "sections": "section", "bodies": "body", "frames": "frame", "joints": "joint", "couplings": "coupling",
    "point_masses": "point mass", "springs": "spring", "dampers": "damper", "forces": "force",
    "actuators": "actuator", "sensors": "sensor", "configurations": "configuration", "motions": "motion",
    "scenarios": "scenario", "copies": "copies",
}  # fmt: skip
"""Sections of the file, and the name of one entry of each."""


def part_name(path: tuple[str | int, ...]) -> str | None:
    """Return the name of the part at a path, such as joint "elbow" for ("joints", "elbow", "axis")."""
    if not path:
        return None
    section = str(path[0])
    if len(path) > 1 and section in PARTS:
        return f"{PARTS[section]} {quote(path[1])}"
    return section


def fault_at(path: tuple[str | int, ...], message: str, hint: str | None = None) -> InputError:
    """Return an InputError about the part, or the value in it, at a path of the mechanism file."""
    return InputError(message, part=part_name(path), path=path, hint=hint)
