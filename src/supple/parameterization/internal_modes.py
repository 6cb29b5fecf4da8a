"""Modes of the deformation δ = (γ, ι) at one position, constraint modes and internal modes, with their slopes."""

from __future__ import annotations

from math import atan2, cos, sin, sqrt
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel
from supple.compilation.bundle import copy_row, copy_table, scale_columns, subtract_table
from supple.formulations.elastic_rest.harmonic_response import solve_pivoted
from supple.formulations.elastic_rest.response_operator import find_rest, multipliers, response_operator
from supple.parameterization.mode_choice import MODES, SORTED, STRAIN, SUBSPACE
from supple.parameterization.mode_matching import along, select_modes, turn_slopes, turn_to_reference, upwards

# Internal modes at θ: eigenmodes with C z = 0, retained, aligned with a reference, and differentiated exactly.
#
# Vectors are rows: Φ (k, n), ΦΦᵀ = 1. With multipliers μ of the modes, (Λ - ω_i²) φ_i + Cᵀμ_i = 0, the change of
# the subspace is Y with
#
#     (Λ - ω_i²) y_i + Cᵀν + Φᵀκ = -∂Cᵀμ_i,   C y_i - c ν = -∂C φ_i,   Φ y_i = 0
#
# (regular as long as no retained mode meets one outside the set; where one crosses it uncoupled, y_i has no part along
# that one, which borders the equations as Φ does), and Φ' = Y + T Φ with a skew T that the reference, or each mode's
# own frequency, fixes (docs/theory/parameterization.md, eqs. 5-10).


SPARE = 3  # additional internal modes for the search of the most similar ones
EXACT = 1e-12  # residual of internal modes, which their derivatives inherit
NEAR = 1e-9  # smallest relative distance of ω² from that of a single body


class Eigenmodes(NamedTuple):
    """Eigenmodes of a structure: ω² (k,) ascending, shapes Φ (k, n)."""

    squares: Array
    shapes: Array


class Crossed(NamedTuple):
    """Modes (p, n), and a table (k, p) that is 1 where a retained mode crosses one of them without coupling, or 0."""

    shapes: Array
    apart: Array


class ModeShapes(NamedTuple):
    """Modes Ψ (d, n) of some coordinates δ, their K (d, d), and the slopes ∂/∂θ of both in a first axis."""

    Psi: Array
    dPsi: Array
    K: Array
    dK: Array


class TrackedModes(NamedTuple):
    """Properties of k internal modes.

    squares : ω² (k,); overlap : smallest overlap with the reference (1,)
    places  : (1,) Σ 2^i over their numbers i among all modes
    """

    squares: Array
    overlap: Array
    places: Array


@kernel
def internal_modes(rest, structure, A, dC, lowest, following, modes, spectrum):
    """Compute the retained ones of the `lowest` modes and their slopes, into ModeShapes and TrackedModes.

    dC : (s, m, n) ∂C; A : the structure's response operator; following : selection and reference of the modes
    """
    k, n = modes.Psi.shape
    s, tracking = dC.shape[0], following.tracking
    chosen = np.empty(k, dtype=np.int64)
    apart = np.empty((lowest.squares.shape[0], lowest.squares.shape[0]))
    separate_crossings(structure, A, dC, lowest, apart)
    select_modes(lowest, structure.rows, following, chosen)
    kept = Eigenmodes(lowest.squares[chosen], lowest.shapes[chosen])
    copy_row(kept.squares, spectrum.squares)
    spectrum.places[:] = 0.0
    for i in range(k):
        spectrum.places[0] += 2.0 ** chosen[i]
    if tracking == MODES:
        spectrum.overlap[0] = along(kept.shapes, following.reference)
    elif tracking == SORTED:
        spectrum.overlap[:] = 1.0
        for i in range(k):
            upwards(rest, kept.shapes[i])
    weighted = np.empty((k, n))
    for i in range(k):
        for c in range(n):
            weighted[i, c] = (kept.squares[i] + A.shift) * kept.shapes[i, c]
    mu = multipliers(structure, A, weighted, np.zeros((k, dC.shape[1])))
    Y, G = np.empty((s, k, n)), np.empty((s, k, k))
    for i in range(k):
        apart[:, chosen[i]] = 0.0
    crossed = Crossed(lowest.shapes, apart[chosen])
    subspace_slopes(structure, A.order, dC, kept, mu, crossed, Y)
    stiffness_slopes(mu, dC, kept.shapes, G)
    if tracking in (SUBSPACE, STRAIN):
        Phi, K, overlap = turn_to_reference(structure, dC, kept, following, Y, G)
        spectrum.overlap[0] = overlap
    else:
        Phi, K = kept.shapes, np.diag(kept.squares)
        for m in range(s):
            turn_slopes(turn_by_frequency(kept.squares, G[m]), Phi, K, Y[m], G[m])
    copy_table(Phi, modes.Psi)
    copy_table(K, modes.K)
    for m in range(s):
        copy_table(Y[m], modes.dPsi[m])
        copy_table(G[m], modes.dK[m])


@kernel
def border_rows(G, crossed, i):
    """Return the rows G, and below them the modes that retained mode i crosses."""
    size = G.shape[0]
    rows = np.empty((size + int(crossed.apart[i].sum()), G.shape[1]))
    copy_table(G, rows[:size])
    for j in range(crossed.apart.shape[1]):
        if crossed.apart[i, j] > 0.0:
            copy_row(crossed.shapes[j], rows[size])
            size += 1
    return rows


@kernel
def subspace_slopes(structure, independent, dC, modes, mu, crossed, Y):
    """Compute Y (s, k, n) as above.

    independent : rows of full rank; mu : (k, m) multipliers of the modes
    [eqs. 6, 10b]
    """
    C, compliance, Phi = structure.rows, structure.compliance, modes.shapes
    k, n = Phi.shape
    s, rank = dC.shape[0], independent.shape[0]
    base = np.empty((rank + k, n))
    for i in range(rank):
        copy_row(C[independent[i]], base[i])
    copy_table(Phi, base[rank:])
    for i in range(k):
        G = border_rows(base, crossed, i)
        size = G.shape[0]
        square = modes.squares[i]
        D = np.empty(n)
        for c in range(n):
            gap = structure.stiffness[c] - square
            least = NEAR * square
            if abs(gap) < least:
                gap = least if gap >= 0.0 else -least
            D[c] = 1.0 / gap
        S = np.dot(scale_columns(G, D), np.ascontiguousarray(G.T))
        for r in range(rank):
            S[r, r] += compliance[independent[r]]
        right = np.empty((size, s))
        pushed = np.empty((s, n))
        for m in range(s):
            for c in range(n):
                pushed[m, c] = 0.0
            for r in range(C.shape[0]):
                if mu[i, r] != 0.0:
                    for c in range(n):
                        pushed[m, c] -= dC[m, r, c] * mu[i, r]
            for r in range(size):
                total = 0.0
                for c in range(n):
                    total += G[r, c] * D[c] * pushed[m, c]
                if r < rank:
                    for c in range(n):
                        total += dC[m, independent[r], c] * Phi[i, c]
                right[r, m] = total
        solve_pivoted(S, right, 0.0)
        for m in range(s):
            for c in range(n):
                total = pushed[m, c]
                for r in range(size):
                    total -= G[r, c] * right[r, m]
                Y[m, i, c] = D[c] * total
    # Λ - ω_i² is nearly singular along φ_i, and S then loses digits there alone. Parts along Φ only change ν and κ.
    Pt = np.ascontiguousarray(Phi.T)
    for m in range(s):
        subtract_table(Y[m], np.dot(np.dot(np.ascontiguousarray(Y[m]), Pt), Phi))


@kernel
def stiffness_slopes(mu, dC, Phi, G):
    """Compute G (s, k, k), G_ij = μ_iᵀ∂Cφ_j + μ_jᵀ∂Cφ_i: change of ΦᵀKΦ where Φ' = Y.

    [eq. 8]
    """
    k = Phi.shape[0]
    for m in range(dC.shape[0]):
        one = np.dot(np.dot(mu, dC[m]), np.ascontiguousarray(Phi.T))
        for i in range(k):
            for j in range(k):
                G[m, i, j] = one[i, j] + one[j, i]


@kernel
def turn_by_frequency(squares, G):
    """Return T of modes that each follow their own frequency: T_ij = G_ij / (ω_i² - ω_j²); 0 where two are equal."""
    k = squares.shape[0]
    T = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            gap = squares[i] - squares[j]
            if i != j and abs(gap) > NEAR * abs(squares[i]):
                T[i, j] = G[i, j] / gap
    return T


# Modes that cross without coupling, as opposed to modes that veer (docs/theory/parameterization.md, eqs. 10a, 10b).
#
# Near where two frequencies meet, an eigenvalue solver finds their modes mixed by (its residual) / (ω_i² - ω_j²), and
# the slopes of their stiffness, G of (8), are then mixed too: G_ij / (ω_i² - ω_j²) is noise that grows as the square of
# that. Rotated by α until G_ij vanishes, φ_i cos α + φ_j sin α, they are the crossing modes, if they cross at all:
#
#     tan 2α = -2 G_ij / (G_jj - G_ii),   κ = ½ |(ω_j² - ω_i²) sin 2α|
#
# κ is the stiffness that couples them then. It is the same at every θ of a strip where they veer, half the least
# distance of their ω²; where the solver cannot distinguish it from zero, they cross.


CLOSE = 1e-3  # relative distance of ω² of two frequencies that may be about to meet
UNCOUPLED = 1e-11  # κ relative to ω² that counts as zero, ten residuals
UNTURNED = 1e-8  # remaining G_ij after the rotation relative to the slopes of two modes, with several θ


@kernel
def separate_crossings(structure, A, dC, lowest, apart):
    """Rotate those of the lowest modes that cross, in place; set `apart` (modes, modes) to 1 for them, 0 for others.

    dC : (s, m, n) ∂C; A : the structure's response operator
    """
    count = lowest.squares.shape[0]
    apart[:, :] = 0.0
    for i in range(count):
        for j in range(i + 1, count):
            gap = lowest.squares[j] - lowest.squares[i]
            if abs(gap) < CLOSE * abs(lowest.squares[i]):
                angle, left = uncoupling_turn(structure, A, dC, lowest, i, j)
                coupling = 0.5 * abs(gap * sin(2.0 * angle))
                if left < UNTURNED and coupling < UNCOUPLED * abs(lowest.squares[i]):
                    turn_pair(lowest.shapes, i, j, angle)
                    apart[i, j], apart[j, i] = 1.0, 1.0


@kernel
def uncoupling_turn(structure, A, dC, lowest, i, j):
    """Return α above, the best for all θ, and the remaining G_ij as a fraction of all of G."""
    n = lowest.shapes.shape[1]
    pair, weighted = np.empty((2, n)), np.empty((2, n))
    for c in range(n):
        pair[0, c], pair[1, c] = lowest.shapes[i, c], lowest.shapes[j, c]
        weighted[0, c] = (lowest.squares[i] + A.shift) * pair[0, c]
        weighted[1, c] = (lowest.squares[j] + A.shift) * pair[1, c]
    mu = multipliers(structure, A, weighted, np.zeros((2, dC.shape[1])))
    across, along = np.empty(dC.shape[0]), np.empty(dC.shape[0])
    whole, aa, ab, bb = 0.0, 0.0, 0.0, 0.0
    for m in range(dC.shape[0]):
        one = np.dot(np.dot(mu, dC[m]), np.ascontiguousarray(pair.T))
        first, second = 2.0 * one[0, 0], 2.0 * one[1, 1]
        across[m], along[m] = one[0, 1] + one[1, 0], 0.5 * (second - first)
        aa, ab, bb = aa + across[m] * across[m], ab + across[m] * along[m], bb + along[m] * along[m]
        whole += first * first + second * second + across[m] * across[m]
    twice = 0.5 * atan2(-2.0 * ab, bb - aa)
    left = 0.0
    for m in range(dC.shape[0]):
        rest = across[m] * cos(twice) + along[m] * sin(twice)
        left += rest * rest
    return 0.5 * twice, sqrt(left / whole) if whole > 0.0 else 0.0


@kernel
def turn_pair(shapes, i, j, angle):
    """Rotate rows i and j within their plane."""
    c, s = cos(angle), sin(angle)
    for k in range(shapes.shape[1]):
        one, other = shapes[i, k], shapes[j, k]
        shapes[i, k], shapes[j, k] = c * one + s * other, c * other - s * one


# All modes of the deformation: δ = (γ, ι), constraint modes before internal modes.


# Status of a position.
DONE, SINGULAR, NOT_CONVERGED, TOO_FEW = 1, 0, -1, -2


@kernel
def elastic_modes(rest, structure, shift, dC, lowest, following, modes, spectrum):
    """Compute ModeShapes of δ: constraint modes, then as many internal modes as `spectrum` holds. Returns their status.

    structure : constrained rows, the loaded displacements last; dC (s, m, n) : ∂C
    lowest    : known lowest Eigenmodes of the structure
    """
    A = response_operator(structure, shift)
    g = modes.Psi.shape[0] - spectrum.squares.shape[0]
    if g > 0:
        first = ModeShapes(modes.Psi[:g], modes.dPsi[:, :g], modes.K[:g, :g], modes.dK[:, :g, :g])
        if not constraint_modes(structure, A, dC, first):
            return NOT_CONVERGED
    if spectrum.squares.shape[0] == 0:
        return DONE
    if lowest.squares.shape[0] < spectrum.squares.shape[0]:
        return TOO_FEW
    last = ModeShapes(modes.Psi[g:], modes.dPsi[:, g:], modes.K[g:, g:], modes.dK[:, g:, g:])
    internal_modes(rest, structure, A, dC, lowest, following, last, spectrum)
    return DONE


# Constraint modes: the shape of least elastic energy for a unit displacement, θ and the other γ held constant.
#
#     Λ Ψ_γᵀ + Cᵀ λ_γ = 0,  C Ψ_γᵀ - c λ_γ = (0; 0; 0; 1),  K_γγ = -(λ_γ)_G  (docs/theory/parameterization.md, eqs. 3-4)
#
# Their slopes solve the same equations with the right side (-∂Cᵀλ_γ; -∂C Ψ_γᵀ).


@kernel
def constraint_modes(structure, A, dC, modes):
    """Compute shapes of the displacements in the last rows; dC (s, m, n) : ∂C. Returns whether they converged."""
    loaded, n = modes.Psi.shape
    m = structure.rows.shape[0]
    forces, ends = np.zeros((loaded, n)), np.zeros((loaded, m))
    for a in range(loaded):
        ends[a, m - loaded + a] = 1.0
    shapes, reactions = np.empty((loaded, n)), np.empty((loaded, m))
    changes, reaction_changes = np.empty((loaded, n)), np.empty((loaded, m))
    if not find_rest(structure, A, forces, ends, shapes, reactions):
        return False
    copy_table(shapes, modes.Psi)
    for a in range(loaded):
        for b in range(loaded):
            modes.K[a, b] = -reactions[b, m - loaded + a]
    for k in range(dC.shape[0]):
        forces = np.zeros((loaded, n))
        subtract_table(forces, np.dot(reactions, dC[k]))
        ends = np.zeros((loaded, m))
        subtract_table(ends, np.dot(shapes, np.ascontiguousarray(dC[k].T)))
        if not find_rest(structure, A, forces, ends, changes, reaction_changes):
            return False
        modes.dPsi[k] = changes
        modes.dK[k] = -reaction_changes[:, m - loaded :].T
    return True
