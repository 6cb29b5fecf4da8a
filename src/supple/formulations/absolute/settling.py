"""Rest under loads, or steady motion with inertia, for large deformation: r(q) + Φ_qᵀ λ = 0, Φ(q) = C λ.

Newton's method uses the exact stiffness. If it does not converge, loads are applied in steps. The residual r₀ at the
start is balanced by dead forces that are reduced to zero,

    r(q, λ) = (1 - s) r₀,   s = 0 ... 1

with steps of s that are halved if they fail. This works for any kind of load.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.diagnostics import NumericalError
from supple.formulations.absolute.step import State, displace_poses
from supple.formulations.absolute.system import Absolute
from supple.formulations.absolute.tangent import Tangent, tangent_at
from supple.kinematics.primitives import row_value
from supple.kinematics.row_arrays import row_sizes

_YIELDING = 1e-12
_LEAST = 1e-9  # of the largest stiffness: less is rounding
_NOTHING = 1e-200
_REFINED = 2


class Saddle:
    """Factors of the sparse equations of small motions with their rows, including redundant ones; S (n, n).

        [S   Jᵀ] [ p ]   [f]
        [J  -C ] [ λ ] = [g]

    A rigid row gets a compliance of 1e-12 of the compliance of the frames along it. Redundant rows are then allowed:
    one of many solutions is found for their multipliers, and p is the same for all of them.
    """

    def __init__(self, S: sp.csc_array, J: sp.csc_array, compliance: Array) -> None:
        self.n, rows = S.shape[0], J.shape[0]
        squares = sp.csr_array(J.multiply(J))
        springs = np.divide(1.0, compliance, out=np.zeros(rows), where=compliance > 0.0)
        size = np.abs(S.diagonal()) + squares.T @ springs
        stiffest = float(size.max(initial=0.0))
        size = np.maximum(size, _LEAST * stiffest if stiffest > _NOTHING else 1.0)
        along = [size[squares.indices[squares.indptr[i] : squares.indptr[i + 1]]].max(initial=0.0) for i in range(rows)]
        stiffness = np.where(np.array(along) > 0.0, along, max(stiffest, 1.0))
        soft = np.where(compliance > 0.0, compliance, _YIELDING * (squares.sum(axis=1) + _NOTHING) / stiffness)
        self._matrix = sp.csc_array(sp.block_array([[S, J.T], [J, sp.diags_array(-compliance, shape=(rows, rows))]]))
        given = sp.csc_array(sp.block_array([[S, J.T], [J, sp.diags_array(-soft, shape=(rows, rows))]]))
        try:
            self._factors = spla.splu(given)
        except RuntimeError:
            raise NumericalError("the stiffness matrix is singular", hint="constrain the free motions") from None

    def solve(self, f: Array, g: Array | None = None) -> tuple[Array, Array]:
        """Return p (n,) and λ (rows,)."""
        right = np.concatenate([f, np.zeros(self._matrix.shape[0] - self.n) if g is None else g])
        found = self._factors.solve(right)
        for _ in range(_REFINED):
            found += self._factors.solve(right - self._matrix @ found)
        return found[: self.n], found[self.n :]


_ITERATIONS = 25
_HALVINGS = 12
_FARTHEST = 0.5  # rad, or sizes of the mechanism: a correction that is larger leads astray
_NEAR, _SMALL = 1e-8, 1e-13  # rad, or sizes: quadratically close; rounding
_STANDING = (0.0, 1e-13, 1e-10)  # of the largest stiffness over mass: what motions without stiffness are held by


class Steady(NamedTuple):
    """A motion in which bodies move as if rigid: poses, velocities and accelerations of the undeformed frames."""

    X: Array
    V: Array
    acceleration: Array


class Settled(NamedTuple):
    """Equilibrium or steady motion, and the numbers of load steps and iterations."""

    state: State
    tangent: Tangent
    steps: int
    iterations: int


def settle_bodies(problem: Absolute, begin: State, u: Array, aims: Array, steady: Steady | None = None) -> Settled:
    """Find the equilibrium near a state, whose poses, multipliers and measures are the starting point.

    u : (actuators,) inputs; aims : (driven,) values of the prescribed rows
    """
    state = moved_state(problem, begin, np.zeros_like(begin.V), begin.multipliers, steady)
    tangent = tangent_at(problem, state, u, aims)
    missing = _in_world(state, problem, tangent.force)
    reached, step, steps, iterations = 0.0, 1.0, 0, 0
    while reached < 1.0:
        wanted = min(1.0, reached + step)
        found = _newton(problem, (state, tangent), (u, aims, (1.0 - wanted) * missing), steady)
        steps += 1
        if found is not None:
            state, tangent, taken = found
            iterations += taken
            reached, step = wanted, 2.0 * step
            continue
        step *= 0.5
        if step < 0.5**_HALVINGS:
            numbering = problem.rest.numbering
            raise NumericalError(
                f"no equilibrium was found: the iteration converges up to {100.0 * reached:.3g} % of the loads, and no "
                f"further step of {100.0 * step:.2g} % or more", part=f'mechanism "{numbering.mechanism.name}"',
                hint="the mechanism may snap through or buckle: start closer, reduce the loads, or use more elements",
            )  # fmt: skip
    return Settled(state, tangent, steps, iterations)


def _newton(
    problem: Absolute, begin: tuple[State, Tangent], at: tuple[Array, Array, Array], steady: Steady | None
) -> tuple[State, Tangent, int] | None:
    """Return the state in which all forces except the dead ones balance, or None if it is not found."""
    (state, tangent), (u, aims, dead) = begin, at
    column = problem.system.rows.column
    unit = np.tile(np.where(column < 3, _size(problem, state.X), 1.0), len(state.V))
    before = np.inf
    for n in range(_ITERATIONS):
        force = tangent.force - _in_frames(state, problem, dead)
        found = _correction(tangent, force)
        if found is None:
            return None
        p, multipliers = found
        size = float(np.abs(p / unit).max(initial=0.0))
        if not np.isfinite(size):
            return None
        if size > _FARTHEST:  # part of it, in the same direction
            p, multipliers, size = (_FARTHEST / size) * p, (_FARTHEST / size) * multipliers, _FARTHEST
        state = moved_state(problem, state, p.reshape(state.V.shape), state.multipliers - multipliers, steady)
        tangent = tangent_at(problem, state, u, aims)
        if size <= _SMALL or (size <= _NEAR and size >= 0.25 * before):
            return state, tangent, n + 1
        before = size
    return (state, tangent, _ITERATIONS) if before <= _NEAR else None


def _size(problem: Absolute, X: Array) -> float:
    """Return the size of the mechanism, m."""
    return max(float(problem.system.rows.extent), float(np.linalg.norm(np.ptp(X[:-1, :3], axis=0))))


def _correction(tangent: Tangent, force: Array) -> tuple[Array, Array] | None:
    """Return p and the change of the multipliers; directions without stiffness and force stay unchanged."""
    heaviest = float(np.abs(tangent.M.diagonal()).max(initial=0.0))
    stiffest = float(np.abs(tangent.K.diagonal()).max(initial=0.0))
    for standing in _STANDING:
        S = tangent.K + (standing * stiffest / heaviest) * tangent.M if standing and heaviest else tangent.K
        try:
            p, multipliers = Saddle(S, tangent.J, tangent.compliance).solve(-force, -tangent.gap)
        except NumericalError:
            continue
        if np.isfinite(p).all() and np.abs(p).max(initial=0.0) < 1e3:
            return p, multipliers
    return None


def moved_state(problem: Absolute, state: State, p: Array, multipliers: Array, steady: Steady | None) -> State:
    """Return the state displaced by p (frames, d), in frame axes; velocities follow from the new position."""
    column = problem.system.rows.column
    X, twist = np.empty_like(state.X), np.zeros(6)
    compile_kernel(displace_poses, count=1)(column, state.X, _rotate_translations(state.X, column, p), X, twist)
    w = state.w.copy()
    compile_kernel(measures_at, count=1)(problem.system.rows, X, w)
    still = np.zeros_like(state.V)
    V, acceleration = (still, still.copy()) if steady is None else _carry_frames(steady, X, column)
    return State(X, V, acceleration, acceleration.copy(), np.ascontiguousarray(multipliers), w)


def _carry_frames(steady: Steady, X: Array, column: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return velocities and accelerations of frames at X that move with their bodies as if rigid."""
    frames = len(X) - 1
    V, dV = np.zeros((frames, 6)), np.zeros((frames, 6))
    V[:, column], dV[:, column] = steady.V, steady.acceleration
    R0, R = (item[:-1, 3:].reshape(-1, 3, 3) for item in (steady.X, X))
    turn, faster = (np.einsum("fij,fj->fi", R0, item[:, 3:]) for item in (V, dV))
    away = X[:-1, :3] - steady.X[:-1, :3]
    V[:, :3] += np.cross(turn, away)
    dV[:, :3] += np.cross(faster, away) + np.cross(turn, np.cross(turn, away))
    V[:, 3:], dV[:, 3:] = np.einsum("fji,fj->fi", R, turn), np.einsum("fji,fj->fi", R, faster)
    return np.ascontiguousarray(V[:, column]), np.ascontiguousarray(dV[:, column])


def _rotate_translations(X: Array, column: NDArray[np.int64], p: Array, back: bool = False) -> Array:
    """Rotate the translations of p (frames, d) from frame axes to world axes, or back."""
    whole = np.zeros((len(p), 6))
    whole[:, column] = p
    R = X[:-1, 3:].reshape(-1, 3, 3)
    whole[:, :3] = np.einsum("fji,fj->fi" if back else "fij,fj->fi", R, whole[:, :3])
    return np.ascontiguousarray(whole[:, column])


def _in_world(state: State, problem: Absolute, force: Array) -> Array:
    return _rotate_translations(state.X, problem.system.rows.column, force.reshape(state.V.shape))


def _in_frames(state: State, problem: Absolute, force: Array) -> Array:
    return _rotate_translations(state.X, problem.system.rows.column, force, back=True).ravel()


@kernel(purpose="static equilibrium of the full equations")
def measures_at(rows, X, w):
    """Write the values of all measures to w, with angles continued from their last values."""
    sizes = row_sizes(rows)
    for row in range(sizes.joint_rows, sizes.rows):
        w[row - sizes.joint_rows] = row_value(rows.rows_i, rows.rows_f, row, X, w)
