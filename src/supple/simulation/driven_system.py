"""A system behind its drives: commands in, motion out, from event to event."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.hardware.drive_bank import DriveBank
from supple.hardware.pieces import Pieces, at_end
from supple.simulation.driver import drive
from supple.systems.advancing import Plant


class DrivenSystem:
    """A plant, advanced by the commands of its drives; every result time is an event.

    applied : (N, a) commands after dead band, limits, rate limit and resolution
    forces  : (N, a) of the inputs from each event on, springs and dampers of drives included; zero where they lead

    Both are filled up to the event that was reached.

    Parameters
    ----------
    plant, drives
        The system, and the drives before it, settled at its start.
    durations
        (N,) s from each event to the next.
    pushes
        (N, a) forces that are added behind the drives, linear in between; (0, a) for none.
    """

    def __init__(self, plant: Plant, drives: DriveBank, durations: Array, pushes: Array | None = None) -> None:
        self.plant, self._drives, self._durations = plant, drives, durations.tolist()
        self._pushes = np.zeros((0, len(plant.inputs))) if pushes is None else pushes
        self.applied, self.forces = np.zeros((2, len(durations), len(plant.inputs)))
        yields = (drives.stiffness != 0.0) | (drives.damping != 0.0)
        self._yielding = [
            (i, place, float(drives.stiffness[i]), float(drives.damping[i]))
            for i, place in enumerate(drives.places)
            if place >= 0 and yields[i]
        ]
        self._pushed, self._event = len(self._pushes) > 0, 0

    def advance(self, command: Array, until: int) -> bool:
        """Advance under a command (a,) to the event of number `until`: the next one or, at the last, itself."""
        plant, k = self.plant, self._event
        duration = self._durations[k]
        self.applied[k] = self._drives.applied(command)
        eta, rates = plant.state
        pieces = self._drives.pieces(duration, rates[: plant.theta])
        if self._pushed:
            _push(pieces, duration, self._pushes[k], self._pushes[min(k + 1, len(self._durations) - 1)])
        self._keep(k, pieces.forces[0, 0], eta, rates)
        if until == k:
            return True
        if not plant.advance(pieces, until):
            return False
        self._event, self._last = until, pieces
        return True

    def _keep(self, k: int, forces: Array, eta: Array, rates: Array) -> None:
        """Record forces (a,) of the inputs, less those of the springs and dampers of drives that yield."""
        found = self.forces[k]
        found[:] = forces
        for i, place, stiffness, damping in self._yielding:
            found[i] -= stiffness * eta[place] + damping * rates[place]

    def hold(self) -> None:
        """Keep the forces at the end of the last interval as those of the last event: no further command follows."""
        if self._event:
            self._keep(self._event, at_end(self._last, len(self._last.times) - 2), *self.plant.state)


def _push(pieces: Pieces, duration: float, before: Array, after: Array) -> None:
    """Add forces that grow linearly from event to event to those of pieces."""
    slope = (after - before) / duration
    pieces.forces[:, 0] += before + pieces.times[:-1, None] * slope
    pieces.forces[:, 1] += slope


class Sent:
    """A source of commands (N - 1, a) that are known beforehand, one for each interval."""

    def __init__(self, commands: Array) -> None:
        self._commands, self.events = commands, range(1, len(commands) + 1)

    def acting(self, event: int) -> Array:
        """Return the command (a,) of the interval that begins at this event."""
        return self._commands[event]

    def advanced(self, event: int) -> None:
        """Do nothing: nobody waits for an answer."""


def drive_commands(plant: Plant, drives: DriveBank, times: Array, commands: Array) -> Array:
    """Send commands, held for each interval, to drives and through them to a plant, as far as it comes.

    Parameters
    ----------
    plant, drives
        The system, and the drives before it, settled at its start.
    times
        (N,) s, of the events; they are the plant's result times.
    commands
        (N - 1, a), one for each interval.

    Returns
    -------
    Array
        (N, a) forces of the inputs from each event on, filled up to the one that was reached.
    """
    system = DrivenSystem(plant, drives, np.append(np.diff(times), 0.0))
    drive(system, Sent(commands))
    if not plant.reason:
        system.hold()
    return system.forces
