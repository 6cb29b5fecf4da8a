"""Ports: points and directions of forces or measured motions, as rows over the elastic coordinates z.

A force f through a port of row g acts as gᵀf, and g z is the displacement at the port. Both uses share the row, which
is why responses are reciprocal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.elastic.placed_beam import placed_beams
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, unknown_name
from supple.formulations.coefficients import get_coefficients
from supple.formulations.elastic.elastic_body import mesh_of
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.kinematics.measures import key_of
from supple.kinematics.numbering import Numbering
from supple.kinematics.rest import rest as undeformed
from supple.results.channel import AXES, Channel

# Points anywhere along beams: `arm[0.25]`, a quarter of the way along a body, and their motion between nodes.
#
#     u = (1 - ξ) u_a + ξ u_b  along the element,   Hermite's cubics across it, the turns of its nodes as slopes;
#     φ = (1 - ξ) φ_a + ξ φ_b  about it,            the slopes of the cubics across             (measurements, eq. 12)
#
# That is the motion of an Euler-Bernoulli element; a Timoshenko element adds shear that its nodes do not determine.


_NEAR = 1e-6  # fraction of the body's size: a closer point is on the axis
_ALONG = re.compile(r"(?P<body>.+)\[(?P<share>[0-9.eE+-]+)\]")


def beam_point(numbering: Numbering, name: str) -> tuple[int, Array] | None:
    """Return the number of the body and the position on it of `body[share]`; None if the name has another form.

    share : 0 to 1, fraction of the length of all its beams, one behind the other in the order of the file
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
        raise InputError(f'"{found["share"]}" is not a fraction of the length', part=name, hint="give 0 to 1")
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
    """Return (u, φ) of a point on the axis of an element over the body's coordinates, (6, size); None if it is on none.

    position : (3,) in body axes; column : (d,) which of (u, φ) the degrees of freedom of a node are
    """
    mesh = body.mesh
    if mesh is None or not len(mesh.elements):
        return None
    axis = mesh.ends[:, 1] - mesh.ends[:, 0]
    length = np.linalg.norm(axis, axis=1)
    xi = np.clip(np.einsum("ei,ei->e", position - mesh.ends[:, 0], axis) / length**2, 0.0, 1.0)
    off = np.linalg.norm(mesh.ends[:, 0] + xi[:, None] * axis - position, axis=1)
    e = int(np.argmin(off))
    if off[e] > _NEAR * mesh.extent:
        return None
    s, L, t = float(xi[e]), float(length[e]), axis[e] / length[e]
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
    """Return (u, φ) of the end of an element's axis, on a rigid arm from its node: (6, size)."""
    assert body.mesh is not None
    found = np.zeros((6, body.size))
    found[column] = body.of_node(node)
    arm = end - body.mesh.nodes[node]
    found[:3] += np.cross(found[3:], np.broadcast_to(arm[:, None], found[3:].shape), axis=0)
    return found


# Ports by name.


class Port(NamedTuple):
    """A measure of the mechanism, or a direction at a point.

    row       : number of the measure, or None for a point
    body      : number of the body of the point, and position (3,) on it
    component : 0-5, along or about an axis of the drawing
    turns     : whether it measures an angle and takes a moment
    """

    name: str
    turns: bool
    row: int | None = None
    body: int = -1
    position: Array | None = None
    component: int = 0

    @property
    def unit(self) -> str:
        """Unit of the displacement."""
        return "rad" if self.turns else "m"

    @property
    def force_unit(self) -> str:
        """Unit of the force."""
        return "N m" if self.turns else "N"


def port(numbering: Numbering, name: str) -> Port:
    """Return the port of a sensor output, an actuator, a joint coordinate, or `point.axis`.

    axis : x, y, z and rx, ry, rz about them, axes of the drawing; in the plane its two letters and `angle`
    """
    row = measured_row(numbering, name)
    made = get_coefficients(undeformed(numbering.mechanism)).observation.outputs
    if row is None and name in made:
        raise InputError(
            "the output is not a displacement, so no force can act along it", part=name,
            hint="give a point and a direction, such as tip.x",
        )  # fmt: skip
    if row is not None:
        return Port(name, bool(numbering.angles()[row]), row)
    place, _, axis = name.rpartition(".")
    letters = place_directions(numbering)
    if place and axis in letters:
        body, position = _place(numbering, place)
        _require_moving(numbering, name, body)
        component = letters[axis]
        return Port(name, component > 2, None, body, position, component)
    known_places = (*numbering.drawing.frames, *numbering.drawing.joint_points, *numbering.mechanism.sensors)
    if place in known_places:
        raise unknown_name(f'direction of "{place}"', axis, letters, part=name)
    known = [*get_coefficients(undeformed(numbering.mechanism)).outputs, *numbering.mechanism.actuators]
    known += [f"{key}.{next(iter(letters))}" for key in numbering.drawing.joint_points]
    raise unknown_name("sensor output, actuator, joint coordinate or point.axis", name, known)


def place_ports(numbering: Numbering, name: str) -> list[Port]:
    """Return the ports of all directions at a point or a sensor; otherwise the one port of that name."""
    try:
        body, position = _place(numbering, name)
    except InputError:
        return [port(numbering, name)]
    _require_moving(numbering, name, body)
    found = place_directions(numbering).items()
    return [Port(f"{name}.{axis}", component > 2, None, body, position, component) for axis, component in found]


def _place(numbering: Numbering, name: str) -> tuple[int, Array]:
    """Return body and position on it of a point, of the point of a sensor, or of `body[share]` along beams."""
    along = beam_point(numbering, name)
    if along is not None:
        return along
    sensor = numbering.mechanism.sensors.get(name)
    body, position, _ = numbering.place(name if sensor is None or sensor.place is None else sensor.place)
    return body, position


def measured_row(numbering: Numbering, name: str) -> int | None:
    """Return the row of a sensor output, an actuator or a joint coordinate, or None for any other name."""
    mechanism = numbering.mechanism
    outputs = get_coefficients(undeformed(mechanism)).outputs
    if name in outputs:
        return outputs[name]
    if name in mechanism.actuators:
        return numbering.measures[key_of(mechanism, mechanism.actuators[name])]
    found = mechanism.joint_coordinate(name)
    return None if found is None else numbering.measures["joint", *found]


def place_directions(numbering: Numbering) -> dict[str, int]:
    """Return the names of the directions at a point, with the index of each in (u, φ)."""
    plane = numbering.mechanism.plane
    if plane is None:
        return {name: i for i, name in enumerate(("x", "y", "z", "rx", "ry", "rz"))}
    return {plane[0]: 0, plane[1]: 1, "angle": 5}


def port_rows(rest: ElasticRest, ports: Sequence[Port], X: Array, *, between: bool = False) -> Array:
    """Return g of every port over z at poses X (N, bodies + 1, 12): (N, ports, n).

    between : whether points on beams may be between nodes; the bodies are then condensed without them
    """
    found = np.zeros((len(X), len(ports), rest.size))
    measures = [i for i, item in enumerate(ports) if item.row is not None]
    numbers = np.array([ports[i].row for i in measures], dtype=np.int64)
    found[:, measures] = rows_over_coordinates(rest, numbers, X)
    for i, item in enumerate(ports):
        if item.row is None:
            body = rest.bodies[item.body]
            found[:, i, body.start : body.stop] = _at_place(rest, item, X, between)
    return found


def _at_place(rest: ElasticRest, item: Port, X: Array, between: bool) -> Array:
    """Return the displacement of a point over the coordinates of its body, along an axis of the drawing.

    The row is u + φ × arm, or φ.
    """
    body = rest.bodies[item.body]
    assert item.position is not None
    unit = X[:, item.body, 3:].reshape(-1, 3, 3)[:, item.component % 3]  # Rᵀ e: the axis, in the body's axes
    node = 0 if body.mesh is None else body.mesh.node_at(item.position)
    if node is None:
        moved = motion_between_nodes(body, item.position, rest.arrays.column) if between else None
        if moved is None:
            raise InputError(
                f'the mesh of body "{body.name}" has no node at this point, since no joint, load or sensor is there',
                part=item.name,
                hint=f"add a sensor at the point: sensors: {{NAME: {{position: {item.name.rpartition('.')[0]}}}}}",
            )
        return np.asarray(unit @ (moved[3:] if item.component > 2 else moved[:3]))
    arm = item.position - (np.zeros(3) if body.mesh is None else body.mesh.nodes[node])
    along = np.zeros((len(X), 6))
    if item.component > 2:
        along[:, 3:] = unit
    else:
        along[:, :3], along[:, 3:] = unit, np.cross(arm, unit)
    return along[:, rest.arrays.column] @ body.of_node(node)


def has_attachment(numbering: Numbering, item: Port) -> bool:
    """Return whether a joint, load or sensor is at the port, so that condensing its body keeps the point."""
    if item.row is not None or item.position is None:
        return True
    name = numbering.bodies[item.body]
    body = numbering.mechanism.bodies[name]
    if not body.elastic or body.superelement is not None:
        return True
    return mesh_of(numbering, name).node_at(item.position) is not None


def _require_moving(numbering: Numbering, name: str, body: int) -> None:
    if body == len(numbering.bodies):
        raise InputError("the point is fixed to the ground", part=name, hint="give a point on a body")


# Channels of a test on a mechanism: each is the sum of ports at its point, weighted by the components of its direction.
#
# Responses, mode shapes, and measurements to which parameters are fitted all convert channels to rows here.


_STILL = 1e-12  # a smaller component of a direction is zero


class ChannelPorts(NamedTuple):
    """Ports of channels, each port once, and their weights.

    ports  : ports
    shares : (channels, ports) weight of each port in a channel
    """

    ports: list[Port]
    shares: Array

    @property
    def names(self) -> list[str]:
        """Names of the ports, `point.axis`."""
        return [item.name for item in self.ports]

    def rows(self, rest: ElasticRest, X: Array) -> Array:
        """Return the displacements of the channels over z, (channels, n), at poses X (bodies + 1, 12)."""
        return np.asarray(self.shares @ port_rows(rest, self.ports, X[None], between=True)[0])


def channel_ports(numbering: Numbering, channels: Sequence[Channel]) -> ChannelPorts:
    """Return the ports of channels, whose points are a body, a frame, a joint's point, a sensor, or `body[share]`.

    A sensor counts with its position, along axes of the drawing, without its instrument.
    """
    letters = place_directions(numbering)
    names: dict[str, int] = {}
    entries: list[tuple[int, int, float]] = []
    for i, one in enumerate(channels):
        for letter, share in components(one, letters).items():
            name = f"{place_of_point(numbering.mechanism, one.point)}.{letter}"
            entries.append((i, names.setdefault(name, len(names)), share))
    shares = np.zeros((len(channels), len(names)))
    for i, k, share in entries:
        shares[i, k] += share
    return ChannelPorts([port(numbering, name) for name in names], shares)


def place_of_point(mechanism: Mechanism, point: str) -> str:
    """Return the place that a point of a test names; for a sensor the place that it measures."""
    sensor = mechanism.sensors.get(point)
    return point if sensor is None or sensor.place is None else sensor.place


def components(one: Channel, letters: Mapping[str, int]) -> dict[str, float]:
    """Return the components of a channel's direction along those of the mechanism, by letter."""
    if not one.direction:
        raise InputError("the channel has no direction", part=f'channel "{one.name}"', hint="give one, such as tip.z")
    if isinstance(one.direction, str):
        axis = one.direction.removeprefix("-")
        found = {axis: -1.0 if one.direction.startswith("-") else 1.0}
    else:
        found = {axis: x for axis, x in zip(AXES[:3], one.direction, strict=True) if abs(x) > _STILL}
    for axis in found:
        if axis not in letters:
            raise InputError(
                f"the mechanism does not move along {axis}",
                part=f'channel "{one.name}"',
                hint=f"use one of {', '.join(letters)}",
            )
    return found
