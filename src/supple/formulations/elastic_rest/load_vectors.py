"""Forces over z of gravity and of what acts at places, and how they change with θ.

    f = Σ_b S_bᵀ R_bᵀF,   ∂_k(R_bᵀF) = -ω_k × R_bᵀF                   (docs/theory/parameterization.md, eqs. 18-19)

A force that follows its body keeps its components there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compiled, kernel
from supple.formulations.coefficients import carried
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.rows import BODY, FIRST, WIDTH
from supple.geometry.rotation import tilde
from supple.geometry.vectors import cross
from supple.kinematics.primitives import in_body
from supple.kinematics.rest import rest as undeformed

FOLLOWS = 3  # column of LoadArrays.place, behind BODY, FIRST and WIDTH


class LoadArrays(NamedTuple):
    """Forces and moments on bodies.

    place    : (loads, 4) BODY, FIRST coordinate and WIDTH of the body, and whether the load FOLLOWS it
    maps     : (loads, widest, 6) z of the body for each component; wrenches (loads, 6) in the world or the body
    """

    place: NDArray[np.int64]
    maps: Array
    wrenches: Array


@kernel
def load_vector(loads, X, omega, f, df):
    """f (z,) and df (s, z) of all loads at the poses X; omega (bodies, s, axes) of the bodies' frames."""
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
    """f (z,) of weights and applied forces at the poses X."""
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
    """forces (N, z) of weights and applied forces at poses X (N, bodies + 1, 12)."""
    for k in range(X.shape[0]):
        rest_loads(loads, X[k], forces[k])


def load_vectors(rest: ElasticRest, X: Array) -> Array:
    """(N, z) forces of weights and applied forces at poses X (N, bodies + 1, 12)."""
    forces = np.empty((len(X), rest.size))
    compiled(load_batch, count=len(X))(load_arrays(rest), X, forces)
    return forces


def load_arrays(rest: ElasticRest) -> LoadArrays:
    """Gravity on every body and forces at places."""
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
    arrays = carried(undeformed(mechanism)).arrays
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
