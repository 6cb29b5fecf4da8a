"""The base of results: what an analysis returns, told in a line, shown in a notebook, kept as a table, drawn."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.results.file import save_result
from supple.results.table import Table
from supple.results.text import Text


class Entries(NamedTuple):
    """The short list of numbers that a result comes down to, with units: what a map shows of it.

    Of a batch, `values` has a leading axis.

    quantity : what the numbers are, "frequency"
    names    : (k,)
    units    : (k,) SI, "" where unknown
    values   : (..., k)
    each     : (k,) the quantity of each number, where they differ
    """

    quantity: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: NDArray[np.float64]
    each: tuple[str, ...] = ()


_REAL = 1e-9  # imaginary over absolute value, below which an eigenvalue counts as real
_ROUNDING = 1e-15  # of the largest eigenvalue: less is zero


def eigenvalue_entries(values: NDArray[np.complex128]) -> Entries:
    """|λ|/2π and the damping ratio -Re λ/|λ| of eigenvalues (1/s) in their order, of a conjugate pair once."""
    size = np.abs(values)
    zero = size <= _ROUNDING * size.max(initial=0.0)
    damping = np.where(zero, 0.0, 0.0 - values.real / np.where(zero, 1.0, size))
    once = values.imag >= -_REAL * size
    each = np.column_stack([size / (2.0 * np.pi), damping])[once]
    quantities = ("frequency", "damping ratio")
    names = tuple(f"{what} {i + 1}" for i in range(len(each)) for what in quantities)
    return Entries("eigenvalue", names, ("Hz", "1") * len(each), each.ravel(), quantities * len(each))


# In a notebook: a line that says what things are, and a table with units; texts as they are.


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


# What every result offers.


_LONGEST = 240  # characters
_FEW = 9  # numbers that are shown


class Result(ABC):
    """`repr` is one short line, `print` shows its text and a notebook a table, `save`, `to_pandas` and `to_xarray` give
    its numbers, `plot`, where there is one, axes.

    What differs between results is three small answers: a summary, a table, and which arrays there are.
    """

    @abstractmethod
    def summary(self) -> str:
        """What it is of and how much of it there is, in a few words."""

    @abstractmethod
    def table(self) -> Table:
        """Its numbers as columns with names and units."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What .npz and .mat files hold: the columns of the table and their units, or arrays of more dimensions."""
        return self.table().arrays()

    def map_entries(self) -> Entries:
        """The few numbers it comes down to, for a map over configurations (`over`)."""
        raise InputError(
            f"a {type(self).__name__} does not come down to a few numbers", part="map",
            hint="return the numbers you want from the question",
        )  # fmt: skip

    def text(self) -> Text:
        """What the terminal shows of it, and `print`."""
        return Text(repr(self))

    def __repr__(self) -> str:
        return brief(type(self).__name__, self.summary())

    def __str__(self) -> str:
        return str(self.text())

    def _repr_html_(self) -> str:
        try:
            table: Table | None = self.table()
        except InputError:  # of a batch that is no table
            table = None
        return result_html(type(self).__name__, self.summary(), table)

    def to_pandas(self) -> Any:
        """Its table as a DataFrame (the extra `pandas`), with units in `attrs["units"]`."""
        return self.table().to_pandas()

    def to_xarray(self) -> Any:
        """Its numbers as a Dataset (the extra `xarray`), with the unit of each in `attrs["units"]`."""
        return self.table().to_xarray()

    def save(self, path: str | Path) -> Path:
        """Write its table as .csv, or its arrays as .npz or .mat; SI units throughout."""
        require_arguments(Result.save, locals())
        return save_result(path, lambda: self.table().real(), self.arrays)


def brief(kind: str, summary: str) -> str:
    """`<Kind summary>`, never longer than a few lines."""
    text = " ".join(summary.split())
    return f"<{kind} {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}>"


def arrays_repr(self: Any) -> str:
    """`__repr__` of a NamedTuple of arrays: small ones as they are, large ones by their shape."""
    parts = []
    for name, value in zip(self._fields, self, strict=True):
        size = getattr(value, "size", 1)
        short = " ".join(str(value).split()) if size <= _FEW else f"{value.shape}"
        parts.append(f"{name} {short}")
    return brief(type(self).__name__, ", ".join(parts))


def picture(name: str) -> Callable[..., Any]:
    """Import the plotting function at `name`, its place below `supple`: "statics.plot.compliance_plot".

    A module that draws stands above what it draws; a result only knows the place of its plot, which is imported when
    it is drawn.

    Where the caller has imported pyplot and its backend opens windows, `pyplot.show()` shows the plot as any other.
    """
    module, _, function = name.rpartition(".")
    draw = getattr(import_module(f"supple.{module}"), function)
    return import_module("supple.view.panels").known_to_callers(draw)
