"""`load_responses` and `load_records`: measurements from a file, whichever way they were written."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.quoting import brief, quoted
from supple.formats.measurements.array_file import read_mat_responses, read_npz, read_records
from supple.formats.measurements.recorded_units import factor_of, quantity_of, ratio_of
from supple.formats.measurements.universal_file import read_universal
from supple.formats.measurements.universal_records import records_of
from supple.formats.measurements.universal_responses import responses_of
from supple.formats.text_file import read_bytes, text_of
from supple.results.channel import Channel, channel
from supple.results.names import listed
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


# Responses in a CSV table: a column of frequencies, and real and imaginary parts (or magnitudes and phases) of pairs.
#
# frequency_hz,real tip.z/tip.-z [(m/s²)/N],imag tip.z/tip.-z [(m/s²)/N],coherence tip.z/tip.-z
# 1.0,0.01,0.002,0.99
# ...


LARGEST = 2**27  # bytes
_EACH = 6  # channels without a unit that have a note of their own
_NAMED = 3  # pairs that a message lists
_FREQUENCIES = ("frequency_hz", "frequency", "frequency (hz)", "frequency [hz]", "f", "freq", "hz")
_PARTS = {"real": "real", "re": "real", "imag": "imag", "imaginary": "imag", "im": "imag", "magnitude": "magnitude",
          "mag": "magnitude", "abs": "magnitude", "phase": "phase", "coherence": "coherence"}  # fmt: skip
_COLUMN = re.compile(
    r"(?P<part>[A-Za-z]+) +(?P<response>.+?)/(?P<reference>[^/\[]+?) *"
    r"(?:\[(?P<unit>.*)\])? *(?P<degrees>\((?:deg|°|rad)\))?"
)


def read_csv(path: str | Path, quantities: Mapping[str, str]) -> Responses:
    """The responses in a CSV file; phases are in rad unless the column says (deg). Every mistake is told with its line.

    Without a unit in its head a column is an acceleration to a force in SI, and `notes` says so.
    """
    file = brief(path, 500)
    lines = text_of(read_bytes(path, LARGEST, "give fewer lines or channels"), file).splitlines()
    rows = csv.reader(lines, skipinitialspace=True)
    try:
        head = [name.strip() for name in next(rows, [])]
        if not head or head[0].lower() not in _FREQUENCIES:
            raise InputError(
                f"the first column is {quoted(head[0] if head else '')}, not frequency_hz", file=file, line=1,
                hint="begin with frequency_hz; then `real A.z/B.z [(m/s^2)/N]`, `imag A.z/B.z [(m/s^2)/N]`",
            )  # fmt: skip
        table = [_numbers(row, head, file, rows.line_num) for row in rows if any(item.strip() for item in row)]
    except csv.Error as error:
        raise InputError(f"this is not a table ({error})", file=file, line=rows.line_num) from None
    if len(table) < 2:
        raise InputError(f"it has {len(table)} lines of numbers", file=file, hint="give at least two")
    return _responses(head, np.array(table).T, quantities, file)


def _responses(head: list[str], columns: Array, quantities: Mapping[str, str], file: str) -> Responses:
    parts: dict[tuple[str, str], dict[str, Array]] = {}
    units: dict[tuple[str, str], str] = {}
    for name, values in zip(head[1:], columns[1:], strict=True):
        found = _COLUMN.fullmatch(name)
        part = _PARTS.get(found["part"].lower()) if found else None
        if found is None or part is None:
            raise InputError(
                f"the column {quoted(name)} is not understood", file=file, line=1,
                hint="name it real, imag, magnitude, phase or coherence, and its pair: real A.z/B.z [(m/s^2)/N]",
            )  # fmt: skip
        pair = found["response"].strip(), found["reference"].strip()
        if part in parts.setdefault(pair, {}):
            raise InputError(f"two columns are {part} of {pair[0]}/{pair[1]}", file=file, line=1, hint="leave one out")
        parts[pair][part] = np.radians(values) if part == "phase" and found["degrees"] in ("(deg)", "(°)") else values
        units[pair] = found["unit"] or units.get(pair, "")
    unsaid: dict[str, str] = {}
    responses: dict[str, Channel] = {}
    references: dict[str, Channel] = {}
    factors = {pair: _described(pair, units[pair], quantities, responses, references, unsaid) for pair in parts}
    notes = _unsaid(unsaid)
    if len(parts) < len(responses) * len(references):
        absent = (f"{a} to {b}" for a in responses for b in references if (a, b) not in parts)
        count = len(responses) * len(references) - len(parts)
        named = list(islice(absent, _NAMED))
        more = f" and {count - len(named)} others" if count > len(named) else ""
        raise InputError(
            f"{listed(named)}{more} {'are' if count > 1 else 'is'} missing", file=file,
            hint="give every response to every reference",
        )  # fmt: skip
    H = np.array([[_complex(parts[a, b], (a, b), file) * factors[a, b] for b in references] for a in responses])
    shares = [[parts[a, b].get("coherence") for b in references] for a in responses]
    known = all(share is not None for row in shares for share in row)
    if not known and any(share is not None for row in shares for share in row):
        notes.append("coherences of some pairs are missing, and all are left out")
    return Responses(
        columns[0], tuple(responses.values()), tuple(references.values()), H.transpose(2, 0, 1),
        coherence=np.array(shares, dtype=float).transpose(2, 0, 1) if known else None, notes=tuple(notes),
    )  # fmt: skip


def _described(
    pair: tuple[str, str],
    unit: str,
    quantities: Mapping[str, str],
    responses: dict[str, Channel],
    references: dict[str, Channel],
    unsaid: dict[str, str],
) -> float:
    """Add a pair's channels; the factor of its numbers to SI. Channels without a unit are added to `unsaid`."""
    labels = ratio_of(unit) or (unit, "")
    factor = 1.0
    for name, label, usual, known, power in zip(
        pair, labels, ("acceleration", "force"), (responses, references), (1, -1), strict=True
    ):
        quantity = quantities.get(name) or quantity_of(label)
        if quantity is None:
            turning = channel(name).turns and label
            quantity = _turning(label) if turning else usual
            if not label:
                unsaid[name] = quantity
        made = channel(name, quantity, None, label)
        if known.setdefault(name, made).quantity != quantity:
            raise InputError(f'"{name}" is {known[name].quantity} and {quantity}', hint="give them names of their own")
        factor *= factor_of(label, quantity, made.turns, f'channel "{name}"') ** power
    return factor


def _unsaid(channels: Mapping[str, str]) -> list[str]:
    """What is assumed of channels whose unit the table does not say: of few each, of many together."""
    if len(channels) <= _EACH:
        return [f"{name}: the table does not say its unit; taken as {what}, in SI" for name, what in channels.items()]
    kinds = " and ".join(dict.fromkeys(channels.values()))
    return [f"{listed(channels)}: the table does not say their units; taken as {kinds}, in SI"]


def _turning(label: str) -> str:
    return (
        "acceleration"
        if "/s2" in label.replace("²", "2").replace("^", "")
        else "velocity"
        if "/s" in label
        else "displacement"
    )


def _complex(parts: Mapping[str, Array], pair: tuple[str, str], file: str) -> NDArray[np.complex128]:
    if {"real", "imag"} <= set(parts):
        return np.asarray(parts["real"] + 1j * parts["imag"])
    if {"magnitude", "phase"} <= set(parts):
        return np.asarray(parts["magnitude"] * np.exp(1j * parts["phase"]))
    raise InputError(
        f"of {pair[0]}/{pair[1]} there is only {listed(parts)}", file=file,
        hint="a response needs real and imag, or magnitude and phase",
    )  # fmt: skip


def _numbers(row: list[str], head: list[str], file: str, line: int) -> list[float]:
    if len(row) != len(head):
        raise InputError(
            f"a row of {len(row)} values under {len(head)} names", file=file, line=line, hint="fill every column"
        )
    found = []
    for name, text in zip(head, row, strict=True):
        try:
            found.append(float(text) if len(text) < 200 else math.nan)
        except ValueError:
            raise InputError(
                f"{quoted(text)} is not a number", part=f"column {quoted(name)}", file=file, line=line, hint="mend it"
            ) from None
    return found
