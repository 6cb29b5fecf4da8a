"""Sweep: an analysis repeated with several values of the parameters of a mechanism file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.description.mechanism import Mechanism
from supple.description.quantities.expression import quantity
from supple.diagnostics import InputError
from supple.diagnostics.arguments import is_list, require_arguments, value_text
from supple.diagnostics.limits import require_within
from supple.formats.document import load_mechanism
from supple.maps.over import ProgressBar
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import fresh, list_names

T = TypeVar("T")
Swept = str | Sequence[float | str]


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result, Generic[T]):
    """Results of an analysis for several values of parameters.

    Attributes
    ----------
    settings : tuple of dict
        {parameter: value in SI units} of each run.
    results : tuple
        What the analysis returned for each run, in the same order.
    """

    settings: tuple[dict[str, float], ...]
    results: tuple[T, ...]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[tuple[dict[str, float], T]]:
        return iter(zip(self.settings, self.results, strict=True))

    def summary(self) -> str:
        """Return a one-line summary."""
        first = self.settings[0] if self.settings else {}
        kind = type(self.results[0]).__name__ if self.results else "result"
        return f"of {list_names(first)}: {len(self)} times {kind}"

    def table(self) -> Table:
        """Return the tables of all results one below the other; the first columns are the parameters."""
        if not all(isinstance(result, Result | int | float | np.ndarray) for result in self.results):
            raise InputError(
                f"the analysis returned a {type(self.results[0]).__name__}, which has no table", part="sweep",
                hint="return a result of supple or numbers from it, or use values(...)",
            )  # fmt: skip
        tables = [_rows(result) for result in self.results]
        columns: dict[str, NDArray[Any]] = {}
        for name in self.settings[0] if self.settings else ():
            columns[name] = np.concatenate(
                [np.full(len(table), run[name]) for run, table in zip(self.settings, tables, strict=True)]
            )
        units: dict[str, str] = {}
        for name in dict.fromkeys(name for table in tables for name in table.columns):
            parts = [table.columns.get(name, np.full(len(table), np.nan)) for table in tables]
            column = fresh(name, columns)
            columns[column] = np.concatenate(parts)
            unit = next((table.units[name] for table in tables if name in table.units), "")
            units |= {column: unit} if unit else {}
        return Table(columns, units)

    def plot(self, read: Callable[[T], ArrayLike], label: str, *, axes: Any = None) -> Any:
        """Draw a number, or several, of every result over the one parameter that varies, and return the panels.

        Parameters
        ----------
        read : callable
            Function of a result that returns the number or numbers to draw.
        label : str
            Quantity and unit, such as "frequency / Hz".
        axes : optional
            Axes to draw on. Default: a new figure.
        """
        names = list(self.settings[0]) if self.settings else []
        if len(names) != 1:
            raise InputError(
                f"the plot needs a sweep of one parameter (got {len(names)})", part="plot",
                hint="sweep one parameter, or use the table",
            )  # fmt: skip
        return picture("view.map_plot.sweep_plot")(
            names[0], [run[names[0]] for run in self.settings], self.values(read), label, axes
        )

    def values(self, read: Callable[[T], ArrayLike]) -> NDArray[np.float64]:
        """Return numbers of every result in one array (runs, ...).

        Parameters
        ----------
        read : callable
            Function of a result that returns the numbers, such as ``lambda modes: modes.frequencies_hz``.
        """
        return np.array([np.asarray(read(result), dtype=float) for result in self.results])


def sweep(
    file: str | Path,
    parameters: Mapping[str, Swept],
    analysis: Callable[[Mechanism], T],
    *,
    progress: bool | None = None,
) -> Sweep[T]:
    """Run an analysis for all combinations of values of the parameters of a mechanism file.

    Parameters
    ----------
    file : str or path-like
        Mechanism file, or the name of a bundled mechanism.
    parameters : mapping of str to sequence or str
        Values of each parameter, numbers in SI units or texts with units; or "FROM:TO:COUNT", evenly spaced.
    analysis : callable
        Function of a `Mechanism` whose results are collected.
    progress : bool, optional
        Show a progress bar on standard error. Default: only in a terminal.

    Returns
    -------
    Sweep
        Values of the parameters and result of each run; the last parameter varies fastest.

    Raises
    ------
    InputError
        If no values are given, or a parameter is unknown.

    See Also
    --------
    over : Map of an analysis over configurations.

    Examples
    --------
    >>> import supple
    >>> found = supple.sweep("ralf", {"payload": [0.0, 2.0, 4.0]}, lambda arm: supple.modes(arm, "home", count=1))
    >>> found.values(lambda modes: modes.frequencies_hz).shape
    (3, 1)
    """
    require_arguments(sweep, locals())
    chosen = sweep_settings({name: expand_values(name, values) for name, values in parameters.items()})
    results = []
    with ProgressBar(len(chosen), "runs", shown=progress) as bar:
        for texts, _ in chosen:
            results.append(analysis(load_mechanism(file, parameters=dict(texts))))
            bar.advance(1)
    return Sweep(tuple(numbers for _, numbers in chosen), tuple(results))


def _rows(result: Any) -> Table:
    """Return the table of a result; plain numbers make one row, `value` or `value 1`, `value 2`, ..."""
    if isinstance(result, Result):
        return result.table()
    flat = np.atleast_1d(np.asarray(result, dtype=float)).ravel()
    return Table({"value" if len(flat) == 1 else f"value {i + 1}": flat[i : i + 1] for i in range(len(flat))})


def sweep_settings(parameters: Mapping[str, Sequence[Any]]) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """Return every combination, the last parameter varying fastest: as given, and as numbers in SI units."""
    if not parameters or not all(len(values) for values in parameters.values()):
        raise InputError("no values to sweep", part="sweep", hint='give values: {"payload": [0, 1, 2]}')
    count = math.prod(len(values) for values in parameters.values())
    require_within("runs", count, part="sweep", hint="take fewer values")
    found = []
    for values in product(*parameters.values()):
        texts = dict(zip(parameters, values, strict=True))
        numbers = {name: quantity(value) if isinstance(value, str) else float(value) for name, value in texts.items()}
        found.append((texts, numbers))
    return found


def expand_values(name: str, values: Swept) -> Sequence[float | str]:
    """Return the values of `FROM:TO:COUNT` as texts that keep their unit; a sequence is returned unchanged."""
    if not isinstance(values, str):
        if not is_list(values) or not all(isinstance(one, str) or np.ndim(one) == 0 for one in values):
            raise InputError(
                f"values must be a list (got {value_text(values)})", part=f'parameter "{name}"',
                hint="give a list of values",
            )  # fmt: skip
        return values
    ends = [item.strip() for item in values.split(":")]
    if len(ends) != 3 or not all(ends) or not ends[2].isdecimal() or int(ends[2]) < 1:
        raise InputError(
            f'"{values}" is not FROM:TO:COUNT', part=f'parameter "{name}"', hint="write for example 0:4:5, or 0kg:4kg:5"
        )
    low, high, count = ends[0], ends[1], int(ends[2])
    require_within("runs", count, part=f'parameter "{name}"', hint="take fewer values")
    try:
        first, last = float(low), float(high)
    except ValueError:  # with units: arithmetic of the file keeps them
        fractions = np.linspace(0.0, 1.0, count).tolist()
        return [f"({low}) + {fraction!r} * (({high}) - ({low}))" for fraction in fractions]
    return [repr(value) for value in np.linspace(first, last, count).tolist()]
