"""One question asked of a mechanism again and again, with other values of its parameters."""

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
from supple.results.text import fresh, listed

T = TypeVar("T")
Swept = str | Sequence[float | str]


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result, Generic[T]):
    """settings : {parameter: value in SI} of each run; results : what the analysis gave, in the same order."""

    settings: tuple[dict[str, float], ...]
    results: tuple[T, ...]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[tuple[dict[str, float], T]]:
        return iter(zip(self.settings, self.results, strict=True))

    def summary(self) -> str:
        first = self.settings[0] if self.settings else {}
        kind = type(self.results[0]).__name__ if self.results else "result"
        return f"of {listed(first)}: {len(self)} times {kind}"

    def table(self) -> Table:
        """The tables of all results one below the other, the parameters of each run in its first columns."""
        if not all(isinstance(result, Result | int | float | np.ndarray) for result in self.results):
            raise InputError(
                f"what the analysis gave ({type(self.results[0]).__name__}) is no table", part="sweep",
                hint="return a result of supple or numbers from it, or take values(...)",
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
        """Draw something of every result over the one parameter that is swept (matplotlib); returns the panels.

        read : what to draw, a number or several; label : what it is and its unit, "frequency / Hz"
        """
        names = list(self.settings[0]) if self.settings else []
        if len(names) != 1:
            raise InputError(f"{len(names)} parameters are swept", part="plot", hint="draw sweeps of one parameter")
        return picture("view.map_plot.sweep_plot")(
            names[0], [run[names[0]] for run in self.settings], self.values(read), label, axes
        )

    def values(self, read: Callable[[T], ArrayLike]) -> NDArray[np.float64]:
        """Something of every result in one array: sweep.values(lambda modes: modes.frequencies_hz)."""
        return np.array([np.asarray(read(result), dtype=float) for result in self.results])


def sweep(
    file: str | Path,
    parameters: Mapping[str, Swept],
    analysis: Callable[[Mechanism], T],
    *,
    progress: bool | None = None,
) -> Sweep[T]:
    """analysis(mechanism) for all values of parameters of a mechanism file, of several in every combination.

    parameters : {name: values, numbers or texts with units; or "FROM:TO:COUNT", evenly spaced}
    progress   : a bar on standard error while it runs; if left out, where that is a terminal
    """
    require_arguments(sweep, locals())
    chosen = sweep_settings({name: spaced(name, values) for name, values in parameters.items()})
    results = []
    with ProgressBar(len(chosen), "runs", shown=progress) as bar:
        for texts, _ in chosen:
            results.append(analysis(load_mechanism(file, parameters=dict(texts))))
            bar.advance(1)
    return Sweep(tuple(numbers for _, numbers in chosen), tuple(results))


def _rows(result: Any) -> Table:
    """The table of a result; numbers alone make one row, `value` or `value 1`, `value 2`, ..."""
    if isinstance(result, Result):
        return result.table()
    flat = np.atleast_1d(np.asarray(result, dtype=float)).ravel()
    return Table({"value" if len(flat) == 1 else f"value {i + 1}": flat[i : i + 1] for i in range(len(flat))})


def sweep_settings(parameters: Mapping[str, Sequence[Any]]) -> list[tuple[dict[str, Any], dict[str, float]]]:
    """Every combination, the last parameter changing fastest: as they are set, and as numbers in SI."""
    if not parameters or not all(len(values) for values in parameters.values()):
        raise InputError("nothing is swept", part="sweep", hint='give values: {"payload": [0, 1, 2]}')
    count = math.prod(len(values) for values in parameters.values())
    require_within("runs", count, part="sweep", hint="take fewer values")
    found = []
    for values in product(*parameters.values()):
        texts = dict(zip(parameters, values, strict=True))
        numbers = {name: quantity(value) if isinstance(value, str) else float(value) for name, value in texts.items()}
        found.append((texts, numbers))
    return found


def spaced(name: str, values: Swept) -> Sequence[float | str]:
    """`FROM:TO:COUNT` as texts that keep their unit; a sequence as it is."""
    if not isinstance(values, str):
        if not is_list(values) or not all(isinstance(one, str) or np.ndim(one) == 0 for one in values):
            raise InputError(f"it is {value_text(values)}", part=f'parameter "{name}"', hint="give a list of values")
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
