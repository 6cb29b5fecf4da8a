"""Reduction of a mechanism: sample the region, fit the coefficients, state their errors and record the provenance."""

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
from supple.description.mechanism import Mechanism, require_rigid_alone, treat_as_rigid
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
from supple.reduction.task import Task, check_task
from supple.reduction.truncation import truncation

LARGEST_STORE = 2 * 1024**3  # bytes of samples at which a refinement stops
_PROBES = 5  # samples by which constant coefficients are recognized
_STEP = 1e-6  # of half the region: spacing of the samples that measure rounding noise


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
    observable_at: Sequence[str] = (),
    rigid: bool = False,
    stiffening: bool = False,
    preload: bool = True,
) -> ReducedModel:
    """Reduce a mechanism to a model that is valid over a region of its coordinates θ.

    The coefficients of the equations of motion are sampled over the region and fitted by piecewise polynomials. Boxes
    are divided, or degrees raised, until the stated error of every coefficient family is below the tolerance.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to reduce.
    region : mapping, sequence of mappings, str, Path, Motion, Trajectory or array_like, optional
        Region of validity: ranges of coordinates (rad or m), or a path.

        Coordinates that are left out take the limits of their actuator or joint. A coordinate with a single value,
        {coordinate: value}, is fixed, and the model has the other coordinates. Several mappings give several boxes.

        A path gives a model of one coordinate, the arclength: a motion (its name, a CSV file, a Motion or a
        Trajectory), or configurations of shape (N, s) in order.
    vary : mapping of str to (lower, upper), optional
        Parameters to keep variable, {parameter: (lower, upper)}, as numbers in SI units or texts with units.

        They are entries of the mechanism's `parameters:` and become coordinates of the region, constant in time. The
        result is the model at the parameter values of the file; `ReducedModel.at` returns the model at other values.
    fit : str, optional
        Type of fit: "auto", "chebyshev", "quadratic", "lagrange" or a registered `Fit`. Default: "auto".

        "auto" and "chebyshev" fit M and the potential and derive Γ and the force from their gradients. "quadratic" and
        "lagrange" fit every coefficient separately, as in the papers.
    boxes : int or sequence of int, optional
        Number of equal boxes along each coordinate (and parameter). Default: boxes are refined until the tolerance is
        met.
    tolerance : float, optional
        Largest stated relative error of every coefficient family. Default: 1e-3.

        The error is ‖f - f̂‖ / max(‖f‖, median ‖f‖, floor). It is exceeded in at most 0.1 % of the region, with 95 %
        confidence for all families at once; ``provenance["stated"]`` has both numbers.
    degree : int, optional
        Polynomial degree, for fits that do not choose it themselves. Default: that of the fit; "auto" chooses it box by
        box.
    continuous : bool, optional
        Make the fit continuous across boxes. Default: False.
    store : str, path-like or bool, optional
        File that stores the samples, so that an interrupted run can be resumed. Default: beside `output`; False stores
        none.
    store_limit : float, optional
        Largest size of the store, in bytes. Default: 4e9. Sample sets of other mechanisms are deleted first, least
        recently used first.
    output : str or path-like, optional
        File to save the model to. Default: the model is not saved.
    workers : int, optional
        Number of processes on this machine. Default: 1.

        The kernels of one process already run on all cores. More processes help only if local models spend their time
        outside compiled code.
    cluster : str or distributed.Client, optional
        Cluster of dask.distributed that computes the samples: an address ("tcp://host:8786"), "local:4" or a Client.

        The model is the same, bit for bit, as without a cluster (docs/howto/cluster.md).
    seed : int, optional
        Random seed for sample and check points. Default: 0.
    checks : int, optional
        Number of random points at which the error is measured. Default: about 5000.

        The default is the number that bounds the error outside 0.1 % of the region with 95 % confidence for all
        families. With fewer points ``provenance["stated"]["share"]`` is larger.
    budget : int, optional
        Largest number of samples and held-out points for the refinement. Default: 20000.

        The check points are counted separately. Refinement ends earlier if it predicts that the tolerance is out of
        reach.
    progress : bool, optional
        Show a progress line on standard error. Default: only in an interactive terminal.
    constraint_modes : sequence of str, optional
        Loaded displacements ("place.axis") whose static shapes become elastic coordinates. Default: none.

        Without constraint and internal modes, elastic bodies are treated as rigid.
    internal_modes : int or "auto", optional
        Number of internal modes of deformation. Default: 0.

        "auto" keeps the smallest set of modes that holds all frequencies up to three times the lowest one and does not
        exchange modes with the others within the region.
    tracking : {"auto", "subspace", "strain", "modes"}, optional
        Method to follow internal modes over the region. Default: "auto".

        "subspace" and "strain" follow the subspace of the modes from one reference (the germ), by motions or by
        strains. "auto" chooses the better of these two. "modes" follows the modes one by one.
    germ : str, mapping or array_like, optional
        Reference configuration of the internal modes. Default: the rest posture or the middle of the region.
    observable_at : sequence of str, optional
        Sensors at which the internal modes must be observable. Default: none.

        Internal modes above the last one with at least 1 % of the static compliance at one of these sensors are
        discarded, such as local modes of links. ``provenance["truncation"]`` states the resulting error of the
        compliance there. Unobservable modes below that one are kept, with a note, because a set with gaps may exchange
        modes.
    rigid : bool, optional
        Treat elastic bodies as rigid and suppress the warning about it. `ReducedModel.rigid` names these bodies.
        Default: False.
    stiffening : bool, optional
        Include terms of second order in δ, for links that rotate fast or loads near buckling. Default: False.

        Not supported by the fits "quadratic" and "lagrange".
    preload : bool, optional
        Add the geometric stiffness of gravity and of all other forces at rest to K. Default: True.

    Returns
    -------
    ReducedModel
        Model with its stated errors in `error` and its origin in `provenance`. `met` is False if it misses the
        tolerance.

        For flexible models `provenance` also holds "truncation" (error of the modal truncation), "equilibria" (static
        error against the full equations) and "exchanges" (configurations where a mode of the set exchanges with one
        outside it).

    Raises
    ------
    InputError
        If the region, a parameter or an option is invalid, or the mechanism cannot be assembled in the region.
    NumericalError
        If the tolerance is out of reach because of singular configurations in the region or mode sets that jump within
        it.

    Warns
    -----
    SuppleWarning
        If a stated error exceeds the tolerance or 1, if the fitted M or K is not positive definite, if modes exchange,
        or if elastic bodies are treated as rigid without `rigid=True`.
    SuppleNote
        If unobservable modes are kept with `observable_at`, or if a drive has no coordinate in the model.

    See Also
    --------
    local : Coefficients at single configurations, without a fit.
    compare : Compare a reduced model with its mechanism.
    load_model : Load a saved model.
    export : Write a reduced model as C code, FMU or other files.

    Notes
    -----
    With η = (θ, δ), the model is

        M(θ, δ) η̈ + Γ(θ, δ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u,   y = ρ_o(θ) + Ψ_o(θ) δ

    Coefficients are Chebyshev series on boxes, f̂(θ) = Σ_α c_α Π_i T_{α_i}(ξ_i) with ξ in [-1, 1]. By default Γ is the
    Christoffel symbol of the fitted M, and the force is minus the gradient of the fitted potential. So the model
    conserves energy:

        Γ̂_ijk = ½(∂M̂_ij/∂θ_k + ∂M̂_ik/∂θ_j - ∂M̂_jk/∂θ_i),   p̂_j = -∂V̂/∂θ_j

    The method is that of [Brüls 2004] and [Brüls 2007]; equations 1-15 of docs/theory/reduction.md.

    Examples
    --------
    Reduce the four-bar over the limits of its crank, and over a smaller region:

    >>> import supple
    >>> mechanism = supple.load("four-bar")
    >>> rom = supple.reduce(mechanism, progress=False)
    >>> rom
    <ReducedModel "four-bar" in crank (1 of them θ), 1 inputs, 2 outputs, 6 boxes>
    >>> rom.met, max(rom.error.values()) < 1e-3
    (True, True)
    >>> rom.evaluate({"crank": 0.3}).M.round(4)
    array([[0.1005]])
    >>> small = supple.reduce(mechanism, region={"crank": (-0.5, 0.5)}, tolerance=1e-2, progress=False)
    >>> small.provenance["boxes"]
    1
    """
    require_arguments(reduce, locals())
    count = 1 if internal_modes == "auto" else internal_modes
    requested = mode_choice(mechanism, constraint_modes, count, tracking, germ, stiffening=stiffening, preload=preload)
    task = check_task(
        mechanism, region, fit, boxes, tolerance, degree, continuous, seed, requested, vary, checks, budget
    )
    space = task.domain.space
    mechanism = space.mechanism.nominal
    require_rigid_alone(rigid, requested.flexible)
    if not requested.flexible:
        treat_as_rigid(mechanism, rigid, "keep modes of deformation (internal_modes)")
    start = time.perf_counter()
    if task.boxes is None:
        require_reachable(mechanism, task.domain, task.budget)
    task, swaps = _with_modes(task, internal_modes, observing_sensors(mechanism, observable_at, internal_modes))
    choice = task.choice
    names = (*task.domain.theta_names, *space.mechanism.names)
    faults = [swap.describe(names) for swap in swaps]
    tracking_errors = tracking_faults_over(space.mechanism, choice, task.domain.scans)
    faults += [item.describe(task.domain.theta_names) for item in tracking_errors]
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
                            computed=line.add_samples, checked=line.add_checks, choice=choice,
                            store_limit=store_limit)  # fmt: skip
        try:
            columns, approximation = _approximate(mechanism, task, sampling, line.update_state)
        finally:
            sampling.close()
    if task.boxes is None and approximation.worst > task.tolerance:
        name, found = max(approximation.error.items(), key=lambda item: item[1].worst)
        excess = f"the error of {name} is {found.worst:.2g}, above the tolerance {task.tolerance:g}"
        stagnant = [] if approximation.stagnant is None else [approximation.stagnant.center]
        for x in (*stagnant, found.at):
            require_regular(mechanism, task.domain, x, excess)
    swaps += _late_exchanges(task, approximation)
    columns = replace(columns, layout=replace(columns.layout, limits=task.domain.limits))
    stated = stated_errors(columns, approximation, task.domain.names)
    family = family_of(space, approximation.piecewise)
    fitted = approximation.piecewise if family is None else family.slice()
    seconds = time.perf_counter() - start
    origin = provenance(space.mechanism, columns, approximation, fitted, stated, task.options(), seconds)
    if choice.flexible:
        # The exact local model in the middle of the region reports a singular M, which a fit would hide.
        local(mechanism, task.domain.theta(task.domain.boxes[0].center[None])[0], constraint_modes=choice.constraint,
              internal_modes=choice.internal, preload=choice.preload)  # fmt: skip
        truncated = truncation(space.mechanism, choice, task.domain.scans)
        origin |= {"truncation": truncated.data(), "exchanges": [swap.data() for swap in swaps]}
        for message in truncated.warnings():
            warnings.warn(message, SuppleWarning, stacklevel=2)
    worst = {name: item["worst"] for name, item in stated.items()}
    model = ReducedModel(mechanism.name, columns.layout, fitted, worst, origin,
                         repertoire_of(mechanism), basis_of(mechanism, choice),
                         units_of_layout(mechanism, columns.layout),
                         hardware_of_layout(mechanism, columns.layout), family)  # fmt: skip
    if choice.flexible:
        origin["equilibria"] = equilibrium_error(space.mechanism, task.domain, model).data()
    origin["missed"] = missed_errors(worst, None if task.boxes else task.tolerance)
    unusable = missed_errors(worst, None) + indefinite(task.domain, model)
    origin["missed"] += [text for text in unusable if text not in origin["missed"]]
    if unusable:  # the refinement has already warned of a missed tolerance
        warnings.warn(
            f"the model is unusable: {'; '.join(unusable)}; use more boxes, a higher degree or a smaller region",
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
    observable_at: Sequence[str] = (),
    stiffening: bool = False,
    preload: bool = True,
) -> Estimate:
    """Estimate the samples and the time that `reduce` needs with these options, from samples on a few lines."""
    count = 1 if internal_modes == "auto" else internal_modes
    requested = mode_choice(mechanism, constraint_modes, count, tracking, germ, stiffening=stiffening, preload=preload)
    task = check_task(mechanism, region, fit, boxes, tolerance, degree, False, 0, requested, vary, checks, budget)
    task, _ = _with_modes(task, internal_modes, observing_sensors(mechanism, observable_at, internal_modes))
    mechanism = task.domain.space.mechanism.nominal
    sampling = Sampling(task.domain.space.mechanism, choice=task.choice)
    try:
        columns = _columns(mechanism, task, sampling, ())
        return estimate(
            task.domain.boxes, _sampler(task.domain, sampling, columns), columns.derive_families, fit=task.fit,
            boxes=task.boxes, degree=task.degree, tolerance=task.tolerance, checks=task.checks,
            budget=None if task.boxes else task.budget,
            doubt="" if task.boxes else unreachable(mechanism, task.domain, task.budget),
        )  # fmt: skip
    finally:
        sampling.close()


def observing_sensors(mechanism: Mechanism, sensors: Sequence[str], count: Count) -> tuple[str, ...]:
    """Return the names of the sensors at which modes shall be observable.

    InputError if a sensor does not measure at a point, or if no internal modes are kept.
    """
    names = (sensors,) if isinstance(sensors, str) else tuple(sensors)
    if names and not count:
        raise InputError(
            "sensors select internal modes, but none are kept", part="observable_at",
            hint="give internal_modes (--internal-modes auto) as well",
        )  # fmt: skip
    for name in names:
        if name not in mechanism.sensors or not mechanism.sensors[name].place:
            places = ", ".join(item for item, sensor in mechanism.sensors.items() if sensor.place) or "none"
            raise InputError(
                f'no sensor "{name}" that measures at a point', part="observable_at", hint=f"choose from {places}"
            )
    return names


def _with_modes(task: Task, count: Count, sensors: tuple[str, ...]) -> tuple[Task, list[Exchange]]:
    """Return the task with its modes settled, and the exchanges of modes over the region.

    NumericalError if the set of modes jumps and boxes are to be refined until the tolerance is met.
    """
    if not task.choice.flexible:
        return task._replace(choice=RIGID), []
    mechanism = task.domain.space.mechanism
    kept = kept_modes(mechanism, task.choice, task.domain.scans, count, sensors)
    if kept.unobservable is not None:
        warnings.warn(kept.unobservable.describe(sensors), SuppleNote, stacklevel=3)
    jumps = [swap for swap in kept.swaps if swap.jump and kept.choice.tracking in ("subspace", "strain")]
    if jumps and task.boxes is None:
        cut = cut_cluster(mechanism, kept.choice, task.domain.scans, kept.choice.internal)
        why = jumps[0].describe((*task.domain.theta_names, *mechanism.names)) if cut is None else cut.describe()
        raise NumericalError(
            f"the set of {kept.choice.internal} internal modes jumps within the region, and no division into boxes "
            f"removes the jump: {why}",
            part=f'mechanism "{mechanism.nominal.name}"',
            hint="or let supple choose the number (--internal-modes auto), or give --boxes to get a model anyway",
        )
    return task._replace(choice=kept.choice), kept.swaps


def _late_exchanges(task: Task, approximation: Approximation) -> list[Exchange]:
    """Return exchanges that the scan missed, found where refinement stagnated, and warn of each."""
    if approximation.stagnant is None or not task.choice.internal:
        return []
    mechanism = task.domain.space.mechanism
    swaps = exchanges(mechanism, task.choice, [task.domain.scan_of(approximation.stagnant)])[:1]
    for swap in swaps:
        warnings.warn(swap.describe((*task.domain.theta_names, *mechanism.names)), SuppleWarning, stacklevel=3)
    return swaps


def family_of(space: ParameterSpace, fitted: Piecewise) -> Family | None:
    """Return the family at the nominal values, or None if no parameter was varied."""
    return Family(space.parameters, space.mechanism.values, fitted) if space.parameters else None


def store_file(store: str | Path | bool | None, output: str | Path | None) -> Path | None:
    """Return the file for the samples: the given one, one beside the output, or None."""
    if store is False:
        return None
    if store is None or store is True:
        return None if output is None else Path(f"{output}.samples")
    return Path(store)


@single_blas_thread()
def _approximate(mechanism: Mechanism, task: Task, sampling: Sampling, report: Report) -> tuple[Columns, Approximation]:
    """Fit the coefficients; repeat the fit if a coefficient that appeared constant is not."""
    changing: tuple[str, ...] = ()
    while True:
        columns = _columns(mechanism, task, sampling, changing)
        most = min(task.budget, LARGEST_STORE // (8 * sampling.layout.width))
        approximation = _fit_over_region(task, sampling, columns, most, report)
        drifted = tuple(name for name, drift in columns.drifted.items() if drift > 10.0 * ROUNDING)
        if not drifted:
            return columns, approximation
        changing += drifted


def _fit_over_region(task: Task, sampling: Sampling, columns: Columns, most: int, report: Report) -> Approximation:
    sampler, space = _sampler(task.domain, sampling, columns), task.domain.space
    confirmation = Confirmation(
        _sampler(task.domain, sampling, columns, check=True), columns.derive_families, task.checks, task.seed,
        space.check_points if space.parameters else None, space.on_levels if space.parameters else None,
    )  # fmt: skip
    if task.boxes is not None:
        return uniform(
            task.domain.boxes, task.boxes, sampler, columns.derive_families, fit=task.fit, degree=task.degree,
            confirmation=confirmation, seed=task.seed, floors=columns.floors(task.tolerance), progress=report,
        )  # fmt: skip
    return adaptive(
        task.domain.boxes, task.tolerance, sampler, columns.derive_families, fit=task.fit, degree=task.degree,
        largest_samples=most, continuous=task.continuous, seed=task.seed,
        floors=columns.floors(task.tolerance), progress=report,
        placed=task.domain.space.place_points, confirmation=confirmation,
    )  # fmt: skip


def _sampler(
    domain: Domain, sampling: Sampling, columns: Columns, *, check: bool = False
) -> Callable[[Array], Samples]:
    def sampler(x: Array) -> Samples:
        return columns.samples(*domain.rows(sampling, x, check=check))

    return sampler


def _columns(mechanism: Mechanism, task: Task, sampling: Sampling, changing: tuple[str, ...]) -> Columns:
    """Choose the coefficients to fit, from the centre of the region and a few points spread over it."""
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
        hint="choose a region around its rest posture that does not reach dead points",
    )


def _noise(domain: Domain, sampling: Sampling, columns: Columns, points: Array) -> dict[str, float]:
    """Return the rounding noise of each family: max over x of ‖f(x - h) - 2 f(x) + f(x + h)‖/√6, for points x (P, s).

    Over steps h of a millionth of the region, the second difference of a smooth function is negligible. That of
    independent errors is √6 times the error [Moré 2011, 2].
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


# Provenance of a reduced model: the data needed to assess it and to reproduce it.


def provenance(
    mechanism: VariedMechanism,
    columns: Columns,
    approximation: Approximation,
    fitted: Piecewise,
    stated: dict[str, dict[str, Any]],
    options: dict[str, Any],
    seconds: float,
) -> dict[str, Any]:
    """Return the origin of a model as JSON data, with errors as `stated_errors` returns them.

    Only the entry `made` differs between two runs of the same task.

    fitted : piecewise polynomials of the model at the nominal parameter values
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
