"""Modes that were found in responses (`modal_parameters`), as updating takes them; also from their file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.elastic.array_archive import read_archive
from supple.diagnostics import InputError
from supple.diagnostics.quoting import excerpt
from supple.formats.measurements.matlab_file import read_matlab
from supple.formats.measurements.universal_modes import read_modes
from supple.identification.modal_parameters.modal_parameters import ModalParameters
from supple.results.channel import Channel, channel
from supple.results.responses import UNIVERSAL

FREQUENCY_NOISE = 0.005  # of a frequency, where nothing is said
SHAPE_NOISE = 0.05  # of a shape of length one
_SHAPES = re.compile(rb"^\s+-1\s*\r?\n\s+55\b", re.M)  # where a set 55 begins
_KEYS = ("frequencies_hz", "frequency_deviations_hz", "shapes", "shape_deviations", "responses")


class MeasuredModes(NamedTuple):
    """frequencies_hz (R,) rising with deviations (R,); shapes (R, No), real, at channels, with deviations (R, No).

    frequencies_hz is |s|/2π of damped poles with ratios damping (R,), whose deviations are damping_deviations (R,);
    structural as in `ModalParameters`.
    """

    frequencies_hz: Array
    frequency_deviations_hz: Array
    shapes: Array
    shape_deviations: Array
    channels: tuple[Channel, ...]
    damping: Array
    damping_deviations: Array
    structural: bool | None = None

    def as_noise(self, frequency: Any, shape: Any) -> dict[str, Array]:
        """Noise of frequencies (relative) and of shapes of length one, (R,): as stated, and what a model leaves."""
        size = np.linalg.norm(self.shapes, axis=1)
        stated = np.sqrt(np.nanmean(np.square(self.shape_deviations), axis=1)) / size
        # ω = |s| (1 - 2ζ²)^½ at most: what is not known of ζ is not known of ω.
        of_pole = np.hypot(
            self.frequency_deviations_hz / self.frequencies_hz, 2.0 * self.damping * self.damping_deviations
        )
        return {
            "frequency_noise": np.hypot(np.nan_to_num(of_pole), frequency),
            "shape_noise": np.hypot(np.nan_to_num(stated), shape),
        }


def measured_modes(given: Any) -> MeasuredModes:
    """Of modal parameters, or as they are."""
    if isinstance(given, MeasuredModes):
        return given
    if not isinstance(given, ModalParameters):
        raise InputError(
            f"{type(given).__name__} is no result of modal_parameters", part="modal", hint="give modal_parameters(test)"
        )
    if not len(given):
        raise InputError("no mode was found in the responses", part="modal", hint="look at its stabilisation diagram")
    return MeasuredModes(
        given.frequencies_hz, given.frequency_deviations_hz, given.real_shapes, given.shape_deviations,
        given.responses.responses, np.maximum(given.damping, 0.0), given.damping_deviations, given.structural,
    )  # fmt: skip


def load_modes(path: str | Path) -> MeasuredModes | None:
    """Modes from the .npz, .mat or .uff that `supple modal -o` or `ModalParameters.save` wrote, or from sets 55 that
    others did; None if it holds none."""
    if Path(path).suffix.lower() in UNIVERSAL:
        return _universal(path)
    data = _arrays(path)
    if data is None or "poles" not in data or any(key not in data for key in _KEYS):
        return None
    try:
        return _modes(data, path)
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise InputError(
            f"its modes cannot be read ({excerpt(error)})", file=excerpt(path, 500),
            hint="write it again: supple modal TEST -o modes.npz",
        ) from None  # fmt: skip


def _modes(data: dict[str, Any], path: str | Path) -> MeasuredModes:
    names = [str(name).strip() for name in np.atleast_1d(data["responses"])]
    places = np.asarray(data.get("response_positions", np.full((len(names), 3), np.nan)), float).reshape(-1, 3)
    shapes = np.atleast_2d(data["shapes"])
    hertz = np.ravel(np.asarray(data["frequencies_hz"], float))
    if shapes.shape != (len(hertz), len(names)) or not np.isfinite(hertz).all() or not np.isfinite(shapes).all():
        raise InputError(
            f"its shapes are {shapes.shape}, not {len(hertz)} modes by {len(names)} channels, or no numbers",
            file=excerpt(path, 500), hint="write it again: supple modal TEST -o modes.npz",
        )  # fmt: skip
    channels = tuple(
        channel(name, position=(float(x[0]), float(x[1]), float(x[2])) if np.isfinite(x).all() else None)
        for name, x in zip(names, places, strict=True)
    )
    order = np.argsort(hertz, kind="stable")
    deviations = np.ravel(np.asarray(data["frequency_deviations_hz"], float))
    ratios, of_ratios = (_of_modes(data, name, len(hertz)) for name in ("damping", "damping_deviations"))
    said = np.ravel(data.get("structural", -1))
    return MeasuredModes(
        hertz[order], deviations[order], np.ascontiguousarray(shapes.real[order]),
        np.atleast_2d(np.asarray(data["shape_deviations"], float))[order], channels, np.maximum(ratios[order], 0.0),
        of_ratios[order], {0: False, 1: True}.get(int(said[0])) if said.size else None,
    )  # fmt: skip


def _of_modes(data: dict[str, Any], name: str, count: int) -> Array:
    """(R,) numbers of modes; 0 where the file has none."""
    found = np.ravel(np.asarray(data.get(name, np.zeros(count)), float))
    return np.nan_to_num(found) if len(found) == count else np.zeros(count)


def _universal(path: str | Path) -> MeasuredModes | None:
    """Sets 55 state no deviations: 0.5 % of frequencies and 5 % of shapes."""
    try:
        if not _SHAPES.search(Path(path).read_bytes()):
            return None
    except OSError:
        return None  # whoever reads it as responses says what is wrong
    found = read_modes(path)
    if found is None:
        return None
    size = np.linalg.norm(found.shapes, axis=1, keepdims=True)
    return MeasuredModes(
        found.frequencies_hz, FREQUENCY_NOISE * found.frequencies_hz, np.ascontiguousarray(found.shapes.real),
        SHAPE_NOISE * size * np.ones(found.shapes.shape), found.channels, found.damping, np.zeros(len(found.damping)),
    )  # fmt: skip


def _arrays(path: str | Path) -> dict[str, Any] | None:
    """What a file of arrays holds, without running anything of it; None where it is none."""
    if Path(path).suffix.lower() == ".npz":
        try:
            return dict(read_archive(path, None, "iufcUb"))
        except (OSError, ValueError):
            return None  # whoever reads it as responses says what is wrong
    if Path(path).suffix.lower() == ".mat":
        return dict(read_matlab(path, None))
    return None
