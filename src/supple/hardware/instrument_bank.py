"""The instruments of a machine in a sampled loop: true outputs in, readings out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.array_types import Array
from supple.compilation import compiled
from supple.diagnostics import InputError, nearest
from supple.hardware.errors import reading_errors
from supple.hardware.hardware import Hardware
from supple.hardware.instrument import Instrument
from supple.hardware.instrument_kernels import (
    BEFORE,
    EVERY,
    NOW,
    READING,
    STATES,
    WHOLE,
    InstrumentArrays,
    InstrumentState,
    take_readings,
)
from supple.hardware.low_pass import low_pass_matrices, sampled_low_pass

_WHOLE = 1e-6  # of a sample: how far a time may be from a whole number of them


class InstrumentBank:
    """Every output through its instrument; one without is read exactly.

    outputs     : names of the outputs, o of them
    sample_time : s between samples; count : how many there will be at most
    seed        : of the noise; the same seed gives the same noise, whatever the plant
    """

    def __init__(self, hardware: Hardware, outputs: Sequence[str], sample_time: float, count: int, seed: int = 0):
        if not (isinstance(seed, int | np.integer) and seed >= 0):  # type: ignore[redundant-expr]  # whatever is given
            raise InputError(f"it is {seed!r}", part="seed of the noise", hint="give a whole number from 0 on")
        self.outputs = tuple(outputs)
        for item in hardware.instruments:
            if item.output not in self.outputs:
                raise InputError(
                    f'there is no output "{item.output}"', part="instruments", hint=nearest(item.output, outputs)
                )
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
        self._take = compiled(take_readings)

    def read(self, k: int, true: Array) -> Array:
        """Readings (o,) of the true outputs (o,) at sample k; samples are read in order, from 0 on."""
        measured = np.empty(len(self.outputs))
        self._take(self.arrays, self.state, k, true, measured)
        return measured


def _every(item: Instrument, sample_time: float) -> int:
    """At every how many samples it reads: always, if faster than they are."""
    if item.sample_time is None or item.sample_time <= sample_time * (1.0 + _WHOLE):
        return 1
    every = item.sample_time / sample_time
    if abs(every - round(every)) > _WHOLE * every:
        raise InputError(
            f"it reads every {item.sample_time:g} s, which is no multiple of the sample time {sample_time:g} s",
            part=f'instrument of output "{item.output}"',
            hint=f"sample at {item.sample_time / np.ceil(every):g} s, or change its sample_time",
        )
    return round(every)
