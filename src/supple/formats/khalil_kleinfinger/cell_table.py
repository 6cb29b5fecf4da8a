"""One table: rows of cells under names, from a CSV file, a block of text or a list; every mistake by row and column."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from supple.description.quantities.arithmetic import names_in, parse
from supple.description.quantities.dimension import Dimension, require
from supple.description.quantities.expression import number
from supple.diagnostics import InputError, nearest
from supple.diagnostics.errors import excerpt, quoted
from supple.formats.text_file import read_bytes, text_of
from supple.formats.yaml_tree import YamlTree

LARGEST = 2**20  # bytes
_LONGEST = 500  # characters of a cell


@dataclass(frozen=True)
class TableColumns:
    """What a table may hold: names of columns, each with other spellings of it; which of them a table must have."""

    spellings: Mapping[str, tuple[str, ...]]
    needed: tuple[str, ...]

    def named(self, written: str) -> str | None:
        """The column that a heading means."""
        return next((name for name, others in self.spellings.items() if written == name or written in others), None)


@dataclass(frozen=True)
class Row:
    """One row: its cells as they are written, and where.

    table : its name in messages; number : its place in the table, from 1; label : what its first cell calls it
    lines : of columns that stand in lines of their own
    """

    table: str
    number: int
    cells: dict[str, Any]
    file: str
    line: int
    key: str
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.text(self.key)

    def text(self, column: str, default: str | None = None) -> str:
        """A cell as text; the default where it is empty or the table has no such column."""
        value = self.cells.get(column)
        found = "" if value is None else str(value).strip()
        if found:
            return found
        if default is None:
            raise self.fault(column, "is empty", hint="fill it in")
        return default

    def value(self, column: str, dimension: Dimension, default: float | None = None) -> float:
        """A cell as a number of this dimension, which may be an expression in the parameters."""
        if default is not None and (column not in self.cells or self.text(column, "") == ""):
            return default
        self.text(column)  # an empty cell is told as such
        written = self.cells[column]
        try:
            return require(number(_plain(written)), dimension)
        except (ValueError, InputError) as error:
            hint = getattr(error, "hint", None)
            raise self.fault(column, str(getattr(error, "message", error)), hint=hint) from None

    def written(self, column: str, dimension: Dimension) -> float | str:
        """The same, checked, as it is written: an expression in the parameters stays one."""
        value = self.value(column, dimension)
        cell = _plain(self.cells[column])
        return cell if isinstance(cell, str) else value

    def names(self, kept: Iterable[str] = ()) -> set[str]:
        """What the expressions of its cells are made of, but for the columns that are kept as they are written."""
        cells = [cell for column, cell in self.cells.items() if column not in kept and isinstance(_plain(cell), str)]
        return {name for cell in cells for name in names_within(str(cell))}

    def fault(self, column: str, what: str, *, hint: str | None = None) -> InputError:
        """A mistake in one cell."""
        called = self.cells.get(self.key)
        name = f" ({quoted(called)})" if called not in (None, "") else ""
        part = f"table {self.table}, row {self.number}{name}, column {quoted(column)}"
        return InputError(what, part=part, file=self.file, line=self.lines.get(column, self.line), hint=hint)


def read_table(said: Any, name: str, columns: TableColumns, tree: YamlTree, folder: Path) -> list[Row]:
    """The rows of `tables: {name: ...}`: a CSV file's name, CSV in a block of text, or a list of rows.

    said : what the file says under that name
    """
    file, line = tree.place(("tables", name))
    if isinstance(said, str) and "\n" not in said.strip():
        path = folder / said
        shown = excerpt(path, 500)
        try:
            text = text_of(read_bytes(path, LARGEST, "a robot's table is short"), shown)
        except InputError as error:  # told where the name stands
            raise InputError(
                f"{shown}: {error.message}", part=f"table {name}", file=file, line=line, hint=error.hint
            ) from None
        return _rows(_csv(text, shown, 1), name, columns, shown)
    if isinstance(said, str):
        return _rows(_csv(said, file, line + 1), name, columns, file)
    if isinstance(said, list) and said and all(isinstance(item, dict) for item in said):
        return _from_mappings(said, name, columns, tree)
    if isinstance(said, list) and said and all(isinstance(item, list) for item in said):
        listed = [(tree.place(("tables", name, i))[1], item) for i, item in enumerate(said)]
        return _rows(iter(listed), name, columns, file)
    raise InputError(
        "this is no table",
        part=f"table {name}", file=file, line=line,
        hint="name a CSV file, write CSV as a block of text (|), or list rows",
    )  # fmt: skip


def _csv(text: str, file: str, first: int) -> Iterator[tuple[int, list[Any]]]:
    """Lines that are not empty nor begin with #, with their numbers."""
    rows = csv.reader(text.splitlines(), skipinitialspace=True)
    try:
        for row in rows:
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#"):
                yield first + rows.line_num - 1, [cell.strip() for cell in row]
    except csv.Error as error:
        raise InputError(f"this is not a table ({error})", file=file, line=first + rows.line_num - 1) from None


def _rows(lines: Iterator[tuple[int, list[Any]]], name: str, columns: TableColumns, file: str) -> list[Row]:
    line, headings = next(lines, (1, []))
    names = _headings(headings, name, columns, file, line)
    found: list[Row] = []
    for line, cells in lines:
        if len(cells) != len(names):
            raise InputError(
                f"{len(cells)} cells under {len(names)} headings",
                part=f"table {name}, row {len(found) + 1}", file=file, line=line, hint="fill every column",
            )  # fmt: skip
        found.append(_row(name, len(found) + 1, dict(zip(names, cells, strict=True)), file, line))
    return _some(found, name, file, line)


def _from_mappings(said: list[dict[str, Any]], name: str, columns: TableColumns, tree: YamlTree) -> list[Row]:
    found = []
    for i, item in enumerate(said):
        file, line = tree.place(("tables", name, i))
        names = _headings(list(item), name, columns, file, line)
        found.append(_row(name, i + 1, dict(zip(names, item.values(), strict=True)), file, line))
    return found


def _row(name: str, count: int, cells: dict[str, Any], file: str, line: int) -> Row:
    row = Row(name, count, cells, file, line, next(iter(cells)))
    for column, cell in cells.items():
        if isinstance(cell, list | dict | bool) or len(str(cell)) > _LONGEST:
            raise row.fault(column, f"{quoted(cell)} is not a cell", hint="write a number, an expression or a name")
    return row


def _headings(written: Iterable[Any], name: str, columns: TableColumns, file: str, line: int) -> list[str]:
    found: list[str] = []
    for i, heading in enumerate(str(item).strip() for item in written):
        column = columns.named(heading)
        problem = None
        if column is None:
            problem = f"column {i + 1}: {quoted(heading)} is not known"
        elif column in found:
            problem = f"column {i + 1}: {quoted(column)} stands twice"
        if column is None or problem:
            raise InputError(
                str(problem), part=f"table {name}", file=file, line=line, hint=nearest(heading, columns.spellings)
            )
        found.append(column)
    missing = [column for column in columns.needed if column not in found]
    if missing:
        raise InputError(
            f"the column {quoted(missing[0])} is missing",
            part=f"table {name}", file=file, line=line, hint=f"its columns are {', '.join(columns.spellings)}",
        )  # fmt: skip
    return found


def _some(rows: list[Row], name: str, file: str, line: int) -> list[Row]:
    if not rows:
        raise InputError("it has no rows", part=f"table {name}", file=file, line=line, hint="add one for each part")
    return rows


def _plain(cell: Any) -> Any:
    """A cell that holds a plain number, or an expression."""
    if not isinstance(cell, str):
        return cell
    try:
        return float(cell) if cell.replace("_", "") == cell else cell
    except ValueError:
        return cell


def names_within(text: str) -> set[str]:
    """Names in an expression; none where it is not one, which is told with its row and column where it is read."""
    try:
        return names_in(parse(text))
    except InputError:
        return set()
