"""Scenarios of a reduced model, by name or as data, as arguments of `simulate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, require_known
from supple.integration.signal import joined_inputs
from supple.reduced.damped import add_damping, first_frequency
from supple.reduced.repertoire import REST, named_theta, requests_equilibrium

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


class ScenarioRun(NamedTuple):
    """Model with the damping of the scenario; end, inputs and their times, start, rates and step (None: adaptive)."""

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
    """Return the run that a scenario describes; InputError if it prescribes its motion.

    scenario    : its name, or its fields with numbers in SI units
    until, step : s, instead of those of the scenario
    """
    fields = scenario if isinstance(scenario, Mapping) else _find_scenario(model, scenario)
    if fields.get("motion") is not None:
        raise InputError(
            f'the scenario prescribes the motion "{fields["motion"]}", so it cannot be simulated freely',
            part=f'model "{model.name}"',
            hint="use `supple simulate ROM --scenario NAME` for the forces of this motion",
        )  # fmt: skip
    if until is None and "until" not in fields:
        raise InputError("the scenario has no duration", part="scenario", hint='give {"until": seconds, ...}')
    lasts, fixed = float(until if until is not None else fields["until"]), step or fields.get("step")
    inputs, times = joined_inputs(fields.get("inputs", {}), fields.get("times"), lasts, fixed)
    start = _start(model, fields.get("start", REST))
    if fields.get("damping") and model.layout.size > model.layout.theta:
        model = add_damping(model, *_rayleigh(model, fields["damping"], start))
    if fields.get("deflection"):
        start = loaded_deflection(model, start, fields["deflection"])
    return ScenarioRun(model, lasts, inputs, times, start, fields.get("rates", {}), fixed)


def led_scenario(
    model: ReducedModel, scenario: str | Mapping[str, Any], theta: Array
) -> tuple[ReducedModel, Array | None]:
    """Return a model with the damping of a scenario, and δ at the start, for a motion that starts from θ (s,).

    δ is None if the scenario does not specify it. Steps follow the tolerance.
    """
    fields = scenario if isinstance(scenario, Mapping) else _find_scenario(model, scenario)
    flexible = model.layout.size > model.layout.theta
    if fields.get("damping") and flexible:
        model = add_damping(model, *_rayleigh(model, fields["damping"], theta))
    loads = fields.get("deflection")
    delta = loaded_deflection(model, theta, loads)[model.layout.theta :] if loads and flexible else None
    return model, delta


def _find_scenario(model: ReducedModel, name: str) -> Mapping[str, Any]:
    known = {} if model.repertoire is None else model.repertoire.scenarios
    require_known("scenario", name, known, empty="give times, inputs and a start", part=f'model "{model.name}"')
    return known[name]


def _start(model: ReducedModel, where: Any) -> Any:
    """Return the start with omitted coordinates at rest."""
    if isinstance(where, str) or model.repertoire is None:
        return where
    names = model.layout.coordinates[: model.layout.theta]
    return {name: where.get(name, model.repertoire.configurations[REST][name]) for name in names}


def _theta(model: ReducedModel, start: Any) -> Array:
    """Return θ (s,) of a start; that of the rest posture if it is an equilibrium."""
    if requests_equilibrium(model, start):
        start = REST
    found = named_theta(model, start)
    names = model.layout.coordinates[: model.layout.theta]
    return np.array([found[name] for name in names] if isinstance(found, Mapping) else found, dtype=float)


def _rayleigh(model: ReducedModel, law: Mapping[str, Any], start: Any) -> tuple[float, float]:
    return rayleigh(law, lambda: first_frequency(model, _theta(model, start)))


def rayleigh(law: Mapping[str, Any], first: Callable[[], float]) -> tuple[float, float]:
    """Return α (1/s) and β (s) of a scenario's damping; a ratio ζ at ω gives β = 2ζ/ω.

    law   : fields of the damping
    first : frequency (Hz) of a ratio, if the damping does not name one
    """
    if law.get("rayleigh") is not None:
        return float(law["rayleigh"][0]), float(law["rayleigh"][1])
    return 0.0, float(law["ratio"]) / (np.pi * float(law.get("frequency") or first()))


def loaded_deflection(model: ReducedModel, start: Any, loads: Mapping[str, float]) -> Array:
    """Return η (n,) at equilibrium with θ fixed under loads along outputs:  K δ = p_δ + Ψ_oᵀ f.

    loads : output -> N or N m
    """
    layout, theta = model.layout, _theta(model, start)
    s = layout.theta
    for name in loads:
        require_known("output of the deflection", name, layout.outputs, part=f'model "{model.name}"')
    if layout.size == s:
        return theta
    here = model.evaluate(theta)
    force = np.array([float(loads.get(name, 0.0)) for name in layout.outputs])
    modes = here.row.part(here.rows, "modes").reshape(len(layout.outputs), layout.size - s)
    return np.concatenate([theta, np.linalg.solve(here.K[s:, s:], here.force[s:] + modes.T @ force)])
