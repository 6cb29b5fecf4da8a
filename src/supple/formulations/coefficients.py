"""What the mechanism carries, as arrays: inertia, loads, and everything that acts along a measure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.description.load import Acting
from supple.description.mass_properties import mass_properties
from supple.kinematics.measures import component_keys, key_of, sensor_keys
from supple.kinematics.numbering import Numbering
from supple.kinematics.rest import Rest

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


# What acts along a measure, or sees it.
SPRING, DAMPER, MOTOR, DRIVE, ACTUATOR, SENSOR, DRY = 0, 1, 2, 3, 4, 5, 6


class CoefficientArrays(NamedTuple):
    """What kernels take beside the rows, in this order.

    inertia    : (bodies, d, d) constant mass matrices in body axes
    loads_i    : (n, 2) body, follows the body (1) or keeps its direction (0); gravity comes first
    loads_f    : (n, 9) point on the body, force, moment (in body axes if it follows, in the world's otherwise)
    uses_start : uses of measure i are uses_start[i] to uses_start[i + 1]
    uses_i     : (n, 2) role (above), number among its kind
    uses_f     : (n, 2) coefficient, reference
    """

    inertia: Array
    loads_i: Integers
    loads_f: Array
    uses_start: Integers
    uses_i: Integers
    uses_f: Array


class Carried(NamedTuple):
    """The arrays, and the names of what they stand for.

    outputs : the row of each output; dry_forces : of each joint coordinate with dry friction
    """

    arrays: CoefficientArrays
    outputs: dict[str, int]
    dry_forces: dict[str, float]


def carried(position: Rest) -> Carried:
    """Computed once for each mechanism."""
    return position.numbering.mechanism.remembered("carried", lambda: _collect(position.numbering))


class _Use(NamedTuple):
    """Something that acts along, or sees, the measure of a row."""

    row: int
    role: int
    number: int = 0
    coefficient: float = 1.0
    reference: float = 0.0


def _collect(numbering: Numbering) -> Carried:
    uses = _parts(numbering)
    outputs = _outputs(numbering)
    uses += [_Use(row, SENSOR, i) for i, row in enumerate(outputs.values())]
    dry: dict[str, float] = {}
    mechanism = numbering.mechanism
    for name, joint in mechanism.joints.items():
        for coordinate in joint.coordinates(mechanism.plane):
            row = numbering.measures["joint", name, coordinate]
            viscous = joint.value("viscous", coordinate, mechanism.plane)
            motor = joint.value("motor", coordinate, mechanism.plane)
            friction = joint.value("dry", coordinate, mechanism.plane)
            if viscous:
                uses.append(_Use(row, DAMPER, coefficient=viscous))
            if motor is not None:
                uses.append(_Use(row, MOTOR, coefficient=motor.inertia * motor.gear**2))
            if friction:
                uses.append(_Use(row, DRY, len(dry), reference=friction))
                single = len(joint.coordinates(mechanism.plane)) == 1
                dry[name if single else f"{name}.{coordinate}"] = friction
    loads_i, loads_f = _loads(numbering)
    arrays = CoefficientArrays(_inertia(numbering), loads_i, loads_f, *_by_row(numbering, uses))
    return Carried(arrays, outputs, dry)


def _parts(numbering: Numbering) -> list[_Use]:
    """Springs, dampers, forces along measures and actuators."""
    mechanism = numbering.mechanism

    def row(part: Acting) -> int:
        return numbering.measures[key_of(mechanism, part)]

    uses = []
    for spring in mechanism.springs.values():
        keys = component_keys(mechanism, spring) if spring.without_length else [key_of(mechanism, spring)]
        uses += [_Use(numbering.measures[key], SPRING, 0, spring.stiffness, spring.relaxed) for key in keys]
    uses += [_Use(row(item), DAMPER, 0, item.damping) for item in mechanism.dampers.values()]
    for item in mechanism.forces.values():
        if item.at is None:
            assert isinstance(item.force, float)
            uses.append(_Use(row(item), DRIVE, 0, item.force))
    return uses + [_Use(row(item), ACTUATOR, i) for i, item in enumerate(mechanism.actuators.values())]


def _outputs(numbering: Numbering) -> dict[str, int]:
    """The row of each output, by name."""
    mechanism = numbering.mechanism
    keys = {output: key for name in mechanism.sensors for output, key in sensor_keys(mechanism, name).items()}
    return {output: numbering.measures[key] for output, key in keys.items()}


def _inertia(numbering: Numbering) -> Array:
    """Constant mass matrices of the bodies, in body axes: (bodies, d, d)."""
    found = mass_properties(numbering.drawing)
    column = numbering.arrays.column
    return np.array([found[name].spatial()[np.ix_(column, column)] for name in numbering.bodies])


def _loads(numbering: Numbering) -> tuple[Integers, Array]:
    """Gravity at every centre of mass, then the applied forces."""
    mechanism, drawing = numbering.mechanism, numbering.drawing
    bodies: list[tuple[int, int]] = []
    vectors: list[Array] = []
    none = np.zeros(3)
    if mechanism.gravity is not None:
        gravity = drawing.vector(mechanism.gravity, ("gravity",), "gravity")
        for name, properties in mass_properties(drawing).items():
            bodies.append((numbering.body_index(name), 0))
            vectors.append(np.concatenate([properties.center, properties.mass * gravity, none]))
    for name, applied in mechanism.forces.items():
        if applied.at is None:
            continue
        path = ("forces", name)
        body, point, axes = numbering.place(applied.at, (*path, "at"))
        turn = axes if applied.follower else np.eye(3)  # a follower force is written in its frame's axes
        force = none if applied.force is None else turn @ drawing.vector(applied.force, (*path, "force"), "a force")
        if applied.moment is None:
            moment = none
        elif isinstance(applied.moment, float):
            moment = np.array([0.0, 0.0, applied.moment])
        else:
            moment = turn @ drawing.vector(applied.moment, (*path, "moment"), "a moment")
        bodies.append((body, int(applied.follower)))
        vectors.append(np.concatenate([point, force, moment]))
    return np.array(bodies, dtype=np.int64).reshape(-1, 2), np.array(vectors).reshape(-1, 9)


def _by_row(numbering: Numbering, uses: list[_Use]) -> tuple[Integers, Integers, Array]:
    """Uses sorted by the measure they use; uses_start[i] is the first of measure i."""
    ordered = sorted(uses, key=lambda use: use.row)
    first, last = numbering.constraints, int(numbering.arrays.sizes[5])
    rows = np.array([use.row for use in ordered], dtype=np.int64)
    start = np.searchsorted(rows, np.arange(first, last + 1)).astype(np.int64)
    uses_i = np.array([(use.role, use.number) for use in ordered], dtype=np.int64).reshape(-1, 2)
    uses_f = np.array([(use.coefficient, use.reference) for use in ordered], dtype=np.float64).reshape(-1, 2)
    return start, uses_i, uses_f
