"""Kernels of the geometric stiffness of loads at rest, at many configurations.

The internal forces of a body are linear in its weight, in the forces on its points and in the forces of its rows.
`load_stiffness` has a constant matrix over the body's z for a unit of each; they are summed at θ. Rows add their
curvature between two parts,

    K_g = Σ_b Σ_c w_bc K_bc + Σ_pairs Gᵀ (Σ λ D²φ) G                                  (docs/theory/elastic-rest.md, 14b)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.compilation import compile_kernel, kernel
from supple.compilation.bundle import add_table, copy_table
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.geometric_stiffness_at_rest import (
    applied_form,
    body_patterns,
    part_forms,
    term_curvature,
)
from supple.formulations.elastic_rest.joint_stiffness_over_position import row_scale
from supple.formulations.elastic_rest.loads import FOLLOWS, LoadArrays, NodalForce, applied_forces, load_arrays
from supple.formulations.elastic_rest.rows import BODY, FIRST, WIDTH, part_poses
from supple.geometry.vectors import dot, minus, plus
from supple.kinematics.primitives import ALONG, DOT, FACTOR, KIND, NONE, PB, THEN, A, B, U, W, gradient, in_body
from supple.kinematics.rest import rest as undeformed

BLOCK, BEFORE, SEEN = 0, 3, 4  # columns of LoadForms.bodies beside FIRST and WIDTH


class LoadForms(NamedTuple):
    """Constants of the geometric stiffness of a mechanism's loads.

    loads    : weights and applied forces, as forces over z
    of_loads : (loads, 6, widest²) K over z of the body for a unit of each component, row by row
    of_parts : (parts, 6, widest²) K of row forces on each part; carries (parts,) whether there are any
    bodies   : (bodies, 5) start of its BLOCK in `blocks`, FIRST coordinate and WIDTH, and number of displacements of
               parts BEFORE those that are SEEN of its own
    blocks   : for each body (width + displacements, width): room for K, then the displacements of its parts over z
    shift    : (parts,) position of the displacements of a part in those of all bodies
    pair     : (terms,) number of the two parts of a term; ends (pairs, 2) these parts
    """

    loads: LoadArrays
    of_loads: Array
    of_parts: Array
    carries: NDArray[np.bool_]
    bodies: Integers
    blocks: Array
    shift: Integers
    pair: Integers
    ends: Integers


class Geometric(NamedTuple):
    """Geometric stiffness K_g at one configuration.

    Blocks within bodies are as those of `LoadForms`; bends (pairs, 12, 12) are those of rows over the displacements of
    their two parts, and (pairs,) tells which exist.
    """

    blocks: Array
    bends: Array
    bent: NDArray[np.bool_]


@kernel
def arm_product(factor, f, x, at, H):
    """Add factor Q(f, x), Q = ½(f xᵀ + x fᵀ) - (f·x) 1, to H at rows and columns `at` [eq. 12]."""
    along = dot(f, x)
    for i in range(3):
        for j in range(3):
            H[at + i, at + j] += factor * 0.5 * (f[i] * x[j] + x[i] * f[j])
        H[at + i, at + i] -= factor * along


@kernel
def add_curvature(rest, term, poses, force, H):
    """Add force D²φ of one term over (u_a, φ_a, u_b, φ_b), in the axes of its parts, to H (12, 12) [eq. 11].

    For u·(p_b - p_a), u fixed in a, with y from the origin of a to p_b and ρ from that of b:

        (φ_a × u)·(u_b - u_a + φ_b × ρ) + ½ (φ_a × (φ_a × u))·y + ½ u·(φ_b × (φ_b × ρ))

    and for u·w, w fixed in b, likewise with w for ρ and y.
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
def add_forms(wrench, forms, size, K):
    """Add Σ_c wrench_c forms_c to K, for matrices of one body with `size` entries."""
    for c in range(6):
        force = wrench[c]
        if force != 0.0:
            for i in range(size):
                K[i] += force * forms[c, i]


@kernel
def no_stiffness(rest, forms):
    """Return room for K_g."""
    pairs = forms.ends.shape[0]
    return Geometric(forms.blocks.copy(), np.empty((pairs, 12, 12)), np.empty(pairs, dtype=np.bool_))


@kernel
def geometric_stiffness(rest, forms, X, row_forces, geometric):
    """Compute K_g at poses X (bodies + 1, 12) into `geometric`, from λ (rows,) at rest.

    rest : ElasticArrays; forms : LoadForms
    """
    parts = rest.part_i.shape[0]
    blocks, bends = geometric.blocks, geometric.bends
    bends[:], geometric.bent[:] = 0.0, False
    for b in range(forms.bodies.shape[0]):
        start, width = forms.bodies[b, BLOCK], forms.bodies[b, WIDTH]
        blocks[start : start + width * width] = 0.0
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
        add_forms(wrench, forms.of_loads[i], forms.loads.place[i, WIDTH] ** 2, blocks[forms.bodies[b, BLOCK] :])
    for p in range(parts):
        if forms.carries[p]:
            start = forms.bodies[rest.part_i[p, BODY], BLOCK]
            add_forms(pushes[p], forms.of_parts[p], rest.part_i[p, WIDTH] ** 2, blocks[start:])


@kernel
def apply_geometric_stiffness(rest, forms, geometric, V):
    """Return V K_g (p, z) of motions in rows, V (p, z)."""
    d, parts = rest.column.shape[0], rest.part_i.shape[0]
    motions = np.ascontiguousarray(V.T)  # side by side: each step is done for all of them at once
    found = np.empty(motions.shape)
    moved = np.empty((d * parts, V.shape[0]))
    for b in range(forms.bodies.shape[0]):
        own = forms.bodies[b]
        start, first, width, before, seen = own[BLOCK], own[FIRST], own[WIDTH], own[BEFORE], own[SEEN]
        block = geometric.blocks[start : start + (width + seen) * width].reshape(width + seen, width)
        both = np.dot(block, motions[first : first + width])
        copy_table(both[:width], found[first : first + width])
        copy_table(both[width:], moved[before : before + seen])
    pushed = np.zeros(moved.shape)
    for k in range(forms.ends.shape[0]):
        if geometric.bent[k]:
            add_bend(rest, forms, geometric, k, moved, pushed)
    for b in range(forms.bodies.shape[0]):
        own = forms.bodies[b]
        start, first, width, before, seen = own[BLOCK], own[FIRST], own[WIDTH], own[BEFORE], own[SEEN]
        block = geometric.blocks[start + width * width : start + (width + seen) * width].reshape(seen, width)
        add_table(found[first : first + width], np.dot(block.T, pushed[before : before + seen]))
    return np.ascontiguousarray(found.T)


@kernel
def add_bend(rest, forms, geometric, k, moved, pushed):
    """Add the forces of the curvature of rows of pair k for displacements moved (d parts, p) to pushed (d parts, p)."""
    d, parts = rest.column.shape[0], rest.part_i.shape[0]
    for one in range(2):
        for other in range(2):
            a, b = forms.ends[k, one], forms.ends[k, other]
            if a < parts and b < parts:
                for i in range(d):
                    for j in range(d):
                        h = geometric.bends[k, 6 * one + rest.column[i], 6 * other + rest.column[j]]
                        if h != 0.0:
                            at, by = forms.shift[a] + i, forms.shift[b] + j
                            for q in range(moved.shape[1]):
                                pushed[at, q] += h * moved[by, q]


@kernel(purpose="stiffness of forces at rest")
def geometric_matrices(rest, forms, X, row_forces, K):
    """Compute K_g (N, z, z) at poses X (N, bodies + 1, 12) with λ (N, rows)."""
    geometric = no_stiffness(rest, forms)
    unit = np.eye(K.shape[1])
    for k in range(X.shape[0]):
        geometric_stiffness(rest, forms, X[k], row_forces[k], geometric)
        K[k] = apply_geometric_stiffness(rest, forms, geometric, unit)


def load_forms(rest: ElasticRest) -> LoadForms:
    """Return the load patterns of a mechanism, computed once."""
    key = f"load forms {rest.band} {list(rest.displacements)}"
    return rest.numbering.mechanism.compute_once(key, lambda: _load_forms(rest))


def _load_forms(rest: ElasticRest) -> LoadForms:
    loads, bodies = load_arrays(rest), rest.bodies
    widest = max(body.size for body in bodies)
    of_loads = np.zeros((len(loads.place), 6, widest**2))
    weights = len(bodies) if rest.numbering.mechanism.gravity is not None else 0
    translations = 2 if len(rest.arrays.column) == 3 else 3
    for b, patterns in enumerate(body_patterns(rest)[:weights]):
        of_loads[b, :translations, : bodies[b].size ** 2] = _flat(-patterns.accelerations[:translations])
    for i, item in enumerate(applied_forces(rest, undeformed(rest.numbering.mechanism).X)):
        units = [NodalForce(item.body, item.node, unit[:3], unit[3:], item.arm, item.follows) for unit in np.eye(6)]
        forms = np.array([applied_form(rest, one) for one in units])
        of_loads[weights + i, :, : bodies[item.body].size ** 2] = _flat(forms)
    part_i, d = rest.arrays.part_i, len(rest.arrays.column)
    of_parts = np.zeros((len(part_i), 6, widest**2))
    for part, (b, width) in enumerate(part_i[:, [BODY, WIDTH]].tolist()):
        of_parts[part, :, : width**2] = _flat(part_forms(rest, b, part, np.eye(width)))
    table, blocks, shift = [], [], np.zeros(len(part_i), dtype=np.int64)
    start = before = 0
    for b, body in enumerate(bodies):
        own = np.flatnonzero(part_i[:, BODY] == b)
        shift[own] = before + d * np.arange(len(own))
        table.append((start, body.start, body.size, before, d * len(own)))
        blocks += [np.zeros(body.size**2), rest.arrays.shapes[own, :, : body.size].ravel()]
        start, before = start + (body.size + d * len(own)) * body.size, before + d * len(own)
    pairs: dict[tuple[int, int], int] = {}
    pair = [pairs.setdefault((a, b), len(pairs)) for a, b in rest.arrays.rows_i[:, [A, B]].tolist()]
    return LoadForms(
        loads,
        of_loads,
        of_parts,
        np.asarray(of_parts.any(axis=(1, 2))),
        np.array(table, dtype=np.int64),
        np.concatenate(blocks),
        shift,
        np.array(pair, dtype=np.int64),
        np.array(list(pairs), dtype=np.int64).reshape(-1, 2),
    )


def _flat(forms: Array) -> Array:
    """Return the symmetric part of matrices (k, w, w), row by row: (k, w²)."""
    return 0.5 * (forms + np.swapaxes(forms, 1, 2)).reshape(len(forms), -1)


def geometric_stiffnesses(rest: ElasticRest, X: Array, row_forces: Array) -> Array:
    """Return symmetric K_g (N, z, z) at poses X (N, bodies + 1, 12) with row forces λ (N, rows) at rest."""
    K = np.empty((len(X), rest.size, rest.size))
    compile_kernel(geometric_matrices, count=len(X))(rest.arrays, load_forms(rest), X, row_forces, K)
    return K
