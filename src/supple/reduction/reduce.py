"""From a mechanism to a reduced model: sample the region, fit, state the error, remember where it all came from."""

from __future__ import annotations

import math
import platform
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from supple.approximation.approximation import Approximation, Report
from supple.approximation.confidence import Confirmation
from supple.approximation.evaluated import Samples
from supple.approximation.fit_error import norms
from supple.approximation.fits.fits import FITS
from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.refinement.refinement import adaptive
from supple.approximation.refinement.uniform import uniform
from supple.array_types import Array
from supple.compilation.threads import single_blas_thread
from supple.description.mechanism import Mechanism, require_rigid_alone, taken_as_rigid
from supple.diagnostics import InputError, NumericalError, SuppleNote, SuppleWarning
from supple.diagnostics.arguments import require_arguments
from supple.distribution.workplace import workplace
from supple.formats.varied_mechanism import VariedMechanism
from supple.kinematics.configuration import At
from supple.parameterization.local_model import basis_of, local, mode_choice
from supple.parameterization.mode_choice import RIGID
from supple.reduced.family import Family
from supple.reduced.model import ReducedModel
from supple.reduced.operations import kernel_operations, paper_operations
from supple.reduction.column_choice import ROUNDING, choose_columns
from supple.reduction.domain import Domain
from supple.reduction.equilibrium_error import equilibrium_error
from supple.reduction.estimate import Estimate, estimate
from supple.reduction.exchanges import Exchange, exchanges, tracking_faults_over
from supple.reduction.fitted_coefficients import Columns
from supple.reduction.named_parts import hardware_of_layout, repertoire_of, units_of_layout
from supple.reduction.parameter_space import ParameterSpace, Vary
from supple.reduction.progress import ProgressLine
from supple.reduction.region import Region
from supple.reduction.region_modes import Count, cut_cluster, kept_modes
from supple.reduction.sampling import Sampling, supple_version
from supple.reduction.singular_scan import require_reachable, require_regular, unreachable
from supple.reduction.stated_error import indefinite, missed_errors, stated_errors
from supple.reduction.task import Task, checked_task
from supple.reduction.truncation import truncation

LARGEST_STORE = 2 * 1024**3  # bytes of samples, before a refinement gives up
_PROBES = 5  # samples that tell what does not change
_STEP = 1e-6  # of half the region, between samples that show what rounding leaves in them


def reduce(
    mechanism: Mechanism,
    *,
    region: Region = None,
    vary: Vary | None = None,
    fit: str = "auto",
    boxes: int | Sequence[int] | None = None,
    tolerance: float = 1e-3,
    degree: int | None = None,
    continuous: bool = False,
    store: str | Path | bool | None = None,
    store_limit: float | None = None,
    output: str | Path | None = None,
    workers: int | None = None,
    cluster: Any = None,
    seed: int = 0,
    checks: int | None = None,
    budget: int | None = None,
    progress: bool | None = None,
    constraint_modes: Sequence[str] = (),
    internal_modes: Count = 0,
    tracking: str = "auto",
    germ: At = None,
    modes_seen_at: Sequence[str] = (),
    rigid: bool = False,
    stiffening: bool = False,
    preload: bool = True,
) -> ReducedModel:
    """The reduced model of a mechanism over a region of θ.

    region     : {coordinate: (lower, upper)}, or several of them; limits of actuators and joints where not given.
                 Or a path, with its arclength as the model's one coordinate: a motion (its name, a CSV file, a Motion
                 or Trajectory), or configurations (N, s), one after another
    vary       : {parameter: (lower, upper)} of the mechanism's `parameters:`, numbers or texts with units: coordinates
                 of the region beside θ, constant in time. The result is the model at the values of the file, and
                 `ReducedModel.at` gives it at others
    fit        : auto and chebyshev fit M and the potential, and take Γ and the force from their gradients; quadratic
                 and lagrange fit every coefficient by itself, as in the papers; or one that is registered
    boxes      : numbers of equal boxes along the coordinates (and parameters); left out, boxes are refined until every
                 coefficient family meets the tolerance
    tolerance  : largest stated error ‖f - f̂‖ / max(‖f‖, median ‖f‖, floor) of every family. It holds but for 0.1 % of
                 the region, with 95 % confidence for all families at once; `provenance["stated"]` says so
    degree     : of the polynomials; chosen box by box by `auto`
    continuous : no jumps between boxes
    store      : file of the samples, from which an interrupted run goes on; left out, beside the output; False: none
    store_limit : bytes of that file, 4e9 if left out; sets of other mechanisms that were not used for longest make room
    output     : file to save the model to
    workers    : processes of this machine. Left out, this one, whose kernels already run on all cores; more pay only
                 where a local model spends its time outside compiled code
    cluster    : or a cluster of dask.distributed: its address (`tcp://host:8786`), `local:4`, or a Client. The model
                 is the same, bit for bit (docs/howto/cluster.md)
    checks     : fresh uniform points on which the error is stated; about 5000 if left out, as many as 0.1 % and 95 %
                 take for the number of families. With fewer, `provenance["stated"]["share"]` is larger
    budget     : samples and points looked at while boxes are refined, 20 000 if left out; checks come on top.
                 Refinement ends before, with the error it has, where it can know that the tolerance is out of reach
    progress   : show a line on standard error; left out, if that is a terminal
    constraint_modes, internal_modes : deformation of a flexible mechanism, as for `local`; without either, elastic
                 parts are taken as rigid. `provenance["truncation"]` then says what the modes leave out,
                 `provenance["equilibria"]` how far the model rests from the full equations, and
                 `provenance["exchanges"]` where a mode of the set exchanges with one outside it. `internal_modes`
                 "auto" keeps as few as hold together over the region, see `kept_modes`
    tracking, germ : how internal modes are followed over the region: their subspace from one germ, by "subspace" or
                 "strain", whichever "auto" finds better, or "modes", one by one; see `ModeChoice`
    modes_seen_at : sensors. Of the internal modes asked for, those above the last one with at least 1 % of the static
                 compliance at one of them are left out, as local modes of links are that move none.
                 `provenance["truncation"]` states the error this leaves in the compliance there. Modes below that one
                 are kept though no sensor sees them, with a note: a set with gaps may exchange modes
    rigid      : elastic parts are meant to be taken as rigid, and nothing is said of it; `ReducedModel.rigid`
                 names them all the same
    stiffening : second order in δ, for links that spin fast or carry loads near buckling: see `local`. Not for the
                 papers' fits
    preload    : add the geometric stiffness of gravity and all forces at rest to K, see `local`; False leaves it out
    """
    require_arguments(reduce, locals())
    count = 1 if internal_modes == "auto" else internal_modes
    asked = mode_choice(mechanism, constraint_modes, count, tracking, germ, stiffening=stiffening, preload=preload)
    task = checked_task(mechanism, region, fit, boxes, tolerance, degree, continuous, seed, asked, vary, checks, budget)
    space = task.domain.space
    mechanism = space.mechanism.nominal
    require_rigid_alone(rigid, asked.flexible)
    if not asked.flexible:
        taken_as_rigid(mechanism, rigid, "keep modes of deformation (internal_modes)")
    start = time.perf_counter()
    if task.boxes is None:
        require_reachable(mechanism, task.domain, task.budget)
    task, swaps = _with_modes(task, internal_modes, seen_by(mechanism, modes_seen_at, internal_modes))
    choice = task.choice
    names = (*task.domain.theta_names, *space.mechanism.names)
    faults = [swap.words(names) for swap in swaps]
    torn = tracking_faults_over(space.mechanism, choice, task.domain.scanned)
    faults += [item.words(task.domain.theta_names) for item in torn]
    for fault in faults:
        warnings.warn(fault, SuppleWarning, stacklevel=2)
    with (
        ProgressLine(
            target=None if task.boxes else task.tolerance,
            expected=task.grid_samples(),
            budget=None if task.boxes else task.budget,
            shown=progress,
        ) as line,
        workplace(workers=workers, cluster=cluster) as place,
    ):
        sampling = Sampling(space.mechanism, store=store_file(store, output), place=place,
                            computed=line.computed, checked=line.checked, choice=choice,
                            store_limit=store_limit)  # fmt: skip
        try:
            columns, approximation = _approximated(mechanism, task, sampling, line.refined)
        finally:
            sampling.close()
    if task.boxes is None and approximation.worst > task.tolerance:
        name, found = max(approximation.error.items(), key=lambda item: item[1].worst)
        words = f"the error of {name} is {found.worst:.2g}, not {task.tolerance:g}"
        stagnant = [] if approximation.stagnant is None else [approximation.stagnant.center]
        for x in (*stagnant, found.at):
            require_regular(mechanism, task.domain, x, words)
    swaps += _seen_late(task, approximation)
    columns = replace(columns, layout=replace(columns.layout, limits=task.domain.limits))
    stated = stated_errors(columns, approximation, task.domain.names)
    family = family_of(space, approximation.piecewise)
    fitted = approximation.piecewise if family is None else family.slice()
    seconds = time.perf_counter() - start
    origin = provenance(space.mechanism, columns, approximation, fitted, stated, task.options(), seconds)
    if choice.flexible:
        # In the middle of the region as it is: a fit would hide that M is singular. It says so itself.
        local(mechanism, task.domain.theta(task.domain.boxes[0].center[None])[0], constraint_modes=choice.constraint,
              internal_modes=choice.internal, preload=choice.preload)  # fmt: skip
        lost = truncation(space.mechanism, choice, task.domain.scanned)
        origin |= {"truncation": lost.data(), "exchanges": [swap.data() for swap in swaps]}
        for message in lost.warnings():
            warnings.warn(message, SuppleWarning, stacklevel=2)
    worst = {name: item["worst"] for name, item in stated.items()}
    model = ReducedModel(mechanism.name, columns.layout, fitted, worst, origin,
                         repertoire_of(mechanism), basis_of(mechanism, choice),
                         units_of_layout(mechanism, columns.layout),
                         hardware_of_layout(mechanism, columns.layout), family)  # fmt: skip
    if choice.flexible:
        origin["equilibria"] = equilibrium_error(space.mechanism, task.domain, model).data()
    origin["missed"] = missed_errors(worst, None if task.boxes else task.tolerance)
    useless = missed_errors(worst, None) + indefinite(task.domain, model)
    origin["missed"] += [words for words in useless if words not in origin["missed"]]
    if useless:  # of a tolerance that is missed the refinement has said more
        warnings.warn(
            f"The model is unusable: {'; '.join(useless)}. Give it more boxes, a higher degree or a smaller region",
            SuppleWarning,
            stacklevel=2,
        )
    if output is not None:
        model.save(output)
    return model


@single_blas_thread()
def expected_cost(
    mechanism: Mechanism,
    *,
    region: Region = None,
    vary: Vary | None = None,
    fit: str = "auto",
    boxes: int | Sequence[int] | None = None,
    tolerance: float = 1e-3,
    degree: int | None = None,
    checks: int | None = None,
    budget: int | None = None,
    constraint_modes: Sequence[str] = (),
    internal_modes: Count = 0,
    tracking: str = "auto",
    germ: At = None,
    modes_seen_at: Sequence[str] = (),
    stiffening: bool = False,
    preload: bool = True,
) -> Estimate:
    """What `reduce` with these options would cost, from samples on a few lines through the region."""
    count = 1 if internal_modes == "auto" else internal_modes
    asked = mode_choice(mechanism, constraint_modes, count, tracking, germ, stiffening=stiffening, preload=preload)
    task = checked_task(mechanism, region, fit, boxes, tolerance, degree, False, 0, asked, vary, checks, budget)
    task, _ = _with_modes(task, internal_modes, seen_by(mechanism, modes_seen_at, internal_modes))
    mechanism = task.domain.space.mechanism.nominal
    sampling = Sampling(task.domain.space.mechanism, choice=task.choice)
    try:
        columns = _columns(mechanism, task, sampling, ())
        return estimate(
            task.domain.boxes, _sampler(task.domain, sampling, columns), columns.derived, fit=task.fit,
            boxes=task.boxes, degree=task.degree, tolerance=task.tolerance, checks=task.checks,
            budget=None if task.boxes else task.budget,
            doubt="" if task.boxes else unreachable(mechanism, task.domain, task.budget),
        )  # fmt: skip
    finally:
        sampling.close()


def seen_by(mechanism: Mechanism, sensors: Sequence[str], count: Count) -> tuple[str, ...]:
    """Sensors by name that modes shall be seen at; refused where they do not see a place, or no modes are kept."""
    names = (sensors,) if isinstance(sensors, str) else tuple(sensors)
    if names and not count:
        raise InputError(
            "sensors choose among internal modes, and none are kept", part="modes_seen_at",
            hint="give internal_modes (--internal-modes auto) as well",
        )  # fmt: skip
    for name in names:
        if name not in mechanism.sensors or not mechanism.sensors[name].place:
            places = ", ".join(item for item, sensor in mechanism.sensors.items() if sensor.place) or "none"
            raise InputError(f'no sensor "{name}" sees a place', part="modes_seen_at", hint=f"choose from {places}")
    return names


def _with_modes(task: Task, count: Count, seen_at: tuple[str, ...]) -> tuple[Task, list[Exchange]]:
    """The task with its modes settled, and where they exchange; refused if the set jumps where boxes shall be divided
    until the error is small."""
    if not task.choice.flexible:
        return task._replace(choice=RIGID), []
    mechanism = task.domain.space.mechanism
    kept = kept_modes(mechanism, task.choice, task.domain.scanned, count, seen_at)
    if kept.unseen is not None:
        warnings.warn(kept.unseen.words(seen_at), SuppleNote, stacklevel=3)
    jumps = [swap for swap in kept.swaps if swap.jump and kept.choice.tracking in ("subspace", "strain")]
    if jumps and task.boxes is None:
        cut = cut_cluster(mechanism, kept.choice, task.domain.scanned, kept.choice.internal)
        why = jumps[0].words((*task.domain.theta_names, *mechanism.names)) if cut is None else cut.words()
        raise NumericalError(
            f"{kept.choice.internal} internal modes are not one set over the region, and no division of it into boxes "
            f"cures that: {why}",
            part=f'mechanism "{mechanism.nominal.name}"',
            hint="or let the number be found (--internal-modes auto), or give --boxes to have a model all the same",
        )
    return task._replace(choice=kept.choice), kept.swaps


def _seen_late(task: Task, approximation: Approximation) -> list[Exchange]:
    """Exchanges that the scan has missed, looked for where refinement stagnated; each is warned of."""
    if approximation.stagnant is None or not task.choice.internal:
        return []
    mechanism = task.domain.space.mechanism
    swaps = exchanges(mechanism, task.choice, [task.domain.scan_of(approximation.stagnant)])[:1]
    for swap in swaps:
        warnings.warn(swap.words((*task.domain.theta_names, *mechanism.names)), SuppleWarning, stacklevel=3)
    return swaps


def family_of(space: ParameterSpace, fitted: Piecewise) -> Family | None:
    """The family at the nominal values; None where nothing was varied."""
    return Family(space.parameters, space.mechanism.values, fitted) if space.parameters else None


def store_file(store: str | Path | bool | None, output: str | Path | None) -> Path | None:
    """Where the samples go: as told, beside the output, or nowhere."""
    if store is False:
        return None
    if store is None or store is True:
        return None if output is None else Path(f"{output}.samples")
    return Path(store)


@single_blas_thread()
def _approximated(
    mechanism: Mechanism, task: Task, sampling: Sampling, report: Report
) -> tuple[Columns, Approximation]:
    """Fit; and once more if a coefficient that looked constant turned out not to be."""
    changing: tuple[str, ...] = ()
    while True:
        columns = _columns(mechanism, task, sampling, changing)
        most = min(task.budget, LARGEST_STORE // (8 * sampling.layout.width))
        approximation = _fitted(task, sampling, columns, most, report)
        drifted = tuple(name for name, drift in columns.drifted.items() if drift > 10.0 * ROUNDING)
        if not drifted:
            return columns, approximation
        changing += drifted


def _fitted(task: Task, sampling: Sampling, columns: Columns, most: int, report: Report) -> Approximation:
    sampler, space = _sampler(task.domain, sampling, columns), task.domain.space
    confirmation = Confirmation(
        _sampler(task.domain, sampling, columns, check=True), columns.derived, task.checks, task.seed,
        space.check_points if space.parameters else None, space.on_levels if space.parameters else None,
    )  # fmt: skip
    if task.boxes is not None:
        return uniform(
            task.domain.boxes, task.boxes, sampler, columns.derived, fit=task.fit, degree=task.degree,
            confirmation=confirmation, seed=task.seed, floors=columns.floors(task.tolerance), progress=report,
        )  # fmt: skip
    return adaptive(
        task.domain.boxes, task.tolerance, sampler, columns.derived, fit=task.fit, degree=task.degree,
        largest_samples=most, continuous=task.continuous, seed=task.seed,
        floors=columns.floors(task.tolerance), progress=report,
        placed=task.domain.space.placed, confirmation=confirmation,
    )  # fmt: skip


def _sampler(
    domain: Domain, sampling: Sampling, columns: Columns, *, check: bool = False
) -> Callable[[Array], Samples]:
    def sampler(x: Array) -> Samples:
        return columns.samples(*domain.rows(sampling, x, check=check))

    return sampler


def _columns(mechanism: Mechanism, task: Task, sampling: Sampling, changing: tuple[str, ...]) -> Columns:
    """What to fit, from the centre of the region and a few points spread over it."""
    domain, layout = task.domain, task.domain.layout(sampling)
    box = domain.boxes[0]
    for count in (_PROBES - 1, 16 * _PROBES):
        points = np.vstack([box.center, box.from_unit(halton_points(box.dimension, count, task.seed))])
        rows, valid = domain.rows(sampling, points)
        if valid.sum() >= min(2, len(points)):
            widths = np.max([2.0 * item.half for item in domain.boxes], axis=0)[: len(domain.coordinates)]
            columns = choose_columns(
                mechanism, layout, rows[valid, : layout.width], widths, structured=FITS[task.fit].structured,
                fitted=changing, coordinates=domain.coordinates, observation=domain.observation, inputs=domain.inputs,
                choice=task.choice,
            )  # fmt: skip
            return replace(columns, noise=_noise(domain, sampling, columns, points[valid][:_PROBES]))
    raise NumericalError(
        f"the mechanism can be assembled at almost none of {len(points)} configurations spread over the region",
        part=f'mechanism "{mechanism.name}"',
        hint="choose a region around its rest, on this side of dead points",
    )


def _noise(domain: Domain, sampling: Sampling, columns: Columns, points: Array) -> dict[str, float]:
    """What rounding leaves in each family: ‖f(x - h) - 2 f(x) + f(x + h)‖/√6, the largest of some points x (P, s).

    Over steps of a millionth of the region a smooth function has no second difference that counts; that of independent
    errors is √6 times theirs.                                                                          [Moré 2011, 2]
    """
    step = _STEP * np.max([box.half for box in domain.boxes], axis=0)
    there = [columns.samples(*domain.rows(sampling, points + k * step)) for k in (-1.0, 0.0, 1.0)]
    valid = np.all([item.valid for item in there], axis=0)
    if not valid.any():
        return {}
    behind, at, ahead = (item.families for item in there)
    return {
        name: float(norms((behind[name] - 2.0 * at[name] + ahead[name])[valid]).max()) / math.sqrt(6.0)
        for name in at
        if name not in columns.frequencies
    }


# Where a reduced model comes from: enough to judge it, and to make it again.


def provenance(
    mechanism: VariedMechanism,
    columns: Columns,
    approximation: Approximation,
    fitted: Piecewise,
    stated: dict[str, dict[str, Any]],
    options: dict[str, Any],
    seconds: float,
) -> dict[str, Any]:
    """What can be written as JSON, with errors as `stated_errors` gives them. Only `made` differs between two runs of
    the same task.

    fitted : of the model itself, at the nominal values of parameters that are open
    """
    arrays = approximation.piecewise.arrays
    return {
        "description": mechanism.text,
        "options": options,
        "rigid": [] if columns.layout.size > columns.layout.theta else list(mechanism.nominal.elastic_names),
        "versions": {
            "supple": supple_version(),
            "numpy": version("numpy"),
            "numba": version("numba"),
            "python": platform.python_version(),
        },
        "error": stated,
        "stated": {} if approximation.stated is None else approximation.stated._asdict(),
        "jumps": approximation.jumps,
        "samples": approximation.samples,
        "checks": approximation.checks,
        "held_out": approximation.held_out,
        "boxes": approximation.boxes,
        "dropped": approximation.dropped,
        "depth": approximation.depth,
        "memory": int(sum(array.nbytes for array in arrays)),
        "operations": paper_operations(columns.layout, fitted),
        "kernel_operations": kernel_operations(columns.layout, fitted).total,
        "made": {"at": datetime.now(UTC).isoformat(timespec="seconds"), "seconds": seconds},
    }
