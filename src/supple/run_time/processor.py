"""Processors that run-time forms are made for: the type of their numbers, and the time of a multiply-add."""

from __future__ import annotations

from dataclasses import dataclass

from supple.diagnostics import require_known


@dataclass(frozen=True)
class Processor:
    """Processor that evaluates a model.

    precision : floating-point type of the exported code
    number    : bytes of one coefficient
    cycles    : clock cycles of one multiply-add with its loads, for an estimate of the time; 0 if unknown
    """

    name: str
    description: str
    precision: str
    number: int
    cycles: float = 0.0


# A multiply-add of the Cortex-M4F and M33 takes three cycles, and the loads of its operands about one more, because
# loads of several registers overlap. The M7 issues a load and a multiply-add together [ARM DDI 0439, 0489, 100230].
PROCESSORS = {
    item.name: item
    for item in (
        Processor("host", "any processor with double precision", "double", 8),
        Processor("cortex-m4f", "ARM Cortex-M4 with a single-precision unit", "single", 4, 4.0),
        Processor("cortex-m7", "ARM Cortex-M7 with a single-precision unit", "single", 4, 2.0),
        Processor("cortex-m33", "ARM Cortex-M33 with a single-precision unit", "single", 4, 4.0),
    )
}


def processor_of(name: str) -> Processor:
    """Return the processor of a name."""
    require_known("target", name, PROCESSORS, part="target")
    return PROCESSORS[name]
