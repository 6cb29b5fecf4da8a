"""Records over time in a universal file: sets 58 of kind 1, one for each channel of each record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from supple.diagnostics import InputError
from supple.diagnostics.quoting import excerpt
from supple.formats.measurements.universal_channels import FileChannels, Nodes, pair_text, posture_of, posture_text
from supple.formats.measurements.universal_file import TIME, Function, UniversalFile
from supple.formats.measurements.universal_responses import axis_of, axis_text
from supple.results.channel import Channel
from supple.results.names import listed
from supple.results.time_records import TimeRecords


def universal_of_records(records: TimeRecords, *, binary: bool = False, nodes: Nodes | None = None) -> UniversalFile:
    """The sets of records: points as 2411, a function for every channel of every record, which are numbered from 1."""
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
    """The records in a file; forces are references. Every record must have every channel, as long and as fast."""
    functions = [one for one in file.functions if one.kind == TIME]
    told = excerpt(path, 500)
    if not functions:
        raise InputError(
            "it has no record over time (58 of kind 1)", file=told, hint="responses are read by load_responses"
        )
    channels = FileChannels(file, quantities)
    # A hammer and a sensor of one point and direction have one name: they are told apart by what they are.
    found: dict[tuple[bool, str], Channel] = {}
    scales: dict[tuple[bool, str], float] = {}
    values: dict[tuple[int, tuple[bool, str]], tuple[Function, float]] = {}
    for one in functions:
        made, factor = channels.alone(one)
        key = made.quantity == "force", made.name
        if (one.record, key) in values:
            raise InputError(
                f'record {one.record} has "{made.name}" twice (set {one.number})', file=told,
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
        raise InputError(f"{listed(missing)} are missing", file=told, hint="export every channel of every record")
    axis = axis_of(functions[0])
    if len(axis) < 2 or any(len(one.values) != len(axis) for one, _ in values.values()):
        raise InputError("its records are not equally long, or too short", file=told, hint="export them equally long")
    references = [one for one in found.values() if one.quantity == "force"]
    responses = [one for one in found.values() if one.quantity != "force"]
    if not references or not responses:
        which = "force" if not references else "motion"
        raise InputError(f"none of its channels is a {which}", file=told, hint="quantities={...} says what each is")

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
