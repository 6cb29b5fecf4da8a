"""Command `supple frf`: the frequency response from an input to an output, of a mechanism or of its reduced model."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import open_answer
from supple.cli.help_text import MODEL, help_of
from supple.cli.kept import Picture, TableFile, keep
from supple.cli.map_option import Map, give_map, map_of
from supple.cli.model_argument import (
    FileOrRom,
    described_mechanism,
    is_model,
    model_configuration,
    read_model,
    require_no,
)
from supple.cli.options import (
    At,
    DampingOption,
    Formulation,
    FormulationOption,
    FreeActuators,
    Json,
    NoDrives,
    Preload,
    Settings,
    configuration,
    parse_damping,
    quantity_of,
    read_mechanism,
)
from supple.description.quantities.dimension import FREQUENCY

if TYPE_CHECKING:
    from supple.modal_analysis.ports import Port
    from supple.reduced.model import ReducedModel
    from supple.results.frequency_response import FrequencyResponse


class ResponseQuantity(StrEnum):
    """Displacement, velocity or acceleration of the output."""

    RECEPTANCE = "receptance"
    MOBILITY = "mobility"
    ACCELERANCE = "accelerance"


class ResponseMethod(StrEnum):
    """Direct solution of every line, or modal superposition."""

    DIRECT = "direct"
    MODAL = "modal"


Input = Annotated[
    str,
    typer.Option(
        "--input",
        metavar="NAME",
        help="Excitation: an actuator (its drive command or force), `lift.acceleration` (prescribed motion), or"
        " a force at a point (`E.z`) or sensor.",
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output", metavar="NAME", help="Response: a sensor output, `point.axis`, an actuator or a joint coordinate."
    ),
]
KindOption = Annotated[
    ResponseQuantity,
    typer.Option(
        "--kind",
        help="Response per unit of input: receptance (displacement), mobility (velocity) or accelerance "
        "(acceleration). Default: receptance.",
        show_default=False,
    ),
]
From = Annotated[str, typer.Option("--from", metavar="HZ", help="Lowest frequency, Hz.")]
To = Annotated[str, typer.Option("--to", metavar="HZ", help="Highest frequency, Hz.")]
Lines = Annotated[int, typer.Option("--lines", metavar="N", help="Number of frequency lines, evenly spaced.", min=1)]
MethodOption = Annotated[
    ResponseMethod, typer.Option("--method", help=help_of("frf", "method"), show_default=False, rich_help_panel=MODEL)
]


def frf(
    file: FileOrRom,
    input_name: Input,
    output_name: Output,
    at: At = None,
    kind: KindOption = ResponseQuantity.RECEPTANCE,
    free_actuators: FreeActuators = False,
    preload: Preload = True,
    start: From = "1",
    stop: To = "100",
    lines: Lines = 400,
    damping: DampingOption = None,
    method: MethodOption = ResponseMethod.DIRECT,
    no_drives: NoDrives = False,
    formulation: FormulationOption = Formulation.AUTO,
    grid: Map = None,
    output: TableFile = None,
    plot: Picture = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute a frequency response."""
    with open_answer(as_json) as answer:
        from supple.frequency_response.frequency_response import frf as response

        options: dict[str, Any] = {
            "inputs": input_name, "outputs": output_name, "frequencies_hz": frequency_lines(start, stop, lines),
            "kind": kind.value, "free_actuators": free_actuators, "preload": preload, "drives": not no_drives,
        }  # fmt: skip
        subject: Any
        of_model = is_model(file)
        if of_model:
            subject = read_model(answer, file, settings)
            require_no(
                {
                    "--damping": damping,
                    "--method": method is not ResponseMethod.DIRECT,
                    "--formulation": formulation is not Formulation.AUTO,
                },
                "a reduced model has the damping it was reduced with, and a single solution method",
            )
        else:
            subject = read_mechanism(answer, file, settings)
            options |= {
                "damping": parse_damping(damping), "method": method.value, "formulation": formulation.value,
            }  # fmt: skip

        def respond(subject: Any, at: Any) -> FrequencyResponse:
            found = response(subject, at, **options)
            return _with_units(subject, found, drives=not no_drives) if of_model else found

        if grid is not None:
            from supple.maps.over import over

            give_map(answer, map_of(answer, subject, grid, at, over, question=respond), grid, output, plot)
            return
        here: Any = model_configuration(subject, at) if of_model else configuration(subject, at)
        found = respond(subject, here)
        keep(found, output, plot)
        answer.show(found, "--json prints all lines with full precision")


def _with_units(model: ReducedModel, found: FrequencyResponse, *, drives: bool) -> FrequencyResponse:
    """Return the response of a reduced model, with the units of the mechanism that it was made from."""
    from supple.diagnostics import InputError
    from supple.frequency_response.driving import LED
    from supple.results.frequency_response import response_unit

    inlet, outlet = found.inputs[0], found.outputs[0]
    if drives and model.hardware.drive(inlet) is not None:
        return found
    try:
        response, force = (_port(model, name) for name in (outlet, inlet.removesuffix(LED)))
    except InputError:  # an internal mode, or another name that a mechanism does not have
        return found
    unit = f"{force.unit}/s²" if inlet.endswith(LED) else force.force_unit
    return replace(found, units=((response_unit(found.kind, response.unit, unit),),))


def _port(model: ReducedModel, name: str) -> Port:
    from supple.kinematics.rest import rest
    from supple.modal_analysis.ports import port

    return port(rest(described_mechanism(model)).numbering, name)


def frequency_lines(start: str, stop: str, lines: int) -> Any:
    """Return evenly spaced frequencies, both ends included."""
    import numpy as np

    from supple.diagnostics import InputError
    from supple.diagnostics.limits import require_within

    require_within("lines", lines, part="--lines")
    first, last = quantity_of(start, "--from", FREQUENCY), quantity_of(stop, "--to", FREQUENCY)
    if lines > 1 and not first < last:
        raise InputError(
            f"must be above --from, {first:g} Hz (got {last:g} Hz)", part="--to", hint="give a higher frequency"
        )
    return np.linspace(first, last, lines)
