"""Signals over time, by name and with units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.diagnostics import require_known
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import fresh, list_names


@dataclass(frozen=True, eq=False, repr=False)
class Signals(Result, Mapping[str, Array]):
    """Named signals on one time axis; ``signals["tip.z"]`` is (N,)."""

    time: Array
    data: dict[str, Array]
    units: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        require_known("signal", name, self.data)
        return self.data[name]

    def __contains__(self, name: object) -> bool:
        return name in self.data

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def summary(self) -> str:
        return f"of {list_names(self.data)}, {time_span_text(self.time)}"

    def table(self) -> Table:
        return gather_signals(self.time, self)

    def drop_zeros(self) -> Signals | None:
        """Return the signals that are not zero throughout; None if there are none."""
        kept = {name: values for name, values in self.items() if np.any(values)}
        return Signals(self.time, kept, self.units) if kept else None

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Plot signals over time, one panel per unit (matplotlib), and return the panels.

        Parameters
        ----------
        *names : str
            Signals to plot. Default: all.
        axes : matplotlib.axes.Axes, optional
            Axes for all signals. Default: a new figure.
        """
        return picture("view.time_plot.time_plot")({"value": self}, names, axes)


def label_signals(time: Array, names: Iterable[str], values: Array, units: Mapping[str, str]) -> Signals:
    """Return signals from the columns of values (N, k), with names and units."""
    return Signals(time, {name: values[:, i] for i, name in enumerate(names)}, dict(units))


def gather_signals(time: Array, *plain: Signals, **marked: Signals | None) -> Table:
    """Return one table of several groups of signals on the same times.

    plain  : groups whose columns have the names of the signals; the first of equal names is used
    marked : groups with columns `NAME.MARK`, as in rate=...; energies are `energy.NAME`
    """
    columns: dict[str, Any] = {"time": time}
    units = {"time": "s"}

    def add(column: str, signals: Signals, name: str) -> None:
        columns[column] = signals[name]
        if signals.units.get(name):
            units[column] = signals.units[name]

    for signals in plain:
        for name in signals:
            if name == "time" or name not in columns:
                add(fresh(name, columns), signals, name)
    for mark, group in marked.items():
        for name in group or ():
            assert group is not None
            add(fresh(f"energy.{name}" if mark == "energy" else f"{name}.{mark}", columns), group, name)
    return Table(columns, units, index="time")


def time_span_text(time: Array) -> str:
    """Return a text with the number of instants and their range."""
    if not len(time):
        return "no instants"
    return f"{len(time)} instant{'s' * (len(time) != 1)} from {time[0]:.6g} to {time[-1]:.6g} s"
