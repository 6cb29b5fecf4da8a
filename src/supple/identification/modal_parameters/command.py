"""`supple modal`: frequencies, damping and shapes from measured responses."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import answering, plain
from supple.cli.kept import draw, keep, require_folder
from supple.cli.options import Json
from supple.cli.quantities import quantity_of
from supple.description.quantities.dimension import FREQUENCY

if TYPE_CHECKING:
    from supple.identification.modal_parameters.modal_parameters import ModalParameters

_PICTURES = (".png", ".svg", ".pdf")


class Method(StrEnum):
    """In the frequency domain, or in time."""

    PLSCF = "plscf"
    PTD = "ptd"


class Drawing(StrEnum):
    """Which picture."""

    STABILISATION = "stabilisation"
    RESPONSES = "responses"
    MAC = "mac"


Measured = Annotated[
    Path, typer.Argument(metavar="MEASURED", show_default=False, help="Responses: .uff, .csv, .npz or .mat.")
]
BandOption = Annotated[
    str | None,
    typer.Option("--band", metavar="LOW:HIGH", show_default=False, help="As in 5Hz:100Hz; all lines if left out."),
]
MethodOption = Annotated[
    Method, typer.Option("--method", help="Least-squares complex frequency, or time domain; both polyreference.")
]
OrderOption = Annotated[
    int | None,
    typer.Option("--order", metavar="N", min=1, show_default=False, help="The highest order of the diagram."),
]
NoRefinement = Annotated[
    bool, typer.Option("--no-refinement", help="Poles stay where the method has them; less accurate in noise.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--file", metavar="FILE", show_default=False,
        help="Write its numbers (.csv, .npz, .mat, .json) or draw it (.png, .svg, .pdf).",
    ),
]  # fmt: skip
Picture = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", show_default=False, help="Draw it: .png, .svg or .pdf.")
]
DrawingOption = Annotated[
    Drawing, typer.Option("--drawing", help="The diagram, responses as measured and fitted, or the auto-MAC.")
]


def modal(
    measured: Measured,
    band: BandOption = None,
    method: MethodOption = Method.PLSCF,
    order: OrderOption = None,
    no_refinement: NoRefinement = False,
    output: Output = None,
    plot: Picture = None,
    drawing: DrawingOption = Drawing.STABILISATION,
    as_json: Json = False,
) -> None:
    """Find the modes of a structure from measured responses."""
    with answering(as_json) as answer:
        from supple.formats.measurements.load_responses import load_responses
        from supple.identification.modal_parameters.estimation import modal_parameters

        require_folder(output, plot)
        limits = _band(band)
        found = modal_parameters(
            load_responses(measured), band_hz=limits, method=method.value, order=order, refine=not no_refinement
        )
        for note in found.notes:
            answer.note(note)
        data = _data(found)
        pictures = [path for path in (output, plot) if path is not None and path.suffix.lower() in _PICTURES]
        for path in pictures:
            draw(path, lambda: found.plot(drawing.value))
        if output is not None and output not in pictures:
            if output.suffix.lower() == ".json":
                from supple.results.file import save_text

                save_text(output, _json(data))
            else:
                keep(found, output)
        if plot is not None and plot not in pictures:
            from supple.diagnostics import InputError

            raise InputError("a picture ends in .png, .svg or .pdf", file=str(plot), hint="give it such a name")
        answer.give(data, lambda: _show(found))


def _band(text: str | None) -> tuple[float, float] | None:
    """`5Hz:100Hz`."""
    if text is None:
        return None
    low, colon, high = text.partition(":")
    if not colon:
        raise typer.BadParameter(f"{text!r} is not LOW:HIGH", param_hint="--band")
    return quantity_of(low, "--band", FREQUENCY), quantity_of(high, "--band", FREQUENCY)


def _json(data: dict[str, Any]) -> str:
    import json

    return json.dumps(plain(data), allow_nan=False)


def _data(found: ModalParameters) -> dict[str, Any]:
    test = found.responses
    return {
        "frequencies_hz": found.frequencies_hz, "frequency_deviations_hz": found.frequency_deviations_hz,
        "damping": found.damping, "damping_deviations": found.damping_deviations, "structural": found.structural,
        "natural_frequencies_hz": found.natural_frequencies_hz,
        "phase_collinearity": found.phase_collinearity, "phase_deviation": found.phase_deviation,
        "modal_masses": found.modal_masses,
        "responses": [one.name for one in test.responses], "references": [one.name for one in test.references],
        "shapes": {"real": found.shapes.real, "imag": found.shapes.imag},
        "shape_deviations": found.shape_deviations,
        "participation": {"real": found.participation.real, "imag": found.participation.imag},
        "auto_mac": found.mac(), "misfit": found.misfit, "left_over": found.left_over, "missing_hz": found.missing_hz,
        "assurance": found.assurance, "faint": found.faint,
        "method": found.method, "order": found.order, "refined": found.refined, "lines": len(test.frequencies_hz),
        "band_hz": [float(test.frequencies_hz[0]), float(test.frequencies_hz[-1])], "notes": list(found.notes),
    }  # fmt: skip


def _show(found: ModalParameters) -> None:
    import numpy as np

    from supple.cli.tables import Tables, number

    out, test = Tables(), found.responses
    hertz = test.frequencies_hz
    out.line(
        f"{len(found)} modes from {hertz[0]:g} to {hertz[-1]:g} Hz: {len(test.responses)} responses to "
        f"{len(test.references)} references, {len(hertz)} lines, {found.method} up to order {found.order}"
        + ("" if found.refined else ", not refined")
    )
    weighed = bool(np.isfinite(found.modal_masses).any())
    rows = [
        (
            str(r + 1),
            f"{found.frequencies_hz[r]:.3f} ± {found.frequency_deviations_hz[r]:.2g} Hz",
            f"{100.0 * found.damping[r]:.3f} ± {100.0 * found.damping_deviations[r]:.2g} %",
            f"{found.phase_collinearity[r]:.3f}",
            f"{np.degrees(found.phase_deviation[r]):.1f}°",
            *((number(found.modal_masses[r], "kg"),) if weighed else ()),
        )
        for r in range(len(found))
    ]
    titles = ("mode", "frequency", "damping ratio", "MPC", "MPD", *(("modal mass",) if weighed else ()))
    out.table(titles, rows)
    if found.structural and len(found):
        most = float(np.max(1.0 - found.natural_frequencies_hz / found.frequencies_hz))
        out.line(
            f"the damping is structural: undamped natural frequencies are up to {100.0 * most:.2g} % lower "
            "(natural_frequencies_hz of --json and -o)"
        )
    fits = np.where(found.faint, np.inf, found.assurance)
    worst = np.unravel_index(int(fits.argmin()), fits.shape)
    out.line(
        f"{found.left_over:.2%} of the responses is left over; the worst fit is {test.responses[worst[0]].name} from "
        f"{test.references[worst[1]].name} (assurance {found.assurance[worst]:.4f})"
    )
    faint = [test.responses[i].name for i in np.flatnonzero(found.faint.all(axis=1))]
    if faint:
        out.line(f"not counted, since there is hardly more than noise: {', '.join(faint)}")
