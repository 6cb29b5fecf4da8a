"""Simulation of a reduced model with its drives and instruments between two samples, in one compiled call."""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.compilation.bundle import block, line, table, whole_line, whole_table
from supple.hardware.drive_kernels import DriveArrays, DriveState, drive_pieces, take_commands
from supple.hardware.instrument_bank import InstrumentArrays, InstrumentState, take_readings
from supple.reduced.arrays import NUMBERS, ModelArrays
from supple.reduced.kernels import INSIDE
from supple.reduced.observing_kernel import Observed
from supple.reduced.time.driven_march import Driven, DrivenOptions, Pair, driven_march

# Slots of the bundle. Drives:
PLACES, BLOCKS, FACTS, DRIVE_X, HELD, QUEUE, MOTION = range(7)
ACTS, STIFFNESS, DAMPING = range(
    7, 10
)  # (a,) index of each input's coordinate or -1; stiffness and damping of its drive
# The model:
LED, FREE, ALONG_STIFFNESS, ALONG_DAMPING = range(10, 14)
COLUMNS, CONSTANTS, SIZES, TERMS, WEIGHTS = range(14, 19)
STAGES, NODES, ERRORS, OPTIONS = range(19, 23)
STATE, KEPT, FOUND = range(23, 26)
# Instruments:
READING_FACTS, FILTERS, NOISE, MEMORY, HISTORY = range(26, 31)
# At every sample: external forces, duration; recorded signals.
PUSHES, DURATIONS, STATES, FOUND_AT, READINGS, APPLIED, FORCES, STOPPED = range(31, 39)

MEASURES, EFFORTS, ORDER = range(3)  # in SIZES
LARGEST, TOLERANCE, SPEED, POWER = range(4)  # in OPTIONS
FULL = -1  # more delayed commands than the queue can hold


@kernel(inline=True)
def options_of(loop):
    """Return the step options of the integrator."""
    numbers = line(loop, OPTIONS)
    pair = Pair(table(loop, STAGES), line(loop, NODES), line(loop, ERRORS), numbers[POWER], numbers[TOLERANCE])
    return DrivenOptions(numbers[LARGEST], numbers[TOLERANCE], numbers[SPEED], pair)


@kernel(inline=True)
def read_observation(loop):
    """Return the arrays that outputs are computed from."""
    sizes = whole_line(loop, SIZES)
    return Observed(
        whole_line(loop, COLUMNS), line(loop, CONSTANTS), sizes[MEASURES], sizes[EFFORTS], whole_table(loop, TERMS),
        line(loop, WEIGHTS), sizes[ORDER],
    )  # fmt: skip


@kernel(inline=True)
def push_pieces(pieces, duration, before, after):
    """Add external forces that change linearly from sample to sample."""
    forces, times = pieces.forces, pieces.times
    for i in range(before.shape[0]):
        slope = (after[i] - before[i]) / duration
        for p in range(forces.shape[0]):
            forces[p, 0, i] += before[i] + slope * times[p]
            forces[p, 1, i] += slope


@kernel(inline=True)
def net_forces(loop, pieces, rates_at, force):
    """Compute the forces (a,) that the drives begin to apply, less those of their stiffness and damping.

    rates_at : position in the state where η̇ begins
    """
    acts, stiffness, damping, state = (
        whole_line(loop, ACTS),
        line(loop, STIFFNESS),
        line(loop, DAMPING),
        line(loop, STATE),
    )
    for i in range(force.shape[0]):
        force[i] = pieces.forces[0, 0, i]
        if acts[i] >= 0:
            force[i] -= stiffness[i] * state[acts[i]] + damping[i] * state[rates_at + acts[i]]


@kernel(purpose="reduced models in the loop")
def loop_sample(memory, loop, command, k):
    """Advance from sample k to the next under commands (a,).

    memory : array of the model
    loop   : bundle of the slots above

    At the last sample the state does not advance. Returns INSIDE, FULL, or the status with which the model stopped; the
    time is then in STOPPED.
    """
    Z = memory.view(np.int64)
    model = ModelArrays(Z, memory[Z[NUMBERS] :])
    drives = DriveArrays(whole_table(loop, PLACES), block(loop, BLOCKS), table(loop, FACTS))
    moving = DriveState(table(loop, DRIVE_X), table(loop, HELD), block(loop, QUEUE), line(loop, MOTION))
    if not take_commands(drives, moving, command, table(loop, APPLIED)[k]):
        return FULL
    led, free, state, found = whole_line(loop, LED), whole_line(loop, FREE), line(loop, STATE), line(loop, FOUND)
    n, theta = led.shape[0] + free.shape[0], line(loop, MOTION).shape[0] - 2
    durations, pushes = line(loop, DURATIONS), table(loop, PUSHES)
    last = durations.shape[0] - 1
    pieces = drive_pieces(drives, moving, durations[k], state[n : n + theta], led.shape[0])
    if pushes.shape[0] > 0:
        push_pieces(pieces, durations[k], pushes[k], pushes[min(k + 1, last)])
    net_forces(loop, pieces, n, table(loop, FORCES)[k])
    if k == last:
        return INSIDE
    driven = Driven(led, free, line(loop, ALONG_STIFFNESS), line(loop, ALONG_DAMPING))
    status, time = driven_march(
        model, options_of(loop), driven, pieces, read_observation(loop), state, line(loop, KEPT), found
    )
    line(loop, STOPPED)[0] = time
    if status != INSIDE:
        return status
    states, founds = table(loop, STATES), table(loop, FOUND_AT)
    for i in range(states.shape[1]):
        states[k + 1, i] = state[i]
    for i in range(found.shape[0]):
        founds[k + 1, i] = found[i]
    instruments = InstrumentArrays(table(loop, READING_FACTS), block(loop, FILTERS), table(loop, NOISE))
    shown = InstrumentState(table(loop, MEMORY), table(loop, HISTORY))
    take_readings(instruments, shown, k + 1, found[2 * n : found.shape[0] - 2], table(loop, READINGS)[k + 1])
    return INSIDE
