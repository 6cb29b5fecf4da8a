"""Input shaping: references delayed by fixed impulses, or by impulses that follow the modes along the motion.

The frequencies of a mechanism change along a motion. A vibration that is excited at time τ has at t the phase
φ(t) - φ(τ), φ = ∫ ω_d dt. Parts of the motion cancel if they differ by half a turn of phase, not by half a period:

    θ_s(t) = Σ_i A_i θ_d(g_i(t)),   φ(g_i(t)) = φ(t) - i π,   ġ = ω_d(t)/ω_d(g),   g̈ = (ω̇_d(t) - ω̇_d(g) ġ²)/ω_d(g)

with ω_d along θ_s itself, found by iteration. Amplitudes are those of the mean damping along the motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from supple.array_types import Array
from supple.control.feedforward.reference import Reference, finite_reference
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers, require_arguments
from supple.kinds.registry import Registry
from supple.reduced.model import ReducedModel
from supple.results.result import brief
from supple.time_functions.function_of_time import Trajectory, common_breaks

# Vibrations of a reduced model with θ prescribed: frequencies and damping ratios of its deformation along θ.
#
# K_δδ(θ) φ = ω² M_δδ(θ) φ,   ζ = φᵀ D_δδ φ / (2 ω φᵀ M_δδ φ)


class LocalModes(NamedTuple):
    """Modes of the deformation at N configurations with θ prescribed.

    frequencies : ω (N, k) rad/s, rising
    damping     : ζ (N, k)
    shapes      : φ (N, m, k), with φᵀ M_δδ φ = 1
    """

    frequencies: Array
    damping: Array
    shapes: Array


def local_modes(model: ReducedModel, theta: Array) -> LocalModes:
    """Return the modes of the deformation at θ (N, s), with θ prescribed."""
    s = model.layout.theta
    if model.layout.size == s:
        raise InputError(
            "the model has no elastic coordinates, so that nothing vibrates", part=f'model "{model.name}"',
            hint="reduce the mechanism with internal_modes=",
        )  # fmt: skip
    c = model.evaluate(np.ascontiguousarray(theta))
    M, K, D = (part[:, s:, s:] for part in (c.M, c.K, c.damping))
    L = np.linalg.inv(np.linalg.cholesky(M))
    squares, V = np.linalg.eigh(L @ K @ np.swapaxes(L, 1, 2))
    if not (squares > 0.0).all():
        raise InputError(
            "the stiffness is not positive definite along the motion", part=f'model "{model.name}"',
            hint="reduce with a smaller tolerance",
        )  # fmt: skip
    shapes, omega = np.swapaxes(L, 1, 2) @ V, np.sqrt(squares)
    return LocalModes(omega, np.einsum("nik,nij,njk->nk", shapes, D, shapes) / (2.0 * omega), shapes)


# Shaped references.


_STEP = 1e-3  # s: pieces of a scheduled reference
_ROUNDS = 4  # of the iteration for ω along the shaped motion: each shrinks its error by the relative change of ω


def shape_motion(
    motion: Any,
    model: ReducedModel | None = None,
    *,
    kind: str = "zv",
    modes: int | Sequence[tuple[float, float]] | None = None,
    tolerance: float = 0.05,
    scheduled: bool = True,
    frequency_factor: float = 1.0,
) -> Reference:
    """Shape a motion so that it leaves no residual vibration.

    Parameters
    ----------
    motion : str, Motion, Trajectory, path, callable or Reference
        Motion with an end, as in `reference`.
    model : ReducedModel, optional
        Flexible reduced model whose modes are shaped as they change along the motion. Not needed if `modes` lists
        modes.
    kind : {"zv", "zvd", "zvdd", "ei"}, optional
        Kind of shaper, as in `shaper`. Default: "zv".
    modes : int, or sequence of (float, float), optional
        Number of modes of the model, the lowest first; or a list of (frequency in Hz, damping ratio). Default: all
        modes.
    tolerance : float, optional
        Residual vibration at the modelled frequency that an "ei" shaper allows. Default: 0.05.
    scheduled : bool, optional
        Let delays follow the modes along the motion; otherwise use the modes in its middle. Default: True.
    frequency_factor : float, optional
        Factor of the model's frequencies, to study the effect of wrong ones. Default: 1.

    Returns
    -------
    Reference
        Shaped motion. It ends later by about half a period of each mode (ZV), or by a period (ZVD and EI).

    Raises
    ------
    InputError
        If the motion has no end, or the model has too few modes.

    See Also
    --------
    shaper : Impulses of a shaper.
    rest_to_rest : Motion of the same duration without residual vibration.
    deforming : Deformation along the shaped motion.
    """
    require_arguments(shape_motion, locals())
    given = finite_reference(motion, model, "input shaping")
    if modes is not None and not isinstance(modes, int):
        hertz, ratios = [pair[0] for pair in modes], [pair[1] for pair in modes]
        return superpose(given, shaper(kind, hertz, ratios, tolerance=tolerance))
    if model is None:
        raise InputError(
            "the modes to suppress are not given", part="input shaping",
            hint="give a flexible reduced model, or modes=[(Hz, damping ratio), ...]",
        )  # fmt: skip
    if not frequency_factor > 0.0:
        raise InputError(
            f"must be positive (got {frequency_factor:g})", part="frequency factor", hint="give a number above 0"
        )
    course = given.sample(np.linspace(given.begin, given.end, 201))[:, 0]
    found = local_modes(model, course)
    count = found.frequencies.shape[1] if modes is None else modes
    if not 1 <= count <= found.frequencies.shape[1]:
        raise InputError(
            f"{count} modes are requested, but the model has {found.frequencies.shape[1]}",
            part="input shaping", hint="reduce it with more internal modes",
        )  # fmt: skip
    ratios = found.damping.mean(axis=0)[:count].tolist()
    if not scheduled:
        hertz = (frequency_factor * found.frequencies[len(course) // 2, :count] / (2.0 * np.pi)).tolist()
        return superpose(given, shaper(kind, hertz, ratios, tolerance=tolerance))
    parts = [amplitudes(kind, ratio, tolerance) for ratio in ratios]
    return _shape_along_modes(given, model, parts, np.array(ratios), frequency_factor)


def superpose(motion: Reference, impulses: Shaper) -> Reference:
    """Return Σ A_i θ_d(t - t_i), exactly: polynomials stay polynomials."""
    breaks = common_breaks([motion.breaks + t for t in impulses.delays])
    parts = [A * motion.delay(t).on(breaks) for A, t in zip(impulses.amplitudes, impulses.delays, strict=True)]
    return Reference(motion.coordinates, breaks, np.sum(parts, axis=0), motion.units)


def _shape_along_modes(
    given: Reference, model: ReducedModel, parts: list[Array], ratios: Array, factor: float
) -> Reference:
    """Return the reference shaped by delays that follow the modes.

    parts  : amplitudes of each mode, at multiples of half a turn of its phase
    ratios : ζ of each mode
    """
    reached = given
    slow = np.sqrt(1.0 - ratios**2) * factor
    for _ in range(_ROUNDS):
        inside = np.linspace(reached.begin, reached.end, max(201, round(reached.duration / _STEP) + 1))
        omega = local_modes(model, reached.sample(inside)[:, 0]).frequencies[:, : len(parts)] * slow
        late = float(sum((len(A) - 1) * np.pi / omega[:, k].min() for k, A in enumerate(parts)))
        phases = [_Phase(inside, omega[:, k], 2.0 * late) for k in range(len(parts))]
        end = given.end
        for k, A in enumerate(parts):
            end = phases[k].later(end, (len(A) - 1) * np.pi)
        times = np.linspace(given.begin, end, max(2, round((end - given.begin) / _STEP)) + 1)
        reached = _sum_delays(given, parts, phases, times).function
    return reached


class _Phase:
    """Phase φ(t) = ∫ ω dt of a frequency ω (N,) at times (N,), with ω constant for `long` seconds at both ends."""

    def __init__(self, times: Array, omega: Array, long: float):
        ends = long * np.linspace(0.0, 1.0, 9)[1:]
        t = np.concatenate([times[0] - ends[::-1], times, times[-1] + ends])
        self.omega = CubicSpline(t, np.concatenate([np.full(8, omega[0]), omega, np.full(8, omega[-1])]))
        self.value = self.omega.antiderivative()

    def before(self, t: Array, turn: float) -> Array:
        """Return g with φ(g) = φ(t) - turn, by Newton's method."""
        phase = self.value(t) - turn
        g = t - turn / self.omega(t)
        for _ in range(6):
            g = g - (self.value(g) - phase) / self.omega(g)
        return np.asarray(g)

    def later(self, t: float, turn: float) -> float:
        """Return the time when the phase is a turn further than at t."""
        return float(self.before(np.array([t]), -turn)[0])


def _sum_delays(given: Reference, parts: list[Array], phases: list[_Phase], times: Array) -> Trajectory:
    """Return Σ A_i θ_d(g_i(t)) over all products of the modes' delays, with rates and accelerations."""
    shape = (len(times), len(given.coordinates))
    theta, rates, accelerations = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    maps = [(1.0, times, np.ones_like(times), np.zeros_like(times))]
    for A, phase in zip(reversed(parts), reversed(phases), strict=True):  # the last mode's delays act first
        maps = [
            (factor * float(a), *_earlier(phase, i * np.pi, g, slope, bend))
            for factor, g, slope, bend in maps
            for i, a in enumerate(A)
        ]
    for factor, g, slope, bend in maps:
        value, rate, second, _ = given.sample(g).transpose(1, 0, 2)
        theta += factor * value
        rates += factor * rate * slope[:, None]
        accelerations += factor * (second * slope[:, None] ** 2 + rate * bend[:, None])
    return Trajectory(given.coordinates, times, theta, rates, accelerations, given.units)


def _earlier(phase: _Phase, turn: float, t: Array, slope: Array, bend: Array) -> tuple[Array, Array, Array]:
    """Return g(t(·)), its slope and its second derivative."""
    if turn == 0.0:
        return t, slope, bend
    g = phase.before(t, turn)
    w, here = phase.omega(g), phase.omega(t)
    first = here / w
    second = (phase.omega(t, 1) - phase.omega(g, 1) * first**2) / w
    return g, first * slope, second * slope**2 + first * bend


# Input shapers: a motion is divided into parts so that the vibrations that they excite cancel each other.
#
#     θ_s(t) = Σ_i A_i θ_d(t - t_i),   Σ_i A_i = 1
#
# For a mode of frequency ω and damping ratio ζ, with K = exp(-ζπ/√(1 - ζ²)) its decay in half a period and x the
# delay by half a damped period, a shaper is a polynomial in x with P(1) = 1 and zeros at or near x = -1/K:
#
#     ZV    (1 + K x) / (1 + K)                             no residual at ω                         [Singer 1990]
#     ZVD   ZV², ZVDD  ZV³                                  nor a slope of the residual at ω
#     EI    (1 + 2 K c x + K² x²) / (1 + 2 K c + K²)        residual V at ω, none at two neighbours of equal decay
#           c = (2 K² - V (1 + K²)) / (2 K (K + V))                                                 [Singhose 1994]
#
# With ζ = 0 the last is Singhose's (1 + V)/4, (1 - V)/2, (1 + V)/4. Shapers of several modes are convolved.


@dataclass(frozen=True, eq=False)
class ShaperKind:
    """Kind of input shaper for one mode.

    polynomial : function (K, V) -> coefficients of 1, x, x², ..., of any sum; V is the residual vibration allowed at ω
    """

    name: str
    description: str
    polynomial: Callable[[float, float], Sequence[float]]


def _two_zeros(K: float, V: float) -> Sequence[float]:
    c = (2.0 * K**2 - V * (1.0 + K**2)) / (2.0 * K * (K + V))
    return 1.0, 2.0 * K * c, K**2


SHAPERS = Registry(
    "shaper", ShaperKind,
    ShaperKind("zv", "No residual vibration at the frequency of the mode.", lambda K, V: (1.0, K)),
    ShaperKind("zvd", "As zv, and insensitive to frequency errors to first order.", lambda K, V: (1.0, 2.0 * K, K**2)),
    ShaperKind("zvdd", "As zv, and insensitive to second order.", lambda K, V: (1.0, 3.0 * K, 3.0 * K**2, K**3)),
    ShaperKind("ei", "Residual vibration V at the frequency, none at two neighbouring ones.", _two_zeros),
)  # fmt: skip


def amplitudes(kind: str, damping: float, tolerance: float) -> Array:
    """Return the amplitudes of the impulses for one mode, each half a period after the one before."""
    if not 0.0 <= damping < 1.0:
        raise InputError(
            f"the damping ratio is {damping:g}", part="input shaping", hint="give ratios of 0 <= ratio < 1"
        )
    if not 0.0 < tolerance < 1.0:
        raise InputError(
            f"tolerance must be between 0 and 1 (got {tolerance:g})",
            part="input shaping",
            hint="give a fraction of the vibration, such as 0.05",
        )
    K = float(np.exp(-damping * np.pi / np.sqrt(1.0 - damping**2)))
    A = np.array(SHAPERS[kind].polynomial(K, tolerance), dtype=float)
    return np.asarray(A / A.sum())


@dataclass(frozen=True, eq=False, repr=False)
class Shaper:
    """Input shaper: impulses whose amplitudes add up to one.

    Attributes
    ----------
    amplitudes : ndarray of shape (q,)
        Amplitudes of the impulses.
    delays : ndarray of shape (q,)
        Delays of the impulses, rising from 0, s.
    """

    amplitudes: Array
    delays: Array

    def __repr__(self) -> str:
        return brief("Shaper", f"of {len(self.amplitudes)} impulses, {self.delay:.4g} s")

    @property
    def delay(self) -> float:
        """Time by which a shaped motion ends later, s."""
        return float(self.delays[-1])

    def then(self, other: Shaper) -> Shaper:
        """Return the convolution with another shaper."""
        A = np.multiply.outer(self.amplitudes, other.amplitudes).ravel()
        t = np.add.outer(self.delays, other.delays).ravel()
        order = np.argsort(t)
        return Shaper(A[order], t[order])

    def residual(self, frequency_hz: ArrayLike, damping_ratio: float = 0.0) -> Array:
        """Return the residual vibration of a mode after the last impulse, relative to that without shaping.

        Parameters
        ----------
        frequency_hz : array_like
            Frequency of the mode, Hz.
        damping_ratio : float, optional
            Damping ratio of the mode. Default: 0.

        Returns
        -------
        ndarray
            |Σ A_i e^{(ζω + i ω_d)(t_i - t_q)}|, of the shape of the frequencies.
        """
        w = 2.0 * np.pi * np.asarray(frequency_hz, dtype=float)
        s = damping_ratio * w + 1j * w * np.sqrt(1.0 - damping_ratio**2)
        return np.asarray(np.abs(np.exp(np.multiply.outer(s, self.delays - self.delay)) @ self.amplitudes))


def shaper(
    kind: str, frequencies_hz: float | Sequence[float], damping_ratios: ArrayLike = 0.0, *, tolerance: float = 0.05
) -> Shaper:
    """Return the input shaper for one or several modes.

    Parameters
    ----------
    kind : {"zv", "zvd", "zvdd", "ei"}
        Kind of shaper; "zv", "zvd" and "zvdd" tolerate increasing frequency errors, and delay the motion more.

        "ei" delays the motion as "zvd", and tolerates larger errors.
    frequencies_hz : float or sequence of float
        Frequencies of the modes, Hz.
    damping_ratios : array_like of float, optional
        Damping ratios of the modes, one for all or each. Default: 0.
    tolerance : float, optional
        Residual vibration at the mode's own frequency that an "ei" shaper allows. Default: 0.05.

    Returns
    -------
    Shaper
        Impulses.

    Raises
    ------
    InputError
        If a frequency is not positive, or a ratio is not in 0 <= ratio < 1.

    See Also
    --------
    shaped : Shape a motion.

    Notes
    -----
    ZV and ZVD: [Singer 1990]; EI: [Singhose 1994]. Shapers of several modes are convolved.

    Examples
    --------
    >>> from supple import control
    >>> zv = control.shaper("zv", 2.0)
    >>> zv.amplitudes, zv.delays
    (array([0.5, 0.5]), array([0.  , 0.25]))
    """
    require_arguments(shaper, locals())
    frequencies = np.atleast_1d(np.asarray(frequencies_hz, dtype=float))
    ratios = real_numbers("damping ratios", damping_ratios)
    if ratios.shape not in ((), (1,), frequencies.shape):
        raise InputError(
            f"{ratios.size} ratios for {len(frequencies)} frequencies",
            part="damping ratios",
            hint="give one for all, or one for each",
        )
    ratios = np.broadcast_to(ratios, frequencies.shape)
    found = Shaper(np.ones(1), np.zeros(1))
    for hertz, ratio in zip(frequencies.tolist(), ratios.tolist(), strict=True):
        if not (np.isfinite(hertz) and hertz > 0.0):
            raise InputError(
                f"frequencies must be positive (got {hertz:g} Hz)",
                part="input shaping",
                hint="give frequencies above 0",
            )
        A = amplitudes(kind, ratio, tolerance)
        half = 0.5 / (hertz * np.sqrt(1.0 - ratio**2))
        found = found.then(Shaper(A, half * np.arange(len(A))))
    return found
