"""Study of one controller on many plants: its behaviour on most of them, and on the worst."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from pickle import PicklingError
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import qmc

from supple.approximation.fits.chebyshev_products import basis, total_degree
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array
from supple.control.closed_loop import closed_loop
from supple.control.controller import Controller
from supple.control.study.distribution import Study
from supple.description.mechanism import Mechanism
from supple.description.quantities.expression import quantity
from supple.diagnostics import InputError, SuppleError, SuppleWarning, unknown_name
from supple.diagnostics.arguments import require_arguments, value_text
from supple.diagnostics.limits import require_within
from supple.formats.document import load_mechanism
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.maps.over import ProgressBar
from supple.reduced.model import ReducedModel
from supple.reduced.scaled import scaled_model
from supple.reduction.reduce import reduce
from supple.reduction.region import Region
from supple.reduction.sibling import Siblings
from supple.systems.protocols import system_of

# Plants of a study: the nominal one with other parameters, stiffness, damping, delays, noise or modes.


FACTORS = ("stiffness", "damping")
SURROUNDINGS = ("delay", "noise")
MODES = "internal_modes"
_MANY = 40  # plants: from this number on a family is faster
KNOWN = (*FACTORS, *SURROUNDINGS, MODES)


@dataclass(frozen=True, eq=False)
class PlantMaker:
    """Factory of the plant of a setting {quantity: value}; what plants have in common is computed once.

    source     : a mechanism file, or a reduced model, which has only the parameters that it was reduced over
    parameters : names of the parameters of the file, or of the model, that are varied
    full       : whether the plant is the mechanism itself, not a reduced model of it
    reduction  : options of `reduce`: internal_modes, tolerance, ...
    """

    source: str | ReducedModel
    parameters: tuple[str, ...] = ()
    full: bool = False
    region: Region = None
    reduction: Mapping[str, Any] = field(default_factory=dict)

    def prepare(self, settings: Sequence[Mapping[str, float]]) -> None:
        """Reduce the nominal mechanism once for every number of modes, before it is sent to other processes."""
        if not (self.full or isinstance(self.source, ReducedModel)):
            for modes in {self._modes(setting) for setting in settings}:
                self._siblings(modes)
                self._families[modes] = self._family(modes, settings)

    def _modes(self, setting: Mapping[str, float]) -> int:
        return int(setting.get(MODES, self.reduction.get(MODES, 0)))

    def plant(self, setting: Mapping[str, float]) -> Mechanism | ReducedModel:
        """Return the plant with the parameters, factors and modes of a setting."""
        values = {name: setting[name] for name in self.parameters if name in setting}
        if self.full:
            return load_mechanism(str(self.source), parameters=values)
        model = self._model(self._modes(setting), values)
        return scaled_model(model, stiffness=setting.get("stiffness", 1.0), damping=setting.get("damping", 1.0))

    def _model(self, modes: int, values: Mapping[str, float]) -> ReducedModel:
        if isinstance(self.source, ReducedModel):
            return self.source.at(values) if values else self.source
        if not values:
            return self._siblings(modes).model
        family = self._families.get(modes)
        if family is not None:
            return family.of(values)
        return self._siblings(modes).of(load_mechanism(self.source, parameters=dict(values)))

    def _family(self, modes: int, settings: Sequence[Mapping[str, float]]) -> SiblingFamily | None:
        """Return a family that interpolates between a few plants, if that is faster than reducing each."""
        if not self.parameters or len(settings) < _MANY:
            return None
        values = {name: [setting[name] for setting in settings] for name in self.parameters}
        ranges = {name: (min(item), max(item)) for name, item in values.items()}
        return sibling_family(
            self._siblings(modes), lambda given: load_mechanism(str(self.source), parameters=dict(given)), ranges
        )

    @cached_property
    def _families(self) -> dict[int, SiblingFamily | None]:
        return {}

    @cached_property
    def _siblings_by_modes(self) -> dict[int, Siblings]:
        return {}

    def _siblings(self, modes: int) -> Siblings:
        if modes not in self._siblings_by_modes:
            options = {**self.reduction, MODES: modes} if modes else dict(self.reduction)
            model = reduce(load_mechanism(str(self.source)), region=self.region, store=False, progress=False, **options)
            self._siblings_by_modes[modes] = Siblings(model)
        return self._siblings_by_modes[modes]


def plant_maker(
    plant: Any, spreads: Mapping[str, Any], full: bool, region: Region, reduction: dict[str, Any]
) -> PlantMaker:
    """Return the factory for a study; refuse spreads of quantities that cannot be varied."""
    names = tuple(name for name in spreads if name not in KNOWN)
    if isinstance(plant, ReducedModel):
        known = () if plant.family is None else plant.family.names
        constant = [name for name in names if name not in known]
        if constant or MODES in spreads or full:
            what = f'parameter "{constant[0]}"' if constant else "other modes"
            raise InputError(
                f"the reduced model has no {what} to vary",
                part="study", hint="give the mechanism file, whose plants are reduced one by one, or a model that was "
                "reduced over it (--vary)",
            )  # fmt: skip
        return PlantMaker(plant, names)
    if isinstance(plant, Mechanism):
        raise InputError(
            "the parameters of a Mechanism object cannot be varied: they are already evaluated", part="study",
            hint="give its file, or a reduced model of it",
        )  # fmt: skip
    mechanism = load_mechanism(plant)
    for name in names:
        if name not in mechanism.parameters:
            raise unknown_name(f"parameter of {plant}", name, [*mechanism.parameters, *KNOWN], part="study")
    if full and any(name in spreads for name in (*FACTORS, MODES)):
        raise InputError(
            "stiffness and damping of a mechanism are parameters of its file", part="study",
            hint="name those parameters, or study reduced plants",
        )  # fmt: skip
    return PlantMaker(str(Path(plant).resolve()), names, full, region, reduction)


def surroundings(hardware: Hardware, setting: Mapping[str, float]) -> tuple[Hardware, float]:
    """Return drives and instruments with scaled noise and additional delay, and the delay that is not part of drives.

    Without drives the delay is that of the computation, s.
    """
    late, noise_factor = setting.get("delay", 0.0), setting.get("noise", 1.0)
    if late and any(block.delay + late < 0.0 for block in hardware.drives):
        least = min(block.delay for block in hardware.drives)
        raise InputError(
            f"a change of {late:g} s makes a delay negative: a drive has only {least:g} s", part='spread of "delay"',
            hint=f"begin the spread at {-least:g}",
        )  # fmt: skip
    drives = tuple(replace(block, delay=block.delay + late) for block in hardware.drives)
    instruments = tuple(
        replace(item, noise=noise_factor * item.noise, walk=noise_factor * item.walk) for item in hardware.instruments
    )
    return replace(hardware, drives=drives, instruments=instruments), 0.0 if drives else late


Measure = Callable[[Any], float]


class _Task(NamedTuple):
    """Data of a study that is sent to every process: all except the setting."""

    maker: PlantMaker
    controller: Any
    measures: Mapping[str, Measure]
    loop: Mapping[str, Any]


def study(
    plant: str | Path | ReducedModel,
    controller: Controller,
    spreads: Mapping[str, Spread],
    measures: Mapping[str, Measure] | None = None,
    *,
    count: int = 200,
    seed: int = 0,
    processes: int | None = None,
    full: bool = False,
    region: Region = None,
    reduction: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    **loop: Any,
) -> Study:
    """Run a controller on plants sampled about the nominal one, and evaluate the distribution of measures.

    Parameters
    ----------
    plant : str, Path or ReducedModel
        Mechanism file, whose plants are reduced one by one; or a reduced model.
    controller : Controller
        Controller designed for the nominal plant; every run uses a copy of it.
    spreads : mapping of str to tuple, sequence or distribution
        Distributions of the varied quantities, {name: spread}.

        A quantity is a parameter of the file ("payload"); "stiffness" or "damping" (factors of those of deformation);
        "noise" (factor of that of all instruments); "delay" (s, added to every drive, or without drives to the
        computation); or "internal_modes" (of the plant, to study modes that the controller's model does not include). A
        spread is (low, high), uniformly distributed; a list of values; or a distribution of scipy.stats.
    measures : mapping of str to callable, optional
        Functions from a run to a number. Default: the largest error of every coordinate of the reference, or the
        largest value of every output without one.
    count : int, optional
        Number of plants. Default: 200.
    seed : int, optional
        Random seed for the plants and the noise of each. Default: 0.
    processes : int, optional
        Number of processes. Default: one for each processor.
    full : bool, optional
        Use the mechanisms themselves as plants instead of reduced models; much slower. Default: False.
    region : Region, optional
        Region of the reduced plants, as in `reduce`. Default: that of `reduce`.
    reduction : mapping of str to Any, optional
        Options of `reduce`: internal_modes, tolerance, ... Default: none.
    progress : bool, optional
        Show a progress bar on standard error. Default: only in a terminal.
    **loop : Any
        Options of `closed_loop`: until, sample_time, start, ...

    Returns
    -------
    Study
        Settings and measures of all plants.

    Raises
    ------
    InputError
        If a quantity cannot be varied, the controller fails on the nominal plant, or measures cannot be sent to other
        processes.

    See Also
    --------
    closed_loop : One run.
    margins : Stability margins of the nominal loop.

    Notes
    -----
    Latin hypercube sampling [McKay 1979]; docs/theory/robustness.md.
    """
    require_arguments(study, locals())
    for name, measure in (measures or {}).items():
        if not callable(measure):
            raise InputError(
                f"{value_text(measure)} is not callable", part=f'measure "{name}"', hint="give a function of a run"
            )
    maker = plant_maker(plant, spreads, full, region, dict(reduction or {}))
    settings = sample_settings(spreads, count, seed)
    maker.prepare(settings)
    task = _Task(maker, controller, dict(measures or {}), loop)
    nominal = _run(task, {}, seed)
    if nominal.reason:
        raise InputError(
            f"the controller fails on the nominal plant: {nominal.reason}",
            part="study",
            hint="correct the controller for the nominal plant first",
        )
    seeds = np.random.SeedSequence(seed).generate_state(count).tolist()
    require_within("workers", processes or 1, part="processes")
    with ProgressBar(count, "plants", shown=progress) as bar:
        runs = _all(task, settings, seeds, processes or os.cpu_count() or 1, bar)
    names = tuple(nominal.measures)
    found = {name: np.array([run.measures.get(name, np.nan) for run in runs]) for name in names}
    columns = {name: np.array([setting[name] for setting in settings]) for name in spreads}
    return Study(columns, found, nominal.measures, tuple(run.reason for run in runs), seed)


class _Run(NamedTuple):
    measures: dict[str, float]
    reason: str


def _all(
    task: _Task, settings: list[dict[str, float]], seeds: list[int], processes: int, bar: ProgressBar
) -> list[_Run]:
    found: list[_Run] = []
    if processes == 1 or len(settings) < 2:
        for setting, seed in zip(settings, seeds, strict=True):
            found.append(_run(task, setting, seed))
            bar.advance(1)
        return found
    from joblib import Parallel, delayed, parallel_config

    # Few large batches: each process reduces a model once for all runs of its batch.
    batches = np.array_split(np.arange(len(settings)), min(len(settings), 2 * processes))
    jobs = [delayed(_batch)(task, [settings[i] for i in batch], [seeds[i] for i in batch]) for batch in batches]
    try:
        with parallel_config(backend="loky", inner_max_num_threads=1):
            for done in Parallel(n_jobs=processes, return_as="generator")(jobs):
                found += done
                bar.advance(len(done))
    except (PicklingError, BrokenProcessPool) as error:
        raise InputError(
            f"the controller or a measure cannot be sent to another process ({' '.join(str(error).split())[:120]})",
            part="study", hint="define measures in the script itself or in a module, or use processes=1",
        ) from None  # fmt: skip
    return found


def _batch(task: _Task, settings: list[dict[str, float]], seeds: list[int]) -> list[_Run]:
    return [_run(task, setting, seed) for setting, seed in zip(settings, seeds, strict=True)]


def _run(task: _Task, setting: dict[str, float], seed: int) -> _Run:
    """Create, run and measure a plant; return the reason of an early end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # the study reports them together
        try:
            plant = task.maker.plant(setting)
            run = closed_loop(plant, copy.deepcopy(task.controller), **_loop_options(plant, task.loop, setting, seed))
        except SuppleError as error:
            return _Run({}, str(error))
    if run.reason:
        return _Run({}, run.reason)
    measures = task.measures or _largest(run)
    return _Run({name: float(measure(run)) for name, measure in measures.items()}, "")


def _loop_options(plant: Any, loop: Mapping[str, Any], setting: Mapping[str, float], seed: int) -> dict[str, Any]:
    """Return the options of the loop with drives and instruments of the setting."""
    given = loop.get("hardware", True)
    own = system_of(plant).hardware if given is True else given or NO_HARDWARE
    devices, late = surroundings(own, setting)
    found = dict(loop)
    if devices:
        found |= {"hardware": devices, "seed": seed}
    if late:
        found["computation_delay"] = loop.get("computation_delay", 0.0) + late
    return found


def _largest(run: Any) -> dict[str, Measure]:
    """Return the default measures: the largest value of every error, or of every output."""
    if len(getattr(run, "errors", ())):
        return {f"largest error of {name}": partial(_largest_error, name) for name in run.errors}
    return {f"largest {name}": partial(_largest_output, name) for name in run.observed_signals}


def _largest_error(name: str, run: Any) -> float:
    return float(np.abs(run.errors[name]).max())


def _largest_output(name: str, run: Any) -> float:
    return float(np.abs(run.observed_signals[name]).max())


# Sampling of the plants of a study: each quantity with its spread, sampled evenly over its distribution.
#
# A spread is a pair (low, high), uniformly distributed; a list of equally likely values; or an object with `ppf`, the
# inverse of its distribution, as in scipy.stats. Quantities are sampled by a Latin hypercube [McKay 1979]: of N
# plants, one is in every N-th part of each spread.


class Distribution(Protocol):
    """Protocol of a distribution."""

    def ppf(self, q: ArrayLike) -> Any:
        """Return the value below which the share q lies."""
        ...


Spread = tuple[float | str, float | str] | Sequence[float | str] | Distribution


def sample_settings(spreads: Mapping[str, Spread], count: int, seed: int) -> list[dict[str, float]]:
    """Return `count` settings {name: value}, reproducible by the seed."""
    if count < 1:
        raise InputError(f"count must be at least 1 (got {count})", part="study", hint="give a number of plants")
    require_within("runs", count, part="study")
    if not spreads:
        return [{} for _ in range(count)]
    shares = qmc.LatinHypercube(len(spreads), rng=np.random.default_rng(seed)).random(count)
    columns = [_values(name, spread, shares[:, k]) for k, (name, spread) in enumerate(spreads.items())]
    return [dict(zip(spreads, map(float, row), strict=True)) for row in zip(*columns, strict=True)]


def _values(name: str, spread: Spread, shares: Array) -> Array:
    if hasattr(spread, "ppf"):
        found = np.asarray(spread.ppf(shares), dtype=float)
    else:
        numbers = np.array([quantity(item) if isinstance(item, str) else float(item) for item in spread])
        if isinstance(spread, tuple):
            if numbers.shape != (2,) or not numbers[0] <= numbers[1]:
                raise InputError(
                    f"{spread} is not a pair (low, high)", part=f'spread of "{name}"',
                    hint="give (low, high), a list of values, or a distribution of scipy.stats",
                )  # fmt: skip
            found = numbers[0] + shares * (numbers[1] - numbers[0])
        else:
            if not len(numbers):
                raise InputError("no value is given", part=f'spread of "{name}"', hint="give at least one")
            found = numbers[np.minimum((shares * len(numbers)).astype(int), len(numbers) - 1)]
    if not np.isfinite(found).all():
        raise InputError("the spread has values that are not finite", part=f'spread of "{name}"', hint="bound it")
    return found


# Interpolation between a few sibling models: data of a reduced model as polynomials of the varied parameters.
#
#     c(p) = Σ_k c_k T_k(p),   T_k products of Chebyshev polynomials over the ranges of p, from siblings at a few p
#
# Coefficients and constants of the models change smoothly with a mass, a modulus or a length, as long as the modes
# keep their order. One more sibling, not used in the fit, checks this: if the columns of its own model are
# missed by more than the error tolerance of models, there is no family, and each plant is reduced by itself.


_DEGREES = {1: 4, 2: 3}  # of the polynomials, by the number of parameters
_CLOSE = 1e-4  # of a group of columns: largest error of a family at the check


def sibling_family(
    siblings: Siblings, mechanism_of: Callable[[dict[str, float]], Mechanism], ranges: Mapping[str, tuple[float, float]]
) -> SiblingFamily | None:
    """Return the family over ranges of one or two parameters; None if the check fails."""
    s = len(ranges)
    if s not in _DEGREES or any(low >= high for low, high in ranges.values()):
        return None
    indices = total_degree(s, _DEGREES[s])
    count = _DEGREES[s] + 1
    nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    points = np.array(list(product(nodes, repeat=s)))
    check = 2.0 * qmc.Halton(s, scramble=True, rng=np.random.default_rng(3)).random(1) - 1.0
    low, high = np.array(list(ranges.values()), dtype=float).T
    made = []
    for x in np.vstack([points, check]):
        p = 0.5 * (low + high) + 0.5 * (high - low) * x
        made.append(siblings.of(mechanism_of(dict(zip(ranges, p.tolist(), strict=True)))))
    if any(model.hardware.data() != made[0].hardware.data() for model in made):
        return None  # parameters of drives: reduce each plant
    inverse: Array = np.asarray(np.linalg.pinv(basis(points, indices)), dtype=float)
    found = SiblingFamily(made[0], tuple(ranges), low, high, inverse, _stack(made[:-1]), indices)
    return found if found.agrees(made[-1], check[0]) else None


def _stack(models: list[ReducedModel]) -> Array:
    """Return the data that changes, a row for each model."""
    return np.array([_row(model) for model in models])


def _row(model: ReducedModel) -> Array:
    return np.concatenate([model.fitted.arrays.coefficients.ravel(), *map(np.ravel, model.layout.constants.values())])


class SiblingFamily:
    """Family of reduced models at any p within the ranges."""

    def __init__(
        self, first: ReducedModel, names: tuple[str, ...], low: Array, high: Array, inverse: Array, rows: Array,
        indices: NDArray[np.int64],
    ) -> None:  # fmt: skip
        self._first, self._names, self._low, self._high, self._indices = first, names, low, high, indices
        self._terms = inverse @ rows

    def of(self, parameters: Mapping[str, float]) -> ReducedModel:
        """Return the model at p, by name."""
        p = np.array([parameters[name] for name in self._names])
        return self._at((2.0 * p - self._low - self._high) / (self._high - self._low))

    def _at(self, x: Array) -> ReducedModel:
        row = basis(x[None], self._indices)[0] @ self._terms
        first = self._first
        arrays = first.fitted.arrays
        size = arrays.coefficients.size
        constants, at = {}, size
        for name, value in first.layout.constants.items():
            constants[name] = row[at : at + np.size(value)].reshape(np.shape(value))
            at += np.size(value)
        fitted = Piecewise(arrays._replace(coefficients=row[:size].reshape(arrays.coefficients.shape)))
        return replace(first, layout=replace(first.layout, constants=constants), fitted=fitted)

    def agrees(self, own: ReducedModel, x: Array) -> bool:
        """Return whether the family reproduces the columns of a model that was not used in the fit."""
        between, errors = self._at(x), [_CLOSE, *own.error.values()]
        for first, stop in own.layout.columns.values():
            true, found = (model.fitted.arrays.coefficients[:, first:stop] for model in (own, between))
            if np.linalg.norm(found - true) > max(errors) * np.linalg.norm(true):
                return False
        return True
