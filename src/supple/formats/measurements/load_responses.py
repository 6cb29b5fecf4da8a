"""`load_responses` and `load_records`: measurements from a file, whichever way they were written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.quoting import brief
from supple.formats.measurements.array_file import read_mat_responses, read_npz, read_records
from supple.formats.measurements.csv_table import read_csv
from supple.formats.measurements.recorded_units import factor_of
from supple.formats.measurements.universal_file import read_universal
from supple.formats.measurements.universal_records import records_of
from supple.formats.measurements.universal_responses import responses_of
from supple.results.channel import Channel
from supple.results.responses import UNIVERSAL, Responses
from supple.results.time_records import TimeRecords

_NONE: Mapping[str, str] = {}
_ENDINGS = (*UNIVERSAL, ".npz", ".mat", ".csv")


def load_responses(
    path: str | Path,
    *,
    at: str | Mapping[str, float] = "",
    units: Mapping[str, str] = _NONE,
    quantities: Mapping[str, str] = _NONE,
    references: Sequence[str] | None = None,
    partial: bool = False,
) -> Responses:
    """The responses in a file: .uff (or .unv), .npz, .mat or .csv. What had to be assumed is in its `notes`.

    at         : the posture it was measured at, in place of what the file says
    units      : what the numbers of a channel are in, in place of what the file says: {"tip.z": "mm/s^2"}; "*" is every
                 response, "reference *" every reference
    quantities : what a channel is, in the same way: {"tip.z": "velocity"}
    references : those to read, where not every response was measured to every one
    partial    : read a universal file that was cut off as far as it goes
    """
    require_arguments(load_responses, locals())
    suffix = _suffix(path)
    if suffix in UNIVERSAL:
        file = read_universal(path, partial=partial)
        found = responses_of(file, path, quantities, None if references is None else tuple(references))
    elif suffix == ".csv":
        found = read_csv(path, quantities)
    else:
        found = read_npz(path) if suffix == ".npz" else read_mat_responses(path)
    if references is not None and suffix not in UNIVERSAL:
        found = found.select(references=list(references))
    found = in_units(found, units) if units else found
    return found.changed(at=at) if at else found


def load_records(
    path: str | Path,
    *,
    at: str | Mapping[str, float] = "",
    quantities: Mapping[str, str] = _NONE,
    partial: bool = False,
) -> TimeRecords:
    """The records over time in a file: .uff (or .unv), .npz or .mat. Options as of `load_responses`."""
    require_arguments(load_records, locals())
    suffix = _suffix(path, (*UNIVERSAL, ".npz", ".mat"))
    if suffix in UNIVERSAL:
        found = records_of(read_universal(path, partial=partial), path, quantities)
    else:
        found = read_records(path)
    return found.changed(at=at) if at else found


def in_units(test: Responses, units: Mapping[str, str]) -> Responses:
    """The same file read as if its numbers had been in these units: {channel, "*" or "reference *": unit}."""
    known = [one.name for one in (*test.responses, *test.references)]
    for name in units:
        if name not in (*known, "*", "reference *"):
            raise InputError(f'there is no channel "{name}"', part="units", hint=nearest(name, known))
    responses, up = _as(test.responses, units, "*")
    references, down = _as(test.references, units, "reference *")
    H = test.H * up[:, None] / down
    return test.changed(responses=responses, references=references, H=H)


def _as(channels: Sequence[Channel], units: Mapping[str, str], every: str) -> tuple[tuple[Channel, ...], np.ndarray]:
    found, factors = [], []
    for one in channels:
        unit = units.get(one.name, units.get(every, one.recorded))
        part = f'channel "{one.name}"'
        before = factor_of(one.recorded, one.quantity, one.turns, part)
        factors.append(factor_of(unit, one.quantity, one.turns, part) / before)
        found.append(one.replaced(recorded=unit))
    return tuple(found), np.array(factors)


def _suffix(path: str | Path, known: Sequence[str] = _ENDINGS) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise InputError(
            f'"{suffix}" is no ending of a file of measurements',
            file=brief(path, 500),
            hint=f"known: {', '.join(known)}",
        )
    return suffix
