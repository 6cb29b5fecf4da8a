"""Tables in the terminal: compact, numbers to six digits, with units."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from supple.results.result import Result

_ROUNDING = 1e-13  # of the largest entry of a matrix: less is not worth a reader's time
_ROWS = 60  # of a table that are printed


class Tables:
    """Prints tables and lines on standard output."""

    def __init__(self) -> None:
        # Where the output goes to a file or a pipe, nothing is folded to the width of a screen.
        self.console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)

    def line(self, text: str) -> None:
        self.console.print(Text(text), soft_wrap=True)

    def table(self, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table; every column but the first holds numbers."""
        made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
        for i, title in enumerate(titles):
            made.add_column(Text(title), justify="left" if i == 0 else "right", no_wrap=True)
        for row in rows:
            made.add_row(*(Text(cell) for cell in row))  # as it is: a name is not markup
        self.console.print()
        self.console.print(made)

    def matrix(self, title: str, rows: Sequence[str], columns: Sequence[str], values: Any) -> None:
        """A matrix with the names of its rows and columns."""
        entries = np.asarray(values, float)
        entries = np.where(np.abs(entries) > _ROUNDING * np.abs(entries).max(initial=0.0), entries, 0.0)
        body = [(name, *(number(value) for value in line)) for name, line in zip(rows, entries, strict=True)]
        self.table((title, *columns), body)


def show_result(out: Tables, found: Result) -> None:
    """Print the summary of a result and its table; of a long table the first rows."""
    out.line(found.summary())
    table = found.table()
    columns, units = table.real(), table.real_units()
    heads = [f"{name} [{units[name]}]" if units.get(name) else name for name in columns]
    rows = [[_cell(value) for value in row] for row in islice(zip(*columns.values(), strict=True), _ROWS)]
    out.table(heads, rows)
    if len(table) > _ROWS:
        out.line(f"{_ROWS} of {len(table)} rows; -o FILE writes all, --json prints all")


def _cell(value: Any) -> str:
    return str(value) if isinstance(value, str | bool | np.bool_) else number(value)


def posture(configuration: Any, *, free: bool = False) -> str:
    """Where a mechanism stands, and what becomes of its coordinates: `arm at lift=0.2, actuators locked`.

    Coordinates that no actuator drives are locked, or free, as well; a structure has none.
    """
    where = ", ".join(f"{name}={number(value)}" for name, value in configuration.coordinates.items())
    words = f"{configuration.mechanism.name} at {where or 'rest'}"
    if not configuration.coordinates:
        return words
    what = "actuators" if configuration.mechanism.actuators else "coordinates"
    return f"{words}, {what} {'free' if free else 'locked'}"


def number(value: Any, unit: str = "") -> str:
    """Six digits and the unit; what differs from zero by rounding alone is zero."""
    value = float(value)
    text = f"{value:.6g}" if abs(value) > 1e-15 else "0"
    return f"{text} {unit}" if unit else text


def angle(value: Any) -> str:
    """An angle in radians and degrees."""
    return f"{number(value)} rad ({math.degrees(float(value)):.4g}°)"


def turn(R: Any) -> str:
    """A rotation matrix as an angle about an axis."""
    R = np.asarray(R)
    axial = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    phi = math.atan2(float(np.linalg.norm(axial)), float(np.trace(R)) - 1.0)
    if phi < 1e-9:
        return "0°"
    if np.linalg.norm(axial) > 1e-9:
        axis = axial / np.linalg.norm(axial)
    else:  # half a turn: the axis spans the symmetric part R + I
        axis = (R + np.eye(3))[:, int(np.argmax(np.diag(R)))]
        axis = axis / np.linalg.norm(axis)
    components = ", ".join(f"{x + 0.0:.3g}" for x in np.round(axis, 6))
    return f"{math.degrees(phi):.6g}° about ({components})"
