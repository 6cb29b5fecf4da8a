"""The linear quadratic regulator: the feedback of least cost ∫ (δxᵀ Q δx + δuᵀ R δu) dt.

K = R⁻¹ Bᵀ P,   Aᵀ P + P A - P B R⁻¹ Bᵀ P + Q = 0
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve, solve_continuous_are, solve_discrete_are

from supple.array_types import Array
from supple.control.gains.controllability import Unreached, unreached
from supple.control.gains.feedback_gain import FeedbackGain, require_continuous
from supple.control.gains.sampling import held, held_cost, require_sample_time
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.arguments import require_arguments
from supple.reduced.named_values import in_order
from supple.results.linear_model import LinearModel

Weights = float | Mapping[str, float] | ArrayLike

_SYMMETRIC = 1e-12


def lqr(linear: LinearModel, Q: Weights, R: Weights, *, sample_time: float | None = None) -> FeedbackGain:
    """The gain of least cost.

    Q : weights of the states, R : of the inputs: one number for all, by name (zero if left out), in order, or a
        symmetric matrix. Q must not be negative, R must be positive
    sample_time : s, for which inputs are held; the same cost, integrated between samples, is then the least
    """
    require_arguments(lqr, locals())
    require_continuous(linear)
    require_sample_time(sample_time)
    states, inputs = weights("Q", Q, linear.states), weights("R", R, linear.inputs)
    _require_definite("Q", states, linear.states, strict=False)
    _require_definite("R", inputs, linear.inputs, strict=True)
    _require(unreached(linear.A, linear.B, linear.states, unstable=True), "inputs", "add an actuator there")
    _require_seen(linear, states)
    A, B, N = linear.A, linear.B, np.zeros_like(linear.B)
    try:
        if sample_time is None:
            P = solve_continuous_are(A, B, states, inputs)
            K = cho_solve(cho_factor(inputs), B.T @ P)
        else:
            A, B = held(A, B, sample_time)
            states, N, inputs = held_cost(linear.A, linear.B, states, inputs, sample_time)
            P = solve_discrete_are(A, B, states, inputs, s=N)
            K = cho_solve(cho_factor(inputs + B.T @ P @ B), B.T @ P @ A + N.T)
    except np.linalg.LinAlgError as error:
        raise NumericalError(
            f"Riccati's equation was not solved ({' '.join(str(error).split())})", part="lqr",
            hint="bring the weights closer to each other, or to the units of the states",
        ) from None  # fmt: skip
    found = np.linalg.eigvals(A - B @ K).astype(complex)
    poles = found if sample_time is None else np.log(found) / sample_time
    if not (poles.real < 0.0).all():
        raise NumericalError(
            f"the loop has a pole at {poles[int(poles.real.argmax())]:.4g} 1/s that does not decay", part="lqr",
            hint="weigh more states, or bring the weights closer to each other",
        )  # fmt: skip
    return FeedbackGain(linear, K, poles, sample_time)


def weights(part: str, values: Weights, names: tuple[str, ...]) -> Array:
    """A symmetric matrix of weights (k, k), however they are given."""
    k = len(names)
    if isinstance(values, int | float):
        return float(values) * np.eye(k)
    given = np.diag(in_order(part, values, names)) if isinstance(values, Mapping) or np.ndim(values) == 1 else None
    if given is not None:
        return given
    matrix = in_order(part, values, names)
    if matrix.shape != (k, k):
        raise InputError(f"has the shape {matrix.shape}", part=part, hint=f"give ({k},) or ({k}, {k}) weights")
    if np.abs(matrix - matrix.T).max() > _SYMMETRIC * np.abs(matrix).max():
        raise InputError("it is not symmetric", part=part, hint="take the mean of it and its transpose")
    return 0.5 * (matrix + matrix.T)


def _require_definite(part: str, matrix: Array, names: tuple[str, ...], *, strict: bool) -> None:
    values, vectors = np.linalg.eigh(matrix)
    least, size = float(values[0]), float(np.abs(values).max())
    if least > 0.0 or (not strict and least >= -1e-12 * size):
        return
    name = names[int(np.abs(vectors[:, 0]).argmax())]
    what = "not positive" if strict else "negative"
    raise InputError(
        f'it is {what}: {least:.3g} in a direction with "{name}"', part=part,
        hint="weigh every input by a number above 0" if strict else "give weights of 0 and above",
    )  # fmt: skip


def _require(missed: Unreached, who: str, hint: str) -> None:
    if missed:
        modes = ", ".join(f"{mode:.4g}" for mode in missed.modes)
        raise InputError(
            f"modes that do not decay are beyond the {who}, at {modes} 1/s, in the states {missed}", part="lqr",
            hint=hint,
        )  # fmt: skip


def _require_seen(linear: LinearModel, Q: Array) -> None:
    """Modes on the imaginary axis that cost nothing would stay there: no regulator is then the best."""
    values, vectors = np.linalg.eigh(Q)
    half = vectors * np.sqrt(np.maximum(values, 0.0))
    blind = unreached(linear.A.T, half, linear.states, unstable=True)
    large = max(float(np.abs(linear.A).max()), 1.0)
    standing = Unreached(blind.modes[np.abs(blind.modes.real) <= 1e-9 * large], blind.states)
    _require(standing, "weights Q", "weigh one of those states")
