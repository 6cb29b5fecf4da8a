"""Tables of named columns with units, for files, pandas and xarray."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.diagnostics import optional_package
from supple.results.file import save_result
from supple.results.text import fresh, list_names

# xarray Datasets: arrays with named axes.


Variable = tuple[tuple[str, ...], ArrayLike, str]
"""Variable of a Dataset: names of its axes, its values, and its unit ("" if it has none)."""


def dataset(variables: Mapping[str, Variable], axes: Mapping[str, tuple[ArrayLike, str]]) -> Any:
    """Return a Dataset (extra `xarray`) of variables over axes, name -> (values, unit).

    Units are in ``attrs["units"]``.
    """
    xarray = optional_package("xarray", "xarray", "'supple[xarray]', or save a .npz file")
    found = {name: xarray.Variable(over, values, _attributes(unit)) for name, (over, values, unit) in variables.items()}
    along = {name: xarray.Variable((name,), values, _attributes(unit)) for name, (values, unit) in axes.items()}
    return xarray.Dataset(found, coords=along)


def _attributes(unit: str) -> dict[str, str]:
    return {"units": unit} if unit else {}


# Tables of named columns.


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Table of named columns of equal length.

    Attributes
    ----------
    columns : dict of str to ndarray
        Columns (N,) of real or complex numbers or texts.
    units : dict of str to str
        SI units of columns that have one.
    index : str
        Column that the others are a function of, or that names the rows; "" if there is none.
    """

    columns: dict[str, NDArray[Any]]
    units: dict[str, str] = field(default_factory=dict)
    index: str | None = None

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {list_names(self.columns)}>"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def real(self) -> dict[str, NDArray[Any]]:
        """Return the columns with `real NAME` and `imag NAME` in place of each complex column NAME."""
        found: dict[str, NDArray[Any]] = {}
        for name, values in self.columns.items():
            if np.iscomplexobj(values):
                found |= {f"real {name}": values.real, f"imag {name}": values.imag}
            else:
                found[name] = values
        return found

    def real_units(self) -> dict[str, str]:
        """Return the units of the columns of `real`."""
        parts = {name: (f"real {name}", f"imag {name}") for name in self.columns if np.iscomplexobj(self.columns[name])}
        return {one: unit for name, unit in self.units.items() for one in parts.get(name, (name,))}

    def data(self) -> dict[str, Any]:
        """Return the data that ``--json`` prints: real columns and their units."""
        return {"columns": self.real(), "units": self.real_units()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, and texts: `columns` that have a unit, and their `units`."""
        found = dict(self.columns)
        found[fresh("columns", found)] = np.array(list(self.units), dtype=str)
        found[fresh("units", found)] = np.array(list(self.units.values()), dtype=str)
        return found

    def save(self, path: str | Path) -> Path:
        """Write the table as .csv, .npz or .mat; in .csv, complex columns have real and imaginary parts."""
        return save_result(path, self.real, self.arrays)

    def to_xarray(self) -> Any:
        """Return an xarray Dataset (extra `xarray`) over the index; ``attrs["units"]`` of each variable is its unit."""
        over = self.index or "row"
        along = self.columns[self.index] if self.index is not None else np.arange(len(self))
        variables = {
            name: ((over,), values, self.units.get(name, ""))
            for name, values in self.columns.items()
            if name != self.index
        }
        return dataset(variables, {over: (along, self.units.get(over, ""))})

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame (extra `pandas`); its ``attrs["units"]`` are the units of the columns."""
        pandas = optional_package("pandas", "pandas", "'supple[pandas]', or save a .csv file")
        frame = pandas.DataFrame(self.columns)
        if self.index is not None:
            frame = frame.set_index(self.index)
        frame.attrs["units"] = dict(self.units)
        return frame


def matrix_table(
    title: str,
    rows: Iterable[str],
    columns: Iterable[str],
    values: NDArray[Any],
    unit: Callable[[int, int], str] | None = None,
) -> Table:
    """Return a table of a matrix (rows, columns) with row names in a first column `title`.

    unit : function (row, column) -> unit of an entry; a column has a unit if all its entries have the same
    """
    found: dict[str, NDArray[Any]] = {title: np.array(list(rows), dtype=str)}
    units: dict[str, str] = {}
    for j, (name, column) in enumerate(zip(columns, values.T, strict=True)):
        own = fresh(name, found)
        found[own] = column
        kinds = {unit(i, j) for i in range(len(column))} if unit is not None else set()
        if len(kinds) == 1 and (unit_of_all := kinds.pop()):
            units[own] = unit_of_all
    return Table(found, units, index=title)


def batch_table(
    coordinates: Mapping[str, NDArray[Any]],
    columns: Mapping[str, NDArray[Any]],
    unit: str | Mapping[str, str] = "",
    of_coordinates: Mapping[str, str] | None = None,
) -> Table:
    """Return a table with one row per configuration: coordinates (N,), then results (N,), in one unit or by name."""
    found = dict(coordinates)
    units = {name: of_coordinates[name] for name in found if of_coordinates and of_coordinates.get(name)}
    for name, values in columns.items():
        column = fresh(name, found)
        found[column] = values
        own = unit if isinstance(unit, str) else unit.get(name, "")
        if own:
            units[column] = own
    return Table(found, units)
