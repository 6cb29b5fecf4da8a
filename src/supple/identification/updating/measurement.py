"""Measurements of a machine at one posture: frequencies, shapes, antiresonances, deflections, responses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.elastic.array_archive import read_archive
from supple.diagnostics import InputError
from supple.diagnostics.errors import excerpt
from supple.formats.measurements.matlab_file import read_matlab
from supple.formats.measurements.universal_modes import read_modes
from supple.identification.modal_parameters.modal_parameters import ModalParameters
from supple.results.channel import Channel, channel
from supple.results.responses import UNIVERSAL

# Modes that were found in responses (`modal_parameters`), as updating takes them; also from their file.


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


# Everything that was measured at one posture.


Pairing = Literal["order", "closest", "mac"]
MODAL_FREQUENCY_NOISE, MODAL_SHAPE_NOISE = 5e-4, 0.02  # what a model leaves beside deviations that are stated
DEFLECTION_NOISE = 0.01  # of the largest deflection of a load


@dataclass(frozen=True, eq=False)
class Measurement:
    """One posture, brakes on.

    at             : anything `assemble` takes: a configuration's name, coordinates, where a place is
    frequencies_hz : (k,) natural frequencies, rising; frequency_noise: 1σ, relative, one or of each
    shapes         : (k, channels) at `channels`, `platform.x`, ...; real or complex; shape_noise: 1σ of a shape of
                     length one, one or of each
    modal          : `ModalParameters` (or `MeasuredModes`) in place of both: the deviations that they state are the
                     noise, with frequency_noise (5e-4) and shape_noise (0.02) beside them for what a model leaves
    damping        : (k,) ratios ζ = -Re s/|s| where frequencies_hz are |s|/2π of damped poles, as modal tests give
                     them; left out, they are undamped natural frequencies
    structural     : whether that damping is structural (True) or viscous (False); None: as the mechanism says, or not
                     known
    pairing        : with the model's distinct frequencies: `order` (first with first), `closest` in rising order,
                     or `mac` by shapes; by shapes if there are any, else by order
    antiresonances : {(output, input): frequencies, Hz}
    force          : {`E.z`: N, or N m about an axis}, put on after the gauges were set to zero
    deflections    : {`E.x`: m} that it causes along each gauge; noise: 1σ, m
    responses      : `Responses`, measured frequency responses; band : Hz, of lines that count
    """

    at: Any = None
    frequencies_hz: Sequence[float] = ()
    shapes: Any = None
    channels: Sequence[str | Channel] = ()
    frequency_noise: float | Sequence[float] | None = None
    shape_noise: float | Sequence[float] | None = None
    pairing: Pairing | None = None
    antiresonances: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)
    force: Mapping[str, float] = field(default_factory=dict)
    deflections: Mapping[str, float] = field(default_factory=dict)
    deflection_noise: float | None = None
    responses: Any = None
    band: tuple[float, float] | None = None
    name: str = ""
    modal: Any = None
    damping: Sequence[float] = ()
    structural: bool | None = None

    def __post_init__(self) -> None:
        if self.modal is not None:
            self._take_modes()
        hertz = np.asarray(self.frequencies_hz, float)
        part = f"measurement {self.label}".strip()
        if hertz.ndim != 1 or not np.isfinite(hertz).all() or (hertz <= 0.0).any():
            raise InputError("its frequencies are not all above 0 Hz", part=part, hint="give natural frequencies in Hz")
        if (np.diff(hertz) < 0.0).any():
            raise InputError("its frequencies do not rise", part=part, hint="sort them, shapes with them")
        ratios = np.asarray(self.damping, float)
        if ratios.size and (ratios.shape != hertz.shape or not ((ratios >= 0.0) & (ratios < 0.5)).all()):
            raise InputError(
                f"its {ratios.size} damping ratios are not one of each frequency, from 0 to 0.5", part=part,
                hint="give -Re s/|s| of each pole, or leave them out",
            )  # fmt: skip
        if self.shapes is not None:
            shape = np.asarray(self.shapes).shape
            if shape != (len(hertz), len(self.channels)):
                raise InputError(
                    f"its shapes are {shape}, not {len(hertz)} frequencies by {len(self.channels)} channels", part=part,
                    hint="give one row a frequency, one column a channel",
                )  # fmt: skip
            if not np.isfinite(np.asarray(self.shapes)).all():
                raise InputError("a shape has entries that are no numbers", part=part, hint="leave the channel out")
        if self.pairing == "mac" and self.shapes is None:
            raise InputError("it has no shapes to be paired by", part=part, hint="pair by order, or give shapes")
        if bool(self.force) != bool(self.deflections):
            what = "deflections" if self.force else "force"
            raise InputError(f"it has no {what}", part=part, hint="a gauge shows what a force does: give both")
        values = [*self.force.values(), *self.deflections.values()]
        if not np.isfinite(np.asarray(values, float)).all():
            raise InputError("a force or deflection is no number", part=part, hint="leave the gauge out")
        if not (hertz.size or self.deflections or self.antiresonances or self.responses is not None):
            raise InputError("nothing was measured", part=part, hint="give frequencies, deflections or responses")
        for noise in (self.frequency_noise, self.shape_noise, self.deflection_noise):
            given = np.atleast_1d(np.asarray(noise, float)) if noise is not None else np.ones(1)
            if not (given > 0.0).all():
                raise InputError(
                    f"a noise of {given.min():g} is not above 0", part=part, hint="give its standard deviation"
                )
            if len(given) not in (1, len(hertz)):
                raise InputError(
                    f"{len(given)} noises of {len(hertz)} frequencies", part=part, hint="give one, or one of each"
                )

    def _take_modes(self) -> None:
        """Frequencies, shapes and their noise from the modes that were found."""
        found = measured_modes(self.modal)
        if len(self.frequencies_hz) or self.shapes is not None or len(self.damping):
            raise InputError(
                "it has modes, and frequencies or shapes beside them", part=f"measurement {self.label}".strip(),
                hint="give one of them",
            )  # fmt: skip
        values = found.as_noise(
            MODAL_FREQUENCY_NOISE if self.frequency_noise is None else self.frequency_noise,
            MODAL_SHAPE_NOISE if self.shape_noise is None else self.shape_noise,
        )
        told = self.structural if self.structural is not None else found.structural
        fields = {
            "frequencies_hz": found.frequencies_hz, "shapes": found.shapes, "channels": found.channels,
            "damping": np.minimum(found.damping, 0.49), "structural": told, **values,
        }  # fmt: skip
        for name, value in (fields | {"modal": None}).items():  # what is replaced later is taken as it then stands
            object.__setattr__(self, name, value)

    @property
    def frequency_sigma(self) -> Array:
        """(k,) relative, 1σ."""
        noise = FREQUENCY_NOISE if self.frequency_noise is None else self.frequency_noise
        return np.broadcast_to(np.asarray(noise, float), (len(self.frequencies_hz),))

    @property
    def antiresonance_sigma(self) -> float:
        """Relative, 1σ."""
        return FREQUENCY_NOISE if self.frequency_noise is None else float(np.mean(self.frequency_noise))

    @property
    def shape_sigma(self) -> Array:
        """(k,) of shapes of length one, 1σ."""
        noise = SHAPE_NOISE if self.shape_noise is None else self.shape_noise
        return np.broadcast_to(np.asarray(noise, float), (len(self.frequencies_hz),))

    @property
    def label(self) -> str:
        if self.name or isinstance(self.at, str):
            return self.name or self.at
        given = self.at if isinstance(self.at, Mapping) else {}
        return ", ".join(
            f"{name}={value:.4g}" if isinstance(value, int | float) else name for name, value in given.items()
        )

    @property
    def paired_by(self) -> Pairing:
        return self.pairing or ("mac" if self.shapes is not None else "order")

    @property
    def highest_hz(self) -> float:
        """What the model has to reach up to."""
        lines = [*self.frequencies_hz, *(f for group in self.antiresonances.values() for f in group)]
        if self.responses is not None:
            lines.append(min(float(np.max(self.responses.frequencies_hz)), (self.band or (0.0, np.inf))[1]))
        return max(lines, default=0.0)

    @property
    def gauge_noise(self) -> float:
        """1σ of a deflection, m."""
        largest = max((abs(value) for value in self.deflections.values()), default=0.0)
        return self.deflection_noise or DEFLECTION_NOISE * largest
