"""Motions from a table: CSV with a column `time` (s) and one for each coordinate (rad or m).

time,crank,slide
0.000,1.047,0.20
0.001,1.053,0.20
...
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.formats.time_table import read_time_table

Array = NDArray[np.float64]

FEWEST = 6  # rows: what a spline of degree five needs


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """Values of some coordinates at rising times: time (N,), values {coordinate: (N,)}; file is for messages."""

    time: Array
    values: dict[str, Array]
    file: str


def read_motion(path: str | Path) -> SampledMotion:
    """The motion in a CSV file; every mistake is told with its line."""
    table = read_time_table(path, of="coordinate", fewest=FEWEST, why="smooth accelerations need")
    return SampledMotion(table.time, table.values, table.file)
