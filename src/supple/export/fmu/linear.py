"""A linear model as what an FMU simulates: departures from the state it was linearized about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.diagnostics import InputError
from supple.export.c.literals import table
from supple.export.fmu.unit import Quantity, Unit
from supple.export.template import filled, parts
from supple.results.linear_model import LinearModel
from supple.results.units import rate

PARTS = parts("supple.export.fmu", "linear.c")


def linear_unit(linear: LinearModel, prefix: str) -> Unit:
    """The unit of a model in continuous time."""
    if linear.step is not None:
        raise InputError("it is in discrete time", part="export", hint="export the model that it was made from")
    matrices = {"A_": linear.A, "B_": linear.B, "C_": linear.C, "D_": linear.D}
    if not all(np.isfinite(matrix).all() for matrix in matrices.values()):
        raise InputError("some of its numbers are not finite", part="linear model", hint="linearize elsewhere")
    states = tuple(Quantity(name, _unit(linear, name), says="departure") for name in _own(linear))
    units = {} if linear.delays else linear.units.inputs  # commands of drives have units of their own
    inputs = tuple(Quantity(f"{name}.input", units.get(name, "")) for name in linear.inputs)
    about = ", ".join(f"{name} {value:.6g}" for name, value in linear.at.get("states", {}).items())
    everything = (list(range(len(states))), list(range(len(inputs))))
    feeds = [(np.flatnonzero(c).tolist(), np.flatnonzero(d).tolist()) for c, d in zip(linear.C, linear.D, strict=True)]
    unit = Unit(
        prefix, prefix, f"Linear model of {len(states)} states: all variables are departures from {about}", states,
        inputs, tuple(Quantity(name, linear.units.outputs.get(name, "")) for name in linear.outputs), (),
        tuple(everything for _ in states), tuple(feeds), {},
    )  # fmt: skip
    tables = "".join(table("double", name, np.append(matrix.ravel(), 0.0)) for name, matrix in matrices.items())
    fastest = float(np.abs(linear.A).sum(axis=0).max(initial=0.0))  # strides of |A| h at most one
    source = filled(PARTS["source"], {"tables": tables + unit.starts(), "fastest": repr(fastest)})
    return replace(unit, sources={"unit.c": source})


def _own(linear: LinearModel) -> list[str]:
    return [f"{name}.state" if name in linear.outputs else name for name in linear.states]


def _unit(linear: LinearModel, own: str) -> str:
    name = own.removesuffix(".state")
    known = linear.units.coordinates
    return known.get(name) or rate(known.get(name.removesuffix(".rate"), "")) if name in linear.states else ""
