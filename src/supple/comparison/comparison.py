"""A reduced model against the mechanism it was made from: how far off, and how much faster."""

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
from supple.reduction.exact_coefficients import exact_coefficients, modes_of, scattered_over
from supple.reduction.fitted_coefficients import FREQUENCIES, block_places
from supple.reduction.model_trajectory import along_path, without_held
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

_REPEATS = 5  # the fastest counts: the others waited for something
_MEDIANS = 1000
_ALONG = 200  # points of a run at which coefficients are compared


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """error : family -> largest ‖f - f̂‖ / max(‖f‖, scale), and `at` which θ, with the scale that `reduce` stated (the
    larger of the region's median ‖f‖ and the family's floor); speedup : of a batch of points.

    output_error     : output -> largest difference of its value, of its largest value
    force_error      : along a motion, the largest difference of the generalized forces it needs, of their largest value
    rigid            : names of the elastic parts that the mechanism's side takes as rigid, beside a model without modes
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
        worst = max(self.error.items(), key=lambda item: item[1], default=("none", 0.0))
        return f"at {self.points} points, largest error {worst[1]:.2g} ({worst[0]}), {self.speedup:.3g} times as fast"

    def table(self) -> Table:
        """The largest error of each family, and θ where it is."""
        where = dict.fromkeys(name for place in self.at.values() for name in place)
        columns = {"family": np.array(list(self.error), dtype=str), "error": np.array(list(self.error.values()))}
        places = {
            f"at {name}": np.array([self.at.get(key, {}).get(name, np.nan) for key in self.error]) for name in where
        }
        return Table({**columns, **places}, index="family")

    def data(self) -> dict[str, Any]:
        """What `--json` prints: `error` is that of outputs there, and `coefficients` that of families."""
        found = asdict(self)
        found["coefficients"], found["error"] = found.pop("error"), found.pop("output_error")
        return found

    def text(self) -> Text:
        """The largest error of each family and where it is, and how fast both are."""
        out = Text()
        rows = [
            (name, f"{worst:.2g}", ", ".join(f"{key}={value:.4g}" for key, value in self.at.get(name, {}).items()))
            for name, worst in self.error.items()
        ]
        out.table(("coefficients", "largest error", "at"), rows)
        if self.force_error is not None:
            out.line(f"forces that the motion needs: {self.force_error:.2g} of their largest value off")
        each = [1e6 * seconds / self.points for seconds in (self.full_seconds, self.reduced_seconds)]
        out.line(
            f"{self.points} points: {each[0]:.3g} µs each, reduced {each[1]:.3g} µs: {self.speedup:.3g} times faster"
        )
        return out


@natively()  # its speed is part of the answer
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
    """
    require_arguments(compare, locals())
    mechanism = member(mechanism, model.family)
    domain = _domain(mechanism, model)
    if _in_time(mechanism, scenario):
        asked = scenario_in(mechanism, scenario)  # type: ignore[arg-type]
        found = judged_in_time(mechanism, model, domain, asked, rigid=rigid)
        if not len(found.reduced.time):
            return found
        names = model.layout.coordinates[: model.layout.theta]
        x = np.stack([found.reduced.coordinates[name] for name in names], axis=1)
        inside = x[model.fitted.locate(x) != NOWHERE][:: max(1, len(x) // _ALONG)]  # a face is only known to rounding
        error, at = _coefficient_errors(mechanism, model, domain, inside, seed)[:2]
        return replace(found, coefficients=error, at=at)
    if scenario is not None:
        course = trajectory(mechanism, scenario)  # type: ignore[arg-type]
        along = without_held(course, domain.held) if domain.path is None else along_path(domain.path, course)
        return _compared(mechanism, model, domain, along, seed)
    if points < 1:
        raise InputError(f"{points} points are asked for", part="points", hint="ask for one at least")
    require_within("points", points, part="points")
    return _compared(mechanism, model, domain, scattered_over(model, points, seed), seed)


def _in_time(mechanism: Mechanism, asked: object) -> bool:
    """Whether a scenario is meant, not a motion."""
    if isinstance(asked, str | Path):
        return asked in mechanism.scenarios or is_scenario_file(asked)
    return isinstance(asked, Scenario)


def _domain(mechanism: Mechanism, model: ReducedModel) -> Domain:
    """What the model is a function of, if it can have been made from this mechanism."""
    names = model.layout.coordinates[: model.layout.theta]
    described = model.provenance.get("options", {}).get("path")
    if described is not None:
        path = path_from(described)
        full, domain = path.coordinates, path_domain(mechanism, path)
    else:
        domain = theta_domain(mechanism, [], model.held)
        full = domain.theta_names if domain.coordinates == names else names
    expected = rest(mechanism).numbering.coordinates
    if full != expected:
        raise InputError(
            f"the model has the coordinates {', '.join(full)}, the mechanism {', '.join(expected)}",
            hint="compare a model with the mechanism it was made from",
        )
    return domain


def _coefficient_errors(
    mechanism: Mechanism, model: ReducedModel, domain: Domain, x: Array, seed: int
) -> tuple[dict[str, float], dict[str, dict[str, float]], EquationsOfMotion, EquationsOfMotion]:
    """The largest error of each family at points x (N, dimension), where it is, and the coefficients of both."""
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
    """The error of each family at every one of some points x (N, dimension) of the region: (N,) each."""
    domain = _domain(mechanism, model)
    full, reduced = exact_coefficients(mechanism, model, domain, x), model.evaluate(x)
    return {name: off for name, (off, _) in _point_errors(model, full, reduced, seed).items()}


def _point_errors(
    model: ReducedModel, full: EquationsOfMotion, reduced: EquationsOfMotion, seed: int
) -> dict[str, tuple[Array, bool]]:
    """Of each family (N,), and whether it has a size to be measured by; it is a plain difference otherwise."""
    exact, fitted = (judged(model, families(item)) for item in (full, reduced))
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
    """What errors of each family are measured against where ‖f‖ is smaller: what `reduce` has stated. Of a constant,
    and in files of earlier versions, the median of ‖f‖ over the region."""
    stated = model.provenance.get("error", {})
    if all("scale" in stated.get(name, {}) for name in names):
        return {name: stated[name]["scale"] for name in names}
    typical = judged(model, families(model.evaluate(scattered_over(model, _MEDIANS, seed + 1))))
    medians = {name: float(np.median(norms(typical[name]))) for name in names}
    return {
        name: stated.get(name, {}).get("scale", max(medians[name], stated.get(name, {}).get("median_norm", 0.0)))
        for name in names
    }


def _compared(
    mechanism: Mechanism, model: ReducedModel, domain: Domain, where: Trajectory | Array, seed: int
) -> Comparison:
    """Coefficients at points x (N, dimension) or along a trajectory of them."""
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
    """Coefficient families of a batch of local or reduced models, each (N, entries)."""
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
    """max_k |ω_k - ω̂_k| / ω_k over the kept frequencies at every point, θ locked: (N,)."""
    s, count = model.layout.theta, kept_frequencies(model.layout)
    exact, fitted = (locked_frequencies(item.K[:, s:, s:], item.M[:, s:, s:]) for item in (full, reduced))
    return np.asarray(np.abs(fitted / exact - 1.0)[:, :count].max(axis=1))


def _output_errors(model: ReducedModel, full: EquationsOfMotion, reduced: EquationsOfMotion) -> dict[str, float]:
    """max |y - ŷ| / max |y| of every output."""
    exact, fitted = (item.row.part(item.rows, "outputs") for item in (full, reduced))
    largest = np.abs(exact).max(axis=0)
    relative = np.abs(fitted - exact).max(axis=0) / np.where(largest > 0.0, largest, 1.0)
    return dict(zip(model.layout.measures, relative.tolist(), strict=True))


def judged(model: ReducedModel, whole: dict[str, Array]) -> dict[str, Array]:
    """The families whose error is stated: of a flexible model, blocks by kinds of coordinates."""
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


# The judge: the mechanism and its reduced model through the same scenario, from the same start.
#
# An error in time is told against the elastic part of an output, e = y - ρ_o(θ), what it shows beyond the motion of
# undeformed bodies with the same coordinates; against the gross motion every model would look good.


T = TypeVar("T")
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
    start = prepared_scenario(mechanism, scenario.model_copy(update={"damping": None})).start
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
    run = prepared_scenario(mechanism, scenario.model_copy(update={"damping": None, "deflection": {}}), rigid=True)
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
