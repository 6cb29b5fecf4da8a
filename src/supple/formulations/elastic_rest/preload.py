"""Stiffness of the forces that the mechanism carries at rest: gravity, applied forces, springs and all reactions.

With free actuators the mechanism is held by these alone. To second order in the displacements (eqs. 10-14 of
docs/theory/elastic-rest.md): rows with their forces λ give λ D²φ; a force on an arm of a rigid body follows that arm;
an elastic body carries its forces f in axes that follow its mean rotation ω,

    V₂ = Σ f·(-ω × u + ½ ω × (ω × X)) - ½ m·(ω × φ)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled
from supple.description.mass_properties import mass_properties
from supple.formulations.elastic_rest.elastic_rest import BodyCoordinates, ElasticRest
from supple.formulations.elastic_rest.loads import Loads, loads_at
from supple.formulations.elastic_rest.row_curvature import row_curvature
from supple.formulations.elastic_rest.rows import part_poses
from supple.formulations.elastic_rest.static_response import static_response
from supple.geometry.rotation import skew
from supple.kinematics.configuration import Configuration

Array = NDArray[np.float64]


def preload_stiffness(rest: ElasticRest, configuration: Configuration) -> Array:
    """K_g (n, n) at one configuration, its actuators holding it at rest with constant forces."""
    loads = loads_at(rest, configuration)
    row_forces = _row_forces(rest, configuration, loads)
    K = np.zeros((rest.size, rest.size))
    parts = len(rest.arrays.part_i)
    poses = np.empty((parts + 1, 12))
    compiled(part_poses)(rest.arrays.part_i, rest.arrays.part_x, configuration.X, poses)
    H = np.zeros((12, 12))
    for row, force in row_forces.items():
        compiled(row_curvature)(rest.arrays.rows_i, rest.arrays.rows_f, row, poses, H)
        G = _ends(rest, row)
        K += force * (G.T @ H @ G)
    wrenches = _part_wrenches(rest, configuration, row_forces, loads)
    for b, body in enumerate(rest.bodies):
        here = slice(body.start, body.stop)
        down = configuration.X[b, 3:].reshape(3, 3).T @ loads.gravity
        K[here, here] += _weight(rest, body, down)
        if body.mesh is not None:
            for part, (push, moment) in wrenches.get(b, {}).items():
                K[here, here] += _carried(rest, body, part, push, moment)
        elif body.deflections:
            for part, (push, moment) in wrenches.get(b, {}).items():
                K[here, here] += _on_motor_sides(rest, body, part, push, moment)
    for item in loads.nodal:  # a force keeps its direction while its arm turns with the node
        body = rest.bodies[item.body]
        _, turn = _full(rest, body.of_node(item.node))
        K[body.start : body.stop, body.start : body.stop] -= turn.T @ _arm(item.force, item.arm) @ turn
    return 0.5 * (K + K.T)


def _row_forces(rest: ElasticRest, configuration: Configuration, loads: Loads) -> dict[int, float]:
    """λ of every row, actuators locked, such that V + Σ λ φ is stationary; springs and drives act as -force."""
    _, multipliers = static_response(rest, configuration.X[None], loads.vector[None, None])
    found = {row: force for row, force in enumerate(multipliers[0, 0].tolist()) if force}
    for row, force in loads.along.items():
        found[row] = found.get(row, 0.0) - force
    return found


def _ends(rest: ElasticRest, row: int) -> Array:
    """G (12, n): displacements (u, φ) of both parts of a row over z."""
    G = np.zeros((12, rest.size))
    arrays = rest.arrays
    for side in range(2):
        p = arrays.rows_i[row, 1 + side]
        if p < len(arrays.part_i):
            _, first, width = arrays.part_i[p]
            G[6 * side + arrays.column, first : first + width] = arrays.shapes[p, :, :width]
    return G


def _part_wrenches(
    rest: ElasticRest, configuration: Configuration, row_forces: dict[int, float], loads: Loads
) -> dict[int, dict[int, tuple[Array, Array]]]:
    """Force and moment on every part, by body and part, in body axes: reactions of rows and applied forces."""
    from supple.kinematics.primitives import gradient

    arrays = rest.arrays
    poses = np.empty((len(arrays.part_i) + 1, 12))
    compiled(part_poses)(arrays.part_i, arrays.part_x, configuration.X, poses)
    found: dict[int, dict[int, tuple[Array, Array]]] = {}
    g = np.empty(13)
    for row, force in row_forces.items():
        compiled(gradient)(arrays.rows_i, arrays.rows_f, row, poses, g)
        for side in range(2):
            p = int(arrays.rows_i[row, 1 + side])
            if p < len(arrays.part_i):
                at = found.setdefault(int(arrays.part_i[p, 0]), {}).setdefault(p, (np.zeros(3), np.zeros(3)))
                at[0][:] -= force * g[1 + 6 * side : 4 + 6 * side]
                at[1][:] -= force * g[4 + 6 * side : 7 + 6 * side]
    return found


def _on_motor_sides(rest: ElasticRest, body: BodyCoordinates, part: int, force: Array, moment: Array) -> Array:
    """A force and moment on one part of a rigid body that has drives; zero if the part is not a motor's side."""
    found = np.zeros((body.size, body.size))
    _, turn = _full(rest, body.shapes)
    for drive in rest.drives.values():
        at = drive.column - body.start
        if 0 <= at < body.size and rest.arrays.shapes[part, :, at].any():
            found += drive.bend(force, moment, turn, np.eye(body.size)[at])
    return found


def _full(rest: ElasticRest, shapes: Array) -> tuple[Array, Array]:
    """Translation (3, n) and rotation (3, n) of a node; in the plane some of their rows are zero."""
    whole = np.zeros((6, shapes.shape[1]))
    whole[rest.arrays.column] = shapes
    return whole[:3], whole[3:]


def _mean_turn(rest: ElasticRest, body: BodyCoordinates) -> Array:
    """Ω (3, size): rotation of the axes that follow the body, (TᵀMT)⁻¹TᵀM z."""
    return _full(rest, np.asarray(np.linalg.solve(body.rigid.T @ body.rigid, body.rigid.T), dtype=np.float64))[1]


def _arm(force: Array, arm: Array) -> Array:
    """Q with ½ ωᵀQω = ½ force·(ω × (ω × arm))."""
    return 0.5 * (np.outer(force, arm) + np.outer(arm, force)) - (force @ arm) * np.eye(3)


def _weight(rest: ElasticRest, body: BodyCoordinates, down: Array) -> Array:
    """The weight of a body, `down` being gravity in its axes."""
    properties = mass_properties(rest.numbering.drawing)[body.name]
    Q = _arm(properties.mass * down, properties.center)
    if body.mesh is None:
        _, turn = _full(rest, body.shapes)
        return -turn.T @ Q @ turn
    assert body.condensed is not None
    turn = _mean_turn(rest, body)
    to_condensed = body.to_condensed
    K = turn.T @ Q @ turn
    axes = (2,) if len(rest.arrays.column) == 3 else (0, 1, 2)
    translations = 2 if len(axes) == 1 else 3
    for i, axis in enumerate(axes):
        row = down[:translations] @ body.condensed.turning_rigid[i, :translations] @ to_condensed
        half = np.outer(turn[axis], row)
        K -= half + half.T
    return K


def _carried(rest: ElasticRest, body: BodyCoordinates, part: int, force: Array, moment: Array) -> Array:
    """A force and moment on one part of an elastic body, in its axes."""
    shift, spin = _full(rest, rest.arrays.shapes[part, :, : body.size])
    turn = _mean_turn(rest, body)
    half = turn.T @ (skew(force) @ shift + 0.5 * skew(moment) @ spin)
    return half + half.T + turn.T @ _arm(force, rest.arrays.part_x[part]) @ turn
