"""Modes of a measured test in the form of the page: shapes at the measured points."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from supple.array_types import Array, Complex
from supple.description.elastic.array_archive import read_archive
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.measurements.load_responses import load_responses
from supple.formats.measurements.universal_modes import read_modes
from supple.formats.mechanism_file import loads
from supple.formats.mechanism_text import as_text
from supple.identification.modal_parameters.estimation import modal_parameters
from supple.identification.modal_parameters.modal_parameters import ModalParameters
from supple.identification.modal_parameters.pairing import pair_modes
from supple.identification.testing.matching import match_channels
from supple.identification.testing.model_responses import place_position
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.modal_analysis.modes import modes
from supple.modal_analysis.ports import beam_point, place_of_point
from supple.results.channel import Channel, channel
from supple.results.responses import UNIVERSAL, Responses
from supple.results.text import fresh
from supple.view.page.encoding import PRELOAD, page_array

_KEYS = ("responses", "response_positions", "frequencies_hz", "damping", "shapes")


@dataclass(frozen=True, eq=False)
class PageModes:
    """Modes of a test: frequencies and damping ratios (R,), shapes (R, channels) along the directions of the channels.

    at : posture of the test; "" if unknown
    """

    name: str
    frequencies_hz: Array
    damping: Array
    channels: tuple[Channel, ...]
    shapes: Complex
    at: Any = ""
    found: ModalParameters | None = None


def page_modes(found: ModalParameters, name: str = "test") -> PageModes:
    """Return modes that have just been identified."""
    test = found.responses
    return PageModes(name, found.frequencies_hz, found.damping, test.responses, found.shapes, test.at, found)


def read_measured(path: str | Path) -> PageModes:
    """Return modes from a file of `supple modal -o` (.json, .npz, .uff), or identified from responses.

    Responses are read from .uff, .npz, .mat and .csv.
    """
    target = Path(path)
    if target.suffix.lower() in UNIVERSAL:
        modes_found = read_modes(target)
        if modes_found is not None:
            hertz, damping, shapes, channels = modes_found
            return PageModes(target.name, hertz, damping, channels, shapes)
    saved = _read_saved(target)
    if saved is None:
        return page_modes(modal_parameters(load_responses(target)), target.name)
    try:
        channels = _channels(saved)
        frequencies, damping = (np.array(saved[name], dtype=float) for name in ("frequencies_hz", "damping"))
        shapes = saved["shapes"]
        if isinstance(shapes, dict):
            shapes = np.array(shapes["real"], dtype=float) + 1j * np.array(shapes["imag"], dtype=float)
        shapes = np.asarray(shapes, dtype=complex)
        if shapes.shape != (len(frequencies), len(channels)) or damping.shape != frequencies.shape:
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise InputError(
            "its modes cannot be read", file=str(path), hint="give a file of `supple modal -o`, or responses"
        ) from None
    return PageModes(target.name, frequencies, damping, channels, shapes)


def _channels(saved: Any) -> tuple[Channel, ...]:
    names = [str(name) for name in saved["responses"]]
    places = np.asarray(saved.get("response_positions", np.full((len(names), 3), np.nan)), float).reshape(-1, 3)
    return tuple(
        channel(name, "displacement", (float(x[0]), float(x[1]), float(x[2])) if np.isfinite(x).all() else None)
        for name, x in zip(names, places, strict=True)
    )


def _read_saved(path: Path) -> Any:
    """Return what `supple modal` saved; None for other files."""
    try:
        if path.suffix.lower() == ".json":
            found = json.loads(path.read_text(encoding="utf-8"))
            return found if isinstance(found, dict) else {}
        if path.suffix.lower() == ".npz":
            arrays = read_archive(path, (*_KEYS, "poles"), "iufcUb")
            if "shapes" in arrays and "poles" in arrays:
                return {name: arrays[name] for name in _KEYS if name in arrays}
    except (OSError, ValueError, KeyError, RecursionError, zipfile.BadZipFile) as error:
        raise InputError(
            f"cannot be read ({getattr(error, 'strerror', None) or error})", file=str(path),
            hint="give a file of `supple modal -o`, or responses",
        ) from None  # fmt: skip
    return None


def measured_section(
    test: PageModes, mechanism: Mechanism, at: At = None, *, preload: bool = PRELOAD
) -> dict[str, Any]:
    """Return the data of a test on this mechanism: points on its bodies, and their motion in each mode.

    preload : True if the model's modes shown with them include the geometric stiffness of loads at rest
    """
    places = assemble(mechanism, at if at is not None else (test.at or None))
    channels = _on_places(test, mechanism, places)
    points = list(dict.fromkeys(one.point for one in channels if one.vector is not None and not one.turns))
    if not points:
        raise InputError(
            "no channel has a direction", part=f"test {test.name}", hint="a mode shape needs displacements"
        )
    shapes = np.stack([_find_motion(point, channels, test.shapes) for point in points], axis=1)
    return {
        "name": test.name,
        "frequencies_hz": test.frequencies_hz.tolist(),
        "damping": test.damping.tolist(),
        "coordinates": {name: float(value) for name, value in places.coordinates.items()},
        "points": [_point(places, point) for point in points],
        "real": page_array(shapes.real, "f4"),
        "imag": page_array(shapes.imag, "f4"),
        **_pair_frequencies(test, mechanism, places, channels, preload),
    }


def _on_places(test: PageModes, mechanism: Mechanism, places: Configuration) -> Sequence[Channel]:
    """Return channels named by places of the mechanism."""
    responses = test.found.responses if test.found is not None else _as_responses(test)
    return match_channels(responses, mechanism, places).responses.responses


def _as_responses(test: PageModes) -> Responses:
    """Return the channels as responses to a force at the first of them, for the matching of points."""
    pushed = test.channels[0].copy_with(quantity="force")
    return Responses(np.ones(1), test.channels, (pushed,), np.zeros((1, len(test.channels), 1), dtype=complex))


def _find_motion(point: str, channels: Sequence[Channel], shapes: Complex) -> Complex:
    """Return the motion (R, 3) of a point: that of least norm that agrees with its channels."""
    own = [i for i, one in enumerate(channels) if one.point == point and one.vector is not None and not one.turns]
    directions = np.array([channels[i].vector for i in own])
    return np.asarray(shapes[:, own] @ np.linalg.pinv(directions).T)


def _point(places: Configuration, name: str) -> dict[str, Any]:
    """Return position and body of a point."""
    numbering, P = places.rest.numbering, places.mechanism.plane_axes()
    position = np.array(place_position(places, name))
    along = beam_point(numbering, name)
    body = along[0] if along is not None else numbering.place(place_of_point(places.mechanism, name))[0]
    pose = places.X[body]
    local = pose[3:].reshape(3, 3).T @ (position @ P - pose[:3])
    return {"name": name, "body": body, "place": position.tolist(), "local": local.tolist()}


def _pair_frequencies(
    test: PageModes, mechanism: Mechanism, places: Configuration, channels: Sequence[Channel], preload: bool
) -> Any:
    """Return frequencies of the model's modes that match those of the test, and their MAC."""
    count = len(test.frequencies_hz)
    hertz: list[float | None] = [None] * count
    alike: list[float | None] = [None] * count
    if test.found is not None and mechanism.elastic and count:
        named = replace(test.found, responses=test.found.responses.copy_with(responses=tuple(channels)))
        for pair in pair_modes(named, modes(mechanism, places, count=2 * count + 4, preload=preload)).pairs:
            for i, f in zip(pair.measured, pair.model_hz, strict=False):
                hertz[i], alike[i] = float(f), pair.mac
    return {"model_hz": hertz, "mac": alike}


# A test without a mechanism: its points only, if the file gives their positions.


_STRUCTURE, _TURN = "structure", "turn"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def points_alone(test: PageModes) -> tuple[Mechanism, PageModes]:
    """Return a body with a frame at every point, rotating about the vertical, and the test with names of these frames.

    A mechanism needs a coordinate; this rotation only changes the direction of view.
    """
    places: dict[str, tuple[float, float, float]] = {}
    names: dict[str, str] = {}
    for one in test.channels:
        if one.position is None:
            raise InputError(
                f'the position of point "{one.point}" is unknown, so the test needs its mechanism',
                file=test.name, hint=f"give the mechanism first: supple view FILE {test.name}",
            )  # fmt: skip
        if one.point not in names:
            plain = one.point if _NAME.fullmatch(one.point) else "p" + re.sub("[^A-Za-z0-9_-]", "_", one.point)[:60]
            names[one.point] = fresh(plain, {*places, _STRUCTURE, _TURN, "ground"})
            places[names[one.point]] = one.position
    middle = np.mean(list(places.values()), axis=0).tolist()
    data = {
        "name": test.name or "test",
        "description": "Points of a test; the structure between them is unknown.",
        "bodies": {_STRUCTURE: {"mass": 1.0, "center": [0, 0, 0], "inertia": [1, 1, 1]}},
        "frames": {name: {"on": _STRUCTURE, "at": list(place)} for name, place in places.items()},
        "joints": {_TURN: {"revolute": ["ground", _STRUCTURE], "at": middle, "axis": "z"}},
        "actuators": {_TURN: {"joint": _TURN, "limits": [-3.2, 3.2]}},
    }
    channels = tuple(one.copy_with(point=names[one.point]) for one in test.channels)
    return loads(as_text(data)), replace(test, channels=channels, at="", found=None)
