"""Dimensions of what is said of drives and of instruments: they hang on the command, and on what is measured."""

from __future__ import annotations

from typing import Any

from supple.description.mechanism import Mechanism
from supple.description.quantities.coordinate_dimensions import (
    CoordinateDimensions,
    Path,
    Said,
    coordinate_dimensions,
    input_dimension,
    require_said,
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
    times,
    to_power,
)
from supple.description.sensor import Sensor

_INSIDE = {"reaction": (FORCE, TORQUE), "section": (FORCE, TORQUE), "stress": (PRESSURE,), "strain": (RATIO,)}


def require_hardware_dimensions(mechanism: Mechanism) -> None:
    """Every quantity said of a drive or of an instrument is of the dimension it needs."""
    require_said(_of_drives(mechanism))
    require_said(_of_instruments(mechanism))


def _of_drives(mechanism: Mechanism) -> Said:
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
            wanted = _known(of, given.get("gear"), mechanism, name)
            if item.of and parameter in given and all(wanted[key] is not None for key in item.of):
                powers = ((wanted[key], power) for key, power in item.of.items())
                yield (*path, kind.name, parameter), given[parameter], _product(*powers)


def _known(of: CoordinateDimensions, gear: Any, mechanism: Mechanism, name: str) -> dict[str, Dimension | None]:
    """What parameters hang on; a gear that is written as a plain number leaves its dimension untold."""
    reference = mechanism.actuators[name].joint
    found = None if reference is None else mechanism.joint_coordinate(reference)
    motor = None if found is None else mechanism.joints[found[0]].value("motor", found[1], mechanism.plane)
    if gear is None:
        turned: Dimension | None = PLAIN if motor is None else of.gear
    else:
        turned = gear.dimension if isinstance(gear, Measured) else None
    return {**of._asdict(), "voltage": VOLTAGE, "current": CURRENT, "gear": turned}


def _of_instruments(mechanism: Mechanism) -> Said:
    for name, sensor in mechanism.sensors.items():
        path, noise = ("sensors", name), sensor.spectrum
        written: list[tuple[Path, Any, float]] = [((*path, "bias"), sensor.bias, 0.0)]
        written += [((*path, key), getattr(sensor, key), 0.0) for key in ("resolution", "range")]
        if isinstance(sensor.noise, float):
            written.append(((*path, "noise"), sensor.noise, 0.0))
        else:
            written += [((*path, "noise", "rms"), noise.rms, 0.0), ((*path, "noise", "walk"), noise.walk, -0.5)]
        for where, value, power in written:
            possible = [_product((unit, 1), (TIME, power)) for unit in _measured(mechanism, name, sensor)]
            yield where, value, next((unit for unit in possible if _of(value, unit)), possible[0])


def _measured(mechanism: Mechanism, name: str, sensor: Sensor) -> tuple[Dimension, ...]:
    """What its outputs may be."""
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
        found = times(found, to_power(unit, power))
    assert found is not None
    return found
