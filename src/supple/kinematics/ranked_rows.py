"""What the rank of the rows of a position tells: free motions, rows that depend on others, how near a dead point is.

Small mechanisms are judged by the singular values of their dense rows, large ones by sparse fronts, whose cost grows
with the bodies and loops and not with their cube. The rank is the same; where the fronts leave it open, near a dead
point, singular values decide again.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from supple.array_types import Array, Integers
from supple.kinematics.jacobian import scaled_jacobian, sparse_jacobian
from supple.kinematics.numbering import Numbering

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from supple.kinematics.orthogonal_fronts import Fronts


RANK_TOLERANCE = 1e-9  # of the largest singular value
LARGE = 240  # columns from which sparse fronts are sooner done than dense singular values


class RankedRows(Protocol):
    """Rows J (rows, n) of one position and what their rank tells."""

    @property
    def rank(self) -> int:
        """Number of singular values above RANK_TOLERANCE of the largest."""

    def nearness(self, full: int) -> float:
        """The singular value that vanishes first where rank `full` is lost, over the largest."""

    def motion(self, seed: int) -> Array:
        """A motion x (n,) with J x = 0, drawn at random."""

    def dependent(self) -> Array:
        """Share of each row in all λ with Jᵀ λ = 0: (rows,)."""

    def moving(self) -> Array:
        """Share of each column in all x with J x = 0: (n,)."""

    def seen(self, slopes: Array) -> Array:
        """Slopes (count, n) of measures in terms of the rows: y (count, rows), the smallest with y J = slopes."""


class DenseRows:
    """By singular values."""

    def __init__(self, J: Array) -> None:
        self.J = J

    @cached_property
    def rank(self) -> int:
        """As in RankedRows."""
        if 0 in self.J.shape:
            return 0
        return int((self._values > RANK_TOLERANCE * self._values[0]).sum()) if self._values[0] > 0.0 else 0

    @cached_property
    def _values(self) -> Array:
        return np.asarray(np.linalg.svd(self.J, compute_uv=False))

    @cached_property
    def _vectors(self) -> tuple[Array, Array]:
        left, _, right = np.linalg.svd(self.J)
        return left, right

    def nearness(self, full: int) -> float:
        """As in RankedRows."""
        if full == 0 or 0 in self.J.shape:
            return 1.0
        return float(self._values[full - 1] / self._values[0])

    def motion(self, seed: int) -> Array:
        """As in RankedRows."""
        motions = self._vectors[1][self.rank :] if len(self.J) else np.eye(self.J.shape[1])
        return np.random.default_rng(seed).standard_normal(len(motions)) @ motions

    def dependent(self) -> Array:
        """As in RankedRows."""
        return np.linalg.norm(self._vectors[0][:, self.rank :], axis=1)

    def moving(self) -> Array:
        """As in RankedRows."""
        return np.linalg.norm(self._vectors[1][self.rank :], axis=0)

    def seen(self, slopes: Array) -> Array:
        """As in RankedRows."""
        return np.asarray(np.linalg.lstsq(self.J.T, slopes.T, rcond=None)[0].T, dtype=np.float64)


class SparseRows:
    """By sparse fronts: of the columns, body by body, or of the rows, joint by joint."""

    def __init__(self, J: csr_array, bodies: Integers, joints: Integers, *, complete: bool) -> None:
        self.J, self.bodies, self.joints = J, bodies, joints
        self._complete = complete  # no motion should be left: columns are independent, if not rows

    @cached_property
    def by_bodies(self) -> Fronts:
        """Factors of J."""
        from supple.kinematics.orthogonal_fronts import Fronts

        return Fronts(self.J, self.bodies)

    @cached_property
    def by_joints(self) -> Fronts:
        """Factors of Jᵀ."""
        from scipy.sparse import csr_array

        from supple.kinematics.orthogonal_fronts import Fronts

        return Fronts(csr_array(self.J.T), self.joints)

    def some(self, rows: list[int]) -> SparseRows:
        """Some of the rows only."""
        return SparseRows(self.J[rows], self.bodies, self.joints[rows], complete=False)

    @cached_property
    def _telling(self) -> Fronts | None:
        """The fronts that tell the rank: where some columns depend on others far away, only the other ones may."""
        for by_bodies in (self._complete, not self._complete):
            fronts = self.by_bodies if by_bodies else self.by_joints
            if fronts.certain:
                return fronts
        return None

    @property
    def certain(self) -> bool:
        """Whether the fronts tell the rank."""
        return self._telling is not None

    @property
    def rank(self) -> int:
        """As in RankedRows."""
        return self._fronts.rank

    @property
    def _fronts(self) -> Fronts:
        assert self._telling is not None, "asked without being certain"
        return self._telling

    def nearness(self, full: int) -> float:
        """As in RankedRows."""
        if full == 0 or 0 in self.J.shape:
            return 1.0
        return self._fronts.smallest / self._fronts.largest if self.rank >= full else 0.0

    def motion(self, seed: int) -> Array:
        """As in RankedRows."""
        return self.by_joints.left_over(np.random.default_rng(seed).standard_normal(self.J.shape[1]))

    def dependent(self) -> Array:
        """As in RankedRows."""
        return np.linalg.norm(self.by_joints.kernel(), axis=1)

    def moving(self) -> Array:
        """As in RankedRows."""
        return np.linalg.norm(self.by_bodies.kernel(), axis=1)

    def seen(self, slopes: Array) -> Array:
        """As in RankedRows."""
        return self.by_bodies.transposed_inverse(slopes.T).T


def ranked(found: Numbering, X: Array, *, coordinates: bool) -> RankedRows:
    """The rows of all joints and couplings at X, and of the coordinates θ."""
    if found.columns > LARGE:
        sparse = sparse_rows(found, X, found.constraints + len(found.coordinates) * coordinates)
        if sparse.certain:
            return sparse
    return DenseRows(scaled_jacobian(found, X)[: None if coordinates else found.constraints])


def sparse_rows(found: Numbering, X: Array, count: int) -> SparseRows:
    """The first rows of joints, couplings and coordinates, sparse."""
    bodies = np.repeat(np.arange(found.sizes.bodies), found.sizes.width)
    complete = count > found.constraints
    return SparseRows(sparse_jacobian(found, X)[:count], bodies, row_groups(found)[:count], complete=complete)


def row_groups(found: Numbering) -> Integers:
    """Number of the joint that a row belongs to; couplings and coordinates each have one of their own."""
    group = np.arange(found.constraints + len(found.coordinates))
    for rows in found.joint_rows.values():
        group[rows] = rows.start
    return group
