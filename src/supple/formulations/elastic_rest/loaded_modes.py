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
from supple.formulations.elastic_rest.block_modes import MANY, ROUNDING, below, grown, scattered
from supple.formulations.elastic_rest.constrained_modes import SHAPES, first_shift, rows_at, search_for
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import ElasticArrays, ElasticRest, Held
from supple.formulations.elastic_rest.energy_modes import (
    REFINED,
    all_motions,
    diagonalised,
    elastic_energies,
    extend,
    refined_response,
    rising,
)
from supple.formulations.elastic_rest.load_vectors import rest_loads
from supple.formulations.elastic_rest.loads import forces_along
from supple.formulations.elastic_rest.preload import batch_row_forces, pushed_rows
from supple.formulations.elastic_rest.response_operator import Structure, multipliers, respond, response_operator
from supple.formulations.elastic_rest.rest_stiffness import (
    Geometric,
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

STATIC = 1e-11  # change of the displacements at rest, of their size, in the last step but one
TURNS = 40  # for them; the block takes the slow part away
UNHELD = 1e-6  # of K + s: a motion without stiffness
DEPENDENT = 1e-6  # of its energy: what is left of a vector of the first block when the others have taken their share
ROUNDS, EARLY = 12, 3  # corrections from outside the block, and before they are judged by how fast they converge
FALL = 0.3  # of the errors in a round: where they fall less, more vectors are better
GAIN, STEPS = 300.0, 3  # wanted in a round, by so many steps of Chebyshev's iteration at most
TAIL = 0.02  # of the errors: what a round leaves at most, before another one has shown how much that is
SLOW = 0.05  # of the errors: where a round leaves more, it takes all steps
LAST = 0.7  # of the tolerance: expected error at the end
CLUSTER = 0.05  # of ω² + s: modes closer than this to the last one wanted are found with it
POWERS, CAUTION = 3, 4.0  # steps that estimate the share of loads outside the block; times this it must be below one
ABOVE = 0.1  # of the gap above the block: where the modes without loads are counted


class LoadedRest(NamedTuple):
    """Loads of a mechanism at N configurations.

    forms      : what is constant
    along      : (N, rows) forces along measures, of springs as they are stretched at rest
    row_forces : (N, rows) λ of the rows at rest; (0, rows) where they follow from the response
    """

    forms: LoadForms
    along: Array
    row_forces: Array


class Loading(NamedTuple):
    """K_g at one configuration, with what `stiffened` takes besides."""

    rest: ElasticArrays
    forms: LoadForms
    geometric: Geometric


class Basis(NamedTuple):
    """Motions Y (p, z) that keep the rows, and the forces F (p, z) with Y = A F.

    energy : (p, p) of K + s, Y Fᵀ; mass (p, p) Y Yᵀ
    """

    F: Array
    Y: Array
    energy: Array
    mass: Array


@kernel
def stiffness_of(loading, V):
    """V K_g (p, z)."""
    return stiffened(loading.rest, loading.forms, loading.geometric, V)


@kernel
def factor(S, L):
    """S = L Lᵀ of a small matrix. Returns the least pivot, of S_ii; not above zero where S is not positive definite."""
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
    """L⁻¹ of a lower triangular matrix."""
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
    """The block of a search after two steps towards its lowest modes, scaled to unit energy."""
    F = respond(A, search.start)
    F = respond(A, F) * (2.0 * (search.cut + search.shift)) - F
    for turn in range(2):
        if turn == 1:
            # Some are the same but for a small part. Others take their places, as in `block`.
            Q = np.empty(F.shape)
            size = extend(Q, 0, F)
            more = scattered(F.shape[0] - size, F.shape[1]) * (structure.stiffness + A.shift)
            F = Q[: extend(Q, size, respond(A, more))]
        Y = respond(A, F)
        H = np.dot(Y, F.T)
        scale = np.empty(F.shape[0])
        for i in range(F.shape[0]):
            scale[i] = 1.0 / sqrt(H[i, i]) if H[i, i] > 0.0 else 0.0
            for c in range(F.shape[1]):
                F[i, c] *= scale[i]
                Y[i, c] *= scale[i]
        for i in range(F.shape[0]):
            for j in range(i + 1):
                H[i, j] = H[j, i] = 0.5 * (H[i, j] + H[j, i]) * scale[i] * scale[j]
        if factor(H, np.zeros(H.shape)) > DEPENDENT:
            break
    return Basis(F, Y, H, np.dot(Y, Y.T))


@kernel
def at_rest(structure, A, basis, f):
    """λ (m,) of the rows under forces f (z,); the span of the basis takes the slow part of the response. Numbers that
    are none where something moves that nothing holds."""
    C, shift = structure.rows, A.shift
    L = np.zeros(basis.energy.shape)
    if not factor(basis.energy - shift * basis.mass, L) > UNHELD:
        return np.full(C.shape[0], np.nan)
    inverse = inverse_of(L)
    over = np.dot(inverse, basis.Y)  # of unit elastic energy
    z = np.dot(np.dot(over, f), over).reshape(1, -1)
    force = f.reshape(1, -1)
    for _ in range(TURNS):
        after = respond(A, force + shift * z)
        after += np.dot(shift * np.dot(after - z, over.T), over)
        change, size = np.abs(after - z).max(), np.abs(after).max()
        z = after
        if not change > STATIC * size:
            break
    reactions = multipliers(structure, A, force + shift * z, np.zeros((1, C.shape[0])))
    # Rows that little keeps apart make S rough, and forces between them are what its rounding leaves: refined.
    for _ in range(1 + REFINED):
        F = force - z * structure.stiffness - np.dot(reactions, C)
        step = multipliers(structure, A, F, reactions * structure.compliance - np.dot(z, C.T))
        z += (F - np.dot(step, C)) * A.D
        reactions += step
        if not np.abs(step).max() > STATIC * np.abs(reactions).max():
            break
    return reactions[0]


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
def turned(energy, mass, near):
    """ω² + s (p,) rising and R (p, p) with R E Rᵀ = diag(ω² + s), R M Rᵀ = 1; none where E is not positive definite.

    near : both are nearly diagonal
    """
    p = energy.shape[0]
    L = np.zeros((p, p))
    if not factor(energy, L) > 0.0:
        return np.empty(0), L
    R = inverse_of(L)
    W = np.dot(np.dot(R, mass), R.T)
    W = 0.5 * (W + W.T)
    if near:
        diagonalised(W, R)
        order = rising(-np.diag(W))
        nu, R = np.diag(W)[order], R[order]
    else:
        nu, U = np.linalg.eigh(W)
        nu = nu[::-1].copy()
        R = np.dot(np.ascontiguousarray(U[:, ::-1].T), R)
    for i in range(p):
        if not nu[i] > 0.0:
            return np.empty(0), R
        R[i] /= sqrt(nu[i])
    return 1.0 / nu, R


@kernel
def pushes(shifted, X, G):
    """(ω² + s) x - K_g x of motions X (k, z), from ω² + s (k,) and G = X K_g: A makes x of it where they are modes."""
    found = np.empty(X.shape)
    for i in range(X.shape[0]):
        for c in range(X.shape[1]):
            found[i, c] = shifted[i] * X[i, c] - G[i, c]
    return found


@kernel
def load_share(structure, A, loading, X):
    """How much of K + s the loads take at most from motions outside the span of X, about: the growth of A K_g x."""
    x = respond(A, scattered(1, X.shape[1]) * (structure.stiffness + A.shift))
    found = 0.0
    for turn in range(POWERS):
        x = x - np.dot(np.dot(x, X.T), X)
        size = sqrt(np.sum(x * x))
        if size == 0.0:
            return found
        x = respond(A, stiffness_of(loading, x / size))
        if turn > 0:
            rest = x - np.dot(np.dot(x, X.T), X)
            found = max(found, sqrt(np.sum(rest * rest)))
    return found


@kernel
def last_of_cluster(shifted, count):
    """How many modes are found together: the least number from `count` on with a gap behind it, or that with the
    largest; shifted : ω² + s (p,) rising."""
    best, widest = count, 0.0
    for j in range(count, shifted.shape[0]):
        gap = shifted[j] / shifted[j - 1] - 1.0
        if gap > CLUSTER:
            return j
        if gap > widest:
            best, widest = j, gap
    return best


@kernel
def bounded(structure, A, share, shifted, plain):
    """Whether no mode but those of a block is among its lowest.

    shifted : ω² + s (k,) of the lowest modes under loads; plain (p,) that of the block without loads, the first k of
    the same motions. Modes without loads are counted a little above these (eq. 9). What is above there loses
    `share` of it to the loads, or with caution some times that.
    """
    k = shifted.shape[0]
    low, high = plain[:k].max(), plain[k:].min()
    kept = 1.0 - CAUTION * share
    if not kept > 0.0 or not high > low:
        return False
    level = max(low + ABOVE * (high - low), shifted[k - 1] / kept)
    if not level < high:
        return False
    rows, compliance = structure.rows[A.order], structure.compliance[A.order]
    return below(Structure(structure.stiffness, rows, compliance), level - A.shift) <= k


@kernel
def diagonal_modes(structure, loading, Q, squares, Z):
    """ω² and modes Z, rising, of K + K_g in the span of orthonormal motions Q (p, z) that keep the rows: as many as
    `squares` has places."""
    G = np.dot(stiffness_of(loading, Q), Q.T)
    H = elastic_energies(structure, Q) + 0.5 * (G + G.T)
    V = Q.copy()
    diagonalised(H, V)
    order = rising(np.diag(H))
    for i in range(squares.shape[0]):
        squares[i] = H[order[i], order[i]]
        Z[i] = V[order[i]]


@kernel
def chebyshev_steps(A, shifted, outside, X, G, away, number):
    """Motions X (k, z) after `number` steps of Chebyshev's iteration on x = A ((ω² + s) x - g), G = X K_g held.

    away : (k, z) what the first step is made of; outside : ω² + s where modes outside the block begin
    """
    x, step, share = X.copy(), np.zeros(X.shape), np.empty(X.shape[0])
    for turn in range(number):
        if turn > 0:
            away = respond(A, pushes(shifted, x, G)) - x
        for i in range(X.shape[0]):
            least = min(max(1.0 - shifted[i] / outside, 0.05), 0.999)
            middle, half = 0.5 * (1.0 + least), 0.5 * (1.0 - least)
            after = half / middle if turn == 0 else 1.0 / (2.0 * middle / half - share[i])
            old = 0.0 if turn == 0 else after * share[i]
            new = 1.0 / middle if turn == 0 else 2.0 * after / half
            share[i] = after
            for c in range(X.shape[1]):
                step[i, c] = old * step[i, c] + new * away[i, c]
                x[i, c] += step[i, c]
    return x


@kernel
def settled(structure, A, loading, search, basis, squares, Z):
    """Modes from a basis near them, whether they are found, and the motions so far.                        [eq. 14c]"""
    count, p = squares.shape[0], basis.Y.shape[0]
    X, P, G = basis.Y, basis.F, stiffness_of(loading, basis.Y)
    P = P + G  # forces of K + s + K_g
    E = np.dot(X, G.T)
    shifted, R = turned(basis.energy + 0.5 * (E + E.T), basis.mass, False)
    if shifted.shape[0] == 0:
        return False, X
    X, P, G = np.dot(R, X), np.dot(R, P), np.dot(R, G)
    k = last_of_cluster(shifted, count)
    share = load_share(structure, A, loading, X)
    if not bounded(structure, A, share, shifted[:k], shifted - np.sum(X * G, axis=1)):
        return False, X
    ratio = shifted[k - 1] / shifted[p - 1]
    number, gain = 1, (2.0 / ratio - 1.0) / ratio
    while number < STEPS and gain < GAIN:
        number, gain = number + 1, gain * (4.0 / ratio - 2.0)  # T_d grows about as the power of twice its argument
    before, fall = np.inf, TAIL
    for turn in range(ROUNDS):
        away = respond(A, pushes(shifted[:k], X[:k], G[:k])) - X[:k]
        away -= np.dot(np.dot(away, X.T), X)  # within the block energies say more than A
        worst = 0.0
        for i in range(count):
            total = 0.0
            for c in range(X.shape[1]):
                total += away[i, c] * away[i, c]
            part = min(1.0, 2.0 * (1.0 - shifted[i] / shifted[p - 1]))
            worst = max(worst, sqrt(total) / (search.tolerance * part + ROUNDING * shifted[i] / A.shift))
        if turn > 0:
            fall = worst / before
            if fall > SLOW:
                number = STEPS
        if turn >= EARLY and fall > FALL and worst > 1.0:
            return False, X
        if worst * max(fall, share, ratio * ratio) <= LAST:
            x = chebyshev_steps(A, shifted[:k], shifted[p - 1], X[:k], G[:k], away, 1)
            # What the step takes along of the other vectors of the block, to first order, by their energies.
            along = np.dot(x - X[:k], P[k:].T)
            for i in range(k):
                for j in range(p - k):
                    along[i, j] /= shifted[i] - shifted[k + j]
            x += np.dot(along, X[k:])
            Q = np.empty(x.shape)
            Q = Q[: extend(Q, 0, refined_response(structure, A, pushes(shifted[:k], x, G[:k])))]
            if Q.shape[0] < count:
                return False, X
            diagonal_modes(structure, loading, Q, squares, Z)
            return True, X
        before = worst
        x = chebyshev_steps(A, shifted[:k], shifted[p - 1], X[:k], G[:k], away, number)
        push = pushes(shifted[:k], x, G[:k])
        X[:k] = respond(A, push)
        G[:k] = stiffness_of(loading, X[:k])
        P[:k] = push + G[:k]
        E, M = np.diag(shifted), np.eye(p)
        E[:k], M[:k] = np.dot(X[:k], P.T), np.dot(X[:k], X.T)
        for i in range(k):
            for j in range(i):
                E[i, j] = E[j, i] = 0.5 * (E[i, j] + E[j, i])
            for j in range(k, p):
                E[j, i], M[j, i] = E[i, j], M[i, j]
        shifted, R = turned(E, M, True)
        if shifted.shape[0] == 0:
            return False, X
        X, P, G = np.dot(R, X), np.dot(R, P), np.dot(R, G)
    return False, X


@kernel
def loaded_modes(rest, held, search, loaded, k, X, squares, Z):
    """ω² (count,) rising and modes Z (count, z) at poses X, number k. Returns how many there are, or -1: without
    convergence, or where loads are so large that a mode might have been missed."""
    count, n, forms = squares.shape[0], Z.shape[1], loaded.forms
    C = np.empty((held.rows.shape[0], n))
    chosen_rows(rest, held.rows, X, C)
    structure = Structure(rest.stiffness, C, held.compliance)
    A = response_operator(structure, search.shift)
    hard = 0
    for row in A.order:
        hard += 1 if structure.compliance[row] == 0.0 else 0
    whole = MANY * search.start.shape[0] >= n - hard
    if whole:
        Q = all_motions(structure, A, hard)
        Y = respond(A, Q)
        basis = Basis(Q, Y, np.dot(Y, Q.T), np.dot(Y, Y.T))
    else:
        basis = first_basis(structure, A, search)
        Q = basis.Y
    row_forces = -loaded.along[k]
    if loaded.row_forces.shape[0] > 0:
        row_forces[:] = loaded.row_forces[k]
    else:
        found = at_rest(structure, A, basis, rest_forces(rest, held, structure, loaded, k, X))
        for i in range(held.rows.shape[0]):
            row_forces[held.rows[i]] += found[i]
    if not np.isfinite(row_forces).all():
        return -1
    geometric = no_stiffness(rest, forms)
    geometric_stiffness(rest, forms, X, row_forces, geometric)
    loading = Loading(rest, forms, geometric)
    if whole:
        wanted = min(count, Q.shape[0])
        diagonal_modes(structure, loading, Q, squares[:wanted], Z[:wanted])
        return wanted
    while True:
        done, V = settled(structure, A, loading, search, basis, squares, Z)
        if done:
            return count
        if 2 * MANY * search.start.shape[0] >= n - hard:
            return -1
        search = grown(structure, search, V)
        basis = first_basis(structure, A, search)


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
    rest: ElasticRest, held: Held, configuration: Configuration, count: int, tolerance: float = SHAPES
) -> tuple[Array, Array]:
    """As `constrained_modes`, with the geometric stiffness of the loads at rest, actuators locked."""
    X = np.ascontiguousarray(configuration.X.reshape(-1, *configuration.X.shape[-2:]))
    w = configuration.w.reshape(len(X), -1)
    warn_beyond_tables(rest, X)
    squares, Z = np.empty((len(X), count)), np.zeros((len(X), count, rest.size))
    number = np.full(len(X), -1, dtype=np.int64)
    if not len(pushed_rows(rest)):
        search = search_for(rest, held, count)._replace(tolerance=tolerance)
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
