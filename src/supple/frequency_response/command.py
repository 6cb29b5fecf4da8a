"""`supple frf`: the frequency response from an input to an output, of a mechanism or of its reduced model."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import answering
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
    damping_of_text,
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
    """Line by line, or from modes."""

    DIRECT = "direct"
    MODAL = "modal"


Input = Annotated[
    str,
    typer.Option(
        "--input", metavar="NAME",
        help="`lift`: the command of its drive, or without one the force of the actuator (with --free-actuators); "
        "`lift.acceleration`: its motion is led; "
        "`E.z`: a force at a place; a sensor's output: a force along what it measures.",
    ),
]  # fmt: skip
Output = Annotated[
    str,
    typer.Option(
        "--output", metavar="NAME",
        help="A sensor's output, `place.axis`, an actuator or a joint's coordinate.",
    ),
]  # fmt: skip
KindOption = Annotated[
    ResponseQuantity, typer.Option("--kind", help="Displacement, velocity or acceleration per unit of input.")
]
From = Annotated[str, typer.Option("--from", metavar="HZ", help="The first line.")]
To = Annotated[str, typer.Option("--to", metavar="HZ", help="The last line.")]
Lines = Annotated[int, typer.Option("--lines", metavar="N", min=1, help="How many lines, evenly spaced.")]
MethodOption = Annotated[ResponseMethod, typer.Option("--method", help="Line by line, or from modes.")]


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
    """Compute a frequency response at a configuration."""
    with answering(as_json) as answer:
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
                "a reduced model has the damping it was reduced with, and its responses one method",
            )
        else:
            subject = read_mechanism(answer, file, settings)
            options |= {
                "damping": damping_of_text(damping), "method": method.value, "formulation": formulation.value,
            }  # fmt: skip

        def asked(subject: Any, at: Any) -> FrequencyResponse:
            found = response(subject, at, **options)
            return _with_units(subject, found, drives=not no_drives) if of_model else found

        if grid is not None:
            from supple.maps.over import over

            give_map(answer, map_of(answer, subject, grid, at, over, question=asked), grid, output, plot)
            return
        here: Any = model_configuration(subject, at) if of_model else configuration(subject, at)
        found = asked(subject, here)
        keep(found, output, plot)
        answer.show(found, "--json gives all lines, to full precision")


def _with_units(model: ReducedModel, found: FrequencyResponse, *, drives: bool) -> FrequencyResponse:
    """The response of a reduced model, with the units of the mechanism that it was made from."""
    from supple.diagnostics import InputError
    from supple.frequency_response.driving import LED
    from supple.results.frequency_response import response_unit

    inlet, outlet = found.inputs[0], found.outputs[0]
    if drives and model.hardware.drive(inlet) is not None:
        return found
    try:
        seen, pushed = (_port(model, name) for name in (outlet, inlet.removesuffix(LED)))
    except InputError:  # an internal mode, or what else a mechanism has no name for
        return found
    unit = f"{pushed.unit}/s²" if inlet.endswith(LED) else pushed.force_unit
    return replace(found, units=((response_unit(found.kind, seen.unit, unit),),))


def _port(model: ReducedModel, name: str) -> Port:
    from supple.kinematics.rest import rest
    from supple.modal_analysis.ports import port

    return port(rest(described_mechanism(model)).numbering, name)


def frequency_lines(start: str, stop: str, lines: int) -> Any:
    """Evenly spaced frequencies, both ends among them."""
    import numpy as np

    from supple.diagnostics import InputError
    from supple.diagnostics.limits import require_within

    require_within("lines", lines, part="--lines")
    first, last = quantity_of(start, "--from", FREQUENCY), quantity_of(stop, "--to", FREQUENCY)
    if lines > 1 and not first < last:
        raise InputError(f"{last:g} Hz is not above --from, {first:g} Hz", part="--to", hint="give a higher one")
    return np.linspace(first, last, lines)
