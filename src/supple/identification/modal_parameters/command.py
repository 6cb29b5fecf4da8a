"""`supple modal`: natural frequencies, damping ratios and mode shapes from measured responses."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from supple.cli.answer import json_value, open_answer
from supple.cli.help_text import OUTPUT, help_of
from supple.cli.kept import PICTURES, Picture, draw, keep, require_folder
from supple.cli.options import Json, quantity_of
from supple.description.quantities.dimension import FREQUENCY


class EstimationMethod(StrEnum):
    """In the frequency domain, or in time."""

    PLSCF = "plscf"
    PTD = "ptd"


class ModalPlotKind(StrEnum):
    """Picture of an estimate of modal parameters."""

    STABILISATION = "stabilisation"
    RESPONSES = "responses"
    MAC = "mac"


Measured = Annotated[Path, typer.Argument(metavar="MEASURED", help="Measured responses: .uff, .csv, .npz or .mat.")]
BandOption = Annotated[
    str | None,
    typer.Option("--band", metavar="LOW:HIGH", help=help_of("modal_parameters", "band_hz"), show_default=False),
]
MethodOption = Annotated[
    EstimationMethod, typer.Option("--method", help=help_of("modal_parameters", "method"), show_default=False)
]
OrderOption = Annotated[
    int | None,
    typer.Option("--order", metavar="N", help=help_of("modal_parameters", "order"), show_default=False, min=1),
]
NoRefinement = Annotated[
    bool,
    typer.Option(
        "--no-refinement", help="Skip the maximum-likelihood refinement of the poles. Faster, less accurate in noise."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--file",
        metavar="FILE",
        help="Table to write (.csv, .npz, .mat, .json), or picture (.png, .svg, .pdf).",
        rich_help_panel=OUTPUT,
    ),
]
DrawingOption = Annotated[
    ModalPlotKind,
    typer.Option(
        "--drawing",
        help="Content of the picture: stabilisation diagram, measured and fitted responses, or auto-MAC.",
        rich_help_panel=OUTPUT,
    ),
]


def modal(
    measured: Measured,
    band: BandOption = None,
    method: MethodOption = EstimationMethod.PLSCF,
    order: OrderOption = None,
    no_refinement: NoRefinement = False,
    output: Output = None,
    plot: Picture = None,
    drawing: DrawingOption = ModalPlotKind.STABILISATION,
    as_json: Json = False,
) -> None:
    """Estimate modal parameters from measured responses."""
    with open_answer(as_json) as answer:
        from supple.formats.measurements.load_responses import load_responses
        from supple.identification.modal_parameters.estimation import modal_parameters

        require_folder(output, plot)
        limits = _band(band)
        found = modal_parameters(
            load_responses(measured), band_hz=limits, method=method.value, order=order, refine=not no_refinement
        )
        for note in found.notes:
            answer.note(note)
        pictures = [path for path in (output, plot) if path is not None and path.suffix.lower() in PICTURES]
        for path in pictures:
            draw(path, lambda: found.plot(drawing.value))
        if output is not None and output.suffix.lower() == ".json":
            import json

            from supple.results.file import save_text

            save_text(output, json.dumps(json_value(found.data()), allow_nan=False))
        elif output is not None and output not in pictures:
            keep(found, output)
        answer.show(found)


def _band(text: str | None) -> tuple[float, float] | None:
    """Return the band of `5Hz:100Hz`."""
    if text is None:
        return None
    low, colon, high = text.partition(":")
    if not colon:
        raise typer.BadParameter(f"{text!r} is not LOW:HIGH", param_hint="--band")
    return quantity_of(low, "--band", FREQUENCY), quantity_of(high, "--band", FREQUENCY)
