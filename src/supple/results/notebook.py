"""How things look in a notebook: a line that says what they are, and a table with units; texts as they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from supple.results.table import Table

_ROWS, _COLUMNS = 12, 10  # of a table that are shown


def result_html(kind: str, summary: str, table: Table | None) -> str:
    """What it is, and the first rows of its table."""
    line = f"<p><b>{escape(kind)}</b> {escape(' '.join(summary.split()))}</p>"
    return f"<div>{line}{'' if table is None else table_html(table)}</div>"


def table_html(table: Table) -> str:
    """The first rows and columns, units in the heads, and how much more there is."""
    names = list(table.columns)[:_COLUMNS]
    heads = [f"{name} / {_unit(table.units[name])}" if table.units.get(name) else name for name in names]
    rows = [[_cell(table.columns[name][n]) for name in names] for n in range(min(_ROWS, len(table)))]
    more = []
    if len(table) > _ROWS:
        more.append(f"{len(table) - _ROWS} more rows")
    if len(table.columns) > _COLUMNS:
        more.append(f"{len(table.columns) - _COLUMNS} more columns: {', '.join(list(table.columns)[_COLUMNS:])}")
    return rows_html(heads, rows, "; ".join(more))


def rows_html(heads: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """A table; the first column holds names."""

    def cells(tag: str, values: Sequence[Any]) -> str:
        sides = ["left"] + ["right"] * (len(values) - 1)
        return "".join(
            f'<{tag} style="text-align: {side}">{escape(str(value))}</{tag}>'
            for side, value in zip(sides, values, strict=True)
        )

    top = f"<thead><tr>{cells('th', heads)}</tr></thead>" if any(heads) else ""
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    below = f"<p><small>{escape(note)}</small></p>" if note else ""
    return f"<table>{top}<tbody>{body}</tbody></table>{below}"


def facts_html(kind: str, summary: str, facts: Iterable[tuple[str, str]]) -> str:
    """What it is, and facts about it, a row each."""
    line = f"<p><b>{escape(kind)}</b> {escape(summary)}</p>"
    return f"<div>{line}{rows_html(('', ''), facts)}</div>".replace("text-align: right", "text-align: left")


def _unit(unit: str) -> str:
    return f"({unit})" if any(mark in unit for mark in "/ ") else unit


def _cell(value: Any) -> str:
    if isinstance(value, complex | np.complexfloating):
        return f"{value.real:.5g} {'-' if value.imag < 0 else '+'} {abs(value.imag):.5g}i"
    if isinstance(value, float | np.floating):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)
