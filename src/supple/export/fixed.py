"""A model of a family as one by itself, and how files say so: written for some values, not settable at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.piecewise.slice import sliced_fit
from supple.export.c.identifiers import comment
from supple.reduced.family import Family
from supple.reduced.model import ReducedModel

_KEY = "written_for"


def model_at_parameters(
    rom: ReducedModel, values: Mapping[str, float] | None = None, *, others: bool = False
) -> ReducedModel:
    """The model with its parameters at some values, at its own where none is given; provenance says which.

    others : those that are not named stay parameters of a family
    """
    at = rom.at(**(values or {}))
    assert at.family is not None
    held = [i for i, name in enumerate(at.family.names) if not others or name in (values or {})]
    told = [
        f"{item.name} = {value:.6g} {item.unit}".rstrip()
        for item, value in ((at.family.parameters[i], at.family.values[i]) for i in held)
    ]
    family = _without(at.family, held, at.layout.theta) if len(held) < len(at.family.names) else None
    return replace(at, family=family, provenance={**at.provenance, _KEY: told})


def _without(family: Family, held: list[int], theta: int) -> Family:
    """The family of the other parameters, those that are held at its values."""
    kept = [i for i in range(len(family.names)) if i not in held]
    order = np.array([*range(theta), *(theta + i for i in (*kept, *held))])
    arrays = family.fitted.arrays
    nodes = arrays.nodes_i.copy()
    nodes[:, 0] = np.argsort(order)[nodes[:, 0]]
    turned = arrays._replace(
        roots_f=arrays.roots_f[:, :, order], nodes_i=nodes, leaves_f=arrays.leaves_f[:, :, order],
        indices=arrays.indices[:, order],
    )  # fmt: skip
    values = [family.values[i] for i in held]
    return Family(
        tuple(family.parameters[i] for i in kept), tuple(family.values[i] for i in kept),
        sliced_fit(Piecewise(turned), np.array(values)),
    )  # fmt: skip


def said_fixed(rom: Any) -> str:
    """`written for payload = 12 kg; not settable at run time`, "" of a model that never had parameters."""
    told = getattr(rom, "provenance", {}).get(_KEY, ())
    return f"written for {', '.join(told)}; not settable at run time" if told else ""


def fixed_lines(rom: Any) -> list[str]:
    """The same as a line of an ASCII comment."""
    said = said_fixed(rom)
    return [comment(said[:1].upper() + said[1:], 400) + "."] if said else []
