"""Command `supple simulate`: motion in time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from supple.cli.answer import open_answer
from supple.cli.assemble import warn_of_limits
from supple.cli.help_text import COST, OUTPUT
from supple.cli.kept import Picture, TableFile, keep
from supple.cli.model_argument import (
    FileOrRom,
    described_mechanism,
    is_model,
    model_configuration,
    model_follows_path,
    read_model,
    require_no,
    trajectory_in_model,
)
from supple.cli.options import (
    EQUILIBRIUM,
    REST,
    At,
    Formulation,
    FormulationOption,
    Json,
    NoDrives,
    Rigid,
    Settings,
    configuration,
    dimension_by_name,
    quantities_of,
    quantity_of,
    read_mechanism,
    requested_posture,
    without_equilibrium,
)
from supple.description.quantities.dimension import TIME

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.kinematics.configuration import Configuration
    from supple.reduced.model import ReducedModel


# Conversion of options, or of a scenario of the file, to arguments of a simulation.


class RunOptions(NamedTuple):
    """Texts of the options; `until`, `step` and `output_step` in s; whether drives act."""

    scenario: str | None
    start: str
    at: str | None
    rates: str | None
    inputs: str | None
    motion: str | None
    until: float | None
    step: float | None
    output_step: float | None
    drives: bool = True


def task_of(mechanism: Mechanism, asked: RunOptions, *, rigid: bool = False) -> dict[str, Any]:
    """Return the arguments of `supple.simulate` for a mechanism, from the options or from a scenario."""
    results = {"step": asked.step, "output_step": asked.output_step}
    if asked.scenario is not None:
        return results | {"t": asked.scenario, "until": asked.until}
    forces, times = _inputs(mechanism, asked)
    here = start_from_options(mechanism, asked, forces, rigid=rigid)
    return results | {
        "until": _duration(mechanism, asked.motion) if asked.until is None else asked.until, "start": here,
        "rates": _rates(mechanism, asked.rates, _names(here)), "inputs": forces, "input_times": times,
        "motion": asked.motion,
    }  # fmt: skip


def model_task_of(model: ReducedModel, asked: RunOptions) -> dict[str, Any]:
    """Return the arguments for a reduced model; names are those of the mechanism that it was made from."""
    from supple.diagnostics import InputError
    from supple.formats.scenario_file import scenario_in

    mechanism = described_mechanism(model)
    results = {"until": asked.until, "step": asked.step, "output_step": asked.output_step}
    if asked.scenario is None:
        if asked.motion is not None:
            return _prescribe_motion(model, asked.motion, results)
        forces, times = _inputs(mechanism, asked)
        return results | {
            "start": _model_start(model, asked, forces), "inputs": forces, "input_times": times,
            "rates": _rates(mechanism, asked.rates, model.layout.coordinates),
        }  # fmt: skip
    scenario = scenario_in(mechanism, asked.scenario)
    if scenario.motion is not None:
        led = _prescribe_motion(model, scenario.motion, results | {"step": asked.step or scenario.step})
        return led | {"t": scenario}
    if model_follows_path(model):
        raise InputError(
            f'scenario "{asked.scenario}" has no motion, but the model follows a path', part="--scenario",
            hint="use --inputs and --at arclength=VALUE",
        )  # fmt: skip
    return results | {"t": scenario}


def _prescribe_motion(model: ReducedModel, motion: str, results: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for a prescribed motion, with the requested results, or those over its duration."""
    from supple.integration.time_steps import result_times

    if results["until"] is None:
        results = results | {"until": float(trajectory_in_model(model, motion).time[-1])}
    times = result_times(None, **results)
    return {"motion": trajectory_in_model(model, motion, times=times), "step": results["step"]}


def _rates(mechanism: Mechanism, text: str | None, names: tuple[str, ...]) -> dict[str, float] | None:
    return (
        None
        if text is None
        else quantities_of(text, "--rates", names, "coordinate", dimension_by_name(mechanism, "rate"))
    )


def _names(here: Configuration) -> tuple[str, ...]:
    return here.rest.numbering.coordinates


def _model_start(model: ReducedModel, asked: RunOptions, forces: dict[str, Any]) -> list[float]:
    """Return θ at the start, by the names of the mechanism that the model was made from."""
    from supple.diagnostics import InputError

    start, at = asked.start, asked.at
    if model_follows_path(model):
        if start != REST:
            raise InputError(
                f'"{start}" is not on the path of the model', part="--start", hint="give --at arclength=VALUE"
            )
        return model_configuration(model, at)
    at, resting = without_equilibrium(at, described_mechanism(model).configurations)
    moved = asked.drives and any(block.moves for block in model.hardware.drives)
    if (resting or start == EQUILIBRIUM) and not moved:  # drives that hold it keep it at rest as it is
        if model.layout.size > model.layout.theta:  # its own, deflection included, close to --at
            return _find_rest(model, model_configuration(model, at), forces)
        resting_there = asked._replace(start=EQUILIBRIUM, at=at)
        found = start_from_options(described_mechanism(model), resting_there, forces, rigid=True)
        return [float(value) for value in found.theta]
    given = [item for item in (None if start in (REST, EQUILIBRIUM) else start, at) if item is not None]
    _require_start(described_mechanism(model), start)
    return model_configuration(model, ",".join(given) if given else None)


def _find_rest(model: ReducedModel, theta: list[float], forces: dict[str, Any]) -> list[float]:
    """η close to θ at which the model rests under the forces at the beginning."""
    import numpy as np

    first = {name: float(np.atleast_1d(value)[0]) for name, value in forces.items()}
    return [float(value) for value in model.equilibrium(theta, first)]


def _inputs(mechanism: Mechanism, asked: RunOptions) -> tuple[dict[str, Any], Any]:
    """Return forces or commands by actuator, and the times of their values if they come from a table."""
    from supple.description.quantities.coordinate_dimensions import input_dimension
    from supple.diagnostics import require_known
    from supple.formats.time_table import read_time_table

    text = asked.inputs
    if text is None:
        return {}, None
    if "=" in text and not Path(text).exists():
        wanted = partial(input_dimension, mechanism) if asked.drives else dimension_by_name(mechanism, "force")
        return dict(quantities_of(text, "--inputs", mechanism.actuators, "actuator", wanted)), None
    table = read_time_table(text, of="actuator", why="a course over time needs")
    for name in table.values:
        require_known("actuator", name, mechanism.actuators, file=table.file, line=1)
    return dict(table.values), table.time


def start_from_options(
    mechanism: Mechanism, asked: RunOptions, forces: dict[str, Any], *, rigid: bool
) -> Configuration:
    """Return the start configuration that --start and --at name.

    An equilibrium keeps the outputs of drives as they are.
    """
    from supple.formulations.described_hardware import hardware_of
    from supple.hardware.hardware import NO_HARDWARE
    from supple.kinematics.closure import assemble
    from supple.simulation.driven_start import resting_start

    start, at = asked.start, asked.at
    if start == EQUILIBRIUM:
        hardware = hardware_of(mechanism) if asked.drives and asked.motion is None else NO_HARDWARE
        return resting_start(mechanism, configuration(mechanism, at), forces, hardware, rigid=rigid)
    _require_start(mechanism, start)
    given = [item for item in (None if start == REST else start, at) if item is not None]
    return assemble(mechanism, configuration(mechanism, ",".join(given) if given else None))


def _require_start(mechanism: Mechanism, start: str) -> None:
    """Report an unknown name as one of --start, before it is combined with --at."""
    if start not in (REST, EQUILIBRIUM):
        requested_posture(mechanism, start, "--start")


def _duration(mechanism: Mechanism, motion: str | None) -> float:
    from supple.trajectories.trajectory import trajectory

    assert motion is not None
    return float(trajectory(mechanism, motion).time[-1])


# The command.


def _time(name: str, text: str) -> typer.models.OptionInfo:
    return typer.Option(name, metavar="TIME", help=text)


Until = Annotated[
    str | None,
    typer.Option(
        "--until", metavar="TIME", help="Duration: `2s`, `500ms`. Default: the duration of --motion or --scenario."
    ),
]
Step = Annotated[
    str | None,
    typer.Option(
        "--step",
        metavar="TIME",
        help="Fixed time step; with --tolerance, the largest step. Default: adaptive.",
        rich_help_panel=COST,
    ),
]
OutputStep = Annotated[
    str | None,
    typer.Option(
        "--output-step",
        metavar="TIME",
        help="Time between results. Default: the step, or 1 ms with at most 2000 results.",
        rich_help_panel=OUTPUT,
    ),
]
Start = Annotated[
    str,
    typer.Option(
        "--start",
        metavar="WHERE",
        help="Initial configuration: `rest`, `equilibrium` or a name in the file. --at then changes individual "
        "coordinates.",
    ),
]
Rates = Annotated[
    str | None, typer.Option("--rates", metavar="NAME=RATE,...", help="Initial rates: `crank=2,x=10mm`. Default: zero.")
]
Inputs = Annotated[
    str | None,
    typer.Option(
        "--inputs",
        metavar="CSV|NAME=VALUE,...",
        help="Actuator forces or drive commands: constants, or a table with a column `time` and one per "
        "actuator. Default: zero.",
    ),
]
MotionName = Annotated[
    str | None,
    typer.Option(
        "--motion",
        metavar="NAME|CSV",
        help="Prescribed motion of all coordinates: a motion of the file, or a table with a column `time` and one per "
        "coordinate.",
    ),
]
ScenarioName = Annotated[
    str | None,
    typer.Option(
        "--scenario",
        metavar="NAME|YAML",
        help="Scenario of the file or in its own file: start, motion or inputs, duration and step.",
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        metavar="ERROR",
        help="Largest error of a step, in rad or in lengths of the mechanism. Default: 1e-6, reduced where the "
        "energy balance requires it.",
        rich_help_panel=COST,
    ),
]
SpectralRadius = Annotated[
    float,
    typer.Option(
        "--spectral-radius",
        metavar="0...1",
        help="Spectral radius of the integrator at high frequencies; smaller values damp more.",
        rich_help_panel=COST,
    ),
]
Reactions = Annotated[
    str | None,
    typer.Option(
        "--reactions", metavar="JOINT,...", help="Joints whose forces and moments are reported.", rich_help_panel=OUTPUT
    ),
]


def simulate(
    file: FileOrRom,
    until: Until = None,
    step: Step = None,
    start: Start = REST,
    at: At = None,
    rates: Rates = None,
    inputs: Inputs = None,
    motion: MotionName = None,
    scenario: ScenarioName = None,
    tolerance: Tolerance = None,
    spectral_radius: SpectralRadius = 0.9,
    output_step: OutputStep = None,
    reactions: Reactions = None,
    rigid: Rigid = False,
    no_drives: NoDrives = False,
    formulation: FormulationOption = Formulation.AUTO,
    output: TableFile = None,
    plot: Picture = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Simulate the nonlinear motion in time."""
    if until is None and motion is None and scenario is None:
        raise typer.BadParameter("no duration; give --until 2s, --motion NAME or --scenario NAME", param_hint="--until")
    given = {"--start": start != REST, "--at": at, "--rates": rates, "--inputs": inputs, "--motion": motion}
    if scenario is not None and any(given.values()):
        option = next(name for name, value in given.items() if value)
        raise typer.BadParameter("cannot be combined with --scenario, which defines it", param_hint=option)
    with open_answer(as_json) as answer:
        from time import perf_counter

        from supple.diagnostics import NumericalError
        from supple.simulation.body_motion import RecordedMotion
        from supple.simulation.simulation import simulate as simulated

        asked = RunOptions(
            scenario, start, at, rates, inputs, motion,
            None if until is None else quantity_of(until, "--until", TIME),
            None if step is None else quantity_of(step, "--step", TIME),
            None if output_step is None else quantity_of(output_step, "--output-step", TIME), not no_drives,
        )  # fmt: skip
        target: Mechanism | ReducedModel
        if is_model(file):
            target = read_model(answer, file, settings)
            require_no({"--reactions": reactions}, "a reduced model has no joint reactions")
            task, joints = model_task_of(target, asked), []
        else:
            target = read_mechanism(answer, file, settings)
            joints = _joints(target, reactions)
            task = task_of(target, asked, rigid=rigid)
        began = perf_counter()
        run = simulated(
            target, **task, tolerance=tolerance, spectral_radius=spectral_radius, rigid=rigid,
            drives=not no_drives, formulation=formulation.value,
        ).with_reactions(joints)  # fmt: skip
        took = f", {perf_counter() - began:.2f} s to compute"
        if isinstance(run.bodies, RecordedMotion):  # the region of a reduced model is within limits
            warn_of_limits(answer, run.configuration)
        keep(run, output, plot)
        hint = "--json prints all values, -o FILE.csv writes a table, --plot FILE.png a plot"
        answer.give(run.data(), lambda: run.text(took).lines(hint))
        if run.reason:
            raise answer.cut_short(f"results end at {run.time[-1]:.6g} s: {run.reason}", NumericalError.exit_status)


def _joints(mechanism: Mechanism, text: str | None) -> list[str]:
    names = [] if text is None else [name.strip() for name in text.split(",")]
    for name in names:
        mechanism.joint(name)  # an unknown joint is an error before the computation
    return names
