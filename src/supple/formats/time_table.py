"""Tables over time, CSV with a column `time` (s) and one for each named signal, in SI units; and motions from them.

time,lift,elbow
0.0,120,-35
0.1,124,-31
...

The columns of a motion are coordinates (rad or m), or components of a point's position (`tool.x`, ...):

time,crank,slide
0.000,1.047,0.20
0.001,1.053,0.20
...
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers
from supple.diagnostics.errors import excerpt, quote
from supple.formats.text_file import read_bytes, text_of

# Tables.


LARGEST = 2**26  # bytes
_LONGEST_FIELD = 200  # characters; a number is shorter


@dataclass(frozen=True, eq=False)
class TimeTable:
    """Values at increasing times: time (N,), values {name: (N,)}; file is for messages."""

    time: Array
    values: dict[str, Array]
    file: str


def read_time_table(path: str | Path, *, of: str, fewest: int = 2, why: str = "an input needs") -> TimeTable:
    """Return the table in a CSV file; every error has its line.

    of          : kind of signal in a column, for messages
    fewest, why : least number of rows, and what requires them
    """
    file = excerpt(path, 500)
    lines = text_of(read_bytes(path, LARGEST, "sample it less often"), file).splitlines()
    rows = csv.reader(lines, skipinitialspace=True)
    try:
        names = _header(next(rows, []), of, file)
        table: list[list[float]] = []
        for row in rows:
            if any(field.strip() for field in row):  # skip empty lines
                table.append(_numbers(row, names, file, rows.line_num))
                if len(table) > 1 and not table[-2][0] < table[-1][0]:
                    raise InputError(
                        f"times must increase, but {table[-1][0]:g} s follows {table[-2][0]:g} s",
                        part="time", file=file, line=rows.line_num, hint="sort the rows by time",
                    )  # fmt: skip
    except csv.Error as error:
        raise InputError(f"this is not a CSV table ({error})", file=file, line=rows.line_num) from None
    if len(table) < fewest:
        count = f"{len(table)} row{'s' * (len(table) != 1)}"
        raise InputError(f"the table has {count} of numbers, but {why} at least {fewest}", file=file, hint="add rows")
    columns = np.array(table).T
    return TimeTable(columns[0], dict(zip(names[1:], columns[1:], strict=True)), file)


def _header(row: list[str], of: str, file: str) -> list[str]:
    names = [field.strip() for field in row]
    if names[:1] != ["time"]:
        raise InputError(
            f"the first column must be time (got {quote(names[0] if names else '')})",
            file=file, line=1, hint=f"write a first line `time,` with the names of {of}s",
        )  # fmt: skip
    if len(names) < 2:
        raise InputError(f"there is no column of a {of}", file=file, line=1, hint="write the names after `time,`")
    for i, name in enumerate(names):
        if not name or name in names[:i]:
            what = f"column {i + 1} has no name" if not name else f"two columns have the name {quote(name)}"
            raise InputError(what, file=file, line=1, hint=f"use one column per {of}")
    return names


def _numbers(row: list[str], names: list[str], file: str, line: int) -> list[float]:
    if len(row) != len(names):
        raise InputError(
            f"expected {len(names)} values in the row (got {len(row)})",
            file=file,
            line=line,
            hint="write one value for each column",
        )
    found = []
    for name, field in zip(names, row, strict=True):
        try:
            value = float(field) if len(field) <= _LONGEST_FIELD else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            what = "the cell is empty" if not field.strip() else f"{quote(field)} is not a number"
            raise InputError(
                what,
                part=f"column {quote(name)}", file=file, line=line, hint="write a finite number in SI units",
            )  # fmt: skip
        found.append(value)
    return found


# Motions.


FEWEST = 6  # least number of rows, for a spline of degree five


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """Values of coordinates, or of a point, at increasing times: time (N,), values {name: (N,)}; file for messages."""

    time: Array
    values: dict[str, Array]
    file: str


def read_motion(path: str | Path) -> SampledMotion:
    """Return the motion in a CSV file; every error has its line."""
    table = read_time_table(path, of="coordinate", fewest=FEWEST, why="smooth accelerations need")
    return SampledMotion(table.time, table.values, table.file)


def motion_of_columns(columns: Mapping[str, ArrayLike]) -> SampledMotion:
    """Return a motion from arrays in Python: {"time": (N,), coordinate: (N,), ...}."""
    arrays = {
        name: real_numbers(f'column "{name}" of a motion', values, finite=False) for name, values in columns.items()
    }
    time = arrays.pop("time", None)
    if time is None or time.ndim != 1 or not arrays or any(values.shape != time.shape for values in arrays.values()):
        raise InputError(
            "the motion needs the column time and at least one other column of the same length",
            part="motion",
            hint='give {"time": (N,), "tool.x": (N,), ...}',
        )
    if len(time) < FEWEST or not np.isfinite(time).all() or not (np.diff(time) > 0.0).all():
        raise InputError(
            f"the {len(time)} times do not increase, or are fewer than {FEWEST}",
            part="motion",
            hint="sort the rows by time",
        )
    if not all(np.isfinite(values).all() for values in arrays.values()):
        raise InputError("the motion has values that are not finite", part="motion", hint="remove these rows")
    return SampledMotion(time, arrays, "motion")
