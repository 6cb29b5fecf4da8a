"""One controller on many plants: what it does on most of them, and on the worst."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from pickle import PicklingError
from typing import Any, NamedTuple

import numpy as np

from supple.control.closed_loop import closed_loop
from supple.control.controller import Controller
from supple.control.study.distribution import Study
from supple.control.study.sampled_plant import PlantMaker, plant_maker, surroundings
from supple.control.study.spread import Spread, drawn
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleError, SuppleWarning
from supple.diagnostics.arguments import require_arguments, shown
from supple.diagnostics.limits import require_within
from supple.formulations.hardware import hardware_of
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.maps.progress_bar import ProgressBar
from supple.reduced.model import ReducedModel
from supple.reduction.region import Region

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
            raise InputError(f"it is {shown(measure)}", part=f'measure "{name}"', hint="give a function of a run")
    maker = plant_maker(plant, spreads, full, region, dict(reduction or {}))
    settings = drawn(spreads, count, seed)
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
    own = _hardware(plant) if given is True else given or NO_HARDWARE
    around, late = surroundings(own, setting)
    found = dict(loop)
    if around:
        found |= {"hardware": around, "seed": seed}
    if late:
        found["computation_delay"] = loop.get("computation_delay", 0.0) + late
    return found


def _hardware(plant: Mechanism | ReducedModel) -> Hardware:
    return plant.hardware if isinstance(plant, ReducedModel) else hardware_of(plant)


def _largest(run: Any) -> dict[str, Measure]:
    """Of every error, or of every output."""
    if len(getattr(run, "errors", ())):
        return {f"largest error of {name}": partial(_largest_error, name) for name in run.errors}
    return {f"largest {name}": partial(_largest_seen, name) for name in run.seen}


def _largest_error(name: str, run: Any) -> float:
    return float(np.abs(run.errors[name]).max())


def _largest_seen(name: str, run: Any) -> float:
    return float(np.abs(run.seen[name]).max())
