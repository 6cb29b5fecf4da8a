"""What a model or a law of control can be exported to: one record a target; and models of a family held fixed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise, sliced_fit
from supple.export.c.source_text import comment
from supple.reduced.family import Family
from supple.reduced.model import ReducedModel


@dataclass(frozen=True)
class ExportTarget:
    """A form in which a reduced model leaves supple.

    name  : as in `export(rom, folder, to=name)`
    says  : what it is, one line of help
    files : of a `ReducedModel` and a prefix for all names, the name and content of each file
    laws  : the same of an `AffineLaw`, or of a `ComputedTorque` with its model; None where it knows no controllers
    linear : the same of a `LinearModel`; None where it knows none
    families : whether it writes a whole family, its parameters to be set where it runs; others are given the model at
               its own values, and that is said
    options : names of what both take beside, by keyword, as in `export(rom, folder, to=name, precision="single")`
    """

    name: str
    says: str
    files: Callable[..., Mapping[str, str | bytes]]
    laws: Callable[..., Mapping[str, str | bytes]] | None = None
    options: tuple[str, ...] = ()
    linear: Callable[..., Mapping[str, str | bytes]] | None = None
    families: bool = False


# A model of a family as one by itself, and how files say so: written for some values, not settable at run time.


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
