"""Tables over time: CSV with a column `time` (s) and one for each named signal, in SI units; and motions from them.

time,lift,elbow
0.0,120,-35
0.1,124,-31
...

The columns of a motion are coordinates (rad or m), or directions of a place (`tool.x`, ...):

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
from supple.diagnostics.errors import excerpt, quoted
from supple.formats.text_file import read_bytes, text_of

# Tables.


LARGEST = 2**26  # bytes
_LONGEST_FIELD = 200  # characters; a number is shorter


@dataclass(frozen=True, eq=False)
class TimeTable:
    """Values at rising times: time (N,), values {name: (N,)}; file is for messages."""

    time: Array
    values: dict[str, Array]
    file: str


def read_time_table(path: str | Path, *, of: str, fewest: int = 2, why: str = "a course needs") -> TimeTable:
    """The table in a CSV file; every mistake is told with its line.

    of : what a column stands for, in messages; fewest, why : how many rows it must have, and what needs them
    """
    file = excerpt(path, 500)
    lines = text_of(read_bytes(path, LARGEST, "sample it less often"), file).splitlines()
    rows = csv.reader(lines, skipinitialspace=True)
    try:
        names = _header(next(rows, []), of, file)
        table: list[list[float]] = []
        for row in rows:
            if any(field.strip() for field in row):  # an empty line says nothing
                table.append(_numbers(row, names, file, rows.line_num))
                if len(table) > 1 and not table[-2][0] < table[-1][0]:
                    raise InputError(
                        f"the time {table[-1][0]:g} s does not come after {table[-2][0]:g} s",
                        part="time", file=file, line=rows.line_num, hint="list rising times",
                    )  # fmt: skip
    except csv.Error as error:
        raise InputError(f"this is not a table ({error})", file=file, line=rows.line_num) from None
    if len(table) < fewest:
        count = f"{len(table)} row{'s' * (len(table) != 1)}"
        raise InputError(f"it has {count} of numbers, and {why} {fewest}", file=file, hint="add rows")
    columns = np.array(table).T
    return TimeTable(columns[0], dict(zip(names[1:], columns[1:], strict=True)), file)


def _header(row: list[str], of: str, file: str) -> list[str]:
    names = [field.strip() for field in row]
    if names[:1] != ["time"]:
        raise InputError(
            f"the first column is {quoted(names[0] if names else '')}, not time",
            file=file, line=1, hint=f"begin with a line `time,` and the names of {of}s",
        )  # fmt: skip
    if len(names) < 2:
        raise InputError(f"no {of} has a column", file=file, line=1, hint="write their names after `time,`")
    for i, name in enumerate(names):
        if not name or name in names[:i]:
            what = f"column {i + 1} has no name" if not name else f"two columns are called {quoted(name)}"
            raise InputError(what, file=file, line=1, hint=f"give each {of} one column")
    return names


def _numbers(row: list[str], names: list[str], file: str, line: int) -> list[float]:
    if len(row) != len(names):
        raise InputError(
            f"a row of {len(row)} values under {len(names)} names", file=file, line=line, hint="fill every column"
        )
    found = []
    for name, field in zip(names, row, strict=True):
        try:
            value = float(field) if len(field) <= _LONGEST_FIELD else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            what = "is empty" if not field.strip() else f"is {quoted(field)}"
            raise InputError(
                f"{what}, not a number",
                part=f"column {quoted(name)}", file=file, line=line, hint="write a finite number in SI units",
            )  # fmt: skip
        found.append(value)
    return found


# Motions.


FEWEST = 6  # rows: what a spline of degree five needs


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """Values of some coordinates, or of a place, at rising times: time (N,), values {name: (N,)}; file for messages."""

    time: Array
    values: dict[str, Array]
    file: str


def read_motion(path: str | Path) -> SampledMotion:
    """The motion in a CSV file; every mistake is told with its line."""
    table = read_time_table(path, of="coordinate", fewest=FEWEST, why="smooth accelerations need")
    return SampledMotion(table.time, table.values, table.file)


def motion_of_columns(columns: Mapping[str, ArrayLike]) -> SampledMotion:
    """A motion from columns in Python: {"time": (N,), coordinate: (N,), ...}."""
    arrays = {
        name: real_numbers(f'column "{name}" of a motion', values, finite=False) for name, values in columns.items()
    }
    time = arrays.pop("time", None)
    if time is None or time.ndim != 1 or not arrays or any(values.shape != time.shape for values in arrays.values()):
        raise InputError(
            "it has no time and other columns as long", part="motion", hint='give {"time": (N,), "tool.x": (N,), ...}'
        )
    if len(time) < FEWEST or not np.isfinite(time).all() or not (np.diff(time) > 0.0).all():
        raise InputError(
            f"its {len(time)} times do not all rise, or are fewer than {FEWEST}",
            part="motion",
            hint="list rising times",
        )
    if not all(np.isfinite(values).all() for values in arrays.values()):
        raise InputError("it holds values that are not finite", part="motion", hint="leave them out")
    return SampledMotion(time, arrays, "motion")
