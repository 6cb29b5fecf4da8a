"""`supple virtual-test`: a hammer test of a mechanism, simulated, into a universal file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import answering
from supple.cli.drives_option import NoDrives
from supple.cli.frf import DampingOption, FreeActuators, damping_law
from supple.cli.kept import Picture, keep, require_folder
from supple.cli.measured import EstimatorOption, Exponential, ForceLength, Kept, share_of
from supple.cli.options import At, File, Json, Settings, configuration, pieces, read_mechanism
from supple.cli.quantities import quantity_of
from supple.description.quantities.dimension import FORCE, FREQUENCY, TIME

if TYPE_CHECKING:
    from supple.identification.testing.virtual_test import VirtualTest

Hammer = Annotated[
    list[str],
    typer.Option(
        "--hammer", metavar="PLACE.WAY", show_default=False,
        help="Where it strikes and along what: `platform.-z`, `platform.(0.6 0 0.8)`; may be repeated.",
    ),
]  # fmt: skip
Sensors = Annotated[
    list[str],
    typer.Option(
        "--sensors", metavar="PLACE,...", show_default=False,
        help="`platform.x`; a place alone is all its directions; `arm[0.25]` a quarter along its beams, `arm[0:1:5]` "
        "five places from end to end; may be repeated.",
    ),
]  # fmt: skip
Sampling = Annotated[str, typer.Option("--sampling", metavar="HZ", show_default=False, help="Samples a second.")]
Samples = Annotated[int, typer.Option("--samples", metavar="N", min=16, help="In each record.")]
Blows = Annotated[int, typer.Option("--blows", metavar="N", min=1, help="At each hammer point; records of a shaker.")]
Noise = Annotated[str, typer.Option("--noise", metavar="SHARE", help="Of each channel's r.m.s., such as 1%.")]
Floor = Annotated[
    str,
    typer.Option("--floor", metavar="SHARE", help="Least noise, as that of a channel of so much of the largest r.m.s."),
]
Bits = Annotated[int | None, typer.Option("--bits", metavar="N", show_default=False, help="Of the converter.")]
Ranges = Annotated[
    str | None,
    typer.Option(
        "--range", metavar="NAME=VALUE,...", show_default=False,
        help="Full scale of a channel or a quantity, SI: `force=200,acceleration=50`.",
    ),
]  # fmt: skip
Peak = Annotated[str, typer.Option("--peak", metavar="FORCE", help="Of a blow; r.m.s. of a shaker.")]
Duration = Annotated[
    str | None,
    typer.Option("--duration", metavar="TIME", show_default=False, help="Of a blow; 2.5 samples if left out."),
]
ShakerOption = Annotated[
    str | None,
    typer.Option("--shaker", metavar="KIND", show_default=False, help="random, burst, chirp or multisine, no hammer."),
]
QuantityOption = Annotated[str, typer.Option("--quantity", help="acceleration, velocity or displacement is measured.")]
Seed = Annotated[int, typer.Option("--seed", help="Of the noise and of the blows.")]
Binary = Annotated[bool, typer.Option("--binary", help="Numbers of a .uff file as they are (58b).")]


def virtual_test(
    file: File,
    hammer: Hammer,
    sensors: Sensors,
    sampling: Sampling,
    at: At = None,
    samples: Samples = 1024,
    blows: Blows = 3,
    noise: Noise = "0",
    floor: Floor = "1%",
    bits: Bits = None,
    ranges: Ranges = None,
    peak: Peak = "100 N",
    duration: Duration = None,
    shaker: ShakerOption = None,
    estimator: EstimatorOption = "H1",
    force_length: ForceLength = None,
    exponential: Exponential = None,
    quantity: QuantityOption = "acceleration",
    free_actuators: FreeActuators = False,
    damping: DampingOption = None,
    no_drives: NoDrives = False,
    seed: Seed = 0,
    binary: Binary = False,
    output: Kept = None,
    plot: Picture = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Strike a mechanism where nobody has yet, and write what would be measured."""
    with answering(as_json) as answer:
        from supple.identification.testing.virtual_test import virtual_test as simulated

        require_folder(output, plot)
        mechanism = read_mechanism(answer, file, settings)
        found = simulated(
            mechanism, at if at in mechanism.configurations else configuration(mechanism, at), hammer,
            [one for text in sensors for piece in pieces(text) for one in _spread(piece.strip())],
            sampling_hz=quantity_of(sampling, "--sampling", FREQUENCY), samples=samples, blows=blows,
            noise=share_of(noise, "--noise"), floor=share_of(floor, "--floor"), bits=bits, ranges=_ranges(ranges),
            peak=quantity_of(peak, "--peak", FORCE),
            duration=None if duration is None else quantity_of(duration, "--duration", TIME),
            shaker=shaker, estimator=estimator,  # type: ignore[arg-type]  # both are checked there, with a hint
            force_length=None if force_length is None else quantity_of(force_length, "--force-length", TIME),
            exponential=None if exponential is None else share_of(exponential, "--exponential"),
            quantity=quantity, free_actuators=free_actuators, damping=damping_law(damping), drives=not no_drives,
            seed=seed,
        )  # fmt: skip
        if output is not None and binary:
            from supple.cli.kept import written

            written(output, lambda: found.save(output, binary=True))
        keep(found, None if binary else output, plot)
        answer.give(_data(found), lambda: _show(found))


def _spread(text: str) -> list[str]:
    """`arm[0:1:5].z` is five places; everything else is itself."""
    import re

    import numpy as np

    parts = re.fullmatch(r"(?P<body>.+)\[(?P<first>[^:\]]+):(?P<last>[^:\]]+):(?P<count>\d+)\](?P<way>.*)", text)
    if parts is None:
        return [text]
    first, last = (quantity_of(parts[key], "--sensors", None) for key in ("first", "last"))
    shares = np.linspace(first, last, int(parts["count"]))
    return [f"{parts['body']}[{share:.6g}]{parts['way']}" for share in shares]


def _ranges(text: str | None) -> dict[str, float]:
    found = {}
    for piece in pieces(text) if text else ():
        name, equals, value = (item.strip() for item in piece.rpartition("="))
        if not equals or not name:
            raise typer.BadParameter(f"{piece!r} is not NAME=VALUE", param_hint="--range")
        found[name] = quantity_of(value, f"--range {name}", None)
    return found


def _data(found: VirtualTest) -> dict[str, Any]:
    table = found.table().columns
    return {
        "records": found.records.count, "samples": found.records.samples, "sampling_hz": found.records.sampling_hz,
        "frequencies_hz": found.responses.frequencies_hz, "window_rate": found.responses.window_rate,
        "averages": found.responses.averages, "pairs": list(table["pair"]), "rms": table["rms"],
        "error": table["error"], "coherence": table["coherence"],
        "real": found.responses.H.real, "imag": found.responses.H.imag, "notes": list(found.responses.notes),
    }  # fmt: skip


def _show(found: VirtualTest) -> None:
    from supple.cli.tables import Tables, number

    out, table = Tables(), found.table().columns
    out.line(found.records.summary())
    columns = (table[key].tolist() for key in ("pair", "rms", "error", "coherence"))
    rows = []
    for pair, rms, error, share in zip(*columns, strict=True):
        off = "" if error != error else f"{100.0 * error:.2g} %"
        rows.append((pair, number(rms), off, "" if share != share else f"{share:.3f}"))
    out.table(("pair", "r.m.s. of H", "error", "coherence"), rows[:_MOST])
    if len(rows) > _MOST:
        out.line(f"and {len(rows) - _MOST} more pairs; --json has all")
    for note in found.responses.notes:
        out.line(f"note: {note}")


_MOST = 24  # pairs that are printed
