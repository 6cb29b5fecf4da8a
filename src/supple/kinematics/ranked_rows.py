"""Rank of the rows of a position: free motions, dependent rows, and the distance from a dead point.

Small mechanisms use the singular values of their dense rows, large ones sparse fronts, whose cost grows with the bodies
and loops and not with their cube. The rank is the same; where the fronts leave it uncertain, near a dead point,
singular values decide again.
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


RANK_TOLERANCE = 1e-9  # fraction of the largest singular value
LARGE = 240  # number of columns above which sparse fronts are faster than dense singular values


class RankedRows(Protocol):
    """Rows J (rows, n) of one position and the consequences of their rank."""

    @property
    def rank(self) -> int:
        """Number of singular values above RANK_TOLERANCE of the largest."""

    def nearness(self, full: int) -> float:
        """Return the singular value that vanishes first when the rank drops below `full`, over the largest."""

    def motion(self, seed: int) -> Array:
        """Return a random motion x (n,) with J x = 0."""

    def dependent(self) -> Array:
        """Return the share of each row in all λ with Jᵀ λ = 0: (rows,)."""

    def find_motion_shares(self) -> Array:
        """Return the share of each column in all x with J x = 0: (n,)."""

    def row_solution(self, slopes: Array) -> Array:
        """Return the smallest y (count, rows) with y J = slopes, for slopes (count, n) of measures."""


class DenseRows:
    """Rows with their rank from singular values."""

    def __init__(self, J: Array) -> None:
        self.J = J

    @cached_property
    def rank(self) -> int:
        """Number of singular values above RANK_TOLERANCE of the largest."""
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
        """Return the relative nearness to a loss of rank, see `RankedRows`."""
        if full == 0 or 0 in self.J.shape:
            return 1.0
        return float(self._values[full - 1] / self._values[0])

    def motion(self, seed: int) -> Array:
        """Return a random free motion, see `RankedRows`."""
        motions = self._vectors[1][self.rank :] if len(self.J) else np.eye(self.J.shape[1])
        return np.random.default_rng(seed).standard_normal(len(motions)) @ motions

    def dependent(self) -> Array:
        """Return the share of each row in dependences, see `RankedRows`."""
        return np.linalg.norm(self._vectors[0][:, self.rank :], axis=1)

    def find_motion_shares(self) -> Array:
        """Return the share of each column in free motions, see `RankedRows`."""
        return np.linalg.norm(self._vectors[1][self.rank :], axis=0)

    def row_solution(self, slopes: Array) -> Array:
        """Return the rows' coefficients of measures, see `RankedRows`."""
        return np.asarray(np.linalg.lstsq(self.J.T, slopes.T, rcond=None)[0].T, dtype=np.float64)


class SparseRows:
    """Rows with their rank from sparse fronts: of the columns, body by body, or of the rows, joint by joint."""

    def __init__(self, J: csr_array, bodies: Integers, joints: Integers, *, complete: bool) -> None:
        self.J, self.bodies, self.joints = J, bodies, joints
        self._complete = complete  # no free motion expected: columns are independent, if not rows

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
        """Return some of the rows only."""
        return SparseRows(self.J[rows], self.bodies, self.joints[rows], complete=False)

    @cached_property
    def _certain_fronts(self) -> Fronts | None:
        """Fronts with a certain rank, or None.

        Where some columns depend on others far away, only one of the two factorisations may have a certain rank.
        """
        for by_bodies in (self._complete, not self._complete):
            fronts = self.by_bodies if by_bodies else self.by_joints
            if fronts.certain:
                return fronts
        return None

    @property
    def certain(self) -> bool:
        """Whether the fronts determine the rank."""
        return self._certain_fronts is not None

    @property
    def rank(self) -> int:
        """Number of singular values above RANK_TOLERANCE of the largest."""
        return self._fronts.rank

    @property
    def _fronts(self) -> Fronts:
        assert self._certain_fronts is not None, "the rank is not certain"
        return self._certain_fronts

    def nearness(self, full: int) -> float:
        """Return the relative nearness to a loss of rank, see `RankedRows`."""
        if full == 0 or 0 in self.J.shape:
            return 1.0
        return self._fronts.smallest / self._fronts.largest if self.rank >= full else 0.0

    def motion(self, seed: int) -> Array:
        """Return a random free motion, see `RankedRows`."""
        return self.by_joints.project_out(np.random.default_rng(seed).standard_normal(self.J.shape[1]))

    def dependent(self) -> Array:
        """Return the share of each row in dependences, see `RankedRows`."""
        return np.linalg.norm(self.by_joints.kernel(), axis=1)

    def find_motion_shares(self) -> Array:
        """Return the share of each column in free motions, see `RankedRows`."""
        return np.linalg.norm(self.by_bodies.kernel(), axis=1)

    def row_solution(self, slopes: Array) -> Array:
        """Return the rows' coefficients of measures, see `RankedRows`."""
        return self.by_bodies.transposed_inverse(slopes.T).T


def rank_rows(found: Numbering, X: Array, *, coordinates: bool) -> RankedRows:
    """Return the rows of all joints and couplings at X, with `coordinates` also those of θ."""
    if found.columns > LARGE:
        sparse = sparse_rows(found, X, found.constraints + len(found.coordinates) * coordinates)
        if sparse.certain:
            return sparse
    return DenseRows(scaled_jacobian(found, X)[: None if coordinates else found.constraints])


def sparse_rows(found: Numbering, X: Array, count: int) -> SparseRows:
    """Return the first rows of joints, couplings and coordinates, sparse."""
    bodies = np.repeat(np.arange(found.sizes.bodies), found.sizes.width)
    complete = count > found.constraints
    return SparseRows(sparse_jacobian(found, X)[:count], bodies, row_groups(found)[:count], complete=complete)


def row_groups(found: Numbering) -> Integers:
    """Return the number of the joint that each row belongs to; couplings and coordinates have their own numbers."""
    group = np.arange(found.constraints + len(found.coordinates))
    for rows in found.joint_rows.values():
        group[rows] = rows.start
    return group
