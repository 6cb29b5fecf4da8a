"""`supple.run_time_forms`: forms of a reduced model for run time, within budgets of memory and operations."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from supple.approximation.fits.chebyshev_products import Indices, count, total_degree
from supple.approximation.piecewise.piecewise import Piecewise
from supple.compilation.threads import single_blas_thread
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleNote
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import quote
from supple.diagnostics.limits import bytes_of, in_bytes
from supple.formats.mechanism_text import to_yaml
from supple.formats.model_description import restore_mechanism
from supple.reduced.family import FIXED, model_at_parameters
from supple.reduced.model import ReducedModel
from supple.reduced.operations import kernel_operations, paper_operations
from supple.reduction.fitted_coefficients import FREQUENCIES
from supple.reduction.stated_error import indefinite, missed_errors
from supple.run_time.cost import ColumnUse, Cost, column_use, cost_of
from supple.run_time.grid_fit import Counts, GridFit, grid_piecewise, region_box
from supple.run_time.passive_machine import DURATION, Passive, energy_drift, passive_start
from supple.run_time.processor import Processor, processor_of
from supple.run_time.run_time_error import ExactCheck, SurrogateError, domain_of_model, exact_check
from supple.run_time.search import MOST_BOXES, Errors, FormSearch, rising_grids
from supple.run_time.spline_fit import DEGREE, MOST_NODES, fit_spline, spline_nodes, spline_terms
from supple.run_time.trade_off import RunTimeForm, RunTimeForms

DEGREES = range(2, 8)
_MOST_TERMS = 300  # terms of a box that are tried
_LEFT = 0.1  # of the tolerance: smallest share that the surrogate must leave
_TWICE = 2.0  # default of the tolerance, over the error of the surrogate
_MARGIN, _TIGHTER, _TRIES = 0.97, 0.95, 4  # of the target: at first, and after a check that missed the tolerance
_BEYOND = 16.0  # multiple of the memory budget up to which the trade-off is computed


def run_time_forms(
    model: ReducedModel,
    *,
    memory: float | str | None = None,
    operations: int | None = None,
    tolerance: float | None = None,
    target: str = "host",
    smooth: bool = False,
    checks: int | None = None,
    seed: int = 0,
) -> RunTimeForms:
    """Fit cheaper forms of a reduced model for run time, and choose one within budgets of memory and operations.

    The model is the surrogate: its evaluations cost nothing compared with those of the mechanism. A form has a regular
    grid of boxes with few terms in each. It is in energy form: M and the potential are fitted, with their slopes, and
    Γ and forces are their gradients. The chosen form is compared with the mechanism.

    Parameters
    ----------
    model : ReducedModel
        Model to fit; its error should be at most half the tolerance.
    memory : float or str, optional
        Largest size of the tables that `inverse` and `forward` read, in bytes or as text ("64kB"). Default: no limit.

        Of all forms within the limit, the one with the fewest operations is chosen.
    operations : int, optional
        Largest number of multiply-adds of `inverse`. Default: no limit.

        Without `memory`, the form with the least memory is chosen.
    tolerance : float, optional
        Largest stated relative error against the mechanism, of every coefficient family, as in `reduce`. Default: twice
        the largest stated error of the model.
    target : str, optional
        Processor: "host", "cortex-m4f", "cortex-m7" or "cortex-m33". Default: "host".

        It determines the size of a number: 8 bytes for "host", 4 bytes for the others.
    smooth : bool, optional
        Use cubic splines on the grid, without jumps of forces between boxes, in place of separate polynomials.
        Default: False.
    checks : int, optional
        Number of random points at which the chosen form is compared with the mechanism. Default: as in `reduce`.
    seed : int, optional
        Random seed for the check points. Default: 0.

    Returns
    -------
    RunTimeForms
        The chosen form as a `ReducedModel` in `model`, and the trade-off between error, operations, memory, jumps at
        faces of boxes and energy drift.

    Raises
    ------
    InputError
        If no form meets the tolerance within the budgets, if the model leaves nothing of the tolerance, or if its
        region or its fit is not supported.

    Warns
    -----
    SuppleNote
        If the model has varied parameters: the form is made at their present values.

    See Also
    --------
    reduce : Reduce a mechanism to the model.
    export : Write the chosen form as C code, FMU or for CasADi.

    Notes
    -----
    A form within (ε - ε_s) / 1.05 of the model, with the error ε_s of the model, is within ε of the mechanism
    (docs/theory/run-time-forms.md).

    Examples
    --------
    >>> import supple
    >>> rom = supple.reduce(supple.load("orthoglide"), progress=False)  # doctest: +SKIP
    >>> forms = supple.run_time_forms(rom, memory="64kB", tolerance=5e-3, target="cortex-m7")  # doctest: +SKIP
    >>> supple.export(forms.model, "build", precision="single")  # doctest: +SKIP
    """
    require_arguments(run_time_forms, locals())
    limit = _memory_limit(model, memory)
    if limit is None and operations is None:
        raise InputError(
            "a run-time form needs a budget", part="memory", hint="give memory, operations, or both",
        )  # fmt: skip
    if operations is not None and operations < 1:
        raise InputError(f"must be positive (got {operations})", part="operations", hint="give multiply-adds of a call")
    if checks is not None and checks < 1:
        raise InputError(f"must be positive (got {checks})", part="checks", hint="give at least one check point")
    processor = processor_of(target)
    _require_energy_form(model)
    mechanism = restore_mechanism(model)
    surrogate = _of_one_machine(model, mechanism)
    with single_blas_thread():
        task = _Task(surrogate, mechanism, processor, tolerance, limit, operations, checks, seed)
        return task.run(smooth=smooth)


def _memory_limit(model: ReducedModel, memory: float | str | None) -> float | None:
    if memory is None:
        return None
    size = bytes_of(memory) if isinstance(memory, str) else float(memory)
    if not size > 0.0:
        raise InputError(f"{quote(memory)} is not a size", part="memory", hint="write for example 64kB, or bytes")
    return size


def _require_energy_form(model: ReducedModel) -> None:
    """Refuse a fit whose Γ or force do not follow from M and the potential."""
    layout = model.layout
    if "christoffel" in layout.columns:
        raise InputError(
            "its Christoffel symbols are fitted separately from M, and a run-time form needs them as gradients of M",
            part=f'model "{model.name}"', hint='reduce with the fit "auto" or "chebyshev"',
        )  # fmt: skip


def _of_one_machine(model: ReducedModel, mechanism: Mechanism) -> ReducedModel:
    """Return a model without a family, at the present values of its parameters, with a note."""
    if model.family is None:
        return model
    one = model_at_parameters(model)
    named = ", ".join(one.provenance[FIXED])
    warnings.warn(
        SuppleNote(f"the run-time form is made for {named}; its parameters cannot be set at run time"), stacklevel=4
    )
    return replace(one, provenance={**one.provenance, "description": to_yaml(mechanism)})


class _Shape(NamedTuple):
    """Grid and terms of a form; degree None: cubic splines."""

    degree: int | None
    counts: Counts
    terms: Indices
    errors: Errors
    met: bool


@dataclass
class _Task:
    """Search for the forms of one surrogate, with the checked options."""

    surrogate: ReducedModel
    mechanism: Mechanism
    processor: Processor
    requested: float | None
    memory: float | None
    operations: int | None
    checks: int | None
    seed: int

    def __post_init__(self) -> None:
        model = self.surrogate
        self.judge = SurrogateError(model)
        self.tolerance = self._settle_tolerance()
        self.use: ColumnUse = column_use(model.layout, model.fitted)
        fits = GridFit(model.fitted, region_box(model.fitted, model.name), self.use.sloped)
        self.search = FormSearch(fits, self.judge)
        self.passive: Passive | None = passive_start(model)
        self.exact: ExactCheck | None = None

    def _settle_tolerance(self) -> float:
        """Return the tolerance, of which the surrogate must leave a share."""
        name, worst = self.judge.worst
        part = f'model "{self.surrogate.name}"'
        if self.requested is None:
            if not worst > 0.0:
                raise InputError("its error is not stated", part=part, hint="give a tolerance")
            return _TWICE * worst
        if not 0.0 < self.requested < 1.0:
            raise InputError(
                f"must be between 0 and 1 (got {self.requested:g})", part="tolerance",
                hint="give a relative error such as 1e-2",
            )  # fmt: skip
        if min(self.judge.targets(self.requested).values()) < _LEFT * self.requested:
            raise InputError(
                f"the stated error of {name} is {worst:.2g}, which leaves nothing of the tolerance "
                f"{self.requested:g} for a run-time form", part=part,
                hint=f"reduce with a tolerance of {self.requested / 5.0:.1g}, or give a tolerance of at least "
                f"{_TWICE * worst:.2g}",
            )  # fmt: skip
        return self.requested

    # ------------------------------------------------------------------ costs

    def cost(self, counts: Counts, terms: Indices) -> Cost:
        """Return the cost of a form on a grid."""
        edges = sum(counts) + len(counts)
        return cost_of(self.surrogate.layout, self.use, terms, prod(counts), edges, self.processor.number)

    def fits_budget(self, cost: Cost) -> bool:
        """Return whether a form is within both budgets."""
        return (self.memory is None or cost.memory <= self.memory) and (
            self.operations is None or cost.inverse <= self.operations
        )

    def rank(self, cost: Cost) -> tuple[int, int]:
        """Return the key by which the best form is the smallest: operations within a memory budget, or else memory."""
        return (cost.inverse, cost.memory) if self.memory is not None else (cost.memory, cost.inverse)

    def most_boxes(self, terms: Indices, memory: float) -> int:
        """Return the largest number of boxes within a memory budget."""
        one = self.cost((1,) * terms.shape[1], terms).memory
        return int(min(MOST_BOXES, max(1.0, memory / one)))

    # ------------------------------------------------------------------ forms

    def run(self, *, smooth: bool) -> RunTimeForms:
        """Return the forms and the chosen one."""
        share = _MARGIN
        shapes = self.shapes(share, smooth=smooth)
        refused: set[int] = set()
        for _ in range(_TRIES * len(DEGREES)):
            within = [k for k, item in enumerate(shapes)
                      if item.met and k not in refused and self.fits_budget(self.cost(item.counts, item.terms))]  # fmt: skip
            if not within:
                raise self._missed(shapes)
            best = min(within, key=lambda k: self.rank(self.cost(shapes[k].counts, shapes[k].terms)))
            chosen, fitted = self._checked(shapes[best], share)
            if chosen is not None:
                shapes[best] = chosen
                return self._result(shapes, best, fitted)
            refused.add(best)
        raise self._missed(shapes)

    def shapes(self, share: float, *, smooth: bool) -> list[_Shape]:
        """Return the forms of the trade-off, which are within a share of the targets in probed boxes."""
        if smooth:
            return self._splines(share)
        s = self.surrogate.layout.theta
        found: list[_Shape] = []
        for degree in DEGREES:
            if count(s, degree) > _MOST_TERMS:
                break
            found += self._of_degree(degree, share)
        return found

    def _target(self, share: float) -> dict[str, float]:
        return {name: share * value for name, value in self.judge.targets(self.tolerance).items()}

    def _of_degree(self, degree: int, share: float, least: int = 1) -> list[_Shape]:
        """Return the coarsest form of a degree and, within a memory budget, the one with the fewest operations."""
        terms, target = total_degree(self.surrogate.layout.theta, degree), self._target(share)
        most = MOST_BOXES if self.memory is None else self.most_boxes(terms, _BEYOND * self.memory)
        grid = self.search.smallest(degree, terms, target, most, least)
        if not grid.met:
            return [_Shape(degree, grid.counts, terms, grid.errors, False)]
        grids = [grid.counts]
        if self.memory is not None:
            for counts in rising_grids(self.search.lengths(degree), self.most_boxes(terms, self.memory)):
                if all(a >= b for a, b in zip(counts, grid.counts, strict=True)) and counts != grid.counts:
                    grids[1:] = [counts]
        shapes = []
        for counts in grids:
            fewer, errors = self.search.trimmed(counts, terms, target)
            if counts == grid.counts or len(fewer) < len(shapes[0].terms):
                shapes.append(_Shape(degree, counts, fewer, grid.errors if errors is None else errors, True))
        return shapes

    def _splines(self, share: float) -> list[_Shape]:
        """Return cubic splines on the coarsest grid that meets the targets, and on finer ones within the budget."""
        search, fits, target = self.search, self.search.fits, self._target(share)
        terms = spline_terms(self.surrogate.layout.theta)
        most = MOST_BOXES if self.memory is None else self.most_boxes(terms, _BEYOND * self.memory)
        last: _Shape | None = None
        for counts in rising_grids(search.lengths(DEGREE), most):
            if spline_nodes(counts) * fits.surrogate.outputs > MOST_NODES:
                break
            errors = search.errors_of(fit_spline(fits, counts), *fits.boxes(counts), terms, target)
            last = _Shape(None, counts, terms, errors, errors.ratio <= 1.0)
            if last.met:
                break
        if last is None:
            raise InputError(
                f"cubic splines have {len(terms)} terms in a box of {terms.shape[1]} coordinates, too many for a fit",
                part="smooth", hint="use separate polynomials (without smooth)",
            )  # fmt: skip
        return [last]

    def fit(self, shape: _Shape, share: float) -> tuple[Piecewise, Errors]:
        """Return a form in all boxes, and its errors."""
        fits, target = self.search.fits, self._target(share)
        if shape.degree is not None:
            return self.search.whole(shape.counts, shape.terms, target)
        found = fit_spline(fits, shape.counts)
        errors = self.search.errors_of(found, *fits.boxes(shape.counts), shape.terms, target)
        return grid_piecewise(fits.region, shape.counts, shape.terms, found), errors

    def _checked(self, shape: _Shape, share: float) -> tuple[_Shape | None, Piecewise | None]:
        """Return a form that meets the tolerance against the mechanism, or None.

        If it does not at first, it is made again with smaller targets or more boxes.
        """
        for _ in range(_TRIES):
            fitted, errors = self.fit(shape, share)
            if errors.ratio <= 1.0:
                exact = exact_check(self.mechanism, self.judge, fitted, checks=self.checks, seed=self.seed)
                worst = max(float(item["worst"]) for item in exact.errors.values())
                if worst <= self.tolerance:
                    self.exact = exact
                    return shape._replace(errors=errors), fitted
                share *= _TIGHTER * self.tolerance / worst
            if shape.degree is None:
                return None, None
            found = self._of_degree(shape.degree, share, prod(shape.counts) + (errors.ratio > 1.0))
            found = [item for item in found if item.met and self.fits_budget(self.cost(item.counts, item.terms))]
            if not found:
                return None, None
            shape = min(found, key=lambda item: self.rank(self.cost(item.counts, item.terms)))
        return None, None

    # ------------------------------------------------------------------ results

    def _result(self, shapes: list[_Shape], best: int, fitted: Piecewise | None) -> RunTimeForms:
        assert fitted is not None
        assert self.exact is not None
        forms = [self._surrogate_form()]
        for k, shape in enumerate(shapes):
            form = self._form(shape, fitted if k == best else None)
            if k == best:
                worst, family = max((float(item["worst"]), name) for name, item in self.exact.errors.items())
                form = replace(form, error=worst, family=family, checked=True, chosen=True)
            forms.append(form)
        order = [forms[0], *sorted(forms[1:], key=lambda item: (item.inverse, item.memory))]
        chosen = next(form for form in order if form.chosen)
        model = self._model(fitted, chosen)
        return RunTimeForms(
            model, tuple(order), self.tolerance, self.memory, self.operations, self.processor.name,
            self.exact.stated.points, self.exact.visited,
        )  # fmt: skip

    def _form(self, shape: _Shape, fitted: Piecewise | None) -> RunTimeForm:
        """Return the row of a form in the trade-off, with its error bounded by that of the surrogate and its own."""
        cost, errors = self.cost(shape.counts, shape.terms), shape.errors
        if fitted is None and shape.met:
            fitted, errors = self.fit(shape, _MARGIN)
        worst, family = max((error, name) for name, error in self.judge.total(errors.families).items())
        jump, drift = (np.nan, np.nan) if fitted is None else self._jump_and_drift(fitted)
        return RunTimeForm(
            shape_text(shape.counts, shape.degree), shape.counts, shape.degree, len(shape.terms), cost.inverse,
            cost.forward, cost.memory, cost.whole, worst, family, jump, drift, self.fits_budget(cost),
        )  # fmt: skip

    def _surrogate_form(self) -> RunTimeForm:
        """Return the row of the surrogate itself."""
        model, arrays = self.surrogate, self.surrogate.fitted.arrays
        family, worst = self.judge.worst
        terms = arrays.indices[: int(arrays.leaves_i[:, 1].max())]
        edges = len(arrays.nodes_f) + 2 * model.layout.theta
        cost = cost_of(model.layout, self.use, terms, len(arrays.leaves_i), edges, self.processor.number)
        jump, drift = self._jump_and_drift(model.fitted)
        return RunTimeForm(
            "the model itself", (), None, len(terms), cost.inverse, cost.forward, cost.memory, cost.whole, worst,
            family, jump, drift, self.fits_budget(cost), checked=True,
        )  # fmt: skip

    def _jump_and_drift(self, fitted: Piecewise) -> tuple[float, float]:
        """Return the largest relative jump of Γ and forces between boxes, and the energy drift; nan if unknown."""
        jumps = self.judge.jumps(fitted)
        jump = max((value for name, value in jumps.items() if name.startswith(_FORCES)), default=0.0)
        if self.passive is None:
            return jump, np.nan
        drift = energy_drift(replace(self.surrogate, fitted=fitted), self.passive)
        return jump, np.nan if drift is None else drift

    def _model(self, fitted: Piecewise, form: RunTimeForm) -> ReducedModel:
        """Return the chosen form as a model, with its stated errors and its origin."""
        assert self.exact is not None
        surrogate, exact, arrays = self.surrogate, self.exact, fitted.arrays
        stated = _with_frequencies(exact.errors, self.judge.columns.frequencies)
        known = surrogate.provenance.get("error", {})
        stated |= {name: item for name, item in known.items() if name not in stated and "scale" not in item}
        worst = {name: float(item["worst"]) for name, item in stated.items()}
        origin = {
            **surrogate.provenance,
            "error": stated,
            "stated": exact.stated._asdict(),
            "jumps": self.judge.jumps(fitted),
            "checks": exact.points,
            "boxes": len(arrays.leaves_i),
            "dropped": 0,
            "depth": fitted.depth,
            "memory": int(sum(array.nbytes for array in arrays)),
            "operations": paper_operations(surrogate.layout, fitted),
            "kernel_operations": kernel_operations(surrogate.layout, fitted).total,
            "run_time": {
                "form": form.name, "tolerance": self.tolerance, "memory": self.memory, "operations": self.operations,
                "target": self.processor.name, "surrogate_error": surrogate.error, "inverse": form.inverse,
                "forward": form.forward, "tables": form.memory, "all_tables": form.whole, "jump": form.jump,
                "drift": None if np.isnan(form.drift) else form.drift, "drift_seconds": DURATION,
            },
        }  # fmt: skip
        model = replace(surrogate, fitted=fitted, error=worst, provenance=origin)
        domain = domain_of_model(self.mechanism, model)
        origin["missed"] = missed_errors(worst, self.tolerance) + indefinite(domain, model)
        return model

    # ------------------------------------------------------------------ shortfalls

    def _missed(self, shapes: list[_Shape]) -> InputError:
        """Return the error that no form meets the tolerance within the budgets, with the closest form and the needs."""
        costs = [self.cost(shape.counts, shape.terms) for shape in shapes]
        budget = [] if self.memory is None else [in_bytes(self.memory)]
        budget += [] if self.operations is None else [f"{self.operations} multiply-adds"]
        text = f"no form within {' and '.join(budget)} has an error below {self.tolerance:g}"
        closest = self._closest()
        if closest is not None:
            error, name = closest
            text += f"; the smallest is {error:.2g} ({name})"
        needs = []
        met = [cost for shape, cost in zip(shapes, costs, strict=True) if shape.met]
        cheap = [cost.memory for cost in met if self.operations is None or cost.inverse <= self.operations]
        small = [cost.inverse for cost in met if self.memory is None or cost.memory <= self.memory]
        if cheap and self.memory is not None:
            needs.append(f"allow {in_bytes(1.02 * min(cheap))}")
        if small and self.operations is not None:
            needs.append(f"allow {min(small)} operations")
        return InputError(text, part=f'model "{self.surrogate.name}"', hint=", or ".join([*needs, "raise the tolerance"]))

    def _closest(self) -> tuple[float, str] | None:
        """Return the smallest error of a form within the budgets, and the form."""
        s = self.surrogate.layout.theta
        best: tuple[float, str] | None = None
        for degree in DEGREES:
            terms = total_degree(s, degree)
            one = (1,) * s
            if len(terms) > _MOST_TERMS or not self.fits_budget(self.cost(one, terms)):
                continue
            most = self.most_boxes(terms, np.inf if self.memory is None else self.memory)
            counts = list(rising_grids(self.search.lengths(degree), min(most, MOST_BOXES)))[-1]
            while not self.fits_budget(self.cost(counts, terms)):
                counts = tuple(max(1, n - 1) for n in counts)
            errors = self.search.whole(counts, terms, self._target(1.0))[1]
            error = max(self.judge.total(errors.families).values())
            if best is None or error < best[0]:
                best = error, shape_text(counts, degree)
        return best


_FORCES = ("christoffel", "force", "Γ", "p_")  # families whose jumps are jumps of forces


def _with_frequencies(errors: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the errors with those of all frequencies as one family, as `stated_errors` does."""
    found = {name: item for name, item in errors.items() if name not in names}
    each = [errors[name] for name in names]
    if each:
        worst = max(each, key=lambda item: item["worst"])
        found[FREQUENCIES] = {"worst": worst["worst"], "at": worst["at"], "each": [item["worst"] for item in each]}
    return found


def shape_text(counts: Counts, degree: int | None) -> str:
    """Return a grid and its polynomials as text, such as `2 x 2 boxes, degree 5`."""
    kind = "cubic splines" if degree is None else f"degree {degree}"
    if prod(counts) == 1:
        return f"1 box, {kind}"
    return f"{' x '.join(map(str, counts))} boxes, {kind}"
