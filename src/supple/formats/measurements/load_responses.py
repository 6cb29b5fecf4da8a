"""`load_responses` and `load_records`: measurements from files of all supported formats."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.elastic.array_archive import read_archive
from supple.diagnostics import InputError, unknown_name
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import excerpt, quote
from supple.files.existing import require_file
from supple.formats.measurements.matlab_file import read_matlab
from supple.formats.measurements.universal_channels import factor_of, quantity_of_unit, ratio_of
from supple.formats.measurements.universal_file import read_universal
from supple.formats.measurements.universal_responses import records_of, responses_of
from supple.formats.text_file import read_bytes, text_of
from supple.results.channel import Channel, channel, direction_of
from supple.results.responses import UNIVERSAL, Responses
from supple.results.text import list_names
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
    """Load measured frequency responses from a file: .uff (or .unv), .npz, .mat or .csv.

    Parameters
    ----------
    path : str or path-like
        Path of the file; the extension selects the reader.
    at : str or mapping of str to float, optional
        Posture of the measurement: name of a configuration, or {coordinate: value in rad or m}. Default: as in the
        file.
    units : mapping of str to str, optional
        Unit of the numbers of a channel, such as {"tip.z": "mm/s^2"}. Default: as in the file.

        "*" is for every response, "reference *" for every reference.
    quantities : mapping of str to str, optional
        Quantity of a channel, such as {"tip.z": "velocity"}. Default: as in the file.
    references : sequence of str, optional
        References to read, if not every response was measured for every reference. Default: all.
    partial : bool, optional
        Read an incomplete universal file up to its last complete set. Default: False.

    Returns
    -------
    Responses
        The responses in SI units. Its `notes` list the assumptions for missing information.

    Raises
    ------
    InputError
        If the file cannot be read, responses are missing, or a unit is unknown or does not fit the quantity.

    See Also
    --------
    load_records : Time records of a test.

    Examples
    --------
    >>> import supple
    >>> test = supple.load_responses("test.uff", units={"tip.z": "mm/s^2"})  # doctest: +SKIP
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
    return found.copy_with(at=at) if at else found


def load_records(
    path: str | Path,
    *,
    at: str | Mapping[str, float] = "",
    quantities: Mapping[str, str] = _NONE,
    partial: bool = False,
) -> TimeRecords:
    """Load time records of a test from a file: .uff (or .unv), .npz or .mat.

    Parameters
    ----------
    path : str or path-like
        Path of the file; the extension selects the reader.
    at : str or mapping of str to float, optional
        Posture of the measurement: name of a configuration, or {coordinate: value in rad or m}. Default: as in the
        file.
    quantities : mapping of str to str, optional
        Quantity of a channel, such as {"tip.z": "velocity"}. Default: as in the file.
    partial : bool, optional
        Read an incomplete universal file up to its last complete set. Default: False.

    Returns
    -------
    TimeRecords
        The records in SI units; forces are references.

    Raises
    ------
    InputError
        If the file cannot be read, channels are missing, or records have different lengths.

    See Also
    --------
    load_responses : Measured frequency responses.
    """
    require_arguments(load_records, locals())
    suffix = _suffix(path, (*UNIVERSAL, ".npz", ".mat"))
    if suffix in UNIVERSAL:
        found = records_of(read_universal(path, partial=partial), path, quantities)
    else:
        found = read_records(path)
    return found.copy_with(at=at) if at else found


def in_units(test: Responses, units: Mapping[str, str]) -> Responses:
    """Return the responses as if the numbers of the file were in these units.

    units : {channel, "*" or "reference *": unit}
    """
    known = [one.name for one in (*test.responses, *test.references)]
    for name in units:
        if name not in (*known, "*", "reference *"):
            raise unknown_name("channel", name, known, part="units")
    responses, up = _as(test.responses, units, "*")
    references, down = _as(test.references, units, "reference *")
    H = test.H * up[:, None] / down
    return test.copy_with(responses=responses, references=references, H=H)


def _as(channels: Sequence[Channel], units: Mapping[str, str], every: str) -> tuple[tuple[Channel, ...], np.ndarray]:
    found, factors = [], []
    for one in channels:
        unit = units.get(one.name, units.get(every, one.recorded))
        part = f'channel "{one.name}"'
        before = factor_of(one.recorded, one.quantity, one.turns, part)
        factors.append(factor_of(unit, one.quantity, one.turns, part) / before)
        found.append(one.copy_with(recorded=unit))
    return tuple(found), np.array(factors)


def _suffix(path: str | Path, known: Sequence[str] = _ENDINGS) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise InputError(
            f'unknown extension "{suffix}" of a measurement file',
            file=excerpt(path, 500),
            hint=f"supported: {', '.join(known)}",
        )
    return suffix


# Responses in a CSV table: a column of frequencies, and real and imaginary parts (or magnitudes and phases) of pairs.
#
# frequency_hz,real tip.z/tip.-z [(m/s²)/N],imag tip.z/tip.-z [(m/s²)/N],coherence tip.z/tip.-z
# 1.0,0.01,0.002,0.99
# ...


LARGEST = 2**27  # bytes
_EACH = 6  # most channels without a unit that get a note each
_NAMED = 3  # most pairs that a message lists
_FREQUENCIES = ("frequency_hz", "frequency", "frequency (hz)", "frequency [hz]", "f", "freq", "hz")
_PARTS = {"real": "real", "re": "real", "imag": "imag", "imaginary": "imag", "im": "imag", "magnitude": "magnitude",
          "mag": "magnitude", "abs": "magnitude", "phase": "phase", "coherence": "coherence"}  # fmt: skip
_COLUMN = re.compile(
    r"(?P<part>[A-Za-z]+) +(?P<response>.+?)/(?P<reference>[^/\[]+?) *"
    r"(?:\[(?P<unit>.*)\])? *(?P<degrees>\((?:deg|°|rad)\))?"
)


def read_csv(path: str | Path, quantities: Mapping[str, str]) -> Responses:
    """Return the responses in a CSV file; every error has its line.

    Phases are in rad unless the column has (deg). A column without a unit is an acceleration per force in SI, with a
    note.
    """
    file = excerpt(path, 500)
    lines = text_of(read_bytes(path, LARGEST, "give fewer lines or channels"), file).splitlines()
    rows = csv.reader(lines, skipinitialspace=True)
    try:
        head = [name.strip() for name in next(rows, [])]
        if not head or head[0].lower() not in _FREQUENCIES:
            raise InputError(
                f"the first column must be frequency_hz (got {quote(head[0] if head else '')})", file=file, line=1,
                hint="start with frequency_hz, then `real A.z/B.z [(m/s^2)/N]`, `imag A.z/B.z [(m/s^2)/N]`",
            )  # fmt: skip
        table = [_numbers(row, head, file, rows.line_num) for row in rows if any(item.strip() for item in row)]
    except csv.Error as error:
        raise InputError(f"this is not a CSV table ({error})", file=file, line=rows.line_num) from None
    if len(table) < 2:
        raise InputError(
            f"the table has {len(table)} lines of numbers, but at least 2 are needed", file=file, hint="add lines"
        )
    return _responses(head, np.array(table).T, quantities, file)


def _responses(head: list[str], columns: Array, quantities: Mapping[str, str], file: str) -> Responses:
    parts: dict[tuple[str, str], dict[str, Array]] = {}
    units: dict[tuple[str, str], str] = {}
    for name, values in zip(head[1:], columns[1:], strict=True):
        found = _COLUMN.fullmatch(name)
        part = _PARTS.get(found["part"].lower()) if found else None
        if found is None or part is None:
            raise InputError(
                f"unknown column {quote(name)}", file=file, line=1,
                hint="use real, imag, magnitude, phase or coherence, with the pair: real A.z/B.z [(m/s^2)/N]",
            )  # fmt: skip
        pair = found["response"].strip(), found["reference"].strip()
        if part in parts.setdefault(pair, {}):
            raise InputError(
                f"two columns have the {part} of {pair[0]}/{pair[1]}", file=file, line=1, hint="remove one"
            )
        parts[pair][part] = np.radians(values) if part == "phase" and found["degrees"] in ("(deg)", "(°)") else values
        units[pair] = found["unit"] or units.get(pair, "")
    without_unit: dict[str, str] = {}
    responses: dict[str, Channel] = {}
    references: dict[str, Channel] = {}
    factors = {
        pair: _add_channels(pair, units[pair], quantities, responses, references, without_unit) for pair in parts
    }
    notes = _unit_notes(without_unit)
    if len(parts) < len(responses) * len(references):
        absent = (f"{a} to {b}" for a in responses for b in references if (a, b) not in parts)
        count = len(responses) * len(references) - len(parts)
        named = list(islice(absent, _NAMED))
        more = f" and {count - len(named)} others" if count > len(named) else ""
        raise InputError(
            f"{list_names(named)}{more} {'are' if count > 1 else 'is'} missing", file=file,
            hint="provide every response for every reference",
        )  # fmt: skip
    H = np.array([[_complex(parts[a, b], (a, b), file) * factors[a, b] for b in references] for a in responses])
    shares = [[parts[a, b].get("coherence") for b in references] for a in responses]
    known = all(share is not None for row in shares for share in row)
    if not known and any(share is not None for row in shares for share in row):
        notes.append("coherences of some pairs are missing, so all are ignored")
    return Responses(
        columns[0], tuple(responses.values()), tuple(references.values()), H.transpose(2, 0, 1),
        coherence=np.array(shares, dtype=float).transpose(2, 0, 1) if known else None, notes=tuple(notes),
    )  # fmt: skip


def _add_channels(
    pair: tuple[str, str],
    unit: str,
    quantities: Mapping[str, str],
    responses: dict[str, Channel],
    references: dict[str, Channel],
    without_unit: dict[str, str],
) -> float:
    """Add the channels of a pair, and return the factor of its numbers to SI.

    Channels without a unit are added to `without_unit`.
    """
    labels = ratio_of(unit) or (unit, "")
    factor = 1.0
    for name, label, usual, known, power in zip(
        pair, labels, ("acceleration", "force"), (responses, references), (1, -1), strict=True
    ):
        quantity = quantities.get(name) or quantity_of_unit(label)
        if quantity is None:
            turning = channel(name).turns and label
            quantity = _classify_rotation(label) if turning else usual
            if not label:
                without_unit[name] = quantity
        made = channel(name, quantity, None, label)
        if known.setdefault(name, made).quantity != quantity:
            raise InputError(f'"{name}" is both {known[name].quantity} and {quantity}', hint="use different names")
        factor *= factor_of(label, quantity, made.turns, f'channel "{name}"') ** power
    return factor


def _unit_notes(channels: Mapping[str, str]) -> list[str]:
    """Return notes on channels without a unit: one each for a few, one together for many."""
    if len(channels) <= _EACH:
        return [f"{name}: no unit in the table; assumed to be {what}, in SI" for name, what in channels.items()]
    kinds = " and ".join(dict.fromkeys(channels.values()))
    return [f"{list_names(channels)}: no units in the table; assumed to be {kinds}, in SI"]


def _classify_rotation(label: str) -> str:
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
        f"{pair[0]}/{pair[1]} has only {list_names(parts)}", file=file,
        hint="a response needs real and imag, or magnitude and phase",
    )  # fmt: skip


def _numbers(row: list[str], head: list[str], file: str, line: int) -> list[float]:
    if len(row) != len(head):
        raise InputError(
            f"the row has {len(row)} values for {len(head)} columns", file=file, line=line, hint="fill every column"
        )
    found = []
    for name, text in zip(head, row, strict=True):
        try:
            found.append(float(text) if len(text) < 200 else math.nan)
        except ValueError:
            raise InputError(
                f"{quote(text)} is not a number",
                part=f"column {quote(name)}",
                file=file,
                line=line,
                hint="write a finite number",
            ) from None
    return found


# Responses as named arrays in .npz and .mat files, as they are saved.


_OF_CHANNELS = ("points", "directions", "quantities", "recorded_units", "positions")
WANTED = (
    "frequencies_hz", "H", "sampling_hz", "x", "y", "full_scale", "coherence", "about",
    *(f"{what}_{name}" for what in ("response", "reference") for name in _OF_CHANNELS),
)  # fmt: skip
_MOST = 1e15  # largest number in the text `about`
_NEEDED = ("frequencies_hz", "H", "response_points", "reference_points")


def read_npz(path: str | Path) -> Responses:
    """Return the responses in an .npz file, without running anything in it and with memory for its arrays only."""
    return responses_from(_archive(path, "Responses"), str(path))


def _archive(path: str | Path, saved: str) -> Mapping[str, NDArray[Any]]:
    require_file(path)
    try:
        return read_archive(path, WANTED, "iufcU")
    except ValueError as error:
        raise InputError(str(error), file=excerpt(path, 500), hint=f"write the file with {saved}.save") from None


def read_mat(path: str | Path) -> dict[str, NDArray[Any]]:
    """Return the required arrays of a Matlab file (version 5)."""
    return {name: _flat_texts(values) for name, values in read_matlab(path, WANTED).items()}


def _flat_texts(values: Any) -> NDArray[Any]:
    """Return cells of texts as an array of texts, in any of the forms in which they are stored."""
    found: NDArray[Any] = np.asarray(values)
    if found.dtype == object:
        return np.array(
            [str(cell.item() if getattr(cell, "size", 0) == 1 else "") for cell in found.ravel()], dtype=str
        )
    return np.char.rstrip(found.ravel()) if found.dtype.kind == "U" else found


def read_mat_responses(path: str | Path) -> Responses:
    """Return the responses in a .mat file."""
    return responses_from(read_mat(path), str(path))


def read_records(path: str | Path) -> TimeRecords:
    """Return time records in an .npz or .mat file."""
    file = excerpt(path, 500)
    arrays = read_mat(path) if Path(path).suffix.lower() == ".mat" else _archive(path, "TimeRecords")
    for name in ("sampling_hz", "x", "y", "response_points", "reference_points"):
        if name not in arrays:
            raise InputError(
                f'the file has no array "{name}"', file=file, hint="records need sampling_hz, x, y and points"
            )
    about = _about(arrays, file)
    scale = arrays.get("full_scale")
    with _as_arrays(file):
        return TimeRecords(
            float(np.ravel(arrays["sampling_hz"])[0]), _channels(arrays, "reference", "force"),
            _channels(arrays, "response", "acceleration"), np.atleast_3d(np.asarray(arrays["x"], float)),
            np.atleast_3d(np.asarray(arrays["y"], float)), about.before,
            None if scale is None else np.ravel(scale), about.at, about.title, about.date, about.notes,
        )  # fmt: skip


def responses_from(arrays: Mapping[str, NDArray[Any]], file: str) -> Responses:
    """Return responses from arrays by name, as `Responses.arrays` gives them; missing ones get defaults."""
    for name in _NEEDED:
        if name not in arrays:
            raise InputError(
                f'the file has no array "{name}"', file=excerpt(file, 500),
                hint="responses need frequencies_hz, H (lines, responses, references), response_points, "
                "reference_points; docs/measurements.md lists the others",
            )  # fmt: skip
    about = _about(arrays, file)
    with _as_arrays(file):
        return Responses(
            np.atleast_1d(np.asarray(arrays["frequencies_hz"], dtype=float)).reshape(-1),
            _channels(arrays, "response", "acceleration"),
            _channels(arrays, "reference", "force"),
            _cube(arrays["H"], complex),
            coherence=None if "coherence" not in arrays else _cube(arrays["coherence"], float),
            averages=about.averages,
            window_rate=about.window_rate,
            at=about.at,
            title=about.title,
            date=about.date,
            estimator=about.estimator,
            notes=about.notes,
        )


@contextmanager
def _as_arrays(file: str) -> Iterator[None]:
    """Report arrays that are not numeric or have wrong sizes as an InputError about the file."""
    try:
        yield
    except InputError as error:
        raise (error if error.file else error.locate(excerpt(file, 500), None)) from None
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise InputError(
            f"its arrays cannot be read ({excerpt(error)})", file=excerpt(file, 500),
            hint="save them again, with numbers as numbers and names as texts",
        ) from None  # fmt: skip


def _cube(values: Any, kind: type) -> NDArray[Any]:
    """Return (lines, responses, references); Matlab drops the last dimension if there is one reference."""
    found: NDArray[Any] = np.asarray(values, dtype=kind)
    return found if found.ndim > 2 else found.reshape(*found.shape, *[1] * (3 - found.ndim))


class _About(NamedTuple):
    """Contents of the text `about` of a file, with defaults."""

    averages: int = 0
    window_rate: float = 0.0
    before: float = 0.0
    at: str | dict[str, float] = ""
    title: str = ""
    date: str = ""
    estimator: str = ""
    notes: tuple[str, ...] = ()


def _about(arrays: Mapping[str, NDArray[Any]], file: str) -> _About:
    if "about" not in arrays:
        return _About()
    try:
        found = json.loads(str(np.ravel(arrays["about"])[0]))
    except (ValueError, IndexError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(
            'its text "about" cannot be read', file=excerpt(file, 500), hint="remove it, or save the file again"
        )
    given = {name: value for name, value in found.items() if value is not None}
    at = given.get("at", "")
    notes = given.get("notes", ())
    title, date, estimator = (str(given.get(name, "")) for name in ("title", "date", "estimator"))
    return _About(
        int(_number(given, "averages", file)), _number(given, "window_rate", file), _number(given, "before", file),
        {str(name): _number(at, name, file, "at ") for name in at} if isinstance(at, dict) else str(at),
        title, date, estimator, tuple(str(note) for note in notes) if isinstance(notes, list) else (),
    )  # fmt: skip


def _number(given: Mapping[str, Any], name: str, file: str, what: str = "") -> float:
    """Return a number of the text `about`, or 0; it may be negative only for a posture."""
    value = given.get(name, 0.0)
    plain = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST
    if not plain or not (what or value >= 0.0):
        raise InputError(
            f'its text "about" gives {excerpt(json.dumps(value))} for {what}{quote(name)}', file=excerpt(file, 500),
            hint="use a number, or remove it",
        )  # fmt: skip
    return float(value)


def _channels(arrays: Mapping[str, NDArray[Any]], what: str, usual: str) -> tuple[Channel, ...]:
    points = [str(name) for name in np.ravel(arrays[f"{what}_points"])]
    k = len(points)

    def texts(name: str, otherwise: str) -> list[str]:
        found = [str(text) for text in np.ravel(arrays.get(f"{what}_{name}", np.full(k, otherwise)))]
        if len(found) != k:
            raise InputError(
                f"{len(found)} entries for {k} channels", part=f"{what}_{name}", hint="give one entry per channel"
            )
        return found

    directions, quantities, recorded = texts("directions", ""), texts("quantities", usual), texts("recorded_units", "")
    places = np.asarray(arrays.get(f"{what}_positions", np.full((k, 3), np.nan)), dtype=float)
    if places.shape != (k, 3):
        raise InputError(
            f"the shape must be ({k}, 3) (got {places.shape})",
            part=f"{what}_positions",
            hint="give one row per channel",
        )
    positions = [tuple(place.tolist()) if np.isfinite(place).all() else None for place in places]
    return tuple(
        Channel(point, direction_of(direction), quantity, position, unit)
        for point, direction, quantity, position, unit in zip(
            points, directions, quantities, positions, recorded, strict=True
        )
    )
