"""Kernels of drives from sample to sample: delayed commands, and the output of the blocks as cubics."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.hardware.pieces import Pieces

TERMS = 14  # of the Taylor series; with ‖A‖ h <= 1/2 the next is below rounding
STRIDE = 0.5  # h times the fastest rate of a block, for the series
CUBIC = 0.25  # the same for one cubic: its error is then less than 0.25⁴/384 = 1e-5 of the motion
TOGETHER = 1e-9  # of the duration: closer events are merged

# Slots of combined arrays: few arrays, since passing one to native code takes as long as a hundred products.
ORDER, LED, COORDINATE = 0, 1, 2
FEEDS, FASTEST, SLOWEST, DELAY, LEAST, LARGEST, RATE_LIMIT, DEAD_BAND, RESOLUTION, REACH = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
COMMANDED, LOADED, SEEN, BESIDE = 0, 1, 2, 3  # columns behind those of A
COMMAND, ALLOWED, SINCE, PENDING, HELD = 0, 1, 2, 3, 4
ARRIVES, CARRIES = 0, 1
ELAPSED, SPAN, RATES = 0, 1, 2


class DriveArrays(NamedTuple):
    """Blocks of a inputs with at most n states, ẋ = A x + B c + E ω, y = P x + Q c, and data of their commands.

    places : (a, 3) ORDER, number of states; LED, index among the prescribed coordinates, or -1: y is a force;
             COORDINATE, whose rate ω is, or -1
    blocks : (a, n, n + 3) A, then the columns B (COMMANDED), E (LOADED) and Pᵀ (SEEN)
    facts  : (a, 10) Q (FEEDS); FASTEST and SLOWEST rate, 1/s, of the modes of the block, zero without states; DELAY,
             LEAST and LARGEST command, RATE_LIMIT, DEAD_BAND, RESOLUTION; REACH, the force at which a unit command
             settles, zero for motion drives
    """

    places: Integers
    blocks: Array
    facts: Array


class DriveState(NamedTuple):
    """State of the drives.

    x      : (a, n) states of the blocks
    held   : (a, 4) COMMAND that acts on the block, ALLOWED: the last one before its resolution, SINCE: s since the
             first of them changed, PENDING: number of delayed commands
    queue  : (2, a, m) delayed commands: ARRIVES, s until each acts, and CARRIES, its value
    motion : (2 + k,) ELAPSED, s since the last command, SPAN of the previous piece of time, then the RATES of the
             coordinates at the previous sample
    """

    x: Array
    held: Array
    queue: Array
    motion: Array


@kernel(purpose="commands of drives")
def take_commands(drives, state, command, applied):
    """Put commands (a,) as drives apply them into the queue and into applied (a,); False if the queue is full."""
    facts, held, queue = drives.facts, state.held, state.queue
    for i in range(command.shape[0]):
        if held[i, PENDING] == queue.shape[2]:
            return False
    for i in range(command.shape[0]):
        c, band = command[i], facts[i, DEAD_BAND]
        if abs(c) <= band:
            c = 0.0
        else:
            c -= band if c > 0.0 else -band
        c = min(max(c, facts[i, LEAST]), facts[i, LARGEST])
        most = facts[i, RATE_LIMIT] * state.motion[ELAPSED]
        if most < np.inf:  # also false for nan, from an unlimited rate and zero time
            c = min(max(c, held[i, ALLOWED] - most), held[i, ALLOWED] + most)
        held[i, ALLOWED] = c
        if facts[i, RESOLUTION] > 0.0:
            c = facts[i, RESOLUTION] * np.round(c / facts[i, RESOLUTION])
        applied[i] = c
        last = int(held[i, PENDING])
        queue[ARRIVES, i, last], queue[CARRIES, i, last] = facts[i, DELAY], c
        held[i, PENDING] += 1.0
    state.motion[ELAPSED] = 0.0
    return True


@kernel
def arrive(state, i, now):
    """Let commands that have arrived by now act on the block."""
    held, queue = state.held, state.queue
    felt, pending = 0, int(held[i, PENDING])
    while felt < pending and queue[ARRIVES, i, felt] <= now:
        if queue[CARRIES, i, felt] != held[i, COMMAND]:
            held[i, COMMAND], held[i, SINCE] = queue[CARRIES, i, felt], 0.0
        felt += 1
    if felt > 0:
        held[i, PENDING] = pending - felt
        for m in range(pending - felt):
            queue[ARRIVES, i, m] = queue[ARRIVES, i, m + felt]
            queue[CARRIES, i, m] = queue[CARRIES, i, m + felt]


@kernel
def block_rates(drives, state, i, omega, rates):
    """Compute ẋ = A x + B c + E ω of one block; return y = P x + Q c, ẏ = P ẋ and, without load effect, ÿ = P A ẋ."""
    blocks, x, n, size = drives.blocks, state.x, drives.places[i, ORDER], state.x.shape[1]
    c = state.held[i, COMMAND]
    y, slope, second = drives.facts[i, FEEDS] * c, 0.0, 0.0
    for r in range(n):
        total = blocks[i, r, size + COMMANDED] * c + blocks[i, r, size + LOADED] * omega
        for s in range(n):
            total += blocks[i, r, s] * x[i, s]
        rates[r] = total
        y += blocks[i, r, size + SEEN] * x[i, r]
        slope += blocks[i, r, size + SEEN] * total
    for r in range(n):
        for s in range(n):
            second += blocks[i, r, size + SEEN] * blocks[i, r, s] * rates[s]
    return y, slope, second


@kernel
def longest_cubic(drives, state, i, omega):
    """Return the longest time over which a cubic represents the output of a block, s.

    Motion after a change of the command decays with the slowest rate, and pieces grow accordingly. A force may besides
    have an error of 1e-5 of the value at which its command settles: h⁴/384 (|y⁗| + |y⁗˙|/|λ|), which does not vanish
    where y⁗ oscillates.
    """
    facts, n, size = drives.facts, drives.places[i, ORDER], state.x.shape[1]
    fastest = facts[i, FASTEST]
    length = CUBIC / fastest * math.exp(min(0.25 * facts[i, SLOWEST] * state.held[i, SINCE], 30.0))
    if facts[i, REACH] == 0.0:
        return length
    terms = np.empty((2, n))
    y = block_rates(drives, state, i, omega, terms[0])[0]
    moving = 0.0
    for k in range(1, 5):  # A ẋ, ..., A⁴ ẋ
        for r in range(n):
            total = 0.0
            for s in range(n):
                total += drives.blocks[i, r, s] * terms[(k + 1) % 2, s]
            terms[k % 2, r] = total
        if k >= 3:
            change = 0.0
            for r in range(n):
                change += drives.blocks[i, r, size + SEEN] * terms[k % 2, r]
            moving += abs(change) if k == 3 else abs(change) / fastest
    allowed = CUBIC**4 * max(abs(y), facts[i, REACH] * abs(state.held[i, COMMAND]))
    if allowed > moving * length**4:
        return (allowed / max(moving, 1e-30 * allowed)) ** 0.25
    return length


@kernel
def next_length(drives, state, span, slopes, close):
    """Return the time until the next command arrives, at most the time that a cubic can represent.

    span : now and the duration
    """
    now, duration = span
    held, queue, places = state.held, state.queue, drives.places
    length = duration - now
    for i in range(held.shape[0]):
        if held[i, PENDING] > 0.0 and queue[ARRIVES, i, 0] < now + length - close:
            length = queue[ARRIVES, i, 0] - now
    longest = length
    for i in range(held.shape[0]):
        if drives.facts[i, FASTEST] > 0.0:
            k = places[i, COORDINATE]
            omega = state.motion[RATES + k] + slopes[k] * now if k >= 0 else 0.0
            longest = min(longest, longest_cubic(drives, state, i, omega))
    return length / math.ceil(length / longest - 1e-6)  # equal pieces: no sliver at the end


@kernel
def block_advance(drives, state, i, length, omega, slope):
    """Advance x exactly with constant c and ω growing by `slope`: its Taylor series, in convergent strides."""
    blocks, x, n, size = drives.blocks, state.x, drives.places[i, ORDER], state.x.shape[1]
    terms = np.empty((2, n))
    count = max(1, math.ceil(length * drives.facts[i, FASTEST] / STRIDE))
    h = length / count
    for stride in range(count):
        block_rates(drives, state, i, omega + slope * h * stride, terms[0])
        factor = h
        for k in range(TERMS):
            now, after = k % 2, (k + 1) % 2
            for r in range(n):
                x[i, r] += factor * terms[now, r]
            for r in range(n):
                total = blocks[i, r, size + LOADED] * slope if k == 0 else 0.0
                for s in range(n):
                    total += blocks[i, r, s] * terms[now, s]
                terms[after, r] = total
            factor *= h / (k + 2)


@kernel
def put_cubic(cubics, piece, column, length, ends):
    """Set the cubic with values y₀, y₁ and rates v₀, v₁ at its ends."""
    y0, v0, y1, v1 = ends
    cubics[piece, 0, column] = y0
    cubics[piece, 1, column] = v0
    cubics[piece, 2, column] = (3.0 * (y1 - y0) - length * (2.0 * v0 + v1)) / length**2
    cubics[piece, 3, column] = (2.0 * (y0 - y1) + length * (v0 + v1)) / length**3


@kernel
def drive_piece(drives, state, i, piece, span, slopes, found):
    """Compute the cubic of one block over one piece, and advance its state."""
    now, length = span
    k, column = drives.places[i, COORDINATE], drives.places[i, LED]
    slope = slopes[k] if k >= 0 else 0.0
    omega = state.motion[RATES + k] + slope * now if k >= 0 else 0.0
    rates = np.empty(state.x.shape[1])
    y0, v0, a0 = block_rates(drives, state, i, omega, rates)
    block_advance(drives, state, i, length, omega, slope)
    y1, v1, a1 = block_rates(drives, state, i, omega + slope * length, rates)
    if column >= 0:
        found.accelerations[piece, 0, column], found.accelerations[piece, 1, column] = a0, a1
        put_cubic(found.led, piece, column, length, (y0, v0, y1, v1))
    else:
        put_cubic(found.forces, piece, i, length, (y0, v0, y1, v1))


@kernel
def empty_pieces(count, inputs, led):
    """Return empty pieces."""
    return Pieces(
        np.zeros(count + 1), np.zeros((count, 4, inputs)), np.zeros((count, 4, led)), np.zeros((count, 2, led))
    )


@kernel
def first_pieces(found, count):
    """Return the first pieces, in arrays of their own."""
    if count == found.forces.shape[0]:
        return found
    return Pieces(
        found.times[: count + 1].copy(), found.forces[:count].copy(), found.led[:count].copy(),
        found.accelerations[:count].copy(),
    )  # fmt: skip


@kernel
def most_pieces(drives, state, duration):
    """Return the largest number of pieces: arriving commands and the fastest block divide the time."""
    fastest, count = 0.0, 1.0
    for i in range(state.held.shape[0]):
        fastest = max(fastest, drives.facts[i, FASTEST])
        for m in range(int(state.held[i, PENDING])):
            if 0.0 < state.queue[ARRIVES, i, m] < duration:
                count += 1.0
    return int(count + math.floor(duration * fastest / CUBIC))


@kernel(purpose="drives from sample to sample")
def drive_pieces(drives, state, duration, rates, led):
    """Return the output of the blocks over a duration, with commands as they arrive and ω extrapolated.

    rates : (k,) of the coordinates now
    led   : number of prescribed coordinates
    """
    close, inputs, motion = TOGETHER * duration, state.held.shape[0], state.motion
    slopes = np.zeros(rates.shape[0])
    for k in range(rates.shape[0]):
        if motion[SPAN] > 0.0:
            slopes[k] = (rates[k] - motion[RATES + k]) / motion[SPAN]
        motion[RATES + k] = rates[k]
    for i in range(inputs):
        if drives.places[i, COORDINATE] >= 0:
            state.held[i, SINCE] = 0.0  # the slope of ω has changed
    found = empty_pieces(most_pieces(drives, state, duration), inputs, led)
    piece, now = 0, 0.0
    while now < duration - close:
        for i in range(inputs):
            arrive(state, i, now + close)
        length = next_length(drives, state, (now, duration), slopes, close)
        for i in range(inputs):
            drive_piece(drives, state, i, piece, (now, length), slopes, found)
            state.held[i, SINCE] += length
        now += length
        piece += 1
        found.times[piece] = now
    found.times[piece] = duration
    for i in range(inputs):
        for m in range(int(state.held[i, PENDING])):
            state.queue[ARRIVES, i, m] -= duration
    motion[SPAN] = duration
    motion[ELAPSED] += duration
    return first_pieces(found, piece)
