"""Measurements of a machine at one posture: frequencies, shapes, antiresonances, deflections and responses."""

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

# Modes identified from responses (`modal_parameters`), or read from their file.


FREQUENCY_NOISE = 0.005  # of a frequency, by default
SHAPE_NOISE = 0.05  # of a shape of length one
_SHAPES = re.compile(rb"^\s+-1\s*\r?\n\s+55\b", re.M)  # where a set 55 begins
_KEYS = ("frequencies_hz", "frequency_deviations_hz", "shapes", "shape_deviations", "responses")


class MeasuredModes(NamedTuple):
    """Measured modes with their deviations.

    frequencies_hz (R,) ascending with deviations (R,); shapes (R, No), real, at channels, with deviations (R, No).
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
        """Return the noise (R,) of frequencies (relative) and unit shapes: deviations plus model errors."""
        size = np.linalg.norm(self.shapes, axis=1)
        stated = np.sqrt(np.nanmean(np.square(self.shape_deviations), axis=1)) / size
        # ω = |s| (1 - 2ζ²)^½ at most: the uncertainty of ζ adds to that of ω.
        of_pole = np.hypot(
            self.frequency_deviations_hz / self.frequencies_hz, 2.0 * self.damping * self.damping_deviations
        )
        return {
            "frequency_noise": np.hypot(np.nan_to_num(of_pole), frequency),
            "shape_noise": np.hypot(np.nan_to_num(stated), shape),
        }


def measured_modes(given: Any) -> MeasuredModes:
    """Return the measured modes of modal parameters; measured modes are returned unchanged."""
    if isinstance(given, MeasuredModes):
        return given
    if not isinstance(given, ModalParameters):
        raise InputError(
            f"must be modal parameters (got a {type(given).__name__})", part="modal", hint="give modal_parameters(test)"
        )
    if not len(given):
        raise InputError("the modal parameters have no mode", part="modal", hint="check the stabilisation diagram")
    return MeasuredModes(
        given.frequencies_hz, given.frequency_deviations_hz, given.real_shapes, given.shape_deviations,
        given.responses.responses, np.maximum(given.damping, 0.0), given.damping_deviations, given.structural,
    )  # fmt: skip


def load_modes(path: str | Path) -> MeasuredModes | None:
    """Return the modes in a .npz, .mat or .uff file; None if it has none.

    The files are those of `supple modal -o` or `ModalParameters.save`; data sets 55 of universal files from other
    programs are read, too.
    """
    if Path(path).suffix.lower() in UNIVERSAL:
        return _universal(path)
    data = _arrays(path)
    if data is None or "poles" not in data or any(key not in data for key in _KEYS):
        return None
    try:
        return _modes(data, path)
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise InputError(
            f"the modes cannot be read ({excerpt(error)})", file=excerpt(path, 500),
            hint="write it again: supple modal TEST -o modes.npz",
        ) from None  # fmt: skip


def _modes(data: dict[str, Any], path: str | Path) -> MeasuredModes:
    names = [str(name).strip() for name in np.atleast_1d(data["responses"])]
    places = np.asarray(data.get("response_positions", np.full((len(names), 3), np.nan)), float).reshape(-1, 3)
    shapes = np.atleast_2d(data["shapes"])
    hertz = np.ravel(np.asarray(data["frequencies_hz"], float))
    if shapes.shape != (len(hertz), len(names)) or not np.isfinite(hertz).all() or not np.isfinite(shapes).all():
        raise InputError(
            f"shapes must be finite, {len(hertz)} modes by {len(names)} channels (got {shapes.shape})",
            file=excerpt(path, 500), hint="write it again: supple modal TEST -o modes.npz",
        )  # fmt: skip
    channels = tuple(
        channel(name, position=(float(x[0]), float(x[1]), float(x[2])) if np.isfinite(x).all() else None)
        for name, x in zip(names, places, strict=True)
    )
    order = np.argsort(hertz, kind="stable")
    deviations = np.ravel(np.asarray(data["frequency_deviations_hz"], float))
    ratios, of_ratios = (_mode_values(data, name, len(hertz)) for name in ("damping", "damping_deviations"))
    kind = np.ravel(data.get("structural", -1))
    return MeasuredModes(
        hertz[order], deviations[order], np.ascontiguousarray(shapes.real[order]),
        np.atleast_2d(np.asarray(data["shape_deviations"], float))[order], channels, np.maximum(ratios[order], 0.0),
        of_ratios[order], {0: False, 1: True}.get(int(kind[0])) if kind.size else None,
    )  # fmt: skip


def _mode_values(data: dict[str, Any], name: str, count: int) -> Array:
    """Return values (R,) of modes; 0 if the file has none."""
    found = np.ravel(np.asarray(data.get(name, np.zeros(count)), float))
    return np.nan_to_num(found) if len(found) == count else np.zeros(count)


def _universal(path: str | Path) -> MeasuredModes | None:
    """Return the modes of data sets 55, which have no deviations: 0.5 % of frequencies and 5 % of shapes."""
    try:
        if not _SHAPES.search(Path(path).read_bytes()):
            return None
    except OSError:
        return None  # reading it as responses reports the error
    found = read_modes(path)
    if found is None:
        return None
    size = np.linalg.norm(found.shapes, axis=1, keepdims=True)
    return MeasuredModes(
        found.frequencies_hz, FREQUENCY_NOISE * found.frequencies_hz, np.ascontiguousarray(found.shapes.real),
        SHAPE_NOISE * size * np.ones(found.shapes.shape), found.channels, found.damping, np.zeros(len(found.damping)),
    )  # fmt: skip


def _arrays(path: str | Path) -> dict[str, Any] | None:
    """Return the arrays of a file, without executing any of its contents; None if it is not a file of arrays."""
    if Path(path).suffix.lower() == ".npz":
        try:
            return dict(read_archive(path, None, "iufcUb"))
        except (OSError, ValueError):
            return None  # reading it as responses reports the error
    if Path(path).suffix.lower() == ".mat":
        return dict(read_matlab(path, None))
    return None


# All measurements at one posture.


Pairing = Literal["order", "closest", "mac"]
MODAL_FREQUENCY_NOISE, MODAL_SHAPE_NOISE = 5e-4, 0.02  # model errors, in addition to stated deviations
DEFLECTION_NOISE = 0.01  # of the largest deflection of a load


@dataclass(frozen=True, eq=False)
class Measurement:
    """Measurements at one posture, with locked actuators.

    Parameters
    ----------
    at : str, mapping or array_like, optional
        Posture, as in `assemble`: name of a configuration, coordinates, or positions of places. Default: rest.
    frequencies_hz : sequence of float, shape (k,), optional
        Natural frequencies, Hz, ascending.
    shapes : array_like, shape (k, channels), optional
        Mode shapes, real or complex.
    channels : sequence of str or Channel, optional
        Channels of the shapes, such as "platform.x".
    frequency_noise : float or sequence of float, optional
        Standard deviation of the frequencies, relative; one or one for each. Default: 0.005.
    shape_noise : float or sequence of float, optional
        Standard deviation of shapes of length one; one or one for each. Default: 0.05.
    pairing : {"order", "closest", "mac"}, optional
        How frequencies are paired with those of the model. Default: "mac" with shapes, else "order".

        "order" pairs the first with the first; "closest" pairs the closest in ascending order; "mac" pairs by shape.
    antiresonances : mapping, optional
        Antiresonances {(output, input): frequencies, Hz}.
    force : mapping of str to float, optional
        Static force {"E.z": N, or N m about an axis}, applied after the gauges were set to zero.
    deflections : mapping of str to float, optional
        Displacements {"E.x": m} that the force causes at each gauge.
    deflection_noise : float, optional
        Standard deviation of the displacements, m. Default: 1 % of the largest.
    responses : Responses, optional
        Measured frequency responses.
    band : (float, float), optional
        Frequency band of the responses that is used, Hz. Default: all lines.
    name : str, optional
        Name in reports. Default: made from the posture.
    modal : ModalParameters or MeasuredModes, optional
        Identified modes in place of frequencies and shapes.

        Their deviations are the noise, with `frequency_noise` (5e-4) and `shape_noise` (0.02) added for model errors.
    damping : sequence of float, shape (k,), optional
        Damping ratios ζ = -Re s/|s|, if the frequencies are |s|/2π of damped poles. Default: they are undamped.
    structural : bool, optional
        True if this damping is structural, False if it is viscous. Default: as in the mechanism, if known.

    Raises
    ------
    InputError
        If nothing is given, or the values are inconsistent.

    Examples
    --------
    >>> import supple
    >>> supple.Measurement(at="home", frequencies_hz=[11.8, 14.2], frequency_noise=0.01).highest_hz
    14.2
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
            raise InputError(
                "frequencies must be finite and above 0 Hz", part=part, hint="give natural frequencies, Hz"
            )
        if (np.diff(hertz) < 0.0).any():
            raise InputError("frequencies must be ascending", part=part, hint="sort them together with the shapes")
        ratios = np.asarray(self.damping, float)
        if ratios.size and (ratios.shape != hertz.shape or not ((ratios >= 0.0) & (ratios < 0.5)).all()):
            raise InputError(
                f"damping must be {len(hertz)} ratios from 0 to 0.5, one for each frequency (got {ratios.size})",
                part=part, hint="give -Re s/|s| of each pole, or omit them",
            )  # fmt: skip
        if self.shapes is not None:
            shape = np.asarray(self.shapes).shape
            if shape != (len(hertz), len(self.channels)):
                raise InputError(
                    f"shapes must be {len(hertz)} frequencies by {len(self.channels)} channels (got {shape})",
                    part=part, hint="give one row for each frequency and one column for each channel",
                )  # fmt: skip
            if not np.isfinite(np.asarray(self.shapes)).all():
                raise InputError("shapes must be finite", part=part, hint="omit the channel")
        if self.pairing == "mac" and self.shapes is None:
            raise InputError('pairing "mac" needs shapes', part=part, hint='use pairing="order", or give shapes')
        if bool(self.force) != bool(self.deflections):
            what = "deflections" if self.force else "force"
            raise InputError(f"no {what} is given", part=part, hint="give both force and deflections")
        values = [*self.force.values(), *self.deflections.values()]
        if not np.isfinite(np.asarray(values, float)).all():
            raise InputError("forces and deflections must be finite", part=part, hint="omit the gauge")
        if not (hertz.size or self.deflections or self.antiresonances or self.responses is not None):
            raise InputError("the measurement is empty", part=part, hint="give frequencies, deflections or responses")
        for noise in (self.frequency_noise, self.shape_noise, self.deflection_noise):
            given = np.atleast_1d(np.asarray(noise, float)) if noise is not None else np.ones(1)
            if not (given > 0.0).all():
                raise InputError(
                    f"noise must be positive (got {given.min():g})", part=part, hint="give its standard deviation"
                )
            if len(given) not in (1, len(hertz)):
                raise InputError(
                    f"noise must be one value or {len(hertz)}, one for each frequency (got {len(given)})", part=part
                )

    def _take_modes(self) -> None:
        """Set frequencies, shapes and their noise from identified modes."""
        found = measured_modes(self.modal)
        if len(self.frequencies_hz) or self.shapes is not None or len(self.damping):
            raise InputError(
                "`modal` cannot be combined with frequencies, shapes or damping",
                part=f"measurement {self.label}".strip(), hint="give one of them",
            )  # fmt: skip
        values = found.as_noise(
            MODAL_FREQUENCY_NOISE if self.frequency_noise is None else self.frequency_noise,
            MODAL_SHAPE_NOISE if self.shape_noise is None else self.shape_noise,
        )
        structural = self.structural if self.structural is not None else found.structural
        fields = {
            "frequencies_hz": found.frequencies_hz, "shapes": found.shapes, "channels": found.channels,
            "damping": np.minimum(found.damping, 0.49), "structural": structural, **values,
        }  # fmt: skip
        for name, value in (fields | {"modal": None}).items():  # so that `replace` works on these fields later
            object.__setattr__(self, name, value)

    @property
    def frequency_sigma(self) -> Array:
        """Relative standard deviation of the frequencies (k,)."""
        noise = FREQUENCY_NOISE if self.frequency_noise is None else self.frequency_noise
        return np.broadcast_to(np.asarray(noise, float), (len(self.frequencies_hz),))

    @property
    def antiresonance_sigma(self) -> float:
        """Relative standard deviation of the antiresonances."""
        return FREQUENCY_NOISE if self.frequency_noise is None else float(np.mean(self.frequency_noise))

    @property
    def shape_sigma(self) -> Array:
        """Standard deviation of unit shapes (k,)."""
        noise = SHAPE_NOISE if self.shape_noise is None else self.shape_noise
        return np.broadcast_to(np.asarray(noise, float), (len(self.frequencies_hz),))

    @property
    def label(self) -> str:
        """Name, or a text of the posture."""
        if self.name or isinstance(self.at, str):
            return self.name or self.at
        given = self.at if isinstance(self.at, Mapping) else {}
        return ", ".join(
            f"{name}={value:.4g}" if isinstance(value, int | float) else name for name, value in given.items()
        )

    @property
    def active_pairing(self) -> Pairing:
        """Pairing in use: the given one, or the default."""
        return self.pairing or ("mac" if self.shapes is not None else "order")

    @property
    def highest_hz(self) -> float:
        """Highest frequency of the measurement, Hz."""
        lines = [*self.frequencies_hz, *(f for group in self.antiresonances.values() for f in group)]
        if self.responses is not None:
            lines.append(min(float(np.max(self.responses.frequencies_hz)), (self.band or (0.0, np.inf))[1]))
        return max(lines, default=0.0)

    @property
    def gauge_noise(self) -> float:
        """Standard deviation of a deflection, m."""
        largest = max((abs(value) for value in self.deflections.values()), default=0.0)
        return self.deflection_noise or DEFLECTION_NOISE * largest
