"""Elasticity of a joint: its stiffness and damping as given, and as rows in which both are diagonal.

    V = ½ rᵀ K r = ½ Σ_k k_k (R_k r)²                                                       (elastic-rest, eqs. 5a-5c)

r are displacements of the second body relative to the first, along and about the axes of the joint's first frame.
K = UᵀkU with U unit upper triangular gives the rows R = U. With damping that is not proportional, K = LLᵀ and
L⁻¹DL⁻ᵀ = WμWᵀ give R = WᵀLᵀ, and c_k = μ_k k_k. A matrix then needs only sums of the measures of a joint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

import numpy as np
import scipy.linalg as la
from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from supple.array_types import Array
from supple.description.joints.joint_kind import directions
from supple.description.quantities.quantity import NotNegativeOfCoordinate, OfCoordinate, Part, PositiveOfCoordinate

if TYPE_CHECKING:
    from supple.description.joints.joint import Joint


# Forms of a joint's stiffness in the file: six numbers, values by direction, or a matrix in the joint's frame.
#
#     stiffness: [1e7, 1e7, rigid, 1e4, 1e4, 0]            x, y, z, rx, ry, rz; in the plane its letters and angle
#     stiffness: {x: 1e7, y: 1e7, ry: 1e4, x.ry: 2e4}      by direction, and the coupling of two
#     stiffness: [[...], ..., [...]]                        6 x 6, in the plane 3 x 3, symmetric
#     stiffness: {ry: {over: lift, at: [0, 1], values: [1e4, 2e4]}}      over a coordinate, or over: load
#
# Damping has the same forms.


RIGID = "rigid"
LOAD = "load"
_AS_RIGID = BeforeValidator(lambda value: None if value == RIGID else value)


class StiffnessTable(Part):
    """Stiffness as a function of a coordinate or of the load: smooth between its values, constant outside."""

    over: str
    """Coordinate of θ, or `load`: the force or moment that the joint carries in this direction at rest."""
    at: tuple[OfCoordinate, ...] = Field(min_length=2)
    """Values of the coordinate, or magnitudes of the load (N or N m), increasing."""
    values: tuple[PositiveOfCoordinate, ...] = Field(min_length=2)
    """Stiffness at these values, N/m or N m/rad."""

    @model_validator(mode="after")
    def _as_many(self) -> Self:
        if len(self.at) != len(self.values):
            raise ValueError(
                f"at has {len(self.at)} entries, but values has {len(self.values)}; give one value per entry"
            )
        for before, after in pairwise(self.at):
            if not after > before:
                raise ValueError(f"the entries of at must increase, but {after:g} follows {before:g}")
        return self


def _detect_form(value: Any) -> str:
    if isinstance(value, Mapping):
        return "directions"
    rows = isinstance(value, list | tuple) and any(isinstance(item, list | tuple) for item in value)
    return "matrix" if rows else "numbers"


def _shape(value: Any) -> Any:
    """Refuse lists that are neither numbers for six or three directions nor a square matrix."""
    if not isinstance(value, list | tuple):
        return value
    if len(value) not in (3, 6):
        raise ValueError(f"it has {len(value)} entries, but a joint has 6 directions, in the plane 3")
    if _detect_form(value) == "matrix":
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
    Discriminator(_detect_form),
    _SHAPE,
]
"""Stiffness by direction, as one number per direction, or as a matrix; None stands for rigid."""
Beside = Annotated[
    Annotated[dict[str, OfCoordinate], Tag("directions")]
    | Annotated[tuple[NotNegativeOfCoordinate, ...], _SIZES, Tag("numbers")]
    | Annotated[tuple[Annotated[tuple[OfCoordinate, ...], _SIZES], ...], _SIZES, Tag("matrix")],
    Discriminator(_detect_form),
    _SHAPE,
]
"""Damping in the same forms."""


def stiffness_entries(given: Any, directions: tuple[str, ...]) -> dict[tuple[str, str], Any]:
    """Return {(direction, direction): value} of the given form; rigid is None, a matrix gives both halves."""
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


# Stiffness K and damping D over the directions of a joint, in its frame, and their rows.


class YieldingRow(NamedTuple):
    """Row R_k: factors of its directions and of drive deflections by coordinate, and k and c along it."""

    direction: str
    factors: dict[str, float]
    drives: dict[str, float]
    stiffness: float
    damping: float


@dataclass(frozen=True, eq=False)
class Elasticity:
    """Elasticity of a joint as given, before or after the checks of `joint_stiffness_consistency`.

    directions : all of them, six in space and three in the plane
    soft       : elastic directions among those that the joint constrains
    driven     : coordinate -> direction that is compliant behind a motor because of `stiffness`
    K, D       : (d, d) stiffness (N/m, N, N m/rad) and damping; zero in rigid and in free directions. A table counts
    with
                 the largest of its values
    tables     : tables by direction
    """

    directions: tuple[str, ...]
    soft: tuple[str, ...]
    driven: dict[str, str]
    K: Array
    D: Array
    tables: dict[str, StiffnessTable]

    def among(self, matrix: Array, one: tuple[str, ...], other: tuple[str, ...]) -> Array:
        """Return a block of K or D."""
        return matrix[np.ix_([self.directions.index(a) for a in one], [self.directions.index(b) for b in other])]

    def rows(self) -> tuple[YieldingRow, ...]:
        """Return R, k and c: one row per direction of `soft`."""
        K, D = self.among(self.K, self.soft, self.soft), self.among(self.D, self.soft, self.soft)
        beside = self._beside()
        R, k, c = _diagonal(K, D, [name[0] != "r" and name != "angle" for name in self.soft])
        return tuple(
            YieldingRow(
                name,
                {other: float(R[i, j]) for j, other in enumerate(self.soft) if R[i, j] != 0.0},
                {coordinate: float(R[i] @ beside[:, j]) for j, coordinate in enumerate(self.driven)},
                float(k[i]),
                float(c[i]),
            )
            for i, name in enumerate(self.soft)
        )

    def _beside(self) -> Array:
        """Return K_rr⁻¹ K_rδ: K_rr acts along r plus this matrix times δ."""
        coupling = self.among(self.K, self.soft, tuple(self.driven.values()))
        return np.asarray(np.linalg.solve(self.among(self.K, self.soft, self.soft), coupling), dtype=np.float64)

    def drives(self) -> Array:
        """Return the stiffness of the drives (m, m) without the other rows: K_δδ - K_δr K_rr⁻¹ K_rδ."""
        own = tuple(self.driven.values())
        return self.among(self.K, own, own) - self.among(self.K, own, self.soft) @ self._beside()

    def drive_stiffness(self, coordinate: str) -> float:
        """Return the stiffness of one drive without the rows of the other directions."""
        i = list(self.driven).index(coordinate)
        return float(self.drives()[i, i])

    def drive_damping(self, coordinate: str) -> float:
        """Return the damping of one drive."""
        own = (self.driven[coordinate],)
        return float(self.among(self.D, own, own)[0, 0])


def elasticity(joint: Joint, plane: str | None) -> Elasticity:
    """Return the elasticity that the keys `stiffness` (or `elastic`) and `elastic_damping` of a joint describe.

    plane : such as "xz"; None in space
    """
    names = directions(plane)
    given = stiffness_entries(joint.elastic if joint.stiffness is None else joint.stiffness, names)
    tables = {one: value for (one, other), value in given.items() if isinstance(value, StiffnessTable) and one == other}
    numbers = {pair: max(value.values) if isinstance(value, StiffnessTable) else value for pair, value in given.items()}
    K, D = _matrix(numbers, names), _matrix(stiffness_entries(joint.elastic_damping, names), names)
    held = joint.list_held(plane)
    soft = tuple(name for name in names if name in held and K[names.index(name), names.index(name)] != 0.0)
    driven = {
        coordinate: direction
        for coordinate, direction in joint.form(plane).coordinate_directions(plane).items()
        if K[names.index(direction), names.index(direction)] != 0.0
    }
    return Elasticity(names, soft, driven, K, D, tables)


def _matrix(given: dict[tuple[str, str], float | None], names: tuple[str, ...]) -> Array:
    """Return the symmetric matrix of given entries, the mean of both halves if both are given."""
    found = np.zeros((len(names), len(names)))
    for (one, other), value in given.items():
        if one in names and other in names:
            i, j = names.index(one), names.index(other)
            found[i, j] = value or 0.0
            if (other, one) not in given:
                found[j, i] = found[i, j]
    return 0.5 * (found + found.T)


def _diagonal(K: Array, D: Array, along: list[bool]) -> tuple[Array, Array, Array]:
    """Return R, k, c with K = RᵀkR and D = RᵀcR; a diagonal K with a diagonal D stays unchanged."""
    if not np.any(K - np.diag(np.diag(K))) and not np.any(D - np.diag(np.diag(D))):
        return np.eye(len(K)), np.diag(K).copy(), np.diag(D).copy()
    L = np.linalg.cholesky(K)
    if not D.any():
        k = np.diag(L) ** 2
        return L.T / np.diag(L)[:, None], k, np.zeros(len(K))
    inverse = la.solve_triangular(L, np.eye(len(K)), lower=True)
    mu, W = np.linalg.eigh(inverse @ D @ inverse.T)
    R = W.T @ L.T
    # In units of its largest displacement, so that rows are of the size of ideal constraint rows.
    largest = np.abs(np.where(along, R, 0.0)).max(axis=1)
    turns = np.abs(R).max(axis=1)
    scale = np.where(largest > 1e-12 * turns, largest, turns)
    return R / scale[:, None], scale**2, np.maximum(mu, 0.0) * scale**2
