"""Signals over time, by name and with units."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError, nearest

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Signals(Mapping[str, Array]):
    """Named signals on one time axis: `signals["tip.z"]` is (N,)."""

    time: Array
    data: dict[str, Array]
    units: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        if name not in self.data:
            raise InputError(f'there is no signal "{name}"', hint=nearest(name, self.data))
        return self.data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw some or all signals over time (matplotlib); returns the axes."""
        if axes is None:
            from matplotlib.figure import Figure

            axes = Figure(figsize=(7.0, 4.0), layout="constrained").subplots()
        for name in names or self.data:
            unit = self.units.get(name)
            axes.plot(self.time, self[name], label=f"{name} / {unit}" if unit else name)
        axes.set_xlabel("time / s")
        axes.legend(frameon=False)
        return axes

    def save(self, path: str | Path) -> Path:
        """Write time and all signals as CSV, beside the target and then renamed."""
        target = Path(path)
        beside = target.with_name(target.name + ".part")
        with beside.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(["time", *self.data])
            writer.writerows(zip(*(column.tolist() for column in (self.time, *self.data.values())), strict=True))
        beside.replace(target)
        return target
