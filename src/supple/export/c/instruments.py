"""C code of instruments: readings of true outputs from sample to sample (docs/theory/hardware.md)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.export.c.source_text import c_table
from supple.export.template import template_parts
from supple.hardware.hardware import Hardware
from supple.hardware.instrument import Instrument
from supple.hardware.state_space import low_pass_matrices

PARTS = template_parts("supple.export.c", "instruments.c")
SLOTS = "enum { NOISE, COLOUR, WALK, BIAS, LATE, STEP, LOWEST, HIGHEST, CORNER, OWN };\n"
_LARGEST = float(np.finfo(float).max)


def instrument_tables(hardware: Hardware, outputs: Sequence[str]) -> str:
    """Return the constant tables of the instruments."""
    items = [hardware.instrument(name) or Instrument(name) for name in outputs]
    filters, orders = np.zeros((len(items), 2, 5)), np.zeros(len(items), dtype=int)
    for i, item in enumerate(items):
        A, B = low_pass_matrices(item)
        orders[i] = k = len(B)
        filters[i, :k, :k], filters[i, :k, 3] = A, B  # the true output is the input, at the place of ω of a drive
    text = f"enum {{ OUTPUTS = {len(items)} }};\n{SLOTS}" + c_table("int", "order", orders)
    text += c_table("double", "low_pass", filters)
    return text + c_table("double", "reads", np.array([_facts(item) for item in items]))


def _facts(item: Instrument) -> list[float]:
    least, largest = item.limits or (-_LARGEST, _LARGEST)
    corner = 0.0 if item.frequency is None else 2.0 * np.pi * item.frequency
    if item.damping is not None:  # two real poles: the magnitude of the faster one
        corner *= item.damping + np.sqrt(max(0.0, item.damping**2 - 1.0)) if item.damping > 1.0 else 1.0
    return [item.noise, item.noise_frequency or 0.0, item.walk, item.bias, item.delay, item.resolution, least, largest,
            corner, item.sample_time or 0.0]  # fmt: skip
