"""Dimensions that depend on a coordinate: those of an angle or of a length, for all quantities about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from supple.description.joints.elasticity import LOAD, StiffnessTable, stiffness_entries
from supple.description.joints.joint_kind import directions
from supple.description.measure import Row
from supple.description.mechanism import Mechanism
from supple.description.posture import axes_of, axis_dimension
from supple.description.quantities.dimension import (
    ACCELERATION,
    ANGLE,
    ANGULAR_ACCELERATION,
    ANGULAR_JERK,
    DAMPING,
    FORCE,
    GEAR,
    INERTIA,
    JERK,
    LENGTH,
    MASS,
    RATE,
    RATIO,
    SPEED,
    STIFFNESS,
    TIME,
    TORQUE,
    TORSIONAL_DAMPING,
    TORSIONAL_STIFFNESS,
    VOLTAGE,
    Dimension,
    Measured,
    product_dimension,
    require,
    to_power,
)
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name, quote

Path = tuple[str | int, ...]
Quantities = Iterator[tuple[Path, Any, Dimension]]


class CoordinateDimensions(NamedTuple):
    """Dimensions of a coordinate, its derivatives, its force and its resistances; `gear` is rotor angle per unit."""

    value: Dimension
    rate: Dimension
    acceleration: Dimension
    jerk: Dimension
    force: Dimension
    stiffness: Dimension
    damping: Dimension
    gear: Dimension
    inertia: Dimension


TURNING = CoordinateDimensions(
    ANGLE,
    RATE,
    ANGULAR_ACCELERATION,
    ANGULAR_JERK,
    TORQUE,
    TORSIONAL_STIFFNESS,
    TORSIONAL_DAMPING,
    RATIO,
    INERTIA,
)
SLIDING = CoordinateDimensions(LENGTH, SPEED, ACCELERATION, JERK, FORCE, STIFFNESS, DAMPING, GEAR, MASS)


def _of_row(row: Row) -> CoordinateDimensions:
    """Return the dimensions of a joint's coordinate or constrained direction, from its measured row."""
    return TURNING if row[0].turns else SLIDING


def coordinate_dimensions(mechanism: Mechanism, name: str) -> CoordinateDimensions:
    """Return the dimensions of a coordinate of θ or an actuator; a distance is a length."""
    actuator = mechanism.actuators.get(name)
    reference = name if actuator is None else actuator.joint
    return _of_joint(mechanism, reference)


def output_dimensions(mechanism: Mechanism, name: str) -> CoordinateDimensions:
    """Return the dimensions of a sensor's output, and of the force along it."""
    sensor, _, part = name.partition(".")
    return sensor_dimensions(mechanism, sensor, part)


def sensor_dimensions(mechanism: Mechanism, name: str, part: str | None = None) -> CoordinateDimensions:
    """Return the dimensions of the output of a motion sensor with this suffix, or of its first output."""
    found = mechanism.sensors[name]
    if found.kind == "joint":
        return _of_joint(mechanism, found.kind_value)
    rows = found.outputs(mechanism.plane)
    return _of_row(next(iter(rows.values())) if part is None else rows[part])


def require_dimensions(mechanism: Mechanism) -> None:
    """Require that every quantity about a coordinate has the right dimension; coordinates must exist."""
    require_quantities(_all_quantities(mechanism))


def require_quantities(quantities: Quantities) -> None:
    """Require that quantities, each given with its path and its dimension, have that dimension."""
    for path, value, wanted in quantities:
        for where, item in _numbers(path, value):
            try:
                require(item, wanted)
            except InputError as error:
                field = quote(".".join(str(key) for key in path[2:] or path[1:]))
                raise InputError(
                    f"{field}: {error.message}", part=part_name(path), path=where, hint=error.hint
                ) from None


def input_dimension(mechanism: Mechanism, actuator: str) -> Dimension:
    """Return the dimension of an actuator's input: the command of its drive, or else its force."""
    of, drive = coordinate_dimensions(mechanism, actuator), mechanism.actuators[actuator].drive
    if drive is None:
        return of.force
    command = drive.record.command
    return VOLTAGE if command == "voltage" else getattr(of, command)


def _of_joint(mechanism: Mechanism, reference: str | None) -> CoordinateDimensions:
    found = None if reference is None else mechanism.joint_coordinate(reference)
    if found is None:
        return SLIDING
    joint, coordinate = found
    return _of_row(mechanism.joints[joint].form(mechanism.plane).name_measures(mechanism.plane)[coordinate])


def _all_quantities(mechanism: Mechanism) -> Quantities:
    yield from _of_joints(mechanism)
    yield from _of_loads(mechanism)
    yield from _of_motions(mechanism)
    yield from _of_couplings(mechanism)
    named: list[tuple[Path, str, Mapping[str, Any]]] = [(("rest",), "value", mechanism.rest)]
    for name, given in mechanism.configurations.items():
        yield from _of_posture(mechanism, ("configurations", name), given)
    for name, scenario in mechanism.scenarios.items():
        path = ("scenarios", name)
        named.append(((*path, "start"), "value", {} if isinstance(scenario.start, str) else scenario.start))
        named.append(((*path, "rates"), "rate", scenario.rates))
        for actuator, value in scenario.inputs.items():
            yield (*path, "inputs", actuator), getattr(value, "size", value), input_dimension(mechanism, actuator)
        for output, load in scenario.deflection.items():
            yield (*path, "deflection", output), load, output_dimensions(mechanism, output).force
    for where, of, values in named:
        for coordinate, value in values.items():
            yield (*where, coordinate), value, getattr(coordinate_dimensions(mechanism, coordinate), of)


def _of_posture(mechanism: Mechanism, path: Path, given: Mapping[str, Any]) -> Quantities:
    """Yield the quantities of coordinates, components of a point, or its whole pose."""
    axes, known = axes_of(mechanism), mechanism.coordinate_names()
    for name, value in given.items():
        if name in known:
            yield (*path, name), value, coordinate_dimensions(mechanism, name).value
        elif isinstance(value, tuple):
            for i, item in enumerate(value):
                yield (*path, name, i), item, axis_dimension(axes[i])
        else:
            yield (*path, name), value, axis_dimension(name.rpartition(".")[2])


def _of_joints(mechanism: Mechanism) -> Quantities:
    fields = {
        "rest": {"": "value"}, "limits": {"": "value"}, "viscous": {"": "damping"}, "dry": {"": "force"},
        "motor": {"gear": "gear"}, "drive": {"stiffness": "stiffness", "damping": "damping"},
    }  # fmt: skip
    for name, joint in mechanism.joints.items():
        path: Path = ("joints", name)
        form = joint.form(mechanism.plane)
        for coordinate, row in form.name_measures(mechanism.plane).items():
            of = _of_row(row)
            for field in joint.per_coordinate:
                value = joint.value(field, coordinate, mechanism.plane)
                where = (*path, field, coordinate) if isinstance(getattr(joint, field), dict) else (*path, field)
                if value is not None:
                    for inside, which in fields[field].items():
                        if inside:
                            yield (*where, inside), getattr(value, inside), getattr(of, which)
                        else:
                            yield where, value, getattr(of, which)
        yield from _of_stiffness(mechanism, name)


def _of_stiffness(mechanism: Mechanism, name: str) -> Quantities:
    """Yield stiffnesses along and about axes, and couplings of both (force per angle, moment per length)."""
    joint, known = mechanism.joints[name], directions(mechanism.plane)
    for field, kinds in (
        ("stiffness", (STIFFNESS, FORCE, TORSIONAL_STIFFNESS)),
        ("elastic", (STIFFNESS, FORCE, TORSIONAL_STIFFNESS)),
        ("elastic_damping", (DAMPING, product_dimension(FORCE, TIME), TORSIONAL_DAMPING)),
    ):
        given = getattr(joint, field)
        for pair, value in stiffness_entries(given, known).items():
            wanted = kinds[sum(way[0] == "r" or way == "angle" for way in pair)]
            assert wanted is not None  # all are known
            key: Path = (pair[0] if pair[0] == pair[1] else ".".join(pair),)
            if not isinstance(given, Mapping):
                rows = any(isinstance(row, tuple) for row in given)
                key = tuple(map(known.index, pair)) if rows else (known.index(pair[0]),)
            if isinstance(value, StiffnessTable):
                loaded = value.over == LOAD and LOAD not in mechanism.coordinate_names()
                of = coordinate_dimensions(mechanism, value.over).value
                carried = TORQUE if wanted == TORSIONAL_STIFFNESS else FORCE
                yield ("joints", name, field, *key, "at"), value.at, carried if loaded else of
                yield ("joints", name, field, *key, "values"), value.values, wanted
            else:
                yield ("joints", name, field, *key), value, wanted


def _of_loads(mechanism: Mechanism) -> Quantities:
    fields = {
        "springs": {"stiffness": "stiffness", "rest": "value"},
        "dampers": {"damping": "damping"},
        "forces": {"force": "force"},
        "actuators": {"limits": "value", "force_limits": "force"},
    }
    for section, of in fields.items():
        for name, part in getattr(mechanism, section).items():
            if section == "forces" and part.at is not None:
                continue  # a vector in space, which is a force anyway
            dimensions = _of_joint(mechanism, part.joint)
            for field, which in of.items():
                yield (section, name, field), getattr(part, field), getattr(dimensions, which)
    for name, spring in mechanism.springs.items():
        law, given = spring.named_model
        dimensions = _of_joint(mechanism, spring.joint)
        for parameter, value in given.items() if spring.law is not None else ():
            known = law.parameters[parameter]
            wanted = product_dimension(getattr(dimensions, known.of), to_power(dimensions.value, -known.per))
            assert wanted is not None
            yield ("springs", name, "law", law.name, parameter), value, wanted


def _of_couplings(mechanism: Mechanism) -> Quantities:
    """Yield the quantities of couplings: every term has the dimension of the first factor with a unit.

    Plain factors are in SI units and fit any dimension.
    """
    for name, coupling in mechanism.couplings.items():
        path: Path = ("couplings", name)
        of = {reference: _of_coupled(mechanism, reference).value for reference in coupling.coordinates}
        given = [
            product_dimension(factor.dimension, of[reference])
            for reference, factor in coupling.coordinates.items()
            if isinstance(factor, Measured)
        ]
        if given and given[0] is not None:
            total = given[0]._replace(counts="")
            for reference, factor in coupling.coordinates.items():
                inverse = to_power(of[reference]._replace(counts=""), -1)
                wanted = product_dimension(total, inverse)
                assert wanted is not None  # both are known
                yield (*path, "coordinates", reference), factor, wanted
        elif len({*of.values()}) == 1:  # plain ratios between coordinates of one kind
            total = next(iter(of.values()))
        else:
            continue
        turns = not any(total.exponents)
        yield (*path, "value"), coupling.value, ANGLE if turns else total
        acting = TURNING if turns else SLIDING
        if turns or total.exponents == LENGTH.exponents:
            yield (*path, "stiffness"), coupling.stiffness, acting.stiffness
            yield (*path, "damping"), coupling.damping, acting.damping


def _of_coupled(mechanism: Mechanism, reference: str) -> CoordinateDimensions:
    """Return the dimensions of a joint's coordinate, or of an output of a sensor."""
    found = mechanism.coupled_coordinate(reference)
    return output_dimensions(mechanism, reference) if found is None else _of_joint(mechanism, ".".join(found))


def _of_motions(mechanism: Mechanism) -> Quantities:
    bounds = {"velocity": "rate", "acceleration": "acceleration", "jerk": "jerk"}
    fields = {"start": "value", "to": "value", "amplitude": "value", "rate": "rate", **bounds}
    for name, motion in mechanism.motions.items():
        for coordinate, course in (motion.coordinates or {}).items():
            of = coordinate_dimensions(mechanism, coordinate)
            for field, which in fields.items():
                key = "from" if field == "start" else field
                yield ("motions", name, "coordinates", coordinate, key), getattr(course, field), getattr(of, which)
        for field, which in bounds.items() if motion.tool is not None else ():
            yield ("motions", name, "tool", field), getattr(motion.tool, field), getattr(SLIDING, which)


def _numbers(path: Path, value: Any) -> Iterator[tuple[Path, float]]:
    """Yield the numbers in a value, each with its path."""
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            yield (*path, i), item
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _numbers((*path, key), item)
    elif value is not None:
        yield path, value
