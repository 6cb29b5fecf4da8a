"""Channels of a test on a mechanism: each the sum of ports at its place, along the directions that it points in.

This is the one place where a channel becomes rows of a model: of responses, shapes of modes, and what is fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.kinematics.numbering import Numbering
from supple.modal_analysis.ports import Port, place_directions, port, port_rows
from supple.results.channel import AXES, Channel

_STILL = 1e-12  # of a direction: a component that is not there


class ChannelPorts(NamedTuple):
    """ports : each once; shares (channels, ports) : what of each a channel is made of."""

    ports: list[Port]
    shares: Array

    @property
    def names(self) -> list[str]:
        """`place.axis` of each port."""
        return [item.name for item in self.ports]

    def rows(self, rest: ElasticRest, X: Array) -> Array:
        """(channels, n) displacements of the channels over z, at poses X (bodies + 1, 12) of one configuration."""
        return np.asarray(self.shares @ port_rows(rest, self.ports, X[None], between=True)[0])


def channel_ports(numbering: Numbering, channels: Sequence[Channel]) -> ChannelPorts:
    """Points of channels are places: a body, a frame, a joint's point, `body[share]`, or where a sensor looks at.

    Sensors are taken where they are, along axes of the drawing, without their instruments.
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
    """The place that a point names: a sensor's is what it looks at."""
    sensor = mechanism.sensors.get(point)
    return point if sensor is None or sensor.place is None else sensor.place


def components(one: Channel, letters: Mapping[str, int]) -> dict[str, float]:
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
