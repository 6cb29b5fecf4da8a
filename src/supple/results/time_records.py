"""Time records of a test: excitations and responses of every impact or block."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.results.channel import Channel
from supple.results.responses import channel_arrays, frozen_copy, require_names, save_universal
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import fresh, list_names


@dataclass(frozen=True, eq=False, repr=False)
class TimeRecords(Result):
    """Time records of all channels in SI units.

    Attributes
    ----------
    sampling_hz : float
        Sample rate, Hz.
    x : ndarray, shape (records, references, samples)
        Excitations.
    y : ndarray, shape (records, responses, samples)
        Responses.
    before : float
        Time from the first sample to the trigger, s.
    full_scale : ndarray or None, shape (references and responses,)
        Full scale of each channel; None if unknown.
    at, title, date, notes
        As in `Responses`.
    """

    sampling_hz: float
    references: tuple[Channel, ...]
    responses: tuple[Channel, ...]
    x: Array
    y: Array
    before: float = 0.0
    full_scale: Array | None = None
    at: str | Mapping[str, float] = ""
    title: str = ""
    date: str = ""
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        kept = object.__setattr__
        for name in ("x", "y"):
            kept(self, name, frozen_copy(getattr(self, name), np.float64))
        for name in ("references", "responses", "notes"):
            kept(self, name, tuple(getattr(self, name)))
        if not isinstance(self.at, str):
            kept(self, "at", {name: float(value) for name, value in self.at.items()})
        require_names(self.responses, "responses")
        require_names(self.references, "references")
        if not self.sampling_hz > 0.0 or not np.isfinite(self.sampling_hz):
            raise InputError(
                f"must be positive (got {self.sampling_hz:g} Hz)", part="sampling_hz", hint="give samples per second"
            )
        if self.x.ndim != 3 or self.y.ndim != 3 or self.x[:, :1].shape != self.y[:, :1].shape:
            raise InputError(
                f"x is {self.x.shape} and y {self.y.shape}", part="records", hint="(records, channels, samples)"
            )
        if self.x.shape[1] != len(self.references) or self.y.shape[1] != len(self.responses):
            raise InputError(
                f"{self.x.shape[1]} references and {self.y.shape[1]} responses are recorded, but "
                f"{len(self.references)} and {len(self.responses)} described", part="records", hint="describe each",
            )  # fmt: skip
        if self.full_scale is not None:
            kept(self, "full_scale", frozen_copy(self.full_scale, np.float64))
            if np.shape(self.full_scale) != (len(self.channels),):
                raise InputError(
                    f"got {np.size(self.full_scale)} values for {len(self.channels)} channels", part="full_scale"
                )

    @property
    def channels(self) -> tuple[Channel, ...]:
        """References, then responses."""
        return (*self.references, *self.responses)

    @property
    def count(self) -> int:
        """Number of records."""
        return len(self.x)

    @property
    def samples(self) -> int:
        """Number of samples of each record."""
        return self.x.shape[2]

    @property
    def time(self) -> Array:
        """Times of the samples from the trigger, s, (samples,)."""
        return np.arange(self.samples) / self.sampling_hz - self.before

    def copy_with(self, **changes: Any) -> TimeRecords:
        """Return a copy with some attributes replaced."""
        return replace(self, **changes)

    def without(self, *records: int) -> TimeRecords:
        """Return the records without those of the given indices (from 0)."""
        kept = np.setdiff1d(np.arange(self.count), np.array(records, dtype=int))
        if not len(kept):
            raise InputError("all records are removed", part="records", hint="keep at least one record")
        return replace(self, x=self.x[kept], y=self.y[kept])

    def summary(self) -> str:
        words = f"{self.count} record{'s' * (self.count != 1)} of {self.samples} samples at {self.sampling_hz:.6g} Hz: "
        responses, references = ([one.name for one in given] for given in (self.responses, self.references))
        return f"{words}{list_names(responses)} to {list_names(references)}"

    def table(self) -> Table:
        """Return a table of time and one column per channel; with several records, `NAME #1`, `NAME #2`."""
        columns: dict[str, Any] = {"time": self.time}
        units = {"time": "s"}
        both = np.concatenate([self.x, self.y], axis=1)
        for n in range(self.count):
            for k, one in enumerate(self.channels):
                column = fresh(one.name if self.count == 1 else f"{one.name} #{n + 1}", columns)
                columns[column], units[column] = both[n, k], one.unit
        return Table(columns, units, index="time")

    def arrays(self) -> dict[str, NDArray[Any]]:
        about = {
            "before": self.before,
            "at": self.at,
            "title": self.title,
            "date": self.date,
            "notes": list(self.notes),
        }
        found: dict[str, NDArray[Any]] = {"sampling_hz": np.array([self.sampling_hz]), "x": self.x, "y": self.y}
        if self.full_scale is not None:
            found["full_scale"] = self.full_scale
        found |= channel_arrays("response", self.responses) | channel_arrays("reference", self.references)
        return {**found, "about": np.array([json.dumps(about)], dtype=str)}

    def save(self, path: str | Path, *, binary: bool = False) -> Path:
        """Write the records as .npz, .mat, .csv (the table) or .uff in SI units; `load_records` reads all of them.

        Parameters
        ----------
        path : str or path-like
            File; its ending selects the format.
        binary : bool, optional
            Write numbers of a .uff file in binary form (58b) instead of text with twelve digits. Default: False.

        Returns
        -------
        pathlib.Path
            The file.
        """
        return save_universal(self, path, binary) or super().save(path)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Plot channels over time, with all records overlaid, and return the panels.

        Parameters
        ----------
        *names : str
            Channels to plot. Default: the first few.
        axes : sequence of matplotlib.axes.Axes, optional
            One axes per channel. Default: a new figure.
        """
        return picture("identification.testing.plot.time_records_plot")(self, names, axes)
