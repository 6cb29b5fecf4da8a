"""Lowest modes of a structure under loads: (K + K_g, M) with C z = 0.

A block of motions that holds the lowest modes without loads comes first. In it K + K_g is made diagonal; what K_g adds
from outside the block is found by Chebyshev's iteration on

    v = A ((ω² + s) v - K_g v),    A = (K + s)⁻¹ on motions that keep the rows    (docs/theory/elastic-rest.md, 14c)

with ω² fixed, and the block is made diagonal again. The forces at rest come from the same response A: in the block at
once, outside by repeating z = A (f + s z).
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled, kernel
from supple.compilation.parts import in_parts
from supple.compilation.threads import single_blas_thread
from supple.formulations.elastic_rest.block_modes import extend, lowest_modes, scattered
from supple.formulations.elastic_rest.constrained_modes import first_shift, rows_at, search_for
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, Held
from supple.formulations.elastic_rest.energy_modes import (
    diagonalised,
    elastic_energies,
    refined_response,
    rising,
)
from supple.formulations.elastic_rest.load_vectors import rest_loads
from supple.formulations.elastic_rest.loads import forces_along
from supple.formulations.elastic_rest.preload import batch_row_forces, pushed_rows
from supple.formulations.elastic_rest.response_operator import Structure, multipliers, respond, response_operator
from supple.formulations.elastic_rest.rest_stiffness import (
    LoadForms,
    geometric_stiffness,
    load_forms,
    no_stiffness,
    stiffened,
)
from supple.formulations.elastic_rest.rows import chosen_rows
from supple.formulations.elastic_rest.table_range import warn_beyond_tables
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest as undeformed

Array = NDArray[np.float64]

LOADED = 3e-6  # relative error of mode shapes; that of frequencies is its square
STATIC = 1e-12  # change of the displacements at rest, of their size, at which they are found
TURNS = 200  # for them; the block takes the slow part away
GUARDS = 3  # modes beside the wanted ones: what K_g adds from them is found at once
UNHELD = 1e-6  # of the shift, which is about the lowest ω²: a motion without stiffness
ROUNDS, STEPS = 6, 12  # corrections from outside the block; in each, steps of Chebyshev's iteration
SECOND = 10.0  # times the square of a correction: what is left of it when the block is made diagonal again
POWERS, CAUTION = 4, 4.0  # steps that estimate the share of loads outside the block; times this it must be below one


class LoadedRest(NamedTuple):
    """Loads of a mechanism at N configurations.

    forms      : what is constant
    along      : (N, rows) forces along measures, of springs as they are stretched at rest
    row_forces : (N, rows) λ of the rows at rest; (0, rows) where they follow from the response
    """

    forms: LoadForms
    along: Array
    row_forces: Array


@kernel
def at_rest(structure, A, Q, H, f):
    """λ (m,) of the rows under forces f (z,); Q (p, z) motions with the slow part of the response, H (p, p) their
    elastic energies."""
    z = np.dot(np.dot(Q, f) / np.diag(H), Q).reshape(1, -1)
    force = f.reshape(1, -1)
    for _ in range(TURNS):
        after = respond(A, force + A.shift * z)
        change, size = np.abs(after - z).max(), np.abs(after).max()
        z = after
        if not change > STATIC * size:
            break
    return multipliers(structure, A, force + A.shift * z, np.zeros((1, structure.rows.shape[0])))[0]


@kernel
def rest_forces(rest, held, structure, loaded, k, X):
    """f (z,) of all loads at poses X, number k."""
    f = np.empty(rest.stiffness.shape[0])
    rest_loads(loaded.forms.loads, X, f)
    for i in range(held.rows.shape[0]):
        force = loaded.along[k, held.rows[i]]
        if force != 0.0:
            for c in range(f.shape[0]):
                f[c] += force * structure.rows[i, c]
    return f


@kernel
def diagonal_block(rest, forms, geometric, H, Q):
    """ω² (p,) rising and motions (p, z) in the span of Q (p, z) that make K + K_g diagonal; H (p, p) of K alone."""
    G = np.dot(stiffened(rest, forms, geometric, Q), np.ascontiguousarray(Q.T))
    H = H + 0.5 * (G + G.T)
    V = Q.copy()
    diagonalised(H, V)
    order = rising(np.diag(H))
    return np.diag(H)[order], V[order]


@kernel
def pushes(rest, A, forms, geometric, squares, X):
    """(ω² + s) x - K_g x of motions X (k, z) with their ω² (k,): the response to it is x where they are modes."""
    push = -stiffened(rest, forms, geometric, X)
    for i in range(X.shape[0]):
        for c in range(X.shape[1]):
            push[i, c] += (squares[i] + A.shift) * X[i, c]
    return push


@kernel
def corrected(rest, structure, A, loads, squares, V, count, tolerance):
    """V (p, z) with the first `count` rows corrected by what K_g adds from outside their span; how far they were off,
    and are in the end."""
    forms, geometric = loads
    outside = squares[squares.shape[0] - 1]
    X = V[:count].copy()
    share, step = np.empty(count), np.zeros(X.shape)
    Vt = np.ascontiguousarray(V.T)
    first, largest = 0.0, 0.0
    for turn in range(STEPS):
        push = pushes(rest, A, forms, geometric, squares, X)
        away = respond(A, push) - X
        away = away - np.dot(np.dot(away, Vt), V)
        largest = 0.0
        for i in range(count):
            total = 0.0
            for c in range(X.shape[1]):
                total += away[i, c] * away[i, c]
            largest = max(largest, sqrt(total))
        first = largest if turn == 0 else first
        if largest <= tolerance:
            break
        for i in range(count):
            least = min(max((outside - squares[i]) / (outside + A.shift), 0.05), 0.999)
            middle, half = 0.5 * (1.0 + least), 0.5 * (1.0 - least)
            if turn == 0:
                share[i] = half / middle
                for c in range(X.shape[1]):
                    step[i, c] = away[i, c] / middle
            else:
                after = 1.0 / (2.0 * middle / half - share[i])
                for c in range(X.shape[1]):
                    step[i, c] = after * share[i] * step[i, c] + 2.0 * after / half * away[i, c]
                share[i] = after
            for c in range(X.shape[1]):
                X[i, c] += step[i, c]
    found = V.copy()
    # Once more to the last bits, so that they keep the rows.
    found[:count] = refined_response(structure, A, pushes(rest, A, forms, geometric, squares, X))
    return found, first, largest


@kernel
def load_share(rest, A, forms, geometric, V):
    """How much of K + s the loads take at most from motions outside the span of V, about: the growth of A K_g x."""
    x = respond(A, scattered(1, V.shape[1]) * (rest.stiffness + A.shift))
    Vt = np.ascontiguousarray(V.T)
    found = 0.0
    for turn in range(POWERS):
        x = x - np.dot(np.dot(x, Vt), V)
        size = sqrt(np.sum(x * x))
        if turn > 1:
            found = max(found, size)
        if size == 0.0:
            return found
        x = respond(A, stiffened(rest, forms, geometric, x / size))
    return found


@kernel
def loaded_modes(rest, held, search, loaded, k, X, squares, Z):
    """ω² (count,) rising and modes Z (count, z) at poses X, number k. Returns how many there are, or -1: without
    convergence, or where loads are so large that a mode might have been missed."""
    count, n = squares.shape[0], Z.shape[1]
    forms = loaded.forms
    C = np.empty((held.rows.shape[0], n))
    chosen_rows(rest, held.rows, X, C)
    structure = Structure(rest.stiffness, C, held.compliance)
    alone, Q = np.empty(count + GUARDS), np.zeros((count + GUARDS, n))
    there = lowest_modes(structure, search, alone, Q)
    if there <= 0:
        return there
    whole = there < count + GUARDS
    alone, Q = alone[:there], Q[:there]
    wanted = min(count, there)
    A = response_operator(structure, search.shift)
    if alone.min() < UNHELD * A.shift:  # something moves that nothing holds
        return -1
    H = np.diag(alone)
    row_forces = -loaded.along[k]
    if loaded.row_forces.shape[0] > 0:
        row_forces[:] = loaded.row_forces[k]
    else:
        found = at_rest(structure, A, Q, H, rest_forces(rest, held, structure, loaded, k, X))
        for i in range(held.rows.shape[0]):
            row_forces[held.rows[i]] += found[i]
    if not np.isfinite(row_forces).all():
        return -1
    geometric = no_stiffness(rest, forms)
    geometric_stiffness(rest, forms, X, row_forces, geometric)
    values, V = diagonal_block(rest, forms, geometric, H, Q)
    if not whole:
        share = load_share(rest, A, forms, geometric, V)
        if CAUTION * share > 1.0 - (values[wanted - 1] + A.shift) / (alone[alone.shape[0] - 1] + A.shift):
            return -1
        settled = False
        for _ in range(ROUNDS):
            X2, first, last = corrected(rest, structure, A, (forms, geometric), values, V, wanted, search.tolerance)
            if first <= search.tolerance:
                settled = True
                break
            Y = np.empty(V.shape)
            Y = Y[: extend(Y, 0, X2)]
            values, V = diagonal_block(rest, forms, geometric, elastic_energies(structure, Y), Y)
            if max(last, SECOND * first * first) <= search.tolerance:
                settled = True
                break
        if not settled or V.shape[0] < wanted:
            return -1
    squares[:wanted], Z[:wanted] = values[:wanted], V[:wanted]
    return wanted


@kernel(purpose="modes of vibration under loads")
def loaded_batch(rest, held, search, loaded, X, squares, Z, number):
    """As `modes_batch`, with the geometric stiffness of the loads at rest."""
    for k in range(X.shape[0]):
        number[k] = loaded_modes(rest, held, search, loaded, k, X[k], squares[k], Z[k])


def redundant_rows(rest: ElasticRest, held: Held) -> bool:
    """Whether some of the rows held depend on others at rest, or nearly so: found once."""

    def found() -> bool:
        X = undeformed(rest.numbering.mechanism).X
        C = rows_at(rest, held.rows, X[None])[0]
        shift = first_shift(rest, held, X)
        A = compiled(response_operator, count=1)(Structure(rest.arrays.stiffness, C, held.compliance), shift)
        return len(A.order) < len(held.rows)

    key = f"redundant rows {rest.band} {held.rows.tobytes()!r}"
    return rest.numbering.mechanism.remembered(key, found)


@single_blas_thread()
def constrained_loaded_modes(
    rest: ElasticRest, held: Held, configuration: Configuration, count: int, tolerance: float = LOADED
) -> tuple[Array, Array]:
    """As `constrained_modes`, with the geometric stiffness of the loads at rest, actuators locked."""
    X = np.ascontiguousarray(configuration.X.reshape(-1, *configuration.X.shape[-2:]))
    w = configuration.w.reshape(len(X), -1)
    warn_beyond_tables(rest, X)
    squares, Z = np.empty((len(X), count)), np.zeros((len(X), count, rest.size))
    number = np.full(len(X), -1, dtype=np.int64)
    if not len(pushed_rows(rest)):
        search = search_for(rest, held, count + GUARDS)._replace(tolerance=tolerance)
        forms, along = load_forms(rest), forces_along(rest, w)
        # Where rows depend on others, their forces are a matter of choice: the one that all analyses make.
        forces = batch_row_forces(rest, X, w) if redundant_rows(rest, held) else np.zeros((0, along.shape[1]))

        def part(start: int, stop: int) -> None:
            piece = slice(start, stop)
            compiled(loaded_batch, count=stop - start)(
                rest.arrays, held, search, LoadedRest(forms, along[piece], forces[piece]),
                X[piece], squares[piece], Z[piece], number[piece],
            )  # fmt: skip

        in_parts(part, len(X))
    missing = np.flatnonzero(number < 0)
    if len(missing):
        every = list(configuration.each())
        for k in missing.tolist():
            found, shapes = dense_modes(rest, every[k], held, preload=True)
            number[k] = min(count, len(found))
            squares[k, : number[k]], Z[k, : number[k]] = found[:count], shapes[:count]
    least = int(number.min(initial=count))
    return squares[:, :least], Z[:, :least]
