"""What an analysis returns: told in a line, kept as a table, drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.results.entries import Entries
from supple.results.file import save_result
from supple.results.notebook import result_html
from supple.results.table import Table
from supple.results.text import Text

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
