"""Geometric stiffness of the loads at rest as kernels: what changes with θ, at many configurations.

The internal forces of a body are linear in its weight, in the forces on its places and in what its rows push it with.
For a unit of each, `load_stiffness` has a constant matrix over the body's z; at θ they are added up. Rows add their
curvature between two parts,

    K_g = Σ_b Σ_c w_bc K_bc + Σ_pairs Gᵀ (Σ λ D²φ) G                                  (docs/theory/elastic-rest.md, 14b)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled, kernel
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.load_stiffness import applied_form, body_patterns, part_forms
from supple.formulations.elastic_rest.load_vectors import FOLLOWS, LoadArrays, load_arrays
from supple.formulations.elastic_rest.loads import NodalForce, applied_forces
from supple.formulations.elastic_rest.row_curvature import term_curvature
from supple.formulations.elastic_rest.rows import BODY, FIRST, WIDTH, part_poses
from supple.formulations.elastic_rest.stiffness_tables import row_scale
from supple.geometry.vectors import dot, minus, plus
from supple.kinematics.primitives import ALONG, DOT, FACTOR, KIND, NONE, PB, THEN, A, B, U, W, gradient, in_body
from supple.kinematics.rest import rest as undeformed

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class LoadForms(NamedTuple):
    """Constants of the geometric stiffness of a mechanism's loads.

    loads      : weights and applied forces, as forces over z
    of_loads   : (loads, 6, widest, widest) K over z of the body for a unit of each component
    of_parts   : (parts, 6, widest, widest) the same of what rows push each part with; carries (parts,) whether any is
    moved      : (z, d parts) displacements of all parts over z, one after the other; pushed, its transpose
    pair       : (terms,) number of the two parts that a term is between; ends (pairs, 2) these parts
    """

    loads: LoadArrays
    of_loads: Array
    of_parts: Array
    carries: NDArray[np.bool_]
    moved: Array
    pushed: Array
    pair: Integers
    ends: Integers


class Geometric(NamedTuple):
    """K_g at one configuration: blocks (z, z) within bodies, bends (pairs, 12, 12) of rows over the displacements of
    their two parts, and which of these there are (pairs,)."""

    blocks: Array
    bends: Array
    bent: NDArray[np.bool_]


@kernel
def arm_product(factor, f, x, at, H):
    """H at rows and columns `at` += factor Q(f, x), Q = ½(f xᵀ + x fᵀ) - (f·x) 1.                    [eq. 12]"""
    along = dot(f, x)
    for i in range(3):
        for j in range(3):
            H[at + i, at + j] += factor * 0.5 * (f[i] * x[j] + x[i] * f[j])
        H[at + i, at + i] -= factor * along


@kernel
def add_curvature(rest, term, poses, force, H):
    """H (12, 12) += force D²φ of one term over (u_a, φ_a, u_b, φ_b), in the axes of its parts.                [eq. 11]

    Of u·(p_b - p_a), u fixed in a, with y from the origin of a to p_b and ρ from that of b:

        (φ_a × u)·(u_b - u_a + φ_b × ρ) + ½ (φ_a × (φ_a × u))·y + ½ u·(φ_b × (φ_b × ρ))

    and of u·w, w fixed in b, likewise with w for ρ and y.
    """
    kind, a, b = rest.rows_i[term, KIND], rest.rows_i[term, A], rest.rows_i[term, B]
    f = rest.rows_f
    if kind != ALONG and kind != DOT:
        own = np.zeros((12, 12))
        term_curvature(rest, term, poses, own)
        for i in range(12):
            for j in range(12):
                H[i, j] += force * own[i, j]
        return
    factor = force * f[term, FACTOR]
    u = (f[term, U], f[term, U + 1], f[term, U + 2])
    Ra, Rb = poses[a], poses[b]
    turn = np.empty((3, 3))  # components in b to those in a
    for i in range(3):
        for j in range(3):
            turn[i, j] = Ra[3 + i] * Rb[3 + j] + Ra[6 + i] * Rb[6 + j] + Ra[9 + i] * Rb[9 + j]
    if kind == ALONG:
        there = (f[term, PB], f[term, PB + 1], f[term, PB + 2])
    else:
        there = (f[term, W], f[term, W + 1], f[term, W + 2])
    seen = (
        turn[0, 0] * there[0] + turn[0, 1] * there[1] + turn[0, 2] * there[2],
        turn[1, 0] * there[0] + turn[1, 1] * there[1] + turn[1, 2] * there[2],
        turn[2, 0] * there[0] + turn[2, 1] * there[1] + turn[2, 2] * there[2],
    )
    u_b = (
        turn[0, 0] * u[0] + turn[1, 0] * u[1] + turn[2, 0] * u[2],
        turn[0, 1] * u[0] + turn[1, 1] * u[1] + turn[2, 1] * u[2],
        turn[0, 2] * u[0] + turn[1, 2] * u[1] + turn[2, 2] * u[2],
    )
    if kind == ALONG:
        apart = minus((Rb[0], Rb[1], Rb[2]), (Ra[0], Ra[1], Ra[2]))
        arm_product(factor, u, plus(in_body(poses, a, apart), seen), 3, H)
        for i in range(3):  # φ_a·(u × (u_b - u_a))
            j, k = (i + 1) % 3, (i + 2) % 3
            H[3 + i, j] += factor * u[k]
            H[j, 3 + i] += factor * u[k]
            H[3 + i, k] -= factor * u[j]
            H[k, 3 + i] -= factor * u[j]
            for e in range(3):
                cross_b = factor * (u[j] * turn[k, e] - u[k] * turn[j, e])
                H[3 + i, 6 + e] += cross_b
                H[6 + e, 3 + i] += cross_b
    else:
        arm_product(factor, u, seen, 3, H)
    arm_product(factor, u_b, there, 9, H)
    along = dot(u_b, there)
    for i in range(3):
        for e in range(3):
            both = factor * (along * turn[i, e] - seen[i] * u_b[e])
            H[3 + i, 9 + e] += both
            H[9 + e, 3 + i] += both


@kernel
def add_forms(wrench, forms, first, width, K):
    """K += Σ_c wrench_c forms_c on the coordinates of one body."""
    for c in range(6):
        force = wrench[c]
        if force != 0.0:
            for i in range(width):
                for j in range(width):
                    K[first + i, first + j] += force * forms[c, i, j]


@kernel
def no_stiffness(rest, forms):
    """Room for K_g."""
    n, pairs = rest.stiffness.shape[0], forms.ends.shape[0]
    return Geometric(np.empty((n, n)), np.empty((pairs, 12, 12)), np.empty(pairs, dtype=np.bool_))


@kernel
def geometric_stiffness(rest, forms, X, row_forces, geometric):
    """K_g at poses X (bodies + 1, 12) into `geometric`, from λ (rows,) at rest.

    rest : ElasticArrays; forms : LoadForms
    """
    parts = rest.part_i.shape[0]
    blocks, bends = geometric.blocks, geometric.bends
    blocks[:], bends[:], geometric.bent[:] = 0.0, 0.0, False
    poses, pushes, g = np.empty((parts + 1, 12)), np.zeros((parts + 1, 6)), np.empty(13)
    part_poses(rest, X, poses)
    for row in range(row_forces.shape[0]):
        if row_forces[row] == 0.0:
            continue
        force = row_forces[row] * row_scale(rest, row, poses)
        term = row
        while term != NONE:
            gradient(rest.rows_i, rest.rows_f, term, poses, g)
            a, b = rest.rows_i[term, A], rest.rows_i[term, B]
            for k in range(6):
                pushes[a, k] -= force * g[1 + k]
                pushes[b, k] -= force * g[7 + k]
            geometric.bent[forms.pair[term]] = True
            add_curvature(rest, term, poses, force, bends[forms.pair[term]])
            term = rest.rows_i[term, THEN]
    wrench = np.empty(6)
    for i in range(forms.loads.place.shape[0]):
        b, given = forms.loads.place[i, BODY], forms.loads.wrenches[i]
        for at in (0, 3):
            local = (given[at], given[at + 1], given[at + 2])
            if forms.loads.place[i, FOLLOWS] == 0:
                local = in_body(X, b, local)
            for e in range(3):
                wrench[at + e] = local[e]
        add_forms(wrench, forms.of_loads[i], forms.loads.place[i, FIRST], forms.loads.place[i, WIDTH], blocks)
    for p in range(parts):
        if forms.carries[p]:
            add_forms(pushes[p], forms.of_parts[p], rest.part_i[p, FIRST], rest.part_i[p, WIDTH], blocks)


@kernel
def stiffened(rest, forms, geometric, V):
    """V K_g (p, z) of motions in rows, V (p, z)."""
    p, d = V.shape[0], rest.column.shape[0]
    moved = np.dot(V, forms.moved)
    pushed = np.zeros(moved.shape)
    for k in range(forms.ends.shape[0]):
        if geometric.bent[k]:
            for one in range(2):
                for other in range(2):
                    if forms.ends[k, one] < rest.part_i.shape[0] and forms.ends[k, other] < rest.part_i.shape[0]:
                        at, by = d * forms.ends[k, one], d * forms.ends[k, other]
                        for i in range(d):
                            for j in range(d):
                                h = geometric.bends[k, 6 * one + rest.column[i], 6 * other + rest.column[j]]
                                if h != 0.0:
                                    for q in range(p):
                                        pushed[q, at + i] += h * moved[q, by + j]
    return np.dot(V, geometric.blocks) + np.dot(pushed, forms.pushed)


@kernel(purpose="stiffness of forces at rest")
def geometric_matrices(rest, forms, X, row_forces, K):
    """K_g (N, z, z) at poses X (N, bodies + 1, 12) with λ (N, rows)."""
    geometric = no_stiffness(rest, forms)
    unit = np.eye(K.shape[1])
    for k in range(X.shape[0]):
        geometric_stiffness(rest, forms, X[k], row_forces[k], geometric)
        K[k] = stiffened(rest, forms, geometric, unit)


def load_forms(rest: ElasticRest) -> LoadForms:
    """Load patterns of a mechanism, computed once."""
    key = f"load forms {rest.band} {list(rest.displacements)}"
    return rest.numbering.mechanism.remembered(key, lambda: _load_forms(rest))


def _load_forms(rest: ElasticRest) -> LoadForms:
    loads, bodies = load_arrays(rest), rest.bodies
    widest = max(body.size for body in bodies)
    of_loads = np.zeros((len(loads.place), 6, widest, widest))
    weights = len(bodies) if rest.numbering.mechanism.gravity is not None else 0
    translations = 2 if len(rest.arrays.column) == 3 else 3
    for b, patterns in enumerate(body_patterns(rest)[:weights]):
        of_loads[b, :translations, : bodies[b].size, : bodies[b].size] = -patterns.accelerations[:translations]
    for i, item in enumerate(applied_forces(rest, undeformed(rest.numbering.mechanism).X)):
        size = bodies[item.body].size
        for c, unit in enumerate(np.eye(6)):
            one = NodalForce(item.body, item.node, unit[:3], unit[3:], item.arm, item.follows)
            of_loads[weights + i, c, :size, :size] = applied_form(rest, one)
    of_parts = np.zeros((len(rest.arrays.part_i), 6, widest, widest))
    for part, (b, width) in enumerate(rest.arrays.part_i[:, [BODY, WIDTH]].tolist()):
        of_parts[part, :, :width, :width] = part_forms(rest, b, part, np.eye(width))
    d = len(rest.arrays.column)
    pushed = np.zeros((d * len(of_parts), rest.size))
    for part, (first, width) in enumerate(rest.arrays.part_i[:, [FIRST, WIDTH]].tolist()):
        pushed[d * part : d * (part + 1), first : first + width] = rest.arrays.shapes[part, :, :width]
    pairs: dict[tuple[int, int], int] = {}
    pair = [pairs.setdefault((a, b), len(pairs)) for a, b in rest.arrays.rows_i[:, [A, B]].tolist()]
    return LoadForms(
        loads,
        0.5 * (of_loads + np.swapaxes(of_loads, 2, 3)),
        0.5 * (of_parts + np.swapaxes(of_parts, 2, 3)),
        np.asarray(of_parts.any(axis=(1, 2, 3))),
        np.ascontiguousarray(pushed.T),
        pushed,
        np.array(pair, dtype=np.int64),
        np.array(list(pairs), dtype=np.int64).reshape(-1, 2),
    )


def geometric_stiffnesses(rest: ElasticRest, X: Array, row_forces: Array) -> Array:
    """K_g (N, z, z), symmetric, at poses X (N, bodies + 1, 12) with the forces λ (N, rows) of the rows at rest."""
    K = np.empty((len(X), rest.size, rest.size))
    compiled(geometric_matrices, count=len(X))(rest.arrays, load_forms(rest), X, row_forces, K)
    return K
