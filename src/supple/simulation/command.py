"""`supple simulate`: motion in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import Answer, answering
from supple.cli.kept import Picture, TableFile
from supple.cli.model_argument import FileOrRom, is_model, read_model, require_no
from supple.cli.options import At, Formulation, FormulationOption, Json, NoDrives, Rigid, Settings, read_mechanism
from supple.cli.quantities import quantity_of
from supple.cli.run_options import REST, RunOptions, model_task_of, task_of
from supple.cli.simulated import TimedRun
from supple.description.quantities.dimension import TIME

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.reduced.model import ReducedModel
    from supple.results.simulation import Simulation


def _time(name: str, text: str) -> typer.models.OptionInfo:
    return typer.Option(name, metavar="TIME", show_default=False, help=text)


Until = Annotated[str | None, _time("--until", "How long: `2s`, `500ms`; as long as --motion lasts if left out.")]
Step = Annotated[
    str | None, _time("--step", "Fix the step, or with --tolerance the longest one. Left out, steps follow the motion.")
]
OutputStep = Annotated[
    str | None, _time("--output-step", "Time between results. If left out the step, or 1ms, and at most 2000 results.")
]
Start = Annotated[
    str,
    typer.Option(
        "--start", metavar="WHERE", help="`rest`, `equilibrium`, or a configuration; --at then changes coordinates."
    ),
]
Rates = Annotated[
    str | None,
    typer.Option("--rates", metavar="NAME=RATE,...", show_default=False, help="At the start: `crank=2,x=10mm`."),
]
Inputs = Annotated[
    str | None,
    typer.Option(
        "--inputs", metavar="CSV|A=10,...", show_default=False,
        help="Forces of the actuators, or commands of their drives: a table with a column `time` and one for each, or "
        "constants. Zero if left out; drives that move stay where they are.",
    ),
]  # fmt: skip
MotionName = Annotated[
    str | None,
    typer.Option(
        "--motion", metavar="NAME|CSV", show_default=False,
        help="Prescribe all coordinates: a motion of the file, or a table with a column `time` and one for each.",
    ),
]  # fmt: skip
ScenarioName = Annotated[
    str | None,
    typer.Option(
        "--scenario", metavar="NAME|S.yaml", show_default=False,
        help="A scenario of the file, or in a file of its own: start, motion or inputs, until and step. --until and "
        "--step go before its own.",
    ),
]  # fmt: skip
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance", metavar="ERROR", show_default=False,
        help="Choose steps so that none errs by more (rad, or extents of the mechanism). Without it and --step: 1e-6, "
        "and less where the energy would not balance.",
    ),
]  # fmt: skip
SpectralRadius = Annotated[
    float,
    typer.Option("--spectral-radius", metavar="0...1", help="What a step leaves of the fastest oscillations."),
]
Reactions = Annotated[
    str | None,
    typer.Option("--reactions", metavar="A,B", show_default=False, help="Joints whose forces and moments are wanted."),
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
    """Compute the motion in time."""
    if until is None and motion is None and scenario is None:
        raise typer.BadParameter("how long? Give a time such as 2s", param_hint="--until")
    said = {"--start": start != REST, "--at": at, "--rates": rates, "--inputs": inputs, "--motion": motion}
    if scenario is not None and any(said.values()):
        option = next(name for name, value in said.items() if value)
        raise typer.BadParameter("the scenario says that already", param_hint=option)
    with answering(as_json) as answer:
        from time import perf_counter

        from supple.diagnostics import NumericalError
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
            require_no({"--reactions": reactions}, "a reduced model knows nothing of the reactions in joints")
            task, joints = model_task_of(target, asked), []
        else:
            target = read_mechanism(answer, file, settings)
            joints = _joints(target, reactions)
            task = task_of(target, asked, rigid=rigid)
        began = perf_counter()
        run = simulated(
            target, **task, tolerance=tolerance, spectral_radius=spectral_radius, rigid=rigid,
            drives=not no_drives, formulation=formulation.value,
        )  # fmt: skip
        told = TimedRun(run, {name: run.reaction(name)._asdict() for name in joints}, perf_counter() - began)
        _warn_of_limits(answer, run)
        told.write(output, plot)
        answer.show(told, "--json gives all values, -o FILE.csv a table, --plot FILE.png a picture")
        if run.reason:
            raise answer.cut_short(f"results end at {run.time[-1]:.6g} s: {run.reason}", NumericalError.exit_status)


def _joints(mechanism: Mechanism, text: str | None) -> list[str]:
    names = [] if text is None else [name.strip() for name in text.split(",")]
    for name in names:
        mechanism.joint(name)  # a wrong one is told before the work
    return names


def _warn_of_limits(answer: Answer, run: Simulation) -> None:
    """Limits do not stop a motion, but nobody should leave them unawares; a region is within them."""
    from supple.kinematics.coordinate_limits import outside_limits
    from supple.simulation.body_motion import RecordedMotion

    if not isinstance(run.bodies, RecordedMotion):
        return
    said: dict[str, str] = {}
    for w in (run.bodies.w.max(axis=0), run.bodies.w.min(axis=0)):
        for excess in outside_limits(run.bodies.problem.rest.numbering, w):
            said.setdefault(excess.part, str(excess))
    for text in said.values():
        answer.warn(text)
