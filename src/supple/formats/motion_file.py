"""Motions from a table: CSV with a column `time` (s) and one for each coordinate (rad or m), or for each direction of a
place (`tool.x`, ...).

time,crank,slide
0.000,1.047,0.20
0.001,1.053,0.20
...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers
from supple.formats.time_table import read_time_table

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
    """The same from columns in Python: {"time": (N,), coordinate: (N,), ...}."""
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
