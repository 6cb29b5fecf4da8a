"""How a joint yields, over its directions: stiffness K and damping D in its frame, and rows in which both are diagonal.

    V = ½ rᵀ K r = ½ Σ_k k_k (R_k r)²                                                       (elastic-rest, eqs. 5a-5c)

r are displacements along and about the axes of the joint's first frame, of the second body against the first. K = UᵀkU
with U unit upper triangular gives the rows R = U; where damping of its own shape stands beside it, K = LLᵀ and
L⁻¹DL⁻ᵀ = WμWᵀ give R = WᵀLᵀ, and c_k = μ_k k_k. A matrix needs nothing else than sums of what a joint measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.linalg as la

from supple.array_types import Array
from supple.description.joints.joint_kind import directions
from supple.description.joints.stiffness import StiffnessTable, stiffness_entries

if TYPE_CHECKING:
    from supple.description.joints.joint import Joint


class YieldingRow(NamedTuple):
    """R_k: factors of the directions it is the sum of, of the deflections of drives by coordinate; k and c along it."""

    direction: str
    factors: dict[str, float]
    drives: dict[str, float]
    stiffness: float
    damping: float


@dataclass(frozen=True, eq=False)
class Elasticity:
    """What is said of a joint's stiffness, checked (`joint_stiffness_consistency`) or not.

    directions : all of them, six in space and three in the plane
    soft       : those that it holds and that yield
    driven     : of its coordinates, the directions in which `stiffness` says that they yield behind a motor
    K, D       : (d, d) N/m, N, N m/rad, and the damping beside them; nothing where it is rigid or moves freely. A table
                 counts with the largest of its values
    tables     : by direction
    """

    directions: tuple[str, ...]
    soft: tuple[str, ...]
    driven: dict[str, str]
    K: Array
    D: Array
    tables: dict[str, StiffnessTable]

    def among(self, matrix: Array, one: tuple[str, ...], other: tuple[str, ...]) -> Array:
        """A block of K or D."""
        return matrix[np.ix_([self.directions.index(a) for a in one], [self.directions.index(b) for b in other])]

    def rows(self) -> tuple[YieldingRow, ...]:
        """R, k and c: a row for each direction of `soft`."""
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
        """K_rr⁻¹ K_rδ: what K_rr acts along is r + this times δ."""
        coupling = self.among(self.K, self.soft, tuple(self.driven.values()))
        return np.asarray(np.linalg.solve(self.among(self.K, self.soft, self.soft), coupling), dtype=np.float64)

    def drives(self) -> Array:
        """Stiffness of the drives (m, m), the rows of the other directions taken off: K_δδ - K_δr K_rr⁻¹ K_rδ."""
        own = tuple(self.driven.values())
        return self.among(self.K, own, own) - self.among(self.K, own, self.soft) @ self._beside()

    def drive_stiffness(self, coordinate: str) -> float:
        """Of a drive, the rows of the other directions taken off."""
        i = list(self.driven).index(coordinate)
        return float(self.drives()[i, i])

    def drive_damping(self, coordinate: str) -> float:
        own = (self.driven[coordinate],)
        return float(self.among(self.D, own, own)[0, 0])


def elasticity(joint: Joint, plane: str | None) -> Elasticity:
    """Of a joint as its `stiffness` (or `elastic`) and `elastic_damping` say, in space or in a plane such as "xz"."""
    names = directions(plane)
    given = stiffness_entries(joint.elastic if joint.stiffness is None else joint.stiffness, names)
    tables = {one: value for (one, other), value in given.items() if isinstance(value, StiffnessTable) and one == other}
    numbers = {pair: max(value.values) if isinstance(value, StiffnessTable) else value for pair, value in given.items()}
    K, D = _matrix(numbers, names), _matrix(stiffness_entries(joint.elastic_damping, names), names)
    held = joint.held(plane)
    soft = tuple(name for name in names if name in held and K[names.index(name), names.index(name)] != 0.0)
    driven = {
        coordinate: way
        for coordinate, way in joint.form(plane).coordinate_directions(plane).items()
        if K[names.index(way), names.index(way)] != 0.0
    }
    return Elasticity(names, soft, driven, K, D, tables)


def _matrix(given: dict[tuple[str, str], float | None], names: tuple[str, ...]) -> Array:
    """Symmetric, the mean of both halves where both were written."""
    found = np.zeros((len(names), len(names)))
    for (one, other), value in given.items():
        if one in names and other in names:
            i, j = names.index(one), names.index(other)
            found[i, j] = value or 0.0
            if (other, one) not in given:
                found[j, i] = found[i, j]
    return 0.5 * (found + found.T)


def _diagonal(K: Array, D: Array, along: list[bool]) -> tuple[Array, Array, Array]:
    """R, k, c with K = RᵀkR and D = RᵀcR; a diagonal K with a diagonal D stays as it is."""
    if not np.any(K - np.diag(np.diag(K))) and not np.any(D - np.diag(np.diag(D))):
        return np.eye(len(K)), np.diag(K).copy(), np.diag(D).copy()
    L = np.linalg.cholesky(K)
    if not D.any():
        k = np.diag(L) ** 2
        return L.T / np.diag(L)[:, None], k, np.zeros(len(K))
    inverse = la.solve_triangular(L, np.eye(len(K)), lower=True)
    mu, W = np.linalg.eigh(inverse @ D @ inverse.T)
    R = W.T @ L.T
    # In units of the largest displacement it has, so that rows are neither tiny nor huge beside ideal ones.
    largest = np.abs(np.where(along, R, 0.0)).max(axis=1)
    turns = np.abs(R).max(axis=1)
    scale = np.where(largest > 1e-12 * turns, largest, turns)
    return R / scale[:, None], scale**2, np.maximum(mu, 0.0) * scale**2
