"""What `supple simulate` tells of a run: an object, a table, a picture, or a few lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from supple.cli.kept import draw, write_file

if TYPE_CHECKING:
    from supple.results.simulation import Simulation
    from supple.results.table import Table
    from supple.results.text import Text


class TimedRun(NamedTuple):
    """A run, the reactions asked for, and the seconds it took."""

    run: Simulation
    reactions: dict[str, dict[str, Any]]
    seconds: float

    def data(self) -> dict[str, Any]:
        """The object for scripts."""
        return self.run.data() | {"reactions": self.reactions}

    def text(self) -> Text:
        """A few lines: where it ends, how far outputs went, and its energy."""
        return self.run.text(self.reactions, f", {self.seconds:.2g} s to compute")

    def table(self) -> Table:
        """Every signal in a column of its own name, and the reactions asked for."""
        table = self.run.table()
        for joint, parts in self.reactions.items():
            for part, vectors in parts.items():
                for i, axis in enumerate("xyz"):
                    table.columns[f"{joint}.{part}.{axis}"] = vectors[:, i]
                    table.units[f"{joint}.{part}.{axis}"] = "N" if part == "force" else "N m"
        return table

    def write(self, output: Path | None, plot: Path | None) -> None:
        """The table and the picture, where they are wanted."""
        from supple.results.file import save_result
        from supple.results.playback_arrays import playback_arrays

        if output is not None:
            table = self.table()
            arrays = lambda: table.arrays() | playback_arrays(self.run)  # noqa: E731
            write_file(output, lambda: save_result(output, table.real, arrays))
        if plot is not None:
            draw(plot, self.run.plot)
