"""Measurements from files: natural frequencies and deflections as CSV, responses as in `load_responses`.

frequency_hz, noise, platform.x, platform.y     one row for each mode; noise (relative, 1σ) and shapes are optional
11.8,         0.005, 0.31,       -0.12

tool.x, tool.y, tool.z, force platform.z, moved platform.x, moved platform.z, noise
0.25,   -0.25,  -1.478, -200,             -1.29e-3,         -1.37e-3,         2e-5

One row for each posture: coordinates or positions of places, forces (N, N m), displacements of gauges (m, rad), noise
(m, 1σ). Modes written by `supple modal TEST -o modes.npz` are read with their shapes and deviations.

The first columns are optional if the posture is given (`FILE@first`). An empty cell was not measured.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.description.quantities.quantity import plain_number
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import excerpt, quote
from supple.formats.measurements.load_responses import load_responses
from supple.formats.text_file import read_bytes, text_of
from supple.identification.updating.measurement import Measurement, load_modes

FREQUENCY, NOISE, FORCE, MOVED = "frequency_hz", "noise", "force ", "moved "
LARGEST = 2**24  # bytes


def load_measurements(
    path: str | Path,
    at: Any = None,
    *,
    band: tuple[float, float] | None = None,
    frequency_noise: float | None = None,
) -> list[Measurement]:
    """Load measurements for `update` from a file.

    Parameters
    ----------
    path : str or Path
        File: natural frequencies or deflections (.csv), modes of `supple modal`, or responses.
    at : str or mapping, optional
        Posture of the test. Default: the posture that the file names.
    band : (float, float), optional
        Frequency band of the responses that are used, Hz. Default: all lines.
    frequency_noise : float, optional
        Standard deviation of natural frequencies, relative. It replaces the value in the file, or is added to the
        deviations of identified modes.

    Returns
    -------
    list of Measurement
        One measurement of frequencies, modes or responses, or one for each row of a table of deflections.

    Raises
    ------
    InputError
        If the file cannot be read; the message names the line.

    See Also
    --------
    load_responses : Read frequency responses only.
    """
    require_arguments(load_measurements, locals())
    if Path(path).suffix.lower() == ".csv":
        heads, rows = _rows(path)
        if any(head.startswith(FORCE) for head in heads):
            return [_deflections(path, heads, row, line, at) for line, row in rows]
        if heads[:1] == [FREQUENCY] and not any("/" in head for head in heads):
            found = _frequencies(path, heads, rows, at)
            return [found if frequency_noise is None else replace(found, frequency_noise=frequency_noise)]
    modes = load_modes(path)
    if modes is not None:
        return [Measurement(at=at, modal=modes, frequency_noise=frequency_noise, name=_label(path, at))]
    measured = load_responses(path, at=at if isinstance(at, str) else "")
    posture = at if at is not None else (measured.at or None)
    return [Measurement(at=posture, responses=measured, band=band, name=_label(path, posture))]


def _rows(path: str | Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    file = excerpt(path, 500)
    lines = text_of(read_bytes(path, LARGEST, "a table of measurements is short"), file).splitlines()
    kept = [(i, line) for i, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")]
    if not kept:
        raise InputError("the table is empty", file=file, hint="begin with a line of headings: frequency_hz, ...")
    cells = [(i, [cell.strip() for cell in row]) for (i, _), row in
             zip(kept, csv.reader((line for _, line in kept), skipinitialspace=True), strict=True)]  # fmt: skip
    return cells[0][1], cells[1:]


def _values(path: str | Path, heads: list[str], row: list[str], line: int) -> dict[str, float]:
    file = excerpt(path, 500)
    if len(row) != len(heads):
        raise InputError(
            f"{len(row)} values under {len(heads)} headings", file=file, line=line, hint="fill every column"
        )
    found = {}
    for head, cell in zip(heads, row, strict=True):
        if not cell:
            continue
        value = plain_number(cell)
        if math.isnan(value):
            raise InputError(
                f"{quote(cell)} is not a number", part=f"column {quote(head)}", file=file, line=line,
                hint="write it in SI units, or leave the cell empty",
            )  # fmt: skip
        found[head] = value
    return found


def _frequencies(path: str | Path, heads: list[str], rows: list[tuple[int, list[str]]], at: Any) -> Measurement:
    values = [_values(path, heads, row, line) for line, row in rows]
    channels = [head for head in heads[1:] if head != NOISE]
    if not values or any(FREQUENCY not in row or any(name not in row for name in channels) for row in values):
        raise InputError(
            "every mode needs a frequency and all channels", file=excerpt(path, 500), hint="fill every column"
        )
    values.sort(key=lambda row: row[FREQUENCY])
    noise = [row[NOISE] for row in values if NOISE in row]
    if noise and len(noise) < len(values):
        raise InputError(
            "noise is given for some modes only", file=excerpt(path, 500), hint="fill the whole column, or remove it"
        )
    return Measurement(
        at=at, frequencies_hz=[row[FREQUENCY] for row in values],
        shapes=np.array([[row[name] for name in channels] for row in values]) if channels else None, channels=channels,
        frequency_noise=noise or None, name=_label(path, at),
    )  # fmt: skip


def _deflections(path: str | Path, heads: list[str], row: list[str], line: int, at: Any) -> Measurement:
    values = _values(path, heads, row, line)
    noise = values.pop(NOISE, None)
    force = {head.removeprefix(FORCE): value for head, value in values.items() if head.startswith(FORCE)}
    moved = {head.removeprefix(MOVED): value for head, value in values.items() if head.startswith(MOVED)}
    posture: Mapping[str, float] | None = {
        head: value for head, value in values.items() if not head.startswith((FORCE, MOVED))
    }  # fmt: skip
    if posture and at is not None:
        raise InputError(
            f"the posture is given both in the table and as {quote(str(at))}", file=excerpt(path, 500), line=line,
            hint="remove one of them",
        )  # fmt: skip
    if not moved:
        raise InputError(
            "the row has no displacement of a gauge",
            file=excerpt(path, 500),
            line=line,
            hint="give columns `moved platform.z`",
        )
    label = ", ".join(f"{value:g}" for value in posture.values()) if posture else _label(path, at)
    return Measurement(at=posture or at, force=force, deflections=moved, deflection_noise=noise, name=label)


def _label(path: str | Path, at: Any) -> str:
    return at if isinstance(at, str) and at else Path(path).stem
