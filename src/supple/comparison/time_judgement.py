"""The judge: the mechanism and its reduced model through the same scenario, from the same start.

An error in time is told against the elastic part of an output, e = y - ρ_o(θ), what it shows beyond the motion of
undeformed bodies with the same coordinates; against the gross motion every model would look good.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

from supple.array_types import Array
from supple.comparison.time_comparison import FULL, REDUCED, TimeComparison
from supple.description.mechanism import Mechanism
from supple.description.scenario import Scenario, ScenarioDamping
from supple.diagnostics import EarlyEnd, InputError, SuppleWarning
from supple.equations.coefficients import EquationsOfMotion
from supple.integration.result_times import result_times
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel
from supple.reduction.domain import Domain
from supple.reduction.held_motion import without_held
from supple.reduction.path_motion import along_path
from supple.results.signals import Signals
from supple.results.simulation import Simulation
from supple.simulation.scenario import rayleigh_of, run_of, scenario_data
from supple.simulation.simulation import simulate
from supple.trajectories.trajectory import trajectory

T = TypeVar("T")

_REPEATS = 5  # of the short run; the fastest counts
_RESULTS, _TOLERANCE = 100, 1e-7  # of a run at the model's own pace
_STILL = 1e-6  # of the largest acceleration, rad/s² or m/s²: below, a prescribed coordinate has arrived
_FEW = 5  # steps that compile what will be timed
_STEP = 1e-3  # s, where the scenario leaves it to the motion


def judged_in_time(
    mechanism: Mechanism, model: ReducedModel, domain: Domain, scenario: Scenario, *, rigid: bool = False
) -> TimeComparison:
    """Both through a scenario, without the errors of the coefficients, which the caller adds.

    rigid : the mechanism moves without deformation
    """
    _require_free(domain, scenario)
    asked = _with_one_damping(mechanism, scenario, rigid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyEnd)  # the comparison says it, once
        short = _FEW * (asked.step or _STEP)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # of a run that nobody asked for
            simulate(mechanism, asked, until=short, rigid=rigid)
        full, slow = _timed(lambda: simulate(mechanism, asked, rigid=rigid))
        reduced, fast = _reduced_run(mechanism, model, domain, asked)
        own = reduced
        for _ in range(_REPEATS if asked.motion is None else 0):
            own, seconds = _at_own_pace(mechanism, model, asked)
            fast = min(fast, seconds)
    count = min(len(full.time), len(reduced.time))
    reasons = [f"{who}: {run.reason}" for who, run in (("the mechanism", full), ("the reduced model", reduced))
               if run.reason]  # fmt: skip
    whole = domain.path is None and not domain.held
    undeformed = {
        FULL: _undeformed(mechanism, full, _stacked(full.coordinates, full.coordinates)),
        REDUCED: _undeformed(
            mechanism, reduced, domain.theta(_stacked(reduced.coordinates, domain.coordinates)), moving=whole
        ),
    }
    missing = tuple(name for name in full.outputs if name not in reduced.outputs)
    return TimeComparison(
        full, reduced, undeformed, slow, fast, force_error=_forces(full, reduced, count), reason="; ".join(reasons),
        missing=missing, free_from=_free_from(full), own=own,
    )  # fmt: skip


def _free_from(run: Simulation) -> float:
    """s, of the result after which no input changes and no prescribed coordinate is accelerated."""
    changes = [np.flatnonzero(np.diff(values)) for values in run.inputs.values()]
    for name in run.driving_forces:
        pushed = np.abs(run.accelerations[name]) if name in run.accelerations else np.zeros(1)
        changes.append(np.flatnonzero(pushed > _STILL * max(float(pushed.max(initial=0.0)), _STILL)))
    last = max((int(found[-1]) + 1 for found in changes if len(found)), default=0)
    return float(run.time[min(last, len(run.time) - 1)])


def _require_free(domain: Domain, scenario: Scenario) -> None:
    """A model that cannot move as the scenario does is refused."""
    if scenario.motion is not None:
        return
    if domain.held:
        raise InputError(
            f"the model holds {', '.join(domain.held)}, and the scenario does not",
            part="scenario", hint="give a motion that leaves it alone, or reduce with it in the region",
        )  # fmt: skip
    if domain.path is not None:
        raise InputError(
            "a model of a path moves along it alone, and the scenario moves freely",
            part="scenario", hint="give a scenario or motion along the path",
        )  # fmt: skip


def _with_one_damping(mechanism: Mechanism, scenario: Scenario, rigid: bool) -> Scenario:
    """The scenario with α and β as numbers: the first mode that a ratio belongs to is the mechanism's."""
    if rigid or scenario.damping is None or scenario.damping.rayleigh is not None:
        return scenario
    start = run_of(mechanism, scenario.model_copy(update={"damping": None})).start
    law = ScenarioDamping(rayleigh=rayleigh_of(scenario.damping, start))
    return scenario.model_copy(update={"damping": law})


def _timed(run: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    found = run()
    return found, time.perf_counter() - start


def _reduced_run(
    mechanism: Mechanism, model: ReducedModel, domain: Domain, scenario: Scenario
) -> tuple[Simulation, float]:
    """The model through the scenario, and the seconds it took; planning a motion does not count."""
    if scenario.motion is None:
        return _timed(lambda: simulate(model, scenario))
    lasts = scenario.until or float(trajectory(mechanism, scenario.motion).time[-1])
    course = trajectory(mechanism, scenario.motion, times=result_times(None, until=lasts, step=scenario.step))
    along = without_held(course, domain.held) if domain.path is None else along_path(domain.path, course)
    runs = [_timed(lambda: model.simulate(scenario_data(scenario), motion=along)) for _ in range(_REPEATS)]
    return min(runs, key=lambda run: run[1])


def _at_own_pace(mechanism: Mechanism, model: ReducedModel, scenario: Scenario) -> tuple[Simulation, float]:
    """The same with a hundred results and steps as long as their error allows, as one would run it by itself."""
    run = run_of(mechanism, scenario.model_copy(update={"damping": None, "deflection": {}}), rigid=True)
    grid = np.linspace(0.0, run.until, _RESULTS + 1)
    few = _FEW * (scenario.step or _STEP)
    first = model.simulate(scenario_data(scenario), run.inputs, until=few, input_times=run.times)
    held = getattr(first.record, "model", model)
    eta, v = (
        np.array([signals[name][0] for name in model.layout.coordinates])
        for signals in (first.coordinates, first.rates)
    )
    return _timed(
        lambda: held.simulate(grid, run.inputs, eta, rates=v, input_times=run.times, tolerance=_TOLERANCE, step=grid[1])
    )


def _stacked(signals: Signals, names: Iterable[str]) -> Array:
    """Signals side by side, (N, k)."""
    return np.stack([signals[name] for name in names], axis=1)


def _undeformed(mechanism: Mechanism, run: Simulation, theta: Array, *, moving: bool = True) -> Signals:
    """ρ_o(θ(t)): outputs of undeformed bodies with the coordinates of a run; of rates and accelerations with its θ̇, θ̈.

    moving : rates of the run are those of θ; if not, outputs that are no measures as they stand are left out, and so is
             what tells of forces in bodies
    """
    if not len(mechanism.sensors) or not len(theta):
        return Signals(run.time, {})
    model: EquationsOfMotion = local(mechanism, theta, rigid=True)
    theta_names = model.labels.coordinates
    seen = model.labels.observed
    x = np.zeros((3, len(theta), len(seen.measures) + len(seen.efforts)))
    measured = x[:, :, : len(seen.measures)]
    measured[0] = model.row.part(model.rows, "outputs")
    names = [name for name in seen.names if seen.measure_of(name) is not None]
    if moving and not seen.plain:
        v, a = (_stacked(signals, theta_names) for signals in (run.rates, run.accelerations))
        slope, bend = (model.row.part(model.rows, part) for part in ("rigid", "bend"))
        measured[1] = np.einsum("noi,ni->no", slope, v)
        measured[2] = np.einsum("noi,ni->no", slope, a) + np.einsum("noij,ni,nj->no", bend, v, v)
        inside = range(len(seen.measures))
        names = [
            name for name, form in seen.outputs.items() if all(k in inside for item in form for k, _ in item.factors)
        ]
    values = dict(zip(seen.names, seen.values(x).T, strict=True))
    return Signals(run.time, {name: values[name] for name in names})


def _forces(full: Simulation, reduced: Simulation, count: int) -> float | None:
    """Largest difference of the forces that keep both on their course, of their largest value."""
    if not len(full.driving_forces) or list(full.driving_forces) != list(reduced.driving_forces):
        return None
    pairs = [(full.driving_forces[name][:count], reduced.driving_forces[name][:count]) for name in full.driving_forces]
    largest = max(float(np.abs(needed).max(initial=0.0)) for needed, _ in pairs)
    return max(float(np.abs(found - needed).max(initial=0.0)) for needed, found in pairs) / (largest or 1.0)
