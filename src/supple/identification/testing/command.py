"""`supple virtual-test` and `supple check-measurement`: simulated and measured frequency responses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, open_answer
from supple.cli.help_text import COST, OUTPUT, help_of
from supple.cli.kept import Picture, keep, require_folder
from supple.cli.options import At, Json, configuration, named_texts, quantity_of, read_mechanism
from supple.description.quantities.dimension import LENGTH, RATIO, TIME

if TYPE_CHECKING:
    from supple.results.responses import Responses

from supple.cli.options import DampingOption, File, FreeActuators, NoDrives, Settings, parse_damping, pieces
from supple.description.quantities.dimension import FORCE, FREQUENCY

# `supple virtual-test`: simulate an impact-hammer test and write a universal file.


Hammer = Annotated[
    list[str],
    typer.Option(
        "--hammer",
        metavar="POINT.AXIS",
        help="Excitation point and direction: `platform.-z`, `platform.(0.6 0 0.8)`. Repeatable.",
    ),
]
Sensors = Annotated[
    list[str],
    typer.Option(
        "--sensors",
        metavar="POINT.AXIS,...",
        help="Measured channels: `platform.x`, `platform` (all directions), `arm[0.25]` (a quarter along its "
        "beams), `arm[0:1:5]` (five points). Repeatable.",
    ),
]
Sampling = Annotated[
    str, typer.Option("--sampling", metavar="HZ", help=help_of("virtual_test", "sampling_hz"), show_default=False)
]
Samples = Annotated[
    int, typer.Option("--samples", metavar="N", help=help_of("virtual_test", "samples"), show_default=False, min=16)
]
Impacts = Annotated[
    int, typer.Option("--impacts", metavar="N", help=help_of("virtual_test", "impacts"), show_default=False, min=1)
]
Noise = Annotated[
    str,
    typer.Option(
        "--noise",
        metavar="FRACTION",
        help=help_of("virtual_test", "noise"),
        show_default=False,
        rich_help_panel="Instruments",
    ),
]
Floor = Annotated[
    str,
    typer.Option(
        "--floor",
        metavar="FRACTION",
        help=help_of("virtual_test", "floor"),
        show_default=False,
        rich_help_panel="Instruments",
    ),
]
Bits = Annotated[
    int | None,
    typer.Option(
        "--bits", metavar="N", help=help_of("virtual_test", "bits"), show_default=False, rich_help_panel="Instruments"
    ),
]
Ranges = Annotated[
    str | None,
    typer.Option(
        "--range",
        metavar="NAME=VALUE,...",
        help="Full scale of a channel or quantity in SI units: `force=200,acceleration=50`.",
        rich_help_panel="Instruments",
    ),
]
Peak = Annotated[
    str,
    typer.Option(
        "--peak",
        metavar="FORCE",
        help="Peak force of an impact, or RMS force of a shaker: `250N`. Default: 100 N.",
        show_default=False,
    ),
]
Duration = Annotated[
    str | None,
    typer.Option("--duration", metavar="TIME", help="Duration of an impact: `2ms`. Default: 2.5 sample intervals."),
]
ShakerOption = Annotated[
    str | None,
    typer.Option(
        "--shaker", metavar="KIND", help="Shaker signal instead of impacts: random, burst, chirp or multisine."
    ),
]
VirtualTestQuantityOption = Annotated[
    str,
    typer.Option(
        "--quantity",
        metavar="NAME",
        help="Measured quantity: acceleration, velocity or displacement.",
        rich_help_panel="Instruments",
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", metavar="N", help=help_of("virtual_test", "seed"), show_default=False, rich_help_panel=COST),
]
Binary = Annotated[
    bool, typer.Option("--binary", help="Write binary numbers to a .uff file (dataset 58b).", rich_help_panel=OUTPUT)
]


def virtual_test(
    file: File,
    hammer: Hammer,
    sensors: Sensors,
    sampling: Sampling,
    at: At = None,
    samples: Samples = 1024,
    impacts: Impacts = 3,
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
    quantity: VirtualTestQuantityOption = "acceleration",
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
    """Simulate an impact-hammer test and write the responses."""
    with open_answer(as_json) as answer:
        from supple.identification.testing.virtual_test import virtual_test as simulated

        require_folder(output, plot)
        mechanism = read_mechanism(answer, file, settings)
        found = simulated(
            mechanism, at if at in mechanism.configurations else configuration(mechanism, at), hammer,
            [one for text in sensors for piece in pieces(text) for one in _spread(piece.strip())],
            sampling_hz=quantity_of(sampling, "--sampling", FREQUENCY), samples=samples, impacts=impacts,
            noise=share_of(noise, "--noise"), floor=share_of(floor, "--floor"), bits=bits, ranges=_ranges(ranges),
            peak=quantity_of(peak, "--peak", FORCE),
            duration=None if duration is None else quantity_of(duration, "--duration", TIME),
            shaker=shaker, estimator=estimator,  # type: ignore[arg-type]  # both are checked there, with a hint
            force_length=None if force_length is None else quantity_of(force_length, "--force-length", TIME),
            exponential=None if exponential is None else share_of(exponential, "--exponential"),
            quantity=quantity, free_actuators=free_actuators, damping=parse_damping(damping), drives=not no_drives,
            seed=seed,
        )  # fmt: skip
        if output is not None and binary:
            from supple.cli.kept import write_file

            write_file(output, lambda: found.save(output, binary=True))
        keep(found, None if binary else output, plot)
        answer.show(found, *(f"written to {path}" for path in (output, plot) if path is not None))


def _spread(text: str) -> list[str]:
    """Return the places of a range: `arm[0:1:5].z` is five places; other names are returned unchanged."""
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


Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Responses or time records: .uff, .unv, .npz, .mat or .csv. Several files are joined into one test.",
    ),
]
OfMechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism", metavar="FILE", help="Mechanism to match and compare the test with: signs, units, axes, posture."
    ),
]
UnitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--unit",
        metavar="NAME=UNIT",
        help="Unit of a channel, in place of the file's: `tip.z=mm/s^2`, `*=g`, `reference *=lbf`. Repeatable.",
    ),
]
QuantityOption = Annotated[
    list[str] | None,
    typer.Option("--quantity", metavar="NAME=QUANTITY", help="Quantity of a channel: `tip.z=velocity`. Repeatable."),
]
ReferenceOption = Annotated[
    list[str] | None,
    typer.Option("--reference", metavar="NAME", help="Excitation channel to read; all others are skipped. Repeatable."),
]
PlaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--place",
        metavar="MEASURED=POINT",
        help="Point of the mechanism that belongs to a measured point. Repeatable.",
    ),
]
Within = Annotated[
    str,
    typer.Option(
        "--within", metavar="LENGTH", help="Largest distance between a measured point and its point of the mechanism."
    ),
]
Partial = Annotated[bool, typer.Option("--partial", help="Read a truncated universal file up to its end.")]
EstimatorOption = Annotated[
    str,
    typer.Option(
        "--estimator", metavar="H1|H2|Hv", help="FRF estimator for time records.", rich_help_panel="Signal processing"
    ),
]
ForceLength = Annotated[
    str | None,
    typer.Option(
        "--force-length",
        metavar="TIME",
        help="Length of the force window after the trigger. Default: no window.",
        rich_help_panel="Signal processing",
    ),
]
Exponential = Annotated[
    str | None,
    typer.Option(
        "--exponential",
        metavar="FRACTION",
        help="Exponential window, given by its value at the end of a record, such as 1%. Default: no window.",
        rich_help_panel="Signal processing",
    ),
]
KeepFaulty = Annotated[
    bool,
    typer.Option(
        "--keep-faulty", help="Include records with double hits or overloads.", rich_help_panel="Signal processing"
    ),
]
Kept = Annotated[
    Path | None,
    typer.Option(
        "-o", "--file", metavar="FILE", help="File to write: .uff, .npz, .mat or .csv.", rich_help_panel=OUTPUT
    ),
]


def check_responses(
    files: Files,
    mechanism: OfMechanism = None,
    at: At = None,
    unit: UnitOption = None,
    quantity: QuantityOption = None,
    reference: ReferenceOption = None,
    place: PlaceOption = None,
    within: Within = "20 mm",
    partial: Partial = False,
    estimator: EstimatorOption = "H1",
    force_length: ForceLength = None,
    exponential: Exponential = None,
    keep_faulty: KeepFaulty = False,
    output: Kept = None,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Check measured responses: channels, quality, errors."""
    with open_answer(as_json) as answer:
        from supple.identification.testing.check_measurement import check_measurement, join_responses

        require_folder(output, plot)
        windows = {
            "estimator": estimator, "keep_faulty": keep_faulty,
            "force_length": None if force_length is None else quantity_of(force_length, "--force-length", TIME),
            "exponential": None if exponential is None else share_of(exponential, "--exponential"),
        }  # fmt: skip
        read = named_texts(unit, "--unit"), named_texts(quantity, "--quantity")
        test = join_responses(*(_responses(answer, path, read, reference, partial, windows) for path in files))
        if mechanism is None:
            found = check_measurement(test.copy_with(at=at) if at else test)
        else:
            robot = read_mechanism(answer, mechanism, None)
            named = at if at in robot.configurations else configuration(robot, at)
            far = quantity_of(within, "--within", LENGTH)
            found = check_measurement(test, robot, named, places=named_texts(place, "--place"), within=far)
        keep(found.responses, output, plot)
        answer.show(found, *(f"written to {path}" for path in (output, plot) if path is not None))


def share_of(text: str, option: str) -> float:
    """Return the value of `1%` or `0.01`."""
    plain = text.strip()
    return quantity_of(plain[:-1], option, RATIO) / 100.0 if plain.endswith("%") else quantity_of(plain, option, RATIO)


def _responses(
    answer: Answer,
    path: Path,
    read: tuple[dict[str, str], dict[str, str]],
    references: list[str] | None,
    partial: bool,
    windows: dict[str, Any],
) -> Responses:
    """Return the responses of a file; if it contains time records only, those estimated from them."""
    from supple.diagnostics import InputError
    from supple.formats.measurements.load_responses import in_units, load_records, load_responses
    from supple.identification.testing.estimate_responses import estimate_responses

    units, quantities = read
    try:
        return load_responses(path, references=references, partial=partial, units=units, quantities=quantities)
    except InputError as error:
        if "no frequency response" not in error.message and 'no array "frequencies_hz"' not in error.message:
            raise
    records = load_records(path, quantities=quantities, partial=partial)
    answer.note(f"{path.name} contains time records only: {records.summary()}; responses are estimated from them")
    found = estimate_responses(records, **windows)
    return in_units(found, units) if units else found
