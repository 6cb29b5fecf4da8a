"""Linear programs over all instants of a motion: least peaks, and by how much bounds must give way.

Each is one sparse program for the whole motion, so that forces of neighbouring instants may be coupled by bounds on
their rates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from supple.array_types import Array
from supple.diagnostics import NumericalError

_TOLERANCE = 1e-10  # on forces in units of the largest least-squares force


class Rates(NamedTuple):
    """Bounds on the rates of the forces: limits (a,) and the steps (N - 1,) between instants."""

    limits: Array
    steps: Array


def least_largest(
    B: Array, Q: Array, weights: Array, lower: Array, upper: Array, rates: Rates | None = None
) -> tuple[Array, Array]:
    """Forces (N, a) with the least t = max w |u| (N,) at each instant, and t; with rates, the least sum of t.

    min Σ t_n   such that   B u = Q,   |w u| <= t,   lower <= u <= upper
    """
    count, _, a = B.shape
    low = np.zeros((count, a))
    return _least(B, Q, weights, low, low, lower, upper, rates)


def least_excess(B: Array, Q: Array, lower: Array, upper: Array) -> Array:
    """By how much all bounds of an instant must at least be widened alike for forces to exist: (N,)."""
    unbounded = np.full(lower.shape, np.inf)
    return _least(B, Q, np.ones(B.shape[2]), lower, upper, -unbounded, unbounded)[1]


def least_rate_excess(B: Array, Q: Array, lower: Array, upper: Array, rates: Rates) -> tuple[float, int]:
    """By how much all bounds on rates must at least be raised alike, and the step that asks for it most.

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
    answer = _solved(
        cost, sparse.vstack(sides), np.tile(allowed[kept], 2) / scale, _equations(B, 1), Q.ravel() / scale,
        np.append(lower.ravel() / scale, 0.0), np.append(upper.ravel() / scale, np.inf),
    )  # fmt: skip
    push = np.zeros(len(allowed))
    push[kept] = np.abs(answer.ineqlin.marginals).reshape(2, -1).sum(axis=0)
    return float(answer.x[-1]) * scale, int(np.argmax(push.reshape(count - 1, a).max(axis=1)))


def _least(
    B: Array, Q: Array, gain: Array, low: Array, high: Array, lower: Array, upper: Array, rates: Rates | None = None
) -> tuple[Array, Array]:
    """min Σ t such that B u = Q, low - t <= gain u <= high + t, lower <= u <= upper, t >= 0."""
    count, _, a = B.shape
    scale = _scale(B, Q)
    # Unknowns: the forces of all instants, then the t of all instants.
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
    answer = _solved(
        cost, sparse.vstack(blocks), np.concatenate(right), _equations(B, count), Q.ravel() / scale,
        np.append(lower.ravel() / scale, np.zeros(count)), np.append(upper.ravel() / scale, np.full(count, np.inf)),
    )  # fmt: skip
    u = answer.x[: count * a].reshape(count, a) * scale
    u += (np.linalg.pinv(B) @ (Q - np.einsum("nsa,na->ns", B, u))[..., None])[..., 0]  # equations to rounding
    return u, answer.x[count * a :] * scale


def _scale(B: Array, Q: Array) -> float:
    """The largest force in the least-squares sense: the unit of force of the programs."""
    largest = float(np.abs(np.linalg.pinv(B) @ Q[..., None]).max())
    return largest if largest > 0.0 else 1.0


def _equations(B: Array, more: int) -> Any:
    """B u = Q of all instants, with columns of zeros for further unknowns."""
    blocks = sparse.block_diag(list(B), format="csr")
    return sparse.hstack([blocks, sparse.csr_matrix((blocks.shape[0], more))])


def _differences(count: int, a: int) -> Any:
    """u_{n+1} - u_n of every actuator: ((count - 1) a, count a)."""
    one = sparse.diags([-np.ones(count - 1), np.ones(count - 1)], [0, 1], shape=(count - 1, count))
    return sparse.kron(one, sparse.eye(a)).tocsr()


def _solved(cost: Array, rows: Any, right: Array, equations: Any, values: Array, lower: Array, upper: Array) -> Any:
    answer = linprog(
        cost, A_ub=rows.tocsr(), b_ub=right, A_eq=equations.tocsr(), b_eq=values,
        bounds=np.column_stack([lower, upper]), method="highs",
        options={"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
    )  # fmt: skip
    if answer.status != 0:
        raise NumericalError(
            f"the linear program of {len(cost)} unknowns was not solved ({answer.message})",
            part="force distribution",
            hint="take fewer instants, or less extreme bounds",
        )
    return answer
