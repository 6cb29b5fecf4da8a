"""Row forces at rest, from the response A of a structure at one configuration.

The loads f act on motions that satisfy the rows: K z = f, solved by conjugate gradients with the preconditioner
A = (K + s)⁻¹. A block of motions of unit energy of K + s, Y = A F, removes the slow part of the response at once
(docs/theory/elastic-rest.md, below 14c).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel
from supple.compilation.bundle import add_table, scale_columns, subtract_table
from supple.formulations.elastic_rest.block_modes import scaled_start, sharpen_modes
from supple.formulations.elastic_rest.energy_modes import REFINED, extend
from supple.formulations.elastic_rest.loads import rest_loads
from supple.formulations.elastic_rest.response_operator import add_response, least_pivot, multipliers, respond
from supple.formulations.elastic_rest.stiffening_kernels import LoadForms

STATIC = 1e-11  # of the displacements at rest: the last change
TURNS = 40  # for them; the block takes the slow part away
UNHELD = 1e-6  # of K + s: a motion without stiffness
DEPENDENT = 1e-12  # of its energy: what is left of a vector of the first block when the others have taken their share
APART = 1e-7  # a pivot of S below which forces of rows and modes are refined


class LoadedRest(NamedTuple):
    """Loads of a mechanism at N configurations.

    forms      : the constant data
    along      : (N, rows) forces along measures, of springs with their stretch at rest
    row_forces : (N, rows) λ of the rows at rest; (0, rows) if they follow from the response
    """

    forms: LoadForms
    along: Array
    row_forces: Array


class Basis(NamedTuple):
    """Motions Y (p, z) that satisfy the rows, the forces F (p, z) with Y = A F, and mass (p, p) Y Yᵀ.

    Their energies of K + s are Y Fᵀ = 1.
    """

    F: Array
    Y: Array
    mass: Array


@kernel
def factor(S, L):
    """Factor S = L Lᵀ of a small matrix; return the least pivot relative to S_ii, not positive if S is indefinite."""
    least = 1.0
    for i in range(S.shape[0]):
        for j in range(i + 1):
            total = S[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if j < i:
                L[i, j] = total / L[j, j]
            else:
                if not total > 0.0 or not S[i, i] > 0.0:
                    return 0.0
                least = min(least, total / S[i, i])
                L[i, i] = sqrt(total)
    return least


@kernel
def inverse_of(L):
    """Return L⁻¹ of a lower triangular matrix."""
    p = L.shape[0]
    found = np.zeros((p, p))
    for i in range(p):
        found[i, i] = 1.0 / L[i, i]
        for k in range(i):
            share = L[i, k] * found[i, i]
            for j in range(k + 1):
                found[i, j] -= share * found[k, j]
    return found


@kernel
def first_basis(structure, A, search):
    """Return the block of a search, refined once (eq. 8), of unit energy."""
    F = sharpen_modes(A, respond(A, search.start), 2, 1.0 / (search.cut + search.shift))
    basis = unit_energy(F, respond(A, F))
    if basis.Y.shape[0] < F.shape[0]:
        # Some are the same but for rounding. Others take their places, as in `block`.
        Q = np.empty(F.shape)
        size = extend(Q, 0, F)
        size = extend(Q, size, respond(A, scaled_start(F.shape[0] - size, structure.stiffness, A.shift)))
        basis = unit_energy(Q[:size], respond(A, Q[:size]))
    return basis


@kernel
def unit_energy(F, Y):
    """Return the basis in the span of motions Y = A F (p, z); empty if they are dependent."""
    energy = np.dot(Y, F.T)
    L = np.zeros(energy.shape)
    if not factor(energy, L) > DEPENDENT:
        return Basis(F[:0], Y[:0], np.zeros((0, 0)))
    inverse = inverse_of(L)
    Y = np.dot(inverse, Y)
    return Basis(np.dot(inverse, F), Y, np.dot(Y, Y.T))


@kernel
def at_rest(structure, A, basis, f):
    """Return λ (m,) of the rows under forces f (z,); the basis takes the slow part of the response.

    The result is NaN if loads act on a free motion.
    """
    C, shift = structure.rows, A.shift
    L = np.zeros(basis.mass.shape)
    elastic = np.eye(L.shape[0])
    for i in range(L.shape[0]):
        for j in range(L.shape[0]):
            elastic[i, j] -= shift * basis.mass[i, j]
    least = factor(elastic, L)
    for i in range(L.shape[0]):
        least = min(least, L[i, i])
    if not least > UNHELD:
        return np.full(C.shape[0], np.nan)
    inverse = inverse_of(L)
    over = np.dot(inverse, basis.Y)  # of unit elastic energy
    along = np.dot(over, f)
    x = np.dot(along, over)
    left = np.dot(np.dot(along, inverse), basis.F)
    for c in range(x.shape[0]):
        left[c] = f[c] + shift * x[c] - left[c]  # forces that are not balanced yet
    way, push, stiff, before = np.zeros(x.shape), np.zeros(x.shape), np.empty(x.shape), 1.0
    for turn in range(TURNS):  # conjugate gradients: K way = push - s way, but for forces of rows
        answer = respond(A, left.reshape(1, -1))[0]
        work = np.dot(answer, left)
        share = work / before if turn > 0 else 0.0
        for c in range(x.shape[0]):
            way[c], push[c] = answer[c] + share * way[c], left[c] + share * push[c]
            stiff[c] = push[c] - shift * way[c]
        energy = np.dot(way, stiff)
        if not energy > 0.0:
            break
        step, change, size, before = work / energy, 0.0, 0.0, work
        for c in range(x.shape[0]):
            x[c] += step * way[c]
            left[c] -= step * stiff[c]
            change, size = max(change, abs(step * way[c])), max(size, abs(x[c]))
        if not change > STATIC * size:
            break
    force, z = f.reshape(1, -1), x.reshape(1, -1)
    F = np.empty(z.shape)
    for c in range(x.shape[0]):
        F[0, c] = f[c] + shift * x[c]
    reactions = multipliers(structure, A, F, np.zeros((1, C.shape[0])))
    if least_pivot(A) < APART:
        # Rows that little keeps apart: the forces between them are what the rounding of S leaves.
        for _ in range(REFINED):
            pushed = np.dot(reactions, C)
            for c in range(x.shape[0]):
                F[0, c] = force[0, c] - z[0, c] * structure.stiffness[c] - pushed[0, c]
            gap = scale_columns(reactions, structure.compliance)
            subtract_table(gap, np.dot(z, C.T))
            step = multipliers(structure, A, F, gap)
            add_response(A.D, F, np.dot(step, C), z)
            add_table(reactions, step)
    return reactions[0]


@kernel
def rest_forces(rest, held, structure, loaded, k, X):
    """Return f (z,) of all loads at poses X, number k."""
    f = np.empty(rest.stiffness.shape[0])
    rest_loads(loaded.forms.loads, X, f)
    for i in range(held.rows.shape[0]):
        force = loaded.along[k, held.rows[i]]
        if force != 0.0:
            for c in range(f.shape[0]):
                f[c] += force * structure.rows[i, c]
    return f
