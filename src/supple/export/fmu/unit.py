"""Contents of an FMU, independent of the FMI version: its variables, and the C code that simulates it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from supple.export.c.source_text import c_table, comment, string
from supple.export.template import Words, fill_template, template_parts

PARTS = template_parts("supple.export.fmu", "unit.h")


_LARGEST = float(np.finfo(float).max)
GIVEN = {False: "const double *p", True: "const double *p, const unit_prepared *made"}


class FmuQuantity(NamedTuple):
    """Variable of an FMU: name, unit ("" if unknown), start value, description, nominal value, and range."""

    name: str
    unit: str = ""
    start: float = 0.0
    description: str = ""
    nominal: float = 1.0
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class FmuContents:
    """Contents of an FMU.

    states   : ẋ = f(x, u); the second half of them are rates of the first if `rated`
    feeds    : indices of states and inputs that each output depends on, (states, inputs)
    rates_on : indices of states and inputs that each state derivative depends on
    sources  : C files besides the FMI code, by name; one of them is `unit.c`
    memory   : number of values stored besides the states
    exchanged: True if importers may integrate it (Model Exchange)
    step     : suggested communication step, s
    region   : limits of the first states, (2, count); messages name them
    prepared : True if data computed from parameters are cached until parameters change (`unit_prepare`)
    """

    name: str
    identifier: str
    description: str
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
    region: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
    prepared: bool = False

    def header(self, token: str) -> str:
        """Return the text of `unit.h`."""
        sizes = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs, "parameters": self.parameters}
        words: Words = {name: len(items) for name, items in sizes.items()}
        return fill_template(PARTS["header"], words | {
            "name": comment(self.name), "token": string(token), "memory": str(self.memory),
            "exchanged": str(int(self.exchanged)), "given": GIVEN[self.prepared],
            "prepared": self.prepared, "prefix": self.identifier,
        })  # fmt: skip

    def starts(self) -> str:
        """Return start values, for `unit.c`."""
        text = ""
        groups = (("start_x", self.states), ("start_u", self.inputs), ("start_p", self.parameters))
        for name, items in groups:
            text += c_table("double", f"unit_{name}", np.array([*(item.start for item in items), 0.0]))
        text += c_table("double", "unit_nominal_x", np.array([*(item.nominal for item in self.states), 1.0]))
        region = np.array([[-_LARGEST], [_LARGEST]]) * np.ones(len(self.states) + 1)
        region[:, : len(self.region[0])] = self.region
        text += c_table("double", "unit_region", region)
        names = ", ".join(string(item.name) for item in (*self.states, *self.inputs, *self.parameters))
        text += f"static const char *const unit_names[] = {{{names}{', ' if names else ''}0}};\n"
        return text.replace("static const", "const")
