"""Harmonic response with constraints, by elimination of stiff coordinates.

    (Λ (1 + iη) + iω (α + βΛ) - ω²) z + Cᵀλ = f,    κ (C z - e) = λ        (docs/theory/frequency-response.md, eqs. 3-6)

Coordinates far from their own resonance are eliminated, since their equations are diagonal. The others, in particular
rigid motions, are solved together with the rows, so that nothing is divided by a value that vanishes at 0 Hz or at a
body's own resonance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import kernel
from supple.formulations.elastic_rest.response_operator import pivoted_cholesky

# Gauss's elimination, real or complex: for matrices of a few tens of rows, where a library's call costs as much.


@kernel
def solve_pivoted(A, B, least):
    """Compute B ← A⁻¹B with column pivots above `least`; A is overwritten. Return whether A was regular."""
    n, p = B.shape
    for k in range(n):
        pivot, largest = k, 0.0
        for i in range(k, n):
            size = abs(A[i, k])
            if size > largest:
                pivot, largest = i, size
        if not largest > least:
            return False
        if pivot != k:
            for j in range(k, n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
            for j in range(p):
                B[k, j], B[pivot, j] = B[pivot, j], B[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            if factor != 0.0:
                for j in range(k + 1, n):
                    A[i, j] -= factor * A[k, j]
                for j in range(p):
                    B[i, j] -= factor * B[k, j]
    for k in range(n - 1, -1, -1):
        inverse = 1.0 / A[k, k]
        for j in range(p):
            total = B[k, j]
            for i in range(k + 1, n):
                total -= A[k, i] * B[i, j]
            B[k, j] = total * inverse
    return True


# The response with constraints.


VANISHED = 1e-15  # a pivot that is rounding
NEAR = 0.3  # of Λ: a coordinate whose dynamic stiffness is less stays with the rows


class ScaledStructure(NamedTuple):
    """Bodies and rows in scaled units: z in units of the root of `scale`, rows of length one.

    stiffness : (n,) Λ; scale (n,): divisor of dynamic stiffnesses
    rows      : (m, n), the first `hard` of them ideal; springs (3, m): k, c, J of the others, in units of length²
    """

    stiffness: NDArray[np.float64]
    scale: NDArray[np.float64]
    rows: NDArray[np.float64]
    hard: int
    springs: NDArray[np.float64]


class Coordinates(NamedTuple):
    """Dynamic stiffness D (n,) of z; kept (n,): coordinates that are not eliminated; the others have D ≠ 0."""

    D: NDArray
    kept: NDArray[np.bool_]


class Ties(NamedTuple):
    """Compliant rows C (m, n): a (C z - e) = b λ, with the larger of a and b one, both (m,)."""

    C: NDArray[np.float64]
    a: NDArray
    b: NDArray


class Excitation(NamedTuple):
    """Forces (p, n) over z, and prescribed values e (p, m) of rows."""

    forces: NDArray[np.float64]
    ends: NDArray[np.float64]


@kernel
def independent_rows(C, order):
    """Return the number of independent rows of C; order[:rank] are their indices. Rows should have unit length."""
    m = C.shape[0]
    S = np.dot(C, np.ascontiguousarray(C.T))
    return pivoted_cholesky(S, order, np.zeros((m, m)))


@kernel
def tie(ties, i, kappa):
    """Set the dynamic stiffness κ of row i: κ (C z - e) = λ, divided by κ if that is large."""
    if abs(kappa) > 1.0:
        ties.a[i], ties.b[i] = 1.0, 1.0 / kappa
    else:
        ties.a[i], ties.b[i] = kappa, 1.0


@kernel
def response(coordinates, ties, excitation, Z, reactions):
    """Compute Z (p, n) and λ (p, m) of D z + Cᵀλ = f, a (C z - e) = b λ; return whether the solution is unique."""
    D, kept = coordinates.D, coordinates.kept
    C, a, b = ties.C, ties.a, ties.b
    F, ends = excitation.forces, excitation.ends
    m, n = C.shape
    p = F.shape[0]
    r = 0
    place = np.empty(n, dtype=np.int64)
    for k in range(n):
        if kept[k]:
            place[r] = k
            r += 1
    CD = np.zeros((m, n), dtype=D.dtype)
    for k in range(n):
        if not kept[k]:
            inverse = 1.0 / D[k]
            for i in range(m):
                CD[i, k] = C[i, k] * inverse
    A = np.zeros((r + m, r + m), dtype=D.dtype)
    B = np.zeros((r + m, p), dtype=D.dtype)
    for i in range(r):
        A[i, i] = D[place[i]]
        for j in range(m):
            A[i, r + j] = C[j, place[i]]
            A[r + j, i] = a[j] * C[j, place[i]]
        for q in range(p):
            B[i, q] = F[q, place[i]]
    for i in range(m):
        for j in range(i + 1):
            total = D[0] * 0.0
            for k in range(n):
                total += CD[i, k] * C[j, k]
            A[r + i, r + j] = -a[i] * total
            A[r + j, r + i] = -a[j] * total
        A[r + i, r + i] -= b[i]
        for q in range(p):
            total = D[0] * 0.0
            for k in range(n):
                total += CD[i, k] * F[q, k]
            B[r + i, q] = a[i] * (ends[q, i] - total)
    if not solve_pivoted(A, B, VANISHED):
        return False
    for q in range(p):
        for i in range(m):
            reactions[q, i] = B[r + i, q]
        for k in range(n):
            if not kept[k]:
                total = D[0] * 0.0 + F[q, k]
                for i in range(m):
                    total -= C[i, k] * B[r + i, q]
                Z[q, k] = total / D[k]
        for i in range(r):
            Z[q, place[i]] = B[i, q]
    return True


@kernel(purpose="frequency responses")
def harmonic_responses(structure, damping, excitation, outputs, omega, H, regular):
    """Compute H (L, outputs, p) = G Z(ω) at every ω (L,) of a ScaledStructure.

    damping : Proportional, η, α and β; outputs : G (outputs, n), in the same units
    """
    eta, alpha, beta = damping.eta, damping.alpha, damping.beta
    stiffness, springs = structure.stiffness, structure.springs
    m, n = structure.rows.shape
    p = excitation.forces.shape[0]
    coordinates = Coordinates(np.empty(n, dtype=np.complex128), np.empty(n, dtype=np.bool_))
    ties = Ties(structure.rows, np.ones(m, dtype=np.complex128), np.zeros(m, dtype=np.complex128))
    Z = np.empty((p, n), dtype=np.complex128)
    reactions = np.empty((p, m), dtype=np.complex128)
    for line in range(omega.shape[0]):
        w = omega[line]
        for k in range(n):
            D = complex(stiffness[k] - w * w, eta * stiffness[k] + w * (alpha + beta * stiffness[k]))
            coordinates.kept[k] = not abs(D) > NEAR * stiffness[k] or stiffness[k] == 0.0
            coordinates.D[k] = D / structure.scale[k]
        for i in range(structure.hard, m):
            k0, c0, J0 = springs[0, i], springs[1, i], springs[2, i]
            tie(ties, i, complex(k0 - w * w * J0, eta * k0 + w * (beta * k0 + c0)))
        regular[line] = response(coordinates, ties, excitation, Z, reactions)
        for o in range(outputs.shape[0]):
            for q in range(p):
                total = 0.0j
                for k in range(n):
                    total += outputs[o, k] * Z[q, k]
                H[line, o, q] = total
