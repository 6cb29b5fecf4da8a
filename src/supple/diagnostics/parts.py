"""How the user calls a part of the mechanism file."""

from __future__ import annotations

from supple.diagnostics.errors import InputError
from supple.diagnostics.quoting import quoted

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
