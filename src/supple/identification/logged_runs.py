"""Logged runs: the commands that were sent and the outputs that were measured, sample by sample.

A CSV file has a column `time` (s, evenly spaced), `NAME.command` of each actuator, and one with the name of each output
(`tip.x`), in SI units. From a table of a closed loop, the outputs are the readings of instruments (`tip.x.measured`),
not the true outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers
from supple.formats.time_table import read_time_table
from supple.results.simulation import Simulation

COMMAND, MEASURED = ".command", ".measured"
_EVEN = 1e-3  # of the sample time: tolerance of even sampling


@dataclass(frozen=True, eq=False)
class LoggedRun:
    """A logged run: commands and measured outputs at evenly spaced times.

    Attributes
    ----------
    time : ndarray, shape (N,)
        Times of the samples, s, evenly spaced.
    commands : mapping of str to ndarray
        Commands {actuator: (N,)}, constant from each sample to the next.
    measured : mapping of str to ndarray
        Measured outputs {output: (N,)} at each sample.
    start : mapping of str to float
        θ at rest at the start, by name. Default: the first readings of encoders.
    """

    time: Array
    commands: Mapping[str, Array]
    measured: Mapping[str, Array]
    start: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        steps = np.diff(self.time)
        if len(self.time) < 3 or not np.isfinite(self.time).all() or not (steps > 0.0).all():
            raise InputError(
                f"time must have at least three increasing values (got {len(self.time)} values)", part="logged run",
                hint="check the column `time`",
            )  # fmt: skip
        if np.abs(steps - self.sample_time).max() > _EVEN * self.sample_time:
            raise InputError(
                f"samples must be evenly spaced (steps are {steps.min():.4g} to {steps.max():.4g} s)",
                part="logged run", hint="resample the run evenly, with commands held constant between samples",
            )  # fmt: skip
        for what, columns in (("command", self.commands), ("output", self.measured)):
            if not columns:
                raise InputError(f"the run has no {what}", part="logged run", hint=f"log at least one {what}")
            for name, values in columns.items():
                if values.shape != self.time.shape or not np.isfinite(values).all():
                    raise InputError(
                        f'{what} "{name}" must have {len(self.time)} finite values', part="logged run",
                        hint="cut the run to the samples at which every signal was logged",
                    )  # fmt: skip

    @property
    def sample_time(self) -> float:
        """Sample time, s."""
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)


def logged_run(source: Any, *, start: Mapping[str, float] | None = None) -> LoggedRun:
    """Return a logged run from a simulation in closed loop, a CSV file, or columns by name.

    The columns are {"time": (N,), "lift.command": (N,), "tip.x": (N,), ...}.
    """
    if isinstance(source, LoggedRun):
        return source
    if isinstance(source, Simulation):
        commands, measured = getattr(source, "commands", None), getattr(source, "measured", None)
        if not commands or not measured:
            raise InputError(
                "the simulation has no separate commands and measurements",
                part="logged run",
                hint="give a result of closed_loop",
            )
        steps = np.diff(source.time)
        N = len(source.time) - int(
            len(steps) > 2 and steps[-1] < (1.0 - _EVEN) * steps[0]
        )  # the last step may be shorter
        sent, shown = ({name: x[:N] for name, x in columns.items()} for columns in (commands, measured))
        return LoggedRun(source.time[:N], sent, shown, start or {})
    if isinstance(source, Mapping):
        columns = {str(name): real_numbers(f'column "{name}" of a run', values) for name, values in source.items()}
        return _split_columns(columns.pop("time", np.zeros(0)), columns, start)
    if not isinstance(source, str | Path):
        raise InputError(
            f"a {type(source).__name__} is not a logged run", part="logged run",
            hint="give a CSV file, columns by name, or a result of closed_loop",
        )  # fmt: skip
    table = read_time_table(source, of="signal", fewest=3, why="a run needs")
    return _split_columns(table.time, table.values, start)


def _split_columns(time: Array, columns: Mapping[str, Array], start: Mapping[str, float] | None) -> LoggedRun:
    commands = {name.removesuffix(COMMAND): x for name, x in columns.items() if name.endswith(COMMAND)}
    shown = {name.removesuffix(MEASURED): x for name, x in columns.items() if name.endswith(MEASURED)}
    measured = shown or {name: x for name, x in columns.items() if not name.endswith(COMMAND)}
    return LoggedRun(time, commands, measured, start or {})
