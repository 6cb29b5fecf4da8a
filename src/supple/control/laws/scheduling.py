"""Laws over a region: matrices at σ fitted on the box tree, as any coefficient of a reduced model is.

Units must not decide what is fitted well: every number of a matrix is divided by a size of its row times one of its
column, r_i c_j >= |m_ij| over a few points of the region, before errors are measured; the error of a matrix is then
‖f - f̂‖ over the larger of ‖f‖ and its median over the region. So a number that is nothing but rounding, or the error of
the model it was designed on, counts as little as it does in the law. What does not change is not fitted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.approximation import scattered_in
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
PROBES = 12  # points that tell what changes
ROUNDING = 1e-3  # of the tolerance, times the size of a number: changes below it are none
SMALL = 1e-7  # of the largest number of a row: less is never asked of a number
FLOOR = 0.1  # norm of a matrix so divided: smaller ones are judged against it
MOST = 5_000  # designs
_FINER = 3  # times that a fit is made ten times closer, where it takes damping from the loop
_GROWS = 1e-4  # 1/s: what grows less is rounding
_KEPT = 0.5  # of the decay of the loop that was designed: what a fit leaves of it at least

Growth = Callable[[Array, AffineMatrices], float]
"""σ (s,) and the matrices of a law there -> the largest real part of the poles of its loop, 1/s."""


@single_blas_thread()
def scheduled(
    matrices_of: Callable[[Array], AffineMatrices],
    region: ReducedModel | Ranges,
    ports: Ports,
    *,
    tolerance: float = 1e-3,
    name: str = "law",
    by: Sequence[str] | None = None,
    equilibria: EquilibriaOf | None = None,
    growth: Growth | None = None,
    remedy: str = "ask for slower gains",
) -> AffineLaw:
    """The law whose matrices are `matrices_of(σ)`, fitted over a region to a tolerance.

    matrices_of : a design at σ (s,); it must be a smooth function of it
    region      : of a reduced model, or {coordinate: (lower, upper)} in the order of σ
    by          : names under which σ is measured, among `ports.measured`; those of the coordinates if left out
    equilibria  : points (N, s) -> the `Equilibria` that the designs there keep. The law then keeps them to rounding,
                  whatever the tolerance; left out, b, d and a₀ are fitted like the rest, and the law stands off its
                  goal by what the fit leaves
    growth      : (σ, matrices) -> the largest real part of the poles of their loop at σ, 1/s. Where the fitted law
                  keeps less than half of the decay of its design, it is fitted ten times closer, up to three times, and
                  says so. A design that is unstable itself is warned of
    remedy      : what to do about one that is
    """
    if not _FINEST <= tolerance < 1.0:
        raise InputError(
            f"{tolerance:g} is no relative error", part="tolerance", hint=f"give one between {_FINEST:g} and 1"
        )
    names, boxes, inside = _region(region)
    scheduled_by = names if by is None else tuple(by)
    if len(scheduled_by) != len(names):
        raise InputError(
            f"{len(scheduled_by)} measured values stand for {len(names)} coordinates", part=f'law "{name}"',
            hint="name one for each",
        )  # fmt: skip
    for item in scheduled_by:
        ports.place(item)
    designed = _Designs(matrices_of, ports, names, equilibria)
    probes = scattered_in(boxes, PROBES, seed=7)
    probes = probes[inside(probes)]
    rows, rest = designed.rows(probes), None
    if equilibria is not None:
        rest = fitted_equilibrium(equilibria, region.fitted if isinstance(region, ReducedModel) else boxes, name)

    def fitted_to(error: float) -> AffineLaw:
        fit = _fitted(designed, rows, (boxes, inside), error)
        changes = fit.fitted is not None or (rest is not None and rest.fitted is not None)
        over = scheduled_by if changes else ()
        return AffineLaw(
            name, ports, designed.states, fit.template, fit.varying, fit.fitted, over, fit.errors, equilibrium=rest
        )

    if growth is None:
        return fitted_to(tolerance)
    decays = [growth(point, from_row(row, designed.states, ports)) for point, row in zip(probes, rows, strict=True)]
    if (unsteady := int(np.argmax(decays))) >= 0 and decays[unsteady] > _GROWS:
        warnings.warn(
            f"{name}: the loop is unstable, with a pole that grows by {decays[unsteady]:.3g} 1/s at "
            f"{values_text(names, probes[unsteady])}; {remedy}", UnstableLoop, stacklevel=user_level(),
        )  # fmt: skip
    for finer in range(_FINER + 1):
        law = fitted_to(max(tolerance * 10.0**-finer, _FINEST))
        lost = [growth(point, law.at(point)) for point in probes]
        kept = all(rate <= _KEPT * own for rate, own in zip(lost, decays, strict=True) if own < 0.0)
        if kept or law.fitted is None:
            said = f"fitted to {tolerance * 10.0**-finer:.0e}, so that its loop keeps its damping" if finer else ""
            return replace(law, said=said)
    worst = int(np.argmax(lost))
    warnings.warn(
        f'law "{name}": fitted to {tolerance * 10.0**-_FINER:.0e} its loop still loses more than half of its damping: '
        f"{lost[worst]:.3g} 1/s in place of {decays[worst]:.3g} 1/s at {values_text(names, probes[worst])}. Ask for "
        "slower gains, take a smaller region, or make the law at one configuration (at=)",
        UnstableLoop if lost[worst] > 0.0 else SuppleWarning, stacklevel=user_level(),
    )  # fmt: skip
    return law


class _Fit(NamedTuple):
    """As of an `AffineLaw`."""

    template: Array
    varying: Integers
    fitted: Piecewise | None
    errors: dict[str, float]


def _fitted(
    designed: _Designs, rows: Array, place: tuple[list[Box], Callable[[Array], NDArray[np.bool_]]], tolerance: float
) -> _Fit:
    """The rows of designs over boxes; rows : those of a few points that tell what changes."""
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
        return Samples(values, None, derived(values, values), valid)

    def derived(values: Array, _: Array) -> dict[str, Array]:
        return {key: values[:, columns] for key, columns in families.items()}

    floors = dict.fromkeys(families, FLOOR)
    found = adaptive(boxes, tolerance, sampler, derived, largest_samples=MOST, floors=floors)
    fitted = scaled_fit(found.piecewise, size[varying])
    return _Fit(template, varying, fitted, {key: item.worst for key, item in found.error.items()})


def _region(region: ReducedModel | Ranges) -> tuple[tuple[str, ...], list[Box], Callable[[Array], NDArray[np.bool_]]]:
    """Names of σ, boxes, and whether points (N, s) are ones where a design can be asked for."""
    if isinstance(region, ReducedModel):
        fitted = region.fitted
        boxes = list(boxes_of(fitted))
        names = region.layout.coordinates[: region.layout.theta]
        return names, boxes, lambda points: np.asarray(fitted.locate(points) != NOWHERE)
    if not region:
        raise InputError("it has no coordinates", part="region of the law", hint="give {coordinate: (lower, upper)}")
    for key, (low, high) in region.items():
        if not low < high:
            raise InputError(
                f'"{key}" goes from {low:g} to {high:g}', part="region of the law", hint="give a lower bound below"
            )
    lower, upper = zip(*region.values(), strict=True)
    return tuple(region), [Box(tuple(lower), tuple(upper))], lambda points: np.ones(len(points), dtype=bool)


class _Designs:
    """Rows of a design at many points; n is that of the first, and must stay."""

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
        """(N, width). Closer fits ask for the same points again."""
        return np.array([self._row(point) for point in points])

    def _row(self, point: Array) -> Array:
        key = point.tobytes()
        if key not in self._known:
            self._known[key] = self._designed(point)
        return self._known[key]

    def _designed(self, point: Array) -> Array:
        where = values_text(self._names, point)
        found = self._matrices_of(point).checked(self.ports, f" at {where}")
        if self.states not in (-1, found.states):
            raise InputError(
                f"it has {found.states} states at {where}, and {self.states} elsewhere", part="law",
                hint="a law over a region keeps its states",
            )  # fmt: skip
        self.states = found.states
        if self._equilibria is not None:
            found = deviations(found, self._equilibria(point[None]).rows()[0], f" at {where}")
        return found.row()


def _sizes(largest: Array, n: int, ports: Ports) -> Array:
    """By what each number of a row of matrices is divided; largest : |m_ij| over the points."""
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
    """r_i c_j >= m_ij, as close as a few turns bring them."""
    columns = np.ones(whole.shape[1])
    rows = np.ones(whole.shape[0])
    for _ in range(6):
        rows = (whole / columns).max(axis=1, initial=0.0)
        rows[rows == 0.0] = 1.0
        columns = (whole / rows[:, None]).max(axis=0, initial=0.0)
        columns[columns == 0.0] = 1.0
    return np.outer(rows, columns)


def _families(varying: Integers, n: int, ports: Ports) -> dict[str, Integers]:
    """Fitted columns of each matrix that changes."""
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes(n, ports))])
    found = {}
    for key, first, stop in zip(AffineMatrices._fields, ends[:-1], ends[1:], strict=True):
        columns = np.flatnonzero((varying >= first) & (varying < stop))
        if len(columns):
            found[key] = columns
    return found
