"""Places anywhere along beams: `arm[0.25]`, a quarter of the way along a body, and how they move between nodes.

    u = (1 - ξ) u_a + ξ u_b  along the element,   Hermite's cubics across it, the turns of its nodes as slopes;
    φ = (1 - ξ) φ_a + ξ φ_b  about it,            the slopes of the cubics across               (measurements, eq. 12)

That is the motion of an element of Euler and Bernoulli; one of Timoshenko adds shear that its nodes do not tell.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.elastic.placed_beam import placed_beams
from supple.diagnostics import InputError
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.kinematics.numbering import Numbering

_NEAR = 1e-6  # of the body's size: closer is on the axis
_ALONG = re.compile(r"(?P<body>.+)\[(?P<share>[0-9.eE+-]+)\]")


def beam_point(numbering: Numbering, name: str) -> tuple[int, Array] | None:
    """Number of the body and position on it, in its axes, of `body[share]`; None if the name is none of that form.

    share : 0 to 1, of the length of all its beams, one behind the other as they are described
    """
    found = _ALONG.fullmatch(name)
    if found is None or found["body"] not in numbering.mechanism.bodies:
        return None
    beams = placed_beams(numbering.drawing, found["body"])
    try:
        share = float(found["share"])
    except ValueError:
        share = float("nan")
    if not 0.0 <= share <= 1.0:
        raise InputError(f'"{found["share"]}" is not a share of its length', part=name, hint="give 0 to 1")
    if not beams:
        raise InputError(
            f'body "{found["body"]}" has no beams',
            part=name,
            hint="name a frame on it, `body.point` or the body itself",
        )
    lengths = np.array([beam.length for beam in beams])
    at = share * lengths.sum()
    number = min(int(np.searchsorted(np.cumsum(lengths), at)), len(beams) - 1)
    t = (at - lengths[:number].sum()) / lengths[number]
    ends = beams[number].ends
    return numbering.body_index(found["body"]), (1.0 - t) * ends[0] + t * ends[1]


def motion_between_nodes(body: BodyCoordinates, position: Array, column: NDArray[np.int64]) -> Array | None:
    """(u, φ) of a place on the axis of an element over the body's coordinates, (6, size); None if it is on none.

    position : (3,) in body axes; column : (d,) which of (u, φ) the degrees of freedom of a node are
    """
    mesh = body.mesh
    if mesh is None or not len(mesh.elements):
        return None
    way = mesh.ends[:, 1] - mesh.ends[:, 0]
    length = np.linalg.norm(way, axis=1)
    xi = np.clip(np.einsum("ei,ei->e", position - mesh.ends[:, 0], way) / length**2, 0.0, 1.0)
    off = np.linalg.norm(mesh.ends[:, 0] + xi[:, None] * way - position, axis=1)
    e = int(np.argmin(off))
    if off[e] > _NEAR * mesh.extent:
        return None
    s, L, t = float(xi[e]), float(length[e]), way[e] / length[e]
    ends = [_end(body, int(node), end, column) for node, end in zip(mesh.elements[e], mesh.ends[e], strict=True)]
    along = np.outer(t, t)
    across = np.eye(3) - along
    cubic = (1 - 3 * s**2 + 2 * s**3, 3 * s**2 - 2 * s**3, s - 2 * s**2 + s**3, s**3 - s**2)
    slope = ((-6 * s + 6 * s**2) / L, (6 * s - 6 * s**2) / L, 1 - 4 * s + 3 * s**2, 3 * s**2 - 2 * s)
    T = np.cross(np.eye(3), t)  # φ → φ × t, rows of φ
    found = np.zeros((6, body.size))
    for k, motion in enumerate(ends):
        u, phi = motion[:3], motion[3:]
        share = s if k else 1.0 - s
        bent = cubic[k] * (across @ u) + cubic[2 + k] * L * (T.T @ phi)
        found[:3] += share * (along @ u) + bent
        turned = slope[k] * (across @ u) + slope[2 + k] * (T.T @ phi)  # slope of the axis: φ × t
        found[3:] += share * (along @ phi) + np.cross(np.broadcast_to(t[:, None], turned.shape), turned, axis=0)
    return found


def _end(body: BodyCoordinates, node: int, end: Array, column: NDArray[np.int64]) -> Array:
    """(u, φ) of the end of an element's axis, on a rigid arm from its node: (6, size)."""
    assert body.mesh is not None
    found = np.zeros((6, body.size))
    found[column] = body.of_node(node)
    arm = end - body.mesh.nodes[node]
    found[:3] += np.cross(found[3:], np.broadcast_to(arm[:, None], found[3:].shape), axis=0)
    return found
