"""A scenario that a reduced model knows by name, as what `simulate` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError, nearest
from supple.reduced.repertoire import REST

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel

Array = NDArray[np.float64]


class ScenarioRun(NamedTuple):
    """The end, inputs and their times, start, rates and step (None: as the tolerance asks)."""

    until: float
    inputs: dict[str, Any]
    times: Array | None
    start: Any
    rates: dict[str, float]
    step: float | None


def scenario_run(model: ReducedModel, name: str) -> ScenarioRun:
    """What a scenario asks for; one that prescribes its motion is not a run of the model."""
    part = f'model "{model.name}"'
    known = {} if model.repertoire is None else model.repertoire.scenarios
    if name not in known:
        raise InputError(
            f'it has no scenario "{name}"', part=part,
            hint=nearest(name, known) if known else "give times, inputs and a start",
        )  # fmt: skip
    asked = known[name]
    if asked.get("motion") is not None:
        raise InputError(
            f'scenario "{name}" prescribes the motion "{asked["motion"]}", and nothing moves by itself',
            part=part, hint="`supple simulate ROM --scenario NAME` gives the forces it needs",
        )  # fmt: skip
    times = asked.get("times")
    return ScenarioRun(
        float(asked["until"]), dict(asked.get("inputs", {})), None if times is None else np.array(times, dtype=float),
        _start(model, asked.get("start", REST)), asked.get("rates", {}), asked.get("step"),
    )  # fmt: skip


def _start(model: ReducedModel, where: Any) -> Any:
    """Coordinates that are not mentioned stay at rest."""
    if isinstance(where, str) or model.repertoire is None:
        return where
    names = model.layout.coordinates[: model.layout.theta]
    return {name: where.get(name, model.repertoire.configurations[REST][name]) for name in names}
