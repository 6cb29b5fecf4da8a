"""What an FMU simulates: its variables, and C code that moves it on; whatever the version of FMI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from supple.export.c.source_text import c_table, comment, string
from supple.export.template import Words, filled, template_parts

PARTS = template_parts("supple.export.fmu", "unit.h")


GIVEN = {False: "const double *p", True: "const double *p, const unit_prepared *made"}


class FmuQuantity(NamedTuple):
    """A number of it: name, unit ("" if it is not known), start value, what it is, usual size, and where it may lie."""

    name: str
    unit: str = ""
    start: float = 0.0
    says: str = ""
    nominal: float = 1.0
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class FmuContents:
    """What an FMU is made of.

    states   : ẋ = f(x, u), the second half of them the rates of the first where `rated`
    feeds    : of each output the places of states and inputs that it depends on, as (states, inputs)
    rates_on : likewise of each state's derivative
    sources  : C files beside the code of FMI, by name; among them `unit.c`
    memory   : numbers that it remembers beside its states
    exchanged: whether it may be integrated by others (Model Exchange)
    step     : s, between communications, a suggestion
    prepared : whether something follows from parameters that is kept until they change, as `unit_prepare` makes it
    """

    name: str
    identifier: str
    says: str
    states: tuple[FmuQuantity, ...]
    inputs: tuple[FmuQuantity, ...]
    outputs: tuple[FmuQuantity, ...]
    parameters: tuple[FmuQuantity, ...]
    rates_on: tuple[tuple[list[int], list[int]], ...]
    feeds: tuple[tuple[list[int], list[int]], ...]
    sources: Mapping[str, str]
    memory: int = 0
    exchanged: bool = True
    step: float = 1e-3
    discrete: bool = False
    units_of_rates: tuple[str, ...] = field(default=())
    prepared: bool = False

    def header(self, token: str) -> str:
        """The text of `unit.h`."""
        sizes = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs, "parameters": self.parameters}
        words: Words = {name: len(items) for name, items in sizes.items()}
        return filled(PARTS["header"], words | {
            "name": comment(self.name), "token": string(token), "memory": str(self.memory),
            "exchanged": str(int(self.exchanged)), "given": GIVEN[self.prepared],
            "prepared": self.prepared, "prefix": self.identifier,
        })  # fmt: skip

    def starts(self) -> str:
        """Start values, for `unit.c`."""
        text = ""
        groups = (("start_x", self.states), ("start_u", self.inputs), ("start_p", self.parameters))
        for name, items in groups:
            text += c_table("double", f"unit_{name}", np.array([*(item.start for item in items), 0.0]))
        text += c_table("double", "unit_nominal_x", np.array([*(item.nominal for item in self.states), 1.0]))
        return text.replace("static const", "const")
