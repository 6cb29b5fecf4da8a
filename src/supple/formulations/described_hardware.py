"""Drives and instruments that the file of a mechanism describes, by the names of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping

from supple.description.drawing import Drawing
from supple.description.drives import drive_blocks
from supple.description.mechanism import Mechanism
from supple.diagnostics.arguments import require_arguments
from supple.formulations.efforts import inside
from supple.hardware.hardware import Hardware
from supple.kinematics.measures import key_of
from supple.kinematics.sensed import Key, resolve_sensor


def hardware_of(mechanism: Mechanism) -> Hardware:
    """Return the drives and instruments of a mechanism, and the outputs that measure coordinates and their rates.

    Without drives in the file, commands are forces. Without instruments, measurements are exact.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism whose actuators have the drives and whose sensors have the instruments.

    Returns
    -------
    Hardware
        Drives and instruments by the names of actuators and outputs; False if the mechanism has neither.
    """
    require_arguments(hardware_of, locals())
    return mechanism.compute_once("hardware", lambda: _collect_hardware(mechanism))


def _collect_hardware(mechanism: Mechanism) -> Hardware:
    drawing = Drawing(mechanism)
    coordinates = {name: _key(mechanism, name) for name in mechanism.coordinate_names()}
    along = {key: name for name, key in coordinates.items()}
    measured: tuple[dict[str, str], dict[str, str]] = {}, {}
    instruments = []
    forces = inside(drawing).outputs if any(item.record.inside for item in mechanism.sensors.values()) else {}
    for name, sensor in mechanism.sensors.items():
        outputs: Mapping[str, object]
        if sensor.record.inside:
            outputs = {output: None for output in forces if output.partition(".")[0] == name}
        else:
            outputs = forms = resolve_sensor(drawing, name).outputs
            for output, form in forms.items():
                if len(form) == 1 and form[0].weight == 1.0 and len(form[0].factors) == 1:
                    key, order = form[0].factors[0]
                    coordinate = along.get(_either_way(key))
                    if coordinate is not None and order < len(measured):
                        measured[order].setdefault(coordinate, output)
        if not sensor.exact:
            instruments += [sensor.instrument(output) for output in outputs]
    acting = {name: along.get(_either_way(key_of(mechanism, part))) for name, part in mechanism.actuators.items()}
    return Hardware(
        drive_blocks(mechanism), tuple(instruments), *measured,
        {name: coordinate for name, coordinate in acting.items() if coordinate is not None},
    )  # fmt: skip


def _key(mechanism: Mechanism, coordinate: str) -> Key:
    """Return a key of the quantity that a coordinate of θ measures."""
    actuator = mechanism.actuators.get(coordinate)
    if actuator is not None:
        return _either_way(key_of(mechanism, actuator))
    found = mechanism.joint_coordinate(coordinate)
    assert found is not None  # consistency has been checked
    return ("joint", *found)


def _either_way(key: Key) -> Key:
    """Return the same key for both orders of the ends of a distance."""
    kind, *ends = key
    return (kind, *sorted(ends)) if kind == "between" and len(ends) == 2 else key
