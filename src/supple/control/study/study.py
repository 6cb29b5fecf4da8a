"""One controller on many plants: what it does on most of them, and on the worst."""

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
from supple.diagnostics import InputError, SuppleError, SuppleWarning, nearest
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

# The plants of a study: the nominal one with other parameters, stiffness, damping, delays, noise or modes.


FACTORS = ("stiffness", "damping")
SURROUNDINGS = ("delay", "noise")
MODES = "internal_modes"
_MANY = 40  # plants, from which on a family pays
KNOWN = (*FACTORS, *SURROUNDINGS, MODES)


@dataclass(frozen=True, eq=False)
class PlantMaker:
    """Makes the plant of a setting {quantity: value}; what plants have in common is made once.

    source     : a mechanism file, or a reduced model, which knows the parameters alone that it was reduced over
    parameters : names of those of the file, or of the model, that are varied
    full       : the mechanism itself is the plant, not a reduced model of it
    reduction  : options of `reduce`: internal_modes, tolerance, ...
    """

    source: str | ReducedModel
    parameters: tuple[str, ...] = ()
    full: bool = False
    region: Region = None
    reduction: Mapping[str, Any] = field(default_factory=dict)

    def prepare(self, settings: Sequence[Mapping[str, float]]) -> None:
        """Reduce the nominal mechanism once for every number of modes, before processes are told of it."""
        if not (self.full or isinstance(self.source, ReducedModel)):
            for modes in {self._modes(setting) for setting in settings}:
                self._siblings(modes)
                self._families[modes] = self._family(modes, settings)

    def _modes(self, setting: Mapping[str, float]) -> int:
        return int(setting.get(MODES, self.reduction.get(MODES, 0)))

    def plant(self, setting: Mapping[str, float]) -> Mechanism | ReducedModel:
        """With the parameters, factors and modes of a setting."""
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
        """Plants between a few, where that is less work than each by itself."""
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
    def _made(self) -> dict[int, Siblings]:
        return {}

    def _siblings(self, modes: int) -> Siblings:
        if modes not in self._made:
            options = {**self.reduction, MODES: modes} if modes else dict(self.reduction)
            model = reduce(load_mechanism(str(self.source)), region=self.region, store=False, progress=False, **options)
            self._made[modes] = Siblings(model)
        return self._made[modes]


def plant_maker(
    plant: Any, spreads: Mapping[str, Any], full: bool, region: Region, reduction: dict[str, Any]
) -> PlantMaker:
    """The maker for a study, its spreads checked against what can be varied."""
    names = tuple(name for name in spreads if name not in KNOWN)
    if isinstance(plant, ReducedModel):
        known = () if plant.family is None else plant.family.names
        settled = [name for name in names if name not in known]
        if settled or MODES in spreads or full:
            what = f'parameter "{settled[0]}"' if settled else "other modes"
            raise InputError(
                f"a reduced model has no {what} any more",
                part="study", hint="give the mechanism file, whose plants are reduced one by one, or a model that was "
                "reduced over it (--vary)",
            )  # fmt: skip
        return PlantMaker(plant, names)
    if isinstance(plant, Mechanism):
        raise InputError(
            "a mechanism has its numbers already, without the parameters that they came from", part="study",
            hint="give its file, or a reduced model of it",
        )  # fmt: skip
    mechanism = load_mechanism(plant)
    for name in names:
        if name not in mechanism.parameters:
            raise InputError(f'"{name}" is no parameter of {plant}', part="study",
                             hint=nearest(name, [*mechanism.parameters, *KNOWN]))  # fmt: skip
    if full and any(name in spreads for name in (*FACTORS, MODES)):
        raise InputError(
            "stiffness and damping of a mechanism are parameters of its file", part="study",
            hint="name those parameters, or study reduced plants",
        )  # fmt: skip
    return PlantMaker(str(Path(plant).resolve()), names, full, region, reduction)


def surroundings(hardware: Hardware, setting: Mapping[str, float]) -> tuple[Hardware, float]:
    """Drives and instruments with noise times a factor and every drive later by a delay, s; without drives the delay
    is left over, and returned, for the computation."""
    late, loud = setting.get("delay", 0.0), setting.get("noise", 1.0)
    if late and any(block.delay + late < 0.0 for block in hardware.drives):
        least = min(block.delay for block in hardware.drives)
        raise InputError(
            f"{late:g} s is sooner than at once: a drive has {least:g} s alone", part='spread of "delay"',
            hint=f"begin it at {-least:g}",
        )  # fmt: skip
    drives = tuple(replace(block, delay=block.delay + late) for block in hardware.drives)
    heard = tuple(replace(item, noise=loud * item.noise, walk=loud * item.walk) for item in hardware.instruments)
    return replace(hardware, drives=drives, instruments=heard), 0.0 if drives else late


Measure = Callable[[Any], float]


class _Task(NamedTuple):
    """What every process is told: all but the setting."""

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
    """Run a controller on plants drawn at random about the nominal one, and tell how its measures are distributed.

    plant      : a mechanism file, whose plants are reduced one by one; or a reduced model
    controller : made once, for the nominal plant; every run has a copy of it
    spreads    : {name: spread} of what differs. A parameter of the file ("payload"), or
                 stiffness, damping : factors of those of deformation; noise : factor of that of all instruments
                 delay : s added to every drive, or without any to the computation
                 internal_modes : of the plant, a list of numbers: more than the controller's model knows
                 A spread is (low, high), evenly likely; a list of values; or a distribution of scipy.stats
    measures   : {name: function of a run} to a number; left out, the largest error of every coordinate of the
                 controller's reference, or of every output without one
    count, seed: plants, and the seed they, and the noise of each, are drawn from
    processes  : left out, one for each processor
    full       : the plants are the mechanisms themselves, not reduced models of them; slower by far
    region, reduction : where plants are valid, and options of `reduce` (internal_modes, tolerance)
    progress   : a bar on standard error while it runs; if left out, where that is a terminal
    loop       : options of `closed_loop`: until, sample_time, start, ...
    """
    require_arguments(study, locals())
    for name, measure in (measures or {}).items():
        if not callable(measure):
            raise InputError(f"it is {value_text(measure)}", part=f'measure "{name}"', hint="give a function of a run")
    maker = plant_maker(plant, spreads, full, region, dict(reduction or {}))
    settings = sampled_settings(spreads, count, seed)
    maker.prepare(settings)
    task = _Task(maker, controller, dict(measures or {}), loop)
    nominal = _run(task, {}, seed)
    if nominal.reason:
        raise InputError(
            f"on the nominal plant it fails: {nominal.reason}", part="study", hint="make it work there first"
        )
    seeds = np.random.SeedSequence(seed).generate_state(count).tolist()
    require_within("workers", processes or 1, part="processes")
    with ProgressBar(count, "plants", shown=progress) as bar:
        runs = _all(task, settings, seeds, processes or os.cpu_count() or 1, bar)
    names = tuple(nominal.measures)
    found = {name: np.array([run.measures.get(name, np.nan) for run in runs]) for name in names}
    given = {name: np.array([setting[name] for setting in settings]) for name in spreads}
    return Study(given, found, nominal.measures, tuple(run.reason for run in runs), seed)


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

    # Few large batches: what a process has reduced once serves all runs of its batch.
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
            part="study", hint="define measures in the script itself or in a module, or ask for processes=1",
        ) from None  # fmt: skip
    return found


def _batch(task: _Task, settings: list[dict[str, float]], seeds: list[int]) -> list[_Run]:
    return [_run(task, setting, seed) for setting, seed in zip(settings, seeds, strict=True)]


def _run(task: _Task, setting: dict[str, float], seed: int) -> _Run:
    """A plant made, run and measured; one that cannot be run to its end says why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # the study tells of all of them together
        try:
            plant = task.maker.plant(setting)
            run = closed_loop(plant, copy.deepcopy(task.controller), **_surrounded(plant, task.loop, setting, seed))
        except SuppleError as error:
            return _Run({}, str(error))
    if run.reason:
        return _Run({}, run.reason)
    measures = task.measures or _largest(run)
    return _Run({name: float(measure(run)) for name, measure in measures.items()}, "")


def _surrounded(plant: Any, loop: Mapping[str, Any], setting: Mapping[str, float], seed: int) -> dict[str, Any]:
    """Options of the loop, with drives and instruments of the setting."""
    given = loop.get("hardware", True)
    own = system_of(plant).hardware if given is True else given or NO_HARDWARE
    around, late = surroundings(own, setting)
    found = dict(loop)
    if around:
        found |= {"hardware": around, "seed": seed}
    if late:
        found["computation_delay"] = loop.get("computation_delay", 0.0) + late
    return found


def _largest(run: Any) -> dict[str, Measure]:
    """Of every error, or of every output."""
    if len(getattr(run, "errors", ())):
        return {f"largest error of {name}": partial(_largest_error, name) for name in run.errors}
    return {f"largest {name}": partial(_largest_seen, name) for name in run.seen}


def _largest_error(name: str, run: Any) -> float:
    return float(np.abs(run.errors[name]).max())


def _largest_seen(name: str, run: Any) -> float:
    return float(np.abs(run.seen[name]).max())


# How the plants of a study differ: each quantity with its spread, drawn so that every part of it is met.
#
# A spread is a pair (low, high), evenly likely between; a list of values, each as likely; or anything with `ppf`, the
# inverse of its distribution, as those of scipy.stats. Quantities are drawn by a Latin hypercube [McKay 1979]: of N
# plants, one falls into every N-th part of each spread.


class Distribution(Protocol):
    """ppf(p): the value below which a share p lies."""

    def ppf(self, q: ArrayLike) -> Any: ...


Spread = tuple[float | str, float | str] | Sequence[float | str] | Distribution


def sampled_settings(spreads: Mapping[str, Spread], count: int, seed: int) -> list[dict[str, float]]:
    """So many settings {name: value}, the same for the same seed."""
    if count < 1:
        raise InputError(f"{count} plants are asked for", part="study", hint="ask for 1 or more")
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
                    f"{spread} is no pair (low, high)", part=f'spread of "{name}"',
                    hint="give (low, high), a list of values, or a distribution of scipy.stats",
                )  # fmt: skip
            found = numbers[0] + shares * (numbers[1] - numbers[0])
        else:
            if not len(numbers):
                raise InputError("no value is given", part=f'spread of "{name}"', hint="give at least one")
            found = numbers[np.minimum((shares * len(numbers)).astype(int), len(numbers) - 1)]
    if not np.isfinite(found).all():
        raise InputError("it has values that are not finite", part=f'spread of "{name}"', hint="bound it")
    return found


# Many siblings between a few: what a reduced model is made of, as polynomials of the parameters that differ.
#
#     c(p) = Σ_k c_k T_k(p),   T_k products of Chebyshev polynomials over the ranges of p, from siblings at a few p
#
# Coefficients, and constants, of the models change smoothly with a mass, a modulus or a length, as long as the modes
# keep their order. One more sibling, which took no part, tells whether they do: where the columns of its own model are
# missed by more than the error that models are allowed, there is no family, and each plant is found by itself.


_DEGREES = {1: 4, 2: 3}  # of the polynomials, by the number of parameters
_CLOSE = 1e-4  # of a group of columns: what a family may miss the check by


def sibling_family(
    siblings: Siblings, mechanism_of: Callable[[dict[str, float]], Mechanism], ranges: Mapping[str, tuple[float, float]]
) -> SiblingFamily | None:
    """The family over ranges of one or two parameters; None where it is not one."""
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
        return None  # parameters of drives: each plant has its own
    inverse: Array = np.asarray(np.linalg.pinv(basis(points, indices)), dtype=float)
    found = SiblingFamily(made[0], tuple(ranges), low, high, inverse, _stack(made[:-1]), indices)
    return found if found.agrees(made[-1], check[0]) else None


def _stack(models: list[ReducedModel]) -> Array:
    """Everything that changes, a row a model."""
    return np.array([_row(model) for model in models])


def _row(model: ReducedModel) -> Array:
    return np.concatenate([model.fitted.arrays.coefficients.ravel(), *map(np.ravel, model.layout.constants.values())])


class SiblingFamily:
    """Models at any p within the ranges."""

    def __init__(
        self, first: ReducedModel, names: tuple[str, ...], low: Array, high: Array, inverse: Array, rows: Array,
        indices: NDArray[np.int64],
    ) -> None:  # fmt: skip
        self._first, self._names, self._low, self._high, self._indices = first, names, low, high, indices
        self._terms = inverse @ rows

    def of(self, parameters: Mapping[str, float]) -> ReducedModel:
        """The model at p, by name."""
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
        """Whether the family has the columns of a model that took no part."""
        between, errors = self._at(x), [_CLOSE, *own.error.values()]
        for first, stop in own.layout.columns.values():
            true, found = (model.fitted.arrays.coefficients[:, first:stop] for model in (own, between))
            if np.linalg.norm(found - true) > max(errors) * np.linalg.norm(true):
                return False
        return True
