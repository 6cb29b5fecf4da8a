"""Base class of results: summary, text, HTML table for notebooks, files and plots."""

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
    """Short list of numbers that represents a result in a map, with units.

    For a batch, `values` has a leading axis.

    quantity : name of the quantity, such as "frequency"
    names    : (k,)
    units    : (k,) SI, "" if unknown
    values   : (..., k)
    each     : (k,) quantity of each number, if they differ
    """

    quantity: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: NDArray[np.float64]
    each: tuple[str, ...] = ()


_REAL = 1e-9  # imaginary part over magnitude, below which an eigenvalue counts as real
_ROUNDING = 1e-15  # relative to the largest eigenvalue; smaller ones are zero


def eigenvalue_entries(values: NDArray[np.complex128]) -> Entries:
    """Return |λ|/2π and damping ratio -Re λ/|λ| of eigenvalues (1/s) in their order, once for each conjugate pair."""
    size = np.abs(values)
    zero = size <= _ROUNDING * size.max(initial=0.0)
    damping = np.where(zero, 0.0, 0.0 - values.real / np.where(zero, 1.0, size))
    once = values.imag >= -_REAL * size
    each = np.column_stack([size / (2.0 * np.pi), damping])[once]
    quantities = ("frequency", "damping ratio")
    names = tuple(f"{what} {i + 1}" for i in range(len(each)) for what in quantities)
    return Entries("eigenvalue", names, ("Hz", "1") * len(each), each.ravel(), quantities * len(each))


# Notebook output: a summary line and a table with units.


_ROWS, _COLUMNS = 12, 10  # largest size of a table in a notebook


def result_html(kind: str, summary: str, table: Table | None) -> str:
    """Return HTML with the summary and the first rows of the table."""
    line = f"<p><b>{escape(kind)}</b> {escape(' '.join(summary.split()))}</p>"
    return f"<div>{line}{'' if table is None else table_html(table)}</div>"


def table_html(table: Table) -> str:
    """Return HTML of the first rows and columns, with units in the header and the number of omitted ones."""
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
    """Return an HTML table; the first column holds names."""

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
    """Return HTML with a summary and facts, one per row."""
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


# Base class of all results.


_LONGEST = 240  # characters of a summary
_FEW = 9  # largest array that is printed in full


class Result(ABC):
    """Base class of results.

    `repr` is one short line, `print` shows the text, and a notebook shows a table. `save`, `to_pandas` and `to_xarray`
    return the numbers, and `plot`, if there is one, draws them. Subclasses define a summary, a table, and the arrays.
    """

    @abstractmethod
    def summary(self) -> str:
        """Return a short description of the result."""

    @abstractmethod
    def table(self) -> Table:
        """Return the numbers as a table of columns with names and units."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the contents of .npz and .mat files: columns and units of the table, or arrays of higher dimension."""
        return self.table().arrays()

    def map_entries(self) -> Entries:
        """Return the numbers that represent the result in a map over configurations (`over`)."""
        raise InputError(
            f"a {type(self).__name__} cannot be reduced to a few numbers", part="map",
            hint="return numbers from the function",
        )  # fmt: skip

    def text(self) -> Text:
        """Return the text that `print` and the terminal show."""
        return Text(repr(self))

    def __repr__(self) -> str:
        return brief(type(self).__name__, self.summary())

    def __str__(self) -> str:
        return str(self.text())

    def _repr_html_(self) -> str:
        try:
            table: Table | None = self.table()
        except InputError:  # a batch that is not a table
            table = None
        return result_html(type(self).__name__, self.summary(), table)

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame (extra `pandas`), with units in ``attrs["units"]``."""
        return self.table().to_pandas()

    def to_xarray(self) -> Any:
        """Return the table as an xarray Dataset (extra `xarray`), with units in ``attrs["units"]`` of each variable."""
        return self.table().to_xarray()

    def save(self, path: str | Path) -> Path:
        """Write the table as .csv, or the arrays as .npz or .mat, in SI units.

        Parameters
        ----------
        path : str or path-like
            File; its ending selects the format.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        InputError
            If the ending is unknown or the file cannot be written.
        """
        require_arguments(Result.save, locals())
        return save_result(path, lambda: self.table().real(), self.arrays)


def brief(kind: str, summary: str) -> str:
    """Return `<Kind summary>`, truncated to a few lines."""
    text = " ".join(summary.split())
    return f"<{kind} {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}>"


def arrays_repr(self: Any) -> str:
    """Return the `__repr__` of a NamedTuple of arrays: small arrays in full, large ones by shape."""
    parts = []
    for name, value in zip(self._fields, self, strict=True):
        size = getattr(value, "size", 1)
        short = " ".join(str(value).split()) if size <= _FEW else f"{value.shape}"
        parts.append(f"{name} {short}")
    return brief(type(self).__name__, ", ".join(parts))


def picture(name: str) -> Callable[..., Any]:
    """Return a plotting function by its path below `supple`, such as "statics.plot.compliance_plot".

    Modules that draw belong to a higher layer than results. A result only has the path of its plot, which is imported
    on the first call. If the caller has imported pyplot with an interactive backend, `pyplot.show()` shows the plot.
    """
    module, _, function = name.rpartition(".")
    draw = getattr(import_module(f"supple.{module}"), function)
    return import_module("supple.view.panels").register_results(draw)
