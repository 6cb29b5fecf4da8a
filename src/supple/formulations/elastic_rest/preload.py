"""Stiffness of the forces that the mechanism carries at rest: gravity, applied forces, springs and all reactions.

With free actuators the mechanism is held by these alone. To second order in the displacements (eqs. 10-14a of
docs/theory/elastic-rest.md): rows with their forces λ give λ D²φ; a force on an arm of a rigid body follows that arm;
an elastic body carries its forces f in axes that follow its mean rotation ω,

    V₂ = Σ f·(-ω × u + ½ ω × (ω × X)) - ½ m·(ω × φ)

Forces that turn with their body, and moments, have no potential: what they give is not symmetric.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled
from supple.description.mass_properties import mass_properties
from supple.diagnostics import InputError
from supple.formulations.elastic_rest.constrained_modes import rows_at
from supple.formulations.elastic_rest.elastic_rest import BodyCoordinates, ElasticRest
from supple.formulations.elastic_rest.loads import Loads, NodalForce, input_rows, loads_at
from supple.formulations.elastic_rest.row_curvature import term_curvature
from supple.formulations.elastic_rest.rows import BODY, FIRST, WIDTH, part_poses
from supple.formulations.elastic_rest.static_response import static_response
from supple.formulations.elastic_rest.stiffness_tables import row_scale
from supple.geometry.rotation import skew
from supple.kinematics.configuration import Configuration
from supple.kinematics.primitives import NONE, A, B, gradient

Array = NDArray[np.float64]


def preload_stiffness(rest: ElasticRest, configuration: Configuration) -> Array:
    """K_g (n, n) at one configuration, its actuators holding it at rest with constant forces; the symmetric part."""
    K = rest_force_stiffness(rest, configuration)
    return 0.5 * (K + K.T)


def rest_force_stiffness(
    rest: ElasticRest, configuration: Configuration, inputs: Array | None = None, *, holding: bool = True
) -> Array:
    """K_g (n, n) with the part that has no potential.

    inputs  : forces of the actuators and then at the loaded `displacements`, none if left out
    holding : the actuators add to them what holds θ, of least norm. What is left unbalanced is held by constant forces
              along θ
    """
    loads = loads_at(rest, configuration)
    row_forces = row_forces_at_rest(rest, configuration, loads, inputs, holding=holding)
    K = np.zeros((rest.size, rest.size))
    poses = np.empty((len(rest.arrays.part_i) + 1, 12))
    compiled(part_poses, count=1)(rest.arrays, configuration.X, poses)
    H = np.zeros((12, 12))
    for row, force in row_forces.items():
        for term in rest.terms(row):
            compiled(term_curvature, count=1)(rest.arrays, term, poses, H)
            G = ends_of_term(rest, term)
            K += force * (G.T @ H @ G)
    wrenches = _part_wrenches(rest, poses, row_forces)
    for b, body in enumerate(rest.bodies):
        here = slice(body.start, body.stop)
        down = configuration.X[b, 3:].reshape(3, 3).T @ loads.gravity
        K[here, here] += _weight(rest, body, down)
        if body.mesh is not None:
            for part, (push, moment) in wrenches.get(b, {}).items():
                shapes, place = rest.arrays.shapes[part, :, : body.size], rest.arrays.part_x[part]
                K[here, here] += carried_stiffness(rest, body, shapes, place, push, moment)
        elif body.deflections:
            for part, (push, moment) in wrenches.get(b, {}).items():
                K[here, here] += motor_side_stiffness(rest, body, part, push, moment)
    for item in loads.nodal:
        body = rest.bodies[item.body]
        K[body.start : body.stop, body.start : body.stop] += _applied(rest, body, item)
    return K


def row_forces_at_rest(
    rest: ElasticRest, configuration: Configuration, loads: Loads, inputs: Array | None, *, holding: bool
) -> dict[int, float]:
    """λ of every row, θ locked, such that V + Σ λ φ is stationary; springs, drives and inputs act as -force."""
    forces = forces_at_rest(rest, configuration, loads)
    if not forces.any():  # also where nothing holds it, as a body that floats
        return {row: -force for row, force in loads.along.items()}
    try:
        every = static_response(rest, configuration.X[None], forces[None])[1][0]
    except InputError as error:
        raise InputError(
            "its loads move something that no joint, coordinate or spring holds, so that there are no forces at rest",
            part=f'mechanism "{rest.numbering.mechanism.name}"',
            hint="hold it, or leave out the stiffness of forces at rest: --no-preload (preload=False)",
        ) from error
    found = forces_of_rows(rest, loads, every, inputs, holding=holding) * row_scales(rest, configuration.X)
    return {row: force for row, force in enumerate(found.tolist()) if force}


def row_scales(rest: ElasticRest, X: Array) -> Array:
    """(rows,) s of rows whose stiffness follows a table, by which what acts along them is larger; else one."""
    found = np.ones(len(rest.arrays.rows_i))
    rows = np.flatnonzero(rest.arrays.tables.of_row != NONE)
    if len(rows):
        poses = np.empty((len(rest.arrays.part_i) + 1, 12))
        compiled(part_poses, count=1)(rest.arrays, X, poses)
        found[rows] = [compiled(row_scale, count=1)(rest.arrays, row, poses) for row in rows]
    return found


def pushed_rows(rest: ElasticRest) -> NDArray[np.int64]:
    """Rows that inputs push along; none where a force along a locked coordinate is that coordinate's multiplier."""
    pushed, first = input_rows(rest), rest.numbering.constraints
    theta = np.arange(first, first + len(rest.numbering.coordinates))
    return pushed[:0] if np.isin(pushed, theta).all() else pushed


def forces_at_rest(rest: ElasticRest, configuration: Configuration, loads: Loads) -> Array:
    """(1 + pushed rows, z): the loads together, then a unit of each input."""
    return np.vstack([loads.vector, rows_at(rest, pushed_rows(rest), configuration.X[None])[0]])


def forces_of_rows(rest: ElasticRest, loads: Loads, every: Array, inputs: Array | None, *, holding: bool) -> Array:
    """λ (rows,) from those of each of `forces_at_rest`, every (1 + pushed rows, rows), with the inputs that hold θ."""
    pushed, first = pushed_rows(rest), rest.numbering.constraints
    theta = np.arange(first, first + len(rest.numbering.coordinates))
    u = np.zeros(len(pushed)) if inputs is None or not len(pushed) else inputs.copy()
    if len(pushed) and holding:
        count = len(rest.numbering.mechanism.actuators)
        missing = every[0, theta] + u @ every[1:, theta]
        u[:count] -= np.linalg.lstsq(every[1 : 1 + count, theta].T, missing, rcond=None)[0]
    found = np.asarray(every[0] + u @ every[1:])
    for row, force in [*loads.along.items(), *zip(pushed.tolist(), u.tolist(), strict=True)]:
        found[row] -= force
    return found


def ends_of_term(rest: ElasticRest, term: int) -> Array:
    """G (12, n): displacements (u, φ) of both parts of a term over z."""
    G = np.zeros((12, rest.size))
    arrays = rest.arrays
    for side, p in enumerate(arrays.rows_i[term, [A, B]]):
        if p < len(arrays.part_i):
            first, width = arrays.part_i[p, [FIRST, WIDTH]]
            G[6 * side + arrays.column, first : first + width] = arrays.shapes[p, :, :width]
    return G


def _part_wrenches(
    rest: ElasticRest, poses: Array, row_forces: dict[int, float]
) -> dict[int, dict[int, tuple[Array, Array]]]:
    """Force and moment of the rows on every part, by body and part, in body axes; poses : of the parts."""
    arrays = rest.arrays
    wrenches: dict[int, dict[int, tuple[Array, Array]]] = {}
    g = np.empty(13)
    for row, force in row_forces.items():
        for term in rest.terms(row):
            compiled(gradient, count=1)(arrays.rows_i, arrays.rows_f, term, poses, g)
            for side, p in enumerate(arrays.rows_i[term, [A, B]].tolist()):
                if p < len(arrays.part_i):
                    on_body = wrenches.setdefault(int(arrays.part_i[p, BODY]), {})
                    push, moment = on_body.setdefault(p, (np.zeros(3), np.zeros(3)))
                    push -= force * g[1 + 6 * side : 4 + 6 * side]
                    moment -= force * g[4 + 6 * side : 7 + 6 * side]
    return wrenches


def motor_side_stiffness(rest: ElasticRest, body: BodyCoordinates, part: int, force: Array, moment: Array) -> Array:
    """A force and moment on one part of a rigid body that has drives; zero if the part is not a motor's side."""
    found = np.zeros((body.size, body.size))
    _, turn = in_space(rest, body.shapes)
    for drive in rest.drives.values():
        at = drive.column - body.start
        if 0 <= at < body.size and rest.arrays.shapes[part, :, at].any():
            found += drive.bend(force, moment, turn, np.eye(body.size)[at])
    return found


def in_space(rest: ElasticRest, shapes: Array) -> tuple[Array, Array]:
    """Translation (3, n) and rotation (3, n) of a node; in the plane some of their rows are zero."""
    whole = np.zeros((6, shapes.shape[1]))
    whole[rest.arrays.column] = shapes
    return whole[:3], whole[3:]


def mean_turn(rest: ElasticRest, body: BodyCoordinates) -> Array:
    """Ω (3, size): rotation of the axes that follow the body, (TᵀMT)⁻¹TᵀM z."""
    return in_space(rest, np.asarray(np.linalg.solve(body.rigid.T @ body.rigid, body.rigid.T), dtype=np.float64))[1]


def arm_form(force: Array, arm: Array) -> Array:
    """Q with ½ ωᵀQω = ½ force·(ω × (ω × arm))."""
    return 0.5 * (np.outer(force, arm) + np.outer(arm, force)) - (force @ arm) * np.eye(3)


def _weight(rest: ElasticRest, body: BodyCoordinates, down: Array) -> Array:
    """The weight of a body, `down` being gravity in its axes."""
    properties = mass_properties(rest.numbering.drawing)[body.name]
    Q = arm_form(properties.mass * down, properties.center)
    if body.mesh is None:
        _, turn = in_space(rest, body.shapes)
        return -turn.T @ Q @ turn
    assert body.condensed is not None
    turn = mean_turn(rest, body)
    to_condensed = body.to_condensed
    K = turn.T @ Q @ turn
    axes = (2,) if len(rest.arrays.column) == 3 else (0, 1, 2)
    translations = 2 if len(axes) == 1 else 3
    for i, axis in enumerate(axes):
        row = down[:translations] @ body.condensed.turning_rigid[i, :translations] @ to_condensed
        half = np.outer(turn[axis], row)
        K -= half + half.T
    return K


def carried_stiffness(
    rest: ElasticRest, body: BodyCoordinates, shapes: Array, place: Array, force: Array, moment: Array
) -> Array:
    """A force and moment that an elastic body carries at one of its nodes, in its axes."""
    shift, spin = in_space(rest, shapes)
    turn = mean_turn(rest, body)
    half = turn.T @ (skew(force) @ shift + 0.5 * skew(moment) @ spin)
    return half + half.T + turn.T @ arm_form(force, place) @ turn


def _applied(rest: ElasticRest, body: BodyCoordinates, item: NodalForce) -> Array:
    """An applied force on its arm from a node, and a moment: the change of both over z, and what an elastic body does
    with them."""
    shapes = body.of_node(item.node)
    shift, spin = in_space(rest, shapes)
    about = item.moment + np.cross(item.arm, item.force)
    K = np.zeros((body.size, body.size))
    if body.mesh is not None:
        K += carried_stiffness(rest, body, shapes, body.mesh.nodes[item.node], item.force, about)
    if item.follows:
        turn = spin if body.mesh is None else mean_turn(rest, body)
        K += shift.T @ skew(item.force) @ turn + spin.T @ skew(about) @ (turn - 0.5 * spin)
    else:  # it keeps its direction while its arm turns with the node
        K -= spin.T @ (arm_form(item.force, item.arm) + 0.5 * skew(item.moment)) @ spin
    return K
