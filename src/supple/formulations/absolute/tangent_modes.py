"""Free small motions about a state: eigenvalues of M p̈ + D ṗ + K p + Jᵀλ = 0, J p = C λ.

Few of many coordinates are wanted, the slowest ones, and so the inverse is iterated: with q = K⁻¹ under the rows,

    (p, v) → (-K⁻¹ (M v + D p), p)                 has the eigenvalues 1/s of p̈ = s² p

and where nothing damps and nothing turns, K⁻¹ M is symmetric and has 1/ω². Small systems are solved densely, in the
motions that the rows leave.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from scipy.linalg import eig, eigh, null_space

from supple.array_types import Array, Complex
from supple.compilation.threads import single_blas_thread
from supple.diagnostics import NumericalError
from supple.formulations.absolute.saddle import Saddle
from supple.formulations.absolute.tangent import Tangent

_DENSE = 150  # coordinates, up to which everything is computed at once
_NOTHING = 1e-13  # of the largest entry: a matrix below is rounding
_RANK = 1e-10
_TRACE = 1e-11  # of the largest stiffness: what a motion without any feels at once


class FreeMotions(NamedTuple):
    """eigenvalues : (k,) s⁻¹, of those that oscillate the one with Im s > 0, by rising magnitude; shapes : (n, k), over
    displacements in the axes of the frames."""

    eigenvalues: Complex
    shapes: Complex


@single_blas_thread()
def free_motions(tangent: Tangent, count: int) -> FreeMotions:
    """The slowest motions; those without stiffness among them have the eigenvalue 0."""
    n = tangent.K.shape[0]
    steady = _small(tangent.D, tangent.M, tangent.K)
    if n <= _DENSE or count >= n // 4:
        return _dense(tangent, count, steady)
    if _loose(tangent):
        return _dense(tangent, count, steady)
    return _symmetric_modes(tangent, count) if steady else _damped_modes(tangent, count)


def _small(D: sp.csc_array, M: sp.csc_array, K: sp.csc_array) -> bool:
    """Whether damping and gyroscopic terms are rounding beside √(K M)."""
    reference = np.sqrt(float(np.abs(M).max()) * max(float(np.abs(K).max()), 0.0))
    return float(np.abs(D).max()) <= _NOTHING * reference


def _loose(tangent: Tangent) -> bool:
    """Whether something moves without stiffness, so that K alone cannot be inverted."""
    n = tangent.K.shape[0]
    push = tangent.M @ np.random.default_rng(1).standard_normal(n)
    stiffest = float(np.abs(tangent.K.diagonal()).max(initial=0.0))
    try:
        held = [
            Saddle(sp.csc_array(tangent.K + part * stiffest * sp.eye_array(n)), tangent.J, tangent.compliance)
            for part in (0.0, _TRACE)
        ]
        free, other = (np.linalg.norm(saddle.solve(push)[0]) for saddle in held)
    except NumericalError:
        return True
    return not free < 2.0 * other


def _symmetric_modes(tangent: Tangent, count: int) -> FreeMotions:
    """Of K p = ω² M p."""
    M, K = _even(tangent.M), _even(tangent.K)
    saddle = Saddle(K, tangent.J, tangent.compliance)
    n = M.shape[0]
    begin = saddle.solve(M @ np.random.default_rng(0).standard_normal(n))[0]
    inverse = spla.LinearOperator((n, n), matvec=lambda x: saddle.solve(np.asarray(x).ravel())[0], dtype=float)
    squares, shapes = spla.eigsh(K, count, M, sigma=0.0, OPinv=inverse, v0=begin, tol=1e-13)
    order = np.argsort(np.abs(squares))
    return FreeMotions(np.sqrt((-squares[order]).astype(complex)), shapes[:, order].astype(complex))


def _damped_modes(tangent: Tangent, count: int) -> FreeMotions:
    saddle = Saddle(tangent.K, tangent.J, tangent.compliance)
    M, D, n = tangent.M, tangent.D, tangent.K.shape[0]

    def inverted(x: Array) -> Array:
        p, v = x[:n], x[n:]
        return np.concatenate([-saddle.solve(M @ v + D @ p)[0], p])

    start = np.random.default_rng(0).standard_normal(n)
    begin = np.concatenate([saddle.solve(M @ start)[0], saddle.solve(D @ start + M @ start)[0]])
    operator = spla.LinearOperator((2 * n, 2 * n), matvec=lambda x: inverted(np.asarray(x).ravel()), dtype=float)
    inverse, vectors = spla.eigs(operator, 2 * count, which="LM", v0=begin, tol=1e-12)
    return _chosen(1.0 / inverse, vectors[:n], count)


def _dense(tangent: Tangent, count: int, steady: bool) -> FreeMotions:
    J, c = tangent.J.toarray(), tangent.compliance
    soft = c > 0.0
    K = tangent.K.toarray() + J[soft].T @ (J[soft] / c[soft, None])
    hard = J[~soft]
    size = np.linalg.norm(hard, axis=1, keepdims=True)
    N = null_space(hard / np.where(size > 0.0, size, 1.0), rcond=_RANK) if len(hard) else np.eye(len(K))
    if N.shape[1] == 0:
        raise NumericalError("nothing of it can move", hint="free its actuators, or make a part elastic")
    M, D, K = (N.T @ item @ N for item in (tangent.M.toarray(), tangent.D.toarray(), K))
    if steady:
        M, K = 0.5 * (M + M.T), 0.5 * (K + K.T)
        try:  # the slowest are the largest of the inverse, and keep their digits
            inverse, V = eigh(M, K)
            squares = 1.0 / np.where(inverse > 0.0, inverse, np.inf)[::-1]
            V = V[:, ::-1]
        except np.linalg.LinAlgError:
            squares, V = eigh(K, M)
        order = np.argsort(np.abs(squares), kind="stable")[:count]
        return FreeMotions(np.sqrt((-squares[order]).astype(complex)), (N @ V[:, order]).astype(complex))
    k = len(K)
    unit, none = np.eye(k), np.zeros((k, k))
    values, vectors = eig(np.block([[none, unit], [-K, -D]]), np.block([[unit, none], [none, M]]))
    return _chosen(values, N @ vectors[:k], count)


def _chosen(values: Complex, vectors: Complex, count: int) -> FreeMotions:
    """One of each pair, the slowest first."""
    finite = np.isfinite(values)
    kept = finite & (values.imag >= -1e-9 * np.abs(values))
    values, vectors = values[kept], vectors[:, kept]
    order = np.argsort(np.abs(values), kind="stable")[:count]
    return FreeMotions(values[order], vectors[:, order])


def _even(matrix: sp.csc_array) -> sp.csc_array:
    return sp.csc_array(0.5 * (matrix + matrix.T))
