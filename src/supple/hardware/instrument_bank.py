"""Instruments of a machine in a sampled loop: from true outputs to readings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.diagnostics import InputError, require_known
from supple.hardware.hardware import Hardware
from supple.hardware.instrument import Instrument
from supple.hardware.state_space import low_pass_matrices, sampled_low_pass

# The readings of instruments at a sample.


# Slots.
ORDER, WHOLE, FRACTION, LEAST, LARGEST, RESOLUTION, EVERY = 0, 1, 2, 3, 4, 5, 6
STATES, BEFORE, NOW = 2, 2, 3  # columns of a filter: its states, the input before and now
INPUT, READING = 2, 3  # behind the states


class InstrumentArrays(NamedTuple):
    """Arrays of o instruments.

    facts   : (o, 7) ORDER of the low-pass; delay in WHOLE samples and the FRACTION of one; LEAST and LARGEST reading,
              RESOLUTION, and EVERY, the number of samples between readings
    filters : (o, 2, 4) x⁺ = Φ x + Γ₀ u + Γ₁ u⁺ from sample to sample, the input linear in between; the first state is
              the output
    errors  : (N, o) added to the readings
    """

    facts: Array
    filters: Array
    errors: Array


class InstrumentState(NamedTuple):
    """State of the instruments.

    memory  : (o, 4) states of the low-pass, its last INPUT, the last READING
    history : (o, H) output of the low-pass at sample k, at k modulo H
    """

    memory: Array
    history: Array


@kernel
def low_pass(instruments, state, i, true):
    """Return the next output of one filter."""
    filters, memory = instruments.filters, state.memory
    if instruments.facts[i, ORDER] == 0.0:
        return true
    first, second = memory[i, 0], memory[i, 1]
    for r in range(STATES):
        memory[i, r] = (
            filters[i, r, 0] * first + filters[i, r, 1] * second
            + filters[i, r, BEFORE] * memory[i, INPUT] + filters[i, r, NOW] * true
        )  # fmt: skip
    memory[i, INPUT] = true
    return memory[i, 0]


@kernel
def settle(state, i, true):
    """Set the state for an output that has been constant for a long time."""
    state.memory[i, 0], state.memory[i, 1], state.memory[i, INPUT] = true, 0.0, true
    for m in range(state.history.shape[1]):
        state.history[i, m] = true


@kernel(purpose="readings of instruments")
def take_readings(instruments, state, k, true, measured):
    """Compute the readings at sample k, measured (o,); samples come in order from 0 on."""
    facts, history, depth = instruments.facts, state.history, state.history.shape[1]
    for i in range(true.shape[0]):
        if k == 0:
            settle(state, i, true[i])
        else:
            history[i, k % depth] = low_pass(instruments, state, i, true[i])
        if k % int(facts[i, EVERY]) == 0:
            whole, part = int(facts[i, WHOLE]), facts[i, FRACTION]
            late = (1.0 - part) * history[i, (k - whole) % depth]
            if part > 0.0:
                late += part * history[i, (k - whole - 1) % depth]
            late = min(max(late + instruments.errors[k, i], facts[i, LEAST]), facts[i, LARGEST])
            if facts[i, RESOLUTION] > 0.0:
                late = facts[i, RESOLUTION] * np.round(late / facts[i, RESOLUTION])
            state.memory[i, READING] = late
        measured[i] = state.memory[i, READING]


# All instruments of a machine.


_WHOLE = 1e-6  # of a sample: largest deviation of a time from whole samples


class InstrumentBank:
    """Instruments of all outputs; one without an instrument is read exactly.

    outputs     : names of the o outputs
    sample_time : s between samples
    count       : largest number of samples
    seed        : random seed of the noise, which is the same for every plant
    """

    def __init__(self, hardware: Hardware, outputs: Sequence[str], sample_time: float, count: int, seed: int = 0):
        if not (isinstance(seed, int | np.integer) and seed >= 0):  # type: ignore[redundant-expr]  # whatever is given
            raise InputError(
                f"must be a whole number from 0 on (got {seed!r})", part="seed of the noise", hint="give another seed"
            )
        self.outputs = tuple(outputs)
        for item in hardware.instruments:
            require_known("output", item.output, self.outputs, part="instruments")
        items = [hardware.instrument(name) or Instrument(name) for name in self.outputs]
        size = len(items)
        facts, filters = np.zeros((size, EVERY + 1)), np.zeros((size, STATES, STATES + 2))
        errors = np.zeros((count, size))
        for i, item in enumerate(items):
            every, delay = _every(item, sample_time), item.delay / sample_time
            whole = int(np.floor(delay + _WHOLE))
            least, largest = item.limits or (-np.inf, np.inf)
            order = len(low_pass_matrices(item)[1])
            facts[i] = order, whole, max(0.0, delay - whole), least, largest, item.resolution, every
            filters[i, :order, :order], filters[i, :order, BEFORE], filters[i, :order, NOW] = sampled_low_pass(
                item, sample_time
            )
            readings = -(-count // every)
            errors[:, i] = np.repeat(reading_errors(item, every * sample_time, readings, seed), every)[:count]
        self.arrays = InstrumentArrays(facts, filters, errors)
        depth = 2 + int(facts[:, WHOLE].max(initial=0.0))
        self.state = InstrumentState(np.zeros((size, READING + 1)), np.zeros((size, depth)))
        self._take = compile_kernel(take_readings)

    def read(self, k: int, true: Array) -> Array:
        """Return the readings (o,) of the true outputs (o,) at sample k; samples are read in order, from 0 on."""
        measured = np.empty(len(self.outputs))
        self._take(self.arrays, self.state, k, true, measured)
        return measured


def _every(item: Instrument, sample_time: float) -> int:
    """Return the number of samples between readings; 1 if the instrument is faster than the loop."""
    if item.sample_time is None or item.sample_time <= sample_time * (1.0 + _WHOLE):
        return 1
    every = item.sample_time / sample_time
    if abs(every - round(every)) > _WHOLE * every:
        raise InputError(
            f"it reads every {item.sample_time:g} s, which is not a multiple of the sample time {sample_time:g} s",
            part=f'instrument of output "{item.output}"',
            hint=f"sample at {item.sample_time / np.ceil(every):g} s, or change its sample_time",
        )
    return round(every)


# Errors of instruments: noise with its spectrum, a bias, and a drifting zero, all from a random seed.


_NOISE, _WALK = 0, 1  # independent random streams


def reading_errors(instrument: Instrument, sample_time: float, count: int, seed: int) -> Array:
    """Return bias + walk + noise (count,) of readings that are `sample_time` apart.

    Coloured noise with the RMS σ and the corner frequency f is the stationary first-order process

        n_k+1 = φ n_k + σ √(1 - φ²) w_k,   φ = exp(-2π f T),   n_0 = σ w_0

    White noise has φ = 0, and the walk is b_k+1 = b_k + walk √T w_k, starting at the bias. w_k are standard normal
    numbers that depend only on the seed, the output's name and k.
    """
    found = np.full(count, instrument.bias)
    if instrument.noise > 0.0:
        w = _normal(instrument.output, _NOISE, seed, count)
        f = instrument.noise_frequency
        phi = 0.0 if f is None else float(np.exp(-2.0 * np.pi * f * sample_time))
        w[1:] *= np.sqrt(1.0 - phi**2)
        from scipy.signal import lfilter

        found += instrument.noise * lfilter([1.0], [1.0, -phi], w)
    if instrument.walk > 0.0:
        steps = _normal(instrument.output, _WALK, seed, count)
        found[1:] += instrument.walk * np.sqrt(sample_time) * np.cumsum(steps[:-1])
    return found


def _normal(output: str, stream: int, seed: int, count: int) -> Array:
    return np.random.default_rng([seed, crc32(output.encode()), stream]).standard_normal(count)
