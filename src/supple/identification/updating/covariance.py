"""How sure the numbers of a fit are: what noise does to them, with what errs together counted as one."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array, Complex
from supple.identification.updating.observing import Compared
from supple.identification.updating.problem import Problem

_CHANCE = 2.5  # deviations: what chance does not do


def covariance(problem: Problem, found: Compared) -> Array:
    """Of x: A B A, A = (JᵀJ + Σ₀⁻¹)⁻¹; B is the same but for errors of responses that go together. (updating, 17, 28)

    B = Σ₀⁻¹ + Σ of all else JᵀJ + c Σ_m R_m (1 - |m|/M) Σ_l J_lᴴ J_{l-m}
    """
    prior = _precision(problem)
    whole = found.slopes.T @ found.slopes + prior
    A = np.asarray(np.linalg.pinv(whole, hermitian=True), np.float64)
    B = whole.copy()
    for r, J in problem.by_lines(found):
        own = np.einsum("lci,lcj->ij", J.conj(), J).real
        B += _across(A, r, J) * _along(r, J) - own
    return np.asarray(A @ B @ A, np.float64)


def _along(r: Complex, J: Complex) -> Array:
    """Σ_m R_m (1 - |m|/M) Σ_l J_lᴴ J_{l-m} (k, k): errors of lines that go together, R_m their correlation.

    Of all channels, up to the first lag M at which it is none: windows of records do that, and models that lack much.
    And as many lines as L/Σ|R|² tell the noise of a channel: weights that err so let numbers scatter 2Σ|R|²/L more.
    """
    lines = len(r)
    power = float(np.sum(np.abs(r) ** 2))
    R = [np.sum(r[m:] * r[: lines - m].conj()) / max(power, 1e-300) for m in range(max(2, lines // 4))]
    none = np.flatnonzero(np.abs(R) < _CHANCE / np.sqrt(r.size))
    M = int(none[0]) if len(none) else len(R)
    found = np.zeros((J.shape[2], J.shape[2]))
    for m in range(max(M, 1)):
        left, right = (part.reshape(-1, J.shape[2]) for part in (J[m:], J[: lines - m]))
        one = R[m] * (1.0 - m / max(M, 1)) * (left.conj().T @ right)
        found += one.real if m == 0 else (one + one.conj().T).real
    repeated = 2.0 * float(np.sum(np.abs(R[: max(M, 1)]) ** 2)) - 1.0
    return np.asarray((1.0 + 2.0 * repeated / lines) * found)


def _across(A: Array, r: Complex, J: Complex) -> float:
    """c: how much more lines pull at the numbers, all their channels together, than noise would; at least 1.

    A line has pulled the numbers towards itself: what counts is what it would leave had it not been there.    (eq. 29)
    """
    pulls = np.einsum("lci,lc->li", J.conj(), r).real
    own = np.einsum("lci,lcj->lij", J.conj(), J).real
    whole = np.linalg.pinv(A, hermitian=True)
    pulls = np.einsum("lij,lj->li", whole @ np.linalg.pinv(whole - own, hermitian=True), pulls)
    expected = np.trace(A @ own.sum(axis=0))
    if not expected > 0.0:
        return 1.0
    c = float(np.einsum("li,ij,lj->", pulls, A, pulls) / expected)
    turned = A @ own
    chance = np.sqrt(2.0 * np.einsum("lij,lji->", turned, turned)) / expected
    return c if c > 1.0 + _CHANCE * chance else 1.0


def excess(problem: Problem, found: Compared) -> float:
    """How much larger what is left over is than its noise, as variance; at least 1, and 1 where nothing is left over.

    Σ r² over the number of residuals less those that numbers follow.
    """
    information = found.slopes.T @ found.slopes
    used = float(np.trace(np.linalg.pinv(information + _precision(problem), hermitian=True) @ information))
    free = len(found.residuals) - used
    return max(1.0, float(np.sum(np.square(found.residuals))) / free) if free >= 1.0 else 1.0


def _precision(problem: Problem) -> Array:
    rows = problem.known()
    return np.asarray(rows.T @ rows)
