"""From a mechanism to a reduced model: sample the region, fit, state the error, remember where it all came from."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.approximation import Approximation, Report
from supple.approximation.box import Box
from supple.approximation.designs import scattered
from supple.approximation.refinement import adaptive
from supple.approximation.samples import Samples
from supple.approximation.uniform import uniform
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError, nearest
from supple.kinematics.rest import rest
from supple.reduced.model import ReducedModel
from supple.reduction.columns import ROUNDING, Columns, choose_columns, with_limits
from supple.reduction.estimate import Estimate, estimate, grid_samples
from supple.reduction.progress import ProgressLine
from supple.reduction.provenance import provenance
from supple.reduction.region import Region, coordinate_limits, region_boxes
from supple.reduction.sampling import Sampling

Array = NDArray[np.float64]
Fit = Literal["auto", "chebyshev", "quadratic", "lagrange"]

FITS = ("auto", "chebyshev", "quadratic", "lagrange")
STRUCTURED = ("auto", "chebyshev")  # Γ and the force follow from the fitted M and potential
CHECKS = 200  # points on which a grid of boxes is judged
LARGEST = 200_000  # samples, before a refinement gives up
_PROBES = 5  # samples that tell what does not change


class _Task(NamedTuple):
    """What to do, as asked and checked."""

    region: list[Box]
    fit: str
    boxes: tuple[int, ...] | None
    tolerance: float
    degree: int | None
    continuous: bool
    seed: int


def reduce(
    mechanism: Mechanism,
    *,
    region: Region = None,
    fit: Fit = "auto",
    boxes: int | Sequence[int] | None = None,
    tolerance: float = 1e-3,
    degree: int | None = None,
    continuous: bool = False,
    store: str | Path | bool | None = None,
    output: str | Path | None = None,
    workers: int | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> ReducedModel:
    """The reduced model of a mechanism over a region of θ.

    region     : {coordinate: (lower, upper)}, or several of them; limits of actuators and joints where not given
    fit        : auto and chebyshev fit M and the potential, and take Γ and the force from their gradients; quadratic
                 and lagrange fit every coefficient by itself, as in the papers
    boxes      : numbers of equal boxes along the coordinates; left out, boxes are refined until every coefficient
                 family meets the tolerance
    tolerance  : largest ‖f - f̂‖ over the larger of ‖f‖ and its median over the region
    degree     : of the polynomials; chosen box by box by `auto`
    continuous : no jumps between boxes
    store      : file of the samples, from which an interrupted run goes on; left out, beside the output; False: none
    output     : file to save the model to
    workers    : processes; see `Sampling`
    progress   : show a line on standard error; left out, if that is a terminal
    """
    task = _checked(mechanism, region, fit, boxes, tolerance, degree, continuous, seed)
    start = time.perf_counter()
    with ProgressLine(target=None if task.boxes else task.tolerance, expected=_expected(task), shown=progress) as line:
        sampling = Sampling(mechanism, store=store_file(store, output), workers=workers, computed=line.computed)
        try:
            columns, found = _approximated(mechanism, task, sampling, line.refined)
        finally:
            sampling.close()
    columns = with_limits(columns, coordinate_limits(mechanism))
    origin = provenance(mechanism, columns, found, _options(task), time.perf_counter() - start)
    worst = {name: item.worst for name, item in found.error.items()}
    worst |= {name: drift for name, drift in columns.drifted.items() if columns.layout.constants[name].size}
    model = ReducedModel(mechanism.name, columns.layout, found.piecewise, worst, origin)
    if output is not None:
        model.save(output)
    return model


def expected_cost(
    mechanism: Mechanism,
    *,
    region: Region = None,
    fit: Fit = "auto",
    boxes: int | Sequence[int] | None = None,
    tolerance: float = 1e-3,
    degree: int | None = None,
) -> Estimate:
    """What `reduce` with these options would cost, from samples on a few lines through the region."""
    task = _checked(mechanism, region, fit, boxes, tolerance, degree, False, 0)
    sampling = Sampling(mechanism)
    try:
        columns = _columns(mechanism, task, sampling, ())
        return estimate(
            task.region, _sampler(sampling, columns), fit=task.fit, boxes=task.boxes, degree=task.degree,
            tolerance=task.tolerance,
        )  # fmt: skip
    finally:
        sampling.close()


def store_file(store: str | Path | bool | None, output: str | Path | None) -> Path | None:
    """Where the samples go: as told, beside the output, or nowhere."""
    if store is False:
        return None
    if store is None or store is True:
        return None if output is None else Path(f"{output}.samples")
    return Path(store)


def _approximated(
    mechanism: Mechanism, task: _Task, sampling: Sampling, report: Report
) -> tuple[Columns, Approximation]:
    """Fit; and once more if a coefficient that looked constant turned out not to be."""
    changing: tuple[str, ...] = ()
    while True:
        columns = _columns(mechanism, task, sampling, changing)
        found = _fitted(task, _sampler(sampling, columns), columns, report)
        drifted = tuple(name for name, drift in columns.drifted.items() if drift > 10.0 * ROUNDING)
        if not drifted:
            return columns, found
        changing += drifted


def _fitted(task: _Task, sampler: Callable[[Array], Samples], columns: Columns, report: Report) -> Approximation:
    if task.boxes is not None:
        kind, degree = _grid_fit(task)
        return uniform(
            task.region, task.boxes, sampler, columns.derived, fit=kind, degree=degree, checks=CHECKS, seed=task.seed,
            progress=report,
        )  # fmt: skip
    return adaptive(
        task.region, task.tolerance, sampler, columns.derived, fit=task.fit, degree=task.degree,
        largest_samples=LARGEST, continuous=task.continuous, seed=task.seed, progress=report,
    )  # fmt: skip


def _expected(task: _Task) -> int | None:
    """Samples of a grid, which are known beforehand."""
    if task.boxes is None:
        return None
    kind, degree = _grid_fit(task)
    return CHECKS + len(task.region) * grid_samples(task.boxes, kind, degree)


def _grid_fit(task: _Task) -> tuple[str, int]:
    """On a grid, auto is a Chebyshev fit of moderate degree."""
    if task.fit in ("quadratic", "lagrange"):
        return task.fit, 2
    return "chebyshev", task.degree or 4


def _sampler(sampling: Sampling, columns: Columns) -> Callable[[Array], Samples]:
    def sampler(theta: Array) -> Samples:
        return columns.samples(*sampling.rows(theta))

    return sampler


def _columns(mechanism: Mechanism, task: _Task, sampling: Sampling, changing: tuple[str, ...]) -> Columns:
    """What to fit, from the centre of the region and a few points spread over it."""
    box = task.region[0]
    for count in (_PROBES - 1, 16 * _PROBES):
        points = np.vstack([box.center, box.from_unit(scattered(box.dimension, count, task.seed))])
        rows, valid = sampling.rows(points)
        if valid.sum() >= min(2, len(points)):
            widths = np.max([2.0 * item.half for item in task.region], axis=0)
            return choose_columns(
                mechanism, sampling.layout, rows[valid], widths, structured=task.fit in STRUCTURED, fitted=changing
            )
    raise NumericalError(
        f"the mechanism can be assembled at almost none of {len(points)} configurations spread over the region",
        part=f'mechanism "{mechanism.name}"',
        hint="choose a region around its rest, on this side of dead points",
    )


def _checked(
    mechanism: Mechanism,
    region: Region,
    fit: str,
    boxes: int | Sequence[int] | None,
    tolerance: float,
    degree: int | None,
    continuous: bool,
    seed: int,
) -> _Task:
    if fit not in FITS:
        raise InputError(f'there is no fit "{fit}"', part="fit", hint=nearest(fit, FITS))
    if not 0.0 < tolerance < 1.0:
        raise InputError(f"{tolerance:g} is no relative error", part="tolerance", hint="give one between 0 and 1")
    if degree is not None and (fit in ("quadratic", "lagrange") or not 1 <= degree <= 20):
        reason = "has degree 2" if fit in ("quadratic", "lagrange") else "takes a degree from 1 to 20"
        raise InputError(f"a {fit} fit {reason}, not {degree}", part="degree", hint="leave it out, or another fit")
    names = rest(mechanism).numbering.coordinates
    counts = None
    if boxes is not None:
        counts = (int(boxes),) * len(names) if isinstance(boxes, int) else tuple(int(n) for n in boxes)
        if len(counts) == 1:
            counts *= len(names)
        if len(counts) != len(names) or min(counts) < 1:
            raise InputError(
                f"{len(counts)} numbers of boxes for the coordinates {', '.join(names)}",
                part="boxes",
                hint="give one number, 1 or more, for each",
            )
        if continuous:
            raise InputError(
                "a grid of boxes jumps between them", part="continuous", hint="give a tolerance instead of boxes"
            )
    return _Task(region_boxes(mechanism, region), fit, counts, tolerance, degree, continuous, seed)


def _options(task: _Task) -> dict[str, Any]:
    return {
        "region": [[list(box.lower), list(box.upper)] for box in task.region],
        "fit": task.fit,
        "boxes": None if task.boxes is None else list(task.boxes),
        "tolerance": None if task.boxes else task.tolerance,
        "degree": task.degree,
        "continuous": task.continuous,
        "seed": task.seed,
    }
