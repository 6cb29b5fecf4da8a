"""What was measured of a machine at one posture: frequencies, shapes, antiresonances, deflections, responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.identification.updating.measured_modes import FREQUENCY_NOISE, SHAPE_NOISE, measured_modes
from supple.results.channel import Channel

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
