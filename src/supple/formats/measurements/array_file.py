"""Responses as named arrays, the way they are saved: .npz and .mat files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.description.elastic.array_archive import read_archive
from supple.diagnostics import InputError
from supple.diagnostics.quoting import brief
from supple.results.channel import Channel, direction_of
from supple.results.responses import Responses

_OF_CHANNELS = ("points", "directions", "quantities", "recorded_units", "positions")
_WANTED = (
    "frequencies_hz", "H", "coherence", "about",
    *(f"{what}_{name}" for what in ("response", "reference") for name in _OF_CHANNELS),
)  # fmt: skip
_NEEDED = ("frequencies_hz", "H", "response_points", "reference_points")


def read_npz(path: str | Path) -> Responses:
    """The responses in an .npz file; nothing in it can run, and no more memory is used than its arrays need."""
    try:
        return responses_from(read_archive(path, _WANTED, "iufcU"), str(path))
    except ValueError as error:
        raise InputError(str(error), file=brief(path, 500), hint="write it with the save of Responses") from None


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
        np.asarray(arrays["H"], dtype=complex),
        coherence=arrays.get("coherence"),
        averages=averages if isinstance(averages, int) else 0,
        window_rate=float(rate) if isinstance(rate, int | float) else 0.0,
        at={str(k): float(v) for k, v in at.items()} if isinstance(at, dict) else str(at),
        **{name: str(about.get(name, "")) for name in ("title", "date", "estimator")},
        notes=tuple(str(note) for note in notes) if isinstance(notes, list) else (),
    )


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
