"""A reduced model beside the mechanism it was made from, through the same run in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.results.result import Result, picture
from supple.results.signals import Signals
from supple.results.simulation import Simulation
from supple.results.table import Table
from supple.results.text import Text, number_text

FULL, REDUCED = "full", "reduced"
_VISIBLE = 1e-3  # of the scale: below, nothing vibrates there
FLOOR = 1e-5  # of how far a vector moves: an elastic part below it is not what errors are measured by
_NOTHING = 1e-9  # of the largest value of a unit: what moves less stands still
_WORDS = {"deformation": "elastic part", "motion": "motion", "others": "unit's largest"}
_COMPONENTS = ("x", "y", "z", "rx", "ry", "rz", "angle")


class JudgedVector(NamedTuple):
    """Components of one sensor in one unit, judged together: |·| is the Euclidean norm over them.

    outputs     : their names
    scale       : what errors are measured by: max |e|, or where that is below the floor, how far the vector moves, or
                  where it stands still too, the largest scale of its unit
    measured_by : "deformation", "motion" or "others"
    floor       : 1e-5 of how far the vector moves, max |y - y(0)|
    error, rms_error : max |ŷ - y| and root mean square of |ŷ - y|, over the scale
    elastic_error    : max |ê - e| over the scale; None of outputs without an undeformed value
    """

    outputs: tuple[str, ...]
    scale: float
    measured_by: str
    floor: float
    error: float
    rms_error: float
    elastic_error: float | None


@dataclass(frozen=True, eq=False, repr=False)
class TimeComparison(Result):
    """Two runs on the same times, y of the mechanism and ŷ of the reduced model, with e and ê their elastic parts.

    full, reduced : the runs; rigid_outputs : of each, the outputs ρ_o(θ(t)) that undeformed bodies would have where
                    its own coordinates are, so that e = y - ρ_o(θ)
    coefficients  : family -> largest error of the fitted coefficients along the way, and `at` which θ
    own           : the reduced model once more, at its own pace: a hundred results, steps that err by at most 1e-7
    full_seconds, reduced_seconds : of `full` and of `own`
    force_error   : where a motion is prescribed, largest difference of the forces it needs, of their largest value
    reason        : why one of them ended early, or ""; the comparison goes as far as both came
    missing       : outputs of the mechanism that the model does not have
    free_from     : s, after which no input changes any more
    """

    full: Simulation
    reduced: Simulation
    rigid_outputs: Mapping[str, Signals]
    full_seconds: float
    reduced_seconds: float
    coefficients: dict[str, float] = field(default_factory=dict)
    at: dict[str, dict[str, float]] = field(default_factory=dict)
    force_error: float | None = None
    reason: str = ""
    missing: tuple[str, ...] = ()
    free_from: float = 0.0
    own: Simulation | None = None

    @property
    def complete(self) -> bool:
        return not self.reason

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic parts that the mechanism's side takes as rigid."""
        return self.full.rigid

    @property
    def speedup(self) -> float:
        return self.full_seconds / self.reduced_seconds

    @cached_property
    def points(self) -> int:
        """How many instants both have."""
        return min(len(self.full.time), len(self.reduced.time))

    @property
    def time(self) -> Array:
        return self.full.time[: self.points]

    @property
    def names(self) -> tuple[str, ...]:
        """Outputs that both have; coordinates where nothing is sensed."""
        return tuple(name for name in self.full.seen if name in self._seen[REDUCED])

    @cached_property
    def _seen(self) -> dict[str, dict[str, Array]]:
        """y and ŷ."""
        found = {}
        for which, run in ((FULL, self.full), (REDUCED, self.reduced)):
            known = {**run.coordinates, **run.outputs}
            found[which] = {name: known[name][: self.points] for name in self.full.seen if name in known}
        return found

    def seen(self, which: str, name: str) -> Array:
        """An output of `full` or of `reduced`."""
        return self._seen[which][name]

    @cached_property
    def elastic(self) -> dict[str, dict[str, Array]]:
        """e and ê by name, under `full` and `reduced`; outputs without an undeformed value have none."""
        return {
            which: {
                name: self._seen[which][name] - values[: self.points]
                for name, values in self.rigid_outputs[which].items()
                if name in self.names
            }
            for which in (FULL, REDUCED)
        }

    @cached_property
    def difference(self) -> dict[str, Array]:
        """ŷ - y."""
        return {name: self._seen[REDUCED][name] - self._seen[FULL][name] for name in self.names}

    @cached_property
    def vectors(self) -> dict[str, JudgedVector]:
        """Sensors, components of a vector together, with what they are measured by and their errors."""
        units, seen = self.full.seen.units, self._seen[FULL]
        largest: dict[str, float] = {}
        for name in self.names:
            unit = units.get(name, "")
            largest[unit] = max(largest.get(unit, 0.0), float(np.abs(seen[name]).max(initial=0.0)))
        measured: dict[str, tuple[float, str, float]] = {}
        for label, names in self._grouped.items():
            moved = _largest([seen[name] - seen[name][:1] for name in names])
            known = [self.elastic[FULL][name] for name in names if name in self.elastic[FULL]]
            e, floor = _largest(known), FLOOR * moved
            if max(e, moved) > _NOTHING * largest[units.get(names[0], "")]:
                measured[label] = (e, "deformation", floor) if e > floor else (moved, "motion", floor)
        found = {}
        for label, names in self._grouped.items():
            alike = [measured[other][0] for other, them in self._grouped.items()
                     if other in measured and units.get(them[0]) == units.get(names[0])]  # fmt: skip
            scale, by, floor = measured.get(label, (max(alike, default=1.0), "others", 0.0))
            off = [self.difference[name] for name in names]
            both = [(self.elastic[FULL].get(name), self.elastic[REDUCED].get(name)) for name in names]
            bent = [two - one for one, two in both if one is not None and two is not None]
            found[label] = JudgedVector(
                names, scale, by, floor, _largest(off) / scale, _rms(_size(off)) / scale,
                _largest(bent) / scale if len(bent) == len(names) else None,
            )  # fmt: skip
        return found

    @cached_property
    def _grouped(self) -> dict[str, tuple[str, ...]]:
        """Outputs that are components of one vector, by its name: those of one sensor with one unit."""
        units, found = self.full.seen.units, dict[tuple[str, str], list[str]]()
        for name in self.names:
            stem, _, last = name.rpartition(".")
            key = (stem if stem and last in _COMPONENTS else name, units.get(name, ""))
            found.setdefault(key, []).append(name)
        several = [label for label, _ in found]
        return {
            names[0] if len(names) == 1 else label if several.count(label) == 1 else f"{label}, {unit}": tuple(names)
            for (label, unit), names in found.items()
        }

    @cached_property
    def scales(self) -> dict[str, float]:
        """What an error of each output is measured by: the scale of its vector."""
        found = {name: judged.scale for judged in self.vectors.values() for name in judged.outputs}
        return {name: found[name] for name in self.names}

    @cached_property
    def error(self) -> dict[str, float]:
        """max |ŷ - y| of each output over the scale of its vector."""
        return {name: float(np.abs(off).max(initial=0.0)) / self.scales[name] for name, off in self.difference.items()}

    @cached_property
    def rms_error(self) -> dict[str, float]:
        """Root mean square of ŷ - y over the same scale."""
        return {name: _rms(off) / self.scales[name] for name, off in self.difference.items()}

    @cached_property
    def elastic_error(self) -> dict[str, float]:
        """max |ê - e| over the scale of its vector: each deformation counted from where its own run is."""
        return {
            name: float(np.abs(e - self.elastic[REDUCED][name]).max(initial=0.0)) / self.scales[name]
            for name, e in self.elastic[FULL].items()
            if name in self.elastic[REDUCED]
        }

    @property
    def pace_error(self) -> dict[str, float]:
        """max |ŷ of `own` - ŷ| over the same scale: what its longer steps add."""
        if self.own is None:
            return {}
        last, found = self.time[-1] if self.points else -np.inf, {}
        for name in self.names:
            known = self.own.outputs if name in self.own.outputs else self.own.coordinates
            there = self.own.time <= last
            off = known[name][there] - np.interp(self.own.time[there], self.time, self._seen[REDUCED][name])
            found[name] = float(np.abs(off).max(initial=0.0)) / self.scales[name]
        return found

    @property
    def coordinate_error(self) -> dict[str, float]:
        """max |θ̂ - θ| of each coordinate, rad or m."""
        n = self.points
        return {
            name: float(np.abs(self.reduced.coordinates[name][:n] - values[:n]).max(initial=0.0))
            for name, values in self.full.coordinates.items()
            if name in self.reduced.coordinates
        }

    @cached_property
    def frequencies_hz(self) -> dict[str, Array]:
        """Resonances that the elastic parts show where inputs are constant, `full`, and beside them those of the
        reduced run (nan where it has none close by)."""
        elastic, free = self.elastic, self.time >= self.free_from
        moving = [name for name, e in elastic[FULL].items() if self.points and np.ptp(e) > _VISIBLE * self.scales[name]]
        if not moving:
            return {FULL: np.zeros(0), REDUCED: np.zeros(0)}
        shown = [
            resonances(self.time[free], np.stack([elastic[which][name][free] for name in moving], axis=1))
            for which in (FULL, REDUCED)
        ]
        return {FULL: shown[0], REDUCED: counterparts(*shown)}

    @property
    def energy(self) -> dict[str, dict[str, float | None]]:
        """The account of each at the end of the comparison, J, and `defect`, what it is off by."""
        found = {}
        for which, run in ((FULL, self.full), (REDUCED, self.reduced)):
            last: dict[str, float | None] = {
                name: float(values[self.points - 1]) for name, values in run.energy.items() if self.points
            }
            found[which] = last | {"defect": run.energy_defect}
        return found

    def summary(self) -> str:
        errors = [(label, judged.error, judged.measured_by) for label, judged in self.vectors.items()]
        label, error, by = max(errors, key=lambda item: item[1], default=("nothing", 0.0, "deformation"))
        ended = f", ended early: {self.reason}" if self.reason else ""
        return (
            f"at {self.points} instants, largest error {error:.2g} of its {_WORDS[by]} ({label}), "
            f"{self.speedup:.3g} times as fast{ended}"
        )

    def table(self) -> Table:
        """`NAME.full`, `.reduced`, and where there is one `.elastic` of the mechanism."""
        columns: dict[str, Any] = {"time": self.time}
        units = {"time": "s"}
        for name in self.names:
            found = {which: self._seen[which][name] for which in (FULL, REDUCED)}
            if name in self.elastic[FULL]:
                found["elastic"] = self.elastic[FULL][name]
            columns |= {f"{name}.{mark}": values for mark, values in found.items()}
            units |= dict.fromkeys((f"{name}.{mark}" for mark in found), self.full.seen.units.get(name, ""))
        return Table(columns, {name: unit for name, unit in units.items() if unit}, index="time")

    def data(self) -> dict[str, Any]:
        """The object for scripts."""
        names = (
            "error", "rms_error", "elastic_error", "pace_error", "scales", "coordinate_error", "force_error",
            "coefficients", "at", "frequencies_hz", "energy", "speedup", "full_seconds", "reduced_seconds", "points",
            "complete", "reason", "missing", "rigid", "free_from",
        )  # fmt: skip
        vectors = {label: judged._asdict() for label, judged in self.vectors.items()}
        return {"vectors": vectors} | {name: getattr(self, name) for name in names}

    def text(self) -> Text:
        """Errors of outputs and coordinates, resonances, energies, and how fast both are."""
        out, units = Text(), self.full.seen.units
        rows = []
        for label, judged in self.vectors.items():
            scale = f"{number_text(judged.scale, units.get(judged.outputs[0], ''))} ({judged.measured_by})"
            elastic = "" if judged.elastic_error is None else f"{100 * judged.elastic_error:.2g} %"
            rows.append((label, scale, f"{100 * judged.error:.2g} %", f"{100 * judged.rms_error:.2g} %", elastic))
        out.table(("output", "measured by", "error", "rms", "of the deformation alone"), rows)
        out.table(("coordinate", "largest difference"), [(k, f"{v:.2g}") for k, v in self.coordinate_error.items()])
        full, reduced = (self.frequencies_hz[which] for which in (FULL, REDUCED))
        if len(full):
            beside = [
                (f"{a:.4g}", f"{b:.4g}", f"{100 * (b / a - 1):+.2g} %") if b == b else (f"{a:.4g}", "none", "")
                for a, b in zip(full, reduced, strict=True)
            ]
            out.table(("resonance, Hz", "reduced", "off by"), beside)
        out.table(("energy, J", "mechanism", "reduced"), self._accounts())
        if self.force_error is not None:
            out.line(f"forces that the motion needs: {self.force_error:.2g} of their largest value off")
        worst = max(self.coefficients.items(), key=lambda item: item[1], default=None)
        if worst is not None:
            out.line(f"coefficients along the way: {worst[1]:.2g} off at most ({worst[0]})")
        own = "" if self.own is None else f" in {self.own.steps} of its own"
        out.line(
            f"{self.full_seconds:.3g} s in {self.full.steps} steps, reduced {self.reduced_seconds:.3g} s{own}: "
            f"{self.speedup:.3g} times faster"
        )
        return out

    def _accounts(self) -> list[tuple[str, ...]]:
        """Energies that either has, at the end."""
        full, reduced = self.energy[FULL], self.energy[REDUCED]
        names = [name for name in full if name != "defect" and (full[name] or reduced.get(name))]
        return [
            (name, *(number_text(side[name]) if name in side else "" for side in (full, reduced))) for name in names
        ]

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw elastic parts of both and their difference (matplotlib); returns the panels.

        names : outputs, those alone; the three that deform most if left out
        """
        return picture("comparison.plot.comparison_plot")(self, names, axes)


def _size(components: list[Array]) -> Array:
    """|·| over the components of a vector, (N,)."""
    return np.sqrt(np.sum(np.square(components), axis=0)) if components else np.zeros(0)


def _largest(components: list[Array]) -> float:
    return float(_size(components).max(initial=0.0))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0


# Resonance frequencies that a run shows, by a fit of damped oscillations to what vibrates in it.
#
#     e(t) = Σ_k c_k exp(s_k t),   s_k = -ζ_k ω_k ± i ω_k √(1 - ζ_k²)
#
# The poles are those of the shift that carries the signal subspace of a Hankel matrix of samples one step on (matrix
# pencil; Hua and Sarkar 1990). Second differences stand for the samples, so that slow motion weighs little.


_SAMPLES = 600  # at most, from the beginning
_LEAST = 24  # samples: fewer show nothing
_RANK = 1e-5  # of the largest singular value: below, it is no signal
_MOST = 24  # poles
_WEAK = 0.01  # of the largest amplitude
_DAMPED = 0.3  # ratio above which a pole is no resonance
_CYCLES = 2.0  # within the samples: what is slower is the motion itself
_ONE = 0.02  # of a frequency: closer ones are one
_SAME = 0.1  # of a frequency: how far its counterpart may be


def resonances(time: Array, signals: Array) -> Array:
    """Undamped frequencies |s_k|/2π (r,), Hz, rising, of the oscillations in signals (N, k) at even times (N,)."""
    if len(time) < _LEAST or not signals.shape[1]:
        return np.zeros(0)
    even = np.linspace(time[0], time[-1], len(time))
    x = np.stack([np.interp(even, time, column) for column in signals.T], axis=1)
    a = np.diff(x, 2, axis=0)[:_SAMPLES]
    size = np.abs(a).max(axis=0)
    a = a[:, size > _RANK * size.max(initial=0.0)]
    if not a.size:
        return np.zeros(0)
    step, count = float(even[1] - even[0]), len(a)
    poles, amplitudes = _poles(a)
    s = np.log(poles) / step
    omega = np.abs(s)
    kept = (s.imag > 0.0) & (-s.real < _DAMPED * omega) & (omega * step * count > 2.0 * np.pi * _CYCLES)
    kept &= amplitudes > _WEAK * amplitudes[s.imag > 0.0].max(initial=0.0)
    kept &= omega * step < 0.5 * np.pi  # four samples a period at least
    found: list[float] = []
    for k in np.flatnonzero(kept)[np.argsort(-amplitudes[kept])]:  # of poles that stand for one resonance the strongest
        if all(abs(omega[k] - other) > _ONE * other for other in found):
            found.append(float(omega[k]))
    return np.sort(found) / (2.0 * np.pi)


def _poles(a: Array) -> tuple[NDArray[np.complex128], Array]:
    """z_k of samples a (n, m) = Σ_k c_k z_k^i, and how much each has of them."""
    n = len(a)
    rows = n // 2
    hankel = np.hstack([np.lib.stride_tricks.sliding_window_view(column, n - rows + 1) for column in a.T])
    U, sigma, _ = np.linalg.svd(hankel, full_matrices=False)
    rank = min(_MOST, int((sigma > _RANK * sigma[0]).sum()))
    shift = np.linalg.lstsq(U[:-1, :rank], U[1:, :rank], rcond=None)[0]
    z = np.linalg.eigvals(shift).astype(complex)
    z = z[np.abs(z) > 1e-6]
    powers = z[None, :] ** np.arange(n)[:, None]
    shares = np.linalg.lstsq(powers, a.astype(complex), rcond=None)[0]
    return z, np.sqrt((np.abs(shares[:, None, :] * powers.T[:, :, None]) ** 2).sum(axis=(1, 2)))


def counterparts(wanted: Array, among: Array) -> Array:
    """Of each wanted frequency (r,) the nearest among others, where that is close; else nan."""
    if not len(among):
        return np.full(len(wanted), np.nan)
    nearest = among[np.abs(among[None, :] - wanted[:, None]).argmin(axis=1)]
    return np.where(np.abs(nearest - wanted) <= _SAME * wanted, nearest, np.nan)
