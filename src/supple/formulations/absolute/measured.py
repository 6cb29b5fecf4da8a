"""Rates and accelerations of measures along a motion of all frames.

ℓ̇ = ∇ℓ·V,   ℓ̈ = ∇ℓ·V̇ + d(∇ℓ)/dt·V
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.formulations.absolute.residual import bias, rate, row_gradients
from supple.formulations.absolute.step_work import step_work
from supple.formulations.absolute.system import Absolute
from supple.kinematics.row_arrays import row_sizes


def measured_rates(problem: Absolute, X: Array, V: Array, rows: Sequence[int]) -> Array:
    """Return ℓ̇ (N, rows) of measures by their rows; X (N, frames + 1, 12), V (N, frames, d)."""
    return measure_rates(problem, X, V, V, rows)[0]


def measured_accelerations(problem: Absolute, X: Array, V: Array, acceleration: Array, rows: Sequence[int]) -> Array:
    """Return ℓ̈ (N, rows) with v̇ (N, frames, d)."""
    return measure_rates(problem, X, V, acceleration, rows)[1]


def measure_rates(problem: Absolute, X: Array, V: Array, dV: Array, rows: Sequence[int]) -> tuple[Array, Array]:
    """Return ℓ̇ and ℓ̈."""
    first, second = np.zeros((2, len(X), len(rows)))
    if len(rows) and len(X):
        chosen = np.array(rows, dtype=np.int64)
        states = tuple(np.ascontiguousarray(part) for part in (X, V, dV))
        compile_kernel(measured_batch, count=len(X))(problem.system, problem.pattern, chosen, *states, first, second)
    return first, second


@kernel(purpose="rates of measures")
def measured_batch(system, pattern, chosen, X_all, V_all, dV_all, first, second):
    """Compute rates and accelerations (N, rows) at every state."""
    sizes, rows = row_sizes(system.rows), system.rows
    w = np.zeros(sizes.rows - sizes.joint_rows)  # gradients know nothing of turns
    work = step_work(system, pattern)
    for n in range(X_all.shape[0]):
        X, V = X_all[n], V_all[n]
        for i in range(chosen.shape[0]):
            row = chosen[i]
            row_gradients(rows.rows_i, rows.rows_f, rows.column, row, X, w, work.term, work.gradients)
            first[n, i] = rate(rows.rows_i, row, work.gradients, V)
            second[n, i] = rate(rows.rows_i, row, work.gradients, dV_all[n]) + bias(rows, row, X, V, work)
