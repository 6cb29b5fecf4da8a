"""Responses and records in a universal file: sets 58 of type 4 (responses), 6 (coherences) and 1 (time)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.errors import excerpt
from supple.formats.measurements.universal_channels import FileChannels, Nodes, pair_text, posture_of, posture_text
from supple.formats.measurements.universal_file import COHERENCE, FREQUENCY, TIME, Function, UniversalFile, plain_text
from supple.results.channel import Channel
from supple.results.responses import Responses
from supple.results.text import list_names
from supple.results.time_records import TimeRecords

# Responses: a function of type 4 for every pair, and of type 6 for every coherence.


_SAME = 1e-4  # of a step: tolerance of the lines of two functions (an axis has six digits)
_ABOUT = re.compile(r"(\w+)=(\S+)")


def universal_of_responses(test: Responses, *, binary: bool = False, nodes: Nodes | None = None) -> UniversalFile:
    """Return the sets of a test: points as 2411, a function for every pair, and one for every coherence."""
    nodes = nodes or Nodes([*test.responses, *test.references])
    lines = test.frequencies_hz
    about = f"{axis_text(lines)} n={test.averages} rate={test.window_rate:.9g} by={test.estimator or '-'}"
    functions = []
    for i, response in enumerate(test.responses):
        for j, reference in enumerate(test.references):
            texts = (test.title or "NONE", posture_text(test.at), test.date or "NONE",
                     pair_text(response.name, reference.name), about)  # fmt: skip
            sides = nodes.side(response), nodes.side(reference)
            functions.append(Function(FREQUENCY, lines, test.H[:, i, j], *sides, texts, binary=binary))
            if test.coherence is not None:
                plain = tuple(side._replace(label="", kind=0) for side in sides)
                values = test.coherence[:, i, j].astype(complex)
                functions.append(Function(COHERENCE, lines, values, plain[0], plain[1], texts, binary=binary))
    return UniversalFile(
        tuple(functions), points=nodes.points, length=1.0, force=1.0, title=test.title,
        description=posture_text(test.at), program="supple", date=test.date,
    )  # fmt: skip


def responses_of(
    file: UniversalFile, path: str | Path, quantities: Mapping[str, str], chosen: tuple[str, ...] | None
) -> Responses:
    """Return the responses in a file. All pairs must have the same lines and occur once.

    chosen : references by name; default: all
    """
    functions = [one for one in file.functions if one.kind == FREQUENCY]
    shown_path = excerpt(path, 500)
    if not functions:
        kinds = list_names(sorted({str(one.kind) for one in file.functions}))
        raise InputError(
            f"the file has no frequency response (58 of type 4); its functions are of type {kinds}", file=shown_path,
            hint="use load_records and estimate_responses for time records; mode shapes (55) are not responses",
        )  # fmt: skip
    channels = FileChannels(file, quantities)
    values: dict[tuple[str, str], tuple[Function, float]] = {}
    responses: dict[str, Channel] = {}
    references: dict[str, Channel] = {}
    for one in functions:
        (response, up), (reference, down) = channels.pair(one)
        if chosen is not None and reference.name not in chosen:
            continue
        key = response.name, reference.name
        if key in values:
            raise InputError(
                f"the response {key[0]} to {key[1]} occurs twice, in sets {values[key][0].number} and {one.number}",
                file=shown_path, hint="export different postures or repeated tests to separate files",
            )  # fmt: skip
        values[key] = one, up / down
        _once(responses, response, shown_path)
        _once(references, reference, shown_path)
    if not values:
        raise InputError(
            f"the file has none of the references {', '.join(chosen or ())}",
            file=shown_path,
            hint="use references of the file",
        )
    _require_all(values, responses, references, shown_path)
    lines = _lines(list(values.values()), shown_path)
    H = np.empty((len(lines), len(responses), len(references)), dtype=complex)
    for (i, response_name), (j, reference_name) in _pairs(responses, references):
        one, factor = values[response_name, reference_name]
        H[:, i, j] = one.values * factor
    first = functions[0]
    about = dict(_ABOUT.findall(first.texts[4]))
    return Responses(
        lines, tuple(responses.values()), tuple(references.values()), H,
        coherence=_coherence(file, channels, responses, references, len(lines)),
        averages=_number(about.get("n"), int), window_rate=float(_number(about.get("rate"), float)),
        at=posture_of([one.texts[1] for one in functions[:1]]), title=plain_text(first.texts[0]) or file.title,
        date=plain_text(first.texts[2]) or file.date, estimator=about.get("by", "").strip("-"),
        notes=(*file.notes, *channels.notes),
    )  # fmt: skip


def axis_text(axis: Array) -> str:
    """Return first value and step of an axis with all digits; the format itself has six."""
    return f"first={axis[0]:.17g} step={(axis[-1] - axis[0]) / (len(axis) - 1):.17g}" if len(axis) > 1 else ""


def axis_of(one: Function) -> Array:
    """Return the axis of a function, exact from its last ID line if that agrees with the six digits."""
    about = dict(_ABOUT.findall(one.texts[4]))
    try:
        exact = np.asarray(float(about["first"]) + float(about["step"]) * np.arange(len(one.axis)), dtype=np.float64)
    except (KeyError, ValueError):
        return one.axis
    # The step has six digits, and so does the end of the axis.
    return exact if len(exact) and np.abs(exact - one.axis).max() <= 2e-5 * np.abs(one.axis).max() else one.axis


def _lines(given: list[tuple[Function, float]], shown_path: str) -> Array:
    lines = axis_of(given[0][0])
    step = float(np.diff(lines).min()) if len(lines) > 1 else 1.0
    for one, _ in given[1:]:
        other = axis_of(one)
        if len(other) != len(lines) or np.abs(other - lines).max() > _SAME * step:
            raise InputError(
                f"set {one.number} has {len(other)} lines up to {other[-1]:.6g} Hz, but "
                f"set {given[0][0].number} has {len(lines)} lines up to {lines[-1]:.6g} Hz", file=shown_path,
                hint="export all with the same lines, or to separate files",
            )  # fmt: skip
    return lines


def _pairs(
    responses: dict[str, Channel], references: dict[str, Channel]
) -> list[tuple[tuple[int, str], tuple[int, str]]]:
    return [((i, a), (j, b)) for i, a in enumerate(responses) for j, b in enumerate(references)]


def _once(found: dict[str, Channel], one: Channel, shown_path: str) -> None:
    known = found.setdefault(one.name, one)
    if known.quantity != one.quantity:
        raise InputError(
            f'"{one.name}" is {known.quantity} in one set and {one.quantity} in another', file=shown_path,
            hint="use different names for the two sensors",
        )  # fmt: skip


def _require_all(
    values: Mapping[tuple[str, str], object],
    responses: Mapping[str, Channel],
    references: Mapping[str, Channel],
    shown_path: str,
) -> None:
    missing = [f"{a} to {b}" for a in responses for b in references if (a, b) not in values]
    if missing:
        raise InputError(
            f"{len(missing)} pairs of {len(responses)} responses and {len(references)} references are missing: "
            f"{list_names(missing)}", file=shown_path,
            hint='select complete references: references=["NAME"], --reference NAME',
        )  # fmt: skip


def _coherence(
    file: UniversalFile,
    channels: FileChannels,
    responses: Mapping[str, Channel],
    references: Mapping[str, Channel],
    lines: int,
) -> Array | None:
    quiet = FileChannels(file, channels.quantities)  # a coherence has no unit, so no note is needed
    found = np.full((lines, len(responses), len(references)), np.nan)
    rows, columns = list(responses), list(references)
    for one in file.functions:
        if one.kind == COHERENCE and len(one.values) == lines:
            plain = one._replace(response=one.response._replace(label=""), reference=one.reference._replace(label=""))
            (response, _), (reference, _) = quiet.pair(plain)
            if response.name in responses and reference.name in references:
                found[:, rows.index(response.name), columns.index(reference.name)] = one.values.real
    if np.isnan(found).all():
        return None
    if np.isnan(found).any():
        channels.notes.append("coherences of some pairs are missing, so all are ignored")
        return None
    return found


def _number(text: str | None, kind: type) -> int:
    try:
        return kind(text or 0)
    except ValueError:
        return 0


# Time records: a function of type 1 for each channel of each record.


def universal_of_records(records: TimeRecords, *, binary: bool = False, nodes: Nodes | None = None) -> UniversalFile:
    """Return the sets of records: points as 2411, a function per channel and record, numbered from 1."""
    nodes = nodes or Nodes(records.channels)
    both = np.concatenate([records.x, records.y], axis=1)
    functions = []
    for n in range(records.count):
        for k, one in enumerate(records.channels):
            scale = "" if records.full_scale is None else f" full_scale={records.full_scale[k]:.9g}"
            texts = (records.title or "NONE", posture_text(records.at), records.date or "NONE",
                     pair_text(one.name, "-"), f"{axis_text(records.time)}{scale}")  # fmt: skip
            values = both[n, k].astype(complex)
            functions.append(
                Function(TIME, records.time, values, nodes.side(one), texts=texts, record=n + 1, binary=binary)
            )
    return UniversalFile(
        tuple(functions), points=nodes.points, length=1.0, force=1.0, title=records.title,
        description=posture_text(records.at), program="supple", date=records.date,
    )  # fmt: skip


def records_of(file: UniversalFile, path: str | Path, quantities: Mapping[str, str]) -> TimeRecords:
    """Return the records in a file, with forces as references.

    Every record must have all channels, with the same length and sample rate.
    """
    functions = [one for one in file.functions if one.kind == TIME]
    shown_path = excerpt(path, 500)
    if not functions:
        raise InputError(
            "the file has no time record (58 of type 1)",
            file=shown_path,
            hint="use load_responses for frequency responses",
        )
    channels = FileChannels(file, quantities)
    # A hammer and a sensor at one point and direction have the same name; their quantity distinguishes them.
    found: dict[tuple[bool, str], Channel] = {}
    scales: dict[tuple[bool, str], float] = {}
    values: dict[tuple[int, tuple[bool, str]], tuple[Function, float]] = {}
    for one in functions:
        made, factor = channels.alone(one)
        key = made.quantity == "force", made.name
        if (one.record, key) in values:
            raise InputError(
                f'record {one.record} has the channel "{made.name}" twice (set {one.number})', file=shown_path,
                hint="number the records (field 2 of record 6 of each set 58)",
            )  # fmt: skip
        values[one.record, key] = one, factor
        found.setdefault(key, made)
        about = dict(item.split("=", 1) for item in one.texts[4].split() if "=" in item)
        if "full_scale" in about:
            scales[key] = float(about["full_scale"])
    numbers = sorted({record for record, _ in values})
    missing = [f"{key[1]} in record {n}" for n in numbers for key in found if (n, key) not in values]
    if missing:
        raise InputError(
            f"channels are missing: {list_names(missing)}", file=shown_path, hint="export every channel of every record"
        )
    axis = axis_of(functions[0])
    if len(axis) < 2 or any(len(one.values) != len(axis) for one, _ in values.values()):
        raise InputError(
            "the records have different lengths, or are too short",
            file=shown_path,
            hint="export records of equal length",
        )
    references = [one for one in found.values() if one.quantity == "force"]
    responses = [one for one in found.values() if one.quantity != "force"]
    if not references or not responses:
        which = "force" if not references else "motion"
        raise InputError(
            f"the file has no {which} channel",
            file=shown_path,
            hint="set the quantities of the channels with quantities={...}",
        )

    def block(force: bool) -> np.ndarray:
        keys = [key for key in found if key[0] == force]
        return np.array([[values[n, key][0].values.real * values[n, key][1] for key in keys] for n in numbers])

    order = [key for force in (True, False) for key in found if key[0] == force]
    full = np.array([scales[key] for key in order]) if all(key in scales for key in order) else None
    return TimeRecords(
        (len(axis) - 1) / float(axis[-1] - axis[0]), tuple(references), tuple(responses), block(True),
        block(False), before=-float(axis[0]), full_scale=full, at=posture_of([functions[0].texts[1]]),
        title=file.title, date=file.date, notes=(*file.notes, *channels.notes),
    )  # fmt: skip
