"""A controller in the loop with a plant: it measures, decides, and drives act on that until it does so again."""

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
from supple.diagnostics import InputError, SuppleError, nearest
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
from supple.results.signals import Signals, labelled
from supple.results.simulation import warn_of
from supple.simulation.driver import drive
from supple.systems.advancing import Plant
from supple.systems.protocols import System, system_of

_AFTER = 1.0  # s, that a run goes on after its motion


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
    """Run a controller on a mechanism (the full nonlinear equations), a reduced model, or a linear one.

    controller  : an object with step(t, measurement) -> commands of the actuators, by name or in order; or several,
                  each at a sample time of its own if it has one, whose commands add up (`Controller`)
    until       : s; if left out, a second longer than the motion that the controller follows
    sample_time : s between two calls; commands are held in between (zero-order hold). Feedback without pause is the
                  limit of small ones: the delay is half a sample on average. That of the controller if left out, of
                  several the shortest
    start       : as in `simulate`: θ by name or in order, a configuration's name, "equilibrium" (without forces). If
                  left out, where the motion that the controller follows begins, or at rest without one. A linear model
                  starts from its own state where nothing else is said. States of linear models (`at["states"]`) bring
                  their rates, and must be in the plant's basis; so must gains. What deforms starts at rest there under
                  its own weight, with drives that hold it, unless the start says how it is deformed
    rates       : of the coordinates at the start
    step        : s, of the integrator, fixed, or with a tolerance the longest: at most a sample. If left out, steps
                  follow the motion, of a mechanism with at most a tenth of the sample or 1 ms, whichever is longer
    tolerance   : as in `simulate`: 1e-6 for a mechanism where neither it nor a step is given, 1e-9 for a reduced model,
                  1e-6 where all its θ are led (of an estimate of lower order than the method)
    spectral_radius : of a mechanism, as in `simulate`; friction_speed : as in `simulate`
    rigid       : elastic parts of a mechanism are taken as rigid; otherwise they deform, and controllers measure θ and
                  outputs of the deformed mechanism
    hardware    : drives and instruments: the plant's own, others, or False for none: commands are forces then, and
                  measurements exact. With any, a measurement holds what sensors show alone. Those of a linear model are
                  in it already
    computation_delay : s from a measurement to the command that answers it
    seed        : of the instruments' noise
    disturbances : forces of actuators (N or N m) that are added behind drives, as `simulate` takes inputs, sampled as
                  often as the controller measures

    A controller that fails, or a plant that cannot go on, ends the run with what there is; see `ClosedLoop.reason`.
    """
    require_arguments(closed_loop, locals())
    given = controller if isinstance(controller, Sequence) else (controller,)
    motion = followed_motion(given)
    times = _samples(*_spans(given, motion, until, sample_time))
    if start is None and motion is not None and not isinstance(plant, LinearModel):
        start = _beginning(plant, motion)
    around = hardware_in(plant, hardware)
    require_fitting(given, plant, around)
    if step is not None and step > 0.0:
        require_run(float(times[-1] - times[0]), step)
    steps = StepOptions(step, tolerance, spectral_radius, friction_speed, rigid)
    options = PlantOptions(times, start, rates, steps)
    drives = drives_of(plant, around, computation_delay)
    made = plant_in(plant, drives, options)
    commands = Commands(given, made.system.inputs, float(times[1] - times[0]))
    instruments = InstrumentBank(around, made.system.outputs, float(times[1] - times[0]), len(times), seed)
    durations = np.diff(times)  # what drives begin to do at the last sample is told, and nobody feels it
    samples = sampled_system(
        made, drives, instruments, np.append(durations, durations[-1]), _pushes(made.system.inputs, disturbances, times)
    )
    controllers = _Controllers(made, samples, commands, times, _panel(made.system, around))
    failed = _run(samples, controllers)
    run = loop_result(made, drives, samples, controllers.told, commands.reference, failed)
    run = replace(run, at_goal=goal_of(plant, commands.reference, rigid=rigid))
    warn_of(run)
    return run


def _panel(of: System, hardware: Hardware) -> MeasurementLayout:
    if hardware:
        return instrument_panel(of.rigid_coordinates, of.outputs, hardware)
    return exact_panel(of.coordinates, of.outputs, of.basis)


class _Controllers:
    """The controllers of a loop as a source: at every sample they are shown a measurement and answer with commands.

    Implements `Source`.

    events : every sample is one; at the last the plant does not move on, and its forces are recorded
    """

    def __init__(
        self, plant: Plant, samples: Sampled, commands: Commands, times: Array, panel: MeasurementLayout
    ) -> None:
        self._plant, self._samples, self._commands, self._panel = plant, samples, commands, panel
        self._times, self.sample = times.tolist(), 0
        self.events = [*range(1, len(times)), len(times) - 1]
        self._told = np.zeros((len(times), len(plant.system.inputs)))

    @property
    def told(self) -> Array:
        """Commands (samples, a) up to the sample that was reached."""
        return self._told[: self.sample + 1]

    @property
    def time(self) -> float:
        """Time of the present sample, s."""
        return self._times[self.sample]

    def acting(self, event: int) -> Array:
        """Return the commands (a,) that answer what is measured."""
        self.sample, samples, panel, t = event, self._samples, self._panel, self._times[event]
        numbers = np.concatenate([*self._plant.state, samples.seen[event]]) if panel.whole else samples.readings[event]
        measurement = Measurement.shown(panel, numbers, t)
        if event == 0:
            self._commands.reset(measurement)
        self._told[event] = command = self._commands.at(event, t, measurement)
        return command

    def advanced(self, event: int) -> None:
        """Tell the controllers what drives made of their commands."""
        self._commands.applied(self._samples.applied[event])

    def repeat(self) -> None:
        """Record the sample before once more: the present one has no answer."""
        for part in (self._told, self._samples.applied, self._samples.forces):
            part[self.sample] = part[self.sample - 1]


def _run(samples: Sampled, controllers: _Controllers) -> str:
    """Until the end, or until something fails; returns why a controller failed, or ""."""
    try:
        drive(samples, controllers)
    except (Exception, KeyboardInterrupt) as error:  # whatever it is, what was computed is not lost
        if controllers.sample == 0:  # nothing has been computed yet
            raise
        controllers.repeat()
        return _ended(controllers.time, error)
    return ""


def _ended(t: float, error: BaseException) -> str:
    """Why a run ended with its controller: the message, of an error that is not supple's with where it was raised."""
    if isinstance(error, KeyboardInterrupt):
        return f"interrupted at {t:.6g} s"
    if isinstance(error, SuppleError):
        return f"the controller failed at {t:.6g} s: {error}"
    place = extract_tb(error.__traceback__)[-1]
    return (
        f"the controller failed at {t:.6g} s: {type(error).__name__}: {error} "
        f"({Path(place.filename).name}, line {place.lineno})"
    )


def _pushes(inputs: tuple[str, ...], disturbances: Inputs, times: Array) -> Array:
    """Forces (N, a) at the samples, or (0, a)."""
    if disturbances is None:
        return np.zeros((0, len(inputs)))
    breaks, values = input_course(inputs, disturbances, None, times, None)
    columns = [np.interp(times, breaks, column) for column in values.T]
    return np.array(columns).T.reshape(len(times), len(inputs))


def _spans(
    controllers: Sequence[Controller], motion: Any, until: float | None, sample_time: float | None
) -> tuple[float, float]:
    """until and sample time, s, as given, or as controllers have them."""
    if sample_time is None:
        own = [T for T in (getattr(item, "sample_time", None) for item in controllers) if T is not None]
        if not own:
            raise InputError(
                "the controller has no sample time of its own", part="closed loop", hint="give sample_time="
            )
        sample_time = float(min(own))
    if until is None:
        end = float(getattr(motion, "end", np.inf))
        if not np.isfinite(end):
            raise InputError(
                "the controller follows no motion that ends", part="closed loop", hint="say until when it runs: until="
            )
        until = sample_time * float(np.ceil((end + _AFTER) / sample_time - 1e-6))
    return until, sample_time


def _beginning(plant: Mechanism | ReducedModel, motion: Any) -> dict[str, float] | None:
    """θ where the motion begins, by name; coordinates that it does not mention stay at rest."""
    known = system_of(plant).rigid_coordinates
    first = np.asarray(motion.at(0.0))[0]
    found = {name: float(value) for name, value in zip(motion.coordinates, first, strict=True) if name in known}
    return found or None


def _samples(until: float, sample_time: float) -> Array:
    if not (np.isfinite(until) and until > 0.0):
        raise InputError(f"the simulation ends at {until:g} s", hint="give a time after 0")
    if not 0.0 < sample_time <= until:
        raise InputError(
            f"it is {sample_time:g} s for {until:g} s",
            part="sample time", hint="give one above 0 and at most the whole",
        )  # fmt: skip
    require_within("results", until / sample_time, part="sample time", hint="end earlier, or give a longer one")
    count = int(np.floor(until / sample_time * (1.0 + 1e-9)))
    times: Array = sample_time * np.arange(count + 1, dtype=float)
    if until - times[-1] > 1e-6 * sample_time:
        return np.concatenate([times, [until]])
    times[-1] = until
    return times


# Whether what a controller answers is what the plant takes: volts are not newtons.
#
# Controllers that know drives say which (`commanded`), those that were designed without drives that the machine has say
# so too (`undriven`). What says nothing is taken at its word.


def require_fitting(controllers: Any, plant: Any, hardware: Hardware) -> None:
    """Refuse commands of drives on a plant without them, and forces on one that has them."""
    for controller in controllers:
        for name in getattr(controller, "commanded", ()):
            if _takes_forces(plant, name, hardware):
                raise InputError(
                    f'it answers with commands of the drive of "{name}", and this plant takes forces there',
                    part="controller", hint="make it with hardware=False, or close the loop with the drives",
                )  # fmt: skip
        for name in getattr(controller, "undriven", ()):
            block = hardware.drive(name)
            if block is not None:
                raise InputError(
                    f'it answers with the force of "{name}", and the {block.kind} drive there takes {block.unit}',
                    part="controller",
                    hint="make it with the drives: regulator(hardware=supple.hardware_of(mechanism)), or close the "
                    "loop with hardware=False",
                )  # fmt: skip


def _takes_forces(plant: Any, name: str, hardware: Hardware) -> bool:
    if isinstance(plant, LinearModel):  # drives are in it, or were left out
        return name in plant.undriven
    return hardware.drive(name) is None


# What was kept of a loop at every sample, as a result.


def loop_result(
    plant: Plant, drives: DriveBank, samples: Sampled, commands: Array, reference: Any, failed: str
) -> ClosedLoop:
    """The run; commands : (samples reached, a); failed : why the controller stopped, or ""."""
    n = len(commands)
    run = plant.result(samples.forces[:n])
    time = run.time
    n = min(n, len(time))
    known = {item.name: getattr(run, item.name) for item in fields(run)}
    if failed:
        known |= {"reason": failed, "stopped": float(time[-1])}
    inputs, outputs, units = plant.system.inputs, plant.system.outputs, plant.system.units
    told = {name: block.unit or units.inputs.get(name, "") for name, block in zip(inputs, drives.blocks, strict=True)}
    pushing = [i for i, block in enumerate(drives.blocks) if not block.leads]
    return ClosedLoop(
        **known,
        seen_outputs=labelled(time, outputs, samples.seen[:n], units.outputs),
        measured=labelled(time, outputs, samples.readings[:n], units.outputs),
        commands=labelled(time, inputs, commands[:n], told),
        applied=labelled(time, inputs, samples.applied[:n], told),
        forces=labelled(time, [inputs[i] for i in pushing], samples.forces[:n, pushing], units.inputs),
        wanted=_wanted(reference, run.coordinates),
    )


def _wanted(reference: Any, coordinates: Signals) -> Signals:
    """What the reference asks of coordinates over time."""
    if reference is None:
        return Signals(coordinates.time, {})
    values = reference.sampled(coordinates.time)[:, 0]
    names = [name for name in reference.coordinates if name in coordinates]
    columns = [list(reference.coordinates).index(name) for name in names]
    return labelled(coordinates.time, names, values[:, columns], coordinates.units)


# What controllers answer at a sample: each at its own rate, checked, and added up.


_WHOLE = 1e-6  # of a sample


class _Asked:
    """One controller, called at every so many samples, its answer held in between."""

    def __init__(self, controller: Controller, names: tuple[str, ...], sample_time: float) -> None:
        self.controller, self.names = controller, names
        self.every = _every(controller, sample_time)
        driven = getattr(controller, "actuators", None)
        for name in driven or ():
            if name not in names:
                raise InputError(
                    f'it drives "{name}", which the plant does not have', part="controller", hint=nearest(name, names)
                )
        self.driven: tuple[str, ...] = names if driven is None else tuple(driven)
        self.places = np.array([names.index(name) for name in self.driven], dtype=np.int64)
        self.answer = np.zeros(len(self.driven))
        self.told = getattr(controller, "applied", None)

    def ask(self, k: int, t: float, measurement: Measurement) -> None:
        if k % self.every:
            return
        answer: Any = self.controller.step(t, measurement)
        plain = isinstance(answer, np.ndarray) and answer.shape == self.answer.shape and answer.dtype == float
        if not (plain and isfinite(answer @ answer)):  # the quick look; a square that is too large is looked at closely
            answer = self._checked(t, answer)
        self.answer[:] = answer

    def _checked(self, t: float, answer: Any) -> Array:
        """In the order of its actuators, or why not."""
        part = f"answer of the controller at {t:.6g} s"
        if answer is None:
            raise InputError(
                "there is none", part=part, hint=f"let step(t, measurement) return numbers of {', '.join(self.driven)}"
            )
        by_plant = len(self.names) != len(self.driven) and np.shape(answer) == (len(self.names),)
        if isinstance(answer, Mapping) or by_plant:
            found = in_order(part, answer, self.names, finite=False)[..., self.places]
        else:
            found = in_order(part, answer, self.driven, finite=False)
        if found.ndim != 1:
            raise InputError(f"has the shape {found.shape}", part=part, hint=f"give ({len(self.names)},)")
        wrong = np.flatnonzero(~np.isfinite(found))
        if len(wrong):
            raise InputError(
                f'is {found[wrong[0]]} for "{self.driven[wrong[0]]}"', part=part,
                hint="most likely the loop is unstable: lower gains, sample faster, or look at what it divides by",
            )  # fmt: skip
        return found


def _every(controller: Controller, sample_time: float) -> int:
    """At every how many samples it is called."""
    own = getattr(controller, "sample_time", None)
    if own is None:
        return 1
    ratio = float(own) / sample_time
    if ratio < 1.0 - _WHOLE or abs(ratio - round(ratio)) > _WHOLE * ratio:
        raise InputError(
            f"the controller is made for {own:g} s, which is no multiple of the loop's {sample_time:g} s",
            part="sample time", hint=f"close the loop at {own / max(1.0, np.ceil(ratio - _WHOLE)):g} s",
        )  # fmt: skip
    return round(ratio)


def followed_motion(controllers: Sequence[Controller]) -> Any:
    """The motion of the first controller that has one; None without any."""
    known = (getattr(item, "reference", None) for item in controllers)
    return next((item for item in known if hasattr(item, "at") and hasattr(item, "coordinates")), None)


class Commands:
    """Of all controllers of a loop, for the plant's actuators `names`, every `sample_time`, s."""

    def __init__(self, given: Sequence[Controller], names: tuple[str, ...], sample_time: float):
        if not given:
            raise InputError("there is none", part="controller", hint="give an object with step(t, measurement)")
        for item in given:
            if isinstance(item, type):
                raise InputError(
                    f"{item.__name__} is a class", part="controller", hint=f"give one of it, {item.__name__}(...)"
                )
            if not callable(getattr(item, "step", None)):
                raise InputError(
                    f"{type(item).__name__} has no step(t, measurement)", part="controller",
                    hint="give an object with that method",
                )  # fmt: skip
        self._asked = [_Asked(item, names, sample_time) for item in given]
        self._sum = np.zeros(len(names))
        first = self._asked[0]
        self._alone = first if len(given) == 1 and first.driven == names else None

    def reset(self, start: Measurement) -> None:
        """Before the first sample."""
        for item in self._asked:
            begin = getattr(item.controller, "reset", None)
            if begin is not None:
                begin(start)

    def at(self, k: int, t: float, measurement: Measurement) -> Array:
        """All commands (a,) at sample k; the array is the same at every call."""
        if self._alone is not None:
            self._alone.ask(k, t, measurement)
            return self._alone.answer
        self._sum[:] = 0.0
        for item in self._asked:
            item.ask(k, t, measurement)
            self._sum[item.places] += item.answer
        return self._sum

    def applied(self, command: Array) -> None:
        """Tell everybody what drives made of it."""
        for item in self._asked:
            if item.told is not None:
                item.told(command if self._alone is not None else command[item.places])

    @property
    def reference(self) -> Any:
        """The first motion that is followed; None without any."""
        return followed_motion([item.controller for item in self._asked])
