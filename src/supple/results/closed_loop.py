"""A run of a controller in the loop: true and measured signals apart, commands, forces, errors and their spectra."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.diagnostics import InputError, require_known
from supple.results.result import Result, picture
from supple.results.signals import Signals, gathered
from supple.results.simulation import Simulation
from supple.results.table import Table
from supple.results.text import listed

_FEWEST = 8  # samples


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Result):
    """Amplitudes of evenly sampled signals over frequency.

    `spectrum["tip.x"]` is (F,), the amplitude of a sine at each of the frequencies.

    frequencies_hz : (F,), from one over the duration up to half the sampling frequency
    amplitudes     : by name, in the units of the signals
    """

    frequencies_hz: Array
    amplitudes: dict[str, Array]
    units: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        require_known("signal", name, self.amplitudes)
        return self.amplitudes[name]

    def summary(self) -> str:
        return f"of {listed(self.amplitudes)}, {self.frequencies_hz[0]:.4g} to {self.frequencies_hz[-1]:.4g} Hz"

    def peak(self, name: str | None = None) -> float:
        """Where a signal is strongest, Hz; left out, where all of them together are."""
        power = sum(x**2 for x in self.amplitudes.values()) if name is None else self[name]
        return float(self.frequencies_hz[int(np.argmax(power))])

    def table(self) -> Table:
        return Table({"frequency": self.frequencies_hz, **self.amplitudes}, {"frequency": "Hz", **self.units},
                     index="frequency")  # fmt: skip

    def plot(self, *, axes: Any = None) -> Any:
        """Draw all amplitudes over frequency (matplotlib); returns the panels."""
        return picture("control.plot.spectrum_plot")(self, axes)


def spectrum_of(time: Array, names: Sequence[str], values: Array, units: Mapping[str, str]) -> Spectrum:
    """Of signals (N, k) at evenly spaced times, about their means, behind Hann's window.

    A(f) = 2 |Σ_n w_n x_n e^{-2πi f n T}| / Σ_n w_n
    """
    if len(time) < _FEWEST:
        raise InputError(
            f"there are {len(time)} samples from then on", part="spectrum", hint="ask from an earlier time on"
        )
    spacing = np.diff(time)
    if not np.allclose(spacing[:-1], spacing[0], rtol=1e-6):
        raise InputError("its samples are not evenly spaced", part="spectrum", hint="sample it evenly")
    window = np.hanning(len(time) + 1)[:-1]
    x = np.fft.rfft(window[:, None] * (values - values.mean(axis=0)), axis=0)
    lines: Array = np.asarray(np.fft.rfftfreq(len(time), float(spacing[0])), dtype=float)
    sizes = 2.0 * np.abs(x) / window.sum()
    return Spectrum(lines[1:], {name: sizes[1:, i] for i, name in enumerate(names)}, dict(units))


_END = 0.05  # of a run: what still leaves its bounds there has not settled
_LAST = 0.1  # of a run, whose mean is taken for where a signal ends


Goal = Callable[[], Mapping[str, float]]
"""() -> coordinates and outputs by name; computed where it is asked for."""


def _none() -> Signals:
    return Signals(np.zeros(0), {})


@dataclass(frozen=True, eq=False, repr=False)
class ClosedLoop(Simulation):
    """A `Simulation` at the samples of a loop, with what passed between controller, drives and instruments.

    outputs  : the true ones; measured : what instruments made of them
    commands : as the controller told them; applied : after the limits, the dead band and the resolution of drives
    inputs   : forces of the actuators that lead nothing, from each sample on; of those that lead a coordinate see
               `driving_forces`
    wanted   : what the controller's reference asks of coordinates; errors : that less the coordinates
    at_goal  : () -> coordinates and outputs at rest where that reference ends; None where it does not end
    """

    seen_outputs: Signals = field(default_factory=_none)
    measured: Signals = field(default_factory=_none)
    commands: Signals = field(default_factory=_none)
    applied: Signals = field(default_factory=_none)
    forces: Signals = field(default_factory=_none)
    wanted: Signals = field(default_factory=_none)
    at_goal: Goal | None = None

    @property
    def outputs(self) -> Signals:
        return self.seen_outputs

    @property
    def inputs(self) -> Signals:
        return self.forces

    @property
    def errors(self) -> Signals:
        """Wanted less true coordinates; none where no reference is known."""
        found = {name: values - self.coordinates[name] for name, values in self.wanted.items()}
        return Signals(self.time, found, {name: self.wanted.units.get(name, "") for name in found})

    def table(self) -> Table:
        """That of a simulation, and `NAME.measured`, `.command`, `.applied`, `.error`."""
        return gathered(
            self.time, self.seen, self.coordinates, rate=self.rates, acceleration=self.accelerations,
            input=self.inputs, driving_force=self.driving_forces, measured=self.measured, command=self.commands,
            applied=self.applied, error=self.errors, energy=self.energy,
        )  # fmt: skip

    @cached_property
    def goal(self) -> Mapping[str, float]:
        """Coordinates and outputs at rest where the motion ends; empty where no motion ends."""
        return {} if self.at_goal is None else self.at_goal()

    # ------------------------------------------------------------------------ what is left of a motion

    def _signals(self, names: tuple[str, ...]) -> Array:
        """(N, k) outputs or coordinates by name."""
        if not names:
            raise InputError("no signal is named", part="closed loop", hint=f"name one of {', '.join(self.seen)}")
        known = {**self.coordinates, **self.outputs}
        for name in names:
            require_known("signal", name, known, part="closed loop")
        return np.stack([known[name] for name in names], axis=1)

    def residual(self, *names: str, after: float, span: float = 1.0) -> float:
        """What still moves from a time on: the root of the mean square about the mean, over `span` (s).

        names : outputs or coordinates; of several, those of a vector. With accelerations m/s²
        """
        during = (self.time >= after - 1e-9) & (self.time <= after + span + 1e-9)
        if during.sum() < 2:
            raise InputError(
                f"the run ends at {self.time[-1]:.6g} s, before {after:g} s", part="residual",
                hint="ask for an earlier time, or run it longer",
            )  # fmt: skip
        x = self._signals(names)[during]
        return float(np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean()))

    def settling(self, *names: str, within: float, after: float = 0.0, to: ArrayLike | None = None) -> float:
        """How long after a time (s) it takes until signals stay within a distance of their goal; inf if they still
        leave it in the last twentieth of the run.

        names  : outputs or coordinates; of several, the distance is that of a vector
        within : in their unit. Negative where they were there before
        to     : the goal. Left out, what the signals are where the machine rests at the end of its motion, sagged under
                 its weight; without a motion that ends the mean of the last tenth of the run, which is where the run
                 ends, goal or not
        """
        x = self._signals(names)
        if to is None:
            last = x[-max(2, int(_LAST * len(x))) :].mean(axis=0)
            to = [self.goal.get(name, last[i]) for i, name in enumerate(names)]
        far = np.flatnonzero(np.linalg.norm(x - np.asarray(to, dtype=float), axis=1) > within)
        if not len(far):
            return float(self.time[0]) - after
        if far[-1] >= (1.0 - _END) * (len(x) - 1):
            return float("inf")
        return float(self.time[far[-1] + 1]) - after

    def spectrum(self, *names: str, after: float = 0.0) -> Spectrum:
        """Amplitudes over frequency from a time on, of outputs or coordinates; all outputs if none is named."""
        chosen = names or tuple(self.seen)
        from_then = self.time >= after - 1e-9
        values = self._signals(chosen)[from_then]
        units = {name: {**self.coordinates.units, **self.outputs.units}.get(name, "") for name in chosen}
        return spectrum_of(self.time[from_then], chosen, values, units)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw outputs, errors, commands that are no forces, forces and energies over time; returns the panels.

        names : of any of them, those alone; axes : where to draw instead, the outputs alone if it is one
        """
        known = {
            "output": self.outputs, "coordinate": self.coordinates, "error": self.errors, "command": self.commands,
            "force": self.inputs,
        }  # fmt: skip
        if names:
            return picture("view.time_plot.time_plot")(known, names, axes)
        forces = self.inputs.units
        told = {name: values for name, values in self.commands.items() if self.commands.units[name] != forces.get(name)}
        energies = {name: self.energy[name] for name in ("kinetic", "potential", "total") if name in self.energy}
        return picture("view.time_plot.time_plot")({
            "output": self.seen, "error": self.errors.moving(),
            "command": Signals(self.time, told, self.commands.units).moving(), "force": self.inputs.moving(),
            "driving force": self.driving_forces.moving(), "energy": Signals(self.time, energies, self.energy.units),
        }, (), axes)  # fmt: skip
