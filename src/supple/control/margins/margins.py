"""Margins of a linear loop: the factors, turns and delays at its inputs that it stands before it is unstable.

With S = (1 + L)⁻¹ and all other loops closed, the loop seen at input k is L_k = 1/S_kk - 1. A factor g e^{-iφ} at that
input, or a delay τ, makes it unstable where first, coming from 1,

    g = -Re 1/L_k  at  Im 1/L_k = 0,       φ = π + arg L_k  and  τ = φ/ω  at  |L_k| = 1,       α_k = 1 / max |S_kk - ½|
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from supple.array_types import Array
from supple.control.margins.disk import balanced_norms, structured_norm
from supple.control.margins.local_loop import LoopController, law_about, loop_at
from supple.control.margins.open_loop import Around, open_loop
from supple.control.margins.sensitivity import Sensitivity
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import Values
from supple.results.entries import Entries
from supple.results.linear_model import LinearModel
from supple.results.picture import picture
from supple.results.result import Result
from supple.results.table import Table

ComplexArray = NDArray[np.complex128]

_NOTHING = 1e-9  # a factor: with so little, what drifts without feedback drifts
_CLOSE = 0.95  # of the largest value on the grid: peaks that may turn out to be the largest between its points


@dataclass(frozen=True, eq=False, repr=False)
class Margins(Result):
    """Of each input k, all other loops closed; zero, and factors of one, where the closed loop is unstable.

    inputs   : their names
    stable   : of the closed loop; poles : its own, 1/s
    gain     : (m, 2) factors between which it stays stable, without end 0 and infinity
    phase    : (m,) rad that may be taken away or added
    delay    : (m,) s that may be added
    disk     : (m,) α of that input alone; together : α of all inputs at once
    worst_hz : (m,) where a disk touches, Hz; together_hz : of all at once
    frequencies_hz, loops : (N,) and L_k there (N, m), to draw
    sample_time : s, of a sampled loop; its delays are exact in whole samples, and frequencies end at half the rate
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
        """Factors that every input may have at once, each its own: (2 - α)/(2 + α) and its inverse."""
        return disk_gain(self.together)

    @property
    def phase_together(self) -> float:
        """Rad that every input may be turned at once, each its own: 2 atan(α/2)."""
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
        """A row for each input, and one for all of them together, of which there is no delay."""
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
        """Margins of each input, `NAME.gain.low`, `NAME.gain.high`, `NAME.phase`, ..., and `together`."""
        kinds = {"gain.low": "1", "gain.high": "1", "phase": "rad", "delay": "s", "disk": "1"}
        names = tuple(f"{name}.{kind}" for name in self.inputs for kind in kinds)
        each = np.column_stack([self.gain, self.phase, self.delay, self.disk])
        units = (*(tuple(kinds.values()) * len(self.inputs)), "1")
        return Entries("margin", (*names, "together"), units, np.append(each.ravel(), self.together))

    def plot(self, *, axes: Any = None) -> Any:
        """Nyquist's curves with the disk that each stays out of (matplotlib); returns the panels."""
        return picture("control.margins.plot.nyquist_plot")(self, axes)


def margins(
    plant: LinearModel | ReducedModel,
    controller: LoopController | None = None,
    *,
    at: Values | str | None = None,
    computation_delay: float = 0.0,
) -> Margins:
    """Margins of a plant with a controller; without one, of the open loop L that is given (its inputs are its outputs).

    plant      : a linear model, with drives and instruments where it was linearized with them; or a reduced model,
                 which is linearized with them where it rests `at` θ
    controller : a FeedbackGain; a LinearModel from outputs of the plant to its inputs, u = controller(y); or an affine
                 law, with its matrices there. Sampled ones meet the plant at the samples, inputs held in between
    computation_delay : s, of a sampled controller
    """
    require_arguments(margins, locals())
    loop = _loop(plant, controller, at, computation_delay)
    seen = Sensitivity(loop)
    names, m = loop.inputs, len(loop.inputs)
    if not seen.stable:
        nothing, one = np.zeros(m), np.ones((m, 2))
        return Margins(names, False, seen.poles, one, nothing, nothing, nothing, np.full(m, np.nan), 0.0, np.nan,
                       np.zeros(0), np.zeros((0, m), complex), loop.step)  # fmt: skip
    grid = seen.grid()
    S = seen.at(grid)
    alone = [_alone(seen, grid, S[:, k, k], k) for k in range(m)]
    together, where = _together(seen, grid, S) if m > 1 else (alone[0].disk, alone[0].worst)
    drawn = np.isfinite(grid) & (grid > 0.0)
    own = np.einsum("nkk->nk", S)[drawn]
    return Margins(
        names, True, seen.poles, np.array([item.gain for item in alone]), np.array([item.phase for item in alone]),
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
        return open_loop(plant, law_about(controller, plant, {}), Around(dict.fromkeys(plant.inputs, late), {}))
    if not isinstance(plant, ReducedModel):
        raise InputError(
            f"{type(plant).__name__} is neither a linear nor a reduced model", part="margins",
            hint="give supple.reduce(mechanism, internal_modes=...), or supple.linearize(mechanism, ...)",
        )  # fmt: skip
    if controller is None or at is None:
        raise InputError(
            f'model "{plant.name}" is given without {"a controller" if controller is None else "a configuration"}',
            part="margins", hint="give margins(model, controller, at=...)",
        )  # fmt: skip
    return loop_at(plant, controller, at, late)


def disk_gain(alpha: float) -> tuple[float, float]:
    """Factors that a disk of α allows: (2 - α)/(2 + α) and its inverse; all below 0 included from α = 2 on."""
    low = (2.0 - alpha) / (2.0 + alpha)
    return low, 1.0 / low if low > 0.0 else np.inf


@dataclass(frozen=True)
class _Alone:
    gain: tuple[float, float]
    phase: float
    delay: float
    disk: float
    worst: float


def _alone(seen: Sensitivity, grid: Array, S: ComplexArray, k: int) -> _Alone:
    """Margins of one input, from S_kk (N,) on the grid and between its points."""

    def own(w: float) -> complex:
        return complex(seen.at(w)[k, k])

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
    return _Alone((float(low), float(high)), phase, float(min([np.inf, *lags])), 1.0 / size, worst)


def _across(S: Any) -> Any:
    """Of the sign of Im 1/L, without its poles: 1/L = S/(1 - S)."""
    return np.imag(S * np.conj(1.0 - S))


def _above_one(S: Any) -> Any:
    """Of the sign of |L| - 1."""
    return np.abs(1.0 - S) - np.abs(S)


def _factor(S: ComplexArray) -> Array:
    """g = -Re 1/L; infinite where L is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(1.0 - S) < 1e-14, np.inf, -(S / (1.0 - S)).real)


def _roots(grid: Array, values: Array, f: Callable[[float], float]) -> list[float]:
    """Where a real function of the frequency changes its sign, between finite points of the grid."""
    found = []
    for n in np.flatnonzero(np.diff(np.signbit(values))):
        a, b = float(grid[n]), float(grid[n + 1])
        if np.isfinite(b) and f(a) * f(b) < 0.0:
            found.append(float(brentq(f, a, b, xtol=1e-12 * b, rtol=1e-12)))
    return found


def _peak(grid: Array, values: Array, f: Callable[[float], float]) -> tuple[float, float]:
    """The largest value and its frequency, improved between the neighbours of the grid's largest ones."""
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


def _together(seen: Sensitivity, grid: Array, S: ComplexArray) -> tuple[float, float]:
    """α of all inputs and its frequency: bounds of all points first, the best D only where it can matter."""
    N = S - 0.5 * np.eye(S.shape[-1])
    values = balanced_norms(N)
    best = 0.0
    for n in np.argsort(-values):
        if values[n] <= best:
            break
        values[n] = structured_norm(N[n])
        best = max(best, values[n])
    half = 0.5 * np.eye(S.shape[-1])
    size, where = _peak(grid, values, lambda w: structured_norm(seen.at(w) - half))
    return 1.0 / size, where
