"""Control laws over a region: matrices as functions of σ, few functions for all entries, fitted to a closed-loop error.

    M(σ) = M₀ + Σ_k g_k(σ) M_k,     k = 1 ... r

The entries of a law change together, so that r functions are sufficient for hundreds of entries. An error of an entry
matters as much as it changes the closed loop: with Δ the errors of all entries that change, each divided by its size,

    ‖Δ‖² = Δᵀ (S + ρ²) Δ

where S is the sensitivity of the loop (`control.laws.loop_error`) and ρ bounds entries that the loop hardly feels. In
this norm the entries are fitted on the box tree like coefficients of reduced models, and the fit is reduced to its
principal functions g_k. Their number is the smallest with which the loop keeps its tolerance at points of the region
that were not fitted. Where the loop of a law is not known, ‖Δ‖ is the error of the entries of each matrix over the
larger of their norm and its median.

The size of an entry is r_i c_j >= |m_ij| over a few points of the region, so that the fit does not depend on units. An
entry that is only rounding, or the error of the model of the design, then counts as little as it does in the law.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.approximation import Approximation, scatter_points
from supple.approximation.evaluated import Samples
from supple.approximation.piecewise.packing import NOWHERE
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.refinement import adaptive
from supple.array_types import Array, Integers
from supple.compilation.threads import single_blas_thread
from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.affine_matrices import AffineMatrices, Ports, from_row, shapes
from supple.control.laws.fitted_row import FittedRow, rounded
from supple.control.laws.law_equilibrium import EquilibriaOf, boxes_of, deviations, fitted_equilibrium
from supple.control.laws.loop_error import SMALL, ClosedLoop, LoopAt, LoopMeasure, growth, outer_sizes, standing_error
from supple.control.laws.principal_functions import PrincipalFunctions
from supple.diagnostics import InputError, SuppleWarning, UnstableLoop, user_level
from supple.diagnostics.errors import values_text
from supple.reduced.model import ReducedModel

Ranges = Mapping[str, tuple[float, float]]

_FINEST = 1e-12  # relative error of a law that rounding still allows
PROBES = 12  # points that show which entries change, and the sensitivity of the loop
CHECKS = 16  # points at which the loop with the fitted law is compared with the designed one
ROUNDING = 1e-3  # of the tolerance, times the size of an entry: one that changes less is constant
FLOOR = 0.1  # norm of a matrix so divided: lower limit of the reference of its error
GUARD = 1e-2  # ρ: an entry that the loop does not feel may be off by 1/ρ times the tolerance
MOST = 5_000  # designs
_FIT = 0.5  # times the tolerance: error of the fit of all entries; the rest is for the functions that are left out
_FINER, _STEP = 3, 5.0  # times that a fit is repeated, each with a smaller tolerance, if the loop changes too much
_GROWS = 1e-4  # 1/s: slower growth is rounding
_KEPT = 0.5  # part of the decay of the designed loop that the fitted one must keep
_LOOP = "closed loop"  # name of the error of a loop in `AffineLaw.error`
_TRUNCATED, _SHOWN = 0.3, 200  # part of the tolerance for the entries of dropped functions; points that show it
_DIGITS = 2  # decimal digits beyond the tolerance that factors and coefficients keep


@single_blas_thread()
def scheduled_law(
    matrices_of: Callable[[Array], AffineMatrices],
    region: ReducedModel | Ranges,
    ports: Ports,
    *,
    tolerance: float = 1e-3,
    name: str = "law",
    by: Sequence[str] | None = None,
    equilibria: EquilibriaOf | None = None,
    loop: LoopAt | None = None,
    remedy: str = "design slower gains",
) -> AffineLaw:
    """Return a law whose matrices are functions of σ, fitted over a region to a tolerance.

    Parameters
    ----------
    matrices_of : callable
        Design function from σ (s,) to `AffineMatrices`; it must be smooth.
    region : ReducedModel, or mapping of str to (float, float)
        Region of the fit: that of a reduced model, or {coordinate: (lower, upper)} in the order of σ.
    ports : Ports
        Names of inputs and outputs, and the sample time.
    tolerance : float, optional
        Largest change of the closed loop by the fit: the peak error of its responses relative to their peaks.
        Default: 1e-3.

        Without `loop`, the relative error of the matrices.
    name : str, optional
        Name of the law. Default: "law".
    by : sequence of str, optional
        Names under which σ is measured, among `ports.measured`. Default: those of the coordinates.
    equilibria : callable, optional
        Function from points (N, s) to the `Equilibria` that the designs keep there. Default: none.

        The law then keeps them to rounding, whatever the tolerance. Without it, b, d and a₀ are fitted like the other
        matrices, and the law rests off its goal by the error of the fit.
    loop : callable, optional
        Function from σ to the `SampledLoop` that the law controls there. Default: the loop is not known, and the
        tolerance is that of the matrices.

        Where the fitted law would keep less than half of the decay of its design, the fit is repeated with a smaller
        tolerance.
    remedy : str, optional
        Advice for the warning about a design that is unstable itself. Default: "design slower gains".

    Returns
    -------
    AffineLaw
        The law.

    Raises
    ------
    InputError
        If the tolerance, the region or the names are invalid, or designs have different numbers of states.

    Warns
    -----
    UnstableLoop
        If a design, or the loop with the fitted law, is unstable.
    SuppleWarning
        If the loop with the fitted law changes by more than the tolerance, or keeps less than half of the damping of
        its design.

    See Also
    --------
    fixed : Law with constant matrices.
    gain_scheduled : State feedback over a region.
    """
    if not _FINEST <= tolerance < 1.0:
        raise InputError(
            f"must be between {_FINEST:g} and 1 (got {tolerance:g})", part="tolerance", hint="give a relative error"
        )
    names, boxes, inside = _region(region)
    scheduled_by = names if by is None else tuple(by)
    if len(scheduled_by) != len(names):
        raise InputError(
            f"by= names {len(scheduled_by)} measurements for {len(names)} coordinates", part=f'law "{name}"',
            hint="name one for each coordinate",
        )  # fmt: skip
    for item in scheduled_by:
        ports.place(item)
    designed = _Designs(matrices_of, ports, names, equilibria)
    probes = scatter_points(boxes, PROBES, seed=7)
    probes = probes[inside(probes)]
    rows, rest = designed.rows(probes), None
    if equilibria is not None:
        rest = fitted_equilibrium(equilibria, region.fitted if isinstance(region, ReducedModel) else boxes, name)
    checks = scatter_points(boxes, CHECKS, seed=23)
    fitting = _Fitting(designed, rows, probes, (boxes, inside), checks[inside(checks)], loop)
    found = fitting.fit(tolerance, name, remedy)
    over = scheduled_by if any(row is not None and row.fitted is not None for row in (found.row, rest)) else ()
    law = AffineLaw(name, ports, designed.states, found.row, over, found.errors, found.remark, equilibrium=rest)
    if rest is None or loop is None:
        return law
    assert equilibria is not None
    return replace(law, standing=fitting.standing(rest, equilibria, scheduled_by))


class _Fit(NamedTuple):
    """Row of the matrices, errors and remark, as in an `AffineLaw`."""

    row: FittedRow
    errors: dict[str, float]
    remark: str = ""


class _Fitting:
    """Fit of the rows of designs over boxes.

    rows, probes : rows at a few points, which show what changes
    place        : the boxes, and a function that checks which points are in the region
    checks       : points (N, s) at which loops are compared
    loop         : function from σ to the plant of the law
    """

    def __init__(
        self,
        designed: _Designs,
        rows: Array,
        probes: Array,
        place: tuple[list[Box], Callable[[Array], NDArray[np.bool_]]],
        checks: Array,
        loop: LoopAt | None,
    ) -> None:
        self._designed, self._rows, self._probes, self._place = designed, rows, probes, place
        self._checks, self._loop_at = checks, loop
        self._n, self._ports = designed.states, designed.ports
        self._size = entry_sizes(np.abs(rows).max(axis=0), self._n, self._ports)
        self._known: dict[bytes, ClosedLoop] = {}

    def fit(self, tolerance: float, name: str, remedy: str) -> _Fit:
        """Return the row fitted to a tolerance."""
        change = np.ptp(self._rows, axis=0) / self._size
        if not (change > ROUNDING * tolerance * GUARD).any():
            return _Fit(FittedRow(self._rows[0].copy()), {})
        if not self._stable(name, remedy):
            varying = np.flatnonzero(change > ROUNDING * tolerance)
            return self._fit_entries(varying, tolerance) if len(varying) else _Fit(FittedRow(self._rows[0].copy()), {})
        varying = np.flatnonzero(change * self._sensitivity() > ROUNDING * tolerance)
        for finer in range(_FINER + 1):
            within = max(_FIT * tolerance * _STEP**-finer, _FINEST)
            fit = self._fit_loop(varying, within, tolerance)
            kept = all(rate <= _KEPT * own for rate, own in self._decays(fit.row) if own < 0.0)
            if kept and fit.errors[_LOOP] <= tolerance:
                return fit._replace(remark=f"fitted to {within:.0e} to preserve its loop" if finer else "")
        self._warn(fit, tolerance, name)
        return fit

    def standing(self, rest: FittedRow, equilibria: EquilibriaOf, names: tuple[str, ...]) -> dict[str, float]:
        """Return how far the machine rests from its goal by the error of the equilibrium, in each coordinate."""
        places, worst = [self._ports.place(name) for name in names], np.zeros(len(names))
        exact, fit = equilibria(self._checks).rows(), rest.at(self._checks)
        for point, off in zip(self._checks, fit - exact, strict=True):
            found = standing_error(self._closed(point), self._design(point), off)[places]
            worst = np.maximum(worst, np.abs(found))
        return dict(zip(names, worst.tolist(), strict=True))

    def _design(self, point: Array) -> AffineMatrices:
        return from_row(self._designed.rows(point[None])[0], self._n, self._ports)

    def _closed(self, point: Array) -> ClosedLoop:
        assert self._loop_at is not None
        key = point.tobytes()
        if key not in self._known:
            self._known[key] = ClosedLoop(self._loop_at(point), self._ports, self._n)
        return self._known[key]

    def _stable(self, name: str, remedy: str) -> bool:
        """Return whether the designed loops are known and stable; warn of one that is not."""
        if self._loop_at is None:
            return False
        found = [growth(self._closed(point), self._design(point)) for point in self._probes]
        fastest = int(np.argmax(found))
        if found[fastest] <= _GROWS:
            return True
        warnings.warn(
            f"{name}: the loop is unstable, with a pole at +{found[fastest]:.3g} 1/s at "
            f"{values_text(self._designed.names, self._probes[fastest])}; {remedy}", UnstableLoop,
            stacklevel=user_level(),
        )  # fmt: skip
        return False

    def _decays(self, row: FittedRow) -> list[tuple[float, float]]:
        """Return the growth of the fitted and of the designed loop at the points of probes and checks."""
        found = []
        for point in (*self._probes, *self._checks):
            loop = self._closed(point)
            fit = from_row(row.at(point), self._n, self._ports)
            found.append((growth(loop, fit), growth(loop, self._design(point))))
        return found

    def _warn(self, fit: _Fit, tolerance: float, name: str) -> None:
        decays = self._decays(fit.row)
        worst = int(np.argmax([rate - _KEPT * own for rate, own in decays]))
        rate, own = decays[worst]
        point = (*self._probes, *self._checks)[worst]
        text = f"changes by {fit.errors[_LOOP]:.2g}, above the tolerance of {tolerance:g}"
        if rate > _KEPT * own:
            text = (
                f"keeps less than half of its damping: {rate:.3g} 1/s instead of {own:.3g} 1/s at "
                f"{values_text(self._designed.names, point)}"
            )
        warnings.warn(
            f'law "{name}": with the fitted law its loop {text}; design slower gains, use a smaller region, or design '
            "the law at one configuration (at=)",
            UnstableLoop if rate > 0.0 else SuppleWarning, stacklevel=user_level(),
        )  # fmt: skip

    @cached_property
    def _measure(self) -> LoopMeasure:
        return LoopMeasure([self._closed(p) for p in self._probes], [self._design(p) for p in self._probes])

    def _fit_entries(self, varying: Integers, tolerance: float) -> _Fit:
        """Fit the entries that change, each matrix to the tolerance."""
        families = _families(varying, self._n, self._ports)

        def group_families(values: Array, _: Array) -> dict[str, Array]:
            return {key: values[:, columns] for key, columns in families.items()}

        target = _Target(varying, np.zeros(len(varying)), np.eye(len(varying)), _digits(1.0 / tolerance))
        found = self._adaptive(target, group_families, (1.0 - _TRUNCATED) * tolerance, dict.fromkeys(families, FLOOR))
        points = scatter_points(found.piecewise.leaves, _SHOWN, seed=29)
        whole = found.piecewise.evaluate(points)
        references, scale = {}, np.ones(len(varying))
        for key, columns in families.items():
            norms = np.linalg.norm(whole[:, columns], axis=1)
            references[key] = np.maximum(np.maximum(norms, np.median(norms)), FLOOR)
            scale[columns] = 1.0 / max(float(np.median(norms)), FLOOR)
        balanced = Piecewise(found.piecewise.arrays._replace(coefficients=found.piecewise.arrays.coefficients * scale))
        principal, half = PrincipalFunctions(balanced), np.diag(scale)

        def candidate(count: int) -> _Fit:
            row = self._compressed(principal, target._replace(half=half), count)
            lost = (row.at(points)[:, varying] / self._size[varying]) - whole
            errors = {
                key: float((np.linalg.norm(lost[:, columns], axis=1) / references[key]).max())
                for key, columns in families.items()
            }
            return _Fit(row, errors)

        fit = _fewest(candidate, len(principal.sizes), _TRUNCATED * tolerance)
        return fit._replace(errors={key: fit.errors[key] + item.worst for key, item in found.error.items()})

    def _fit_loop(self, varying: Integers, within: float, tolerance: float) -> _Fit:
        """Fit the entries that change to an error of the loop, with the fewest functions for the tolerance."""
        mean = self._rows.mean(axis=0)[varying] / self._size[varying]
        target = _Target(varying, mean, self._weights(varying), 0)
        norms = np.linalg.norm(self._weighted(self._rows, target), axis=1)
        largest = max(1.0, float(norms.max()))  # as a floor it makes the error of the fit absolute
        target = target._replace(digits=_digits(largest / tolerance))
        found = self._adaptive(target, lambda values, _: {_LOOP: values}, within / largest, {_LOOP: largest})
        principal = PrincipalFunctions(found.piecewise)
        points = (*self._probes, *self._checks)
        designs = [self._design(point) for point in points]

        def candidate(count: int) -> _Fit:
            row = self._compressed(principal, target, count)
            fits = (from_row(row.at(point), self._n, self._ports) for point in points)
            errors = (
                self._measure.error(self._closed(point), design, fit)
                for point, design, fit in zip(points, designs, fits, strict=True)
            )
            return _Fit(row, {_LOOP: max(errors)})

        return _fewest(candidate, len(principal.sizes), tolerance)

    def _sensitivity(self) -> Array:
        """Return the change of the loop by an error of each entry of the row that is as large as the entry."""
        places = loop_places(self._n, self._ports)
        found = np.ones(len(places))
        felt = np.flatnonzero(places >= 0)
        found[felt] = np.hypot(self._measure.sensitivities()[places[felt]] * self._size[felt], GUARD)
        return found

    def _weights(self, varying: Integers) -> Array:
        """Return half (v, v) with ‖half Δ‖² = Δᵀ (S + ρ²) Δ, for errors Δ of entries divided by their sizes."""
        places = loop_places(self._n, self._ports)[varying]
        felt = np.flatnonzero(places >= 0)
        whole = np.eye(len(varying))
        size = self._size[varying[felt]]
        S = self._measure.weights(places[felt]) * np.outer(size, size)
        whole[np.ix_(felt, felt)] = S + GUARD**2 * np.eye(len(felt))
        return np.asarray(np.linalg.cholesky(whole).T)

    def _weighted(self, rows: Array, target: _Target) -> Array:
        """Return the entries of rows that change, in the norm of the error."""
        return np.asarray((rows[:, target.varying] / self._size[target.varying] - target.mean) @ target.half.T)

    def _adaptive(
        self,
        target: _Target,
        group_families: Callable[[Array, Array], dict[str, Array]],
        tolerance: float,
        floors: dict[str, float],
    ) -> Approximation:
        boxes, inside = self._place

        def sampler(points: Array) -> Samples:
            valid = inside(points)
            values = np.full((len(points), len(target.varying)), np.nan)
            values[valid] = self._weighted(self._designed.rows(points[valid]), target)
            return Samples(values, None, group_families(values, values), valid)

        return adaptive(boxes, tolerance, sampler, group_families, largest_samples=MOST, floors=floors)

    def _compressed(self, principal: PrincipalFunctions, target: _Target, count: int) -> FittedRow:
        """Return the row with the first principal functions of the weighted entries."""
        fitted, factors = principal.functions(count, target.digits)
        size = self._size[target.varying]
        back = np.linalg.solve(target.half, np.column_stack([principal.center, factors]))
        template = self._rows[0].copy()
        template[target.varying] = size * (target.mean + back[:, 0])
        return FittedRow(
            template, target.varying, fitted, np.ascontiguousarray(rounded(size[:, None] * back[:, 1:], target.digits))
        )


class _Target(NamedTuple):
    """Entries that change, their mean over their sizes, the norm of their error (v, v), and the digits to keep."""

    varying: Integers
    mean: Array
    half: Array
    digits: int


def _digits(parts: float) -> int:
    """Return the decimal digits of factors and coefficients, for an error of one part in so many."""
    return int(np.ceil(np.log10(parts))) + _DIGITS


def _fewest(candidate: Callable[[int], _Fit], most: int, tolerance: float) -> _Fit:
    """Return the candidate with the fewest functions within the tolerance, or that with all functions if none is."""
    fewest, fit = 1, candidate(most)
    if max(fit.errors.values()) > tolerance:
        return fit
    while fewest < most:
        count = (fewest + most) // 2
        tried = candidate(count)
        if max(tried.errors.values()) <= tolerance:
            fit, most = tried, count
        else:
            fewest = count + 1
    return fit


def loop_places(n: int, ports: Ports) -> Integers:
    """Return the place of each entry of a row in [A B; C D], or -1."""
    m, a = ports.size, len(ports.outputs)
    whole = np.arange((n + a) * (n + m)).reshape(n + a, n + m)
    found = [np.full(shape, -1) for shape in shapes(n, ports)]
    found[0], found[1], found[3], found[4] = whole[:n, :n], whole[:n, n:], whole[n:, :n], whole[n:, n:]
    return np.concatenate([np.ravel(part) for part in found])


def _region(region: ReducedModel | Ranges) -> tuple[tuple[str, ...], list[Box], Callable[[Array], NDArray[np.bool_]]]:
    """Return names of σ, boxes, and a function that checks which points (N, s) are in the region."""
    if isinstance(region, ReducedModel):
        fitted = region.fitted
        boxes = list(boxes_of(fitted))
        names = region.layout.coordinates[: region.layout.theta]
        return names, boxes, lambda points: np.asarray(fitted.locate(points) != NOWHERE)
    if not region:
        raise InputError("no coordinates", part="region of the law", hint="give {coordinate: (lower, upper)}")
    for key, (low, high) in region.items():
        if not low < high:
            raise InputError(
                f'"{key}" has the lower bound {low:g} and the upper bound {high:g}',
                part="region of the law",
                hint="give a lower bound below the upper one",
            )
    lower, upper = zip(*region.values(), strict=True)
    return tuple(region), [Box(tuple(lower), tuple(upper))], lambda points: np.ones(len(points), dtype=bool)


class _Designs:
    """Rows of a design at many points; n is that of the first, and must not change."""

    def __init__(
        self,
        matrices_of: Callable[[Array], AffineMatrices],
        ports: Ports,
        names: tuple[str, ...],
        equilibria: EquilibriaOf | None,
    ) -> None:
        self._matrices_of, self.ports, self.names, self.states = matrices_of, ports, names, -1
        self._equilibria, self._known = equilibria, dict[bytes, Array]()

    def rows(self, points: Array) -> Array:
        """Return the rows (N, width); designs are cached, since finer fits need the same points again."""
        return np.array([self._row(point) for point in points])

    def _row(self, point: Array) -> Array:
        key = point.tobytes()
        if key not in self._known:
            self._known[key] = self._design_row(point)
        return self._known[key]

    def _design_row(self, point: Array) -> Array:
        where = values_text(self.names, point)
        found = self._matrices_of(point).check_shapes(self.ports, f" at {where}")
        if self.states not in (-1, found.states):
            raise InputError(
                f"the design has {found.states} states at {where}, but {self.states} elsewhere", part="law",
                hint="let all designs have the same states",
            )  # fmt: skip
        self.states = found.states
        if self._equilibria is not None:
            found = deviations(found, self._equilibria(point[None]).rows()[0], f" at {where}")
        return found.row()


def entry_sizes(largest: Array, n: int, ports: Ports) -> Array:
    """Return the size that each entry of a row of matrices is divided by; largest : |m_ij| over the points."""
    A, B, b, C, D, d, A0, a0 = from_row(largest, n, ports)
    sized = []
    for whole in (np.block([[A, B, b[:, None]], [C, D, d[:, None]]]), np.block([[A0, a0[:, None]]])):
        found = np.maximum(outer_sizes(whole), SMALL * whole.max(axis=1, initial=0.0)[:, None])
        sized.append(np.where(found > 0.0, found, 1.0))
    step, start = sized
    m = ports.size
    x, z, one = slice(0, n), slice(n, n + m), n + m
    parts = (step[x, x], step[x, z], step[x, one], step[n:, x], step[n:, z], step[n:, one], start[:, :m], start[:, m])
    return AffineMatrices(*parts).row()


def _families(varying: Integers, n: int, ports: Ports) -> dict[str, Integers]:
    """Return the fitted columns of each matrix that changes."""
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes(n, ports))])
    found = {}
    for key, first, stop in zip(AffineMatrices._fields, ends[:-1], ends[1:], strict=True):
        columns = np.flatnonzero((varying >= first) & (varying < stop))
        if len(columns):
            found[key] = columns
    return found
