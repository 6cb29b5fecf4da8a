"""Forces on the mechanism at one configuration, over the coordinates z: gravity, applied forces, springs, drives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.formulations.coefficients import ACTUATOR, NUMBER, ROLE, along_measure, carried
from supple.formulations.elastic_rest.constrained_modes import rows_at
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest as undeformed

Array = NDArray[np.float64]


class NodalForce(NamedTuple):
    """A force and a moment on a node of a body, in body axes; arm: from the node to where the force acts. It turns with
    the body, or keeps its direction in the world."""

    body: int
    node: int
    force: Array
    moment: Array
    arm: Array
    follows: bool


class Loads(NamedTuple):
    """f (n,) over z, and what it is made of: gravity in the world, nodal forces, forces along measures by row."""

    vector: Array
    gravity: Array
    nodal: list[NodalForce]
    along: dict[int, float]


def loads_at(rest: ElasticRest, configuration: Configuration) -> Loads:
    """All loads at one configuration (not a batch)."""
    numbering, X = rest.numbering, configuration.X
    mechanism = numbering.mechanism
    f = np.zeros(rest.size)
    gravity = np.zeros(3)
    translations = numbering.arrays.column < 3
    if mechanism.gravity is not None:
        gravity = numbering.drawing.vector(mechanism.gravity, ("gravity",), "gravity")
        for b, body in enumerate(rest.bodies):
            down = X[b, 3:].reshape(3, 3).T @ gravity
            f[body.start : body.stop] += body.rigid[:, translations] @ down[: int(translations.sum())]
    nodal = _applied(rest, X)
    for item in nodal:
        body = rest.bodies[item.body]
        wrench = np.concatenate([item.force, item.moment + np.cross(item.arm, item.force)])
        f[body.start : body.stop] += body.of_node(item.node).T @ wrench[numbering.arrays.column]
    along = _along_measures(rest, configuration)
    rows = np.array(list(along), dtype=np.int64)
    f += np.array(list(along.values())) @ rows_at(rest, rows, X[None])[0]
    return Loads(f, gravity, nodal, along)


def _applied(rest: ElasticRest, X: Array) -> list[NodalForce]:
    """Forces and moments at places; gravity, which `carried` lists first, is not among them."""
    arrays = carried(undeformed(rest.numbering.mechanism)).arrays
    first = len(rest.bodies) if rest.numbering.mechanism.gravity is not None else 0
    found = []
    for (b, follows), row in zip(arrays.loads_i[first:].tolist(), arrays.loads_f[first:], strict=True):
        if b == len(rest.bodies):
            continue  # on the ground
        turn = np.eye(3) if follows else X[b, 3:].reshape(3, 3).T
        node, place = rest.bodies[b].node_at(row[:3])
        found.append(NodalForce(b, node, turn @ row[3:6], turn @ row[6:9], row[:3] - place, bool(follows)))
    return found


def _along_measures(rest: ElasticRest, configuration: Configuration) -> dict[int, float]:
    """Force along each measure that a spring (as it is stretched without deformation) or a drive acts along."""
    arrays = carried(undeformed(rest.numbering.mechanism)).arrays
    first = rest.numbering.constraints
    forces = {
        first + measure: along_measure(arrays, measure, configuration.w[measure]).force
        for measure in range(len(arrays.uses_start) - 1)
    }
    return {row: force for row, force in forces.items() if force}


def input_rows(rest: ElasticRest) -> NDArray[np.int64]:
    """Rows that inputs act along: of the actuators, then of the loaded displacements."""
    arrays = carried(undeformed(rest.numbering.mechanism)).arrays
    measured = np.repeat(np.arange(len(arrays.uses_start) - 1), np.diff(arrays.uses_start))
    driven = arrays.uses_i[:, ROLE] == ACTUATOR
    rows = np.empty(len(rest.numbering.mechanism.actuators), dtype=np.int64)
    rows[arrays.uses_i[driven, NUMBER]] = rest.numbering.constraints + measured[driven]
    return np.concatenate([rows, np.array(list(rest.displacements.values()), dtype=np.int64)])
