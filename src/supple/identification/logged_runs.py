"""Runs that were logged: commands as they were sent, and what sensors showed, sample by sample.

A CSV file has a column `time` (s, evenly spaced), `NAME.command` of each actuator, and one under the name of each
output (`tip.x`), in SI units. Of a table that a closed loop wrote, readings are those that instruments showed
(`tip.x.measured`), not the true outputs beside them.
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
_EVEN = 1e-3  # of the sample time: by how much samples may come early or late


@dataclass(frozen=True, eq=False)
class LoggedRun:
    """time (N,) s, evenly spaced; commands {actuator: (N,)} held from each sample on; measured {output: (N,)} at each.

    start : θ where it stood still at first, by name; left out, where encoders saw it
    """

    time: Array
    commands: Mapping[str, Array]
    measured: Mapping[str, Array]
    start: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        steps = np.diff(self.time)
        if len(self.time) < 3 or not np.isfinite(self.time).all() or not (steps > 0.0).all():
            raise InputError(f"its {len(self.time)} times do not rise", part="logged run", hint="give three at least")
        if np.abs(steps - self.sample_time).max() > _EVEN * self.sample_time:
            raise InputError(
                f"its samples come every {steps.min():.4g} to {steps.max():.4g} s", part="logged run",
                hint="resample it evenly, commands held",
            )  # fmt: skip
        for what, columns in (("command", self.commands), ("output", self.measured)):
            if not columns:
                raise InputError(f"it has no {what}", part="logged run", hint=f"log at least one {what}")
            for name, values in columns.items():
                if values.shape != self.time.shape or not np.isfinite(values).all():
                    raise InputError(
                        f'{what} "{name}" has not {len(self.time)} finite values', part="logged run",
                        hint="cut the run to where everything was logged",
                    )  # fmt: skip

    @property
    def sample_time(self) -> float:
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)


def logged_run(source: Any, *, start: Mapping[str, float] | None = None) -> LoggedRun:
    """A run in the loop with a controller, a CSV file, or {"time": (N,), "lift.command": (N,), "tip.x": (N,), ...}."""
    if isinstance(source, LoggedRun):
        return source
    if isinstance(source, Simulation):
        commands, measured = getattr(source, "commands", None), getattr(source, "measured", None)
        if not commands or not measured:
            raise InputError(
                "it has no commands and measurements apart", part="logged run", hint="give a run of closed_loop"
            )
        steps = np.diff(source.time)
        N = len(source.time) - int(len(steps) > 2 and steps[-1] < (1.0 - _EVEN) * steps[0])  # the end may come sooner
        told, shown = ({name: x[:N] for name, x in columns.items()} for columns in (commands, measured))
        return LoggedRun(source.time[:N], told, shown, start or {})
    if isinstance(source, Mapping):
        columns = {str(name): real_numbers(f'column "{name}" of a run', values) for name, values in source.items()}
        return _parted(columns.pop("time", np.zeros(0)), columns, start)
    if not isinstance(source, str | Path):
        raise InputError(f"{type(source).__name__} is no run", part="logged run", hint="give a file or a closed loop")
    table = read_time_table(source, of="signal", fewest=3, why="a run needs")
    return _parted(table.time, table.values, start)


def _parted(time: Array, columns: Mapping[str, Array], start: Mapping[str, float] | None) -> LoggedRun:
    commands = {name.removesuffix(COMMAND): x for name, x in columns.items() if name.endswith(COMMAND)}
    shown = {name.removesuffix(MEASURED): x for name, x in columns.items() if name.endswith(MEASURED)}
    measured = shown or {name: x for name, x in columns.items() if not name.endswith(COMMAND)}
    return LoggedRun(time, commands, measured, start or {})
