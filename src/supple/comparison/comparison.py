"""Comparison of a reduced model with its mechanism: errors of coefficients, forces and outputs, and computing times."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from supple.approximation.fit_error import norms
from supple.approximation.piecewise.piecewise import NOWHERE
from supple.array_types import Array
from supple.comparison.time_comparison import FULL, REDUCED, TimeComparison
from supple.compilation.patience import natively
from supple.description.mechanism import Mechanism
from supple.description.scenario import Scenario, ScenarioDamping
from supple.diagnostics import EarlyEnd, InputError, SuppleWarning
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.limits import require_within
from supple.equations.equations_of_motion import EquationsOfMotion
from supple.formats.model_description import member
from supple.formats.scenario_file import is_scenario_file, scenario_in
from supple.integration.time_steps import result_times
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local
from supple.reduced.damped import kept_frequencies, locked_frequencies
from supple.reduced.model import ReducedModel
from supple.reduction.domain import Domain, path_domain, theta_domain
from supple.reduction.exact_coefficients import exact_coefficients, modes_of, scatter_in_boxes
from supple.reduction.fitted_coefficients import FREQUENCIES, block_places
from supple.reduction.model_trajectory import along_path, without_fixed_coordinates
from supple.reduction.path import path_from
from supple.results.result import Result
from supple.results.signals import Signals
from supple.results.simulation import Simulation
from supple.results.table import Table
from supple.results.text import Text
from supple.simulation.prepared_scenario import prepared_scenario, rayleigh_of, scenario_data
from supple.simulation.simulation import simulate
from supple.time_functions.function_of_time import Trajectory
from supple.trajectories.trajectory import Prescribed, trajectory

_REPEATS = 5  # the fastest run counts: the others were delayed by other work
_MEDIANS = 1000
_ALONG = 200  # points of a run at which coefficients are compared


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Errors of a reduced model's coefficients against the mechanism, and computing times.

    Attributes
    ----------
    points : int
        Number of configurations compared.
    error : dict of str to float
        Largest error of each coefficient family, ‖f - f̂‖ / max(‖f‖, scale).

        The scale is the one that `reduce` reported: the larger of the region's median ‖f‖ and the family's floor.
    at : dict of str to dict
        Configuration {coordinate: value} of the largest error of each family.
    speedup : float
        Ratio of the computing times for the same batch of configurations.
    full_seconds, reduced_seconds : float
        Computing times of the mechanism and of the model, s.
    output_error : dict of str to float
        Largest difference of each output, relative to its largest value.
    force_error : float or None
        Along a motion: largest difference of the generalized forces that it requires, relative to their largest value.
    rigid : tuple of str
        Names of the elastic parts that are treated as rigid in the mechanism, because the model has no modes.
    """

    points: int
    error: dict[str, float]
    at: dict[str, dict[str, float]]
    speedup: float
    full_seconds: float
    reduced_seconds: float
    output_error: dict[str, float]
    force_error: float | None = None
    rigid: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return a one-line summary."""
        worst = max(self.error.items(), key=lambda item: item[1], default=("none", 0.0))
        return f"at {self.points} points, largest error {worst[1]:.2g} ({worst[0]}), {self.speedup:.3g} times as fast"

    def table(self) -> Table:
        """Return the largest error of each family, with the configuration θ where it occurs."""
        where = dict.fromkeys(name for place in self.at.values() for name in place)
        columns = {"family": np.array(list(self.error), dtype=str), "error": np.array(list(self.error.values()))}
        places = {
            f"at {name}": np.array([self.at.get(key, {}).get(name, np.nan) for key in self.error]) for name in where
        }
        return Table({**columns, **places}, index="family")

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints: `error` is that of outputs, `coefficients` that of families."""
        found = asdict(self)
        found["coefficients"], found["error"] = found.pop("error"), found.pop("output_error")
        return found

    def text(self) -> Text:
        """Return the largest error of each family, where it occurs, and both computing times."""
        out = Text(f"reduced model compared with its mechanism at {self.points} points")
        rows = [
            (name, f"{worst:.2g}", ", ".join(f"{key}={value:.4g}" for key, value in self.at.get(name, {}).items()))
            for name, worst in self.error.items()
        ]
        out.table(("coefficients", "largest relative error", "at"), rows)
        if self.force_error is not None:
            out.line(f"forces required by the motion: error {self.force_error:.2g} of their largest value")
        each = [1e6 * seconds / self.points for seconds in (self.full_seconds, self.reduced_seconds)]
        out.line(
            f"time per point: mechanism {each[0]:.3g} µs, reduced model {each[1]:.3g} µs, "
            f"{self.speedup:.3g} times as fast"
        )
        return out


@natively()  # computing time is part of the result
def compare(
    mechanism: Mechanism,
    model: ReducedModel,
    *,
    points: int = 1000,
    scenario: Prescribed | Scenario | None = None,
    seed: int = 1,
    rigid: bool = False,
) -> Comparison | TimeComparison:
    """Compare a reduced model with the mechanism that it was made from.

    The comparison uses random points of the model's region, the points of a motion, or a simulation of a scenario.
    A model of a family is compared with the mechanism at the same parameter values.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism that the model was reduced from.
    model : ReducedModel
        Reduced model to compare.
    points : int, optional
        Number of random points over the region of the model. Default: 1000. Not used with a scenario.
    scenario : str, Scenario, Trajectory or motion, optional
        Scenario or motion along which both are compared. A scenario (its name in the file, or a scenario file
        .yaml) is simulated with both, see `TimeComparison`. Along a motion, anything that `trajectory` accepts,
        coefficients and forces are compared.
    seed : int, optional
        Random seed for the points. Default: 1.
    rigid : bool, optional
        Treat the elastic bodies of the mechanism as rigid in the scenario and suppress the warning about it.
        Default: False.

    Returns
    -------
    Comparison or TimeComparison
        Errors and computing times; a `TimeComparison` if a scenario was simulated.

    Raises
    ------
    InputError
        If the coordinates of the model are not those of the mechanism, or if the model cannot follow the scenario.

    See Also
    --------
    reduce : make a reduced model.

    Notes
    -----
    The error of a coefficient family is ‖f - f̂‖ / max(‖f‖, scale), with the scale that `reduce` reported.

    Examples
    --------
    >>> import supple
    >>> four_bar = supple.load("four-bar")
    >>> rom = supple.reduce(four_bar, region={"crank": (0.0, 0.5)}, tolerance=1e-3)
    >>> found = supple.compare(four_bar, rom, points=100)
    >>> found.points, max(found.error.values()) < 1e-2
    (100, True)
    """
    require_arguments(compare, locals())
    mechanism = member(mechanism, model.family)
    domain = _domain(mechanism, model)
    if _is_scenario(mechanism, scenario):
        run = scenario_in(mechanism, scenario)  # type: ignore[arg-type]
        found = compare_in_time(mechanism, model, domain, run, rigid=rigid)
        if not len(found.reduced.time):
            return found
        names = model.layout.coordinates[: model.layout.theta]
        x = np.stack([found.reduced.coordinates[name] for name in names], axis=1)
        inside = x[model.fitted.locate(x) != NOWHERE][:: max(1, len(x) // _ALONG)]  # a face is only known to rounding
        error, at = _coefficient_errors(mechanism, model, domain, inside, seed)[:2]
        return replace(found, coefficients=error, at=at)
    if scenario is not None:
        course = trajectory(mechanism, scenario)  # type: ignore[arg-type]
        along = (
            without_fixed_coordinates(course, domain.held) if domain.path is None else along_path(domain.path, course)
        )
        return _compare_coefficients(mechanism, model, domain, along, seed)
    if points < 1:
        raise InputError(f"points must be at least 1 (got {points})", part="points")
    require_within("points", points, part="points")
    return _compare_coefficients(mechanism, model, domain, scatter_in_boxes(model, points, seed), seed)


def _is_scenario(mechanism: Mechanism, given: object) -> bool:
    """Return True if a scenario is given, False for a motion."""
    if isinstance(given, str | Path):
        return given in mechanism.scenarios or is_scenario_file(given)
    return isinstance(given, Scenario)


def _domain(mechanism: Mechanism, model: ReducedModel) -> Domain:
    """Return the domain of the model's coefficients; refuse a model of another mechanism."""
    names = model.layout.coordinates[: model.layout.theta]
    described = model.provenance.get("options", {}).get("path")
    if described is not None:
        path = path_from(described)
        full, domain = path.coordinates, path_domain(mechanism, path)
    else:
        domain = theta_domain(mechanism, [], model.held_coordinates)
        full = domain.theta_names if domain.coordinates == names else names
    expected = rest(mechanism).numbering.coordinates
    if full != expected:
        raise InputError(
            f"the model has the coordinates {', '.join(full)}, but the mechanism has {', '.join(expected)}",
            hint="compare the model with the mechanism that it was reduced from",
        )
    return domain


def _coefficient_errors(
    mechanism: Mechanism, model: ReducedModel, domain: Domain, x: Array, seed: int
) -> tuple[dict[str, float], dict[str, dict[str, float]], EquationsOfMotion, EquationsOfMotion]:
    """Return the largest error of each family at points x (N, dimension), its point, and both models' coefficients."""
    names = model.layout.coordinates[: model.layout.theta]
    full, reduced = exact_coefficients(mechanism, model, domain, x), model.evaluate(x)
    error, at = {}, {}
    for name, (off, known) in _point_errors(model, full, reduced, seed).items():
        worst = int(np.argmax(off))
        error[name] = float(off[worst])
        if known:
            at[name] = dict(zip(names, x[worst].tolist(), strict=True))
    return error, at, full, reduced


def local_errors(mechanism: Mechanism, model: ReducedModel, x: Array, *, seed: int = 1) -> dict[str, Array]:
    """Return the error (N,) of each family at points x (N, dimension) of the region."""
    domain = _domain(mechanism, model)
    full, reduced = exact_coefficients(mechanism, model, domain, x), model.evaluate(x)
    return {name: off for name, (off, _) in _point_errors(model, full, reduced, seed).items()}


def _point_errors(
    model: ReducedModel, full: EquationsOfMotion, reduced: EquationsOfMotion, seed: int
) -> dict[str, tuple[Array, bool]]:
    """Return for each family the errors (N,) and whether they are relative; otherwise they are plain differences."""
    exact, fitted = (compared_families(model, families(item)) for item in (full, reduced))
    scales = _scales(model, tuple(exact), seed)
    found: dict[str, tuple[Array, bool]] = {}
    if model.layout.size > model.layout.theta:
        found[FREQUENCIES] = _frequency_errors(model, full, reduced), True
    for name, family in exact.items():
        difference = norms(fitted[name] - family)
        size = np.maximum(norms(family), scales[name])
        known = bool(np.any(size > 0.0))
        found[name] = (difference / np.where(size > 0.0, size, 1.0) if known else difference), known
    return found


def _scales(model: ReducedModel, names: Sequence[str], seed: int) -> dict[str, float]:
    """Return the scale of errors of each family where ‖f‖ is smaller, as `reduce` reported it.

    For constants, and for files of earlier versions, it is the median of ‖f‖ over the region.
    """
    stated = model.provenance.get("error", {})
    if all("scale" in stated.get(name, {}) for name in names):
        return {name: stated[name]["scale"] for name in names}
    typical = compared_families(model, families(model.evaluate(scatter_in_boxes(model, _MEDIANS, seed + 1))))
    medians = {name: float(np.median(norms(typical[name]))) for name in names}
    return {
        name: stated.get(name, {}).get("scale", max(medians[name], stated.get(name, {}).get("median_norm", 0.0)))
        for name in names
    }


def _compare_coefficients(
    mechanism: Mechanism, model: ReducedModel, domain: Domain, where: Trajectory | Array, seed: int
) -> Comparison:
    """Compare the coefficients at points x (N, dimension), or along a trajectory."""
    x = where if isinstance(where, np.ndarray) else where.theta
    error, at, full, reduced = _coefficient_errors(mechanism, model, domain, x, seed)
    slow, fast = _fastest(lambda: exact_coefficients(mechanism, model, domain, x)), _fastest(lambda: model.evaluate(x))
    force_error = None
    if not isinstance(where, np.ndarray):
        still = np.zeros((len(x), model.layout.size - x.shape[1]))  # of δ
        rates, accelerations = np.hstack([where.rates, still]), np.hstack([where.accelerations, still])
        needed = full.required_forces(rates, accelerations)
        off = np.abs(reduced.required_forces(rates, accelerations) - needed)
        force_error = float(off.max() / (np.abs(needed).max() or 1.0))
    stiff = () if modes_of(model) else mechanism.elastic_names
    return Comparison(
        len(x), error, at, slow / fast, slow, fast, _output_errors(model, full, reduced), force_error, rigid=stiff
    )


def families(model: EquationsOfMotion) -> dict[str, Array]:
    """Return the coefficient families of a batch of local or reduced models, each (N, entries)."""
    count = len(model.M)
    names = ("M", "christoffel", "force", "damping", "input_map")
    coefficients = {name: np.asarray(getattr(model, name)) for name in names}
    coefficients["outputs"], coefficients["output_modes"] = (
        model.row.part(model.rows, name) for name in ("outputs", "modes")
    )
    if coefficients["output_modes"].size or np.any(model.K):
        coefficients["K"] = np.asarray(model.K)
    return {name: array.reshape(count, -1) for name, array in coefficients.items() if np.prod(array.shape[1:])}


def _frequency_errors(model: ReducedModel, full: Any, reduced: Any) -> Array:
    """Return max_k |ω_k - ω̂_k| / ω_k over the retained frequencies at every point, θ locked: (N,)."""
    s, count = model.layout.theta, kept_frequencies(model.layout)
    exact, fitted = (locked_frequencies(item.K[:, s:, s:], item.M[:, s:, s:]) for item in (full, reduced))
    return np.asarray(np.abs(fitted / exact - 1.0)[:, :count].max(axis=1))


def _output_errors(model: ReducedModel, full: EquationsOfMotion, reduced: EquationsOfMotion) -> dict[str, float]:
    """Return max |y - ŷ| / max |y| of every output."""
    exact, fitted = (item.row.part(item.rows, "outputs") for item in (full, reduced))
    largest = np.abs(exact).max(axis=0)
    relative = np.abs(fitted - exact).max(axis=0) / np.where(largest > 0.0, largest, 1.0)
    return dict(zip(model.layout.measures, relative.tolist(), strict=True))


def compared_families(model: ReducedModel, whole: dict[str, Array]) -> dict[str, Array]:
    """Return the families whose error is reported; for a flexible model, blocks by kinds of coordinates."""
    if model.layout.size == model.layout.theta:
        return whole
    blocks = {
        block: entries[:, places]
        for name, entries in whole.items()
        for block, places in block_places(model.layout, name).items()
    }
    return {block: entries for block, entries in blocks.items() if block in model.error}


def _fastest(run: Callable[[], object]) -> float:
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


# Comparison in time: the mechanism and its reduced model run the same scenario, from the same initial state.
#
# An error in time is relative to the elastic part of an output, e = y - ρ_o(θ): the difference to the output of
# undeformed bodies with the same coordinates. Relative to the gross motion every model would look good.


T = TypeVar("T")
_RESULTS, _TOLERANCE = 100, 1e-7  # of a run at the model's own pace
_STILL = 1e-6  # of the largest acceleration, rad/s² or m/s²: below it, a prescribed coordinate has arrived
_FEW = 5  # steps of a run that compiles the kernels before they are timed
_STEP = 1e-3  # s, if the scenario gives none


def compare_in_time(
    mechanism: Mechanism, model: ReducedModel, domain: Domain, scenario: Scenario, *, rigid: bool = False
) -> TimeComparison:
    """Simulate the mechanism and the model in a scenario and compare them; the caller adds the errors of coefficients.

    rigid : the mechanism moves without deformation
    """
    _require_free(domain, scenario)
    scenario = _rayleigh_scenario(mechanism, scenario, rigid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyEnd)  # the comparison reports it, once
        short = _FEW * (scenario.step or _STEP)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # the timed run below issues them again
            simulate(mechanism, scenario, until=short, rigid=rigid)
        full, slow = _time_call(lambda: simulate(mechanism, scenario, rigid=rigid))
        reduced, fast = _reduced_run(mechanism, model, domain, scenario)
        own = reduced
        for _ in range(_REPEATS if scenario.motion is None else 0):
            own, seconds = _run_adaptive(mechanism, model, scenario)
            fast = min(fast, seconds)
    count = min(len(full.time), len(reduced.time))
    reasons = [f"{who}: {run.reason}" for who, run in (("the mechanism", full), ("the reduced model", reduced))
               if run.reason]  # fmt: skip
    whole = domain.path is None and not domain.held
    undeformed = {
        FULL: _undeformed_outputs(mechanism, full, _stack(full.coordinates, full.coordinates)),
        REDUCED: _undeformed_outputs(
            mechanism, reduced, domain.theta(_stack(reduced.coordinates, domain.coordinates)), moving=whole
        ),
    }
    missing = tuple(name for name in full.outputs if name not in reduced.outputs)
    return TimeComparison(
        full, reduced, undeformed, slow, fast, force_error=_forces(full, reduced, count), reason="; ".join(reasons),
        missing=missing, free_from=_free_from(full), own=own,
    )  # fmt: skip


def _free_from(run: Simulation) -> float:
    """Return the time, s, after which inputs are constant and no prescribed coordinate accelerates."""
    changes = [np.flatnonzero(np.diff(values)) for values in run.inputs.values()]
    for name in run.driving_forces:
        pushed = np.abs(run.accelerations[name]) if name in run.accelerations else np.zeros(1)
        changes.append(np.flatnonzero(pushed > _STILL * max(float(pushed.max(initial=0.0)), _STILL)))
    last = max((int(found[-1]) + 1 for found in changes if len(found)), default=0)
    return float(run.time[min(last, len(run.time) - 1)])


def _require_free(domain: Domain, scenario: Scenario) -> None:
    """Refuse a model that cannot move as the scenario does."""
    if scenario.motion is not None:
        return
    if domain.held:
        raise InputError(
            f"the model keeps {', '.join(domain.held)} fixed, but in the scenario it moves",
            part="scenario", hint="give a motion that does not move it, or reduce with it in the region",
        )  # fmt: skip
    if domain.path is not None:
        raise InputError(
            "a model that was reduced along a path moves only along the path, but the scenario moves freely",
            part="scenario", hint="give a scenario or motion along the path",
        )  # fmt: skip


def _rayleigh_scenario(mechanism: Mechanism, scenario: Scenario, rigid: bool) -> Scenario:
    """Return the scenario with its damping as Rayleigh coefficients α and β, from the first mode of the mechanism."""
    if rigid or scenario.damping is None or scenario.damping.rayleigh is not None:
        return scenario
    start = prepared_scenario(mechanism, scenario.model_copy(update={"damping": None})).start
    damping = ScenarioDamping(rayleigh=rayleigh_of(scenario.damping, start))
    return scenario.model_copy(update={"damping": damping})


def _time_call(run: Callable[[], T]) -> tuple[T, float]:
    start = time.perf_counter()
    found = run()
    return found, time.perf_counter() - start


def _reduced_run(
    mechanism: Mechanism, model: ReducedModel, domain: Domain, scenario: Scenario
) -> tuple[Simulation, float]:
    """Simulate the model in the scenario and return the run and its time, s, without the time to plan a motion."""
    if scenario.motion is None:
        return _time_call(lambda: simulate(model, scenario))
    lasts = scenario.until or float(trajectory(mechanism, scenario.motion).time[-1])
    course = trajectory(mechanism, scenario.motion, times=result_times(None, until=lasts, step=scenario.step))
    along = without_fixed_coordinates(course, domain.held) if domain.path is None else along_path(domain.path, course)
    runs = [_time_call(lambda: model.simulate(scenario_data(scenario), motion=along)) for _ in range(_REPEATS)]
    return min(runs, key=lambda run: run[1])


def _run_adaptive(mechanism: Mechanism, model: ReducedModel, scenario: Scenario) -> tuple[Simulation, float]:
    """Simulate the model with 100 results and error-controlled steps, as in stand-alone use."""
    run = prepared_scenario(mechanism, scenario.model_copy(update={"damping": None, "deflection": {}}), rigid=True)
    grid = np.linspace(0.0, run.until, _RESULTS + 1)
    few = _FEW * (scenario.step or _STEP)
    first = model.simulate(scenario_data(scenario), run.inputs, until=few, input_times=run.times)
    held = getattr(first.record, "model", model)
    eta, v = (
        np.array([signals[name][0] for name in model.layout.coordinates])
        for signals in (first.coordinates, first.rates)
    )
    return _time_call(
        lambda: held.simulate(grid, run.inputs, eta, rates=v, input_times=run.times, tolerance=_TOLERANCE, step=grid[1])
    )


def _stack(signals: Signals, names: Iterable[str]) -> Array:
    """Return signals side by side, (N, k)."""
    return np.stack([signals[name] for name in names], axis=1)


def _undeformed_outputs(mechanism: Mechanism, run: Simulation, theta: Array, *, moving: bool = True) -> Signals:
    """Return ρ_o(θ(t)): the outputs of undeformed bodies with the coordinates θ, and θ̇, θ̈, of a run.

    moving : whether the rates of the run are those of θ; if not, outputs other than plain measures are omitted, and so
    are
             forces inside bodies
    """
    if not len(mechanism.sensors) or not len(theta):
        return Signals(run.time, {})
    model: EquationsOfMotion = local(mechanism, theta, rigid=True)
    theta_names = model.labels.coordinates
    seen = model.labels.output_composition
    x = np.zeros((3, len(theta), len(seen.measures) + len(seen.efforts)))
    measured = x[:, :, : len(seen.measures)]
    measured[0] = model.row.part(model.rows, "outputs")
    names = [name for name in seen.names if seen.measure_of(name) is not None]
    if moving and not seen.plain:
        v, a = (_stack(signals, theta_names) for signals in (run.rates, run.accelerations))
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
    """Return the largest difference of the forces that impose the motion, relative to their largest value."""
    if not len(full.driving_forces) or list(full.driving_forces) != list(reduced.driving_forces):
        return None
    pairs = [(full.driving_forces[name][:count], reduced.driving_forces[name][:count]) for name in full.driving_forces]
    largest = max(float(np.abs(needed).max(initial=0.0)) for needed, _ in pairs)
    return max(float(np.abs(found - needed).max(initial=0.0)) for needed, found in pairs) / (largest or 1.0)
