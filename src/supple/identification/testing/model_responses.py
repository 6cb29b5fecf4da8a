"""Responses of a mechanism for the channels of a test, at any place of it and in any direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.description.elastic.material import Damping
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.frequency_response.frequency_response import frf
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.modal_analysis.ports import beam_point, channel_ports, components, place_directions, place_of_point
from supple.results.channel import TURNS, Channel, Vector3, channel
from supple.results.responses import Responses


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
    """Compute the responses of the model for the channels of a test, by modal superposition.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism that was tested.
    at : str, mapping or Configuration
        Posture of the test.
    references : sequence of Channel
        Forces of the test. Their points are places of the mechanism: a body, a frame, a joint point, a sensor, or
        `body[share]` along its beams.
    responses : sequence of Channel
        Displacements, velocities or accelerations of the test, at such places. Sensors count with their position and
        without their instruments.
    frequencies_hz : array_like, shape (L,)
        Frequency lines, Hz.
    free_actuators : bool, optional
        Let the actuators move freely instead of locking them. Default: False.
    damping : Damping, mapping or float, optional
        Damping model, as in `frf`. Default: the mechanism's.
    drives : bool, optional
        Include drives, as in `frf`. Default: True.

    Returns
    -------
    Responses
        H of shape (L, responses, references) with the channels of the test.

    Raises
    ------
    InputError
        If a reference is not a force, or a response is not a displacement, velocity or acceleration.

    See Also
    --------
    frf : Frequency responses of named inputs and outputs.

    Notes
    -----
    Equation 11 of docs/theory/measurements.md.

    Examples
    --------
    >>> import supple
    >>> from supple import Channel
    >>> arm = supple.load("ralf")
    >>> push, read = Channel("tip", "z", "force"), Channel("tip", "z")
    >>> supple.model_responses(arm, "home", [push], [read], [5.0, 10.0]).H.shape
    (2, 1, 1)
    """
    require_arguments(model_responses, locals())
    configuration = at if isinstance(at, Configuration) else assemble(mechanism, at)
    numbering = configuration.rest.numbering
    pushed, seen = channel_ports(numbering, references), channel_ports(numbering, responses)
    for one in references:
        if one.quantity != "force":
            raise InputError(
                f"references must be forces (got {one.quantity})", part=f'reference "{one.name}"',
                hint="leave it out",
            )  # fmt: skip
    for one in responses:
        if one.order is None or one.quantity == "strain":
            raise InputError(
                f"responses must be displacements, velocities or accelerations (got {one.quantity})",
                part=f'response "{one.name}"', hint="leave it out",
            )  # fmt: skip
    found = frf(
        mechanism, configuration, pushed.names, seen.names, frequencies_hz, free_actuators=free_actuators,
        damping=damping, method="modal", drives=drives,
    )  # fmt: skip
    rates = (2j * np.pi * found.frequencies_hz)[:, None] ** np.array([one.order for one in responses])
    H = (seen.shares @ found.values @ pushed.shares.T) * rates[:, :, None]
    name = at if isinstance(at, str) else {key: float(x) for key, x in configuration.coordinates.items()}
    return Responses(found.frequencies_hz, tuple(responses), tuple(references), H, at=name, title=mechanism.name)


def place_channels(configuration: Configuration, name: str, quantity: str) -> list[Channel]:
    """Return the channels of a name: `platform.-z`, `platform.(0.6 0 0.8)`; a place alone means all its directions.

    Their positions are those of the places at the configuration.
    """
    made = channel(name, quantity)
    letters = place_directions(configuration.rest.numbering)
    if made.direction:
        components(made, letters)
        return [made.copy_with(position=place_position(configuration, made.point))]
    directions = [letter for letter in letters if letter not in TURNS]
    position = place_position(configuration, name)
    return [made.copy_with(direction=one, position=position) for one in directions]


def place_position(configuration: Configuration, point: str) -> Vector3:
    """Return the position of a place in the axes of the drawing."""
    numbering = configuration.rest.numbering
    along = beam_point(numbering, point)
    if along is None:
        x = configuration.frame(place_of_point(configuration.mechanism, point)).position
    else:
        body, local = along
        pose = configuration.X[body]
        x = (pose[:3] + pose[3:].reshape(3, 3) @ local) @ configuration.mechanism.plane_axes().T
    return float(x[0]), float(x[1]), float(x[2])
