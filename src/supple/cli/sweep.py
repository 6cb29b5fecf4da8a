"""Parameter sweeps, `--set payload=0:4:5`: run any command once per value and label the runs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

from supple.cli.answer import INTERRUPTED, USAGE, failure_of
from supple.diagnostics import SuppleError

_SET = "--set"
_WRITTEN = ("-o", "--file", "--folder", "--plot")  # options whose files get the label of the run


class SweepRun(NamedTuple):
    """One run of a sweep: the arguments of its command, and the parameter values in SI units."""

    arguments: list[str]
    settings: dict[str, float]

    @property
    def label(self) -> str:
        """Parameter values of the run, for headings and file names."""
        return ",".join(f"{name}={value:.6g}" for name, value in self.settings.items())


def runs_of(arguments: Sequence[str]) -> list[SweepRun]:
    """Return the runs of a sweep, or none if the arguments contain no sweep."""
    ranges = {place: text for place, text in _settings(arguments) if ":" in text.partition("=")[2]}
    if not ranges:
        return []
    from supple.maps.sweep import expand_values, sweep_settings

    values_of: dict[str, Sequence[float | str]] = {}
    for text in ranges.values():
        name, _, values = (item.strip() for item in text.partition("="))
        values_of[name] = expand_values(name, values)
    found = []
    for texts, numbers in sweep_settings(values_of):
        run = SweepRun(list(arguments), numbers)
        for place, text in ranges.items():
            name = text.partition("=")[0].strip()
            glued = "" if arguments[place] == text else f"{_SET}="
            run.arguments[place] = f"{glued}{name}={texts[name]}"
        found.append(run._replace(arguments=_with_own_files(run)))
    return found


def perform(runs: list[SweepRun], command: Callable[[list[str]], None]) -> int:
    """Run the commands one after another and return the largest exit status.

    With --json, one list of objects is printed; `set` in each of them holds the parameter values.
    """
    as_json = "--json" in runs[0].arguments
    worst, objects = 0, []
    for run in runs:
        printed = io.StringIO()
        if not as_json:
            print(f"\n== {run.label}", flush=True)
        try:
            if as_json:
                with redirect_stdout(printed):
                    command(run.arguments)
            else:
                command(run.arguments)
        except SystemExit as ended:
            status = int(ended.code or 0)
            worst = max(worst, status)
            if status in (USAGE, INTERRUPTED):  # the other runs would end in the same way
                print(printed.getvalue(), end="")
                return status
        if as_json:
            objects.append({"set": run.settings} | json.loads(printed.getvalue() or "{}"))
    if as_json:
        print(json.dumps(objects, allow_nan=False))
    return worst


def sweep_status(arguments: Sequence[str], command: Callable[[list[str]], None]) -> int | None:
    """Run a sweep and return its exit status, or None if the arguments contain no sweep."""
    try:
        runs = runs_of(arguments)
    except SuppleError as error:
        return failure_of(error).emit("--json" in arguments)
    return perform(runs, command) if runs else None


def _settings(arguments: Sequence[str]) -> list[tuple[int, str]]:
    """Return position and text of every NAME=VALUE after --set."""
    found = []
    for i, item in enumerate(arguments):
        if item == _SET and i + 1 < len(arguments):
            found.append((i + 1, arguments[i + 1]))
        elif item.startswith(f"{_SET}="):
            found.append((i, item.removeprefix(f"{_SET}=")))
    return found


def _with_own_files(run: SweepRun) -> list[str]:
    """Insert the label into the names of output files, before the suffix."""
    found = list(run.arguments)
    named = False
    for i, item in enumerate(found):
        if item in _WRITTEN and i + 1 < len(found):
            found[i + 1], named = _label_file(found[i + 1], run.label), named or item != "--plot"
    if found[:1] == ["reduce"] and not named and "--dry-run" not in found:
        file = next((item for item in found[1:] if not item.startswith("-")), "model")
        found += ["-o", _label_file(f"{Path(file).stem}.rom", run.label)]
    return found


def _label_file(file: str, label: str) -> str:
    path = Path(file)
    return str(path.with_name(f"{path.stem}-{label}{path.suffix}"))
