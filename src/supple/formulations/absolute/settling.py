"""Rest under loads, or steady motion under inertia, however far everything bends: r(q) + Φ_qᵀ λ = 0, Φ(q) = C λ.

Newton's method with the exact stiffness. Where one go does not converge, loads are applied step by step. What is
missing at the start, r₀, is held by dead forces, of which ever less is left,

    r(q, λ) = (1 - s) r₀,   s = 0 ... 1

with steps of s that are halved where they fail. This needs no knowledge of what the loads are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compiled, kernel
from supple.diagnostics import NumericalError
from supple.formulations.absolute.step import State, displaced
from supple.formulations.absolute.system import Absolute
from supple.formulations.absolute.tangent import Tangent, tangent_at
from supple.kinematics.primitives import row_value
from supple.kinematics.row_arrays import row_sizes

_YIELDING = 1e-12
_LEAST = 1e-9  # of the largest stiffness: less is rounding
_NOTHING = 1e-200
_REFINED = 2


class Saddle:
    """Factors of the sparse equations of small motions that keep their rows, redundant ones too; S (n, n).

        [S   Jᵀ] [ p ]   [f]
        [J  -C ] [ λ ] = [g]

    A row that does not yield is given a compliance of 1e-12 of what the frames themselves yield along it. Redundant
    rows then pass: of their multipliers one solution out of many is found, and p is the same for all of them.
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
            raise NumericalError("its stiffness is singular", hint="hold what is free to move") from None

    def solve(self, f: Array, g: Array | None = None) -> tuple[Array, Array]:
        """p (n,) and λ (rows,)."""
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
    """Where it rests (or moves steadily), and in how many load steps and iterations it was found."""

    state: State
    tangent: Tangent
    steps: int
    iterations: int


def settle_bodies(problem: Absolute, begin: State, u: Array, aims: Array, steady: Steady | None = None) -> Settled:
    """From a state nearby: its poses, multipliers and measures are where the search begins.

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
                f"no equilibrium was found: it is there with {100.0 * reached:.3g} % of the loads, and no step "
                f"further, down to {100.0 * step:.2g} %, converges", part=f'mechanism "{numbering.mechanism.name}"',
                hint="it may snap or buckle there: start closer, take smaller loads, or more elements",
            )  # fmt: skip
    return Settled(state, tangent, steps, iterations)


def _newton(
    problem: Absolute, begin: tuple[State, Tangent], at: tuple[Array, Array, Array], steady: Steady | None
) -> tuple[State, Tangent, int] | None:
    """The state at which all but the dead forces balance; None where that is not found."""
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
    """Of the mechanism, m."""
    return max(float(problem.system.rows.extent), float(np.linalg.norm(np.ptp(X[:-1, :3], axis=0))))


def _correction(tangent: Tangent, force: Array) -> tuple[Array, Array] | None:
    """p and the change of the multipliers; directions that nothing holds and nothing pushes stay where they are."""
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
    """The state displaced by p (frames, d), in the axes of the frames; velocities follow from where it then is."""
    column = problem.system.rows.column
    X, twist = np.empty_like(state.X), np.zeros(6)
    compiled(displaced, count=1)(column, state.X, _rotated(state.X, column, p), X, twist)
    w = state.w.copy()
    compiled(measures_at, count=1)(problem.system.rows, X, w)
    still = np.zeros_like(state.V)
    V, acceleration = (still, still.copy()) if steady is None else _carried(steady, X, column)
    return State(X, V, acceleration, acceleration.copy(), np.ascontiguousarray(multipliers), w)


def _carried(steady: Steady, X: Array, column: NDArray[np.int64]) -> tuple[Array, Array]:
    """Velocities and accelerations of frames at X that are carried along as if they were rigidly on their bodies."""
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


def _rotated(X: Array, column: NDArray[np.int64], p: Array, back: bool = False) -> Array:
    """Translations of p (frames, d) from the axes of the frames to those of the world, or back."""
    whole = np.zeros((len(p), 6))
    whole[:, column] = p
    R = X[:-1, 3:].reshape(-1, 3, 3)
    whole[:, :3] = np.einsum("fji,fj->fi" if back else "fij,fj->fi", R, whole[:, :3])
    return np.ascontiguousarray(whole[:, column])


def _in_world(state: State, problem: Absolute, force: Array) -> Array:
    return _rotated(state.X, problem.system.rows.column, force.reshape(state.V.shape))


def _in_frames(state: State, problem: Absolute, force: Array) -> Array:
    return _rotated(state.X, problem.system.rows.column, force, back=True).ravel()


@kernel(purpose="static equilibrium of the full equations")
def measures_at(rows, X, w):
    """The values of all measures into w, angles followed from what they were."""
    sizes = row_sizes(rows)
    for row in range(sizes.joint_rows, sizes.rows):
        w[row - sizes.joint_rows] = row_value(rows.rows_i, rows.rows_f, row, X, w)
