"""Forces on the mechanism over the coordinates z: gravity, applied forces, springs and drives."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.description.force_model import CONSTANT
from supple.description.mechanism import Mechanism
from supple.formulations.coefficients import (
    ACTUATOR,
    LAW,
    NUMBER,
    ROLE,
    along_measure,
    get_coefficients,
    measure_of_use,
)
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.rows import BODY, FIRST, WIDTH
from supple.geometry.rotation import tilde
from supple.geometry.vectors import cross
from supple.kinematics.configuration import Configuration
from supple.kinematics.primitives import in_body
from supple.kinematics.rest import rest as undeformed

# Loads at one configuration, by kind, and forces along measures at many.


class NodalForce(NamedTuple):
    """A force and a moment on a node of a body, in body axes; arm: from the node to the point of the force.

    It rotates with the body, or keeps its direction in the world.
    """

    body: int
    node: int
    force: Array
    moment: Array
    arm: Array
    follows: bool


class Loads(NamedTuple):
    """Forces f (n,) over z with their parts: gravity in world axes, nodal forces, forces along measures by row."""

    vector: Array
    gravity: Array
    nodal: list[NodalForce]
    along: dict[int, float]


GRAVITY, FORCES, SPRINGS = EVERY = ("gravity", "forces", "springs")


def loads_at(rest: ElasticRest, configuration: Configuration, kinds: Collection[str] = EVERY) -> Loads:
    """Return all loads at one configuration (not a batch), or those of some kinds.

    The kinds are gravity, applied forces, and springs with their stretch without deformation.
    """
    numbering, X = rest.numbering, configuration.X
    mechanism = numbering.mechanism
    f = np.zeros(rest.size)
    gravity = np.zeros(3)
    translations = numbering.arrays.column < 3
    if mechanism.gravity is not None and GRAVITY in kinds:
        gravity = numbering.drawing.vector(mechanism.gravity, ("gravity",), "gravity")
        for b, body in enumerate(rest.bodies):
            down = X[b, 3:].reshape(3, 3).T @ gravity
            f[body.start : body.stop] += body.rigid[:, translations] @ down[: int(translations.sum())]
    nodal = applied_forces(rest, X) if FORCES in kinds else []
    for item in nodal:
        body = rest.bodies[item.body]
        wrench = np.concatenate([item.force, item.moment + np.cross(item.arm, item.force)])
        f[body.start : body.stop] += body.of_node(item.node).T @ wrench[numbering.arrays.column]
    along = _along_measures(rest, configuration, kinds)
    rows = np.array(list(along), dtype=np.int64)
    f += np.array(list(along.values())) @ rows_over_coordinates(rest, rows, X[None])[0]
    return Loads(f, gravity, nodal, along)


def applied_forces(rest: ElasticRest, X: Array) -> list[NodalForce]:
    """Return forces and moments at points, without gravity, which `carried` lists first."""
    arrays = get_coefficients(undeformed(rest.numbering.mechanism)).arrays
    first = len(rest.bodies) if rest.numbering.mechanism.gravity is not None else 0
    found = []
    for (b, follows), row in zip(arrays.loads_i[first:].tolist(), arrays.loads_f[first:], strict=True):
        if b == len(rest.bodies):
            continue  # on the ground
        turn = np.eye(3) if follows else X[b, 3:].reshape(3, 3).T
        node, place = rest.bodies[b].node_at(row[:3])
        found.append(NodalForce(b, node, turn @ row[3:6], turn @ row[6:9], row[:3] - place, bool(follows)))
    return found


def _along_measures(rest: ElasticRest, configuration: Configuration, kinds: Collection[str]) -> dict[int, float]:
    """Return the force along each measure with a constant force, or with a spring, stretched without deformation."""
    arrays = get_coefficients(undeformed(rest.numbering.mechanism)).arrays
    first, found = rest.numbering.constraints, {}
    for measure in measures_acted_along(rest):
        length = configuration.w[measure]
        constant = along_measure(arrays, measure, length, only=CONSTANT).force
        force = constant if FORCES in kinds else 0.0
        if SPRINGS in kinds:
            force += along_measure(arrays, measure, length).force - constant
        if force:
            found[first + measure] = force
    return found


def measures_acted_along(rest: ElasticRest) -> list[int]:
    """Return the measures with a force model, computed once."""
    mechanism = rest.numbering.mechanism

    def find() -> list[int]:
        arrays = get_coefficients(undeformed(mechanism)).arrays
        starts = arrays.uses_start
        return [i for i in range(len(starts) - 1) if (arrays.uses_i[starts[i] : starts[i + 1], ROLE] == LAW).any()]

    return mechanism.compute_once("measures acted along", find)


def forces_along(rest: ElasticRest, w: Array) -> Array:
    """Return forces (N, rows) along measures with values w (N, measures)."""
    found = np.zeros((len(w), len(rest.arrays.rows_i)))
    measures = measures_acted_along(rest)
    if not measures:
        return found
    arrays = get_coefficients(undeformed(rest.numbering.mechanism)).arrays
    for measure in measures:
        row = rest.numbering.constraints + measure
        found[:, row] = [along_measure(arrays, measure, length).force for length in w[:, measure].tolist()]
    return found


def carries_loads(mechanism: Mechanism) -> bool:
    """Return whether gravity, forces or springs may act on the mechanism at rest."""
    gravity = mechanism.gravity is not None and any(mechanism.gravity)
    return gravity or bool(mechanism.forces) or bool(mechanism.springs)


def input_rows(rest: ElasticRest) -> NDArray[np.int64]:
    """Return the rows of inputs: of the actuators, then of the loaded displacements."""
    arrays = get_coefficients(undeformed(rest.numbering.mechanism)).arrays
    driven = arrays.uses_i[:, ROLE] == ACTUATOR
    rows = np.empty(len(rest.numbering.mechanism.actuators), dtype=np.int64)
    rows[arrays.uses_i[driven, NUMBER]] = rest.numbering.constraints + measure_of_use(arrays)[driven]
    return np.concatenate([rows, np.array(list(rest.displacements.values()), dtype=np.int64)])


# Forces over z of gravity and of forces at places, and how they change with θ, for kernels and batches.
#
#     f = Σ_b S_bᵀ R_bᵀF,   ∂_k(R_bᵀF) = -ω_k × R_bᵀF               (docs/theory/parameterization.md, eqs. 18-19)
#
# A force that follows its body keeps its components there.


FOLLOWS = 3  # column of LoadArrays.place, behind BODY, FIRST and WIDTH


class LoadArrays(NamedTuple):
    """Forces and moments on bodies.

    place    : (loads, 4) BODY, FIRST coordinate and WIDTH of the body, and whether the load FOLLOWS it
    maps     : (loads, widest, 6) z of the body for each component; wrenches (loads, 6) in world or body axes
    """

    place: NDArray[np.int64]
    maps: Array
    wrenches: Array


@kernel
def load_vector(loads, X, omega, f, df):
    """Compute f (z,) and df (s, z) of all loads at the poses X; omega (bodies, s, axes) of the bodies' frames."""
    f[:] = 0.0
    df[:] = 0.0
    axes = omega.shape[2]
    for i in range(loads.place.shape[0]):
        b, first, width = loads.place[i, BODY], loads.place[i, FIRST], loads.place[i, WIDTH]
        follows = loads.place[i, FOLLOWS] == 1
        for at in (0, 3):  # the force, then the moment
            local = (loads.wrenches[i, at], loads.wrenches[i, at + 1], loads.wrenches[i, at + 2])
            if not follows:
                local = in_body(X, b, local)
            for c in range(width):
                for e in range(3):
                    f[first + c] += loads.maps[i, c, at + e] * local[e]
            if follows:
                continue
            for k in range(omega.shape[1]):
                x, y = (omega[b, k, 0], omega[b, k, 1]) if axes == 3 else (0.0, 0.0)
                change = cross(local, (x, y, omega[b, k, axes - 1]))
                for c in range(width):
                    for e in range(3):
                        df[k, first + c] += loads.maps[i, c, at + e] * change[e]


@kernel
def rest_loads(loads, X, f):
    """Compute f (z,) of weights and applied forces at the poses X."""
    f[:] = 0.0
    for i in range(loads.place.shape[0]):
        b, first, width = loads.place[i, BODY], loads.place[i, FIRST], loads.place[i, WIDTH]
        for at in (0, 3):
            local = (loads.wrenches[i, at], loads.wrenches[i, at + 1], loads.wrenches[i, at + 2])
            if loads.place[i, FOLLOWS] == 0:
                local = in_body(X, b, local)
            for c in range(width):
                for e in range(3):
                    f[first + c] += loads.maps[i, c, at + e] * local[e]


@kernel(purpose="loads of elastic bodies")
def load_batch(loads, X, forces):
    """Compute forces (N, z) of weights and applied forces at poses X (N, bodies + 1, 12)."""
    for k in range(X.shape[0]):
        rest_loads(loads, X[k], forces[k])


def load_vectors(rest: ElasticRest, X: Array) -> Array:
    """Return forces (N, z) of weights and applied forces at poses X (N, bodies + 1, 12)."""
    forces = np.empty((len(X), rest.size))
    compile_kernel(load_batch, count=len(X))(load_arrays(rest), X, forces)
    return forces


def load_arrays(rest: ElasticRest) -> LoadArrays:
    """Return gravity on every body and forces at points."""
    numbering, column = rest.numbering, rest.arrays.column
    widest = max(body.size for body in rest.bodies)
    places, maps, wrenches = [], [], []

    def add(b: int, follows: int, shapes: Array, wrench: Array) -> None:
        body = rest.bodies[b]
        places.append((b, body.start, body.size, follows))
        full = np.zeros((widest, 6))
        full[: body.size, column] = shapes
        maps.append(full)
        wrenches.append(wrench)

    mechanism = numbering.mechanism
    if mechanism.gravity is not None:
        gravity = numbering.drawing.vector(mechanism.gravity, ("gravity",), "gravity")
        for b, body in enumerate(rest.bodies):
            add(b, 0, np.where(column < 3, body.rigid, 0.0), np.concatenate([gravity, np.zeros(3)]))
    arrays = get_coefficients(undeformed(mechanism)).arrays
    applied = len(rest.bodies) if mechanism.gravity is not None else 0
    for (b, follows), row in zip(arrays.loads_i[applied:].tolist(), arrays.loads_f[applied:], strict=True):
        if b < len(rest.bodies):
            node, place = rest.bodies[b].node_at(row[:3])
            lever = np.eye(6)
            lever[3:, :3] = tilde(row[:3] - place)  # moment about the node, in body axes
            shapes = np.zeros((6, rest.bodies[b].size))
            shapes[column] = rest.bodies[b].of_node(node)
            add(b, follows, (shapes.T @ lever)[:, column], row[3:9])
    count = len(places)
    return LoadArrays(
        np.array(places, dtype=np.int64).reshape(-1, 4),
        np.array(maps).reshape(count, widest, 6),
        np.array(wrenches).reshape(count, 6),
    )
