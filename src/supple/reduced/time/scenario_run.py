"""A scenario, by a name that a reduced model knows or as the data of one, as what `simulate` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, nearest
from supple.integration.signal import joined_inputs
from supple.reduced.damped import damped, first_frequency
from supple.reduced.repertoire import REST, asks_for_rest, named_theta

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


class ScenarioRun(NamedTuple):
    """The model with the damping asked for; the end, inputs and their times, start, rates and step (None: as the
    tolerance asks)."""

    model: ReducedModel
    until: float
    inputs: dict[str, Any]
    times: Array | None
    start: Any
    rates: dict[str, float]
    step: float | None


def scenario_run(
    model: ReducedModel, scenario: str | Mapping[str, Any], until: float | None = None, step: float | None = None
) -> ScenarioRun:
    """What a scenario asks for; one that prescribes its motion is not a run of the model.

    scenario : its name, or its fields, numbers in SI; until, step : s, in place of its own
    """
    asked = scenario if isinstance(scenario, Mapping) else _known(model, scenario)
    if asked.get("motion") is not None:
        raise InputError(
            f'the scenario prescribes the motion "{asked["motion"]}", and nothing moves by itself',
            part=f'model "{model.name}"', hint="`supple simulate ROM --scenario NAME` gives the forces it needs",
        )  # fmt: skip
    if until is None and "until" not in asked:
        raise InputError("no duration is given", part="scenario", hint='give {"until": seconds, ...}')
    lasts, fixed = float(until if until is not None else asked["until"]), step or asked.get("step")
    inputs, times = joined_inputs(asked.get("inputs", {}), asked.get("times"), lasts, fixed)
    start = _start(model, asked.get("start", REST))
    if asked.get("damping") and model.layout.size > model.layout.theta:
        model = damped(model, *_rayleigh(model, asked["damping"], start))
    if asked.get("deflection"):
        start = loaded_deflection(model, start, asked["deflection"])
    return ScenarioRun(model, lasts, inputs, times, start, asked.get("rates", {}), fixed)


def led_scenario(
    model: ReducedModel, scenario: str | Mapping[str, Any], theta: Array
) -> tuple[ReducedModel, Array | None]:
    """What a scenario asks of a model that a motion leads from θ (s,): with its damping, and δ at the start.

    δ is None where the scenario says nothing of it. Steps follow the tolerance.
    """
    asked = scenario if isinstance(scenario, Mapping) else _known(model, scenario)
    flexible = model.layout.size > model.layout.theta
    if asked.get("damping") and flexible:
        model = damped(model, *_rayleigh(model, asked["damping"], theta))
    loads = asked.get("deflection")
    delta = loaded_deflection(model, theta, loads)[model.layout.theta :] if loads and flexible else None
    return model, delta


def _known(model: ReducedModel, name: str) -> Mapping[str, Any]:
    known = {} if model.repertoire is None else model.repertoire.scenarios
    if name not in known:
        raise InputError(
            f'it has no scenario "{name}"', part=f'model "{model.name}"',
            hint=nearest(name, known) if known else "give times, inputs and a start",
        )  # fmt: skip
    return known[name]


def _start(model: ReducedModel, where: Any) -> Any:
    """Coordinates that are not mentioned stay at rest."""
    if isinstance(where, str) or model.repertoire is None:
        return where
    names = model.layout.coordinates[: model.layout.theta]
    return {name: where.get(name, model.repertoire.configurations[REST][name]) for name in names}


def _theta(model: ReducedModel, start: Any) -> Array:
    """θ (s,) of a start; where it looks for an equilibrium, that of rest."""
    if asks_for_rest(model, start):
        start = REST
    found = named_theta(model, start)
    names = model.layout.coordinates[: model.layout.theta]
    return np.array([found[name] for name in names] if isinstance(found, Mapping) else found, dtype=float)


def _rayleigh(model: ReducedModel, law: Mapping[str, Any], start: Any) -> tuple[float, float]:
    return rayleigh(law, lambda: first_frequency(model, _theta(model, start)))


def rayleigh(law: Mapping[str, Any], first: Callable[[], float]) -> tuple[float, float]:
    """α (1/s) and β (s) of a scenario's damping; a ratio ζ at ω is β = 2ζ/ω.

    law : its fields; first : Hz, the frequency that a ratio belongs to where the law names none
    """
    if law.get("rayleigh") is not None:
        return float(law["rayleigh"][0]), float(law["rayleigh"][1])
    return 0.0, float(law["ratio"]) / (np.pi * float(law.get("frequency") or first()))


def loaded_deflection(model: ReducedModel, start: Any, loads: Mapping[str, float]) -> Array:
    """η (n,) at rest with θ held under loads along outputs:  K δ = p_δ + Ψ_oᵀ f.

    loads : output -> N or N m
    """
    layout, theta = model.layout, _theta(model, start)
    s = layout.theta
    for name in loads:
        if name not in layout.outputs:
            raise InputError(
                f'it has no output "{name}" to deflect', part=f'model "{model.name}"',
                hint=nearest(name, layout.outputs),
            )  # fmt: skip
    if layout.size == s:
        return theta
    here = model.evaluate(theta)
    force = np.array([float(loads.get(name, 0.0)) for name in layout.outputs])
    modes = here.row.part(here.rows, "modes").reshape(len(layout.outputs), layout.size - s)
    return np.concatenate([theta, np.linalg.solve(here.K[s:, s:], here.force[s:] + modes.T @ force)])
