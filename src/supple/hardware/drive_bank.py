"""Drives of a machine between samples: from commands to forces and prescribed motions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.diagnostics import InputError, require_known
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

_LONG_AGO = 1e9  # s since the last change of a command, before any
_WAITING = 16  # initial room for delayed commands; it grows with long delays


class DriveBank:
    """Drives of all inputs; without a drive, the command of an input is its force.

    inputs               : names of the a actuators
    coordinates          : names of the coordinates, whose rates act on drives, and which drives may prescribe
    actuator_coordinates : actuator -> its coordinate, if it has one among them
    delay                : s, of every command in addition to the drive's own (that of a computation)

    blocks    : the drive of each input, one that passes its command on if there is none
    places    : index of the coordinate that each acts along, or -1
    led       : indices of the prescribed coordinates, rising
    stiffness, damping : (a,) of drives with stiffness: the force on an actuator's coordinate θ is that of `Pieces`
                         - k θ - c θ̇
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
            require_known("input", block.actuator, self.inputs, part="drives")
        self.blocks = tuple(hardware.drive(name) or _direct(name) for name in self.inputs)
        places = [self.coordinates.index(where) if (where := actuator_coordinates.get(name)) in self.coordinates
                  else -1 for name in self.inputs]  # fmt: skip
        self.places = places
        self.led = _find_led_coordinates(self.blocks, places, self.coordinates)
        yields = [not block.leads for block in self.blocks]
        self.stiffness = np.array([block.stiffness or 0.0 for block in self.blocks])
        self.damping = np.where(yields, [block.damping for block in self.blocks], 0.0)
        self.arrays = _arrays(self.blocks, places, self.led, delay)
        self.state = _state(self.arrays, len(self.coordinates))
        self._take, self._pieces = compile_kernel(take_commands), compile_kernel(drive_pieces)

    def reset(
        self,
        theta: Array,
        rates: Array,
        command: Array | None = None,
        forces: Array | None = None,
    ) -> Array:
        """Settle the drives at θ and θ̇ (k,), and return their commands (a,) as the drives apply them.

        command : commands so far; by default, or where it is nan, those that keep the drives as they are
        forces  : (a,) of the inputs there, which drives with stiffness yield to; zero by default
        """
        supplied = np.zeros(len(self.inputs)) if forces is None else np.asarray(forces, dtype=float)
        here = [(float(theta[k]), float(rates[k])) if k >= 0 else (0.0, 0.0) for k in self.places]
        self.state = state = _state(self.arrays, len(self.coordinates))
        state.motion[RATES:] = rates
        taken = np.empty(len(self.inputs))
        if command is not None:
            state.motion[ELAPSED] = np.inf  # without a rate limit
            self._take(self.arrays, state, np.asarray(command, dtype=float), taken)
            state.held[:, PENDING] = 0.0
        for i, (block, (place, rate)) in enumerate(zip(self.blocks, here, strict=True)):
            given = None if command is None or np.isnan(command[i]) else float(taken[i])
            x, taken[i] = settled_drive(block, place, rate, float(supplied[i]), given)
            state.x[i, : block.order] = x
        state.held[:, COMMAND] = state.held[:, ALLOWED] = taken
        return taken

    def find_stiff_inputs(self, *, standing: bool = False) -> list[int]:
        """Return the indices of inputs whose drives have a stiffness; standing : of all except prescribing drives."""
        return [i for i, block in enumerate(self.blocks) if not block.leads and (standing or block.moves)]

    def send_command(self, command: Array) -> Array:
        """Return the command (a,) after dead band, limits, rate limit and resolution, and put it into the queue."""
        found = np.empty(len(self.inputs))
        while not self._take(self.arrays, self.state, command, found):
            queue = self.state.queue
            self.state = self.state._replace(queue=np.concatenate([queue, np.zeros_like(queue)], axis=2))
        return found

    @property
    def active_commands(self) -> Array:
        """Commands (a,) that act on each block."""
        return self.state.held[:, COMMAND].copy()

    def shape_commands(self, times: Array, commands: Array) -> Array:
        """Return commands (N, a) at the times (N,), s, of a run after dead band, limits, rate limit and resolution."""
        found = np.empty_like(commands)
        for n, elapsed in enumerate(np.diff(times, prepend=times[0])):
            self.state.motion[ELAPSED] = elapsed
            found[n] = self.send_command(np.ascontiguousarray(commands[n]))
            self.state.held[:, PENDING] = 0.0
        return found

    def pieces(self, duration: float, rates: Array) -> Pieces:
        """Return the output of the drives in the next `duration`, and advance their states to its end.

        rates : (k,) of the coordinates now; between samples the back-EMF of a motor with inductance continues with the
                slope of the rates since the previous sample
        """
        found: Pieces = self._pieces(self.arrays, self.state, duration, rates, len(self.led))
        return found


def _direct(actuator: str) -> DriveBlock:
    """Return the block of an actuator without a drive: its command is the force."""
    none = np.zeros(0)
    return DriveBlock(actuator, "", False, np.zeros((0, 0)), none, none, 1.0, none)


def _find_led_coordinates(
    blocks: tuple[DriveBlock, ...], places: list[int], coordinates: tuple[str, ...]
) -> tuple[int, ...]:
    found: dict[int, str] = {}
    for block, k in zip(blocks, places, strict=True):
        part = f'drive of actuator "{block.actuator}"'
        if k < 0 and block.tied:
            what = "prescribes the motion" if block.moves else "depends on the rate"
            raise InputError(
                f"it {what} of its coordinate, which is none of {', '.join(coordinates)}", part=part,
                hint="make its actuator a coordinate (in a reduced model: one of the region)"
                + (", or use a force drive" if block.moves else ", or leave out its inductance"),
            )  # fmt: skip
        if not block.leads:
            continue
        if k in found:
            raise InputError(
                f'it prescribes "{coordinates[k]}", which the drive of "{found[k]}" prescribes already', part=part,
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
    """Return |f| at which a unit command settles; zero for drives that prescribe motion, or do not settle."""
    if block.moves or not block.order or np.linalg.matrix_rank(block.A) < block.order:
        return 0.0
    return abs(block.D - float(block.C @ np.linalg.solve(block.A, block.B)))


def output_row(block: DriveBlock) -> tuple[Array, float]:
    """Return y = P x + Q c: the motion of a drive, the force k θ_s + c θ̇_s of one with stiffness, or its force f."""
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


# Drives that depend on the motion, such as motors with inductance, coupled to the mechanism interval by interval.
#
# Within an interval the drives use the rates of the coordinates extrapolated from the previous one, and
# the command at its middle: both errors are of second order in the interval. It is a twentieth of the time constant of
# the fastest block, or of block and inertia together, 1/√(|C E| bᵀM⁻¹b), b the column of B.


_SHARE = 0.05
_MOST = 1_000_000  # intervals


class Intervals(NamedTuple):
    """Times (N,), s, and indices of the results among them."""

    times: Array
    results: NDArray[np.int64]


def depend_on_motion(bank: DriveBank) -> bool:
    """Return whether a drive depends on the motion that it causes."""
    return any(block.E.any() for block in bank.blocks)


def intervals(bank: DriveBank, grid: Array, longest: float, compliance: Array) -> Intervals:
    """Divide the time between two results (N,) evenly into intervals.

    longest : s, longest interval
    compliance   : (a,) bᵀM⁻¹b of each input
    """
    block_rates = [float(np.abs(np.linalg.eigvals(block.A)).max(initial=0.0)) for block in bank.blocks]
    coupled_rates = [
        np.sqrt(abs(float(block.C @ block.E)) * b) for block, b in zip(bank.blocks, compliance, strict=True)
    ]
    fast = max(*block_rates, *coupled_rates)
    length = max(min(longest, _SHARE / fast if fast else np.inf), float(grid[-1] - grid[0]) / _MOST)
    counts = np.maximum(1, np.ceil(np.diff(grid) / length - 1e-6)).astype(np.int64)
    parts = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(grid[:-1], grid[1:], counts, strict=True)]
    return Intervals(np.concatenate([*parts, grid[-1:]]), np.concatenate([[0], np.cumsum(counts)]))


def interval_commands(times: Array, breaks: Array, values: Array) -> Array:
    """Return commands (N - 1, a) at the middle of each interval of times (N,); values (B, a) are at breaks."""
    middle = 0.5 * (times[:-1] + times[1:])
    return np.ascontiguousarray(np.array([np.interp(middle, breaks, column) for column in values.T]).T)
