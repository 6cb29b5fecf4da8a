"""Control laws over a region: matrices as functions of σ, fitted on the box tree like coefficients of reduced models.

The fit must not depend on units. Every entry of a matrix is therefore divided by a size of its row times one of its
column, r_i c_j >= |m_ij| over a few points of the region, before errors are measured. The error of a matrix is then ‖f
- f̂‖ over the larger of ‖f‖ and its median over the region. An entry that is only rounding, or the error of the model
of the design, then counts as little as it does in the law. Constant entries are not fitted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.approximation import scatter_points
from supple.approximation.evaluated import Samples
from supple.approximation.piecewise.packing import NOWHERE
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.refinement import adaptive
from supple.array_types import Array, Integers
from supple.compilation.threads import single_blas_thread
from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.affine_matrices import AffineMatrices, Ports, from_row, shapes
from supple.control.laws.law_equilibrium import EquilibriaOf, boxes_of, deviations, fitted_equilibrium, scaled_fit
from supple.diagnostics import InputError, SuppleWarning, UnstableLoop, user_level
from supple.diagnostics.errors import values_text
from supple.reduced.model import ReducedModel

Ranges = Mapping[str, tuple[float, float]]

_FINEST = 1e-12  # relative error of a law that rounding still allows
PROBES = 12  # points that show which entries change
ROUNDING = 1e-3  # of the tolerance, times the size of an entry: one that changes less is constant
SMALL = 1e-7  # of the largest entry of a row: lower limit of the size of an entry
FLOOR = 0.1  # norm of a matrix so divided: lower limit of the reference of its error
MOST = 5_000  # designs
_FINER = 3  # times that a fit is repeated with a tenth of the tolerance if it reduces the damping of the loop
_GROWS = 1e-4  # 1/s: slower growth is rounding
_KEPT = 0.5  # part of the decay of the designed loop that the fitted one must keep

Growth = Callable[[Array, AffineMatrices], float]
"""Function from σ (s,) and the matrices of a law there to the largest real part of the poles of its loop, 1/s."""


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
    growth: Growth | None = None,
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
        Relative error of the matrices. Default: 1e-3.
    name : str, optional
        Name of the law. Default: "law".
    by : sequence of str, optional
        Names under which σ is measured, among `ports.measured`. Default: those of the coordinates.
    equilibria : callable, optional
        Function from points (N, s) to the `Equilibria` that the designs keep there. Default: none.

        The law then keeps them to rounding, whatever the tolerance. Without it, b, d and a₀ are fitted like the other
        matrices, and the law rests off its goal by the error of the fit.
    growth : callable, optional
        Function from σ and matrices to the largest real part of the poles of their loop, 1/s. Default: the loop is not
        checked.

        Where the fitted law keeps less than half of the decay of its design, the fit is repeated with a tenth of the
        tolerance, up to three times, and the summary reports it.
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
        If the loop with the fitted law keeps less than half of the damping of its design.

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

    def fit_law(error: float) -> AffineLaw:
        fit = _fit_rows(designed, rows, (boxes, inside), error)
        changes = fit.fitted is not None or (rest is not None and rest.fitted is not None)
        over = scheduled_by if changes else ()
        return AffineLaw(
            name, ports, designed.states, fit.template, fit.varying, fit.fitted, over, fit.errors, equilibrium=rest
        )

    if growth is None:
        return fit_law(tolerance)
    decays = [growth(point, from_row(row, designed.states, ports)) for point, row in zip(probes, rows, strict=True)]
    if (fastest := int(np.argmax(decays))) >= 0 and decays[fastest] > _GROWS:
        warnings.warn(
            f"{name}: the loop is unstable, with a pole at +{decays[fastest]:.3g} 1/s at "
            f"{values_text(names, probes[fastest])}; {remedy}", UnstableLoop, stacklevel=user_level(),
        )  # fmt: skip
    for finer in range(_FINER + 1):
        law = fit_law(max(tolerance * 10.0**-finer, _FINEST))
        fit_decays = [growth(point, law.at(point)) for point in probes]
        kept = all(rate <= _KEPT * own for rate, own in zip(fit_decays, decays, strict=True) if own < 0.0)
        if kept or law.fitted is None:
            remark = f"fitted to {tolerance * 10.0**-finer:.0e} to preserve the damping of its loop" if finer else ""
            return replace(law, remark=remark)
    worst = int(np.argmax(fit_decays))
    warnings.warn(
        f'law "{name}": fitted to {tolerance * 10.0**-_FINER:.0e}, its loop keeps less than half of its damping: '
        f"{fit_decays[worst]:.3g} 1/s instead of {decays[worst]:.3g} 1/s at {values_text(names, probes[worst])}; "
        "design slower gains, use a smaller region, or design the law at one configuration (at=)",
        UnstableLoop if fit_decays[worst] > 0.0 else SuppleWarning, stacklevel=user_level(),
    )  # fmt: skip
    return law


class _Fit(NamedTuple):
    """Template, varying positions, fitted function and errors, as in an `AffineLaw`."""

    template: Array
    varying: Integers
    fitted: Piecewise | None
    errors: dict[str, float]


def _fit_rows(
    designed: _Designs, rows: Array, place: tuple[list[Box], Callable[[Array], NDArray[np.bool_]]], tolerance: float
) -> _Fit:
    """Fit the rows of designs over boxes; rows : those of a few points, which show what changes."""
    (boxes, inside), n, ports = place, designed.states, designed.ports
    size = _sizes(np.abs(rows).max(axis=0), n, ports)
    varying = np.flatnonzero(np.ptp(rows, axis=0) > ROUNDING * tolerance * size)
    template = rows[0].copy()
    if not len(varying):
        return _Fit(template, varying, None, {})
    template[varying] = 0.0
    families = _families(varying, n, ports)

    def sampler(points: Array) -> Samples:
        valid = inside(points)
        values = np.full((len(points), len(varying)), np.nan)
        values[valid] = designed.rows(points[valid])[:, varying] / size[varying]
        return Samples(values, None, group_families(values, values), valid)

    def group_families(values: Array, _: Array) -> dict[str, Array]:
        return {key: values[:, columns] for key, columns in families.items()}

    floors = dict.fromkeys(families, FLOOR)
    found = adaptive(boxes, tolerance, sampler, group_families, largest_samples=MOST, floors=floors)
    fitted = scaled_fit(found.piecewise, size[varying])
    return _Fit(template, varying, fitted, {key: item.worst for key, item in found.error.items()})


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
        self._matrices_of, self.ports, self._names, self.states = matrices_of, ports, names, -1
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
        where = values_text(self._names, point)
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


def _sizes(largest: Array, n: int, ports: Ports) -> Array:
    """Return the size that each entry of a row of matrices is divided by; largest : |m_ij| over the points."""
    A, B, b, C, D, d, A0, a0 = from_row(largest, n, ports)
    sized = []
    for whole in (np.block([[A, B, b[:, None]], [C, D, d[:, None]]]), np.block([[A0, a0[:, None]]])):
        found = np.maximum(_outer(whole), SMALL * whole.max(axis=1, initial=0.0)[:, None])
        sized.append(np.where(found > 0.0, found, 1.0))
    step, start = sized
    m = ports.size
    x, z, one = slice(0, n), slice(n, n + m), n + m
    parts = (step[x, x], step[x, z], step[x, one], step[n:, x], step[n:, z], step[n:, one], start[:, :m], start[:, m])
    return AffineMatrices(*parts).row()


def _outer(whole: Array) -> Array:
    """Return r_i c_j >= m_ij, nearly as small as possible after a few iterations."""
    columns = np.ones(whole.shape[1])
    rows = np.ones(whole.shape[0])
    for _ in range(6):
        rows = (whole / columns).max(axis=1, initial=0.0)
        rows[rows == 0.0] = 1.0
        columns = (whole / rows[:, None]).max(axis=0, initial=0.0)
        columns[columns == 0.0] = 1.0
    return np.outer(rows, columns)


def _families(varying: Integers, n: int, ports: Ports) -> dict[str, Integers]:
    """Return the fitted columns of each matrix that changes."""
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes(n, ports))])
    found = {}
    for key, first, stop in zip(AffineMatrices._fields, ends[:-1], ends[1:], strict=True):
        columns = np.flatnonzero((varying >= first) & (varying < stop))
        if len(columns):
            found[key] = columns
    return found
