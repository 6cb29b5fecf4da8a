"""Where a mechanism is pushed or watched, by name: its port's row over the elastic coordinates z.

A force f through a port of row g acts as gᵀf, and g z is the displacement that the port sees. Both uses share the row;
that is why responses are reciprocal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, nearest
from supple.formulations.coefficients import carried
from supple.formulations.elastic.elastic_body import mesh_of
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.kinematics.measures import key_of
from supple.kinematics.numbering import Numbering
from supple.kinematics.rest import rest as undeformed
from supple.modal_analysis.beam_points import beam_point, motion_between_nodes


class Port(NamedTuple):
    """A measure of the mechanism, or a direction at a place.

    row       : of the numbering, or None for a place
    body      : number of the body that the place is on, and position (3,) on it
    component : 0-5, along or about an axis of the drawing
    turns     : whether it sees an angle, and so takes a moment
    """

    name: str
    turns: bool
    row: int | None = None
    body: int = -1
    position: Array | None = None
    component: int = 0

    @property
    def unit(self) -> str:
        return "rad" if self.turns else "m"

    @property
    def force_unit(self) -> str:
        return "N m" if self.turns else "N"


def port(numbering: Numbering, name: str) -> Port:
    """A sensor's output, an actuator, a coordinate of a joint, or `place.axis`.

    axis : x, y, z and rx, ry, rz about them, axes of the drawing; in the plane its two letters and `angle`
    """
    row = measured_row(numbering, name)
    made = carried(undeformed(numbering.mechanism)).observation.outputs
    if row is None and name in made:
        raise InputError(
            "what it measures is no displacement, and no force goes along it", part=name,
            hint="name a place and a direction there, such as tip.x",
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
        raise InputError(f'"{axis}" is not a direction at "{place}"', part=name, hint=nearest(axis, letters))
    known = [*carried(undeformed(numbering.mechanism)).outputs, *numbering.mechanism.actuators]
    known += [f"{key}.{next(iter(letters))}" for key in numbering.drawing.joint_points]
    raise InputError(f'there is no sensor output, actuator, joint coordinate or place.axis "{name}"',
                     hint=nearest(name, known))  # fmt: skip


def place_ports(numbering: Numbering, name: str) -> list[Port]:
    """Those of all directions at a place, or at that of a sensor; else one port by its name."""
    try:
        body, position = _place(numbering, name)
    except InputError:
        return [port(numbering, name)]
    _require_moving(numbering, name, body)
    found = place_directions(numbering).items()
    return [Port(f"{name}.{axis}", component > 2, None, body, position, component) for axis, component in found]


def _place(numbering: Numbering, name: str) -> tuple[int, Array]:
    """Body and position on it of a place, of what a sensor of that name watches, or of `body[share]` along beams."""
    along = beam_point(numbering, name)
    if along is not None:
        return along
    sensor = numbering.mechanism.sensors.get(name)
    body, position, _ = numbering.place(name if sensor is None or sensor.place is None else sensor.place)
    return body, position


def measured_row(numbering: Numbering, name: str) -> int | None:
    """The row of a sensor's output, an actuator or a joint's coordinate, or None if it is none of them."""
    mechanism = numbering.mechanism
    outputs = carried(undeformed(mechanism)).outputs
    if name in outputs:
        return outputs[name]
    if name in mechanism.actuators:
        return numbering.measures[key_of(mechanism, mechanism.actuators[name])]
    found = mechanism.joint_coordinate(name)
    return None if found is None else numbering.measures["joint", *found]


def place_directions(numbering: Numbering) -> dict[str, int]:
    """Names of the directions at a place, and which of (u, φ) each is."""
    plane = numbering.mechanism.plane
    if plane is None:
        return {name: i for i, name in enumerate(("x", "y", "z", "rx", "ry", "rz"))}
    return {plane[0]: 0, plane[1]: 1, "angle": 5}


def port_rows(rest: ElasticRest, ports: Sequence[Port], X: Array, *, between: bool = False) -> Array:
    """g of every port over z at poses X (N, bodies + 1, 12): (N, ports, n).

    between : whether places on beams may lie where nothing touches them; bodies are then condensed without them
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
    """Displacement of a place over the coordinates of its body: u + φ × arm, or φ, along an axis of the drawing."""
    body = rest.bodies[item.body]
    assert item.position is not None
    unit = X[:, item.body, 3:].reshape(-1, 3, 3)[:, item.component % 3]  # Rᵀ e: the axis, in the body's axes
    node = 0 if body.mesh is None else body.mesh.node_at(item.position)
    if node is None:
        moved = motion_between_nodes(body, item.position, rest.arrays.column) if between else None
        if moved is None:
            raise InputError(
                f'nothing touches body "{body.name}" there, so that its mesh has no node at that place',
                part=item.name,
                hint=f"put a sensor there: sensors: {{NAME: {{position: {item.name.rpartition('.')[0]}}}}}",
            )
        return np.asarray(unit @ (moved[3:] if item.component > 2 else moved[:3]))
    arm = item.position - (np.zeros(3) if body.mesh is None else body.mesh.nodes[node])
    along = np.zeros((len(X), 6))
    if item.component > 2:
        along[:, 3:] = unit
    else:
        along[:, :3], along[:, 3:] = unit, np.cross(arm, unit)
    return along[:, rest.arrays.column] @ body.of_node(node)


def touched(numbering: Numbering, item: Port) -> bool:
    """Whether a joint, load or sensor touches its body there, so that condensing it keeps the place as it is."""
    if item.row is not None or item.position is None:
        return True
    name = numbering.bodies[item.body]
    body = numbering.mechanism.bodies[name]
    if not body.elastic or body.superelement is not None:
        return True
    return mesh_of(numbering, name).node_at(item.position) is not None


def _require_moving(numbering: Numbering, name: str, body: int) -> None:
    if body == len(numbering.bodies):
        raise InputError("it is fixed on the ground and cannot move", part=name, hint="name a place on a body")
