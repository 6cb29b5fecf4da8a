"""A model of a family as one by itself, and how files say so: written for some values, not settable at run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from supple.export.c.names import comment
from supple.reduced.model import ReducedModel

_KEY = "written_for"


def fixed(rom: ReducedModel, values: Mapping[str, float] | None = None) -> ReducedModel:
    """The model at some values of its parameters, others at its own, without the family; provenance says which."""
    assert rom.family is not None
    at = rom if not values else rom.at(**values)
    assert at.family is not None
    told = [
        f"{item.name} = {value:.6g} {item.unit}".rstrip()
        for item, value in zip(at.family.parameters, at.family.values, strict=True)
    ]
    return replace(at, family=None, provenance={**at.provenance, _KEY: told})


def said_fixed(rom: Any) -> str:
    """`written for payload = 12 kg; not settable at run time`, "" of a model that never had parameters."""
    told = getattr(rom, "provenance", {}).get(_KEY, ())
    return f"written for {', '.join(told)}; not settable at run time" if told else ""


def fixed_lines(rom: Any) -> list[str]:
    """The same as a line of an ASCII comment."""
    said = said_fixed(rom)
    return [comment(said[:1].upper() + said[1:], 400) + "."] if said else []
