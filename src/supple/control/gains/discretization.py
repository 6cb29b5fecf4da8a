"""Linear systems between two samples, with their inputs held.

x(t + T) = e^{AT} x(t) + ∫₀ᵀ e^{As} ds B u
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import expm

from supple.array_types import Array
from supple.diagnostics import InputError


def held(A: Array, B: Array, T: float) -> tuple[Array, Array]:
    """Transition over T and what the held inputs add: (n, n) and (n, m), exact."""
    n, m = B.shape
    whole = expm(T * np.block([[A, B], [np.zeros((m, n + m))]]))
    return whole[:n, :n], whole[:n, n:]


def held_cost(A: Array, B: Array, Q: Array, R: Array, T: float) -> tuple[Array, Array, Array]:
    """∫₀ᵀ (xᵀQx + uᵀRu) dt between samples as xᵀQ_T x + 2 xᵀN_T u + uᵀR_T u, with u held [Van Loan 1978]."""
    n, m = B.shape
    k = n + m
    F = np.block([[A, B], [np.zeros((m, k))]])
    weight = np.block([[Q, np.zeros((n, m))], [np.zeros((m, n)), R]])
    whole = expm(T * np.block([[-F.T, weight], [np.zeros((k, k)), F]]))
    sum_ = whole[k:, k:].T @ whole[:k, k:]
    sum_ = 0.5 * (sum_ + sum_.T)
    return sum_[:n, :n], sum_[:n, n:], sum_[n:, n:]


def require_sample_time(T: float | None) -> None:
    """Refuse a sample time that is none."""
    if T is not None and not (np.isfinite(T) and T > 0.0):
        raise InputError(f"it is {T:g} s", part="sample time", hint="give a number above 0")
