"""What `supple simulate` tells of a run: an object, a table, a picture, or a few lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from supple.cli.kept import draw, written

if TYPE_CHECKING:
    from supple.results.signals import Signals
    from supple.results.simulation import Simulation
    from supple.results.table import Table

_ROUNDING = 1e-12  # of the largest reaction: less is zero


class Told(NamedTuple):
    """A run, the reactions asked for, and the seconds it took."""

    run: Simulation
    reactions: dict[str, dict[str, Any]]
    seconds: float

    def data(self) -> dict[str, Any]:
        """The object for scripts."""
        run = self.run
        return {
            "time": run.time, "outputs": run.seen, "coordinates": run.coordinates, "rates": run.rates,
            "accelerations": run.accelerations, "inputs": run.inputs, "driving_forces": run.driving_forces,
            "energy": run.energy, "reactions": self.reactions, "units": dict(run.coordinates.units) | run.seen.units,
            "complete": run.complete, "reason": run.reason, "steps": run.steps, "iterations": run.iterations,
            "rigid": run.rigid, "damping": run.damping, "tolerance": run.tolerance, "energy_defect": run.energy_defect,
            "balanced": run.balanced,
        }  # fmt: skip

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
            written(output, lambda: save_result(output, table.real, arrays))
        if plot is not None:
            draw(plot, self.run.plot)

    def show(self) -> None:
        """A few lines: where it ends, how far outputs went, and its energy."""
        from supple.cli.tables import Tables, number

        run, out, last = self.run, Tables(), number(self.run.time[-1], "s")
        name = run.name if run.bodies is not None else f"{run.name} (reduced)"
        counted = "" if run.iterations is None else f", {run.iterations} iterations"
        out.line(f"{name}: {last} in {run.steps} steps{counted}, {self.seconds:.2g} s to compute")
        if len(run.coordinates):
            out.table(("coordinate", f"at {last}", "rate"), _ends(run.coordinates, run.rates))
        if len(run.outputs) or not len(run.coordinates):
            out.table(("output", f"at {last}", "least", "largest"), _ranges(run.seen, last=True))
        if len(run.driving_forces):
            out.table(("driving force", "least", "largest"), _ranges(run.driving_forces))
        if self.reactions:
            longest = {joint: tuple(map(_longest, parts.values())) for joint, parts in self.reactions.items()}
            nothing = _ROUNDING * max(max(pair) for pair in longest.values())
            joints = [
                (joint, *(number(x if x > nothing else 0.0, unit) for x, unit in zip(pair, ("N", "N m"), strict=True)))
                for joint, pair in longest.items()
            ]
            out.table(("joint", "largest force", "largest moment"), joints)
        energy = [(key, number(values[-1])) for key, values in run.energy.items() if values.any() or key == "balance"]
        out.table(("energy", f"at {last}, J"), energy)
        if run.energy_defect is not None:
            defect = 100.0 * run.energy_defect
            out.line(f"the account of energy is off by {defect:.2g} % of what was exchanged, at most")
        out.line("--json gives all values, -o FILE.csv a table, --plot FILE.png a picture")


def _ends(coordinates: Signals, rates: Signals) -> list[tuple[str, ...]]:
    from supple.cli.tables import number

    return [
        (key, *(number(signals[key][-1], signals.units.get(key, "")) for signals in (coordinates, rates)))
        for key in coordinates
    ]


def _ranges(signals: Signals, *, last: bool = False) -> list[tuple[str, ...]]:
    """The last value, if it is wanted, the least and the largest."""
    from supple.cli.tables import number

    return [
        (
            key,
            *(
                number(x, signals.units.get(key, ""))
                for x in (*(values[-1:] if last else ()), values.min(), values.max())
            ),
        )
        for key, values in signals.items()
    ]


def _longest(vectors: Any) -> float:
    return float((vectors**2).sum(axis=1).max() ** 0.5)
