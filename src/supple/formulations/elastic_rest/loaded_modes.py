"""Lowest modes of a structure under loads: (K + K_g, M) with C z = 0.

The block of a search without loads is refined once with the response A = (K + s)⁻¹ on motions that satisfy the rows.
K + K_g is diagonalised in its span. Components outside the span are found by Chebyshev iteration on

    v = A ((ω² + s) v - K_g v)                                                      (docs/theory/elastic-rest.md, 14c)

with constant ω² in one round; then the span is diagonalised again. `rest_reactions` computes the forces at rest that
K_g depends on.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.compilation.bundle import add_table, copy_row, copy_table, make_symmetric, subtract_table
from supple.compilation.threads import in_parts, single_blas_thread
from supple.formulations.elastic_rest.block_modes import MANY, ROUNDING, Search, below, grown, scaled_start
from supple.formulations.elastic_rest.constrained_modes import (
    SHAPES,
    first_shift,
    rows_over_coordinates,
    search_for,
    warn_beyond_tables,
)
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import ElasticArrays, ElasticRest, HeldRows
from supple.formulations.elastic_rest.energy_modes import (
    REFINED,
    all_motions,
    diagonalise,
    elastic_energies,
    refined_response,
    sort_indices,
)
from supple.formulations.elastic_rest.loads import forces_along
from supple.formulations.elastic_rest.preload import batch_row_forces, pushed_rows
from supple.formulations.elastic_rest.response_operator import (
    ROUGH,
    Structure,
    least_pivot,
    respond,
    response_operator,
)
from supple.formulations.elastic_rest.rest_reactions import (
    APART,
    DEPENDENT,
    LoadedRest,
    at_rest,
    factor,
    first_basis,
    inverse_of,
    rest_forces,
    unit_energy,
)
from supple.formulations.elastic_rest.rows import chosen_rows
from supple.formulations.elastic_rest.stiffening_kernels import (
    Geometric,
    LoadForms,
    apply_geometric_stiffness,
    geometric_stiffness,
    load_forms,
    no_stiffness,
)
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest as undeformed

CLEAR = 0.02  # of ω² + s: modes closer than this are refined, for rounding of their energies would mix them
ROUNDS, EARLY = 12, 3  # corrections from outside the block, and before they are judged by how fast they converge
FALL = 0.3  # of the errors in a round: where they fall less, more vectors are better
FROZEN = 2e-3  # of the errors: where a round leaves more, K_g is applied in every step
STEPS, LAST = 3, 2  # of Chebyshev's iteration in a round, and in the last one
ENOUGH, CLOSE = 0.7, 0.1  # of the tolerance: expected error at the end, and where modes are close to each other
CLUSTER = 0.05  # of ω² + s: modes closer than this to the last one wanted are found with it
CAUTION = 4.0  # times the estimated share of loads outside the block: what it is taken for
ABOVE = 0.1  # of the gap above the block: where the modes without loads are counted, or higher


class Loading(NamedTuple):
    """K_g at one configuration, with the other arguments of `apply_geometric_stiffness`."""

    rest: ElasticArrays
    forms: LoadForms
    geometric: Geometric


class LoadedBlock(NamedTuple):
    """Modes in the span of a block.

    shifted (p,) ω² + s ascending, empty if diagonalisation failed; motions X (p, z), the forces P (p, z) of K + s + K_g
    for
    them, and G = X K_g (p, z). probe : (1, z) K_g x of a motion outside the block.
    """

    shifted: Array
    X: Array
    P: Array
    G: Array
    probe: Array


@kernel
def stiffness_of(loading, V):
    """Return V K_g (p, z)."""
    return apply_geometric_stiffness(loading.rest, loading.forms, loading.geometric, V)


@kernel
def diagonalise_energy(energy, mass, near):
    """Return ω² + s (p,) ascending and R (p, p) with R E Rᵀ = diag(ω² + s), R M Rᵀ = 1.

    Both are empty if E is not positive definite. near : E and M are nearly diagonal
    """
    p = energy.shape[0]
    L = np.zeros((p, p))
    if not factor(energy, L) > 0.0:
        return np.empty(0), L
    R = inverse_of(L)
    W = np.dot(np.dot(R, mass), R.T)
    make_symmetric(W)
    nu = np.empty(p)
    if near:
        diagonalise(W, R)
        for i in range(p):
            nu[i] = -W[i, i]
        order, turned = sort_indices(nu), R
        R = np.empty((p, p))
        for i in range(p):
            nu[i] = W[order[i], order[i]]
            copy_row(turned[order[i]], R[i])
    else:
        rising, U = np.linalg.eigh(W)
        for i in range(p):
            nu[i] = rising[p - 1 - i]
        R = np.dot(np.ascontiguousarray(U[:, ::-1].T), R)
    for i in range(p):
        if not nu[i] > 0.0:
            return np.empty(0), R
        length = sqrt(nu[i])
        nu[i] = 1.0 / nu[i]
        for k in range(p):
            R[i, k] /= length
    return nu, R


@kernel
def pushes(shifted, X, G):
    """Return (ω² + s) x - K_g x of motions X (k, z), from ω² + s (k,) and G = X K_g; for modes, A maps it to x."""
    found = np.empty(X.shape)
    for i in range(X.shape[0]):
        for c in range(X.shape[1]):
            found[i, c] = shifted[i] * X[i, c] - G[i, c]
    return found


@kernel
def outside(x, X):
    """Replace x (1, z) by its normalized component outside the span of orthonormal X (p, z); return its length."""
    subtract_table(x, np.dot(np.dot(x, X.T), X))
    total = 0.0
    for c in range(x.shape[1]):
        total += x[0, c] * x[0, c]
    length = sqrt(total)
    if total > 0.0:
        for c in range(x.shape[1]):
            x[0, c] /= length
    return length


@kernel
def last_of_cluster(shifted, count):
    """Return the number of modes to find together: the least number from `count` on that is followed by a gap.

    Without a gap it is the number with the largest difference; shifted : ω² + s (p,) ascending.
    """
    best, widest = count, 0.0
    for j in range(count, shifted.shape[0]):
        gap = shifted[j] / shifted[j - 1] - 1.0
        if gap > CLUSTER:
            return j
        if gap > widest:
            best, widest = j, gap
    return best


@kernel
def has_lowest_modes(structure, A, share, shifted, plain):
    """Return whether only modes of the block are among the lowest modes.

    shifted : ω² + s (k,) of the lowest modes under loads; plain (p,) of the block without loads, the first k of the
              same
    motions. Modes without loads are counted slightly above these (eq. 9). Modes above lose `share` of their value to
    the loads, or with a margin some times that.
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
    """Compute ω² and modes Z, ascending, of K + K_g in the span of orthonormal motions Q (p, z) that satisfy the rows.

    The number of modes is the length of `squares`.
    """
    G = np.dot(stiffness_of(loading, Q), Q.T)
    make_symmetric(G)
    H = elastic_energies(structure, Q)
    add_table(H, G)
    V = Q.copy()
    diagonalise(H, V)
    order = sort_indices(np.diag(H))
    for i in range(squares.shape[0]):
        squares[i] = H[order[i], order[i]]
        copy_row(V[order[i]], Z[i])


@kernel
def chebyshev_steps(A, loading, state, away, number, fresh):
    """Return motions (k, z) after `number` steps of Chebyshev iteration on x = A ((ω² + s) x - g), and the last g.

    The motions are the first k of a block. away : (k, z) start of the first step; fresh : g = x K_g in every step,
    otherwise that of the first x
    """
    k, n = away.shape
    shifted, x, g = state.shifted, state.X[:k].copy(), state.G[:k]
    last = shifted[shifted.shape[0] - 1]  # modes outside the block begin here
    step, share = np.zeros((k, n)), np.empty(k)
    for turn in range(number):
        if turn > 0:
            if fresh:
                g = stiffness_of(loading, x)
            away = respond(A, pushes(shifted[:k], x, g))
            subtract_table(away, x)
        for i in range(k):
            least = min(max(1.0 - shifted[i] / last, 0.05), 0.999)
            middle, half = 0.5 * (1.0 + least), 0.5 * (1.0 - least)
            after = half / middle if turn == 0 else 1.0 / (2.0 * middle / half - share[i])
            old = 0.0 if turn == 0 else after * share[i]
            new = 1.0 / middle if turn == 0 else 2.0 * after / half
            share[i] = after
            for c in range(n):
                step[i, c] = old * step[i, c] + new * away[i, c]
                x[i, c] += step[i, c]
    return x, g


@kernel
def stiffness_with(loading, X, probe):
    """Return X K_g (k, z) and probe K_g (1, z)."""
    k, n = X.shape
    both = np.empty((k + 1, n))
    copy_table(X, both[:k])
    copy_row(probe[0], both[k])
    found = stiffness_of(loading, both)
    return found[:k], found[k:]


@kernel
def energies(shifted, X, P, k):
    """Return E and M (p, p) of motions X (p, z) with forces P (p, z); from number k on they are modes."""
    p = X.shape[0]
    E, M = np.diag(shifted), np.eye(p)
    copy_table(np.dot(X[:k], P.T), E[:k])
    copy_table(np.dot(X[:k], X.T), M[:k])
    for i in range(k):
        for j in range(i):
            E[i, j] = E[j, i] = 0.5 * (E[i, j] + E[j, i])
        for j in range(k, p):
            E[j, i], M[j, i] = E[i, j], M[i, j]
    return E, M


@kernel
def correct_motions(A, loading, state, away, probe, fresh):
    """Correct the first k motions of a block by components outside of it, `away` (k, z), and diagonalise again."""
    k = away.shape[0]
    x, g = chebyshev_steps(A, loading, state, away, STEPS, fresh)
    push = pushes(state.shifted[:k], x, g)
    X, P, G = state.X, state.P, state.G
    copy_table(respond(A, push), X[:k])
    now, pushed = stiffness_with(loading, X[:k], probe)
    copy_table(now, G[:k])
    copy_table(push, P[:k])
    add_table(P[:k], now)
    E, M = energies(state.shifted, X, P, k)
    return diagonal(E, M, LoadedBlock(state.shifted, X, P, G, pushed), True)


@kernel
def diagonal(E, M, state, near):
    """Return motions with energies E and masses M (p, p) as modes in their span."""
    shifted, R = diagonalise_energy(E, M, near)
    if shifted.shape[0] == 0:
        return LoadedBlock(shifted, state.X, state.P, state.G, state.probe)
    return LoadedBlock(shifted, np.dot(R, state.X), np.dot(R, state.P), np.dot(R, state.G), state.probe)


@kernel
def last_pushes(A, loading, state, away, number):
    """Return forces (k, z) whose response is the first k modes of a block, after `number` last steps; `away` (k, z)."""
    k, p = away.shape[0], state.shifted.shape[0]
    x, g = chebyshev_steps(A, loading, state, away, number, True)
    step = x.copy()
    subtract_table(step, state.X[:k])
    subtract_table(step, np.dot(np.dot(step, state.X.T), state.X))
    # What that takes along of the other vectors of the block, to first order, by their energies.
    along = np.dot(step, state.P[k:].T)
    for i in range(k):
        for j in range(p - k):
            along[i, j] /= state.shifted[i] - state.shifted[k + j]
    add_table(step, state.X[:k])
    add_table(step, np.dot(along, state.X[k:]))
    return pushes(state.shifted[:k], step, g)


@kernel
def clear(shifted):
    """Return whether all ascending ω² + s are well separated."""
    least = np.inf
    for i in range(shifted.shape[0] - 1):
        least = min(least, shifted[i + 1] / shifted[i] - 1.0)
    return least > CLEAR


@kernel
def smooth_modes(A, loading, state, push, squares, Z):
    """Compute ω² and modes Z, ascending, in the span of a block by the work of forces; return whether this succeeded.

    The first k motions of the block are the responses to `push` (k, z).
    """
    k, X, P = push.shape[0], state.X.copy(), state.P.copy()
    copy_table(respond(A, push), X[:k])
    copy_table(push, P[:k])
    add_table(P[:k], stiffness_of(loading, X[:k]))
    E, M = energies(state.shifted, X, P, k)
    shifted, R = diagonalise_energy(E, M, True)
    if shifted.shape[0] == 0:
        return False
    copy_table(np.dot(R[: Z.shape[0]], X), Z)
    for i in range(squares.shape[0]):
        squares[i] = shifted[i] - A.shift
    return True


@kernel
def refined_modes(structure, A, loading, state, push, squares, Z):
    """Compute the same modes if the rounding of A matters: motions are refined, with ω² from their energy (eq. 9a)."""
    k, forces = push.shape[0], np.empty(state.X.shape)
    copy_table(push, forces[:k])
    copy_table(pushes(state.shifted[k:], state.X[k:], state.G[k:]), forces[k:])
    Y = refined_response(structure, A, forces, 1 if least_pivot(A) > ROUGH else REFINED)
    for _ in range(2):  # orthonormal to the last bits
        L = np.zeros((Y.shape[0], Y.shape[0]))
        if not factor(np.dot(Y, Y.T), L) > DEPENDENT:
            return False
        Y = np.dot(inverse_of(L), Y)
    diagonal_modes(structure, loading, Y, squares, Z)
    return True


@kernel
def converge_modes(structure, A, loading, search, basis, squares, Z):
    """Return modes from a basis near them, whether they converged, and the motions [eq. 14c]."""
    count, p, n = squares.shape[0], basis.Y.shape[0], Z.shape[1]
    if p <= count:
        return False, basis.Y
    # A motion without a pattern shows how much the loads take of the stiffness outside the block, round by round.
    probe = respond(A, scaled_start(1, structure.stiffness, A.shift))
    G, pushed = stiffness_with(loading, basis.Y, probe)
    E, P = np.dot(basis.Y, G.T), basis.F.copy()
    make_symmetric(E)
    add_table(E, np.eye(p))
    add_table(P, G)
    state = diagonal(E, basis.mass, LoadedBlock(np.empty(p), basis.Y, P, G, pushed), False)
    if state.shifted.shape[0] == 0:
        return False, state.X
    k = last_of_cluster(state.shifted, count)
    plain = state.shifted.copy()  # without loads
    for i in range(p):
        for c in range(n):
            plain[i] -= state.X[i, c] * state.G[i, c]
    share, before, fall = 0.0, np.inf, 1.0
    for turn in range(ROUNDS):
        now = p if turn == 0 else k  # guards are corrected once
        shifted = state.shifted
        push = np.empty((now + 1, n))
        copy_table(pushes(shifted[:now], state.X[:now], state.G[:now]), push[:now])
        copy_row(state.probe[0], push[now])
        answer = respond(A, push)
        probe = answer[now:]
        size = outside(probe, state.X)
        share = max(share, size) if turn > 0 else 0.0
        away = answer[:now].copy()
        subtract_table(away, state.X[:now])
        # Within the block energies say more than A.
        subtract_table(away, np.dot(np.dot(away, state.X.T), state.X))
        worst = 0.0
        for i in range(count):
            total = 0.0
            for c in range(n):
                total += away[i, c] * away[i, c]
            part = min(1.0, 2.0 * (1.0 - shifted[i] / shifted[p - 1]))
            worst = max(worst, sqrt(total) / (search.tolerance * part + ROUNDING * shifted[i] / A.shift))
        fall = worst / before if turn > 0 else 1.0
        ratio = shifted[k - 1] / shifted[p - 1]
        one = ratio * ratio / (2.0 - ratio)  # what one step of Chebyshev's iteration and the response leave
        apart = clear(shifted[: k + 1])
        enough = ENOUGH if apart else CLOSE
        if turn > 0 and worst * max(fall, 0.5 * one * ratio) <= enough:
            if not has_lowest_modes(structure, A, share, shifted[:k], plain):
                return False, state.X
            number = 1 if worst * max(fall, share, one) <= enough else LAST
            push = last_pushes(A, loading, state, away, number)
            if apart and least_pivot(A) > APART:
                return smooth_modes(A, loading, state, push, squares, Z), state.X
            return refined_modes(structure, A, loading, state, push, squares, Z), state.X
        if turn >= EARLY and fall > FALL:
            break
        before = worst
        state = correct_motions(A, loading, state, away, probe, turn > 0 and fall > FROZEN)
        if state.shifted.shape[0] == 0:
            break
    return False, state.X


@kernel
def loaded_modes(loading, held, search, loaded, k, X, squares, Z):
    """Compute ω² (count,) ascending and modes Z (count, z) at poses X, number k; return their number, or -1.

    -1 means no convergence, or loads so large that a mode might be missing. loading : Loading, with room for K_g
    """
    count, n, rest = squares.shape[0], Z.shape[1], loading.rest
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
        basis = unit_energy(Q, respond(A, Q))
    else:
        Q = search.start
        basis = first_basis(structure, A, search)
    row_forces = np.empty(loaded.along.shape[1])
    for i in range(row_forces.shape[0]):
        row_forces[i] = -loaded.along[k, i]
    if loaded.row_forces.shape[0] > 0:
        copy_row(loaded.row_forces[k], row_forces)
    else:
        found = at_rest(structure, A, basis, rest_forces(rest, held, structure, loaded, k, X))
        for i in range(held.rows.shape[0]):
            row_forces[held.rows[i]] += found[i]
    for force in row_forces:
        if not np.isfinite(force):
            return -1
    geometric_stiffness(rest, loading.forms, X, row_forces, loading.geometric)
    if whole:
        wanted = min(count, Q.shape[0])
        diagonal_modes(structure, loading, Q, squares[:wanted], Z[:wanted])
        return wanted
    while True:
        done, V = converge_modes(structure, A, loading, search, basis, squares, Z)
        if done:
            return count
        if 2 * MANY * search.start.shape[0] >= n - hard:
            return -1
        search = grown(structure, search, V)
        basis = first_basis(structure, A, search)


@kernel(purpose="modes of vibration under loads")
def loaded_batch(rest, held, search, loaded, X, squares, Z, number):
    """Compute modes as `modes_batch`, with the geometric stiffness of the loads at rest."""
    loading = Loading(rest, loaded.forms, no_stiffness(rest, loaded.forms))
    for k in range(X.shape[0]):
        number[k] = loaded_modes(loading, held, search, loaded, k, X[k], squares[k], Z[k])


def redundant_rows(rest: ElasticRest, held: HeldRows) -> bool:
    """Return whether some of the constrained rows depend on others at rest, or nearly so; computed once."""

    def find() -> bool:
        X = undeformed(rest.numbering.mechanism).X
        C = rows_over_coordinates(rest, held.rows, X[None])[0]
        shift = first_shift(rest, held, X)
        A = compile_kernel(response_operator, count=1)(Structure(rest.arrays.stiffness, C, held.compliance), shift)
        return len(A.order) < len(held.rows)

    key = f"redundant rows {rest.band} {held.rows.tobytes()!r}"
    return rest.numbering.mechanism.compute_once(key, find)


class Preparation(NamedTuple):
    """Data that are equal for all configurations: a search, the forms of the loads, and the source of row forces.

    Row forces are taken from `batch_row_forces` if rows depend on others, since their forces are then a choice that all
    analyses share, or if inputs act along other rows than those of θ.
    """

    search: Search
    forms: LoadForms
    given: bool


def preparation(rest: ElasticRest, held: HeldRows, count: int) -> Preparation:
    """Return the preparation of a search for `count` modes, computed once."""
    known: dict[tuple[object, ...], Preparation] = rest.numbering.mechanism.compute_once("modes under loads", dict)
    key = (rest.band, tuple(rest.displacements), held.rows.tobytes(), held.compliance.tobytes(), count)
    if key not in known:
        given = redundant_rows(rest, held) or len(pushed_rows(rest)) > 0
        known[key] = Preparation(search_for(rest, held, count), load_forms(rest), given)
    return known[key]


@single_blas_thread()
def constrained_loaded_modes(
    rest: ElasticRest, held: HeldRows, configuration: Configuration, count: int, tolerance: float = SHAPES
) -> tuple[Array, Array]:
    """Compute modes as `constrained_modes`, with the geometric stiffness of the loads at rest and locked actuators."""
    X = np.ascontiguousarray(configuration.X.reshape(-1, *configuration.X.shape[-2:]))
    w = configuration.w.reshape(len(X), -1)
    warn_beyond_tables(rest, X)
    squares, Z = np.empty((len(X), count)), np.zeros((len(X), count, rest.size))
    number = np.full(len(X), -1, dtype=np.int64)
    search, forms, given = preparation(rest, held, count)
    search = search._replace(tolerance=tolerance)
    along = forces_along(rest, w)
    forces = batch_row_forces(rest, X, w) if given else np.zeros((0, along.shape[1]))

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        compile_kernel(loaded_batch, count=stop - start)(
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
