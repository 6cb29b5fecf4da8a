"""What is written of a joint's stiffness: six numbers, by direction, or a matrix in the joint's frame.

    stiffness: [1e7, 1e7, rigid, 1e4, 1e4, 0]            x, y, z, rx, ry, rz; in the plane its letters and angle
    stiffness: {x: 1e7, y: 1e7, ry: 1e4, x.ry: 2e4}      by direction, and what couples two of them
    stiffness: [[...], ..., [...]]                        6 x 6, in the plane 3 x 3, symmetric
    stiffness: {ry: {over: lift, at: [0, 1], values: [1e4, 2e4]}}      over a coordinate, or over: load

The same forms hold the damping beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from supple.description.quantities.quantity import (
    NotNegativeOfCoordinate,
    OfCoordinate,
    Part,
    PositiveOfCoordinate,
)

RIGID = "rigid"
LOAD = "load"
_AS_RIGID = BeforeValidator(lambda value: None if value == RIGID else value)


class StiffnessTable(Part):
    """A stiffness that changes with a coordinate or with the load: smooth between the values, constant beyond them."""

    over: str
    """A coordinate of θ; or `load`: what the joint carries in this direction at rest."""
    at: tuple[OfCoordinate, ...] = Field(min_length=2)
    """Values of the coordinate, or sizes of the load (N or N m), rising."""
    values: tuple[PositiveOfCoordinate, ...] = Field(min_length=2)
    """The stiffness there, N/m or N m/rad."""

    @model_validator(mode="after")
    def _as_many(self) -> Self:
        if len(self.at) != len(self.values):
            raise ValueError(f"at has {len(self.at)} entries, and values {len(self.values)}; give one for each")
        for before, after in pairwise(self.at):
            if not after > before:
                raise ValueError(f"at rises from entry to entry, and {after:g} comes after {before:g}")
        return self


def _written_as(value: Any) -> str:
    if isinstance(value, Mapping):
        return "directions"
    rows = isinstance(value, list | tuple) and any(isinstance(item, list | tuple) for item in value)
    return "matrix" if rows else "numbers"


def _shape(value: Any) -> Any:
    """Refuses lists that are no numbers of six or three directions, nor a square matrix."""
    if not isinstance(value, list | tuple):
        return value
    if len(value) not in (3, 6):
        raise ValueError(f"it has {len(value)} entries, and a joint has 6 directions, in the plane 3")
    if _written_as(value) == "matrix":
        for i, row in enumerate(value, 1):
            if not isinstance(row, list | tuple) or len(row) != len(value):
                has = f"{len(row)} entries" if isinstance(row, list | tuple) else "a single value"
                raise ValueError(f"row {i} of the {len(value)} x {len(value)} matrix has {has}")
    return value


def _table_or_number(value: Any) -> str:
    return "table" if isinstance(value, Mapping | StiffnessTable) else "number"


_NUMBER_OR_TABLE = Annotated[
    Annotated[OfCoordinate, Tag("number")] | Annotated[StiffnessTable, Tag("table")], Discriminator(_table_or_number)
]
_SIZES = Field(min_length=3, max_length=6)
_SHAPE = BeforeValidator(_shape)
_ENTRY = Annotated[NotNegativeOfCoordinate | None, _AS_RIGID]
_CELL = Annotated[OfCoordinate | None, _AS_RIGID]

Stiffness = Annotated[
    Annotated[dict[str, _NUMBER_OR_TABLE], Tag("directions")]
    | Annotated[tuple[_ENTRY, ...], _SIZES, Tag("numbers")]
    | Annotated[tuple[Annotated[tuple[_CELL, ...], _SIZES], ...], _SIZES, Tag("matrix")],
    Discriminator(_written_as),
    _SHAPE,
]
"""By direction, a number for each, or a matrix; None stands for rigid."""
Beside = Annotated[
    Annotated[dict[str, OfCoordinate], Tag("directions")]
    | Annotated[tuple[NotNegativeOfCoordinate, ...], _SIZES, Tag("numbers")]
    | Annotated[tuple[Annotated[tuple[OfCoordinate, ...], _SIZES], ...], _SIZES, Tag("matrix")],
    Discriminator(_written_as),
    _SHAPE,
]
"""Damping in the same forms."""


def stiffness_entries(given: Any, directions: tuple[str, ...]) -> dict[tuple[str, str], Any]:
    """{(direction, direction): value} of what was written, rigid as None; both halves of a matrix."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {_pair(name): value for name, value in given.items()}
    if any(isinstance(row, tuple) for row in given):
        return {
            (one, other): value
            for one, row in zip(directions, given, strict=True)
            for other, value in zip(directions, row, strict=True)
        }
    return {(name, name): value for name, value in zip(directions, given, strict=True)}


def _pair(name: str) -> tuple[str, str]:
    first, dot, second = name.partition(".")
    return (first, second) if dot else (name, name)
