"""Stability margins of a linear loop: the gain factors, phases and delays at its inputs that leave it stable.

With S = (1 + L)⁻¹ and all other loops closed, the loop at input k is L_k = 1/S_kk - 1. A factor g e^{-iφ} at that
input, or a delay τ, makes it unstable where first, coming from 1,

    g = -Re 1/L_k  at  Im 1/L_k = 0,       φ = π + arg L_k  and  τ = φ/ω  at  |L_k| = 1,       α_k = 1 / max |S_kk - ½|
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize, minimize_scalar

from supple.array_types import Array
from supple.control.laws.linear_law import continuous_poles
from supple.control.margins.loop_check import LoopController, law_about, loop_at
from supple.control.margins.open_loop import LoopInterface, open_loop
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import Values
from supple.results.linear_model import LinearModel
from supple.results.result import Entries, Result, picture
from supple.results.table import Table

# The sensitivity of a loop as a function of frequency, and the grid of frequencies.
#
#     L = C_L (z - A_L)⁻¹ B_L + D_L,     S = (1 + L)⁻¹ = E - E C_L (z - A_c)⁻¹ B_L E,     E = (1 + D_L)⁻¹
#     A_c = A_L - B_L E C_L,             z = iω, of a sampled loop exp(iωT)
#
# S has the poles of the closed loop, which is stable: it is finite on the whole axis, where L need not be.


ComplexArray = NDArray[np.complex128]

_DECADES = 2.0  # beyond the slowest and the fastest pole
_BROAD, _NEAR_POLE = 60, 24  # frequencies a decade over all, and on each side of every pole
_REACH = 30.0  # damping widths from a pole within which frequencies are close


class Sensitivity:
    """Sensitivity S(ω) (m, m) of a loop that is closed with u = -L u.

    stable, poles : of the closed loop; poles in 1/s
    """

    def __init__(self, loop: LinearModel) -> None:
        m = len(loop.inputs)
        direct = np.eye(m) + loop.D
        if abs(np.linalg.det(direct)) < 1e-12:
            raise InputError(
                "the direct feedthrough makes 1 + D singular, so that the loop is not well-posed", part="open loop",
                hint="remove the direct part of the controller, or use a sampled controller",
            )  # fmt: skip
        self.E = np.linalg.inv(direct)
        self.A = loop.A - loop.B @ self.E @ loop.C
        self.B, self.C, self.step = loop.B @ self.E, self.E @ loop.C, loop.step
        self.highest = np.inf if loop.step is None else np.pi / loop.step
        found = np.linalg.eigvals(self.A).astype(complex)
        self.stable = bool((found.real < 0.0).all() if loop.step is None else (np.abs(found) < 1.0).all())
        self.poles = found if loop.step is None else continuous_poles(found, loop.step)
        open_poles = np.linalg.eigvals(loop.A).astype(complex)
        self._known = np.append(
            self.poles, open_poles if loop.step is None else continuous_poles(open_poles, loop.step)
        )

    def at(self, omega: ArrayLike) -> ComplexArray:
        """Return S (..., m, m) at frequencies (...) in rad/s; infinity is allowed without a sample time."""
        w = np.asarray(omega, dtype=float)
        finite = np.where(np.isfinite(w), w, 0.0)
        z = 1j * finite if self.step is None else np.exp(1j * finite * self.step)
        x = np.linalg.solve(z[..., None, None] * np.eye(len(self.A)) - self.A, self.B.astype(complex))
        found = self.E - self.C @ x
        return np.where(np.isfinite(w)[..., None, None], found, self.E)

    def grid(self) -> Array:
        """Return frequencies (N,), rad/s, rising from 0: even over all decades, and dense about all poles.

        About a pole -σ ± iω₀ of the open or closed loop they are ω₀ ± σ x, with x from 0 to far away, to resolve its
        resonance.
        """
        size = np.abs(self._known)
        size = size[size > 0.0]
        if not len(size):
            size = np.ones(1)
        top = min(self.highest, size.max() * 10.0**_DECADES)
        low = min(size.min(), top) * 10.0**-_DECADES
        low = max(low, 1e-9 * top)
        broad = np.geomspace(low, top, int(_BROAD * np.log10(top / low)) + 2)
        turning = self._known[self._known.imag > 1e-3 * np.abs(self._known)]
        width = np.maximum(np.abs(turning.real), 1e-6 * turning.imag)
        away = np.append(0.0, np.geomspace(1e-2, _REACH, _NEAR_POLE))
        away = np.append(-away[:0:-1], away)
        close = (turning.imag[:, None] + width[:, None] * away).ravel()
        close = close[(close > low) & (close < top)]
        ends = [0.0] if np.isfinite(self.highest) else [0.0, np.inf]
        return np.unique(np.concatenate([broad, close, ends]))


_NOTHING = 1e-9  # a gain factor that counts as no feedback
_CLOSE = 0.95  # of the largest value on the grid: peaks that may exceed it between grid points


@dataclass(frozen=True, eq=False, repr=False)
class Margins(Result):
    """Stability margins of each input k with all other loops closed.

    Margins are zero, and gain factors one, if the closed loop is unstable.

    Attributes
    ----------
    inputs : tuple of str
        Names of the m inputs.
    stable : bool
        Whether the closed loop is stable.
    poles : ndarray of complex
        Poles of the closed loop, 1/s.
    gain : ndarray of shape (m, 2)
        Gain factors between which the loop stays stable; 0 and infinity if there is no limit.
    phase : ndarray of shape (m,)
        Phase margins, rad, in either direction.
    delay : ndarray of shape (m,)
        Delay margins, s.
    disk : ndarray of shape (m,)
        Disk margins α of each input alone.
    worst_hz : ndarray of shape (m,)
        Frequencies of the disk margins, Hz.
    together : float
        Disk margin α of all inputs at once.
    together_hz : float
        Frequency of the disk margin of all inputs, Hz.
    frequencies_hz : ndarray of shape (N,)
        Frequencies of `loops`, Hz.
    loops : ndarray of complex, shape (N, m)
        Open loops L_k.
    sample_time : float, optional
        Sample time of a sampled loop, s. Its delays are exact in whole samples, and its frequencies end at half the
        rate.
    """

    inputs: tuple[str, ...]
    stable: bool
    poles: ComplexArray
    gain: Array
    phase: Array
    delay: Array
    disk: Array
    worst_hz: Array
    together: float
    together_hz: float
    frequencies_hz: Array
    loops: ComplexArray
    sample_time: float | None = None

    @property
    def gain_together(self) -> tuple[float, float]:
        """Gain factors that all inputs may have at once, each its own: (2 - α)/(2 + α) and its inverse."""
        return disk_gain(self.together)

    @property
    def phase_together(self) -> float:
        """Phase, rad, by which all inputs may be changed at once, each by its own: 2 atan(α/2)."""
        return 2.0 * float(np.arctan(0.5 * self.together))

    def summary(self) -> str:
        if not self.stable:
            worst = self.poles[self.poles.real.argmax()]
            return f"of {', '.join(self.inputs)}: the loop is unstable (pole {worst:.4g} 1/s)"
        low, high = self.gain[:, 0].max(), self.gain[:, 1].min()
        return (
            f"of {', '.join(self.inputs)}: gains {low:.3g} to {high:.3g}, phase {np.degrees(self.phase.min()):.3g}°, "
            f"delay {1e3 * self.delay.min():.4g} ms, disk {self.disk.min():.3g}, together {self.together:.3g}"
        )

    def table(self) -> Table:
        """Return a table with a row for each input, and one for all together, which has no delay."""
        low, high = self.gain_together
        both = {
            "gain.low": [*self.gain[:, 0], low], "gain.high": [*self.gain[:, 1], high],
            "phase": [*self.phase, self.phase_together], "delay": [*self.delay, np.nan],
            "disk": [*self.disk, self.together], "worst": [*self.worst_hz, self.together_hz],
        }  # fmt: skip
        columns: dict[str, NDArray[Any]] = {"input": np.array([*self.inputs, "all"])}
        columns |= {name: np.array(values) for name, values in both.items()}
        plain = dict.fromkeys(("gain.low", "gain.high", "disk"), "1")
        return Table(columns, {"phase": "rad", "delay": "s", "worst": "Hz", **plain}, index="input")

    def map_entries(self) -> Entries:
        """Return the entries of a map: `NAME.gain.low`, `NAME.gain.high`, `NAME.phase`, ... and `together`."""
        kinds = {"gain.low": "1", "gain.high": "1", "phase": "rad", "delay": "s", "disk": "1"}
        names = tuple(f"{name}.{kind}" for name in self.inputs for kind in kinds)
        each = np.column_stack([self.gain, self.phase, self.delay, self.disk])
        units = (*(tuple(kinds.values()) * len(self.inputs)), "1")
        return Entries("margin", (*names, "together"), units, np.append(each.ravel(), self.together))

    def plot(self, *, axes: Any = None) -> Any:
        """Draw Nyquist curves with the disk that each avoids (matplotlib); return the panels."""
        return picture("control.margins.plot.nyquist_plot")(self, axes)


def margins(
    plant: LinearModel | ReducedModel,
    controller: LoopController | None = None,
    *,
    at: Values | str | None = None,
    computation_delay: float = 0.0,
) -> Margins:
    """Compute the stability margins of a loop: gain, phase, delay and disk margins.

    Parameters
    ----------
    plant : LinearModel or ReducedModel
        Plant: a linear model, with drives and instruments if it was linearized with them; or a reduced model.

        A reduced model is linearized with its drives and instruments where it rests `at` θ.
    controller : FeedbackGain, LinearModel, AffineLaw or AffineController, optional
        Controller. Default: none; `plant` is then the open loop L itself, whose inputs are its outputs.

        A LinearModel maps outputs of the plant to its inputs, u = controller(y). A scheduled law is evaluated at the
        operating point of the plant. A sampled controller meets the plant at its samples, with inputs held in between.
    at : mapping, array_like or str, optional
        Configuration of a reduced model.
    computation_delay : float, optional
        Computation delay of a sampled controller, s. Default: 0.

    Returns
    -------
    Margins
        Margins of each input, and of all inputs at once.

    Raises
    ------
    InputError
        If the plant or the controller is of another kind, names do not fit, or a configuration is missing.

    See Also
    --------
    margin_map : Margins over a grid of configurations.

    Notes
    -----
    Disk margins of all inputs follow from the structured singular value [Seiler 2020]; see docs/theory/robustness.md.

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> linear = supple.linearize(supple.load("two-link"), "near")
    >>> gain = control.decoupled_gains(linear, frequencies=4.0, damping_ratios=0.8)
    >>> control.margins(linear, gain).phase.round(2)
    array([1.32, 1.34])
    """
    require_arguments(margins, locals())
    loop = _loop(plant, controller, at, computation_delay)
    sensitivity = Sensitivity(loop)
    names, m = loop.inputs, len(loop.inputs)
    if not sensitivity.stable:
        nothing, one = np.zeros(m), np.ones((m, 2))
        return Margins(names, False, sensitivity.poles, one, nothing, nothing, nothing, np.full(m, np.nan), 0.0, np.nan,
                       np.zeros(0), np.zeros((0, m), complex), loop.step)  # fmt: skip
    grid = sensitivity.grid()
    S = sensitivity.at(grid)
    alone = [_alone(sensitivity, grid, S[:, k, k], k) for k in range(m)]
    together, where = _together(sensitivity, grid, S) if m > 1 else (alone[0].disk, alone[0].worst)
    drawn = np.isfinite(grid) & (grid > 0.0)
    own = np.einsum("nkk->nk", S)[drawn]
    return Margins(
        names, True, sensitivity.poles,
        np.array([item.gain for item in alone]), np.array([item.phase for item in alone]),
        np.array([item.delay for item in alone]), np.array([item.disk for item in alone]),
        np.array([item.worst for item in alone]) / (2.0 * np.pi), together, where / (2.0 * np.pi),
        grid[drawn] / (2.0 * np.pi), (1.0 - own) / own, loop.step,
    )  # fmt: skip


def _loop(
    plant: LinearModel | ReducedModel, controller: LoopController | None, at: Values | str | None, late: float
) -> LinearModel:
    if isinstance(plant, LinearModel):
        if controller is None:
            return plant
        return open_loop(plant, law_about(controller, plant, {}), LoopInterface(dict.fromkeys(plant.inputs, late), {}))
    if not isinstance(plant, ReducedModel):
        raise InputError(
            f"the plant is a {type(plant).__name__}, not a linear or a reduced model", part="margins",
            hint="give supple.reduce(mechanism, internal_modes=...), or supple.linearize(mechanism, ...)",
        )  # fmt: skip
    if controller is None or at is None:
        raise InputError(
            f'{"a controller" if controller is None else "a configuration"} is missing for model "{plant.name}"',
            part="margins", hint="give margins(model, controller, at=...)",
        )  # fmt: skip
    return loop_at(plant, controller, at, late)


def disk_gain(alpha: float) -> tuple[float, float]:
    """Return the gain factors that a disk of α allows: (2 - α)/(2 + α) and its inverse; all below 0 from α = 2 on."""
    low = (2.0 - alpha) / (2.0 + alpha)
    return low, 1.0 / low if low > 0.0 else np.inf


@dataclass(frozen=True)
class _InputMargins:
    gain: tuple[float, float]
    phase: float
    delay: float
    disk: float
    worst: float


def _alone(sensitivity: Sensitivity, grid: Array, S: ComplexArray, k: int) -> _InputMargins:
    """Return the margins of one input, from S_kk (N,) on the grid and between its points."""

    def own(w: float) -> complex:
        return complex(sensitivity.at(w)[k, k])

    crossing = _roots(grid, _across(S), lambda w: float(_across(own(w))))
    factors = _factor(np.array([own(w) for w in crossing] + [S[0], S[-1]], complex))
    factors = factors[np.isfinite(factors)]
    low = max([0.0, *factors[(factors < 1.0) & (factors > _NOTHING)]])
    high = min([np.inf, *factors[factors > 1.0]])
    even = _roots(grid, _above_one(S), lambda w: float(_above_one(own(w))))
    turns = np.array([np.angle(-(1.0 - s) / s) for s in map(own, even)])
    lags = [np.mod(turn, 2.0 * np.pi) / w for turn, w in zip(turns, even, strict=True) if w > 0.0]
    size, worst = _peak(grid, np.abs(S - 0.5), lambda w: abs(own(w) - 0.5))
    phase = float(np.abs(turns).min(initial=np.pi))
    return _InputMargins((float(low), float(high)), phase, float(min([np.inf, *lags])), 1.0 / size, worst)


def _across(S: Any) -> Any:
    """Return a number with the sign of Im 1/L, without its poles: 1/L = S/(1 - S)."""
    return np.imag(S * np.conj(1.0 - S))


def _above_one(S: Any) -> Any:
    """Return a number with the sign of |L| - 1."""
    return np.abs(1.0 - S) - np.abs(S)


def _factor(S: ComplexArray) -> Array:
    """Return g = -Re 1/L; infinite where L is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(1.0 - S) < 1e-14, np.inf, -(S / (1.0 - S)).real)


def _roots(grid: Array, values: Array, f: Callable[[float], float]) -> list[float]:
    """Return the frequencies of sign changes of a real function, between finite points of the grid."""
    found = []
    for n in np.flatnonzero(np.diff(np.signbit(values))):
        a, b = float(grid[n]), float(grid[n + 1])
        if np.isfinite(b) and f(a) * f(b) < 0.0:
            found.append(float(brentq(f, a, b, xtol=1e-12 * b, rtol=1e-12)))
    return found


def _peak(grid: Array, values: Array, f: Callable[[float], float]) -> tuple[float, float]:
    """Return the largest value and its frequency, refined between the neighbours of the largest grid values."""
    best, where = float(values.max()), float(grid[values.argmax()])
    inner = np.flatnonzero((values[1:-1] >= values[:-2]) & (values[1:-1] >= values[2:])) + 1
    for n in inner[values[inner] > _CLOSE * best]:
        a, b = float(grid[n - 1]), float(grid[n + 1])
        if not np.isfinite(b):
            continue
        found = minimize_scalar(
            lambda w: -f(float(w)), bounds=(a, b), method="bounded", options={"xatol": 1e-5 * (b - a)}
        )
        if -found.fun > best:
            best, where = float(-found.fun), float(found.x)
    return best, where


def _together(sensitivity: Sensitivity, grid: Array, S: ComplexArray) -> tuple[float, float]:
    """Return the half-width 1/α of all inputs and its frequency.

    Bounds of all points are computed first, the best scaling D only where it can be the maximum.
    """
    N = S - 0.5 * np.eye(S.shape[-1])
    values = balanced_norms(N)
    best = 0.0
    for n in np.argsort(-values):
        if values[n] <= best:
            break
        values[n] = structured_norm(N[n])
        best = max(best, values[n])
    half = 0.5 * np.eye(S.shape[-1])
    size, where = _peak(grid, values, lambda w: structured_norm(sensitivity.at(w) - half))
    return 1.0 / size, where


# Disk margins: simultaneous changes of gain and phase at every input that leave the loop stable.
#
#     f_k = (1 + δ_k/2) / (1 - δ_k/2),  |δ_k| < α,      α = 1 / max_ω μ(S(ω) - ½)        [Seiler 2020]
#
# μ is the structured singular value for δ = diag(δ_k), with independent complex numbers. It is bounded above by the
# largest singular value of D (S - ½) D⁻¹ with the best diagonal D, exactly up to three inputs; with more, α may come
# out too small, never too large.


def balanced_norms(N: ComplexArray) -> Array:
    """Return upper bounds (n,) of μ of matrices (n, m, m), by the scaling d = √(y/x) of Perron vectors of |N|."""
    if N.shape[-1] == 1:
        return np.abs(N[:, 0, 0])
    size = np.abs(N) + 1e-300
    right, left = _perron(size), _perron(np.swapaxes(size, 1, 2))
    d = np.sqrt(left / right)
    return np.asarray(np.linalg.svd(d[:, :, None] * N / d[:, None, :], compute_uv=False)[:, 0])


def structured_norm(N: ComplexArray) -> float:
    """Return the smallest largest singular value of D N D⁻¹ over diagonal D > 0, for N (m, m).

    σ(e^X N e^-X) is convex in the diagonal X; its slope along x_k is σ (|u_k|² - |v_k|²).
    """
    m = len(N)
    if m == 1:
        return float(abs(N[0, 0]))

    def compute_scaled_norm(x: Array) -> tuple[float, Array]:
        d = np.exp(np.append(0.0, x))
        u, s, v = np.linalg.svd(d[:, None] * N / d[None, :])
        slope = s[0] * (np.abs(u[:, 0]) ** 2 - np.abs(v[0]) ** 2)
        return float(s[0]), slope[1:]

    size = np.abs(N)[None] + 1e-300
    d = np.sqrt(_perron(np.swapaxes(size, 1, 2)) / _perron(size))[0]
    first = np.log(d[1:] / d[0])
    return float(min(minimize(compute_scaled_norm, first, jac=True).fun, compute_scaled_norm(first)[0]))


def _perron(size: Array) -> Array:
    """Return positive eigenvectors (n, m) of the largest eigenvalue of positive matrices (n, m, m)."""
    values, vectors = np.linalg.eig(size)
    place = np.argmax(values.real, axis=1)
    chosen = np.abs(np.take_along_axis(vectors, place[:, None, None], axis=2)[:, :, 0])
    return np.maximum(chosen, 1e-12 * chosen.max(axis=1, keepdims=True))
