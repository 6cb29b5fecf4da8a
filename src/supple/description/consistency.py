"""Consistency checks between the parts of a description, run before any computation."""

from __future__ import annotations

from typing import Any

from supple.description.coupling import Coupling
from supple.description.drives import drive_blocks
from supple.description.joint_stiffness_consistency import require_sound_stiffness
from supple.description.mechanism import GROUND, Mechanism
from supple.description.posture import posture
from supple.description.quantities.coordinate_dimensions import (
    CoordinateDimensions,
    Path,
    Quantities,
    coordinate_dimensions,
    input_dimension,
    require_dimensions,
    require_quantities,
    sensor_dimensions,
)
from supple.description.quantities.dimension import (
    CURRENT,
    FORCE,
    PLAIN,
    PRESSURE,
    RATIO,
    TIME,
    TORQUE,
    VOLTAGE,
    Dimension,
    Measured,
    fits,
    product_dimension,
    to_power,
)
from supple.description.scenario_consistency import require_sound_scenarios
from supple.description.sensor import Sensor
from supple.diagnostics import InputError, require_known, unknown_name
from supple.diagnostics.errors import fault_at, part_name


def require_consistent(mechanism: Mechanism) -> None:
    """Raise an error for the first name that does not resolve or value whose coordinate does not exist."""
    _distinct_names(mechanism)
    require_known_bodies(mechanism)
    _joint_kinds(mechanism)
    _joint_fields(mechanism)
    _elastic_bodies(mechanism)
    _dimensions(mechanism)
    require_known_coordinates(mechanism)
    require_sound_stiffness(mechanism)
    _sensors(mechanism)
    for name, coupling in mechanism.couplings.items():
        _require_coupled(mechanism, name, coupling)
    _configurations(mechanism)
    _motions(mechanism)
    require_sound_scenarios(mechanism)
    require_dimensions(mechanism)
    require_hardware_dimensions(mechanism)
    drive_blocks(mechanism)


def require_known_bodies(mechanism: Mechanism) -> None:
    """Require that joints connect existing bodies or the ground."""
    known = [GROUND, *mechanism.bodies]
    for name, joint in mechanism.joints.items():
        for body in joint.bodies:
            require_known("body", body, known, path=("joints", name, joint.kind))


def _joint_kinds(mechanism: Mechanism) -> None:
    """Require that each joint's kind exists in the plane, or in space."""
    for name, joint in mechanism.joints.items():
        try:
            joint.form(mechanism.plane)
        except InputError as error:
            path = ("joints", name)
            raise fault_at(path, error.message, error.hint) from None


def require_known_coordinates(mechanism: Mechanism) -> None:
    """Require that actuators, springs, dampers, forces, sensors and θ refer to existing joint coordinates."""
    for section in ("actuators", "springs", "dampers", "forces", "sensors"):
        for name, part in getattr(mechanism, section).items():
            if part.joint is not None:
                _require_joint_coordinate(mechanism, part.joint, (section, name), "joint")
    names = mechanism.coordinate_names()
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError(
                f'"{name}" is listed twice',
                part="coordinates",
                path=("coordinates", i),
                hint="list each coordinate once",
            )
        if name not in mechanism.actuators:
            _require_joint_coordinate(mechanism, name, ("coordinates",), i, list(mechanism.actuators))


def _require_coupled(mechanism: Mechanism, name: str, coupling: Coupling) -> None:
    """Require that a coupling names different existing measures and shares its name with no joint or body."""
    path = ("couplings", name)
    for section, what in (("joints", "joint"), ("bodies", "body")):
        if name in getattr(mechanism, section):
            raise fault_at(path, f"a {what} has the same name", "choose another name")
    known: dict[object, str] = {}
    for reference in coupling.coordinates:
        where = (*path, "coordinates")
        sensor = _find_position_sensor(mechanism, reference, where)
        if sensor is None:
            _require_joint_coordinate(mechanism, reference, where, reference)
        coordinate = mechanism.coupled_coordinate(reference) or reference
        if coordinate in known:
            raise InputError(
                f'"{known[coordinate]}" and "{reference}" refer to the same coordinate',
                part=part_name(path),
                path=(*where, reference),
                hint="list each coordinate once",
            )
        known[coordinate] = reference
    if len(known) == 1 and not isinstance(next(iter(known)), str):
        raise fault_at(
            (*path, "coordinates"),
            "a coupling of one joint coordinate would lock that coordinate",
            "add another coordinate, or replace the joint by a weld",
        )


def _find_position_sensor(mechanism: Mechanism, reference: str, path: tuple) -> str | None:
    """Return the sensor that an output belongs to, or None for the name of a joint; it must measure a position."""
    name = next((item for item in (reference, reference.rpartition(".")[0]) if item in mechanism.sensors), None)
    if name is None or reference.partition(".")[0] in mechanism.joints:
        return None
    sensor = mechanism.sensors[name]
    if sensor.record.inside or sensor.record.order or sensor.order:
        raise fault_at(
            (*path, reference),
            f'sensor "{name}" measures {"an internal force" if sensor.record.inside else "a rate"}, which cannot '
            "be coupled",
            "couple joint coordinates, angles, distances or positions",
        )
    outputs = [f"{name}.{part}" if part else name for part in sensor.outputs(mechanism.plane)]
    if sensor.kind != "joint":
        if reference == name and name not in outputs:
            raise fault_at(
                (*path, reference), f'sensor "{name}" has several outputs', f"use one of {', '.join(outputs)}"
            )
        require_known(f'output of sensor "{name}"', reference, outputs, path=(*path, reference))
    return name


def _require_joint_coordinate(
    mechanism: Mechanism, reference: str, path: tuple, key: str | int, others: list[str] | None = None
) -> None:
    if mechanism.joint_coordinate(reference) is not None:
        return
    name = reference.partition(".")[0]
    part = part_name(path)
    if name not in mechanism.joints:
        what = "actuator or joint" if others is not None else "joint"
        raise unknown_name(what, reference, [*(others or ()), *mechanism.joints], part=part, path=(*path, key))
    joint = mechanism.joints[name]
    names = joint.coordinates(mechanism.plane)
    which = "has no coordinate" if not names else "has the coordinates " + ", ".join(names)
    raise InputError(
        f'"{reference}" does not name a single coordinate: {joint.kind} joint "{name}" {which}',
        part=part,
        path=(*path, key),
        hint=f"write {name}.{names[0]}" if names else "use a joint with a coordinate, or between: [POINT, POINT]",
    )


def _distinct_names(mechanism: Mechanism) -> None:
    """Require that frames, bodies and the ground do not share names."""
    for name in mechanism.frames:
        if name in mechanism.bodies or name == GROUND:
            raise fault_at(
                ("frames", name),
                "a body has the same name",
                "rename the frame; the name of the body already refers to the origin of the body",
            )


def _joint_fields(mechanism: Mechanism) -> None:
    """Require that `rest`, `limits`, `viscous`, `dry` and `motor` name coordinates that the joint has."""
    for name, joint in mechanism.joints.items():
        names = joint.coordinates(mechanism.plane)
        for field in joint.per_coordinate:
            given = getattr(joint, field)
            path = ("joints", name, field)
            if isinstance(given, dict):
                for coordinate in given:
                    require_known(f"coordinate of a {joint.kind} joint", coordinate, names, path=(*path, coordinate))
            elif given is not None and len(names) != 1:
                raise fault_at(
                    path,
                    f"a {joint.kind} joint has {len(names)} coordinates, but {field} has one value",
                    f"write {field}: {{{names[0]}: ...}}" if names else f"remove {field}",
                )


def _elastic_bodies(mechanism: Mechanism) -> None:
    """Require that the materials and sections of beams exist and are complete for the plane or for space."""
    for name, body in mechanism.bodies.items():
        for i, beam in enumerate(body.all_beams):
            path: tuple[str | int, ...] = ("bodies", name) if body.beam else ("bodies", name, "beams", i)
            _require_part(mechanism, "materials", beam.material, (*path, "material"))
            for section in dict.fromkeys(beam.sections):
                _require_part(mechanism, "sections", section, (*path, "section"))
                _require_constants(mechanism, section, name)
        if body.superelement is not None and mechanism.planar:
            raise fault_at(
                ("bodies", name, "superelement"),
                "a superelement is not possible in a planar mechanism",
                "remove plane:, or describe the body with beams",
            )


def _require_part(mechanism: Mechanism, section: str, name: str, path: tuple[str | int, ...]) -> None:
    parts = getattr(mechanism, section)
    require_known(section.removesuffix("s"), name, parts, empty=f"add {section}: {{{name}: ...}}", path=path)


def _require_constants(mechanism: Mechanism, section: str, body: str) -> None:
    """Require the section constants that are needed in space only, which a table may omit in the plane."""
    described = mechanism.sections[section]
    missing = [name for name in ("Iz", "torsion") if described.area is not None and getattr(described, name) is None]
    if missing and not mechanism.planar:
        raise fault_at(
            ("sections", section),
            f'{" and ".join(missing)} {"is" if len(missing) == 1 else "are"} missing: beams of "{body}" bend and twist '
            "in space",
            f"add {missing[0]}: ... (m⁴)",
        )


def _dimensions(mechanism: Mechanism) -> None:
    """Require that vectors without a point in the drawing have the dimension of the drawing."""
    wanted = 2 if mechanism.planar else 3
    vectors: list[tuple[tuple[str, ...], tuple[float, ...] | None]] = [(("gravity",), mechanism.gravity)]
    for name, force in mechanism.forces.items():
        vectors.append((("forces", name, "force"), force.force if isinstance(force.force, tuple) else None))
        moment = force.moment
        if moment is not None and isinstance(moment, float) != mechanism.planar:
            raise fault_at(
                ("forces", name, "moment"),
                "a moment has one component in the plane and three in space",
                "give the right number of components",
            )
    for path, vector in vectors:
        if vector is not None and len(vector) != wanted:
            where = f"in the plane {mechanism.plane}" if mechanism.planar else "in space"
            raise fault_at(
                path, f"a vector {where} has {wanted} components, not {len(vector)}", f"give {wanted} components"
            )


def _sensors(mechanism: Mechanism) -> None:
    """Require that sensors have the axis that their kind needs."""
    for name, sensor in mechanism.sensors.items():
        try:
            sensor.outputs(mechanism.plane)
        except InputError as error:
            path = ("sensors", name)
            raise fault_at(path, error.message, error.hint) from None


def _configurations(mechanism: Mechanism) -> None:
    names = mechanism.coordinate_names()
    for coordinate in mechanism.rest:
        if coordinate not in names and mechanism.joint_coordinate(coordinate) is None:
            raise unknown_name(
                "coordinate or joint coordinate", coordinate, [*names, *mechanism.joints], path=("rest", coordinate)
            )
    for name, given in mechanism.configurations.items():
        posture(mechanism, given, ("configurations", name))


def _motions(mechanism: Mechanism) -> None:
    """Require that motions name existing coordinates, and that tool paths have the dimension of the drawing."""
    names = mechanism.coordinate_names()
    wanted = 2 if mechanism.planar else 3
    for name, motion in mechanism.motions.items():
        for coordinate in motion.coordinates or ():
            require_known("coordinate", coordinate, names, path=("motions", name, "coordinates", coordinate))
        for i, point in enumerate(motion.tool.path if motion.tool else ()):
            if len(point) != wanted:
                raise fault_at(
                    ("motions", name, "tool", "path", i),
                    f"point {i + 1} of the path has {len(point)} components, not {wanted}",
                    f"give {wanted} components",
                )


# Dimensions of the quantities of drives (they follow from the command) and of sensors (from the measured quantity).


_INSIDE = {"reaction": (FORCE, TORQUE), "section": (FORCE, TORQUE), "stress": (PRESSURE,), "strain": (RATIO,)}


def require_hardware_dimensions(mechanism: Mechanism) -> None:
    """Require that every quantity of a drive or of a sensor has the right dimension."""
    require_quantities(_of_drives(mechanism))
    require_quantities(_of_instruments(mechanism))


def _of_drives(mechanism: Mechanism) -> Quantities:
    for name, actuator in mechanism.actuators.items():
        drive = actuator.drive
        if drive is None:
            continue
        path: Path = ("actuators", name, "drive")
        of, kind = coordinate_dimensions(mechanism, name), drive.record
        command = input_dimension(mechanism, name)
        for field in ("limits", "dead_band", "resolution"):
            yield (*path, field), getattr(drive, field), command
        yield (*path, "rate_limit"), drive.rate_limit, _product((command, 1), (TIME, -1))
        yield (*path, "stiffness"), drive.stiffness, of.stiffness
        yield (*path, "viscous"), drive.viscous, of.damping
        given = drive.given
        for parameter, item in kind.parameters.items():
            wanted = _find_dimensions(of, given.get("gear"), mechanism, name)
            if item.of and parameter in given and all(wanted[key] is not None for key in item.of):
                powers = ((wanted[key], power) for key, power in item.of.items())
                yield (*path, kind.name, parameter), given[parameter], _product(*powers)


def _find_dimensions(
    of: CoordinateDimensions, gear: Any, mechanism: Mechanism, name: str
) -> dict[str, Dimension | None]:
    """Return the dimensions that parameters refer to; that of a gear written as a plain number is unknown (None)."""
    reference = mechanism.actuators[name].joint
    found = None if reference is None else mechanism.joint_coordinate(reference)
    motor = None if found is None else mechanism.joints[found[0]].value("motor", found[1], mechanism.plane)
    if gear is None:
        turned: Dimension | None = PLAIN if motor is None else of.gear
    else:
        turned = gear.dimension if isinstance(gear, Measured) else None
    return {**of._asdict(), "voltage": VOLTAGE, "current": CURRENT, "gear": turned}


def _of_instruments(mechanism: Mechanism) -> Quantities:
    for name, sensor in mechanism.sensors.items():
        path, noise = ("sensors", name), sensor.spectrum
        written: list[tuple[Path, Any, float]] = [((*path, "bias"), sensor.bias, 0.0)]
        written += [((*path, key), getattr(sensor, key), 0.0) for key in ("resolution", "range")]
        if isinstance(sensor.noise, float):
            written.append(((*path, "noise"), sensor.noise, 0.0))
        else:
            written += [((*path, "noise", "rms"), noise.rms, 0.0), ((*path, "noise", "walk"), noise.walk, -0.5)]
        for where, value, power in written:
            possible = [_product((unit, 1), (TIME, power)) for unit in _list_output_dimensions(mechanism, name, sensor)]
            yield where, value, next((unit for unit in possible if _of(value, unit)), possible[0])


def _list_output_dimensions(mechanism: Mechanism, name: str, sensor: Sensor) -> tuple[Dimension, ...]:
    """Return the dimensions that the outputs of a sensor may have."""
    if sensor.record.inside:
        return _INSIDE[sensor.record.inside]
    of = sensor_dimensions(mechanism, name)
    return ((of.value, of.rate, of.acceleration)[sensor.order],)


def _of(value: Any, unit: Dimension) -> bool:
    given = value if isinstance(value, tuple) else (value,)
    return all(not isinstance(item, Measured) or fits(item.dimension, unit) for item in given)


def _product(*powers: tuple[Dimension | None, float]) -> Dimension:
    found: Dimension | None = PLAIN
    for unit, power in powers:
        found = product_dimension(found, to_power(unit, power))
    assert found is not None
    return found
