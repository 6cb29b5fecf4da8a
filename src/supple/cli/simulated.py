"""What `supple simulate` tells of a run: an object, a table, a picture, or a few lines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from supple.cli.kept import written

if TYPE_CHECKING:
    from supple.analyses.time.simulated import Simulation
    from supple.results.signals import Signals
    from supple.results.table import Table

_ROUNDING = 1e-12  # of the largest reaction: less is zero


class Told(NamedTuple):
    """A run, its outputs (the coordinates if there is no sensor), and the reactions asked for."""

    run: Simulation
    outputs: Signals
    reactions: dict[str, dict[str, Any]]

    def data(self) -> dict[str, Any]:
        """The object for scripts."""
        run = self.run
        return {
            "time": run.time, "outputs": self.outputs, "coordinates": run.coordinates, "rates": run.rates,
            "inputs": run.inputs, "driving_forces": run.driving_forces, "energy": run.energy,
            "reactions": self.reactions, "units": dict(run.coordinates.units) | self.outputs.units,
            "complete": run.complete, "reason": run.reason, "steps": run.steps, "iterations": run.iterations,
            "rigid": run.rigid, "tolerance": run.tolerance, "energy_defect": run.energy_defect,
            "balanced": run.balanced,
        }  # fmt: skip

    def columns(self) -> Table:
        """The table: every signal in a column of its own name, and the reactions asked for."""
        from supple.results.signals import Signals, gathered

        run = self.run
        pushed: dict[str, Any] = {}
        units: dict[str, str] = {}
        for joint, parts in self.reactions.items():
            for part, vectors in parts.items():
                pushed |= {f"{joint}.{part}.{axis}": vectors[:, i] for i, axis in enumerate("xyz")}
                units |= {f"{joint}.{part}.{axis}": "N" if part == "force" else "N m" for axis in "xyz"}
        return gathered(
            run.time, self.outputs, run.coordinates, Signals(run.time, pushed, units), rate=run.rates, input=run.inputs,
            driving_force=run.driving_forces, energy=run.energy,
        )  # fmt: skip


def told_of(run: Simulation, joints: list[str]) -> Told:
    """What to tell, with the reactions of these joints."""
    outputs = run.outputs
    if not len(outputs):  # nothing is sensed: what the coordinates do, or the joints where there are none
        outputs = run.coordinates if len(run.coordinates) else run.joint_coordinates
    return Told(run, outputs, {name: run.reaction(name)._asdict() for name in joints})


def write(told: Told, output: Path | None, plot: Path | None) -> None:
    """The table and the picture, where they are wanted."""
    if output is not None:
        written(output, lambda: told.columns().save(output))
    if plot is not None:
        written(plot, lambda: told.run.plot().savefig(plot))


def show(told: Told, seconds: float) -> None:
    """A few lines: where it ends, how far outputs went, and how well the energy balances."""
    from supple.cli.tables import Tables, number

    run, out = told.run, Tables()
    name, last = run.problem.rest.numbering.mechanism.name, number(run.time[-1], "s")
    out.line(f"{name}: {last} in {run.steps} steps, {run.iterations} iterations, {seconds:.2g} s to compute")
    if len(run.coordinates):
        rates, units = run.rates, run.coordinates.units
        rows = [
            (key, number(values[-1], units[key]), number(rates[key][-1], rates.units[key]))
            for key, values in run.coordinates.items()
        ]
        out.table(("coordinate", f"at {last}", "rate"), rows)
    if len(run.outputs) or not len(run.coordinates):
        units = told.outputs.units
        sensed = [
            (key, *(number(value, units.get(key, "")) for value in (values[-1], values.min(), values.max())))
            for key, values in told.outputs.items()
        ]
        out.table(("output", f"at {last}", "least", "largest"), sensed)
    if told.reactions:
        longest = {joint: tuple(map(_longest, parts.values())) for joint, parts in told.reactions.items()}
        nothing = _ROUNDING * max(max(pair) for pair in longest.values())
        joints = [
            (joint, *(number(x if x > nothing else 0.0, unit) for x, unit in zip(pair, ("N", "N m"), strict=True)))
            for joint, pair in longest.items()
        ]
        out.table(("joint", "largest force", "largest moment"), joints)
    energy = [(key, number(values[-1])) for key, values in run.energy.items() if values.any() or key == "balance"]
    out.table(("energy", f"at {last}, J"), energy)
    out.line(f"the account of energy is off by {100.0 * run.energy_defect:.2g} % of what was exchanged, at most")
    out.line("--json gives all values, -o FILE.csv a table, --plot FILE.png a picture")


def _longest(vectors: Any) -> float:
    return float((vectors**2).sum(axis=1).max() ** 0.5)
