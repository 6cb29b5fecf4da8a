"""Responses in a CSV table: a column of frequencies, and real and imaginary parts (or magnitudes and phases) of pairs.

frequency_hz,real tip.z/tip.-z [(m/s²)/N],imag tip.z/tip.-z [(m/s²)/N],coherence tip.z/tip.-z
1.0,0.01,0.002,0.99
...
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.quoting import brief, quoted
from supple.formats.measurements.recorded_units import factor_of, quantity_of, ratio_of
from supple.formats.text_file import read_bytes, text_of
from supple.results.channel import Channel, channel
from supple.results.names import listed
from supple.results.responses import Responses

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
