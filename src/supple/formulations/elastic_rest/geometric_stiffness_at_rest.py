"""Geometric stiffness of inertia and of loads at rest, with θ fixed.

It is the work of all internal forces and reactions along displacements of second order, and linear in the load
(docs/theory/stiffening.md, eqs. 7-12).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.description.mass_properties import mass_properties
from supple.formulations.elastic.geometric_stiffness import Acceleration
from supple.formulations.elastic.geometric_stiffness import body_load_stiffness as beam_stiffness
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.joint_stiffness_over_position import row_scale
from supple.formulations.elastic_rest.loads import NodalForce
from supple.formulations.elastic_rest.rows import BODY, FIRST, WIDTH, part_poses
from supple.geometry.rotation import tilde
from supple.geometry.vectors import cross, dot
from supple.kinematics.primitives import NONE, A, B, curvature, gradient

# Second derivatives of one term of a row with respect to displacements of its two parts.
#
# A part's displacement is (u, φ): a translation u in fixed axes (those of its body, undeformed) and a rotation exp φ.


@kernel
def term_curvature(rest, term, poses, H):
    """Write D²φ over (u_a, φ_a, u_b, φ_b), all in the axes of their parts, to H (12, 12) [eq. 11].

    `curvature` keeps twists constant in axes that rotate with the part; there ẍ = ω × v and ∂_k differs from ∂_j by a
    bracket. Without both:  D²_jk = h_jk - φ_v·(ω_k × v_j) + ½ φ_ω·(ω_j × ω_k) for k >= j.
    """
    X = np.empty((2, 12))
    X[0], X[1] = poses[rest.rows_i[term, A]], poses[rest.rows_i[term, B]]
    one_i = rest.rows_i[term : term + 1].copy()
    one_i[0, A], one_i[0, B] = 0, 1
    one_f = rest.rows_f[term : term + 1]
    twists = np.zeros((2, 12, 6))
    for side in range(2):
        for half in range(2):
            for c in range(3):
                for r in range(3):  # a column of R: the unit vector c of the part, in the world
                    twists[side, 6 * side + 3 * half + c, 3 * half + r] = X[side, 3 + 3 * r + c]
    g = np.empty(13)
    gradient(one_i, one_f, 0, X, g)
    curvature(one_i, one_f, 0, X, twists, 12, np.empty((24, 13)), H)
    unit = np.eye(3)
    for at in (0, 6):
        along = (g[1 + at], g[2 + at], g[3 + at])
        about = (g[4 + at], g[5 + at], g[6 + at])
        for k in range(3):
            for j in range(3):
                turned = cross(unit[k], unit[j])
                H[at + j, at + 3 + k] -= dot(along, turned)
                if k >= j:
                    H[at + 3 + j, at + 3 + k] -= 0.5 * dot(about, turned)
    for j in range(12):
        for k in range(j):
            H[j, k] = H[k, j]


# What a turn of a body's frame does to its displacements, as momentum and as kinetic energy, over z.
#
#     W_k (u, φ) = (e_k × u, e_k × φ) of every point that has mass;   ΦᵀMW_kΦ and ΦᵀW_kᵀMW_lΦ
#
# A rigid body's mass is at its centre c, which moves by u + φ × c; counted from the body's origin its turn is (e_k × u
# + φ × (e_k × c), e_k × φ) (docs/theory/parameterization.md, eq. 17).


def compute_turning(rest: ElasticRest, body: BodyCoordinates) -> Array:
    """Return ΦᵀMW_kΦ in z, (axes, size, size)."""
    if body.condensed is not None:
        T = body.to_condensed
        return np.array([T.T @ axis @ T for axis in body.condensed.turning])
    M = body.rigid.T @ body.rigid
    return np.array([body.shapes.T @ M @ W @ body.shapes for W in _turns(rest, M)])


def compute_double_turning(rest: ElasticRest, body: BodyCoordinates) -> Array:
    """Return ΦᵀW_kᵀMW_lΦ in z, (axes, axes, size, size)."""
    if body.condensed is not None:
        T, axes = body.to_condensed, len(body.condensed.turning)
        found = np.empty((axes, axes, body.size, body.size))
        pairs = combinations_with_replacement(range(axes), 2)
        for (j, k), matrix in zip(pairs, body.condensed.turned, strict=True):
            found[j, k] = T.T @ matrix @ T
            found[k, j] = found[j, k].T
        return found
    M = body.rigid.T @ body.rigid
    turned = [W @ body.shapes for W in _turns(rest, M)]
    return np.array([[one.T @ M @ other for other in turned] for one in turned])


def _turns(rest: ElasticRest, M: Array) -> list[Array]:
    """Return W_k of a rigid body whose twist about its origin has the mass matrix M (d, d)."""
    column = rest.arrays.column
    center = _center(M)
    found = []
    for axis in (2,) if len(column) == 3 else (0, 1, 2):
        W = np.zeros((6, 6))
        W[:3, :3] = W[3:, 3:] = tilde(np.eye(3)[axis])
        W[:3, 3:] = -tilde(np.cross(np.eye(3)[axis], center))
        found.append(W[np.ix_(column, column)])
    return found


def _center(M: Array) -> Array:
    """Return the centre of mass from the mass matrix (d, d) of a body's twist."""
    if len(M) == 3:
        return np.array([M[2, 1], -M[2, 0], 0.0]) / M[0, 0]
    return np.array([M[5, 1], M[3, 2], M[4, 0]]) / M[0, 0]


# Geometric stiffness.
#
# A body that is accelerated with v̇ + ω̇ × X + ω × (ω × X) carries -M times that, and the forces that its rows exert on
# it. For each unit of these its internal forces, and their geometric stiffness over z, are constants. Rows add their
# curvature, Σ λ GᵀD²φ G.


class BodyPatterns(NamedTuple):
    """Load patterns of one body for unit accelerations, (v̇, ω̇, ω_kω_l), k before l, d + axes² of them, and unit forces.

    loads         : (d + axes², size) -M times the acceleration, over z
    accelerations : (d + axes², size, size) K_g over z of these loads
    motions       : (size, size, size) K_g over z of the inertia of unit second derivatives of z
    wrenches      : by node, (6, size, size) of forces and moments there
    """

    loads: Array
    accelerations: Array
    motions: Array
    wrenches: dict[int, Array]


class CarriedLoads(NamedTuple):
    """Several loads on a mechanism at one configuration.

    accelerations : (loads, bodies, d + axes²) of the bodies' frames; gravity is -g
    motions       : (loads, z) second derivatives of z
    row_forces    : (loads, rows) λ of all rows, so that V + Σ λ φ is stationary
    nodal         : forces at points, of the first load only
    """

    accelerations: Array
    motions: Array
    row_forces: Array
    nodal: list[NodalForce]


def body_patterns(rest: ElasticRest) -> tuple[BodyPatterns, ...]:
    """Return the load patterns of all bodies, computed once."""
    key = f"load patterns {rest.band} {list(rest.displacements)}"
    return rest.numbering.mechanism.compute_once(key, lambda: tuple(_patterns(rest, body) for body in rest.bodies))


def _patterns(rest: ElasticRest, body: BodyCoordinates) -> BodyPatterns:
    if body.mesh is None:
        return _rigid_patterns(rest, body)
    turning = compute_turning(rest, body)
    axes = len(turning)
    rotations = body.rigid[:, -axes:]
    turned = np.einsum("kzy,yl->klz", turning, rotations)
    products = 0.5 * (turned + np.swapaxes(turned, 0, 1)).reshape(axes * axes, -1)
    loads = -np.vstack([body.rigid.T, products])
    if not len(body.mesh.elements):
        return _superelement_patterns(rest, body, loads)
    mesh = body.mesh
    T = mesh.rigid_motions()
    swept = np.array([(turning @ T[:, -axes:]).T for turning in mesh.turning])
    swept = 0.5 * (swept + np.swapaxes(swept, 0, 1))
    fields = [*(mesh.M @ T).T, *swept.reshape(axes * axes, -1)]
    nodes = mesh.interface
    pushes = np.zeros((mesh.size, len(nodes) * mesh.width))
    for i, node in enumerate(nodes):
        pushes[mesh.columns(node), i * mesh.width + np.arange(mesh.width)] = 1.0
    count, own = len(fields), _accelerations(axes)
    every = np.column_stack([-np.array(fields).T, -(mesh.M @ body.shapes), pushes])
    K = beam_stiffness(rest.numbering.drawing, mesh, every, own, body.shapes, body.shapes)
    K[: count + body.size] += _on_arms(rest, body, own)
    motions, K = K[count : count + body.size], np.delete(K, np.s_[count : count + body.size], axis=0)
    wrenches = {}
    for i, node in enumerate(nodes):
        wrenches[node] = np.zeros((6, body.size, body.size))
        wrenches[node][rest.arrays.column] = K[count + i * mesh.width : count + (i + 1) * mesh.width]
    return BodyPatterns(loads, K[:count], motions, wrenches)


def _on_arms(rest: ElasticRest, body: BodyCoordinates, accelerations: list[Acceleration]) -> Array:
    """Return K_g of the inertia of parts that beams carry on arms, which rotate with their nodes.

    The array (accelerations + size, size, size) is for the accelerations, followed by z.
    """
    assert body.mesh is not None
    found = np.zeros((len(accelerations) + body.size, body.size, body.size))
    for part in body.mesh.parts:
        if part.mass and part.arm.any():
            shift, spin = in_space(rest, body.of_node(part.node))
            place = body.mesh.nodes[part.node] + part.arm
            fields = [one.shift + one.turn @ place for one in accelerations]
            fields += [*(shift - tilde(part.arm) @ spin).T]
            found += np.array([spin.T @ arm_form(part.mass * field, part.arm) @ spin for field in fields])
    return found


def _accelerations(axes: int) -> list[Acceleration]:
    """Return unit accelerations (v̇, ω̇, ω_kω_l), in space or in the plane."""
    still, unit = np.zeros((3, 3)), np.eye(3)
    turns = [tilde(e) for e in unit[3 - axes :]]
    return [
        *(Acceleration(e, still) for e in unit[: 2 if axes == 1 else 3]),
        *(Acceleration(np.zeros(3), turn) for turn in turns),
        *(Acceleration(np.zeros(3), 0.5 * (j @ k + k @ j)) for j in turns for k in turns),
    ]


def _rigid_patterns(rest: ElasticRest, body: BodyCoordinates) -> BodyPatterns:
    """Return the patterns of a rigid body: a force at the centre, on its arm from the origin, and -(J ω̇ + ω × J ω)."""
    column = rest.arrays.column
    axes = 1 if len(column) == 3 else 3
    own = mass_properties(rest.numbering.drawing)[body.name]
    shift, turn = in_space(rest, body.shapes)
    unit = np.eye(3)[3 - axes :]
    loads = [-row for row in body.rigid.T]
    fields = [one.shift + one.turn @ own.center for one in _accelerations(axes)]
    for (j, k), moved in zip(product(unit, unit), fields[len(column) :], strict=True):
        moment = 0.5 * (np.cross(j, own.inertia @ k) + np.cross(k, own.inertia @ j))
        moment = moment + np.cross(own.center, own.mass * moved)
        loads.append(-(own.mass * moved @ shift + moment @ turn))
    K = np.array([turn.T @ arm_form(own.mass * field, own.center) @ turn for field in fields])
    motions = np.tensordot(body.shapes.T, K[: len(column)], 1)
    return BodyPatterns(np.array(loads), K, motions, {})


def _superelement_patterns(rest: ElasticRest, body: BodyCoordinates, loads: Array) -> BodyPatterns:
    """Return the patterns of a superelement in axes that follow its mean rotation; internal strain is unknown."""
    assert body.mesh is not None
    turning, twice = compute_turning(rest, body), compute_double_turning(rest, body)
    axes = len(turning)
    mean = mean_turn(rest, body)[3 - axes :]
    rotations = body.rigid[:, -axes:]
    momenta = [*np.einsum("zc,kzy->cky", body.rigid, turning)]  # aᵀM W_k over z, of each field a
    swept = np.einsum("zl,mkzy->mlky", rotations, twice)
    momenta += [*(0.5 * (swept + np.swapaxes(swept, 0, 1))).reshape(axes * axes, axes, -1)]
    momenta += [*np.moveaxis(turning, 0, 1)]
    K = []
    for row in momenta:
        half = mean.T @ row
        Q = row @ rotations
        K.append(half + half.T - mean.T @ (0.5 * (Q + Q.T)) @ mean)
    wrenches = {}
    for node in body.mesh.interface:
        shapes, place = body.of_node(node), body.mesh.nodes[node]
        units = [(np.eye(3)[c], np.zeros(3)) for c in range(3)] + [(np.zeros(3), np.eye(3)[c]) for c in range(3)]
        wrenches[node] = np.array([carried_stiffness(rest, body, shapes, place, *unit) for unit in units])
    return BodyPatterns(loads, np.array(K[: -body.size]), np.array(K[-body.size :]), wrenches)


def inertia_loads(rest: ElasticRest, accelerations: Array, motions: Array) -> Array:
    """Return -M times accelerations (loads, bodies, d + axes²) of frames and (loads, z) of z: (loads, z)."""
    f = -motions
    for b, (body, patterns) in enumerate(zip(rest.bodies, body_patterns(rest), strict=True)):
        f[:, body.start : body.stop] += accelerations[:, b] @ patterns.loads
    return f


def load_stiffness(rest: ElasticRest, X: Array, loads: CarriedLoads, modes: Array, *, potential: bool = True) -> Array:
    """Return K_g (loads, n, n) over n modes (n, z), at poses X (bodies + 1, 12).

    potential : only the symmetric part; otherwise with applied moments and follower forces
    """
    count, n = len(loads.row_forces), len(modes)
    poses = np.empty((len(rest.arrays.part_i) + 1, 12))
    compile_kernel(part_poses, count=1)(rest.arrays, X, poses)
    K = np.zeros((count, n, n))
    wrenches = np.zeros((count, len(rest.arrays.part_i) + 1, 6))
    H, g = np.zeros((12, 12)), np.empty(13)
    curve, slope = compile_kernel(term_curvature, count=1), compile_kernel(gradient, count=1)
    scales = row_scales(rest, X)
    for row in np.flatnonzero(loads.row_forces.any(axis=0)).tolist():
        force = loads.row_forces[:, row] * scales[row]
        for term in rest.terms(row):
            curve(rest.arrays, term, poses, H)
            moved = ends_of_term(rest, term) @ modes.T
            K += force[:, None, None] * (moved.T @ H @ moved)
            slope(rest.arrays.rows_i, rest.arrays.rows_f, term, poses, g)
            for side, part in enumerate(rest.arrays.rows_i[term, [A, B]].tolist()):
                wrenches[:, part] -= force[:, None] * g[1 + 6 * side : 7 + 6 * side]
    for b, (body, patterns) in enumerate(zip(rest.bodies, body_patterns(rest), strict=True)):
        here = modes[:, body.start : body.stop]
        K += np.tensordot(loads.accelerations[:, b], here @ patterns.accelerations @ here.T, 1)
        own = loads.motions[:, body.start : body.stop]
        if own.any():
            K += np.tensordot(own, here @ patterns.motions @ here.T, 1)
    for part, (b, first, width) in enumerate(rest.arrays.part_i[:, [BODY, FIRST, WIDTH]].tolist()):
        if wrenches[:, part].any():
            here = modes[:, first : first + width]
            K += np.tensordot(wrenches[:, part], part_forms(rest, b, part, here), 1)
    for item in loads.nodal:
        body = rest.bodies[item.body]
        here = modes[:, body.start : body.stop]
        form = applied_form(rest, item)
        K[0] += here @ (0.5 * (form + form.T) if potential else form) @ here.T
    return K


def part_forms(rest: ElasticRest, b: int, part: int, modes: Array) -> Array:
    """Return twice the work of unit forces and moments on a part, over modes (n, size) of its body: (6, n, n)."""
    body, at = rest.bodies[b], rest.arrays.part_x[part]
    n = len(modes)
    found = np.zeros((6, n, n))
    if body.mesh is not None:
        node = int(np.argmin(np.linalg.norm(body.mesh.nodes[list(body.mesh.interface)] - at, axis=1)))
        found += modes @ body_patterns(rest)[b].wrenches[body.mesh.interface[node]] @ modes.T
    for drive in rest.drives.values():
        column = drive.column - body.start
        if 0 <= column < body.size and rest.arrays.shapes[part, :, column].any():
            seen = drive if body.mesh is None else replace(drive, place=drive.place - at)
            shapes = rest.arrays.shapes[part, :, : body.size] * (np.arange(body.size) != column)
            turn, unit, axes = in_space(rest, shapes)[1], np.eye(body.size)[column], np.eye(3)
            for c in range(3):
                found[c] += modes @ seen.bend(axes[c], np.zeros(3), turn, unit) @ modes.T
                found[3 + c] += modes @ seen.bend(np.zeros(3), axes[c], turn, unit) @ modes.T
    return found


def applied_form(rest: ElasticRest, item: NodalForce) -> Array:
    """Return the form (size, size) of a force on its arm from a node and a moment.

    It contains the change of both over z, and the response of the body.
    """
    body = rest.bodies[item.body]
    shift, spin = in_space(rest, body.of_node(item.node))
    about = item.moment + np.cross(item.arm, item.force)
    K = np.zeros((body.size, body.size))
    if body.mesh is not None:
        carried = body_patterns(rest)[item.body].wrenches[item.node]
        K += np.tensordot(np.concatenate([item.force, about]), carried, 1)
    if item.follows:
        turn = spin if body.mesh is None else mean_turn(rest, body)
        K += shift.T @ tilde(item.force) @ turn + spin.T @ tilde(about) @ (turn - 0.5 * spin)
    else:  # it keeps its direction while its arm turns with the node
        K -= spin.T @ (arm_form(item.force, item.arm) + 0.5 * tilde(item.moment)) @ spin
    return K


def row_scales(rest: ElasticRest, X: Array) -> Array:
    """Return the scale s (rows,) of rows with a stiffness table, the factor of forces along them; otherwise one."""
    found = np.ones(len(rest.arrays.rows_i))
    rows = np.flatnonzero(rest.arrays.tables.of_row != NONE)
    if len(rows):
        poses = np.empty((len(rest.arrays.part_i) + 1, 12))
        compile_kernel(part_poses, count=1)(rest.arrays, X, poses)
        found[rows] = [compile_kernel(row_scale, count=1)(rest.arrays, row, poses) for row in rows]
    return found


def ends_of_term(rest: ElasticRest, term: int) -> Array:
    """Return G (12, n): displacements (u, φ) of both parts of a term over z."""
    G = np.zeros((12, rest.size))
    arrays = rest.arrays
    for side, p in enumerate(arrays.rows_i[term, [A, B]]):
        if p < len(arrays.part_i):
            first, width = arrays.part_i[p, [FIRST, WIDTH]]
            G[6 * side + arrays.column, first : first + width] = arrays.shapes[p, :, :width]
    return G


def in_space(rest: ElasticRest, shapes: Array) -> tuple[Array, Array]:
    """Return translation (3, n) and rotation (3, n) of a node; in the plane some of their rows are zero."""
    whole = np.zeros((6, shapes.shape[1]))
    whole[rest.arrays.column] = shapes
    return whole[:3], whole[3:]


def mean_turn(rest: ElasticRest, body: BodyCoordinates) -> Array:
    """Return Ω (3, size): rotation of the axes that follow the body, (TᵀMT)⁻¹TᵀM z."""
    return in_space(rest, np.asarray(np.linalg.solve(body.rigid.T @ body.rigid, body.rigid.T), dtype=np.float64))[1]


def arm_form(force: Array, arm: Array) -> Array:
    """Return Q with ½ ωᵀQω = ½ force·(ω × (ω × arm))."""
    return 0.5 * (np.outer(force, arm) + np.outer(arm, force)) - (force @ arm) * np.eye(3)


def carried_stiffness(
    rest: ElasticRest, body: BodyCoordinates, shapes: Array, place: Array, force: Array, moment: Array
) -> Array:
    """Return the stiffness of a force and moment on a node of an elastic body, in its axes."""
    shift, spin = in_space(rest, shapes)
    turn = mean_turn(rest, body)
    half = turn.T @ (tilde(force) @ shift + 0.5 * tilde(moment) @ spin)
    return half + half.T + turn.T @ arm_form(force, place) @ turn
