"""Table of a motion: polynomial pieces with few numbers, and its evaluation as the exported C code does it.

A piece of length h that begins at t_p holds polynomials in its own time,

    x(t) = Σ_k c_k u^k,   u = 2 (t - t_p) / h - 1,   -1 ≤ u ≤ 1

A time is a number of samples and a remainder, t = n T + r, and so is t_p: the difference needs few digits, however long
the motion is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.chebyshev import chebpts1, chebvander
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from supple.array_types import Array, Integers
from supple.diagnostics import InputError
from supple.export.c.source_text import BYTES
from supple.results.units import UNKNOWN, Units
from supple.time_functions.function_of_time import DERIVATIVES, CalledFunction, PiecewisePolynomial, Trajectory

TOLERANCE = {"double": 1e-9, "single": 1e-7}  # default largest error of a value, of the range of its coordinate
LOOSER = (1.0, 1e2, 1e4, 1e6)  # tolerance of a value and of its derivatives, in tolerances
LARGEST = (1.0, 1e-5, 1e-4, 1e-3)  # tolerances of derivatives for any tolerance below these
SNAP = {"double": 1e-6, "single": 1e-4}  # samples before a break that count as the break itself
FARTHEST = 2**29  # samples from 0 to any break
_DEGREES = (5, 7, 9, 11, 13)  # of merged pieces
_CHECKS = 8  # instants of a given piece at which a merged one is compared with it
_STEP = 1e-3  # s: longest piece of a function without pieces
_SPLINE = 5  # degree of a spline through samples
_STILL = 1e-6  # of a range over the duration: derivative of a coordinate that hardly changes
_ROUNDING = 64.0 * np.finfo(float).eps  # of a value: error of the given pieces


@dataclass(frozen=True, eq=False)
class MotionTable:
    """Motion as the exported code holds it; `at` evaluates it in the same order of operations.

    sample_time  : T, s
    samples      : (P + 1,) whole samples from 0 to the beginnings of the pieces, and to the end of the last one
    remainders   : (P + 1,) s from there on
    scale        : (P,) 2/h, 1/s
    coefficients : (P, d + 1, s) of 1, u, u², ...
    first, last  : (s,) values before and after the motion
    error        : (4,) largest errors of θ, θ̇, θ̈, θ⃛ against the given motion: of the range of θ, and of the
                   largest values of its derivatives, or of what rounding makes of those that are zero
    given        : bytes of the given pieces in the same form, and their number
    """

    coordinates: tuple[str, ...]
    sample_time: float
    samples: Integers
    remainders: Array
    scale: Array
    coefficients: Array
    first: Array
    last: Array
    error: Array
    given: tuple[int, int] = (0, 0)
    precision: str = "double"
    units: Units = UNKNOWN

    @property
    def pieces(self) -> int:
        """Number of pieces."""
        return len(self.scale)

    @property
    def degree(self) -> int:
        """Degree of the polynomials."""
        return self.coefficients.shape[1] - 1

    @property
    def begin(self) -> float:
        """Start of the motion, s."""
        return float(self.samples[0] * self.sample_time + self.remainders[0])

    @property
    def end(self) -> float:
        """End of the motion, s."""
        return float(self.samples[-1] * self.sample_time + self.remainders[-1])

    @property
    def searches(self) -> int:
        """Number of comparisons that find a piece."""
        return int(np.ceil(np.log2(self.pieces)))

    @property
    def bytes(self) -> int:
        """Bytes of the constant tables."""
        return _table_bytes(self.pieces, self.degree, len(self.coordinates), self.precision)

    @property
    def operations(self) -> int:
        """Largest number of operations of one evaluation."""
        s, terms = len(self.coordinates), self.degree
        return 4 * (self.searches + 2) + 5 + s * (8 * terms + 8)

    def at(self, t: float) -> Array:
        """Return θ, θ̇, θ̈ and θ⃛ at a time, (4, s)."""
        return np.asarray(self.sample(np.array([t]))[0])

    def sample(self, times: Array) -> Array:
        """Return θ, θ̇, θ̈ and θ⃛ at times (N,): (N, 4, s)."""
        t = np.clip(times, self.begin - self.sample_time, self.end + self.sample_time)
        n = np.floor(t / self.sample_time + 0.5)
        return self.at_samples(n.astype(np.int64), t - n * self.sample_time)

    def at_samples(self, samples: Integers, remainders: Array) -> Array:
        """Return θ, θ̇, θ̈ and θ⃛ at times n T + r (N,): (N, 4, s), computed with the numbers of the exported code."""
        real: Any = np.float64 if self.precision == "double" else np.float32
        T, snap = real(self.sample_time), real(SNAP[self.precision] * self.sample_time)
        offsets, r = self.remainders.astype(real), np.asarray(remainders).astype(real)
        since = (samples[:, None] - self.samples).astype(real) * T + (r[:, None] - offsets)  # (N, P + 1)
        p = (since >= -snap).sum(axis=1) - 1
        inside = np.clip(p, 0, self.pieces - 1)
        c, rate = self.coefficients.astype(real)[inside], self.scale.astype(real)[inside][:, None]
        u = since[np.arange(len(p)), inside][:, None] * rate - real(1.0)
        x = c[:, -1]
        rows = [np.zeros_like(x) for _ in range(DERIVATIVES - 1)]
        for k in range(self.degree - 1, -1, -1):
            rows[2] = rows[2] * u + rows[1]
            rows[1] = rows[1] * u + rows[0]
            rows[0] = rows[0] * u + x
            x = x * u + c[:, k]
        found = np.stack([x, rows[0] * rate, real(2.0) * rows[1] * rate**2, real(6.0) * rows[2] * rate**3], axis=1)
        for outside, end in ((p < 0, self.first), (p == self.pieces, self.last)):
            found[outside], found[outside, 0] = 0.0, end.astype(real)
        return found.astype(float)


def motion_table(
    motion: Any,
    *,
    sample_time: float = 1e-3,
    tolerance: float | None = None,
    precision: str = "double",
    sampled: bool = False,
) -> MotionTable:
    """Return the table of a motion.

    motion      : reference, planned motion or trajectory; a callable reference needs an end
    sample_time : s of one sample, in which times are counted
    tolerance   : largest error of a value, of its range; of derivatives 1e2, 1e4 and 1e6 times as large, of their
                  largest values, but at most 1e-5, 1e-4 and 1e-3; 0 keeps the given pieces; default: 1e-9, in single
                  precision 1e-7
    sampled     : whether only values at samples matter, as of commands
    """
    given = _polynomials(motion)
    given = _through_samples(given, sample_time) if sampled else given
    tolerance = TOLERANCE[precision] if tolerance is None else tolerance
    if not (np.isfinite(tolerance) and tolerance >= 0.0):
        raise InputError(f"tolerance must not be negative (got {tolerance:g})", part="motion", hint="give 1e-9, or 0")
    if not (np.isfinite(sample_time) and sample_time > 0.0):
        raise InputError(f"sample_time must be positive (got {sample_time:g} s)", part="motion", hint="give 1e-3")
    checked = _Checked.of(given)
    relative = np.maximum(tolerance, np.minimum(tolerance * np.array(LOOSER), LARGEST))
    relative[1:] = np.inf if sampled else relative[1:]
    limits = relative[:, None] * checked.scales
    plain = _pack(given, _exact_pieces(given), sample_time, precision)
    best = plain
    for degree in _DEGREES if tolerance > 0.0 else ():
        if degree >= given.coefficients.shape[1] - 1:
            found = _pack(given, _merged_pieces(given, checked, degree, limits), sample_time, precision)
            best = found if found.bytes < best.bytes else best
    return replace(best, error=_measured_error(best, given, checked), given=(plain.bytes, plain.pieces))


class GivenMotion:
    """Given motion with the sides of its breaks that the table chooses: a time just before a break is the break."""

    def __init__(self, motion: Any, sample_time: float) -> None:
        self._function, self._snap = _polynomials(motion), SNAP["double"] * sample_time
        self.coordinates = self._function.coordinates

    def at(self, t: float) -> Array:
        """Return θ, θ̇, θ̈ and θ⃛ at a time, (4, s)."""
        breaks = self._function.breaks
        p = int(np.searchsorted(breaks, t + self._snap, side="right")) - 1
        return self._function.at(t if p < 0 else max(t, float(breaks[p])))


def _polynomials(motion: Any) -> PiecewisePolynomial:
    """Return a motion as piecewise polynomials."""
    found = getattr(motion, "reference", motion)  # of a planned motion
    found = found.function if isinstance(found, Trajectory) else found
    if isinstance(found, CalledFunction) and np.isfinite(found.duration):
        steps = max(2, round(found.duration / _STEP))
        times = np.linspace(found.begin, found.end, steps + 1)
        found = Trajectory.of_derivatives(found.coordinates, times, found.derivatives(times), found.units).function
    if not isinstance(found, PiecewisePolynomial):
        raise InputError(
            "the motion has no end, so that it has no table" if isinstance(found, CalledFunction)
            else f"cannot export a {type(motion).__name__} as a motion",
            part="motion", hint="give supple.control.reference(motion, model, until=...)",
        )  # fmt: skip
    return found


def _through_samples(given: PiecewisePolynomial, T: float) -> PiecewisePolynomial:
    """Return the spline of degree five through the values at samples."""
    first, last = int(np.floor(given.begin / T + 1e-9)), int(np.ceil(given.end / T - 1e-9))
    times: Array = T * np.arange(first, max(last, first + _SPLINE + 1) + 1, dtype=float)
    values = given.sample(times)[:, 0]
    spline = make_interp_spline(times, values, k=_SPLINE)
    powers = [np.asarray(spline(times[:-1], k), dtype=float) / factorial(k) for k in range(_SPLINE + 1)]
    return PiecewisePolynomial(given.coordinates, times, np.stack(powers, axis=1), given.units, values[-1])


class _Pieces(NamedTuple):
    """Pieces between given breaks: their indices (P + 1,), and coefficients (P, d + 1, s) of powers of u."""

    breaks: Integers
    coefficients: Array


def _exact_pieces(given: PiecewisePolynomial) -> _Pieces:
    """Return the given pieces in their own time u.

    With τ = h (u + 1)/2:  Σ_k c_k τ^k = Σ_j u^j Σ_k c_k (h/2)^k (k over j)
    """
    count = given.coefficients.shape[1]
    binomials = np.array([[comb(k, j) for k in range(count)] for j in range(count)], dtype=float)
    half = 0.5 * np.diff(given.breaks)[:, None] ** np.ones(count)
    scaled = given.coefficients * (half ** np.arange(count))[:, :, None]
    return _Pieces(np.arange(len(given.breaks)), np.einsum("jk,pks->pjs", binomials, scaled))


class _Checked(NamedTuple):
    """Instants (P, q) of the given pieces, values with derivatives (P, q, 4, s), and the scales (4, s) of errors."""

    times: Array
    values: Array
    scales: Array

    @classmethod
    def of(cls, given: PiecewisePolynomial) -> _Checked:
        """Return the instants of a motion, the ends of its pieces among them."""
        tau = np.diff(given.breaks)[:, None] * np.linspace(0.0, 1.0, _CHECKS)
        values = _derivatives(given.coefficients, tau)
        largest, orders = np.abs(values).max(axis=(0, 1)), np.arange(DERIVATIVES)[:, None]
        size = largest[0].copy()
        largest[0] = np.ptp(values[:, :, 0], axis=(0, 1))
        slow = _STILL * largest[0] / given.duration**orders
        noise = (
            _ROUNDING * size / np.diff(given.breaks).min() ** orders / (TOLERANCE["double"] * np.array(LOOSER)[:, None])
        )
        scales = np.maximum(largest, np.maximum(slow, noise))
        return cls(given.breaks[:-1, None] + tau, values, np.where(scales > 0.0, scales, 1.0))


def _derivatives(coefficients: Array, tau: Array) -> Array:
    """Return Σ c_k τ^k with three derivatives, (P, q, 4, s), for coefficients (P, d + 1, s) at τ (P, q)."""
    rows = []
    for order in range(DERIVATIVES):
        found = np.zeros((*tau.shape, coefficients.shape[2]))
        for k in range(coefficients.shape[1] - 1, order - 1, -1):
            factor = factorial(k) // factorial(k - order)
            found = found * tau[:, :, None] + factor * coefficients[:, None, k]
        rows.append(found)
    return np.stack(rows, axis=2)


class _Fit:
    """Least-squares polynomial of a degree that keeps value, rate and acceleration at both ends.

    x(u) = H(u) + (1 - u²)³ q(u), with H the quintic through the ends.
    """

    def __init__(self, degree: int) -> None:
        rows = []
        for u in (-1.0, 1.0):
            for order in range(3):
                rows.append(
                    [factorial(k) // factorial(k - order) * u ** (k - order) if k >= order else 0.0 for k in range(6)]
                )
        self.quintic = np.linalg.inv(np.array(rows))
        self.nodes, count = chebpts1(2 * degree + 2), max(0, degree - 5)
        self.powers = self.nodes[:, None] ** np.arange(6)
        self.bubble: Array = np.zeros((degree + 1, count))
        for j in range(count):
            product = Polynomial([1.0, 0.0, -1.0]) ** 3 * Polynomial(
                np.polynomial.chebyshev.cheb2poly(np.eye(j + 1)[j])
            )
            self.bubble[: len(product.coef), j] = product.coef
        weight = (1.0 - self.nodes**2) ** 3
        self.solve = np.linalg.pinv(weight[:, None] * chebvander(self.nodes, count - 1)) if count else None

    def __call__(self, ends: Array, inside: Array) -> Array:
        """Return coefficients (d + 1, s); ends : value, rate and acceleration over u (6, s); inside : at the nodes."""
        found = np.zeros((len(self.bubble), ends.shape[1]))
        found[:6] = self.quintic @ ends
        if self.solve is not None:
            found += self.bubble @ (self.solve @ (inside - self.powers @ found[:6]))
        return found


def _merged_pieces(given: PiecewisePolynomial, checked: _Checked, degree: int, limits: Array) -> _Pieces:
    """Return pieces of a degree, each as long as the limits of errors (4, s) permit, from the beginning on."""
    fit, exact, count = _Fit(degree), _exact_pieces(given).coefficients, len(given.breaks) - 1
    padded = np.zeros((count, degree + 1, exact.shape[2]))
    padded[:, : exact.shape[1]] = exact
    breaks, found, first, guess = [0], [], 0, 1
    while first < count:
        piece, length = padded[first], 1
        for trial in _lengths(count - first, guess):
            merged = _merge(given, checked, fit, first, first + trial.length, limits) if trial.length > 1 else piece
            trial.fits = merged is not None
            if merged is not None:
                piece, length = merged, trial.length
        first, guess = first + length, length
        breaks.append(first)
        found.append(piece)
    return _Pieces(np.array(breaks), np.array(found))


class _Trial:
    """Number of given pieces to merge, and whether one polynomial fits them."""

    def __init__(self, length: int) -> None:
        self.length, self.fits = length, False


def _lengths(most: int, guess: int) -> Iterator[_Trial]:
    """Yield trials that bracket and bisect the largest length that fits; length 1 always fits."""
    low, high, length = 1, most + 1, min(most, max(2, guess))
    while high - low > 1:
        trial = _Trial(length)
        yield trial
        if trial.fits:
            low = length
        else:
            high = length
        length = min(most, 2 * low) if high == most + 1 else (low + high) // 2


def _merge(
    given: PiecewisePolynomial, checked: _Checked, fit: _Fit, first: int, stop: int, limits: Array
) -> Array | None:
    """Return the polynomial over the given pieces first ... stop - 1; None if an error is above its limit."""
    begin, half = given.breaks[first], 0.5 * (given.breaks[stop] - given.breaks[first])
    powers = half ** np.arange(DERIVATIVES)[:, None]
    ends = np.concatenate([(checked.values[first, 0] * powers)[:3], (checked.values[stop - 1, -1] * powers)[:3]])
    times = begin + half * (fit.nodes + 1.0)
    piece = np.searchsorted(given.breaks, times, side="right") - 1
    inside = _derivatives(given.coefficients[piece], (times - given.breaks[piece])[:, None])[:, 0, 0]
    found = fit(ends, inside)
    u = (checked.times[first:stop] - begin) / half - 1.0
    error = np.abs(
        _derivatives(found[None], u.reshape(1, -1))[0] / powers
        - checked.values[first:stop].reshape(-1, *powers.shape[:1], found.shape[1])
    )
    return found if (error.max(axis=0) <= limits).all() else None


def _pack(given: PiecewisePolynomial, pieces: _Pieces, T: float, precision: str) -> MotionTable:
    breaks = given.breaks[pieces.breaks]
    samples = np.floor(breaks / T + 1e-9)
    if np.abs(samples).max() > FARTHEST:
        raise InputError(
            f"the motion reaches from {given.begin:g} s to {given.end:g} s, more than {FARTHEST} samples of {T:g} s",
            part="motion", hint="give a longer sample_time",
        )  # fmt: skip
    whole: NDArray[np.int64] = samples.astype(np.int64)
    return MotionTable(
        given.coordinates, T, whole, breaks - whole * T, 2.0 / np.diff(breaks), pieces.coefficients,
        given.at(-np.inf)[0], given.at(np.inf)[0], np.zeros(DERIVATIVES), precision=precision, units=given.units,
    )  # fmt: skip


def _measured_error(table: MotionTable, given: PiecewisePolynomial, checked: _Checked) -> Array:
    """Return the largest errors at the instants of the check, those at the very ends of given pieces excepted.

    There the function may jump, and rounding decides which side is meant.
    """
    t, T = checked.times[:, 1:-1].ravel(), table.sample_time
    whole = np.floor(t / T).astype(np.int64)
    found = np.concatenate(
        [
            table.at_samples(n, r)
            for n, r in zip(*(np.array_split(part, len(t) // 500 + 1) for part in (whole, t - whole * T)), strict=True)
        ]
    )
    expected = checked.values[:, 1:-1].reshape(found.shape)
    return np.asarray((np.abs(found - expected) / checked.scales).max(axis=(0, 2)))


def _table_bytes(pieces: int, degree: int, coordinates: int, precision: str) -> int:
    real = BYTES[precision]
    return real * (pieces * (degree + 1) * coordinates + pieces + 2 * coordinates) + (4 + real) * (pieces + 1)
