"""Outputs as sums of products of what a model knows: measures μ with their rates, and forces inside it.

    y_o = Σ w x_a^(p) x_b^(q),    x = (μ, efforts),    of an effort the value alone, p = 0

A position is a measure as it stands, an acceleration its second rate; in the axes of a body it is turned by measures
that are the components of these axes. A stress is a sum of section forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import InputError

Numbers = NDArray[Any]  # real, or complex where derivatives are taken by a complex step

ORDERS = 3  # value, rate, second rate


class Product(NamedTuple):
    """weight Π x_k^(p) of at most two factors (k, p): numbers among measures and efforts, and orders of rates."""

    weight: float
    factors: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Observation:
    """Outputs by name, each a sum of products.

    measures : names of the measures, in the order of a row of coefficients; efforts : of forces inside
    """

    measures: tuple[str, ...]
    efforts: tuple[str, ...]
    outputs: dict[str, tuple[Product, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.outputs)

    @cached_property
    def plain(self) -> bool:
        """Whether every output is a measure as it stands, in their order."""
        return tuple(self.outputs) == self.measures and all(
            self.measure_of(name) == i for i, name in enumerate(self.outputs)
        )

    @cached_property
    def order(self) -> int:
        """The highest rate of any measure that is asked for."""
        return max((p for form in self.outputs.values() for item in form for _, p in item.factors), default=0)

    @property
    def instant(self) -> bool:
        """Whether state alone does not give the outputs: accelerations, or forces inside, need the inputs too."""
        return self.order > 1 or bool(self.efforts)

    def feels_inputs(self, name: str) -> bool:
        """Whether state alone does not give this output: an acceleration, or a force inside, is among its factors."""
        return any(p > 1 or k >= len(self.measures) for item in self.outputs[name] for k, p in item.factors)

    def measure_of(self, name: str) -> int | None:
        """The number of the measure that an output is, if it is one as it stands."""
        form = self.outputs[name]
        if len(form) == 1 and form[0].weight == 1.0 and len(form[0].factors) == 1:
            number, order = form[0].factors[0]
            return number if order == 0 and number < len(self.measures) else None
        return None

    def values(self, x: Numbers) -> Numbers:
        """y (..., o) of x (3, ..., measures + efforts): values, rates and second rates."""
        found = np.zeros((*x.shape[1:-1], len(self.outputs)), dtype=x.dtype)
        for o, form in enumerate(self.outputs.values()):
            for weight, factors in form:
                product = np.full(x.shape[1:-1], weight, dtype=x.dtype)
                for number, order in factors:
                    product = product * x[order, ..., number]
                found[..., o] += product
        return found

    def slopes(self, x: Array) -> Array:
        """∂y/∂x^(p), (3, ..., o, measures + efforts), at x (3, ..., measures + efforts)."""
        found = np.zeros((ORDERS, *x.shape[1:-1], len(self.outputs), x.shape[-1]))
        for o, form in enumerate(self.outputs.values()):
            for weight, factors in form:
                for k, (number, order) in enumerate(factors):
                    others = [x[p, ..., other] for i, (other, p) in enumerate(factors) if i != k]
                    found[order, ..., o, number] += weight * (others[0] if others else 1.0)
        return found

    def data(self) -> dict[str, Any]:
        """As JSON."""
        outputs = {
            name: [[item.weight, *map(list, item.factors)] for item in form] for name, form in self.outputs.items()
        }
        return {"measures": list(self.measures), "efforts": list(self.efforts), "outputs": outputs}


def plain_observation(names: Sequence[str]) -> Observation:
    """Every measure an output."""
    return Observation(tuple(names), (), {name: (Product(1.0, ((i, 0),)),) for i, name in enumerate(names)})


def with_measures(seen: Observation, names: Sequence[str]) -> Observation:
    """The same with further measures behind the others, each an output as it stands."""
    if seen.efforts:
        raise InputError(
            "a path has no forces inside the mechanism among its outputs", part="sensors",
            hint="take reactions, sections, stresses and strains out of the file, or reduce over boxes",
        )  # fmt: skip
    first = len(seen.measures)
    more = {name: (Product(1.0, ((first + i, 0),)),) for i, name in enumerate(names)}
    return Observation((*seen.measures, *names), (), seen.outputs | more)


def observation_from(data: Mapping[str, Any]) -> Observation:
    """From JSON; InputError for what is no observation."""
    try:
        measures, efforts = (tuple(map(str, data[key])) for key in ("measures", "efforts"))
        outputs = {
            str(name): tuple(
                Product(float(weight), tuple((int(number), int(order)) for number, order in factors))
                for weight, *factors in form
            )
            for name, form in data["outputs"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError("its outputs are not what they should be", hint="the file is damaged; reduce again") from None
    for form in outputs.values():
        for item in form:
            for number, order in item.factors:
                highest = ORDERS - 1 if number < len(measures) else 0
                if not (0 <= number < len(measures) + len(efforts) and 0 <= order <= highest):
                    raise InputError("an output is made of what is not there", hint="the file is damaged; reduce again")
    return Observation(measures, efforts, outputs)
