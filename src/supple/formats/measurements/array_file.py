"""Responses as named arrays, the way they are saved: .npz and .mat files."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.description.elastic.array_archive import read_archive
from supple.diagnostics import InputError
from supple.diagnostics.limits import require_memory
from supple.diagnostics.quoting import brief
from supple.formats.text_file import read_bytes, require_file
from supple.results.channel import Channel, direction_of
from supple.results.responses import Responses
from supple.results.time_records import TimeRecords

LARGEST = 2**30  # bytes

_OF_CHANNELS = ("points", "directions", "quantities", "recorded_units", "positions")
WANTED = (
    "frequencies_hz", "H", "sampling_hz", "x", "y", "full_scale", "coherence", "about",
    *(f"{what}_{name}" for what in ("response", "reference") for name in _OF_CHANNELS),
)  # fmt: skip
_NEEDED = ("frequencies_hz", "H", "response_points", "reference_points")


def read_npz(path: str | Path) -> Responses:
    """The responses in an .npz file; nothing in it can run, and no more memory is used than its arrays need."""
    require_file(path)
    try:
        return responses_from(read_archive(path, WANTED, "iufcU"), str(path))
    except ValueError as error:
        raise InputError(str(error), file=brief(path, 500), hint="write it with the save of Responses") from None


def read_mat(path: str | Path) -> dict[str, NDArray[Any]]:
    """The wanted arrays of a Matlab file (version 5): sizes are looked at before any array is read."""
    from scipy.io import loadmat, whosmat

    file = brief(path, 500)
    read_bytes(path, LARGEST, "save fewer channels or lines, or .npz")
    try:
        sizes = {name: math.prod(shape) for name, shape, _ in whosmat(str(path)) if name in WANTED}
        require_memory(16 * sum(sizes.values()), f"{file}: its arrays take", hint="save fewer")
        found = loadmat(str(path), variable_names=list(sizes))
    except InputError:
        raise
    except (ValueError, TypeError, OSError, NotImplementedError, KeyError, IndexError, zlib.error) as error:
        raise InputError(
            f"it is no Matlab file of version 5 ({brief(error)})", file=file, hint="save it with: save('x.mat', '-v7')"
        ) from None
    return {name: _flat_texts(values) for name, values in found.items() if name in WANTED}


def _flat_texts(values: Any) -> NDArray[Any]:
    """Cells of texts as an array of texts, whichever way they were kept."""
    found: NDArray[Any] = np.asarray(values)
    if found.dtype == object:
        return np.array(
            [str(cell.item() if getattr(cell, "size", 0) == 1 else "") for cell in found.ravel()], dtype=str
        )
    return np.char.rstrip(found.ravel()) if found.dtype.kind == "U" else found


def read_mat_responses(path: str | Path) -> Responses:
    """The responses in a .mat file."""
    return responses_from(read_mat(path), str(path))


def read_records(path: str | Path) -> TimeRecords:
    """Records over time in an .npz or .mat file."""
    file = brief(path, 500)
    if Path(path).suffix.lower() == ".mat":
        arrays = read_mat(path)
    else:
        require_file(path)
        try:
            arrays = read_archive(path, WANTED, "iufcU")
        except ValueError as error:
            raise InputError(str(error), file=file, hint="write it with the save of TimeRecords") from None
    for name in ("sampling_hz", "x", "y", "response_points", "reference_points"):
        if name not in arrays:
            raise InputError(f'it has no array "{name}"', file=file, hint="records need sampling_hz, x, y and points")
    about = _about(arrays, file)
    notes, at, before = about.get("notes", ()), about.get("at", ""), about.get("before", 0.0)
    scale = arrays.get("full_scale")
    return TimeRecords(
        float(np.ravel(arrays["sampling_hz"])[0]), _channels(arrays, "reference", "force"),
        _channels(arrays, "response", "acceleration"), np.atleast_3d(np.asarray(arrays["x"], float)),
        np.atleast_3d(np.asarray(arrays["y"], float)), float(before) if isinstance(before, int | float) else 0.0,
        None if scale is None else np.ravel(scale), at if isinstance(at, dict) else str(at),
        str(about.get("title", "")), str(about.get("date", "")), tuple(str(note) for note in notes),
    )  # fmt: skip


def responses_from(arrays: Mapping[str, NDArray[Any]], file: str) -> Responses:
    """Of arrays by name, as `Responses.arrays` gives them; what is left out has its default."""
    for name in _NEEDED:
        if name not in arrays:
            raise InputError(
                f'it has no array "{name}"', file=brief(file, 500),
                hint="responses need frequencies_hz, H (lines, responses, references), response_points, "
                "reference_points; docs/measurements.md lists the others",
            )  # fmt: skip
    about = _about(arrays, file)
    averages, rate = (about.get(name, 0) for name in ("averages", "window_rate"))
    notes, at = about.get("notes", ()), about.get("at", "")
    return Responses(
        np.atleast_1d(np.asarray(arrays["frequencies_hz"], dtype=float)).reshape(-1),
        _channels(arrays, "response", "acceleration"),
        _channels(arrays, "reference", "force"),
        _cube(arrays["H"], complex),
        coherence=None if "coherence" not in arrays else _cube(arrays["coherence"], float),
        averages=averages if isinstance(averages, int) else 0,
        window_rate=float(rate) if isinstance(rate, int | float) else 0.0,
        at={str(k): float(v) for k, v in at.items()} if isinstance(at, dict) else str(at),
        **{name: str(about.get(name, "")) for name in ("title", "date", "estimator")},
        notes=tuple(str(note) for note in notes) if isinstance(notes, list) else (),
    )


def _cube(values: Any, kind: type) -> NDArray[Any]:
    """(lines, responses, references); Matlab drops the last of them where there is one reference."""
    found: NDArray[Any] = np.asarray(values, dtype=kind)
    return found if found.ndim > 2 else found.reshape(*found.shape, *[1] * (3 - found.ndim))


def _about(arrays: Mapping[str, NDArray[Any]], file: str) -> dict[str, Any]:
    if "about" not in arrays:
        return {}
    try:
        found = json.loads(str(np.ravel(arrays["about"])[0]))
    except (ValueError, IndexError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(
            'its text "about" cannot be read', file=brief(file, 500), hint="leave it out, or save it again"
        )
    return found


def _channels(arrays: Mapping[str, NDArray[Any]], what: str, usual: str) -> tuple[Channel, ...]:
    points = [str(name) for name in np.ravel(arrays[f"{what}_points"])]
    k = len(points)

    def texts(name: str, otherwise: str) -> list[str]:
        found = [str(text) for text in np.ravel(arrays.get(f"{what}_{name}", np.full(k, otherwise)))]
        if len(found) != k:
            raise InputError(f"{len(found)} of {k} channels are described", part=f"{what}_{name}", hint="name each")
        return found

    directions, quantities, recorded = texts("directions", ""), texts("quantities", usual), texts("recorded_units", "")
    places = np.asarray(arrays.get(f"{what}_positions", np.full((k, 3), np.nan)), dtype=float)
    if places.shape != (k, 3):
        raise InputError(f"it is {places.shape}, not ({k}, 3)", part=f"{what}_positions", hint="a row a channel")
    positions = [tuple(place.tolist()) if np.isfinite(place).all() else None for place in places]
    return tuple(
        Channel(point, direction_of(direction), quantity, position, unit)
        for point, direction, quantity, position, unit in zip(
            points, directions, quantities, positions, recorded, strict=True
        )
    )
