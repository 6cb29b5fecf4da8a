"""Simulation of a closed loop: a controller samples a plant, and drives apply its commands until the next sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from math import isfinite
from pathlib import Path
from traceback import extract_tb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.control.controller import Controller
from supple.control.controller_measurement import Measurement, MeasurementLayout, exact_panel, instrument_panel
from supple.control.plants.plants import PlantOptions, drives_of, goal_of, plant_in
from supple.control.plants.sampled import Sampled, sampled_system
from supple.control.plants.surrounding import hardware_in
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleError, require_known
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.limits import require_within
from supple.hardware.drive_bank import DriveBank
from supple.hardware.hardware import Hardware
from supple.hardware.instrument_bank import InstrumentBank
from supple.integration.input_course import Inputs, input_course
from supple.integration.time_steps import StepOptions, require_run
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import in_order
from supple.results.closed_loop import ClosedLoop
from supple.results.linear_model import LinearModel
from supple.results.signals import Signals, label_signals
from supple.results.simulation import warn_of
from supple.simulation.driver import drive
from supple.systems.advancing import Plant
from supple.systems.protocols import System, system_of

_AFTER = 1.0  # s that a run continues after the end of the motion


def closed_loop(
    plant: Mechanism | ReducedModel | LinearModel,
    controller: Controller | Sequence[Controller],
    *,
    until: float | None = None,
    sample_time: float | None = None,
    start: Any = None,
    rates: Mapping[str, float] | ArrayLike | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    spectral_radius: float = 0.9,
    friction_speed: float = 1e-3,
    rigid: bool = False,
    hardware: Hardware | bool = True,
    computation_delay: float = 0.0,
    seed: int = 0,
    disturbances: Inputs = None,
) -> ClosedLoop:
    """Simulate a controller in the loop with a mechanism, a reduced model or a linear model.

    Parameters
    ----------
    plant : Mechanism, ReducedModel or LinearModel
        Plant. A mechanism is simulated with the full nonlinear equations.
    controller : Controller or sequence of Controller
        Object with ``step(t, measurement)`` that returns commands of the actuators, by name or in order.

        Commands of several controllers add up. Each may have a sample time of its own.
    until : float, optional
        End time, s. Default: one second after the end of the controller's reference motion.
    sample_time : float, optional
        Sample time, s. Default: the controller's own, of several the shortest.

        Commands are held between samples (zero-order hold). Continuous feedback is the limit of small sample times; the
        delay is half a sample on average.
    start : mapping, array_like, str or NamedState, optional
        Initial coordinates. Default: the beginning of the reference motion, or rest without one.

        Accepted are θ by name or in order, the name of a configuration, or "equilibrium" (without forces), as in
        `simulate`. A linear model starts from its own operating point by default. States of linear models
        (`at["states"]`) include rates, and must be in the plant's basis; so must gains. Elastic bodies start at rest
        under their own weight, held by the drives, unless the start prescribes their deformation.
    rates : mapping or array_like, optional
        Initial rates of the coordinates. Default: 0.
    step : float, optional
        Step of the integrator, s; the longest one if a tolerance is given. Default: adaptive.

        A step is at most one sample. For a mechanism, adaptive steps are at most a tenth of a sample or 1 ms, whichever
        is longer.
    tolerance : float, optional
        Relative tolerance of the integrator. Default: 1e-6 for a mechanism without a step, 1e-9 for a reduced model.

        For a reduced model whose coordinates are all prescribed by drives the default is 1e-6, of an error estimate
        whose order is lower than that of the method.
    spectral_radius : float, optional
        Spectral radius of the integrator at high frequencies, for a mechanism. Default: 0.9.
    friction_speed : float, optional
        Speed below which dry friction is regularized, m/s or rad/s. Default: 1e-3.
    rigid : bool, optional
        Treat elastic bodies of a mechanism as rigid. Default: False: they deform.

        Controllers measure θ and the outputs of the deformed mechanism.
    hardware : Hardware or bool, optional
        Drives and instruments: the plant's own (True), none (False), or others. Default: True.

        Without any, commands are forces and measurements are exact. With any, a measurement contains sensor readings
        only. The drives of a linear model are part of it.
    computation_delay : float, optional
        Delay from a measurement to the command computed from it, s. Default: 0.
    seed : int, optional
        Random seed for the noise of instruments. Default: 0.
    disturbances : mapping, callable or array_like, optional
        Forces of actuators, N or N m, that are added behind the drives. Default: none.

        They are given as the inputs of `simulate`, and sampled at the sample time of the loop.

    Returns
    -------
    ClosedLoop
        True and measured signals, commands, forces and errors at the samples. If the controller raises an error or the
        plant cannot be simulated further, the run ends there; see `ClosedLoop.reason`.

    Raises
    ------
    InputError
        If the arguments, the controller and the plant do not fit together.

    Warns
    -----
    EarlyEnd
        If the controller or the plant ended the run early.
    SuppleWarning
        If the energy balance is not met: the steps are too long.

    See Also
    --------
    study : Repeat a closed loop over sampled parameters.
    margins : Stability margins of a loop.
    supple.simulate : Simulate without a controller.

    Notes
    -----
    docs/theory/closed-loop.md describes the order of events at a sample.

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> linear = supple.linearize(supple.load("two-link"), "near")
    >>> gain = control.decoupled_gains(linear, frequencies=4.0, damping_ratios=0.8)
    >>> run = control.closed_loop(linear, gain.regulator(), until=2.0, sample_time=0.01, start={"shoulder": 0.5})
    >>> run.coordinates["shoulder"][[0, -1]].round(2)
    array([0.5 , 0.05])
    """
    require_arguments(closed_loop, locals())
    controllers = controller if isinstance(controller, Sequence) else (controller,)
    motion = followed_motion(controllers)
    times = _samples(*_spans(controllers, motion, until, sample_time))
    if start is None and motion is not None and not isinstance(plant, LinearModel):
        start = _find_start(plant, motion)
    devices = hardware_in(plant, hardware)
    require_fitting(controllers, plant, devices)
    if step is not None and step > 0.0:
        require_run(float(times[-1] - times[0]), step)
    steps = StepOptions(step, tolerance, spectral_radius, friction_speed, rigid)
    options = PlantOptions(times, start, rates, steps)
    drives = drives_of(plant, devices, computation_delay)
    plant_run = plant_in(plant, drives, options)
    commands = Commands(controllers, plant_run.system.inputs, float(times[1] - times[0]))
    instruments = InstrumentBank(devices, plant_run.system.outputs, float(times[1] - times[0]), len(times), seed)
    durations = np.diff(times)  # forces that begin at the last sample are recorded, but act on nothing
    samples = sampled_system(
        plant_run,
        drives,
        instruments,
        np.append(durations, durations[-1]),
        _disturbance_forces(plant_run.system.inputs, disturbances, times),
    )
    source = _Controllers(plant_run, samples, commands, times, _panel(plant_run.system, devices))
    failed = _run(samples, source)
    run = loop_result(plant_run, drives, samples, source.commands, commands.reference, failed)
    run = replace(run, at_goal=goal_of(plant, commands.reference, rigid=rigid))
    warn_of(run)
    return run


def _panel(system: System, hardware: Hardware) -> MeasurementLayout:
    if hardware:
        return instrument_panel(system.rigid_coordinates, system.outputs, hardware)
    return exact_panel(system.coordinates, system.outputs, system.basis)


class _Controllers:
    """Source of commands: the controllers of a loop receive a measurement at every sample and return commands.

    Implements `Source`.

    events : every sample is an event; at the last the plant does not advance, and its forces are recorded
    """

    def __init__(
        self, plant: Plant, samples: Sampled, commands: Commands, times: Array, panel: MeasurementLayout
    ) -> None:
        self._plant, self._samples, self._commands, self._panel = plant, samples, commands, panel
        self._times, self.sample = times.tolist(), 0
        self.events = [*range(1, len(times)), len(times) - 1]
        self._given = np.zeros((len(times), len(plant.system.inputs)))

    @property
    def commands(self) -> Array:
        """Commands (samples, a) up to the present sample."""
        return self._given[: self.sample + 1]

    @property
    def time(self) -> float:
        """Time of the present sample, s."""
        return self._times[self.sample]

    def give_inputs(self, event: int) -> Array:
        """Return the commands (a,) computed from the present measurement."""
        self.sample, samples, panel, t = event, self._samples, self._panel, self._times[event]
        numbers = np.concatenate([*self._plant.state, samples.seen[event]]) if panel.whole else samples.readings[event]
        measurement = Measurement.from_numbers(panel, numbers, t)
        if event == 0:
            self._commands.reset(measurement)
        self._given[event] = command = self._commands.at(event, t, measurement)
        return command

    def record_advance(self, event: int) -> None:
        """Pass the commands as applied by the drives to the controllers."""
        self._commands.record_command(self._samples.applied[event])

    def repeat(self) -> None:
        """Record the previous sample once more: the present one has no commands."""
        for part in (self._given, self._samples.applied, self._samples.forces):
            part[self.sample] = part[self.sample - 1]


def _run(samples: Sampled, controllers: _Controllers) -> str:
    """Run until the end or an error; return the reason why a controller failed, or ""."""
    try:
        drive(samples, controllers)
    except (Exception, KeyboardInterrupt) as error:  # keep the samples computed so far
        if controllers.sample == 0:  # nothing has been computed yet
            raise
        controllers.repeat()
        return _failure_text(controllers.time, error)
    return ""


def _failure_text(t: float, error: BaseException) -> str:
    """Return why a controller ended the run: the message, and for errors that are not supple's where it was raised."""
    if isinstance(error, KeyboardInterrupt):
        return f"interrupted at {t:.6g} s"
    if isinstance(error, SuppleError):
        return f"the controller failed at {t:.6g} s: {error}"
    place = extract_tb(error.__traceback__)[-1]
    return (
        f"the controller failed at {t:.6g} s: {type(error).__name__}: {error} "
        f"({Path(place.filename).name}, line {place.lineno})"
    )


def _disturbance_forces(inputs: tuple[str, ...], disturbances: Inputs, times: Array) -> Array:
    """Return the disturbance forces at the samples, N or N m: (N, a), or (0, a) without any."""
    if disturbances is None:
        return np.zeros((0, len(inputs)))
    breaks, values = input_course(inputs, disturbances, None, times, None)
    columns = [np.interp(times, breaks, column) for column in values.T]
    return np.array(columns).T.reshape(len(times), len(inputs))


def _spans(
    controllers: Sequence[Controller], motion: Any, until: float | None, sample_time: float | None
) -> tuple[float, float]:
    """Return end time and sample time, s, as given or as the controllers have them."""
    if sample_time is None:
        own = [T for T in (getattr(item, "sample_time", None) for item in controllers) if T is not None]
        if not own:
            raise InputError(
                "the controller does not define a sample time", part="closed loop", hint="give sample_time="
            )
        sample_time = float(min(own))
    if until is None:
        end = float(getattr(motion, "end", np.inf))
        if not np.isfinite(end):
            raise InputError(
                "the controller does not follow a motion that ends, so there is no end time",
                part="closed loop",
                hint="give until=",
            )
        until = sample_time * float(np.ceil((end + _AFTER) / sample_time - 1e-6))
    return until, sample_time


def _find_start(plant: Mechanism | ReducedModel, motion: Any) -> dict[str, float] | None:
    """Return θ at the beginning of the motion by name; other coordinates stay at rest."""
    known = system_of(plant).rigid_coordinates
    first = np.asarray(motion.at(0.0))[0]
    found = {name: float(value) for name, value in zip(motion.coordinates, first, strict=True) if name in known}
    return found or None


def _samples(until: float, sample_time: float) -> Array:
    if not (np.isfinite(until) and until > 0.0):
        raise InputError(f"until must be positive (got {until:g} s)", hint="give an end time after 0")
    if not 0.0 < sample_time <= until:
        raise InputError(
            f"must be above 0 s and at most the duration of {until:g} s (got {sample_time:g} s)",
            part="sample time", hint="give a shorter sample_time",
        )  # fmt: skip
    require_within("results", until / sample_time, part="sample time", hint="end earlier, or give a longer sample_time")
    count = int(np.floor(until / sample_time * (1.0 + 1e-9)))
    times: Array = sample_time * np.arange(count + 1, dtype=float)
    if until - times[-1] > 1e-6 * sample_time:
        return np.concatenate([times, [until]])
    times[-1] = until
    return times


# Check that the commands of a controller are of the kind that the plant takes: volts are not newtons.
#
# Controllers that account for drives list them in `commanded_actuators`; those designed without drives that the machine
# has list these in `undriven`. Controllers without these attributes are not checked.


def require_fitting(controllers: Any, plant: Any, hardware: Hardware) -> None:
    """Refuse drive commands on a plant without that drive, and forces on a plant with one."""
    for controller in controllers:
        for name in getattr(controller, "commanded_actuators", ()):
            if _takes_forces(plant, name, hardware):
                raise InputError(
                    f'it returns commands of the drive of "{name}", but this plant takes forces there',
                    part="controller", hint="design it with hardware=False, or close the loop with the drives",
                )  # fmt: skip
        for name in getattr(controller, "undriven", ()):
            block = hardware.drive(name)
            if block is not None:
                raise InputError(
                    f'it returns the force of "{name}", but the {block.kind} drive there takes {block.unit}',
                    part="controller",
                    hint="design it with the drives: regulator(hardware=supple.hardware_of(mechanism)), or close the "
                    "loop with hardware=False",
                )  # fmt: skip


def _takes_forces(plant: Any, name: str, hardware: Hardware) -> bool:
    if isinstance(plant, LinearModel):  # drives are states of it, or were left out
        return name in plant.undriven
    return hardware.drive(name) is None


# Result of a loop from the signals recorded at every sample.


def loop_result(
    plant: Plant, drives: DriveBank, samples: Sampled, commands: Array, reference: Any, failed: str
) -> ClosedLoop:
    """Return the result of a run.

    commands : (samples reached, a)
    failed   : reason why the controller stopped, or ""
    """
    n = len(commands)
    run = plant.result(samples.forces[:n])
    time = run.time
    n = min(n, len(time))
    known = {item.name: getattr(run, item.name) for item in fields(run)}
    if failed:
        known |= {"reason": failed, "stopped": float(time[-1])}
    inputs, outputs, units = plant.system.inputs, plant.system.outputs, plant.system.units
    command_units = {
        name: block.unit or units.inputs.get(name, "") for name, block in zip(inputs, drives.blocks, strict=True)
    }
    pushing = [i for i, block in enumerate(drives.blocks) if not block.leads]
    return ClosedLoop(
        **known,
        seen_outputs=label_signals(time, outputs, samples.seen[:n], units.outputs),
        measured=label_signals(time, outputs, samples.readings[:n], units.outputs),
        commands=label_signals(time, inputs, commands[:n], command_units),
        applied=label_signals(time, inputs, samples.applied[:n], command_units),
        forces=label_signals(time, [inputs[i] for i in pushing], samples.forces[:n, pushing], units.inputs),
        wanted=_reference_signals(reference, run.coordinates),
    )


def _reference_signals(reference: Any, coordinates: Signals) -> Signals:
    """Return the reference of the coordinates over time."""
    if reference is None:
        return Signals(coordinates.time, {})
    values = reference.sample(coordinates.time)[:, 0]
    names = [name for name in reference.coordinates if name in coordinates]
    columns = [list(reference.coordinates).index(name) for name in names]
    return label_signals(coordinates.time, names, values[:, columns], coordinates.units)


# Commands of the controllers at a sample: each at its own rate, checked, and summed.


_WHOLE = 1e-6  # of a sample


class _HeldController:
    """One controller, called every few samples; its commands are held in between."""

    def __init__(self, controller: Controller, names: tuple[str, ...], sample_time: float) -> None:
        self.controller, self.names = controller, names
        self.every = _every(controller, sample_time)
        driven = getattr(controller, "actuators", None)
        for name in driven or ():
            require_known("actuator of the plant", name, names, part="controller")
        self.driven: tuple[str, ...] = names if driven is None else tuple(driven)
        self.places = np.array([names.index(name) for name in self.driven], dtype=np.int64)
        self.command = np.zeros(len(self.driven))
        self.on_applied = getattr(controller, "record_command", None)

    def ask(self, k: int, t: float, measurement: Measurement) -> None:
        """Call the controller if sample k is one of its own."""
        if k % self.every:
            return
        command: Any = self.controller.step(t, measurement)
        plain = isinstance(command, np.ndarray) and command.shape == self.command.shape and command.dtype == float
        if not (plain and isfinite(command @ command)):  # fast check; squares that overflow are checked in detail
            command = self._check_command(t, command)
        self.command[:] = command

    def _check_command(self, t: float, command: Any) -> Array:
        """Return the commands in the order of the controller's actuators; refuse invalid ones."""
        part = f"commands of the controller at {t:.6g} s"
        if command is None:
            raise InputError(
                "no commands: step(t, measurement) returned None",
                part=part,
                hint=f"return numbers for {', '.join(self.driven)}",
            )
        by_plant = len(self.names) != len(self.driven) and np.shape(command) == (len(self.names),)
        if isinstance(command, Mapping) or by_plant:
            found = in_order(part, command, self.names, finite=False)[..., self.places]
        else:
            found = in_order(part, command, self.driven, finite=False)
        if found.ndim != 1:
            raise InputError(f"wrong shape {found.shape}", part=part, hint=f"return ({len(self.names)},)")
        wrong = np.flatnonzero(~np.isfinite(found))
        if len(wrong):
            raise InputError(
                f'"{self.driven[wrong[0]]}" is {found[wrong[0]]}', part=part,
                hint="most likely the loop is unstable: lower the gains, sample faster, or check divisions in step",
            )  # fmt: skip
        return found


def _every(controller: Controller, sample_time: float) -> int:
    """Return the number of samples from one call of the controller to the next."""
    own = getattr(controller, "sample_time", None)
    if own is None:
        return 1
    ratio = float(own) / sample_time
    if ratio < 1.0 - _WHOLE or abs(ratio - round(ratio)) > _WHOLE * ratio:
        raise InputError(
            f"the controller's {own:g} s are not a multiple of the loop's {sample_time:g} s",
            part="sample time", hint=f"close the loop at {own / max(1.0, np.ceil(ratio - _WHOLE)):g} s",
        )  # fmt: skip
    return round(ratio)


def followed_motion(controllers: Sequence[Controller]) -> Any:
    """Return the reference motion of the first controller that has one; None without any."""
    known = (getattr(item, "reference", None) for item in controllers)
    return next((item for item in known if hasattr(item, "at") and hasattr(item, "coordinates")), None)


class Commands:
    """Commands of all controllers of a loop for the actuators `names` of the plant, every `sample_time`, s."""

    def __init__(self, controllers: Sequence[Controller], names: tuple[str, ...], sample_time: float):
        if not controllers:
            raise InputError(
                "no controller is given", part="controller", hint="give an object with step(t, measurement)"
            )
        for item in controllers:
            if isinstance(item, type):
                raise InputError(
                    f"{item.__name__} is a class, not an object", part="controller", hint=f"give {item.__name__}(...)"
                )
            if not callable(getattr(item, "step", None)):
                raise InputError(
                    f"{type(item).__name__} has no step(t, measurement)", part="controller",
                    hint="give an object with that method",
                )  # fmt: skip
        self._controllers = [_HeldController(item, names, sample_time) for item in controllers]
        self._sum = np.zeros(len(names))
        first = self._controllers[0]
        self._alone = first if len(controllers) == 1 and first.driven == names else None

    def reset(self, start: Measurement) -> None:
        """Reset the controllers before the first sample."""
        for item in self._controllers:
            begin = getattr(item.controller, "reset", None)
            if begin is not None:
                begin(start)

    def at(self, k: int, t: float, measurement: Measurement) -> Array:
        """Return all commands (a,) at sample k; the returned array is reused at every call."""
        if self._alone is not None:
            self._alone.ask(k, t, measurement)
            return self._alone.command
        self._sum[:] = 0.0
        for item in self._controllers:
            item.ask(k, t, measurement)
            self._sum[item.places] += item.command
        return self._sum

    def record_command(self, command: Array) -> None:
        """Pass the commands as applied by the drives to all controllers."""
        for item in self._controllers:
            if item.on_applied is not None:
                item.on_applied(command if self._alone is not None else command[item.places])

    @property
    def reference(self) -> Any:
        """Reference motion of the first controller that has one; None without any."""
        return followed_motion([item.controller for item in self._controllers])
