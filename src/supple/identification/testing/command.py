"""`supple measured`: what is in a file of measurements, and what looks wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, answering
from supple.cli.kept import Picture, keep, require_folder
from supple.cli.options import At, Json, configuration, named_texts, quantity_of, read_mechanism
from supple.description.quantities.dimension import LENGTH, RATIO, TIME

if TYPE_CHECKING:
    from supple.results.responses import Responses

from supple.cli.options import DampingOption, File, FreeActuators, NoDrives, Settings, damping_of_text, pieces
from supple.description.quantities.dimension import FORCE, FREQUENCY

# `supple virtual-test`: a hammer test of a mechanism, simulated, into a universal file.


Hammer = Annotated[
    list[str],
    typer.Option(
        "--hammer", metavar="PLACE.WAY",
        help="Where it strikes and along what: `platform.-z`, `platform.(0.6 0 0.8)`; may be repeated.",
    ),
]  # fmt: skip
Sensors = Annotated[
    list[str],
    typer.Option(
        "--sensors", metavar="PLACE,...",
        help="`platform.x`; a place alone is all its directions; `arm[0.25]` a quarter along its beams, `arm[0:1:5]` "
        "five places from end to end; may be repeated.",
    ),
]  # fmt: skip
Sampling = Annotated[str, typer.Option("--sampling", metavar="HZ", help="Samples a second.")]
Samples = Annotated[int, typer.Option("--samples", metavar="N", min=16, help="In each record.")]
Blows = Annotated[int, typer.Option("--blows", metavar="N", min=1, help="At each hammer point; records of a shaker.")]
Noise = Annotated[str, typer.Option("--noise", metavar="SHARE", help="Of each channel's r.m.s., such as 1%.")]
Floor = Annotated[
    str,
    typer.Option("--floor", metavar="SHARE", help="Least noise, as that of a channel of so much of the largest r.m.s."),
]
Bits = Annotated[int | None, typer.Option("--bits", metavar="N", help="Of the converter.")]
Ranges = Annotated[
    str | None,
    typer.Option(
        "--range", metavar="NAME=VALUE,...",
        help="Full scale of a channel or a quantity, SI: `force=200,acceleration=50`.",
    ),
]  # fmt: skip
Peak = Annotated[str, typer.Option("--peak", metavar="FORCE", help="Of a blow; r.m.s. of a shaker.")]
Duration = Annotated[str | None, typer.Option("--duration", metavar="TIME", help="Of a blow; 2.5 samples if left out.")]
ShakerOption = Annotated[
    str | None, typer.Option("--shaker", metavar="KIND", help="random, burst, chirp or multisine, no hammer.")
]
VirtualTestQuantityOption = Annotated[
    str, typer.Option("--quantity", help="acceleration, velocity or displacement is measured.")
]
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
            quantity=quantity, free_actuators=free_actuators, damping=damping_of_text(damping), drives=not no_drives,
            seed=seed,
        )  # fmt: skip
        if output is not None and binary:
            from supple.cli.kept import write_file

            write_file(output, lambda: found.save(output, binary=True))
        keep(found, None if binary else output, plot)
        answer.show(found)


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


Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...", help="Responses or records: .uff, .unv, .npz, .mat or .csv; several are joined to one test."
    ),
]
OfMechanism = Annotated[
    str | None,
    typer.Option(
        "--mechanism", metavar="FILE",
        help="Match its points to this mechanism, and compare it with the model: signs, units, axes, posture.",
    ),
]  # fmt: skip
UnitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--unit", metavar="NAME=UNIT",
        help="What a channel's numbers are in, whatever the file says: `tip.z=mm/s^2`, `*=g`, `reference *=lbf`.",
    ),
]  # fmt: skip
QuantityOption = Annotated[
    list[str] | None, typer.Option("--quantity", metavar="NAME=WHAT", help="What a channel is: `tip.z=velocity`.")
]
ReferenceOption = Annotated[list[str] | None, typer.Option("--reference", metavar="NAME", help="Only this reference.")]
PlaceOption = Annotated[
    list[str] | None, typer.Option("--place", metavar="POINT=PLACE", help="Which place of the mechanism a point is.")
]
Within = Annotated[str, typer.Option("--within", metavar="LENGTH", help="How far a point may be from its place.")]
Partial = Annotated[bool, typer.Option("--partial", help="Read a universal file that was cut off as far as it goes.")]
EstimatorOption = Annotated[str, typer.Option("--estimator", help="Of records: H1, H2 or Hv.")]
ForceLength = Annotated[
    str | None, typer.Option("--force-length", metavar="TIME", help="Of records: how long the force is kept.")
]
Exponential = Annotated[
    str | None,
    typer.Option(
        "--exponential", metavar="SHARE",
        help="Of records: an exponential window that leaves this share at their end, such as 1%.",
    ),
]  # fmt: skip
KeepFaulty = Annotated[bool, typer.Option("--keep-faulty", help="Also records with double hits or overloads.")]
Kept = Annotated[
    Path | None, typer.Option("-o", "--file", metavar="FILE", help="Write it as .uff, .npz, .mat or .csv.")
]


def measured(
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
    """Tell what is in a file of measurements: channels, lines, coherence, and what looks wrong."""
    with answering(as_json) as answer:
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
            found = check_measurement(test.changed(at=at) if at else test)
        else:
            robot = read_mechanism(answer, mechanism, None)
            named = at if at in robot.configurations else configuration(robot, at)
            far = quantity_of(within, "--within", LENGTH)
            found = check_measurement(test, robot, named, places=named_texts(place, "--place"), within=far)
        keep(found.responses, output, plot)
        answer.show(found)


def share_of(text: str, option: str) -> float:
    """`1%` or `0.01`."""
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
    """Those of a file; where it has only records over time, those that are estimated from them."""
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
    answer.note(f"{path.name} has records over time alone: {records.summary()}; responses are estimated from them")
    found = estimate_responses(records, **windows)
    return in_units(found, units) if units else found
