"""A run in time, just computed or read back from what `supple simulate -o` wrote."""

from __future__ import annotations

import csv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.elastic.array_archive import read_archive
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.mechanism_file import loads
from supple.results.playback_arrays import PREFIX
from supple.results.simulation import Simulation


@dataclass(frozen=True, eq=False)
class SavedRun:
    """A run, saved or not: columns over `time` by name, their units, and what `playback_arrays` kept beside them."""

    name: str
    columns: dict[str, Array]
    units: dict[str, str]
    kept: dict[str, NDArray[Any]]

    @property
    def time(self) -> Array:
        return self.columns["time"]

    def text(self, name: str) -> str:
        """A text that was kept; "" where there is none."""
        found = self.kept.get(name)
        return "" if found is None or found.dtype.kind != "U" or found.size != 1 else str(found.reshape(-1)[0])

    def mechanism(self) -> Mechanism:
        """Whose run it is."""
        text = self.text("mechanism")
        if not text:
            raise InputError(
                "it does not say which mechanism ran", file=self.name,
                hint=f"give the mechanism first: supple view FILE --run {self.name}",
            )  # fmt: skip
        return loads(text, name=f"the description in {self.name}")


def saved_run(simulation: Simulation, name: str = "") -> SavedRun:
    """A run that has just been computed."""
    table = simulation.table()
    kept = {key.removeprefix(PREFIX): values for key, values in simulation.arrays().items() if key.startswith(PREFIX)}
    return SavedRun(name or simulation.name, dict(table.columns), dict(table.units), kept)


def read_run(path: str | Path) -> SavedRun:
    """A run as `supple simulate -o` writes it: .npz with everything, or a .csv of its columns."""
    target = Path(path)
    try:
        found = _csv(target) if target.suffix.lower() == ".csv" else _npz(target)
    except (OSError, ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(
            f"cannot be read as a run ({reason})", file=str(path), hint="give a .npz or .csv of `supple simulate -o`"
        ) from None
    time = found.columns.get("time")
    if time is None or time.ndim != 1 or not len(time) or not (np.diff(time) > 0.0).all():
        raise InputError(
            "it has no column `time` that rises", file=str(path), hint="give a .npz or .csv of `supple simulate -o`"
        )
    return found


def holds_run(path: str | Path) -> bool:
    """Whether a .npz or .csv has a column `time`: a run, and no measured responses."""
    target = Path(path)
    try:
        if target.suffix.lower() == ".csv":
            with target.open(encoding="utf-8", newline="") as stream:
                return "time" in [name.strip() for name in next(csv.reader(stream), [])]
        with zipfile.ZipFile(target) as archive:
            return "time.npy" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def _npz(path: Path) -> SavedRun:
    arrays = read_archive(path, None, "iufcUb")
    names, units = (arrays.pop(name, np.array([], dtype=str)).tolist() for name in ("columns", "units"))
    kept = {name.removeprefix(PREFIX): arrays[name] for name in arrays if name.startswith(PREFIX)}
    time = arrays.get("time", np.zeros(0))
    columns = {
        name: np.asarray(values, dtype=float)
        for name, values in arrays.items()
        if not name.startswith(PREFIX) and values.dtype.kind in "fiu" and values.shape == time.shape
    }
    return SavedRun(str(path), columns, dict(zip(names, units, strict=False)), kept)


def _csv(path: Path) -> SavedRun:
    with path.open(encoding="utf-8", newline="") as stream:
        names, *rows = list(csv.reader(stream))
    values = np.array(rows, dtype=float).reshape(len(rows), len(names))
    return SavedRun(str(path), {name.strip(): values[:, i] for i, name in enumerate(names)}, {}, {})
