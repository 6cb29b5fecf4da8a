"""Functions of time: piecewise polynomials, callables, and sampled trajectories.

    x(t) = Σ_k c_pk (t - t_p)^k,   t_p ≤ t < t_{p+1}

A piecewise polynomial is constant before its beginning and after its end.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import comb, factorial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.results.result import Result, brief, picture
from supple.results.signals import Signals, gather_signals, time_span_text
from supple.results.table import Table
from supple.results.text import list_names
from supple.results.units import UNKNOWN, Units
from supple.time_functions.polynomial_pieces import PolynomialPieces

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

DERIVATIVES = 4  # θ, θ̇, θ̈, θ⃛
INSTANTS = 1000  # default number of steps over a function
_SAME = 1e-12  # of the duration: closer breaks are merged
_DIFFERENCE = 1e-4  # s: step of the difference of θ̈ for θ⃛ of a callable


@dataclass(frozen=True, eq=False, repr=False)
class PiecewisePolynomial:
    """Named functions of time that are polynomials on common pieces.

        x(t) = Σ_k c_pk τ^k,   τ = t - t_p,   t_p ≤ t < t_{p+1}

    x is x(t_0) before t_0 and its final value from t_P on, with zero derivatives. Calling it with a time returns (θ,
    θ̇, θ̈), so that `simulate(motion=...)` accepts it.

    Parameters
    ----------
    coordinates : tuple of str
        Names (s) of coordinates, outputs or actuators.
    breaks : ndarray of shape (P + 1,)
        Rising times t_p, s.
    coefficients : ndarray of shape (P, d + 1, s)
        Coefficients of 1, τ, τ², ...; in rad or m, N or N m, over s^k.
    units : Units, optional
        Units of the coordinates. Default: unknown.
    final : ndarray of shape (s,), optional
        Values from t_P on. Default: the end of the last piece. Given values avoid its rounding.
    """

    coordinates: tuple[str, ...]
    breaks: Array
    coefficients: Array
    units: Units = UNKNOWN
    final: Array | None = None

    def __post_init__(self) -> None:
        P, s = len(self.breaks) - 1, len(self.coordinates)
        fits = self.coefficients.ndim == 3 and self.coefficients.shape[0] == P and self.coefficients.shape[2] == s
        if P < 1 or not fits or not (np.diff(self.breaks) > 0.0).all() or not np.isfinite(self.coefficients).all():
            raise InputError(
                f"{P} pieces with coefficients of the shape {self.coefficients.shape} for {s} coordinates",
                part="reference", hint="give P + 1 rising breaks and finite coefficients (P, d + 1, s)",
            )  # fmt: skip

    @classmethod
    def of_pieces(cls, names: tuple[str, ...], pieces: PPoly, units: Units = UNKNOWN) -> PiecewisePolynomial:
        """Return the polynomial of scipy's form, c (d + 1, P, s) with the highest power first."""
        return cls(names, np.asarray(pieces.x), np.ascontiguousarray(pieces.c[::-1].transpose(1, 0, 2)), units)

    @cached_property
    def pieces(self) -> PPoly:
        """The polynomial in scipy's form, c (d + 1, P, s) with the highest power first."""
        from scipy.interpolate import PPoly

        return PPoly(np.ascontiguousarray(self.coefficients[:, ::-1].transpose(1, 0, 2)), self.breaks)

    @property
    def arrays(self) -> PolynomialPieces:
        """The polynomial as arrays for kernels, without names; the outer pieces extend without end."""
        return PolynomialPieces(self.breaks, np.ascontiguousarray(self.coefficients))

    def __repr__(self) -> str:
        count = len(self.breaks) - 1
        pieces = "1 piece" if count == 1 else f"{count} pieces"
        return brief("Reference", f"of {list_names(self.coordinates)}, {self.duration:.4g} s, {pieces}")

    @property
    def begin(self) -> float:
        """Start of the motion, s."""
        return float(self.breaks[0])

    @property
    def end(self) -> float:
        """End of the motion, s."""
        return float(self.breaks[-1])

    @property
    def duration(self) -> float:
        """Time from the beginning to the end, s."""
        return self.end - self.begin

    def at(self, t: float) -> Array:
        """Return θ, θ̇, θ̈ and θ⃛ at a time, (4, s)."""
        p = bisect_right(self._times, t) - 1
        if p < 0 or t >= self._times[-1]:
            return self._ends[0 if p < 0 else 1]
        return np.dot((t - self._times[p]) ** self._powers, self._slopes[p]).reshape(DERIVATIVES, len(self.coordinates))

    def sample(self, times: ArrayLike, *, closed: bool = False) -> Array:
        """Return θ, θ̇, θ̈ and θ⃛ at times (N,): (N, 4, s).

        closed : use the derivatives of the last piece at the end itself, instead of zero
        """
        return np.ascontiguousarray(self._evaluate(times, DERIVATIVES, closed).transpose(1, 0, 2))

    def derivatives(self, times: ArrayLike, *, closed: bool = False) -> Array:
        """Return θ, θ̇ and θ̈ at times (N,): (3, N, s); `closed` as in `sampled`."""
        return self._evaluate(times, 3, closed)

    def _evaluate(self, times: ArrayLike, count: int, closed: bool) -> Array:
        """Return the values and the first derivatives, (count, N, s)."""
        t, (first, last) = np.asarray(times, dtype=float), (self._times[0], self._times[-1])
        inside = np.clip(t, first, last)
        found = np.stack([self.pieces(inside, order) for order in range(count)])
        after = t >= last
        found[:, t < first], found[0, after] = self._ends[0][:count, None], self._ends[1][0]
        found[1:, t > last if closed else after] = 0.0
        return found

    def ahead(self, time: float) -> PiecewisePolynomial:
        """Return the function advanced by a time, θ_d(t + time), for loops with a delay."""
        return replace(self, breaks=self.breaks - time)

    def delay(self, time: float) -> PiecewisePolynomial:
        """Return the function delayed by a time, θ_d(t - time)."""
        return self.ahead(-time)

    def stretch(self, duration: float) -> PiecewisePolynomial:
        """Return the function with another duration.

        Rates scale by the ratio, accelerations by its square, jerks by its cube.
        """
        pace = self.duration / duration
        breaks, kept = trim_breaks(self.begin + (self.breaks - self.begin) / pace, self.begin + duration)
        return replace(self, breaks=breaks, coefficients=(self.coefficients * (pace**self._powers)[:, None])[kept])

    def on(self, breaks: Array) -> Array:
        """Return the coefficients on other pieces, which contain no breaks of their own.

        With e = b - t_p:  Σ_k c_k (t - t_p)^k = Σ_j (t - b)^j Σ_{k≥j} c_k (k over j) e^{k-j}
        """
        middle = 0.5 * (breaks[:-1] + breaks[1:])
        piece = np.searchsorted(self.breaks, middle, side="right") - 1
        inside = np.clip(piece, 0, len(self.breaks) - 2)
        given, e = self.coefficients[inside], breaks[:-1] - self.breaks[inside]
        k, j = np.arange(given.shape[1]), np.arange(given.shape[1])[:, None]
        binomials = np.array([[comb(n, m) for n in k] for m in k], dtype=float)  # zero below the diagonal
        shifted = (binomials * e[:, None, None] ** np.maximum(k - j, 0)) @ given
        for outside, end in zip((piece < 0, piece > inside), self._ends, strict=True):
            shifted[outside], shifted[outside, 0] = 0.0, end[0]
        return np.asarray(shifted)

    def trajectory(self, times: ArrayLike | None = None) -> Trajectory:
        """Return the function at given times; by default at a thousand steps from its beginning to its end."""
        t = np.linspace(self.begin, self.end, INSTANTS + 1) if times is None else np.asarray(times, dtype=float)
        return Trajectory.of_derivatives(self.coordinates, t, self.derivatives(t), self.units)

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        theta, rates, accelerations, _ = self.at(t)
        return theta, rates, accelerations

    @cached_property
    def _times(self) -> list[float]:
        return [float(t) for t in self.breaks]

    @cached_property
    def _powers(self) -> Array:
        return np.arange(self.coefficients.shape[1], dtype=float)

    @cached_property
    def _slopes(self) -> Array:
        """Coefficients (P, d + 1, 4 s) of the values and of the derivatives."""
        P, count, s = self.coefficients.shape
        found = np.zeros((P, count, DERIVATIVES, s))
        for order in range(min(DERIVATIVES, count)):
            for k in range(order, count):
                found[:, k - order, order] = self.coefficients[:, k] * (factorial(k) // factorial(k - order))
        return np.ascontiguousarray(found.reshape(P, count, DERIVATIVES * s))

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """Values and derivatives (4, s) before the beginning and after the end."""
        ends = np.zeros((2, DERIVATIVES, len(self.coordinates)))
        ends[0, 0], ends[1, 0] = self.coefficients[0, 0], self.final
        if self.final is None:
            ends[1, 0] = (self.breaks[-1] - self.breaks[-2]) ** self._powers @ self.coefficients[-1]
        ends.setflags(write=False)
        return ends[0], ends[1]


def linear_between(
    names: tuple[str, ...], breaks: Array, values: Array, begin: float, end: float
) -> PiecewisePolynomial:
    """Return values (B, s) that are linear between breaks (B,) and constant outside, at least from `begin` to `end`."""
    if breaks[0] > begin:
        breaks, values = np.append(begin, breaks), np.vstack([values[:1], values])
    if breaks[-1] < end:
        breaks, values = np.append(breaks, end), np.vstack([values, values[-1:]])
    slopes = np.diff(values, axis=0) / np.diff(breaks)[:, None]
    return PiecewisePolynomial(names, breaks, np.stack([values[:-1], slopes], axis=1))


def trim_breaks(breaks: Array, end: float) -> tuple[Array, NDArray[np.bool_]]:
    """Return breaks that end exactly at `end`, without pieces that are rounding, and which pieces are kept."""
    kept = np.diff(breaks) > 0.0
    found = breaks[np.append(True, kept)]
    found[-1] = end
    return found, kept


def common_breaks(each: Sequence[Array]) -> Array:
    """Return all breaks in order; those that differ only by rounding are merged."""
    breaks = np.unique(np.concatenate(list(each)))
    apart = np.concatenate([[True], np.diff(breaks) > _SAME * max(abs(breaks[0]), abs(breaks[-1]), np.ptp(breaks))])
    kept = breaks[apart]
    kept[-1] = breaks[-1]
    return np.asarray(kept)


def side_by_side(parts: Sequence[PiecewisePolynomial]) -> PiecewisePolynomial:
    """Return several piecewise polynomials as one, on the breaks of all of them."""
    breaks, names = common_breaks([part.breaks for part in parts]), sum((part.coordinates for part in parts), ())
    count, column = max(part.coefficients.shape[1] for part in parts), 0
    found, final = np.zeros((len(breaks) - 1, count, len(names))), [part.at(np.inf)[0] for part in parts]
    for part in parts:
        s = len(part.coordinates)
        found[:, : part.coefficients.shape[1], column : column + s] = part.on(breaks)
        column += s
    return PiecewisePolynomial(names, breaks, found, final=np.concatenate(final))


@dataclass(frozen=True, eq=False, repr=False)
class CalledFunction:
    """Function of time without pieces: a callable of the user, or inverse kinematics along a path.

    called     : times (N,) -> (N, 3, s) θ, θ̇, θ̈, or (N, 4, s) with θ⃛; otherwise θ⃛ is the difference of θ̈ over 0.1
    ms
    begin, end : s, if known
    """

    coordinates: tuple[str, ...]
    called: Callable[[Array], Array]
    units: Units = UNKNOWN
    begin: float = -np.inf
    end: float = np.inf

    def __repr__(self) -> str:
        return brief("CalledReference", f"of {list_names(self.coordinates)}, without end")

    @property
    def duration(self) -> float:
        """Time from the beginning to the end, s."""
        return self.end - self.begin

    def at(self, t: float) -> Array:
        """Return θ, θ̇, θ̈ and θ⃛ at a time, (4, s)."""
        return np.asarray(self.sample([t])[0])

    def derivatives(self, times: ArrayLike, *, closed: bool = False) -> Array:
        """Return θ, θ̇ and θ̈ at times (N,): (3, N, s); `closed` has no effect on a callable."""
        return np.ascontiguousarray(self.called(np.asarray(times, dtype=float))[:, :3].transpose(1, 0, 2))

    def sample(self, times: ArrayLike) -> Array:
        """Return θ, θ̇, θ̈ and θ⃛ at times (N,): (N, 4, s)."""
        t = np.asarray(times, dtype=float)
        found = self.called(t)
        if found.shape[1] >= DERIVATIVES:
            return found
        before, after = (self.called(t + d * _DIFFERENCE)[:, 2] for d in (-0.5, 0.5))
        return np.concatenate([found, ((after - before) / _DIFFERENCE)[:, None]], axis=1)

    def ahead(self, time: float) -> CalledFunction:
        """Return the function advanced by a time, θ_d(t + time)."""
        called = self.called
        return replace(self, called=lambda t: called(t + time), begin=self.begin - time, end=self.end - time)

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        theta, rates, accelerations, *_ = self.called(np.array([t]))[0]
        return theta, rates, accelerations


FunctionOfTime = PiecewisePolynomial | CalledFunction


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Result):
    """Coordinates, rates and accelerations sampled over time.

    Attributes
    ----------
    coordinates : tuple of str
        Names of the coordinates.
    time : ndarray of shape (N,)
        Times, s.
    theta : ndarray of shape (N, s)
        Coordinates, rad or m.
    rates : ndarray of shape (N, s)
        Rates, per second.
    accelerations : ndarray of shape (N, s)
        Accelerations, per second squared.
    units : Units
        Units of the coordinates.
    """

    coordinates: tuple[str, ...]
    time: Array
    theta: Array
    rates: Array
    accelerations: Array
    units: Units = UNKNOWN

    @classmethod
    def of_derivatives(cls, coordinates: tuple[str, ...], time: Array, found: Array, units: Units) -> Trajectory:
        """Return the trajectory of θ, θ̇, θ̈ in one array (3, N, s), as returned by `derivatives` of a function."""
        theta, rates, accelerations = found
        return cls(coordinates, time, theta, rates, accelerations, units)

    @property
    def parts(self) -> tuple[Array, Array, Array]:
        """Arrays θ, θ̇ and θ̈, (N, s) each."""
        return self.theta, self.rates, self.accelerations

    @cached_property
    def function(self) -> PiecewisePolynomial:
        """Quintics through the samples with their rates and accelerations; constant for one sample.

        With τ = (t - tᵢ)/h, and e, e', e'' the differences of θ, hθ̇, h²θ̈ at tᵢ₊₁ from θᵢ + hθ̇ᵢτ + ½h²θ̈ᵢτ² there:
        θ = that + (10e - 4e' + ½e'')τ³ + (-15e + 7e' - e'')τ⁴ + (6e - 3e' + ½e'')τ⁵
        """
        if len(self.time) < 2:
            breaks = self.time[0] + np.array([0.0, 1.0])
            return PiecewisePolynomial(self.coordinates, breaks, self.theta[:1, None], self.units)
        h = np.diff(self.time)[:, None]
        theta, rate, second = self.theta, h * self.rates[:-1], h * h * self.accelerations[:-1]
        by = np.diff(theta, axis=0) - rate - 0.5 * second
        by_rate, by_second = h * self.rates[1:] - rate - second, h * h * self.accelerations[1:] - second
        powers = (
            theta[:-1], rate, 0.5 * second, 10.0 * by - 4.0 * by_rate + 0.5 * by_second,
            -15.0 * by + 7.0 * by_rate - by_second, 6.0 * by - 3.0 * by_rate + 0.5 * by_second,
        )  # fmt: skip
        quintics = np.stack([part / h**k for k, part in enumerate(powers)], axis=1)
        return PiecewisePolynomial(self.coordinates, np.ascontiguousarray(self.time, float), quintics, self.units)

    def summary(self) -> str:
        return f"of {list_names(self.coordinates)}, {time_span_text(self.time)}"

    def table(self) -> Table:
        """Return a table of coordinates, `NAME.rate` and `NAME.acceleration` over time."""
        value, rate, acceleration = self.signals()
        return gather_signals(self.time, value, rate=rate, acceleration=acceleration)

    def signals(self) -> tuple[Signals, Signals, Signals]:
        """Return θ, θ̇ and θ̈ by name."""
        kinds = (self.units.coordinates, self.units.rates, self.units.accelerations)
        columns = [dict(zip(self.coordinates, part.T, strict=True)) for part in self.parts]
        first, second, third = (Signals(self.time, x, dict(units)) for x, units in zip(columns, kinds, strict=True))
        return first, second, third

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw value, rate and acceleration of all or some coordinates over time (matplotlib); return the panels."""
        chosen = [
            Signals(item.time, {name: item[name] for name in names or item}, item.units) for item in self.signals()
        ]
        return picture("view.time_plot.time_plot")(
            dict(zip(("value", "rate", "acceleration"), chosen, strict=True)), (), axes
        )
