"""Comparison of a reduced model with its mechanism in the same simulated scenario."""

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
_VISIBLE = 1e-3  # of the scale: an elastic part below it does not vibrate
FLOOR = 1e-5  # of the motion of a vector: a smaller elastic part is not used as the scale of errors
_NOTHING = 1e-9  # of the largest value of a unit: a vector that moves less is at rest
_WORDS = {"deformation": "elastic part", "motion": "motion", "others": "unit's largest"}
_COMPONENTS = ("x", "y", "z", "rx", "ry", "rz", "angle")


class VectorError(NamedTuple):
    """Errors of the components of one sensor in one unit; |·| is the Euclidean norm over them.

    Attributes
    ----------
    outputs : tuple of str
        Names of the outputs.
    scale : float
        Scale of the errors: max |e|; if that is below the floor, the largest motion of the vector; if the vector is at
        rest, the largest scale of its unit.
    measured_by : {"deformation", "motion", "others"}
        Which of these the scale is.
    floor : float
        1e-5 of the largest motion of the vector, max |y - y(0)|.
    error, rms_error : float
        Maximum and root mean square of |ŷ - y|, over the scale.
    elastic_error : float or None
        max |ê - e| over the scale; None for outputs without an undeformed value.
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
    """Comparison of two runs at the same times.

    The mechanism has the outputs y, the reduced model ŷ; e and ê are their elastic parts.

    Attributes
    ----------
    full, reduced : Simulation
        Runs of the mechanism and of the reduced model.
    rigid_outputs : mapping
        Outputs ρ_o(θ(t)) of undeformed bodies at the coordinates of each run, so that e = y - ρ_o(θ).
    full_seconds, reduced_seconds : float
        Computing times of `full` and of `own`, s.
    coefficients : dict of str to float
        Largest error of each family of coefficients along the run.
    at : dict of str to dict
        Configuration {coordinate: value} of each of these errors.
    force_error : float or None
        For a prescribed motion: largest difference of the forces that it requires, relative to their largest value.
    reason : str
        Why one of the runs ended early, or "". The comparison covers the time that both runs reached.
    missing : tuple of str
        Outputs of the mechanism that the model does not have.
    free_from : float
        Time after which no input changes, s.
    own : Simulation or None
        A run of the reduced model with 100 results and error-controlled steps of tolerance 1e-7.
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
        """True if both runs reached the end of the scenario."""
        return not self.reason

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic parts that are treated as rigid in the mechanism."""
        return self.full.rigid

    @property
    def speedup(self) -> float:
        """Ratio of the computing times of the mechanism and of the reduced model."""
        return self.full_seconds / self.reduced_seconds

    @cached_property
    def points(self) -> int:
        """Number of time instants that both runs have."""
        return min(len(self.full.time), len(self.reduced.time))

    @property
    def time(self) -> Array:
        """Times of the comparison (N,), s."""
        return self.full.time[: self.points]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the outputs that both runs have; coordinates if there are no sensors."""
        return tuple(name for name in self.full.observed_signals if name in self._outputs[REDUCED])

    @cached_property
    def _outputs(self) -> dict[str, dict[str, Array]]:
        """Outputs y and ŷ by name, under `full` and `reduced`."""
        found = {}
        for which, run in ((FULL, self.full), (REDUCED, self.reduced)):
            known = {**run.coordinates, **run.outputs}
            found[which] = {name: known[name][: self.points] for name in self.full.observed_signals if name in known}
        return found

    def get_output(self, which: str, name: str) -> Array:
        """Return an output (N,) of one of the runs.

        Parameters
        ----------
        which : {"full", "reduced"}
            The run.
        name : str
            Name of the output.
        """
        return self._outputs[which][name]

    @cached_property
    def elastic(self) -> dict[str, dict[str, Array]]:
        """Elastic parts e and ê by name, under `full` and `reduced`; outputs without an undeformed value have none."""
        return {
            which: {
                name: self._outputs[which][name] - values[: self.points]
                for name, values in self.rigid_outputs[which].items()
                if name in self.names
            }
            for which in (FULL, REDUCED)
        }

    @cached_property
    def difference(self) -> dict[str, Array]:
        """Difference ŷ - y (N,) of each output."""
        return {name: self._outputs[REDUCED][name] - self._outputs[FULL][name] for name in self.names}

    @cached_property
    def vectors(self) -> dict[str, VectorError]:
        """Scale and errors of each sensor, with the components of a vector taken together."""
        units, seen = self.full.observed_signals.units, self._outputs[FULL]
        largest: dict[str, float] = {}
        for name in self.names:
            unit = units.get(name, "")
            largest[unit] = max(largest.get(unit, 0.0), float(np.abs(seen[name]).max(initial=0.0)))
        measured: dict[str, tuple[float, str, float]] = {}
        for label, names in self._groups.items():
            moved = _largest([seen[name] - seen[name][:1] for name in names])
            known = [self.elastic[FULL][name] for name in names if name in self.elastic[FULL]]
            e, floor = _largest(known), FLOOR * moved
            if max(e, moved) > _NOTHING * largest[units.get(names[0], "")]:
                measured[label] = (e, "deformation", floor) if e > floor else (moved, "motion", floor)
        found = {}
        for label, names in self._groups.items():
            alike = [measured[other][0] for other, them in self._groups.items()
                     if other in measured and units.get(them[0]) == units.get(names[0])]  # fmt: skip
            scale, by, floor = measured.get(label, (max(alike, default=1.0), "others", 0.0))
            off = [self.difference[name] for name in names]
            both = [(self.elastic[FULL].get(name), self.elastic[REDUCED].get(name)) for name in names]
            elastic = [two - one for one, two in both if one is not None and two is not None]
            found[label] = VectorError(
                names, scale, by, floor, _largest(off) / scale, _rms(_size(off)) / scale,
                _largest(elastic) / scale if len(elastic) == len(names) else None,
            )  # fmt: skip
        return found

    @cached_property
    def _groups(self) -> dict[str, tuple[str, ...]]:
        """Outputs that are components of one vector, by its name: the outputs of one sensor with one unit."""
        units, found = self.full.observed_signals.units, dict[tuple[str, str], list[str]]()
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
        """Scale of the errors of each output: the scale of its vector."""
        found = {name: vector.scale for vector in self.vectors.values() for name in vector.outputs}
        return {name: found[name] for name in self.names}

    @cached_property
    def error(self) -> dict[str, float]:
        """Largest |ŷ - y| of each output, over the scale of its vector."""
        return {name: float(np.abs(off).max(initial=0.0)) / self.scales[name] for name, off in self.difference.items()}

    @cached_property
    def rms_error(self) -> dict[str, float]:
        """Root mean square of ŷ - y of each output, over the scale of its vector."""
        return {name: _rms(off) / self.scales[name] for name, off in self.difference.items()}

    @cached_property
    def elastic_error(self) -> dict[str, float]:
        """Largest |ê - e| of each output, over the scale of its vector. Each run's own θ defines its elastic part."""
        return {
            name: float(np.abs(e - self.elastic[REDUCED][name]).max(initial=0.0)) / self.scales[name]
            for name, e in self.elastic[FULL].items()
            if name in self.elastic[REDUCED]
        }

    @property
    def pace_error(self) -> dict[str, float]:
        """Largest difference between `own` and `reduced` in each output, over the same scale, due to longer steps."""
        if self.own is None:
            return {}
        last, found = self.time[-1] if self.points else -np.inf, {}
        for name in self.names:
            known = self.own.outputs if name in self.own.outputs else self.own.coordinates
            there = self.own.time <= last
            off = known[name][there] - np.interp(self.own.time[there], self.time, self._outputs[REDUCED][name])
            found[name] = float(np.abs(off).max(initial=0.0)) / self.scales[name]
        return found

    @property
    def coordinate_error(self) -> dict[str, float]:
        """Largest |θ̂ - θ| of each coordinate, rad or m."""
        n = self.points
        return {
            name: float(np.abs(self.reduced.coordinates[name][:n] - values[:n]).max(initial=0.0))
            for name, values in self.full.coordinates.items()
            if name in self.reduced.coordinates
        }

    @cached_property
    def frequencies_hz(self) -> dict[str, Array]:
        """Resonance frequencies of the elastic parts while inputs are constant, Hz, for `full` and `reduced`.

        Those of the reduced run are listed beside their counterparts of the full run, nan if there is none close by.
        """
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
        """Energies of each run at the end of the comparison, J, with `defect`, the error of their balance."""
        found = {}
        for which, run in ((FULL, self.full), (REDUCED, self.reduced)):
            last: dict[str, float | None] = {
                name: float(values[self.points - 1]) for name, values in run.energy.items() if self.points
            }
            found[which] = last | {"defect": run.energy_defect}
        return found

    def summary(self) -> str:
        """Return a one-line summary."""
        errors = [(label, vector.error, vector.measured_by) for label, vector in self.vectors.items()]
        label, error, by = max(errors, key=lambda item: item[1], default=("nothing", 0.0, "deformation"))
        ended = f", ended early: {self.reason}" if self.reason else ""
        return (
            f"at {self.points} instants, largest error {error:.2g} of its {_WORDS[by]} ({label}), "
            f"{self.speedup:.3g} times as fast{ended}"
        )

    def table(self) -> Table:
        """Return the outputs over time as columns `NAME.full`, `NAME.reduced` and, if known, `NAME.elastic`."""
        columns: dict[str, Any] = {"time": self.time}
        units = {"time": "s"}
        for name in self.names:
            found = {which: self._outputs[which][name] for which in (FULL, REDUCED)}
            if name in self.elastic[FULL]:
                found["elastic"] = self.elastic[FULL][name]
            columns |= {f"{name}.{mark}": values for mark, values in found.items()}
            units |= dict.fromkeys((f"{name}.{mark}" for mark in found), self.full.observed_signals.units.get(name, ""))
        return Table(columns, {name: unit for name, unit in units.items() if unit}, index="time")

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        names = (
            "error", "rms_error", "elastic_error", "pace_error", "scales", "coordinate_error", "force_error",
            "coefficients", "at", "frequencies_hz", "energy", "speedup", "full_seconds", "reduced_seconds", "points",
            "complete", "reason", "missing", "rigid", "free_from",
        )  # fmt: skip
        vectors = {label: vector._asdict() for label, vector in self.vectors.items()}
        return {"vectors": vectors} | {name: getattr(self, name) for name in names}

    def text(self) -> Text:
        """Return the errors of outputs and coordinates, resonances, energies and computing times."""
        out = Text("reduced model compared with its mechanism in time")
        units = self.full.observed_signals.units
        rows = []
        for label, vector in self.vectors.items():
            scale = f"{number_text(vector.scale, units.get(vector.outputs[0], ''))} ({vector.measured_by})"
            elastic = "" if vector.elastic_error is None else f"{100 * vector.elastic_error:.2g} %"
            rows.append((label, scale, f"{100 * vector.error:.2g} %", f"{100 * vector.rms_error:.2g} %", elastic))
        out.table(("output", "scale", "error", "RMS error", "error of the elastic part"), rows)
        out.table(("coordinate", "largest difference"), [(k, f"{v:.2g}") for k, v in self.coordinate_error.items()])
        full, reduced = (self.frequencies_hz[which] for which in (FULL, REDUCED))
        if len(full):
            beside = [
                (f"{a:.4g}", f"{b:.4g}", f"{100 * (b / a - 1):+.2g} %") if b == b else (f"{a:.4g}", "none", "")
                for a, b in zip(full, reduced, strict=True)
            ]
            out.table(("resonance, Hz", "reduced", "difference"), beside)
        out.table(("energy, J", "mechanism", "reduced"), self._accounts())
        if self.force_error is not None:
            out.line(f"forces required by the motion: error {self.force_error:.2g} of their largest value")
        worst = max(self.coefficients.items(), key=lambda item: item[1], default=None)
        if worst is not None:
            out.line(f"coefficients along the run: largest error {worst[1]:.2g} ({worst[0]})")
        own = "" if self.own is None else f" in {self.own.steps} error-controlled steps"
        out.line(
            f"mechanism {self.full_seconds:.3g} s in {self.full.steps} steps, reduced model "
            f"{self.reduced_seconds:.3g} s{own}: {self.speedup:.3g} times as fast"
        )
        return out

    def _accounts(self) -> list[tuple[str, ...]]:
        """Return the energies that are not zero in both runs, at the end."""
        full, reduced = self.energy[FULL], self.energy[REDUCED]
        names = [name for name in full if name != "defect" and (full[name] or reduced.get(name))]
        return [
            (name, *(number_text(side[name]) if name in side else "" for side in (full, reduced))) for name in names
        ]

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw the elastic parts of both runs and their difference with matplotlib, and return the panels.

        Parameters
        ----------
        *names : str
            Outputs to draw. Default: the three with the largest elastic parts.
        axes : optional
            Axes to draw on. Default: a new figure.
        """
        return picture("comparison.plot.comparison_plot")(self, names, axes)


def _size(components: list[Array]) -> Array:
    """Return the Euclidean norm over the components of a vector, (N,)."""
    return np.sqrt(np.sum(np.square(components), axis=0)) if components else np.zeros(0)


def _largest(components: list[Array]) -> float:
    return float(_size(components).max(initial=0.0))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0


# Resonance frequencies of a run, from a fit of damped oscillations to its elastic parts.
#
#     e(t) = Σ_k c_k exp(s_k t),   s_k = -ζ_k ω_k ± i ω_k √(1 - ζ_k²)
#
# The poles are those of the shift by one step of the signal subspace of a Hankel matrix of samples (matrix pencil; Hua
# and Sarkar 1990). The fit uses second differences of the samples, so that slow motion weighs little.


_SAMPLES = 600  # at most, from the beginning
_LEAST = 24  # samples: fewer are not enough for a fit
_RANK = 1e-5  # of the largest singular value: smaller ones are noise
_MOST = 24  # poles
_WEAK = 0.01  # of the largest amplitude
_DAMPED = 0.3  # ratio above which a pole is no resonance
_CYCLES = 2.0  # within the samples: slower oscillations belong to the gross motion
_ONE = 0.02  # of a frequency: closer poles are one resonance
_SAME = 0.1  # of a frequency: largest distance of its counterpart


def resonances(time: Array, signals: Array) -> Array:
    """Return the undamped frequencies |s_k|/2π (r,), Hz, ascending, of oscillations in signals (N, k) at times (N,)."""
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
    """Return the poles z_k of samples a (n, m) = Σ_k c_k z_k^i, and the amplitude of each."""
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


def counterparts(frequencies: Array, among: Array) -> Array:
    """Return for each frequency (r,) the nearest of the others if it is close, else nan."""
    if not len(among):
        return np.full(len(frequencies), np.nan)
    nearest = among[np.abs(among[None, :] - frequencies[:, None]).argmin(axis=1)]
    return np.where(np.abs(nearest - frequencies) <= _SAME * frequencies, nearest, np.nan)
