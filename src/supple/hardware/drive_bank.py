"""The drives of a machine between samples: commands in, forces and led motions out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compiled
from supple.diagnostics import InputError, nearest
from supple.hardware.drive_block import DriveBlock, settled_drive
from supple.hardware.drive_kernels import (
    ALLOWED,
    BESIDE,
    COMMAND,
    COORDINATE,
    ELAPSED,
    HELD,
    LED,
    ORDER,
    PENDING,
    RATES,
    REACH,
    SINCE,
    DriveArrays,
    DriveState,
    drive_pieces,
    take_commands,
)
from supple.hardware.hardware import Hardware
from supple.hardware.pieces import Pieces

_LONG_AGO = 1e9  # s
_WAITING = 16  # commands that may be on their way at first; room grows where delays are long


class DriveBank:
    """Every input through its drive; the command of one without is its force.

    inputs               : names of the actuators, a of them
    coordinates          : names of the coordinates, whose rates drives may feel, and which they may lead
    actuator_coordinates : actuator -> its coordinate, where it has one among them
    delay                : s, of every command beside the drive's own (that of a computation)

    blocks    : the drive of each input, one that hands on its command where there is none
    places    : number of the coordinate that each acts along, or -1
    led       : numbers of the coordinates that are led, rising
    stiffness, damping : (a,) of what yields: on an actuator's coordinate θ acts the force of `Pieces` - k θ - c θ̇
    """

    def __init__(
        self,
        hardware: Hardware,
        inputs: Sequence[str],
        coordinates: Sequence[str],
        actuator_coordinates: Mapping[str, str],
        *,
        delay: float = 0.0,
    ):
        self.inputs, self.coordinates = tuple(inputs), tuple(coordinates)
        for block in hardware.drives:
            if block.actuator not in self.inputs:
                raise InputError(
                    f'there is no input "{block.actuator}"', part="drives", hint=nearest(block.actuator, inputs)
                )
        self.blocks = tuple(hardware.drive(name) or _direct(name) for name in self.inputs)
        places = [self.coordinates.index(where) if (where := actuator_coordinates.get(name)) in self.coordinates
                  else -1 for name in self.inputs]  # fmt: skip
        self.places = places
        self.led = _led(self.blocks, places, self.coordinates)
        yields = [not block.leads for block in self.blocks]
        self.stiffness = np.array([block.stiffness or 0.0 for block in self.blocks])
        self.damping = np.where(yields, [block.damping for block in self.blocks], 0.0)
        self.arrays = _arrays(self.blocks, places, self.led, delay)
        self.state = _state(self.arrays, len(self.coordinates))
        self._take, self._pieces = compiled(take_commands), compiled(drive_pieces)

    def reset(
        self,
        theta: Array,
        rates: Array,
        command: Array | None = None,
        forces: Array | None = None,
    ) -> Array:
        """Settled at θ and θ̇ (k,), with a command (a,) that has long arrived; it is returned as drives take it.

        command : what they were told so far; if left out, or where it is no number, what keeps them as they are
        forces  : (a,) that the inputs supply there, of which drives that yield give way; none if left out
        """
        supplied = np.zeros(len(self.inputs)) if forces is None else np.asarray(forces, dtype=float)
        here = [(float(theta[k]), float(rates[k])) if k >= 0 else (0.0, 0.0) for k in self.places]
        self.state = state = _state(self.arrays, len(self.coordinates))
        state.motion[RATES:] = rates
        felt = np.empty(len(self.inputs))
        if command is not None:
            state.motion[ELAPSED] = np.inf  # nothing limits how fast it came there
            self._take(self.arrays, state, np.asarray(command, dtype=float), felt)
            state.held[:, PENDING] = 0.0
        for i, (block, (place, rate)) in enumerate(zip(self.blocks, here, strict=True)):
            given = None if command is None or np.isnan(command[i]) else float(felt[i])
            x, felt[i] = settled_drive(block, place, rate, float(supplied[i]), given)
            state.x[i, : block.order] = x
        state.held[:, COMMAND] = state.held[:, ALLOWED] = felt
        return felt

    def holding(self, *, standing: bool = False) -> list[int]:
        """Numbers of inputs whose drives yield and so carry what holds a machine; standing : all that lead nothing."""
        return [i for i, block in enumerate(self.blocks) if not block.leads and (standing or block.moves)]

    def applied(self, command: Array) -> Array:
        """The command (a,) after dead band, limits, rate limit and resolution; it is on its way then."""
        found = np.empty(len(self.inputs))
        while not self._take(self.arrays, self.state, command, found):
            queue = self.state.queue
            self.state = self.state._replace(queue=np.concatenate([queue, np.zeros_like(queue)], axis=2))
        return found

    @property
    def told(self) -> Array:
        """The command (a,) that each block feels."""
        return self.state.held[:, COMMAND].copy()

    def shaped(self, times: Array, commands: Array) -> Array:
        """Commands (N, a) at the times (N,), s, of a run, after dead band, limits, rate limit and resolution."""
        found = np.empty_like(commands)
        for n, elapsed in enumerate(np.diff(times, prepend=times[0])):
            self.state.motion[ELAPSED] = elapsed
            found[n] = self.applied(np.ascontiguousarray(commands[n]))
            self.state.held[:, PENDING] = 0.0
        return found

    def pieces(self, duration: float, rates: Array) -> Pieces:
        """What drives do in the next `duration`, and there they stand then.

        rates : (k,) of the coordinates now; between samples the back-EMF of a motor with inductance goes on as they
                changed since the sample before
        """
        found: Pieces = self._pieces(self.arrays, self.state, duration, rates, len(self.led))
        return found


def _direct(actuator: str) -> DriveBlock:
    """No drive: the command is the force."""
    none = np.zeros(0)
    return DriveBlock(actuator, "", False, np.zeros((0, 0)), none, none, 1.0, none)


def _led(blocks: tuple[DriveBlock, ...], places: list[int], coordinates: tuple[str, ...]) -> tuple[int, ...]:
    found: dict[int, str] = {}
    for block, k in zip(blocks, places, strict=True):
        part = f'drive of actuator "{block.actuator}"'
        if k < 0 and block.tied:
            what = "moves its coordinate" if block.moves else "feels the rate of its coordinate"
            raise InputError(
                f"it {what}, which is none of {', '.join(coordinates)}", part=part,
                hint="make its actuator a coordinate (in a reduced model: one of the region)"
                + (", or give it a drive of force" if block.moves else ", or leave out its inductance"),
            )  # fmt: skip
        if not block.leads:
            continue
        if k in found:
            raise InputError(
                f'it leads "{coordinates[k]}", which that of "{found[k]}" leads already', part=part,
                hint="give one of them a stiffness",
            )  # fmt: skip
        found[k] = block.actuator
    return tuple(sorted(found))


def _arrays(blocks: tuple[DriveBlock, ...], places: list[int], led: tuple[int, ...], delay: float) -> DriveArrays:
    count, size = len(blocks), max((block.order for block in blocks), default=0)
    integers = np.full((count, COORDINATE + 1), -1, dtype=np.int64)
    matrices, facts = np.zeros((count, size, size + BESIDE)), np.zeros((count, REACH + 1))
    for i, (block, k) in enumerate(zip(blocks, places, strict=True)):
        n, (P, Q) = block.order, output_row(block)
        integers[i, ORDER] = n
        if block.leads:
            integers[i, LED] = led.index(k)
        if np.any(block.E):
            integers[i, COORDINATE] = k
        matrices[i, :n, :n] = block.A
        matrices[i, :n, size:] = np.column_stack([block.B, block.E, P])
        poles = np.linalg.eigvals(block.A) if n else np.zeros(0)
        fastest = np.abs(poles).max(initial=0.0)
        moving = np.abs(poles) > 1e-9 * fastest
        slowest = max(0.0, (-poles.real[moving]).min(initial=fastest))
        least, largest = block.limits or (-np.inf, np.inf)
        rate = np.inf if block.rate_limit is None else block.rate_limit
        facts[i] = (Q, fastest, slowest, block.delay + delay, least, largest, rate, block.dead_band, block.resolution,
                    _reach(block))  # fmt: skip
    return DriveArrays(integers, matrices, facts)


def _reach(block: DriveBlock) -> float:
    """|f| that a unit of the command settles at; zero of what moves, or settles nowhere."""
    if block.moves or not block.order or np.linalg.matrix_rank(block.A) < block.order:
        return 0.0
    return abs(block.D - float(block.C @ np.linalg.solve(block.A, block.B)))


def output_row(block: DriveBlock) -> tuple[Array, float]:
    """y = P x + Q c: the motion of what leads, the force k θ_s + c θ̇_s of what yields, f of what pulls."""
    if block.leads:
        return block.C, 0.0
    if not block.moves:
        return block.C, block.D
    assert block.stiffness is not None
    C, c = block.C, block.damping
    return block.stiffness * C + c * (C @ block.A), c * float(C @ block.B)


def _state(arrays: DriveArrays, coordinates: int) -> DriveState:
    inputs, size = arrays.blocks.shape[:2]
    held = np.zeros((inputs, HELD))
    held[:, SINCE] = _LONG_AGO
    return DriveState(np.zeros((inputs, size)), held, np.zeros((2, inputs, _WAITING)), np.zeros(RATES + coordinates))


# Drives that feel what they move, such as motors with inductance, and what they move, interval by interval.
#
# Within an interval the drives go on with the rates of the coordinates as they changed over the one before, and with
# the command of its middle: both are off by the square of the interval. It is a twentieth of the time of the fastest
# block, or of what block and inertia make of each other, 1/√(|C E| bᵀM⁻¹b), b the column of B.


_SHARE = 0.05
_MOST = 1_000_000  # intervals


class Intervals(NamedTuple):
    """Times (N,), s, and which of them are results."""

    times: Array
    results: NDArray[np.int64]


def feels(bank: DriveBank) -> bool:
    """Whether what a drive moves acts back on it."""
    return any(block.E.any() for block in bank.blocks)


def intervals(bank: DriveBank, grid: Array, longest: float, light: Array) -> Intervals:
    """Those between two results (N,) each divided evenly; longest : s; light : (a,) bᵀM⁻¹b of each input."""
    blocks = [float(np.abs(np.linalg.eigvals(block.A)).max(initial=0.0)) for block in bank.blocks]
    both = [np.sqrt(abs(float(block.C @ block.E)) * b) for block, b in zip(bank.blocks, light, strict=True)]
    fast = max(*blocks, *both)
    length = max(min(longest, _SHARE / fast if fast else np.inf), float(grid[-1] - grid[0]) / _MOST)
    counts = np.maximum(1, np.ceil(np.diff(grid) / length - 1e-6)).astype(np.int64)
    parts = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(grid[:-1], grid[1:], counts, strict=True)]
    return Intervals(np.concatenate([*parts, grid[-1:]]), np.concatenate([[0], np.cumsum(counts)]))


def interval_commands(times: Array, breaks: Array, values: Array) -> Array:
    """Commands (N - 1, a) in the middle of each interval of times (N,); values (B, a) are linear between breaks."""
    middle = 0.5 * (times[:-1] + times[1:])
    return np.ascontiguousarray(np.array([np.interp(middle, breaks, column) for column in values.T]).T)
