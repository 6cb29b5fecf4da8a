"""Instruments at a sample: what they make of the true outputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import kernel

# Slots.
ORDER, WHOLE, FRACTION, LEAST, LARGEST, RESOLUTION, EVERY = 0, 1, 2, 3, 4, 5, 6
STATES, BEFORE, NOW = 2, 2, 3  # columns of a filter: its states, the input before and now
INPUT, READING = 2, 3  # behind the states


class InstrumentArrays(NamedTuple):
    """o outputs.

    facts   : (o, 7) ORDER of the low-pass; delay in WHOLE samples and the FRACTION of one; LEAST and LARGEST reading,
              RESOLUTION, and at EVERY which sample it reads
    filters : (o, 2, 4) x⁺ = Φ x + Γ₀ u + Γ₁ u⁺ from sample to sample, the input linear in between; the first state is
              the output
    errors  : (N, o) added to the readings
    """

    facts: Array
    filters: Array
    errors: Array


class InstrumentState(NamedTuple):
    """memory : (o, 4) states of the low-pass, its last INPUT, the last READING; history : (o, H), at k modulo H what
    came out of the low-pass at sample k."""

    memory: Array
    history: Array


@kernel
def low_pass(instruments, state, i, true):
    """The next output of one filter."""
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
    """As if the output had been there for long."""
    state.memory[i, 0], state.memory[i, 1], state.memory[i, INPUT] = true, 0.0, true
    for m in range(state.history.shape[1]):
        state.history[i, m] = true


@kernel(purpose="readings of instruments")
def take_readings(instruments, state, k, true, measured):
    """Readings at sample k, which come in order from 0 on: measured (o,)."""
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
