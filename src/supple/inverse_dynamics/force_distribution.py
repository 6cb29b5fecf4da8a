"""Distribution of a required generalized force over actuators: B u = Q with more forces than equations.

The quadratic ½ uᵀH u + fᵀu is minimized, or the largest weighted force. All functions work on N times at once: B
(N, s, a), Q (N, s), u (N, a). `least_excess` gives the excess over bounds that cannot be met.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog, lsq_linear

from supple.array_types import Array
from supple.diagnostics import NumericalError

_TOLERANCE = 1e-11  # of daqp, on forces in units of their bounds
_MET = 1e-10  # of a bound, by which a force may exceed it
_LIGHT = 1e-6  # weight of forces relative to errors of accelerations
_WIDER = 1e-9  # of the least peak: margin for the search of the smallest forces


class Objective(NamedTuple):
    """Objective ½ uᵀH u + fᵀu at every time: H (N, a, a) positive definite, f (N, a)."""

    H: Array
    f: Array


def torque_objective(B: Array, weights: Array) -> Objective:
    """Return Σ w u², with weights (a,)."""
    count, _, a = B.shape
    return Objective(np.broadcast_to(2.0 * np.diag(weights), (count, a, a)), np.broadcast_to(0.0, (count, a)))


def multiplier_objective(free: Array, unit: Array, weights: Array) -> Objective:
    """Return Σ λ² + Σ w u², with the multipliers λ = λ_0 - Λ u of forces u            [Silva, eqs. 17-19].

    free : (N, m) λ_0, the least multipliers without any force
    unit : (N, m, a) Λ, the reduction by a unit of each force

    Both are least solutions, so that the sum is that of one pseudo-inverse over all unknowns.
    """
    H = 2.0 * (np.einsum("nma,nmb->nab", unit, unit) + np.diag(weights))
    return Objective(H, -2.0 * np.einsum("nma,nm->na", unit, free))


def least_squares(B: Array, Q: Array, objective: Objective) -> Array:
    """Return the forces with B u = Q that minimize the objective.

    With H = L Lᵀ and x = Lᵀ u + L⁻¹ f the objective is ½ |x|², and x is the least solution of B L⁻ᵀ x = Q + B H⁻¹ f.
    Matrices that are the same at every time (one array, broadcast) are factored once.
    """
    H, f = objective
    if all(is_constant(item) for item in (B, H, f)):
        B, H, f = B[:1], H[:1], f[:1]
    L = np.linalg.cholesky(H)
    lowest = np.linalg.solve(H, f[..., None])  # H⁻¹ f
    BL = np.linalg.solve(L, B.transpose(0, 2, 1)).transpose(0, 2, 1)  # B L⁻ᵀ
    if len(B) < len(Q):
        inverse = np.linalg.solve(L.transpose(0, 2, 1), np.linalg.pinv(BL))
        return np.asarray((Q + (B @ lowest)[..., 0]) @ inverse[0].T - lowest[..., 0])
    x = np.linalg.pinv(BL) @ (Q[..., None] + B @ lowest)
    return (np.linalg.solve(L.transpose(0, 2, 1), x) - lowest)[..., 0]


def is_constant(matrices: Array) -> bool:
    """Return whether one array was broadcast over all times."""
    return len(matrices) > 1 and matrices.strides[0] == 0


def least_squares_within(
    B: Array, Q: Array, objective: Objective, lower: Array, upper: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the least-squares forces with lower <= u <= upper, each (N, a), and where such forces exist.

    Times where the unbounded minimum is within the bounds need no more; the others are quadratic programs.
    """
    u = least_squares(B, Q, objective)
    slack = _MET * np.maximum(np.abs(lower), np.abs(upper))
    slack = np.where(np.isfinite(slack), slack, 0.0)
    met = ((u <= upper + slack) & (u >= lower - slack)).all(axis=1)
    possible = np.ones(len(B), dtype=bool)
    for n in np.flatnonzero(~met):
        found = _program(B[n], Q[n], objective.H[n], objective.f[n], lower[n], upper[n])
        possible[n] = found is not None
        if found is not None:
            u[n] = found
    return np.clip(u, lower, upper) if possible.all() else u, possible


def _program(B: Array, Q: Array, H: Array, f: Array, lower: Array, upper: Array) -> Array | None:
    """Solve one time by an active-set method; return None if no forces exist."""
    import daqp

    # In units of the bounds all numbers are near one, and so are the tolerances.
    size = np.maximum(*(np.where(np.isfinite(side), np.abs(side), 0.0) for side in (lower, upper)))
    size = np.where(size > 0.0, size, max(float(size.max()), 1.0))
    rows = B * size
    scale = np.linalg.norm(rows, axis=1)
    cost = H * np.outer(size, size)
    largest = float(np.abs(cost).max())
    high = np.concatenate([upper / size, Q / scale])
    low = np.concatenate([lower / size, Q / scale])
    sense = np.zeros(len(high), dtype=np.intc)
    sense[len(size) :] = 5  # an equality
    x, _, flag, _ = daqp.solve(
        np.ascontiguousarray(cost / largest), np.ascontiguousarray(f * size / largest),
        np.ascontiguousarray(rows / scale[:, None]), high, low, sense, primal_tol=_TOLERANCE, dual_tol=_TOLERANCE,
    )  # fmt: skip
    if flag < 1:
        return None
    u = np.asarray(x) * size
    return u if np.abs(B @ u - Q).max() <= 1e-8 * (np.abs(B) @ np.abs(u)).max() else None


def nearest_within(B: Array, Q: Array, M: Array, weights: Array, lower: Array, upper: Array) -> Array:
    """Return the forces within bounds whose accelerations are nearest to those of Q, at one time: (a,).

    least (B u - Q)ᵀ M⁻¹ (B u - Q) with lower <= u <= upper; B (s, a), Q (s,), M (s, s). Of several, the smallest.
    """
    L = np.linalg.cholesky(M)
    rows = np.linalg.solve(L, np.column_stack([B, Q]))  # |L⁻¹ (B u - Q)|² is the Gaussian measure
    damping = _LIGHT * np.linalg.norm(rows[:, :-1]) * np.sqrt(weights / weights.max())
    matrix = np.vstack([rows[:, :-1], np.diag(np.maximum(damping, np.finfo(float).tiny))])
    right = np.concatenate([rows[:, -1], np.zeros(len(weights))])
    return np.asarray(lsq_linear(matrix, right, bounds=(lower, upper), method="bvls").x)


def least_peak(B: Array, Q: Array, weights: Array) -> Array:
    """Return the forces with B u = Q whose largest w |u| is least; of several, those with the least Σ (w u)².

    With one equation all actuators have the same weighted force, each in the helpful direction: w u = sgn(B) Q / Σ
    |B|/w.
    """
    if B.shape[1] == 1:
        b = B[:, 0, :]
        return np.sign(b) / weights * (Q / (np.abs(b) / weights).sum(axis=1, keepdims=True))
    unbounded = np.full((len(B), B.shape[2]), np.inf)
    return least_peak_within(B, Q, weights, -unbounded, unbounded)[0]


def least_peak_within(
    B: Array, Q: Array, weights: Array, lower: Array, upper: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Return the least-peak forces within bounds, and where they exist.

    The least peak is a linear program, the forces below it a quadratic one.
    """
    objective = torque_objective(B, weights**2)
    possible = least_squares_within(B, Q, objective, lower, upper)[1]
    if not possible.all():
        return np.zeros((len(B), B.shape[2])), possible
    u, peak = least_largest(B, Q, weights, lower, upper)
    room = ((1.0 + _WIDER) * peak)[:, None] / weights
    smallest, found = least_squares_within(B, Q, objective, np.maximum(lower, -room), np.minimum(upper, room))
    return np.where(found[:, None], smallest, u), possible


# Linear programs over all times of a motion: least peaks, and the least excess over bounds.
#
# Each is one sparse program for the whole motion, so that forces of neighbouring times may be coupled by bounds on
# their rates.


_PROGRAM_TOLERANCE = 1e-10  # on forces in units of the largest least-squares force


class Rates(NamedTuple):
    """Bounds of the rates of forces: limits (a,) and the steps (N - 1,) between times."""

    limits: Array
    steps: Array


def least_largest(
    B: Array, Q: Array, weights: Array, lower: Array, upper: Array, rates: Rates | None = None
) -> tuple[Array, Array]:
    """Return forces (N, a) with the least t = max w |u| (N,) at each time, and t; with rates, the least sum of t.

    min Σ t_n   such that   B u = Q,   |w u| <= t,   lower <= u <= upper
    """
    count, _, a = B.shape
    low = np.zeros((count, a))
    return _least(B, Q, weights, low, low, lower, upper, rates)


def least_excess(B: Array, Q: Array, lower: Array, upper: Array) -> Array:
    """Return the least uniform increase of all bounds at each time for which forces exist: (N,)."""
    unbounded = np.full(lower.shape, np.inf)
    return _least(B, Q, np.ones(B.shape[2]), lower, upper, -unbounded, unbounded)[1]


def least_rate_excess(B: Array, Q: Array, lower: Array, upper: Array, rates: Rates) -> tuple[float, int]:
    """Return the least uniform increase of all bounds of rates, and the step that requires it most.

    min σ   such that   B u = Q,   lower <= u <= upper,   |u_{n+1} - u_n| <= (limits + σ) h_n
    """
    count, _, a = B.shape
    scale = _scale(B, Q)
    difference = _differences(count, a)
    steps = np.repeat(rates.steps, a)
    allowed = np.tile(rates.limits, count - 1) * steps
    kept = np.isfinite(allowed)
    column = sparse.csr_matrix(-steps[:, None])
    sides = [sparse.hstack([sign * difference, column])[kept] for sign in (1.0, -1.0)]
    cost = np.zeros(count * a + 1)
    cost[-1] = 1.0
    answer = _solve_program(
        cost, sparse.vstack(sides), np.tile(allowed[kept], 2) / scale, _equations(B, 1), Q.ravel() / scale,
        np.append(lower.ravel() / scale, 0.0), np.append(upper.ravel() / scale, np.inf),
    )  # fmt: skip
    push = np.zeros(len(allowed))
    push[kept] = np.abs(answer.ineqlin.marginals).reshape(2, -1).sum(axis=0)
    return float(answer.x[-1]) * scale, int(np.argmax(push.reshape(count - 1, a).max(axis=1)))


def _least(
    B: Array, Q: Array, gain: Array, low: Array, high: Array, lower: Array, upper: Array, rates: Rates | None = None
) -> tuple[Array, Array]:
    """Minimize Σ t such that B u = Q, low - t <= gain u <= high + t, lower <= u <= upper, t >= 0."""
    count, _, a = B.shape
    scale = _scale(B, Q)
    # Unknowns: the forces at all times, then t at all times.
    gains = sparse.diags(np.tile(gain, count))
    shared = sparse.kron(sparse.eye(count), np.ones((a, 1)))
    blocks = [sparse.hstack([gains, -shared]), sparse.hstack([-gains, -shared])]
    right = [high.ravel() / scale, -low.ravel() / scale]
    kept = [np.isfinite(part) for part in right]
    blocks = [block.tocsr()[keep] for block, keep in zip(blocks, kept, strict=True)]
    right = [part[keep] for part, keep in zip(right, kept, strict=True)]
    if rates is not None:
        allowed = (rates.steps[:, None] * rates.limits).ravel() / scale
        keep = np.isfinite(allowed)
        difference = sparse.hstack([_differences(count, a), sparse.csr_matrix((len(allowed), count))]).tocsr()[keep]
        blocks += [difference, -difference]
        right += [allowed[keep], allowed[keep]]
    cost = np.concatenate([np.zeros(count * a), np.ones(count)])
    answer = _solve_program(
        cost, sparse.vstack(blocks), np.concatenate(right), _equations(B, count), Q.ravel() / scale,
        np.append(lower.ravel() / scale, np.zeros(count)), np.append(upper.ravel() / scale, np.full(count, np.inf)),
    )  # fmt: skip
    u = answer.x[: count * a].reshape(count, a) * scale
    u += (np.linalg.pinv(B) @ (Q - np.einsum("nsa,na->ns", B, u))[..., None])[..., 0]  # equations to rounding
    return u, answer.x[count * a :] * scale


def _scale(B: Array, Q: Array) -> float:
    """Return the largest least-squares force, the unit of force of the programs."""
    largest = float(np.abs(np.linalg.pinv(B) @ Q[..., None]).max())
    return largest if largest > 0.0 else 1.0


def _equations(B: Array, more: int) -> Any:
    """Return B u = Q at all times, with columns of zeros for further unknowns."""
    blocks = sparse.block_diag(list(B), format="csr")
    return sparse.hstack([blocks, sparse.csr_matrix((blocks.shape[0], more))])


def _differences(count: int, a: int) -> Any:
    """Return u_{n+1} - u_n of every actuator: ((count - 1) a, count a)."""
    one = sparse.diags([-np.ones(count - 1), np.ones(count - 1)], [0, 1], shape=(count - 1, count))
    return sparse.kron(one, sparse.eye(a)).tocsr()


def _solve_program(
    cost: Array, rows: Any, right: Array, equations: Any, values: Array, lower: Array, upper: Array
) -> Any:
    answer = linprog(
        cost, A_ub=rows.tocsr(), b_ub=right, A_eq=equations.tocsr(), b_eq=values,
        bounds=np.column_stack([lower, upper]), method="highs",
        options={"primal_feasibility_tolerance": _PROGRAM_TOLERANCE, "dual_feasibility_tolerance": _PROGRAM_TOLERANCE},
    )  # fmt: skip
    if answer.status != 0:
        raise NumericalError(
            f"the linear program of {len(cost)} unknowns was not solved ({answer.message})",
            part="force distribution",
            hint="use fewer times, or less extreme bounds",
        )
    return answer
