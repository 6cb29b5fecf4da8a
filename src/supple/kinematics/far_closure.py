"""Closing a drawing that is far from closed: damped least squares over the freedoms of a tree of joints.

Newton's method with the least change (see `completion`) needs a start close to a solution. Here the gaps r of the cut
joints are minimised by Levenberg's and Marquardt's method over the freedoms z of the other joints,

    (Jᵀ J + μ I) z = -Jᵀ r,    J = ∂r/∂z                                                           (kinematics, 12)

with μ after Nielsen: every accepted step reduces |r|, and short steps keep to the branch next to the drawing. The
descent ends at a closed position or where |r| has a valley. In a valley it starts again from seeded positions around
the drawing, further and further away. Of the closed positions at one distance, the nearest to the drawing is used. The
result is closed to a millionth of the extent; Newton's method completes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.geometry.rotation import tilde
from supple.kinematics.closure_kernel import unwrap_angle
from supple.kinematics.jacobian import row_values
from supple.kinematics.joint_tree import JointTree, close_tree, freedoms, joint_tree, motions, move_tree
from supple.kinematics.numbering import Numbering, terms
from supple.kinematics.primitives import ALONG, DOT, KIND, NONE, PA, PB, SCALE, THEN, A, B, U, W, gradient

Rows = tuple[Array, Integers, Integers, Array]

FAR = 0.1  # gaps of a drawing, in extents or rad, above which Newton's method alone is not reliable
_NEAR = 1e-6  # gaps at which Newton's method continues
_STEPS = 120
_LONGEST = 0.5  # longest step: rad, or extents
_VALLEY = 1e-5  # predicted relative reduction of |r| by a linear step below which the descent is in a valley
_SPREADS = (0.15, 0.4, 0.8, 1.3)  # rad, or extents: distances of the starts around the drawing
_STARTS = 4  # starts at each distance


def joint_gaps(found: Numbering, X: Array, axes: Alignments | None = None) -> dict[str, float]:
    """Return the gap of each joint and coupling, in extents or rad, including axes that point the wrong way."""
    axes = alignments(found) if axes is None else axes
    arrays = found.arrays
    off = 2.0 * np.arcsin(np.sqrt(np.clip(0.5 - 0.5 * axis_cosines(found, X, axes), 0.0, 1.0)))
    gaps = {}
    for number, (name, rows) in enumerate(found.joint_rows.items()):
        scaled = row_values(found, X, range(rows.start, rows.stop)) / arrays.rows_f[rows, SCALE]
        along = (arrays.rows_i[rows, KIND] == ALONG) & (arrays.rows_i[rows, THEN] == NONE)
        widest = max(float(np.linalg.norm(scaled[along])), np.abs(scaled[~along]).max(initial=0.0))
        gaps[name] = float(max(widest, off[axes.joint == number].max(initial=0.0)))
    for name, row in found.coupling_rows.items():
        gaps[name] = float(np.abs(row_values(found, X, range(row, row + 1))[0]) / arrays.rows_f[row, SCALE])
    return gaps


@dataclass(frozen=True)
class Approach:
    """A position, and the norm |r| of its remaining gaps (extents or rad)."""

    X: Array
    gap: float

    @property
    def closed(self) -> bool:
        return self.gap < _NEAR


def approach(found: Numbering, X: Array, targets: dict[int, float]) -> Approach:
    """Return the closed position nearest to X, or the position with the smallest gaps that was found.

    targets : prescribed values of coordinates, by number
    """
    axes = alignments(found)
    tree = joint_tree(found, joint_gaps(found, X, axes))
    gaps = _Gaps(found, tree, axes, targets)
    start = close_tree(found, tree, X)
    best = _descend(gaps, start)
    dice = np.random.default_rng(0)  # the same at every run
    bases = freedoms(found, tree, start)
    free = sum(basis.shape[1] for basis in bases)
    for spread in _SPREADS:
        if best.closed or free == 0:
            break
        for _ in range(_STARTS):
            other = move_tree(found, tree, start, bases, spread * dice.standard_normal(free))
            best = min(best, _descend(gaps, close_tree(found, tree, other)), key=lambda one: _merit(found, X, one))
    return best


def _merit(found: Numbering, drawn: Array, one: Approach) -> tuple[float, float]:
    """Return a sort key: closed positions first, by distance from the drawing, then open ones by their gap."""
    return (0.0, posture_distance(found, drawn, one.X)) if one.closed else (1.0, one.gap)


def posture_distance(found: Numbering, X: Array, Y: Array) -> float:
    """Return the root of the summed squared displacements (in extents) and turns of all bodies."""
    shift = (X[:, :3] - Y[:, :3]) / found.arrays.extent
    return float(np.sqrt(np.square(shift).sum() + 0.5 * np.square(X[:, 3:] - Y[:, 3:]).sum()))


def _descend(gaps: _Gaps, X: Array) -> Approach:
    """Minimise the gaps by Levenberg's and Marquardt's method with Nielsen's damping.

    [Madsen 2004, algorithm 3.16]
    """
    found, tree = gaps.found, gaps.tree
    r, J, bases = gaps.linear(X)
    cost, damping, grows = float(r @ r), 1e-3, 2.0
    for _ in range(_STEPS):
        if cost < _NEAR**2:
            break
        A, g = J.T @ J, J.T @ r
        z = np.asarray(np.linalg.solve(A + damping * np.eye(len(A)), -g), dtype=np.float64)
        longest = float(np.abs(z).max(initial=0.0))
        if longest > _LONGEST:
            damping *= grows
            grows *= 2.0
            continue
        promised = float(z @ (damping * z - g))
        if promised < _VALLEY**2 * cost:
            break
        trial = close_tree(found, tree, move_tree(found, tree, X, bases, z))
        new = gaps.values(trial)
        gained = cost - float(new @ new)
        if gained > 0.0:
            X, (r, J, bases) = trial, gaps.linear(trial)
            cost = float(r @ r)
            damping *= max(1.0 / 3.0, 1.0 - (2.0 * gained / promised - 1.0) ** 3)
            grows = 2.0
        else:
            damping *= grows
            grows *= 2.0
            if damping > 1e12:
                break
    return Approach(X, float(np.linalg.norm(r)))


class _Gaps:
    """Residuals r: displacement rows of cut joints, the axes they align, and targets; with ∂r/∂z."""

    def __init__(self, found: Numbering, tree: JointTree, axes: Alignments, targets: dict[int, float]):
        self.found, self.tree, self.targets = found, tree, targets
        arrays = found.arrays
        alone = arrays.rows_i[tree.cut_rows, THEN] == NONE
        along = alone & (arrays.rows_i[tree.cut_rows, KIND] == ALONG)
        self.rows = tree.cut_rows[along]
        cut = [i for i, name in enumerate(found.joint_rows) if name in tree.cut]
        self.axes = axes.of(np.isin(axes.joint, cut))
        # A row that constrains a single pair of axes (universal joints) has no axes to compare; nor has a sum.
        paired = alone & np.isin([self._joint(row) for row in tree.cut_rows], self.axes.joint)
        self.others = [*tree.cut_rows[~along & ~paired], *found.coupling_rows.values()]

    def _joint(self, row: int) -> int:
        return next(i for i, rows in enumerate(self.found.joint_rows.values()) if rows.start <= row < rows.stop)

    def values(self, X: Array) -> Array:
        """Return r alone."""
        return self._rows(X)[0]

    def linear(self, X: Array) -> tuple[Array, Array, list[Array]]:
        """Return r, ∂r/∂z and the bases of the freedoms z."""
        bases = freedoms(self.found, self.tree, X)
        twists = motions(self.found, self.tree, X, bases)
        r, row, body, by = self._rows(X)
        J = np.zeros((len(r), twists.shape[2]))
        np.add.at(J, row, np.einsum("rk,rkz->rz", by, twists[body]))
        return r, J, bases

    def _rows(self, X: Array) -> Rows:
        """Return values, and by row and body the gradients (k, 6) in world twists, lengths in units of the extent."""
        values, row, body, by = zip(self._displacements(X), self._axes(X), self._others(X), strict=True)
        first = np.cumsum([0, *(len(part) for part in values[:-1])])
        rows = [part + start for part, start in zip(row, first, strict=True)]
        return np.concatenate(values), np.concatenate(rows), np.concatenate(body), np.concatenate(by)

    def _displacements(self, X: Array) -> Rows:
        """Return u·d / L, as in (1)."""
        arrays, R = self.found.arrays, X[:, 3:].reshape(-1, 3, 3)
        a, b = arrays.rows_i[self.rows, A], arrays.rows_i[self.rows, B]
        f = arrays.rows_f[self.rows]
        u, ra, rb = (np.einsum("rij,rj->ri", R[body], f[:, at : at + 3]) for body, at in ((a, U), (a, PA), (b, PB)))
        d = (X[b, :3] + rb - X[a, :3] - ra) / arrays.extent
        ra, rb = ra / arrays.extent, rb / arrays.extent
        by_a = np.hstack([-u, np.cross(u, d) - np.cross(ra, u)])
        values = np.einsum("ri,ri->r", u, d)
        return _of_pairs(values, a, by_a, b, np.hstack([u, np.cross(rb, u)]))

    def _axes(self, X: Array) -> Rows:
        """Return n - w in the world, three rows a pair."""
        R, axes = X[:, 3:].reshape(-1, 3, 3), self.axes
        count = 3 * len(axes.joint)
        n, w = (np.einsum("kij,kj->ki", R[body], vector) for body, vector in ((axes.a, axes.n), (axes.b, axes.w)))
        by_a, by_b = np.zeros((count, 6)), np.zeros((count, 6))
        for k in range(len(n)):
            by_a[3 * k : 3 * k + 3, 3:], by_b[3 * k : 3 * k + 3, 3:] = -tilde(n[k]), tilde(w[k])
        return _of_pairs((n - w).ravel(), np.repeat(axes.a, 3), by_a, np.repeat(axes.b, 3), by_b)

    def _others(self, X: Array) -> Rows:
        """Return the rows of universal joints, sums, and targets of coordinates."""
        found, arrays = self.found, self.found.arrays
        prescribed = {found.constraints + i: target for i, target in self.targets.items()}
        rows = [*(int(row) for row in self.others), *prescribed]
        values = np.zeros(len(rows))
        ends: list[tuple[int, int]] = []
        by: list[Array] = []
        g = np.empty(13)
        for i, row in enumerate(rows):
            gap = float(row_values(found, X, range(row, row + 1))[0]) - prescribed.get(row, 0.0)
            scale = arrays.rows_f[row, SCALE]
            values[i] = (unwrap_angle(gap, 0.0) if row in prescribed and found.angles()[row] else gap) / scale
            for term in terms(arrays, row):
                gradient(arrays.rows_i, arrays.rows_f, term, X, g)
                for at, body in ((1, arrays.rows_i[term, A]), (7, arrays.rows_i[term, B])):
                    R = X[body, 3:].reshape(3, 3)
                    ends.append((i, int(body)))
                    by.append(np.hstack([R @ g[at : at + 3] * arrays.extent, R @ g[at + 3 : at + 6]]) / scale)
        places = np.array(ends, dtype=np.int64).reshape(-1, 2)
        return values, places[:, 0], places[:, 1], np.array(by).reshape(-1, 6)


def _of_pairs(values: Array, a: Integers, by_a: Array, b: Integers, by_b: Array) -> Rows:
    """Return rows between two bodies each."""
    row = np.arange(len(values))
    return values, np.concatenate([row, row]), np.concatenate([a, b]), np.concatenate([by_a, by_b])


# Axes that a joint aligns in the same direction.
#
# The rows x·z' = y·z' = 0 of a hinge vanish where z' is z, and where it is -z; those of a weld vanish at other turns as
# well. Near a drawing that almost closes this makes no difference. Far from one it does. A joint is closed only if its
# axes coincide:
#
#     n = w          n fixed in body a, w in body b
#
# A hinge whose axes are drawn opposite each other keeps them opposite.


_OPPOSITE = -0.9  # n·w of a hinge as drawn below which its axes count as opposite


class Alignments(NamedTuple):
    """Pairs of axes, one each in bodies a and b (k,): n and w (k, 3) in their axes; joint (k,) by number."""

    joint: Integers
    a: Integers
    b: Integers
    n: Array
    w: Array

    def of(self, chosen: NDArray[np.bool_]) -> Alignments:
        """Return some of the pairs."""
        return Alignments(self.joint[chosen], self.a[chosen], self.b[chosen], self.n[chosen], self.w[chosen])


def alignments(found: Numbering) -> Alignments:
    """Return the axes that joints align, from their rows."""
    rows_i, rows_f = found.arrays.rows_i, found.arrays.rows_f
    pairs: list[tuple[int, int, int, Array, Array]] = []
    for number, rows in enumerate(found.joint_rows.values()):
        dots = [row for row in range(rows.start, rows.stop) if rows_i[row, KIND] == DOT and rows_i[row, THEN] == NONE]
        u, w = (rows_f[dots, at : at + 3] for at in (U, W))
        if not dots:
            continue
        a, b = int(rows_i[dots[0], A]), int(rows_i[dots[0], B])
        if len(dots) == 3:  # x·y', y·z', z·x'
            pairs += [(number, a, b, u[i], w[i - 1]) for i in range(3)]
        elif len(dots) == 2:  # x·z', y·z'
            n = np.cross(u[0], u[1])
            drawn = float((_axes(found.drawn)[a] @ n) @ (_axes(found.drawn)[b] @ w[0]))
            pairs.append((number, a, b, -n if drawn < _OPPOSITE else n, w[0]))
        elif found.mechanism.planar:  # x·y'
            pairs.append((number, a, b, np.cross([0.0, 0.0, 1.0], u[0]), w[0]))
    joint, a_, b_ = (np.array([pair[i] for pair in pairs], dtype=np.int64) for i in range(3))
    n_, w_ = (np.array([pair[i] for pair in pairs], dtype=float).reshape(-1, 3) for i in (3, 4))
    return Alignments(joint, a_, b_, n_, w_)


def axis_cosines(found: Numbering, X: Array, axes: Alignments) -> Array:
    """Return the cosine of the angle between the axes of each pair: (k,), one where they coincide."""
    R = _axes(X)
    first, second = (np.einsum("kij,kj->ki", R[body], vector) for body, vector in ((axes.a, axes.n), (axes.b, axes.w)))
    return np.einsum("ki,ki->k", first, second)


def _axes(X: Array) -> Array:
    return X[:, 3:].reshape(-1, 3, 3)
