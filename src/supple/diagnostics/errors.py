"""Errors and warnings, each one sentence with the part, the value, the limit and the next step; and their words."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterable, Sequence
from importlib import import_module
from typing import Any, ClassVar

# The errors and warnings.


class SuppleError(Exception):
    """What went wrong, where, and what to do next.

    message : one clause naming the value and the limit
    part    : what it is about, as the user calls it: ``joint "elbow"``
    hint    : the next step
    path    : keys from the top of the mechanism file, ("joints", "elbow", "axis"); the reader of the
              file turns it into a line
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

    def located(self, file: str | None, line: int | None) -> SuppleError:
        """The same error, knowing its place in a file."""
        return type(self)(self.message, part=self.part, hint=self.hint, path=self.path, file=file, line=line)

    def __str__(self) -> str:
        place = ":".join(str(item) for item in (self.file, self.line) if item is not None)
        head = ": ".join(item for item in (place, self.part, self.message) if item)
        return " ".join((f"{head}; {self.hint}" if self.hint else head).splitlines())  # whatever a value printed


class InputError(SuppleError):
    """The user's input is wrong, or asks for the impossible (exit status 1)."""

    exit_status: ClassVar[int] = 1


class NumericalError(SuppleError):
    """A computation failed numerically (exit status 3)."""

    exit_status: ClassVar[int] = 3


class ClusterError(SuppleError):
    """The machines that work was sent to failed, not the work (exit status 1: it is the user's to mend)."""

    exit_status: ClassVar[int] = 1


class SuppleWarning(UserWarning):
    """Something the user should know that does not stop the work."""


class SuppleNote(UserWarning):
    """How something was taken where what is described cannot be had as it is; nothing is wrong with it."""


class EarlyEnd(SuppleWarning):
    """A run in time ended early; what it returns goes as far as it came."""


class UnstableLoop(SuppleWarning):
    """A controller was made whose loop with the model that it was made on is unstable."""


# Warning at the right line, and refusing what is not known or not installed.


def user_level() -> int:
    """`stacklevel` with which the caller warns at the first line that is not supple's own."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("supple."):
        level, frame = level + 1, frame.f_back
    return level


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a name that is not known: the closest ones, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=2, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(f'"{item}"' for item in close) + "?"
    if not names:
        return "none is defined"
    listed = ", ".join(f'"{item}"' for item in names[:12])
    return f"known: {listed}" + (", ..." if len(names) > 12 else "")


def require_known(what: str, name: str, known: Collection[str], **where: Any) -> None:
    """Refuse a name that is not known, with the closest ones; where : part, path, file and line of an InputError."""
    if name not in known:
        raise InputError(f'there is no {what} "{name}"', hint=nearest(name, known), **where)


def optional_package(module: str, name: str, install: str, part: str | None = None) -> Any:
    """A package that supple does without; where it is not installed an error says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise InputError(
            f"{name} is not installed", part=part, hint=f"install it with: pip install {install}"
        ) from None


# What the user wrote, fit to stand in a message: on one line, printable, of bearable length.


def excerpt(value: object, longest: int = 60) -> str:
    """The text of a value, shortened, with control characters escaped (a terminal would obey them)."""
    text = str(value)[: 4 * longest]
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return line if len(line) <= longest else line[: longest - 3] + "..."


def quoted(value: object, longest: int = 60) -> str:
    """The same in double quotes."""
    return f'"{excerpt(value, longest)}"'


def item_list(items: Sequence[str], most: int = 12) -> str:
    """The items in one line; of many the first ones, and how many more there are."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[: most - 2])} and {len(items) - most + 2} more"


def values_text(names: Iterable[str], values: Iterable[float], digits: int = 6) -> str:
    """`shoulder=0.5, elbow=-1.2`, to so many significant digits."""
    return ", ".join(f"{name}={value:.{digits}g}" for name, value in zip(names, values, strict=True))


# How the user calls a part of the mechanism file.


PARTS = {
    "parameters": "parameter", "points": "point", "materials": "material",
    "sections": "section", "bodies": "body", "frames": "frame", "joints": "joint", "couplings": "coupling",
    "point_masses": "point mass", "springs": "spring", "dampers": "damper", "forces": "force",
    "actuators": "actuator", "sensors": "sensor", "configurations": "configuration", "motions": "motion",
    "scenarios": "scenario", "copies": "copies",
}  # fmt: skip
"""Sections of the file, and what one entry of each is called."""


def part_name(path: tuple[str | int, ...]) -> str | None:
    """The part a path leads to: ("joints", "elbow", "axis") is joint "elbow"; ("gravity",) is gravity."""
    if not path:
        return None
    section = str(path[0])
    if len(path) > 1 and section in PARTS:
        return f"{PARTS[section]} {quoted(path[1])}"
    return section


def fault_at(path: tuple[str | int, ...], message: str, hint: str | None = None) -> InputError:
    """What is wrong with the part, or the number in it, that a path of the mechanism file leads to."""
    return InputError(message, part=part_name(path), path=path, hint=hint)
