"""Text of a result: lines and tables with units, the same in the terminal and in `print`."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    from rich.console import Console


_WIDTH = 200  # characters of a line without a terminal
_ROUNDING = 1e-13  # relative to the largest entry of a matrix; smaller entries are shown as zero


class TextTable(NamedTuple):
    """Titles of the columns, and rows of cells."""

    titles: Sequence[str]
    rows: Sequence[Sequence[str]]


class Text:
    """Lines and tables; `print` shows them on standard output, `str` returns the text for a file."""

    def __init__(self, *lines: str) -> None:
        self.parts: list[str | TextTable] = list(lines)

    def lines(self, *lines: str) -> Self:
        """Add lines and return the text itself."""
        self.parts += lines
        return self

    def line(self, text: str) -> None:
        """Add one line."""
        self.parts.append(text)

    def table(self, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table; every column but the first holds numbers."""
        self.parts.append(TextTable(titles, rows))

    def matrix(self, title: str, rows: Sequence[str], columns: Sequence[str], values: Any) -> None:
        """Add a matrix with the names of its rows and columns."""
        entries = np.asarray(values, float)
        entries = np.where(np.abs(entries) > _ROUNDING * np.abs(entries).max(initial=0.0), entries, 0.0)
        body = [(name, *(number_text(value) for value in line)) for name, line in zip(rows, entries, strict=True)]
        self.table((title, *columns), body)

    def print(self) -> None:
        """Print on standard output; in a file or a pipe lines are not wrapped."""
        from rich.console import Console

        self._show_on(Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False))

    def __str__(self) -> str:
        from rich.console import Console

        file = io.StringIO()
        self._show_on(Console(file=file, width=_WIDTH, highlight=False, color_system=None))
        return file.getvalue().removesuffix("\n")

    def _show_on(self, console: Console) -> None:
        from rich.text import Text as Words

        for part in self.parts:
            if isinstance(part, TextTable):
                for narrow in _in_blocks(part, console.width):
                    console.print()
                    console.print(_draw_table(narrow))
            else:
                console.print(Words(part), soft_wrap=True)


_SHORT = 24  # largest width of a column of numbers with its title
_BETWEEN = 3  # spaces between columns


def _in_blocks(part: TextTable, width: int) -> list[TextTable]:
    """Split a table of short columns into blocks that fit a width, each with the first column; keep other tables."""
    columns = list(zip(part.titles, *part.rows, strict=True))
    widths = [max(len(cell) for cell in column) for column in columns]
    if not widths or max(widths) > _SHORT or sum(widths) + _BETWEEN * (len(widths) - 1) <= width:
        return [part]
    blocks: list[list[int]] = []
    room = 0
    for i, wide in enumerate(widths[1:], 1):
        if not blocks or room < wide + _BETWEEN:
            blocks.append([0])
            room = width - widths[0]
        blocks[-1].append(i)
        room -= wide + _BETWEEN
    return [TextTable(*_pick_columns(part, block)) for block in blocks]


def _pick_columns(part: TextTable, block: Sequence[int]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    return tuple(part.titles[i] for i in block), [tuple(row[i] for i in block) for row in part.rows]


def _draw_table(part: TextTable) -> Any:
    """Return a table as a rich renderable; names are literal text, not markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text as Words

    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for i, title in enumerate(part.titles):
        made.add_column(Words(title), justify="left" if i == 0 else "right", no_wrap=True)
    for row in part.rows:
        made.add_row(*(Words(cell) for cell in row))
    return made


def posture_heading(configuration: Any, *, free: bool = False) -> str:
    """Return a heading with posture and state of the actuators: `arm at lift=0.2, actuators locked`.

    Coordinates without an actuator are locked or free too; a structure has none.
    """
    where = ", ".join(f"{name}={number_text(value)}" for name, value in configuration.coordinates.items())
    words = f"{configuration.mechanism.name} at {where or 'rest'}"
    if not configuration.coordinates:
        return words
    what = "actuators" if configuration.mechanism.actuators else "coordinates"
    return f"{words}, {what} {'free' if free else 'locked'}"


def number_text(value: Any, unit: str = "") -> str:
    """Return six digits and the unit; rounding errors about zero become zero."""
    value = float(value)
    text = f"{value:.6g}" if abs(value) > 1e-15 else "0"
    return f"{text} {unit}" if unit else text


def angle(value: Any) -> str:
    """Return an angle in radians and degrees."""
    return f"{number_text(value)} rad ({math.degrees(float(value)):.4g}°)"


def rotation_text(R: Any) -> str:
    """Return a rotation matrix as an angle about an axis."""
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


def duration_text(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    if seconds < 100.0:
        return f"{seconds:.2g} s"
    return f"{seconds / 60.0:.3g} min" if seconds < 6000.0 else f"{seconds / 3600.0:.3g} h"


# Names in a result: made unique, or abbreviated in lists.


def fresh(name: str, taken: Iterable[str]) -> str:
    """Return the name, with underscores appended until it is unique."""
    known = set(taken)
    while name in known:
        name += "_"
    return name


def list_names(names: Iterable[str], most: int = 4) -> str:
    """Return the first few names, and the number of the others."""
    found = [name if len(name) <= 24 else f"{name[:23]}…" for name in names]
    if len(found) > most + 1:
        return ", ".join(found[:most]) + f" and {len(found) - most} more"
    return ", ".join(found) or "none"


def remove_dots(names: Sequence[str]) -> list[str]:
    """Return tool_x for tool.x, all unique: python-control uses a dot to separate a system and its signal."""
    found: list[str] = []
    for name in names:
        plain = name.replace(".", "_")
        while plain in found:
            plain += "_"
        found.append(plain)
    return found
