"""`supple simulate` of a reduced model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from supple.cli.kept import written
from supple.cli.model_argument import model_trajectory

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from supple.reduced.model import ReducedModel
    from supple.results.signals import Signals

_RESULTS = 2000  # at most, if nothing is said of them


class ModelRun(NamedTuple):
    """What a run of a reduced model gives, free or prescribed."""

    time: NDArray[np.float64]
    coordinates: Signals
    rates: Signals
    outputs: Signals
    inputs: Signals
    driving_forces: Signals
    energy: Signals
    reason: str
    steps: int

    def data(self) -> dict[str, Any]:
        """The object for scripts."""
        found = self._asdict()
        found["outputs"] = self.outputs if len(self.outputs) else self.coordinates
        return found | {"complete": not self.reason}


def simulate_model(
    model: ReducedModel,
    *,
    until: float | None,
    step: float | None,
    start: list[float],
    rates: dict[str, float] | None,
    inputs: dict[str, Any],
    times: Any,
    motion: str | None,
    tolerance: float | None,
    spectral_radius: float,
    output_step: float | None,
) -> ModelRun:
    """A run of a model from θ = start, or along a motion.

    Without a step, steps follow the tolerance, the model's own if there is none; tables of inputs are then read as
    finely as the longest one.
    """
    import numpy as np

    from supple.analyses.time.adaptation import longest_step
    from supple.reduced.time.simulation import TOLERANCE

    if motion is not None:
        lasts = until if until is not None else float(model_trajectory(model, motion).time[-1])
        step = longest_step(lasts) if step is None else step
        return _prescribed(model, motion, _grid(lasts, step, output_step), tolerance)
    assert until is not None
    if step is None:
        step, tolerance = longest_step(until), TOLERANCE if tolerance is None else tolerance
    signals = {name: value if np.ndim(value) == 0 else _linear(times, value) for name, value in inputs.items()}
    run = model.simulate(
        _grid(until, step, output_step), signals or None, start, rates=rates, step=step, tolerance=tolerance,
        spectral_radius=spectral_radius,
    )  # fmt: skip
    none = type(run.inputs)(run.time, {})
    return ModelRun(
        run.time, run.coordinates, run.rates, run.outputs, run.inputs, none, run.energy, run.reason, run.steps
    )


def _linear(times: Any, values: Any) -> Any:
    import numpy as np

    return lambda time: float(np.interp(time, times, values))


def _grid(until: float, step: float, output_step: float | None) -> NDArray[np.float64]:
    """Times of the results: every step, and at most 2000, if nothing is said."""
    import numpy as np

    from supple.diagnostics import InputError

    for name, value in (("--until", until), ("--step", step), ("--output-step", output_step)):
        if value is not None and not value > 0.0:
            raise InputError(f"it is {value:g} s", part=name, hint="give a time above 0")
    apart = output_step if output_step is not None else max(step, until / _RESULTS)
    count = max(1, round(until / apart))
    return np.linspace(0.0, until, count + 1)


def _prescribed(model: ReducedModel, motion: str, grid: NDArray[np.float64], tolerance: float | None) -> ModelRun:
    """θ as the motion says; deformation, where there is any, is free and integrated."""
    run = model.follow(model_trajectory(model, motion, times=grid), tolerance=tolerance)
    assert run.driving_forces is not None
    return ModelRun(
        run.time, run.coordinates, run.rates, run.outputs, run.inputs, run.driving_forces, run.energy, "", run.steps
    )


def write_model_run(run: ModelRun, output: Path | None, plot: Path | None) -> None:
    """The table and the picture, where they are wanted."""
    from supple.results.signals import gathered
    from supple.view.time_plot import time_plot

    if output is not None:
        table = gathered(
            run.time, run.outputs, run.coordinates, rate=run.rates, input=run.inputs,
            driving_force=run.driving_forces, energy=run.energy,
        )  # fmt: skip
        written(output, lambda: table.save(output))
    if plot is not None:
        shown = run.outputs if len(run.outputs) else run.coordinates
        pushed = {"force": run.inputs.moving(), "driving force": run.driving_forces and run.driving_forces.moving()}
        written(plot, lambda: time_plot({"output": shown, **pushed, "energy": run.energy}).savefig(plot))


def show_model_run(model: ReducedModel, run: ModelRun, seconds: float) -> None:
    """A few lines: where it ends, how far outputs went, and its energy."""
    from supple.cli.tables import Tables, number

    out, last = Tables(), number(run.time[-1], "s")
    out.line(f"{model.name} (reduced): {last} in {run.steps} steps, {seconds:.2g} s to compute")
    rows = [(name, number(values[-1]), number(run.rates[name][-1])) for name, values in run.coordinates.items()]
    out.table(("coordinate", f"at {last}", "rate"), rows)
    sensed = [
        (name, *(number(x) for x in (values[-1], values.min(), values.max()))) for name, values in run.outputs.items()
    ]
    if sensed:
        out.table(("output", f"at {last}", "least", "largest"), sensed)
    if len(run.driving_forces):
        pushed = [(name, number(x.min()), number(x.max())) for name, x in run.driving_forces.items()]
        out.table(("driving force", "least", "largest"), pushed)
    out.table(("energy", f"at {last}, J"), [(name, number(values[-1])) for name, values in run.energy.items()])
    out.line("--json gives all values, -o FILE.csv a table, --plot FILE.png a picture")
