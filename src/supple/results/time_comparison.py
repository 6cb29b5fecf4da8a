"""A reduced model beside the mechanism it was made from, through the same run in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.results.picture import picture
from supple.results.resonances import counterparts, resonances
from supple.results.result import Result
from supple.results.signals import Signals
from supple.results.simulation import Simulation
from supple.results.table import Table

Array = NDArray[np.float64]

FULL, REDUCED = "full", "reduced"
_VISIBLE = 1e-3  # of the scale: below, nothing vibrates there
_NOTHING = 1e-9  # of an output: an elastic part that is smaller is rounding


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
    def scales(self) -> dict[str, float]:
        """What an error is measured by: max |e|; where nothing is elastic, how far the output moves; where it stands
        still, what the others of its unit are measured by."""
        units, seen = self.full.seen.units, self._seen[FULL]
        extent: dict[str, float] = {}
        for name in self.names:
            unit = units.get(name, "")
            extent[unit] = max(extent.get(unit, 0.0), float(np.abs(seen[name]).max(initial=0.0)))
        found, still = {}, []
        for name in self.names:
            least = _NOTHING * extent[units.get(name, "")]
            e = float(np.abs(self.elastic[FULL].get(name, np.zeros(1))).max(initial=0.0))
            moved = float(np.ptp(seen[name])) if self.points else 0.0
            if max(e, moved) > least:
                found[name] = e if e > least else moved
            else:
                still.append(name)
        for name in still:
            alike = [size for other, size in found.items() if units.get(other) == units.get(name)]
            found[name] = max(alike, default=1.0)
        return {name: found[name] for name in self.names}

    @cached_property
    def error(self) -> dict[str, float]:
        """max |ŷ - y| over the scale, max |e|, of each output."""
        return {name: float(np.abs(off).max(initial=0.0)) / self.scales[name] for name, off in self.difference.items()}

    @cached_property
    def rms_error(self) -> dict[str, float]:
        """Root mean square of ŷ - y over the same scale."""
        return {name: _rms(off) / self.scales[name] for name, off in self.difference.items()}

    @cached_property
    def elastic_error(self) -> dict[str, float]:
        """max |ê - e| / max |e|: each deformation counted from where its own run is."""
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
        worst = max(self.error.items(), key=lambda item: item[1], default=("nothing", 0.0))
        ended = f", ended early: {self.reason}" if self.reason else ""
        return (
            f"at {self.points} instants, largest error {worst[1]:.2g} of the elastic part ({worst[0]}), "
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
        return {name: getattr(self, name) for name in names}

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw elastic parts of both and their difference (matplotlib); returns the panels.

        names : outputs, those alone; the three that deform most if left out
        """
        return picture("comparison_plot")(self, names, axes)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0
