"""The time driver: it advances a system, alone or behind its drives, from event to event.

An event is a time at which the inputs of the system are determined anew: the start of a run whose inputs are all known,
the sample of a controller, or the end of an interval of drives with feedback from the motion. Between two events the
system advances in one call of its own compiled march, through all result times in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.hardware.drive_bank import DriveBank, Intervals, interval_commands, intervals
from supple.hardware.drive_course import complete_commands, first_commands
from supple.hardware.pieces import Pieces, at_end
from supple.integration.input_course import Inputs, input_course
from supple.systems.advancing import Advancing, Plant
from supple.systems.protocols import System

Acting = TypeVar("Acting")
Given = TypeVar("Given", covariant=True)


class Source(Protocol[Given]):
    """Source of the inputs of a system from each event to the next.

    events : one number for each event: that of the result time up to which the system advances
    """

    @property
    def events(self) -> Sequence[int]: ...

    def give_inputs(self, event: int) -> Given:
        """Return the inputs from this event to the next."""
        ...

    def record_advance(self, event: int) -> None:
        """Record that the system has advanced from this event, as far as it could."""
        ...


class Known(Generic[Acting]):
    """A source for a run with known inputs: one event, at the start. Implements `Source`.

    acting : inputs until the end; last : number of the last result time
    """

    def __init__(self, acting: Acting, last: int) -> None:
        self._acting, self.events = acting, (last,)

    def give_inputs(self, event: int) -> Acting:
        """Return the inputs of the whole run."""
        return self._acting

    def record_advance(self, event: int) -> None:
        """Do nothing: no further event follows."""


def drive(system: Advancing[Acting], source: Source[Acting]) -> None:
    """Advance a system from event to event, until the last one or until it cannot continue."""
    advance, acting, advanced = system.advance, source.give_inputs, source.record_advance
    for event, until in enumerate(source.events):
        done = advance(acting(event), until)
        advanced(event)
        if not done:
            return


# A system behind its drives: its start, and the motion under commands from event to event.
#
# A mechanism (`mechanism_start`) and a reduced model (`model_start`) have functions of their own for the start. The
# other functions of `simulate` and `closed_loop` are here.


Run = TypeVar("Run", bound=Plant, covariant=True)


class DrivenStart(NamedTuple, Generic[Run]):
    """A mechanism or a reduced model at the start of a run behind its drives.

    theta, rates : θ and θ̇ (s,); delta : (n - s,), or None
    run          : function that returns the system at the first of the result times (N,), s
    """

    system: System
    bank: DriveBank
    theta: Array
    rates: Array
    delta: Array | None
    run: Callable[[Array], Run]


def holding_forces(begun: DrivenStart[Plant], *, standing: bool = False) -> Array:
    """Return the forces (a,) of compliant drives that hold the system at rest at the start; zero for all others.

    Parameters
    ----------
    begun
        The system at its start.
    standing
        Include drives that do not move, if they can hold it; not those that prescribe motion.
    """
    found = np.zeros(len(begun.bank.inputs))
    yields = begun.bank.find_stiff_inputs(standing=standing)
    if yields:
        c, s, delta = begun.system.equations(begun.theta), len(begun.theta), begun.delta
        still = np.zeros(s if delta is None else s + len(delta))
        needed = c.required_forces(still, still, delta)[:s]
        found[yields] = np.linalg.lstsq(c.input_map[:s], needed, rcond=None)[0][yields]
    return found


def settled_commands(
    begun: DrivenStart[Plant], inputs: Inputs, times: ArrayLike | None, grid: Array, spacing: float | None
) -> tuple[Array, Array]:
    """Settle the drives at the start of a run, and return its commands (B, a), linear between breaks (B,).

    Without commands, drives that move keep their position; for others the default is zero, as for forces.

    Parameters
    ----------
    begun
        The system at its start.
    inputs, times
        Commands as in `simulate`, and the times of their values.
    grid
        (N,) result times, s.
    spacing
        Longest time between samples of callables, s; None samples them at the results.
    """
    bank, place = begun.bank, (begun.theta, begun.rates)
    held = holding_forces(begun)
    bank.reset(*place, forces=held)
    breaks, values = input_course(bank.inputs, complete_commands(bank, inputs), times, grid, spacing)
    bank.reset(*place, first_commands(bank, breaks, values, float(grid[0])), held)
    return breaks, values


def coupled_run(
    begun: DrivenStart[Run], grid: Array, longest: float, breaks: Array, values: Array
) -> tuple[Run, Array, Intervals]:
    """Run drives with feedback from the motion, together with the motion, interval by interval.

    Parameters
    ----------
    begun
        The system at its start, and its drives, settled.
    grid
        (N,) result times, s.
    longest
        Longest interval, s.
    breaks, values
        Commands (B, a), linear between breaks (B,), s.

    Returns
    -------
    tuple
        The run, forces of the inputs from each interval on, and the intervals.
    """
    c = begun.system.equations(begun.theta)
    light = np.einsum("ia,ia->a", c.input_map, np.linalg.solve(c.M, c.input_map))
    cut = intervals(begun.bank, grid, longest, light)
    run = begun.run(cut.times)
    return run, drive_commands(run, begun.bank, cut.times, interval_commands(cut.times, breaks, values)), cut


class DrivenSystem:
    """A plant, advanced by the commands of its drives; every result time is an event. Implements `Advancing`.

    applied : (N, a) commands after dead band, limits, rate limit and resolution
    forces  : (N, a) of the inputs from each event on, with springs and dampers of drives; zero for prescribed motions

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
        inputs, self._theta = len(plant.system.inputs), plant.system.theta
        self._pushes = np.zeros((0, inputs)) if pushes is None else pushes
        self.applied, self.forces = np.zeros((2, len(durations), inputs))
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
        self.applied[k] = self._drives.send_command(command)
        eta, rates = plant.state
        pieces = self._drives.pieces(duration, rates[: self._theta])
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
        """Record forces (a,) of the inputs, minus those of the springs and dampers of compliant drives."""
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
    """A source of known commands (N - 1, a), one for each interval. Implements `Source`."""

    def __init__(self, commands: Array) -> None:
        self._commands, self.events = commands, range(1, len(commands) + 1)

    def give_inputs(self, event: int) -> Array:
        """Return the command (a,) of the interval that begins at this event."""
        return self._commands[event]

    def record_advance(self, event: int) -> None:
        """Do nothing: there is no feedback."""


def drive_commands(plant: Plant, drives: DriveBank, times: Array, commands: Array) -> Array:
    """Send commands, held for each interval, through drives to a plant, as far as it can advance.

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
        (N, a) forces of the inputs from each event on, filled up to the last event that was reached.
    """
    system = DrivenSystem(plant, drives, np.append(np.diff(times), 0.0))
    drive(system, Sent(commands))
    if not plant.reason:
        system.hold()
    return system.forces
