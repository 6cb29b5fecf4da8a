"""Table of named columns from a CSV file, a block of text or a list; every error names its row and column."""

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
from supple.diagnostics.errors import excerpt, quote
from supple.formats.text_file import read_bytes, text_of
from supple.formats.yaml_tree import YamlTree

LARGEST = 2**20  # bytes
_LONGEST = 500  # characters of a cell


@dataclass(frozen=True)
class TableColumns:
    """Columns of a table, each with alternative spellings, and the required ones."""

    spellings: Mapping[str, tuple[str, ...]]
    needed: tuple[str, ...]

    def named(self, written: str) -> str | None:
        """Return the column of a heading."""
        return next((name for name, others in self.spellings.items() if written == name or written in others), None)


@dataclass(frozen=True)
class Row:
    """Row of a table: its cells as written, and their location.

    table : name of the table, for messages; number : position in the table, from 1; label : text of its first cell
    lines : of columns that have lines of their own
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
        """Text of its first cell, which names the row."""
        return self.text(self.key)

    def text(self, column: str, default: str | None = None) -> str:
        """Return a cell as text; the default if it is empty or the table has no such column."""
        value = self.cells.get(column)
        found = "" if value is None else str(value).strip()
        if found:
            return found
        if default is None:
            raise self.fault(column, "the cell is empty", hint="fill it in")
        return default

    def value(self, column: str, dimension: Dimension, default: float | None = None) -> float:
        """Return a cell as a number of this dimension; expressions in the parameters are allowed."""
        if default is not None and (column not in self.cells or self.text(column, "") == ""):
            return default
        self.text(column)  # report an empty cell
        written = self.cells[column]
        try:
            return require(number(_plain(written)), dimension)
        except (ValueError, InputError) as error:
            hint = getattr(error, "hint", None)
            raise self.fault(column, str(getattr(error, "message", error)), hint=hint) from None

    def read_cell(self, column: str, dimension: Dimension) -> float | str:
        """Return a checked cell as written: an expression in the parameters stays one."""
        value = self.value(column, dimension)
        cell = _plain(self.cells[column])
        return cell if isinstance(cell, str) else value

    def names(self, kept: Iterable[str] = ()) -> set[str]:
        """Return the names in the expressions of its cells, except for columns that are kept as written."""
        cells = [cell for column, cell in self.cells.items() if column not in kept and isinstance(_plain(cell), str)]
        return {name for cell in cells for name in names_within(str(cell))}

    def fault(self, column: str, what: str, *, hint: str | None = None) -> InputError:
        """Return an error about one cell."""
        called = self.cells.get(self.key)
        name = f" ({quote(called)})" if called not in (None, "") else ""
        part = f"table {self.table}, row {self.number}{name}, column {quote(column)}"
        return InputError(what, part=part, file=self.file, line=self.lines.get(column, self.line), hint=hint)


def read_table(source: Any, name: str, columns: TableColumns, tree: YamlTree, folder: Path) -> list[Row]:
    """Return the rows of `tables: {name: ...}`, given as a CSV file name, CSV in a block of text, or a list of rows.

    source : the value under that name in the file
    """
    file, line = tree.place(("tables", name))
    if isinstance(source, str) and "\n" not in source.strip():
        path = folder / source
        shown = excerpt(path, 500)
        try:
            text = text_of(read_bytes(path, LARGEST, "tables of a robot are short"), shown)
        except InputError as error:  # report it where the file is named
            raise InputError(
                f"{shown}: {error.message}", part=f"table {name}", file=file, line=line, hint=error.hint
            ) from None
        return _rows(_csv(text, shown, 1), name, columns, shown)
    if isinstance(source, str):
        return _rows(_csv(source, file, line + 1), name, columns, file)
    if isinstance(source, list) and source and all(isinstance(item, dict) for item in source):
        return _from_mappings(source, name, columns, tree)
    if isinstance(source, list) and source and all(isinstance(item, list) for item in source):
        listed = [(tree.place(("tables", name, i))[1], item) for i, item in enumerate(source)]
        return _rows(iter(listed), name, columns, file)
    raise InputError(
        "this is not a table",
        part=f"table {name}", file=file, line=line,
        hint="give the name of a CSV file, CSV as a block of text (|), or a list of rows",
    )  # fmt: skip


def _csv(text: str, file: str, first: int) -> Iterator[tuple[int, list[Any]]]:
    """Yield lines that are neither empty nor comments (#), with their numbers."""
    rows = csv.reader(text.splitlines(), skipinitialspace=True)
    try:
        for row in rows:
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#"):
                yield first + rows.line_num - 1, [cell.strip() for cell in row]
    except csv.Error as error:
        raise InputError(f"this is not a CSV table ({error})", file=file, line=first + rows.line_num - 1) from None


def _rows(lines: Iterator[tuple[int, list[Any]]], name: str, columns: TableColumns, file: str) -> list[Row]:
    line, headings = next(lines, (1, []))
    names = _headings(headings, name, columns, file, line)
    found: list[Row] = []
    for line, cells in lines:
        if len(cells) != len(names):
            raise InputError(
                f"the row has {len(cells)} cells for {len(names)} headings",
                part=f"table {name}, row {len(found) + 1}", file=file, line=line, hint="fill every column",
            )  # fmt: skip
        found.append(_row(name, len(found) + 1, dict(zip(names, cells, strict=True)), file, line))
    return _some(found, name, file, line)


def _from_mappings(source: list[dict[str, Any]], name: str, columns: TableColumns, tree: YamlTree) -> list[Row]:
    found = []
    for i, item in enumerate(source):
        file, line = tree.place(("tables", name, i))
        names = _headings(list(item), name, columns, file, line)
        found.append(_row(name, i + 1, dict(zip(names, item.values(), strict=True)), file, line))
    return found


def _row(name: str, count: int, cells: dict[str, Any], file: str, line: int) -> Row:
    row = Row(name, count, cells, file, line, next(iter(cells)))
    for column, cell in cells.items():
        if isinstance(cell, list | dict | bool) or len(str(cell)) > _LONGEST:
            raise row.fault(
                column, f"{quote(cell)} is not allowed in a cell", hint="write a number, an expression or a name"
            )
    return row


def _headings(written: Iterable[Any], name: str, columns: TableColumns, file: str, line: int) -> list[str]:
    found: list[str] = []
    for i, heading in enumerate(str(item).strip() for item in written):
        column = columns.named(heading)
        problem = None
        if column is None:
            problem = f"column {i + 1}: unknown heading {quote(heading)}"
        elif column in found:
            problem = f"column {i + 1}: {quote(column)} is a duplicate"
        if column is None or problem:
            raise InputError(
                str(problem), part=f"table {name}", file=file, line=line, hint=nearest(heading, columns.spellings)
            )
        found.append(column)
    missing = [column for column in columns.needed if column not in found]
    if missing:
        raise InputError(
            f"the column {quote(missing[0])} is missing",
            part=f"table {name}", file=file, line=line, hint=f"add it; columns: {', '.join(columns.spellings)}",
        )  # fmt: skip
    return found


def _some(rows: list[Row], name: str, file: str, line: int) -> list[Row]:
    if not rows:
        raise InputError(
            "the table has no rows", part=f"table {name}", file=file, line=line, hint="add one row per part"
        )
    return rows


def _plain(cell: Any) -> Any:
    """Return a cell as a number if it is one, otherwise as written."""
    if not isinstance(cell, str):
        return cell
    try:
        return float(cell) if cell.replace("_", "") == cell else cell
    except ValueError:
        return cell


def names_within(text: str) -> set[str]:
    """Return the names in an expression; none if it is invalid, which is reported where the cell is read."""
    try:
        return names_in(parse(text))
    except InputError:
        return set()
