"""What a mechanism answers to a test: responses of channels, wherever on it they are and along whatever they point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.analyses.vibration.beam_points import beam_point
from supple.analyses.vibration.frequency_response import frf
from supple.analyses.vibration.ports import directions
from supple.description.elastic.damping import Damping
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.results.channel import AXES, TURNS, Channel, Vector3, channel
from supple.results.responses import Responses

Array = NDArray[np.float64]

_STILL = 1e-12  # of a direction: a component that is not there


def model_responses(
    mechanism: Mechanism,
    at: At | Configuration,
    references: Sequence[Channel],
    responses: Sequence[Channel],
    frequencies_hz: ArrayLike,
    *,
    free_actuators: bool = False,
    damping: Damping | Mapping[str, Any] | float | None = None,
    drives: bool = True,
) -> Responses:
    """H of the mechanism's model at a posture for channels of a test, by modes.                 [measurements, eq. 11]

    Points of channels are places of the mechanism: a body, a frame, a joint's point, a sensor, `body[share]` along its
    beams. Sensors are taken where they are, without their instruments. damping and the like as in `frf`
    """
    configuration = at if isinstance(at, Configuration) else assemble(mechanism, at)
    pushed, by = _ports(configuration, references)
    seen, of = _ports(configuration, responses)
    for one in references:
        if one.quantity != "force":
            raise InputError(
                f"it is {one.quantity}, and a model is pushed by forces", part=f'reference "{one.name}"',
                hint="leave it out",
            )  # fmt: skip
    for one in responses:
        if one.order is None or one.quantity == "strain":
            raise InputError(
                f"it is {one.quantity}, which a model does not answer here", part=f'response "{one.name}"',
                hint="leave it out: displacement, velocity and acceleration are answered",
            )  # fmt: skip
    found = frf(
        mechanism, configuration, pushed, seen, frequencies_hz, free_actuators=free_actuators, damping=damping,
        method="modal", drives=drives,
    )  # fmt: skip
    rates = (2j * np.pi * found.frequencies_hz)[:, None] ** np.array([one.order for one in responses])
    H = (of @ found.values @ by.T) * rates[:, :, None]
    name = at if isinstance(at, str) else {key: float(x) for key, x in configuration.coordinates.items()}
    return Responses(found.frequencies_hz, tuple(responses), tuple(references), H, at=name, title=mechanism.name)


def place_channels(configuration: Configuration, name: str, quantity: str) -> list[Channel]:
    """The channels that a name asks for: `platform.-z`, `platform.(0.6 0 0.8)`; a place alone is all its directions.

    Their positions are where the places are at the configuration.
    """
    made = channel(name, quantity)
    letters = directions(configuration.rest.numbering)
    if made.direction:
        _components(made, letters)
        return [made.replaced(position=place_position(configuration, made.point))]
    ways = [letter for letter in letters if letter not in TURNS]
    position = place_position(configuration, name)
    return [made.replaced(direction=way, position=position) for way in ways]


def place_position(configuration: Configuration, point: str) -> Vector3:
    """Where a place is, in the axes of the drawing."""
    numbering = configuration.rest.numbering
    along = beam_point(numbering, point)
    if along is None:
        x = configuration.frame(_place(configuration, point)).position
    else:
        body, local = along
        pose = configuration.X[body]
        x = (pose[:3] + pose[3:].reshape(3, 3) @ local) @ configuration.mechanism.plane_axes().T
    return float(x[0]), float(x[1]), float(x[2])


def _place(configuration: Configuration, point: str) -> str:
    """The place that a point names: a sensor's is what it looks at."""
    sensor = configuration.mechanism.sensors.get(point)
    return point if sensor is None or sensor.place is None else sensor.place


def _ports(configuration: Configuration, channels: Sequence[Channel]) -> tuple[list[str], Array]:
    """Names `place.axis`, each once, and the matrix (channels, names) of what each channel is made of."""
    letters = directions(configuration.rest.numbering)
    names: dict[str, int] = {}
    entries: list[tuple[int, int, float]] = []
    for i, one in enumerate(channels):
        for letter, share in _components(one, letters).items():
            name = f"{_place(configuration, one.point)}.{letter}"
            entries.append((i, names.setdefault(name, len(names)), share))
    found = np.zeros((len(channels), len(names)))
    for i, k, share in entries:
        found[i, k] += share
    return list(names), found


def _components(one: Channel, letters: Mapping[str, int]) -> dict[str, float]:
    """Of a channel's direction along those of the mechanism, by letter."""
    if not one.direction:
        raise InputError("it has no direction", part=f'channel "{one.name}"', hint="name one, such as tip.z")
    if isinstance(one.direction, str):
        axis = one.direction.removeprefix("-")
        found = {axis: -1.0 if one.direction.startswith("-") else 1.0}
    else:
        found = {axis: x for axis, x in zip(AXES[:3], one.direction, strict=True) if abs(x) > _STILL}
    for axis in found:
        if axis not in letters:
            raise InputError(
                f"the mechanism does not move along {axis}", part=f'channel "{one.name}"', hint=f"{', '.join(letters)}"
            )
    return found
