"""Responses as named arrays, the way they are saved: .npz and .mat files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.description.elastic.array_archive import read_archive
from supple.diagnostics import InputError
from supple.diagnostics.quoting import brief, quoted
from supple.formats.measurements.matlab_file import read_matlab
from supple.formats.text_file import require_file
from supple.results.channel import Channel, direction_of
from supple.results.responses import Responses
from supple.results.time_records import TimeRecords

_OF_CHANNELS = ("points", "directions", "quantities", "recorded_units", "positions")
WANTED = (
    "frequencies_hz", "H", "sampling_hz", "x", "y", "full_scale", "coherence", "about",
    *(f"{what}_{name}" for what in ("response", "reference") for name in _OF_CHANNELS),
)  # fmt: skip
_MOST = 1e15  # of a number in the text `about`
_NEEDED = ("frequencies_hz", "H", "response_points", "reference_points")


def read_npz(path: str | Path) -> Responses:
    """The responses in an .npz file; nothing in it can run, and no more memory is used than its arrays need."""
    require_file(path)
    try:
        arrays = read_archive(path, WANTED, "iufcU")
    except ValueError as error:
        raise InputError(str(error), file=brief(path, 500), hint="write it with the save of Responses") from None
    return responses_from(arrays, str(path))


def read_mat(path: str | Path) -> dict[str, NDArray[Any]]:
    """The wanted arrays of a Matlab file (version 5)."""
    return {name: _flat_texts(values) for name, values in read_matlab(path, WANTED).items()}


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
    scale = arrays.get("full_scale")
    with _as_arrays(file):
        return TimeRecords(
            float(np.ravel(arrays["sampling_hz"])[0]), _channels(arrays, "reference", "force"),
            _channels(arrays, "response", "acceleration"), np.atleast_3d(np.asarray(arrays["x"], float)),
            np.atleast_3d(np.asarray(arrays["y"], float)), about.before,
            None if scale is None else np.ravel(scale), about.at, about.title, about.date, about.notes,
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
    with _as_arrays(file):
        return Responses(
            np.atleast_1d(np.asarray(arrays["frequencies_hz"], dtype=float)).reshape(-1),
            _channels(arrays, "response", "acceleration"),
            _channels(arrays, "reference", "force"),
            _cube(arrays["H"], complex),
            coherence=None if "coherence" not in arrays else _cube(arrays["coherence"], float),
            averages=about.averages,
            window_rate=about.window_rate,
            at=about.at,
            title=about.title,
            date=about.date,
            estimator=about.estimator,
            notes=about.notes,
        )


@contextmanager
def _as_arrays(file: str) -> Iterator[None]:
    """Arrays that are no numbers, or not as many as others, are told."""
    try:
        yield
    except InputError as error:
        raise (error if error.file else error.located(brief(file, 500), None)) from None
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise InputError(
            f"its arrays cannot be read ({brief(error)})", file=brief(file, 500),
            hint="save them again: numbers as numbers, names as texts",
        ) from None  # fmt: skip


def _cube(values: Any, kind: type) -> NDArray[Any]:
    """(lines, responses, references); Matlab drops the last of them where there is one reference."""
    found: NDArray[Any] = np.asarray(values, dtype=kind)
    return found if found.ndim > 2 else found.reshape(*found.shape, *[1] * (3 - found.ndim))


class _About(NamedTuple):
    """What the text `about` of a file says, as far as it does."""

    averages: int = 0
    window_rate: float = 0.0
    before: float = 0.0
    at: str | dict[str, float] = ""
    title: str = ""
    date: str = ""
    estimator: str = ""
    notes: tuple[str, ...] = ()


def _about(arrays: Mapping[str, NDArray[Any]], file: str) -> _About:
    if "about" not in arrays:
        return _About()
    try:
        found = json.loads(str(np.ravel(arrays["about"])[0]))
    except (ValueError, IndexError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(
            'its text "about" cannot be read', file=brief(file, 500), hint="leave it out, or save it again"
        )
    given = {name: value for name, value in found.items() if value is not None}
    at = given.get("at", "")
    notes = given.get("notes", ())
    title, date, estimator = (str(given.get(name, "")) for name in ("title", "date", "estimator"))
    return _About(
        int(_number(given, "averages", file)), _number(given, "window_rate", file), _number(given, "before", file),
        {str(name): _number(at, name, file, "at ") for name in at} if isinstance(at, dict) else str(at),
        title, date, estimator, tuple(str(note) for note in notes) if isinstance(notes, list) else (),
    )  # fmt: skip


def _number(given: Mapping[str, Any], name: str, file: str, what: str = "") -> float:
    """A number of the text `about`; 0 where it is left out. Of a posture it may be negative, otherwise not."""
    value = given.get(name, 0.0)
    plain = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST
    if not plain or not (what or value >= 0.0):
        raise InputError(
            f'its text "about" gives {brief(json.dumps(value))} for {what}{quoted(name)}', file=brief(file, 500),
            hint="give a number, or leave it out",
        )  # fmt: skip
    return float(value)


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
