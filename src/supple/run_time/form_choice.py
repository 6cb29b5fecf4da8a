"""Choice of a run-time form: forms of all degrees, the best one within the budgets, and its check.

Each degree gives the coarsest grid that meets the targets. Within a memory budget it also gives the finest grid, with
the fewest terms that then suffice. The best form is compared with the mechanism. If it misses the tolerance there, it
is made again with smaller targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from supple.approximation.confidence import GUARD
from supple.approximation.fits.chebyshev_products import Indices, count, total_degree
from supple.approximation.piecewise.piecewise import Piecewise
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.limits import in_bytes
from supple.reduced.model import ReducedModel
from supple.reduced.operations import kernel_operations, paper_operations
from supple.reduction.fitted_coefficients import FREQUENCIES
from supple.reduction.stated_error import indefinite, missed_errors
from supple.run_time.cost import ColumnUse, Cost, column_use, cost_of
from supple.run_time.grid_fit import Counts, GridFit, grid_piecewise, region_box
from supple.run_time.passive_machine import Passive, energy_drift, passive_start
from supple.run_time.processor import Processor
from supple.run_time.run_time_error import ExactCheck, SurrogateError, domain_of_model, exact_check
from supple.run_time.search import MOST_BOXES, Errors, FormSearch, rising_grids
from supple.run_time.spline_fit import DEGREE, MOST_NODES, fit_spline, spline_nodes, spline_terms
from supple.run_time.trade_off import RunTimeForm, RunTimeForms

DEGREES = range(2, 8)
_MOST_TERMS = 300  # terms of a box that are tried
_LEFT = 0.1  # of the tolerance: smallest share that the surrogate must leave
_TWICE = 2.0  # default of the tolerance, over the error of the surrogate
_MARGIN, _TIGHTER, _TRIES = 0.97, 0.95, 4  # of the target: at first, and after a check that missed the tolerance
_FEWER = 1.4  # memory with all terms, over the budget, of a grid that may be within it with fewer
_BEYOND = 16.0  # multiple of the memory budget up to which the trade-off is computed


class _Shape(NamedTuple):
    """Grid, terms and fit of a form; degree None: cubic splines.

    errors : at many points, for the whole targets; share : of the targets that the fit was made for
    """

    degree: int | None
    counts: Counts
    terms: Indices
    fitted: Piecewise
    errors: Errors
    share: float

    @property
    def met(self) -> bool:
        """Whether the errors are within the targets."""
        return self.errors.ratio <= 1.0


@dataclass
class FormChoice:
    """Choice of a form of one surrogate within budgets, with checked options.

    requested        : tolerance; None: twice the error of the surrogate
    memory, operations, checks : None: no limit, and as many check points as in `reduce`
    """

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
        fits = GridFit(model.fitted, region_box(model.fitted, model.name), self.use.sloped, self.use.still)
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
        shapes = self._splines(_MARGIN) if smooth else self._polynomials(_MARGIN)
        refused: set[int] = set()
        while True:
            within = [k for k, item in enumerate(shapes) if item.met and self._within(item) and k not in refused]
            if not within:
                raise self._missed(shapes)
            best = min(within, key=lambda k: self._rank(shapes[k]))
            chosen = self._checked(shapes[best])
            if chosen is not None:
                shapes[best] = chosen
                return self._result(shapes, best)
            refused.add(best)

    def _target(self, share: float) -> dict[str, float]:
        return {name: share * value for name, value in self.judge.targets(self.tolerance).items()}

    def _within(self, shape: _Shape) -> bool:
        return self.fits_budget(self.cost(shape.counts, shape.terms))

    def _rank(self, shape: _Shape) -> tuple[int, int]:
        return self.rank(self.cost(shape.counts, shape.terms))

    def _polynomials(self, share: float) -> list[_Shape]:
        """Return the forms of all degrees."""
        s = self.surrogate.layout.theta
        found: dict[tuple[Counts, bytes], _Shape] = {}
        for degree in DEGREES:
            if count(s, degree) > _MOST_TERMS:
                break
            for shape in self._of_degree(degree, share):
                found.setdefault((shape.counts, shape.terms.tobytes()), shape)
        return list(found.values())

    def _of_degree(self, degree: int, share: float, least: int = 1) -> list[_Shape]:
        """Return the coarsest form of a degree and, within a memory budget, the one with the fewest operations.

        Targets are reduced while an error between the nodes exceeds them.
        """
        terms, target = total_degree(self.surrogate.layout.theta, degree), self._target(share)
        most = MOST_BOXES if self.memory is None else self.most_boxes(terms, _BEYOND * self.memory)
        for _ in range(_TRIES):
            grid = self.search.smallest(degree, terms, target, most, least)
            if not grid.met:
                return [self._fit(degree, grid.counts, terms, share)]
            first = self._trimmed(degree, grid.counts, terms, share)
            if first.met:
                break
            share, least = share * _TIGHTER / first.errors.ratio, prod(grid.counts)
            target = self._target(share)
        if not first.met:
            return [first]
        found = [first]
        for counts in self._finer(degree, terms, first.counts):
            shape = self._trimmed(degree, counts, terms, share)
            if shape.met and self._within(shape) and len(shape.terms) < len(found[-1].terms):
                found.append(shape)
        return found

    def _finer(self, degree: int, terms: Indices, counts: Counts) -> list[Counts]:
        """Return the finest grids within the memory budget, with all terms and with fewer, that are finer than one."""
        found: dict[Counts, None] = {}
        if self.memory is not None:
            for share in (1.0, _FEWER):
                grids = rising_grids(self.search.lengths(degree), self.most_boxes(terms, share * self.memory))
                finer = [item for item in grids if all(a >= b for a, b in zip(item, counts, strict=True))]
                found |= dict.fromkeys(finer[-1:])
        found.pop(counts, None)
        return list(found)

    def _trimmed(self, degree: int, counts: Counts, terms: Indices, share: float) -> _Shape:
        """Return a form without the terms that the targets do not need, with smaller targets if it misses them."""
        for _ in range(_TRIES):
            shape = self._fit(degree, counts, self.search.trimmed(counts, terms, self._target(share)), share)
            if shape.met or len(shape.terms) == len(terms):
                break
            share *= _TIGHTER / shape.errors.ratio
        return shape

    def _fit(self, degree: int | None, counts: Counts, terms: Indices, share: float) -> _Shape:
        """Return a form in all boxes, and its errors at many points."""
        fits = self.search.fits
        if degree is None:
            fitted = grid_piecewise(fits.region, counts, terms, fit_spline(fits, counts))
        else:
            degree = int(terms.sum(axis=1).max())
            fitted = self.search.whole(counts, terms, self._target(share))
        families, whole = self.judge.measure(fitted), self._target(1.0)
        ratio = max(error / whole[name] for name, error in families.items())
        return _Shape(degree, counts, terms, fitted, Errors(ratio, families), share)

    def _splines(self, share: float, least: int = 1) -> list[_Shape]:
        """Return cubic splines on the coarsest grid that meets the targets."""
        s = self.surrogate.layout.theta
        terms, most = spline_terms(s), MOST_BOXES
        if self.memory is not None:
            most = self.most_boxes(terms, _BEYOND * self.memory)
        last: _Shape | None = None
        for counts in rising_grids(self.search.lengths(DEGREE), most):
            if spline_nodes(counts) * self.surrogate.fitted.outputs > MOST_NODES:
                break
            if prod(counts) < least:
                continue
            last = self._fit(None, counts, terms, share)
            if last.errors.ratio <= share:
                break
        if last is None:
            raise InputError(
                f"cubic splines have {len(terms)} terms in each box of {s} coordinates, too many for a fit",
                part="smooth", hint="use separate polynomials (without smooth)",
            )  # fmt: skip
        return [last]

    def _checked(self, shape: _Shape) -> _Shape | None:
        """Return a form that meets the tolerance against the mechanism, or None.

        If it does not at first, it is made again with smaller targets.
        """
        for _ in range(_TRIES):
            exact = exact_check(self.mechanism, self.judge, shape.fitted, checks=self.checks, seed=self.seed)
            for name, item in exact.errors.items():  # the error against the surrogate is known at more points
                item["worst"] = max(item["worst"], GUARD * shape.errors.families[name])
            worst = max(item["worst"] for item in exact.errors.values())
            if worst <= self.tolerance:
                self.exact = exact
                return shape
            share = min(shape.share, shape.errors.ratio) * _TIGHTER * self.tolerance / worst
            if shape.degree is None:
                found = self._splines(share, prod(shape.counts) + 1)
            else:
                found = self._of_degree(shape.degree, share, prod(shape.counts))
            found = [item for item in found if item.met and self._within(item)]
            if not found:
                return None
            shape = min(found, key=self._rank)
        return None

    # ------------------------------------------------------------------ results

    def _result(self, shapes: list[_Shape], best: int) -> RunTimeForms:
        assert self.exact is not None
        forms = [self._form(shape) for shape in shapes]
        worst, family = max((item["worst"], name) for name, item in self.exact.errors.items())
        chosen = replace(forms[best], error=worst, family=family, checked=True, chosen=True)
        forms[best] = chosen
        ordered = sorted(forms, key=lambda item: (item.inverse, item.memory))
        return RunTimeForms(
            self._model(shapes[best].fitted, chosen), (self._surrogate_form(), *ordered), self.tolerance, self.memory,
            self.operations, self.processor.name, self.exact.stated.points, self.exact.visited,
            np.nan if self.passive is None else self.passive.duration,
        )  # fmt: skip

    def _form(self, shape: _Shape) -> RunTimeForm:
        """Return the row of a form in the trade-off, with its error bounded by that of the surrogate and its own."""
        cost = self.cost(shape.counts, shape.terms)
        worst, family = max((error, name) for name, error in self.judge.total(shape.errors.families).items())
        return RunTimeForm(
            shape_text(shape.counts, shape.degree), shape.counts, shape.degree, len(shape.terms), cost.inverse,
            cost.forward, cost.memory, cost.whole, worst, family, *self._jump_and_drift(shape.fitted),
            self.fits_budget(cost),
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
        worst = {name: item["worst"] for name, item in stated.items()}
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
                "drift": None if np.isnan(form.drift) else form.drift,
            },
        }  # fmt: skip
        model = replace(surrogate, fitted=fitted, error=worst, provenance=origin)
        domain = domain_of_model(self.mechanism, model)
        origin["missed"] = missed_errors(worst, self.tolerance) + indefinite(domain, model)
        return model

    # ------------------------------------------------------------------ shortfalls

    def _missed(self, shapes: list[_Shape]) -> InputError:
        """Return the error that no form meets the tolerance within the budgets, with the closest form and the needs."""
        costs = [self.cost(item.counts, item.terms) for item in shapes]
        budget = [] if self.memory is None else [in_bytes(self.memory)]
        budget += [] if self.operations is None else [f"{self.operations} multiply-adds"]
        text = f"no form within {' and '.join(budget)} has an error below {self.tolerance:g}"
        closest = self._closest()
        if closest is not None:
            error, name = closest
            text += f"; the smallest is {error:.3g} ({name})"
        needs = []
        met = [cost for shape, cost in zip(shapes, costs, strict=True) if shape.met]
        cheap = [cost.memory for cost in met if self.operations is None or cost.inverse <= self.operations]
        small = [cost.inverse for cost in met if self.memory is None or cost.memory <= self.memory]
        if cheap and self.memory is not None:
            needs.append(f"allow {in_bytes(1.02 * min(cheap))}")
        if small and self.operations is not None:
            needs.append(f"allow {min(small)} operations")
        if met and not needs:
            least = min(met, key=lambda cost: cost.memory * cost.inverse)
            needs.append(f"allow {in_bytes(1.02 * least.memory)} and {least.inverse} operations")
        needs.append("raise the tolerance")
        return InputError(text, part=f'model "{self.surrogate.name}"', hint=", or ".join(needs))

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
            families = self.judge.measure(self.search.whole(counts, terms, self._target(1.0)))
            error = max(self.judge.total(families).values())
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
