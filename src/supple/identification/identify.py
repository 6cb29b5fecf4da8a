"""Identification of drive parameters and damping from logged runs, by least squares with a reduced model.

    min_p Σ_runs Σ_outputs Σ_samples ((y - ŷ(p) - b)/σ)²

y is the logged output, ŷ the response of the model with its drives to the logged commands, b a constant of each output
and run (its bias, and the zero of an encoder), and σ the noise of each output. σ is estimated from the residuals, and
the fit repeated with it. To first order in the noise the covariance of p is (JᵀJ)⁻¹, J = ∂(ŷ/σ)/∂p, if the residuals
are white; `Identified.whiteness` measures this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import least_squares

from supple.array_types import Array
from supple.control.plants.sampled import sampled_system
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError, nearest, require_known
from supple.diagnostics.arguments import require_arguments
from supple.formulations.described_hardware import hardware_of
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import Hardware
from supple.hardware.instrument_bank import InstrumentBank
from supple.identification.logged_runs import LoggedRun, logged_run
from supple.reduced.damped import add_damping
from supple.reduced.model import ReducedModel
from supple.reduced.scaled import scaled_model
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.simulation.driver import Sent, drive
from supple.simulation.model_run import ModelRun, yields_along

_WHITE = 0.2  # correlation of residuals between samples, above which they are not only noise


@dataclass(frozen=True, eq=False, repr=False)
class Identified(Result):
    """Identified parameters with their uncertainty.

    Attributes
    ----------
    names : tuple of str
        Names of the parameters (k,).
    values : ndarray, shape (k,)
        Identified values, SI.
    covariance : ndarray, shape (k, k)
        Covariance of the values.
    guesses : ndarray, shape (k,)
        First guesses.
    outputs : tuple of str
        Outputs that were compared.
    noise : ndarray, shape (outputs,)
        RMS of the residuals of each output.
    whiteness : ndarray, shape (outputs,)
        Correlation of the residuals between successive samples. If it is far from 0, the model is incomplete and the
        standard deviations are too small.
    at_bounds : tuple of str
        Parameters that are at a bound.
    model : ReducedModel
        Model with the identified parameters.
    hardware : Hardware
        Drives and instruments with the identified parameters.
    runs : tuple of LoggedRun
        Runs that were used.
    left : tuple of ndarray
        Residuals y - ŷ - b of each run, (N, outputs).
    evaluations : int
        Number of simulations of all runs.
    """

    names: tuple[str, ...]
    values: Array
    covariance: Array
    guesses: Array
    outputs: tuple[str, ...]
    noise: Array
    whiteness: Array
    at_bounds: tuple[str, ...]
    model: ReducedModel
    hardware: Hardware
    runs: tuple[LoggedRun, ...]
    left: tuple[Array, ...]
    evaluations: int = 0

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise InputError(f'"{name}" was not identified', part="identification", hint=nearest(name, self.names))
        return float(self.values[self.names.index(name)])

    @property
    def deviations(self) -> dict[str, float]:
        """Standard deviation of each parameter."""
        return dict(zip(self.names, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @property
    def correlation(self) -> Array:
        """Correlation (k, k), -1 to 1: two parameters close to ±1 cannot be distinguished in these runs."""
        size = np.sqrt(np.diag(self.covariance))
        return np.asarray(self.covariance / np.outer(size, size))

    def damping_ratios(self, theta: Mapping[str, float] | Array) -> Array:
        """Return the damping ratios of the elastic modes at θ, in order of frequency, with θ locked.

        Parameters
        ----------
        theta : mapping or array_like
            Coordinates θ.
        """
        c, s = self.model.evaluate(theta), self.model.layout.theta
        squares, modes = eigh(c.K[s:, s:], c.M[s:, s:])
        return np.asarray(np.einsum("ji,jk,ki->i", modes, c.damping[s:, s:], modes) / (2.0 * np.sqrt(squares)))

    def summary(self) -> str:
        """Return a one-line summary."""
        found = ", ".join(
            f"{name} {value:.4g} ± {deviation:.2g}"
            for name, value, deviation in zip(self.names, self.values, self.deviations.values(), strict=True)
        )
        doubts = [f"at a bound: {', '.join(self.at_bounds)}"] if self.at_bounds else []
        coloured = [name for name, c in zip(self.outputs, self.whiteness, strict=True) if abs(c) > _WHITE]
        doubts += [f"residuals are not white: {', '.join(coloured)}"] if coloured else []
        return "; ".join([found, *doubts])

    def table(self) -> Table:
        """Return one row for each parameter: value, standard deviation and first guess."""
        columns: dict[str, NDArray[Any]] = {
            "name": np.array(self.names), "value": self.values,
            "deviation": np.array(list(self.deviations.values())), "guess": self.guesses,
        }  # fmt: skip
        return Table(columns, index="name")

    def plot(self, run: int = 0, *, axes: Any = None) -> Any:
        """Draw the outputs of a run as logged and as simulated, with their residuals, and return the panels.

        Parameters
        ----------
        run : int, optional
            Index of the run. Default: 0.
        axes : optional
            Axes to draw on. Default: a new figure.
        """
        return picture("identification.plot.identified_plot")(self, run, axes)

    def with_noise(self) -> Hardware:
        """Return the hardware found, with the RMS residuals as noise of its instruments."""
        loud = dict(zip(self.outputs, self.noise.tolist(), strict=True))
        items = tuple(replace(item, noise=loud.get(item.output, item.noise)) for item in self.hardware.instruments)
        return replace(self.hardware, instruments=items)


_ROUNDS = 4  # of noise estimates and fits, at most
_SETTLED = 0.02  # of σ: a smaller change ends the rounds
_DIFFERENCE = 1e-4  # of an unknown, for slopes: larger than the errors of time integration
_ROUGHLY, _CONVERGED = 1e-3, 1e-5  # tolerance of the sum of squares and unknowns: at first, and once noise is known


def identify(
    mechanism: Mechanism,
    model: ReducedModel,
    runs: Any,
    unknown: Sequence[str],
    *,
    start: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    outputs: Sequence[str] | None = None,
) -> Identified:
    """Identify parameters of drives and damping from logged runs that started at rest.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism whose file describes the drives and instruments and gives first guesses of the unknowns.
    model : ReducedModel
        Reduced model whose region covers the runs.
    runs : LoggedRun, Simulation, str, mapping or sequence of these
        One or more logged runs: results of `closed_loop`, CSV files, columns by name, or `LoggedRun`.
    unknown : sequence of str
        Names of the unknowns: "lift.gain", "lift.frequency", "lift.delay" (a parameter of a drive), "damping",
        "stiffness" (factors on those of the deformation), "damping.mass" or "damping.stiffness" (α in 1/s and β in s
        of D_δδ + α M_δδ + β K_δδ).
    start : mapping of str to float, optional
        First guesses by name. Default: the values in the file.
    bounds : mapping of str to (float, float), optional
        Lower and upper bounds by name. Default: a tenth to ten times the first guess.
    outputs : sequence of str, optional
        Outputs that are compared. Default: all outputs of the model that every run has logged.

    Returns
    -------
    Identified
        Values with their covariance, the noise of the outputs, and the residuals.

    Raises
    ------
    InputError
        If an unknown does not affect the logged outputs, or not independently of the others.
    NumericalError
        If the model cannot be simulated with the values that the search tries.

    See Also
    --------
    update : Fit parameters of the mechanism file to modal tests.

    Notes
    -----
    The estimate minimizes the weighted output error

        min_p Σ_runs Σ_outputs Σ_samples ((y - ŷ(p) - b)/σ)²

    where y is the logged output, ŷ the response of the model with its drives to the logged commands, b a constant of
    each output and run, and σ the noise of the output, estimated from the residuals. See
    docs/theory/identification.md.
    """
    require_arguments(identify, locals())
    given = [runs] if isinstance(runs, LoggedRun | str | Mapping) or not isinstance(runs, Sequence) else list(runs)
    logged = [logged_run(item) for item in given]
    if not logged:
        raise InputError("no run is given", part="identify", hint="give at least one")
    compared = _outputs(model, logged, outputs)
    sought = unknowns(mechanism, model, unknown, dict(start or {}), dict(bounds or {}))
    measured = [np.column_stack([run.measured[name] for name in compared]) for run in logged]
    fit = _Fit(sought, logged, compared, measured)
    return fit.solve()


def _outputs(model: ReducedModel, runs: Sequence[LoggedRun], names: Sequence[str] | None) -> tuple[str, ...]:
    known = [name for name in runs[0].measured if all(name in run.measured for run in runs)]
    for name in names or ():
        if name not in known:
            raise InputError(f'not every run has logged "{name}"', part="identify", hint=nearest(name, known))
    found = tuple(names or (name for name in known if name in model.layout.outputs))
    if not found:
        raise InputError(
            f"no logged column is an output of the model ({', '.join(model.layout.outputs)})",
            part="identify", hint="name the logged columns like the sensors",
        )  # fmt: skip
    return found


class _Fit:
    """Residuals over noise, and their least-squares fit."""

    def __init__(
        self, unknowns: Unknowns, runs: Sequence[LoggedRun], outputs: tuple[str, ...], measured: list[Array]
    ) -> None:
        self.unknowns, self.runs, self.outputs, self.measured = unknowns, runs, outputs, measured
        spread = np.array([np.std(y, axis=0) for y in measured]).max(axis=0)
        still = np.flatnonzero(spread <= 0.0)
        if len(still):
            raise InputError(
                f'output "{outputs[still[0]]}" is constant in all runs',
                part="identify",
                hint="leave it out, or log a run in which it moves",
            )
        self.noise = spread
        self.evaluations = 0

    def left(self, values: Array) -> list[Array]:
        """Return y - ŷ - b (N, outputs) of every run."""
        self.evaluations += 1
        model, hardware = self.unknowns.scaled_model_at(values), self.unknowns.hardware(values)
        off = [
            y - predict_outputs(model, hardware, run, self.outputs)
            for y, run in zip(self.measured, self.runs, strict=True)
        ]
        return [item - item.mean(axis=0) for item in off]

    def residuals(self, x: Array) -> Array:
        return np.concatenate([(item / self.noise).ravel() for item in self.left(x * self.unknowns.sizes)])

    def solve(self) -> Identified:
        """Repeat the fit with the noise of the previous one until the noise is constant."""
        sought = self.unknowns
        x, low, high = sought.guesses / sought.sizes, *(sought.bounds / sought.sizes)
        for turn in range(_ROUNDS):
            close = _CONVERGED if turn else _ROUGHLY
            solved = least_squares(
                self.residuals, np.clip(x, low, high), bounds=(low, high), diff_step=_DIFFERENCE, ftol=close,
                xtol=close, gtol=None,
            )  # fmt: skip
            x, before = solved.x, self.noise
            left = self.left(x * sought.sizes)
            self.noise = np.sqrt(np.mean(np.vstack(left) ** 2, axis=0))
            if turn and np.abs(self.noise / before - 1.0).max() < _SETTLED:
                break
        J = solved.jac * (before / self.noise)[self._columns()][:, None]
        return self._result(x, J, left, low, high)

    def _columns(self) -> NDArray[np.int64]:
        """Return the index of the output of each residual."""
        return np.concatenate([np.tile(np.arange(len(self.outputs)), len(run.time)) for run in self.runs])

    def _result(self, x: Array, J: Array, left: list[Array], low: Array, high: Array) -> Identified:
        sought = self.unknowns
        _, s, Vt = np.linalg.svd(J, full_matrices=False)
        if s[-1] <= 1e-9 * s[0]:
            worst = sought.names[int(np.abs(Vt[-1]).argmax())]
            raise InputError(
                f'"{worst}" does not affect the outputs of these runs, or not independently of the others',
                part="identify",
                hint="log a run that excites it, or leave it out",
            )  # fmt: skip
        covariance = (Vt.T / s**2) @ Vt * np.outer(sought.sizes, sought.sizes)
        values = x * sought.sizes
        edge = [name for k, name in enumerate(sought.names)
                if min(x[k] - low[k], high[k] - x[k]) <= 1e-6 * max(1.0, abs(x[k]))]  # fmt: skip
        return Identified(
            sought.names, values, covariance, sought.guesses, self.outputs, self.noise, _whiteness(left),
            tuple(edge), sought.scaled_model_at(values), sought.hardware(values), tuple(self.runs), tuple(left),
            self.evaluations,
        )  # fmt: skip


def _whiteness(left: Sequence[Array]) -> Array:
    """Return the correlation (outputs,) of residuals between successive samples: near 0 for white noise."""
    both = sum(np.sum(item[1:] * item[:-1], axis=0) for item in left)
    return np.asarray(both / sum(np.sum(item**2, axis=0) for item in left))


# Prediction of the sensor outputs: a model with its drives under the commands of a logged run.


def predict_outputs(model: ReducedModel, hardware: Hardware, run: LoggedRun, outputs: Sequence[str]) -> Array:
    """Return the outputs (N, outputs) of a run from rest, with these drives and instruments."""
    layout = model.layout
    names = layout.coordinates[: layout.theta]
    commands = ordered_commands(run, layout.inputs)
    bank = DriveBank(hardware, layout.inputs, names, hardware.actuator_coordinates)
    start, yields = start_coordinates(run, hardware, names), yields_along(model, bank)
    plant = ModelRun(model, run.time, start=start, led=bank.led, yields=yields)
    theta, rates = (part[: plant.system.theta] for part in plant.state)
    held = model.inverse(plant.eta[None, : layout.theta], delta=plant.eta[None, layout.theta :])[0]
    bank.reset(theta, rates, None, np.linalg.lstsq(model.evaluate(theta).input_map, held)[0])
    seen = InstrumentBank(hardware, layout.outputs, run.sample_time, len(run.time))
    durations = np.diff(run.time)
    samples = sampled_system(plant, bank, seen, np.append(durations, durations[-1]), np.zeros((0, len(layout.inputs))))
    drive(samples, Sent(commands[:-1]))
    if plant.reason:
        raise NumericalError(
            f"the simulation with trial values failed: {plant.reason}", part="identify",
            hint="give closer first guesses (start=), or bounds (bounds=)",
        )  # fmt: skip
    return samples.readings[:, [layout.outputs.index(name) for name in outputs]]


def ordered_commands(run: LoggedRun, inputs: Sequence[str]) -> Array:
    """Return the commands (N, a) in the order of the inputs."""
    missing = [name for name in inputs if name not in run.commands]
    if missing:
        raise InputError(
            f'actuator "{missing[0]}" has no logged command', part="logged run", hint=f'log "{missing[0]}.command"'
        )
    return np.column_stack([run.commands[name] for name in inputs])


def start_coordinates(run: LoggedRun, hardware: Hardware, names: Sequence[str]) -> dict[str, float]:
    """Return θ at the start, as given, or as measured by encoders in the first sample."""
    found = {}
    for name in names:
        encoder = hardware.encoders.get(name, name)
        if name in run.start:
            found[name] = float(run.start[name])
        elif encoder in run.measured:
            found[name] = float(run.measured[encoder][0])
        else:
            raise InputError(
                f'the initial value of "{name}" is unknown', part="logged run",
                hint=f"log its encoder, or give start={{{name!r}: ...}}",
            )  # fmt: skip
    return found


# Unknowns by name: parameters of drives, and factors of the stiffness and damping of a model's deformation.
#
# lift.gain, lift.frequency, ...   a parameter of the drive of an actuator, or its delay
# damping, stiffness               factors on those of the deformation
# damping.mass, damping.stiffness  α (1/s) and β (s) of D_δδ + α M_δδ + β K_δδ


FACTORS = ("damping", "stiffness")
ADDED = {"damping.mass": 1.0, "damping.stiffness": 1e-4}  # with the scale of each
DELAY = "delay"
_WIDE = 10.0  # default bounds: the first guess times and divided by this


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Names (k,), first guesses (k,), scales (k,) and bounds (2, k) of the unknowns."""

    mechanism: Mechanism
    model: ReducedModel
    names: tuple[str, ...]
    guesses: Array
    sizes: Array
    bounds: Array

    def hardware(self, values: Array) -> Hardware:
        """Return drives with these values, and instruments without noise and bias."""
        own = hardware_of(self.mechanism)
        trial: dict[str, dict[str, float]] = {}
        for name, value in zip(self.names, values.tolist(), strict=True):
            actuator, _, parameter = name.rpartition(".")
            if actuator and name not in ADDED:
                trial.setdefault(actuator, {})[parameter] = value
        drives = tuple(
            _with(self.mechanism, block, trial[block.actuator]) if block.actuator in trial else block
            for block in own.drives
        )
        quiet = tuple(replace(item, noise=0.0, walk=0.0, bias=0.0, resolution=0.0) for item in own.instruments)
        return replace(own, drives=drives, instruments=quiet)

    def scaled_model_at(self, values: Array) -> ReducedModel:
        """Return the model with these factors on its deformation."""
        given = dict(zip(self.names, values.tolist(), strict=True))
        model = scaled_model(self.model, stiffness=given.get("stiffness", 1.0), damping=given.get("damping", 1.0))
        return add_damping(model, given.get("damping.mass", 0.0), given.get("damping.stiffness", 0.0))


def unknowns(
    mechanism: Mechanism,
    model: ReducedModel,
    names: Sequence[str],
    start: Mapping[str, float],
    bounds: Mapping[str, tuple[float, float]],
) -> Unknowns:
    """Check the unknowns and return them, with first guesses as given or from the file."""
    if not names:
        raise InputError("no unknown is given", part="identify", hint="name unknowns: lift.gain, damping, ...")
    known = {**_drive_parameters(mechanism), **dict.fromkeys(FACTORS, 1.0), **dict.fromkeys(ADDED, 0.0)}
    for name in [*names, *start, *bounds]:
        require_known("parameter", name, known, part="identify")
    guesses = np.array([float(start[name]) if name in start else _guess(name, known) for name in names])
    sizes = np.array([ADDED.get(name, abs(guess) or 1e-3) for name, guess in zip(names, guesses, strict=True)])
    pairs = [bounds.get(name, _default_bounds(name, guess)) for name, guess in zip(names, guesses, strict=True)]
    low, high = zip(*pairs, strict=True)
    limits = np.array([low, high], dtype=float)
    for k, name in enumerate(names):
        if not limits[0, k] <= guesses[k] <= limits[1, k]:
            raise InputError(
                f"the first guess {guesses[k]:g} is outside the bounds {limits[0, k]:g} ... {limits[1, k]:g}",
                part=f'unknown "{name}"', hint="give another start, or wider bounds",
            )  # fmt: skip
    if model.layout.size == model.layout.theta and any(name in FACTORS or name in ADDED for name in names):
        raise InputError(
            "the model is rigid, so that it has no damping or stiffness of deformation", part="identify",
            hint="reduce it with modes",
        )  # fmt: skip
    return Unknowns(mechanism, model, tuple(names), guesses, sizes, limits)


def _drive_parameters(mechanism: Mechanism) -> dict[str, float | None]:
    """Return the parameters of all drives, None for those that the file omits."""
    found: dict[str, float | None] = {}
    for actuator, part in mechanism.actuators.items():
        if part.drive is not None:
            given = part.drive.given
            found |= {f"{actuator}.{name}": given.get(name) for name in part.drive.record.all_parameters}
            found[f"{actuator}.{DELAY}"] = given.get(DELAY, 0.0)
    return found


def _guess(name: str, known: Mapping[str, float | None]) -> float:
    value = known[name]
    if value is None:
        raise InputError("the file gives no value", part=f'unknown "{name}"', hint="give its first guess in start")
    return float(value)


def _default_bounds(name: str, guess: float) -> tuple[float, float]:
    if name in ADDED:
        return 0.0, np.inf
    if name.endswith(f".{DELAY}"):
        return 0.0, max(_WIDE * guess, 0.1)
    return tuple(sorted((guess / _WIDE, guess * _WIDE)))  # type: ignore[return-value]


def _with(mechanism: Mechanism, block: DriveBlock, trial: Mapping[str, float]) -> DriveBlock:
    """Return the block of a drive with other parameter values."""
    drive = mechanism.actuators[block.actuator].drive
    assert drive is not None
    linear = drive.record.block({"gear": 1.0, **drive.given, **trial})
    return replace(
        block, A=linear.A, B=linear.B, C=linear.C, D=linear.D, E=linear.E,
        damping=linear.damping + float(drive.viscous), delay=trial.get(DELAY, block.delay),
    )  # fmt: skip
