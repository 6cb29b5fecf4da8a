"""`supple simulate`: motion in time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, answering
from supple.cli.options import At, File, Json, Settings, configuration, read_mechanism
from supple.cli.quantities import quantities_of, quantity_of
from supple.cli.simulated import show, told_of, write

if TYPE_CHECKING:
    from supple.analyses.simulated import Simulation
    from supple.description.mechanism import Mechanism
    from supple.kinematics.configuration import Configuration

EQUILIBRIUM, REST = "equilibrium", "rest"


def _time(name: str, text: str) -> typer.models.OptionInfo:
    return typer.Option(name, metavar="TIME", show_default=False, help=text)


Until = Annotated[str | None, _time("--until", "How long: `2s`, `500ms`; as long as --motion lasts if left out.")]
Step = Annotated[str, typer.Option("--step", metavar="TIME", help="The step, or with --tolerance the largest.")]
OutputStep = Annotated[
    str | None, _time("--output-step", "Time between results; the step, and at most 2000 results, if left out.")
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
        help="Forces of the actuators: a table with a column `time` and one for each, or constants. Zero if left out.",
    ),
]  # fmt: skip
MotionName = Annotated[
    str | None,
    typer.Option(
        "--motion", metavar="NAME|CSV", show_default=False,
        help="Prescribe all coordinates: a motion of the file, or a table with a column `time` and one for each.",
    ),
]  # fmt: skip
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance", metavar="ERROR", show_default=False,
        help="Choose steps so that none errs by more (rad, or extents of the mechanism); steps are fixed if left out.",
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
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="CSV", show_default=False, help="Write all signals to a table."),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", show_default=False, help="Draw them: .png, .svg, .pdf.")
]


def simulate(
    file: File,
    until: Until = None,
    step: Step = "1ms",
    start: Start = REST,
    at: At = None,
    rates: Rates = None,
    inputs: Inputs = None,
    motion: MotionName = None,
    tolerance: Tolerance = None,
    spectral_radius: SpectralRadius = 0.9,
    output_step: OutputStep = None,
    reactions: Reactions = None,
    output: Output = None,
    plot: Plot = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute the motion in time."""
    if until is None and motion is None:
        raise typer.BadParameter("how long? Give a time such as 2s", param_hint="--until")
    with answering(as_json) as answer:
        from time import perf_counter

        from supple.analyses.simulation import simulate as simulated
        from supple.diagnostics import NumericalError

        mechanism = read_mechanism(answer, file, settings)
        joints = _joints(mechanism, reactions)
        forces, times = _inputs(mechanism, inputs)
        here = _start(mechanism, start, at, forces)
        began = perf_counter()
        found = simulated(
            mechanism,
            until=_duration(mechanism, motion) if until is None else quantity_of(until, "--until"),
            step=quantity_of(step, "--step"),
            start=here,
            rates=None if rates is None else quantities_of(rates, "--rates", _names(here), "a coordinate"),
            inputs=forces,
            input_times=times,
            motion=motion,
            tolerance=tolerance,
            spectral_radius=spectral_radius,
            output_step=None if output_step is None else quantity_of(output_step, "--output-step"),
        )
        seconds = perf_counter() - began
        _warn_of_limits(answer, found)
        told = told_of(found, joints)
        write(told, output, plot)
        answer.give(told.data(), lambda: show(told, seconds))
        if not found.complete:
            reached = f"results end at {found.time[-1]:.6g} s: {found.reason}"
            raise answer.cut_short(reached, NumericalError.exit_status)


def _names(here: Configuration) -> tuple[str, ...]:
    return here.rest.numbering.coordinates


def _joints(mechanism: Mechanism, text: str | None) -> list[str]:
    names = [] if text is None else [name.strip() for name in text.split(",")]
    for name in names:
        mechanism.joint(name)  # a wrong one is told before the work
    return names


def _inputs(mechanism: Mechanism, text: str | None) -> tuple[dict[str, Any], Any]:
    """Forces by actuator, and the times they belong to if they come from a table."""
    from supple.diagnostics import InputError, nearest
    from supple.formats.time_table import read_time_table

    if text is None:
        return {}, None
    if "=" in text and not Path(text).exists():
        return dict(quantities_of(text, "--inputs", mechanism.actuators, "an actuator")), None
    table = read_time_table(text, of="actuator", why="a course over time needs")
    for name in table.values:
        if name not in mechanism.actuators:
            raise InputError(
                f'there is no actuator "{name}"', file=table.file, line=1, hint=nearest(name, mechanism.actuators)
            )
    return dict(table.values), table.time


def _start(mechanism: Mechanism, start: str, at: str | None, forces: dict[str, Any]) -> Configuration:
    from supple.analyses.statics import equilibrium
    from supple.kinematics.closure import assemble

    if start == EQUILIBRIUM:
        first = [forces.get(name, 0.0) for name in mechanism.actuators]
        held = [value if isinstance(value, float) else float(value[0]) for value in first]
        return equilibrium(mechanism, configuration(mechanism, at), inputs=held)
    wanted = [item for item in (None if start == REST else start, at) if item is not None]
    return assemble(mechanism, configuration(mechanism, ",".join(wanted) if wanted else None))


def _duration(mechanism: Mechanism, motion: str | None) -> float:
    from supple.analyses.trajectory import trajectory

    assert motion is not None
    return float(trajectory(mechanism, motion).time[-1])


def _warn_of_limits(answer: Answer, found: Simulation) -> None:
    """Limits do not stop a motion, but nobody should leave them unawares."""
    from supple.kinematics.limits import outside_limits

    said: dict[str, str] = {}
    for w in (found.w.max(axis=0), found.w.min(axis=0)):
        for excess in outside_limits(found.problem.rest.numbering, w):
            said.setdefault(excess.part, str(excess))
    for text in said.values():
        answer.warn(text)
