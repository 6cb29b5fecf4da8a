"""Closed-loop simulation results: true and measured signals, commands, forces, errors and spectra."""

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
from supple.results.signals import Signals, gather_signals
from supple.results.simulation import Simulation
from supple.results.table import Table
from supple.results.text import list_names

_FEWEST = 8  # samples of a spectrum


@dataclass(frozen=True, eq=False, repr=False)
class Spectrum(Result):
    """Amplitude spectra of evenly sampled signals.

    ``spectrum["tip.x"]`` is (F,): at each frequency, the amplitude of a sine.

    Attributes
    ----------
    frequencies_hz : ndarray, shape (F,)
        Frequencies from the inverse of the duration to half the sample rate, Hz.
    amplitudes : dict of str to ndarray
        Amplitudes by signal, in the units of the signals.
    """

    frequencies_hz: Array
    amplitudes: dict[str, Array]
    units: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        require_known("signal", name, self.amplitudes)
        return self.amplitudes[name]

    def summary(self) -> str:
        return f"of {list_names(self.amplitudes)}, {self.frequencies_hz[0]:.4g} to {self.frequencies_hz[-1]:.4g} Hz"

    def peak(self, name: str | None = None) -> float:
        """Return the frequency of the largest amplitude, Hz.

        Parameters
        ----------
        name : str, optional
            Name of the signal. Default: root sum of squares of all signals.
        """
        power = sum(x**2 for x in self.amplitudes.values()) if name is None else self[name]
        return float(self.frequencies_hz[int(np.argmax(power))])

    def table(self) -> Table:
        return Table({"frequency": self.frequencies_hz, **self.amplitudes}, {"frequency": "Hz", **self.units},
                     index="frequency")  # fmt: skip

    def plot(self, *, axes: Any = None) -> Any:
        """Plot all amplitudes over frequency (matplotlib) and return the panels."""
        return picture("control.plot.spectrum_plot")(self, axes)


def spectrum_of(time: Array, names: Sequence[str], values: Array, units: Mapping[str, str]) -> Spectrum:
    """Return the spectrum of signals (N, k) at evenly spaced times, without their means, with a Hann window.

    A(f) = 2 |Σ_n w_n x_n e^{-2πi f n T}| / Σ_n w_n
    """
    if len(time) < _FEWEST:
        raise InputError(
            f"only {len(time)} samples from that time on", part="spectrum", hint="give an earlier start time"
        )
    spacing = np.diff(time)
    if not np.allclose(spacing[:-1], spacing[0], rtol=1e-6):
        raise InputError("the samples are not evenly spaced", part="spectrum", hint="sample the signal evenly")
    window = np.hanning(len(time) + 1)[:-1]
    x = np.fft.rfft(window[:, None] * (values - values.mean(axis=0)), axis=0)
    lines: Array = np.asarray(np.fft.rfftfreq(len(time), float(spacing[0])), dtype=float)
    sizes = 2.0 * np.abs(x) / window.sum()
    return Spectrum(lines[1:], {name: sizes[1:, i] for i, name in enumerate(names)}, dict(units))


_END = 0.05  # fraction at the end of a run; a signal outside its bounds there has not settled
_LAST = 0.1  # fraction at the end of a run whose mean is the final value of a signal


Goal = Callable[[], Mapping[str, float]]
"""Function () -> coordinates and outputs by name, evaluated only if requested."""


def _none() -> Signals:
    return Signals(np.zeros(0), {})


@dataclass(frozen=True, eq=False, repr=False)
class ClosedLoop(Simulation):
    """Closed-loop simulation at the samples of a controller, with the signals of controller, drives and instruments.

    Attributes
    ----------
    outputs : Signals
        True outputs.
    measured : Signals
        Outputs as the instruments measured them.
    commands : Signals
        Commands of the controller.
    applied : Signals
        Commands after limits, dead band and resolution of the drives.
    inputs : Signals
        Forces of actuators that do not prescribe motion, held from each sample. For the others see `driving_forces`.
    wanted : Signals
        Desired coordinates, from the reference of the controller.
    errors : Signals
        Desired minus true coordinates.
    at_goal : callable or None
        () -> coordinates and outputs at rest at the end of the reference; None if the reference does not end.

    See Also
    --------
    Simulation : attributes and methods of all simulations.
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
        """Desired minus true coordinates; empty if there is no reference."""
        found = {name: values - self.coordinates[name] for name, values in self.wanted.items()}
        return Signals(self.time, found, {name: self.wanted.units.get(name, "") for name in found})

    def table(self) -> Table:
        """Return the table of the simulation, with columns `NAME.measured`, `.command`, `.applied` and `.error`."""
        return gather_signals(
            self.time, self.observed_signals, self.coordinates, rate=self.rates, acceleration=self.accelerations,
            input=self.inputs, driving_force=self.driving_forces, measured=self.measured, command=self.commands,
            applied=self.applied, error=self.errors, energy=self.energy,
        )  # fmt: skip

    @cached_property
    def goal(self) -> Mapping[str, float]:
        """Coordinates and outputs at rest at the end of the motion; empty if the motion does not end."""
        return {} if self.at_goal is None else self.at_goal()

    # ------------------------------------------------------------------------ residual motion

    def _signals(self, names: tuple[str, ...]) -> Array:
        """Return outputs or coordinates by name, (N, k)."""
        if not names:
            raise InputError(
                "no signal given", part="closed loop", hint=f"give at least one of {', '.join(self.observed_signals)}"
            )
        known = {**self.coordinates, **self.outputs}
        for name in names:
            require_known("signal", name, known, part="closed loop")
        return np.stack([known[name] for name in names], axis=1)

    def residual(self, *names: str, after: float, span: float = 1.0) -> float:
        """Return the RMS of signals about their mean, over `span` seconds after a time.

        Parameters
        ----------
        *names : str
            Outputs or coordinates. Several are treated as a vector.
        after : float
            Start time, s.
        span : float, optional
            Length of the interval, s. Default: 1.

        Returns
        -------
        float
            Residual motion, in the unit of the signals (m/s² for acceleration sensors).

        Raises
        ------
        InputError
            If no signal is given, a signal is unknown, or the run ends before the interval.
        """
        during = (self.time >= after - 1e-9) & (self.time <= after + span + 1e-9)
        if during.sum() < 2:
            raise InputError(
                f"the run ends at {self.time[-1]:.6g} s, before after={after:g} s", part="residual",
                hint="give an earlier time, or simulate longer",
            )  # fmt: skip
        x = self._signals(names)[during]
        return float(np.sqrt(((x - x.mean(axis=0)) ** 2).sum(axis=1).mean()))

    def settling(self, *names: str, within: float, after: float = 0.0, to: ArrayLike | None = None) -> float:
        """Return the settling time: time after `after` until signals stay within a distance of their goal.

        Parameters
        ----------
        *names : str
            Outputs or coordinates. For several signals, the distance is that of a vector.
        within : float
            Distance, in the unit of the signals.
        after : float, optional
            Time from which the settling time counts, s. Default: 0.
        to : array_like, optional
            Goal of each signal. Default: values at rest at the end of the reference, with the deflection by gravity. If
            the reference does not end: mean of the last tenth of the run.

        Returns
        -------
        float
            Settling time, s; negative if the signals were settled before `after`. It is inf if they still leave the
            distance in the last twentieth of the run.
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
        """Return amplitude spectra of outputs or coordinates.

        Parameters
        ----------
        *names : str
            Outputs or coordinates. Default: all outputs.
        after : float, optional
            Time from which samples are used, s. Default: 0.

        Returns
        -------
        Spectrum
            Amplitudes over frequency.
        """
        chosen = names or tuple(self.observed_signals)
        used = self.time >= after - 1e-9
        values = self._signals(chosen)[used]
        units = {name: {**self.coordinates.units, **self.outputs.units}.get(name, "") for name in chosen}
        return spectrum_of(self.time[used], chosen, values, units)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Plot outputs, errors, commands that are not forces, forces and energies over time; return the panels.

        Parameters
        ----------
        *names : str
            Signals to plot. Default: all of these groups.
        axes : matplotlib.axes.Axes, optional
            Axes to draw into; a single one shows the outputs. Default: a new figure.
        """
        known = {
            "output": self.outputs, "coordinate": self.coordinates, "error": self.errors, "command": self.commands,
            "force": self.inputs,
        }  # fmt: skip
        if names:
            return picture("view.time_plot.time_plot")(known, names, axes)
        forces = self.inputs.units
        other_commands = {
            name: values for name, values in self.commands.items() if self.commands.units[name] != forces.get(name)
        }
        energies = {name: self.energy[name] for name in ("kinetic", "potential", "total") if name in self.energy}
        return picture("view.time_plot.time_plot")({
            "output": self.observed_signals, "error": self.errors.drop_zeros(),
            "command": Signals(self.time, other_commands, self.commands.units).drop_zeros(),
            "force": self.inputs.drop_zeros(), "driving force": self.driving_forces.drop_zeros(),
            "energy": Signals(self.time, energies, self.energy.units),
        }, (), axes)  # fmt: skip
