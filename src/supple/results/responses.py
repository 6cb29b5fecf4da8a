"""Responses that were measured, or as if: ratios of response channels to reference channels, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, nearest, require_known
from supple.diagnostics.arguments import real_numbers, require_arguments, value_text
from supple.results.channel import MOTIONS, Channel, direction_text
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import fresh, listed

UNIVERSAL = (".uff", ".unv", ".uf", ".bunv")
"""Endings of universal files."""
_FAMILY = {"displacement": "receptance", "velocity": "mobility", "acceleration": "accelerance"}


@dataclass(frozen=True, eq=False, repr=False)
class Responses(Result):
    """H[line, response, reference] of a test in SI units: `test["tip.z", "platform.-z"]` is (lines,).

    frequencies_hz : (n,), rising
    H              : (n, responses, references), complex; phases as of exp(+iωt)
    coherence      : (n, responses, references), the share of each response that all references (with one: this one)
                     explain, 0 to 1, or None
    averages       : how many records the estimate is the mean of; 0 where it is not known
    window_rate    : σ, 1/s, of the exponential window exp(-σt) that records were multiplied by; it adds σ to the decay
                     of every mode, ζ_true = ζ_found - σ/ω                                        [measurements, eq. 9]
    at             : the posture, a name of the mechanism's configurations or its coordinates by name
    notes          : what was assumed, left out or looks wrong, a sentence each
    """

    frequencies_hz: Array
    responses: tuple[Channel, ...]
    references: tuple[Channel, ...]
    H: Complex
    coherence: Array | None = None
    averages: int = 0
    window_rate: float = 0.0
    at: str | Mapping[str, float] = ""
    title: str = ""
    date: str = ""
    estimator: str = ""
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        kept = object.__setattr__
        kept(self, "frequencies_hz", frozen_copy(self.frequencies_hz, np.float64))
        kept(self, "H", frozen_copy(self.H, np.complex128))
        kept(self, "responses", tuple(self.responses))
        kept(self, "references", tuple(self.references))
        kept(self, "notes", tuple(self.notes))
        if not isinstance(self.at, str):
            kept(self, "at", {name: float(value) for name, value in self.at.items()})
        require_names(self.responses, "responses")
        require_names(self.references, "references")
        expected = (len(self.frequencies_hz), len(self.responses), len(self.references))
        if self.H.shape != expected:
            raise InputError(f"it is {self.H.shape}, not (lines, responses, references) = {expected}", part="H")
        if not (np.diff(self.frequencies_hz) > 0.0).all() or (self.frequencies_hz < 0.0).any():
            raise InputError("they do not rise from 0 on", part="frequencies_hz", hint="sort the lines, each once")
        if self.coherence is not None:
            kept(self, "coherence", frozen_copy(self.coherence, np.float64))
            if np.shape(self.coherence) != expected:
                raise InputError(f"it is {np.shape(self.coherence)}, not {expected}", part="coherence")

    def __getitem__(self, pair: tuple[str, str]) -> Complex:
        """One response to one reference, by name: (lines,)."""
        i, j = self.response(pair[0]), self.reference(pair[1])
        return self.H[:, i, j]

    def response(self, name: str) -> int:
        """The number of a response channel."""
        require_arguments(Responses.response, locals())
        return _number(name, self.responses, "response")

    def reference(self, name: str) -> int:
        """The number of a reference channel."""
        require_arguments(Responses.reference, locals())
        return _number(name, self.references, "reference")

    def unit(self, i: int, j: int) -> str:
        """Of H[:, i, j]."""
        top, bottom = self.responses[i].unit, self.references[j].unit
        top, bottom = (f"({unit})" if any(mark in unit for mark in "/ ") else unit for unit in (top, bottom))
        return f"{top}/{bottom}" if top and bottom else top

    @property
    def kind(self) -> str:
        """receptance, mobility or accelerance, if all channels are motions of one kind to forces; else responses."""
        found = {one.quantity for one in self.responses}
        forced = {one.quantity for one in self.references} == {"force"}
        return _FAMILY.get(next(iter(found)), "responses") if forced and len(found) == 1 else "responses"

    # ------------------------------------------------------------------------------------------ others made of it

    def changed(self, **changes: Any) -> Responses:
        """The same but for what is given, as in `test.changed(at="first")`."""
        return replace(self, **changes)

    def select(
        self,
        responses: str | Sequence[str] | None = None,
        references: str | Sequence[str] | None = None,
        *,
        band_hz: tuple[float, float] | None = None,
        lines: ArrayLike | None = None,
    ) -> Responses:
        """Some of the channels by name, and lines of a band (ends included) or by number; what is not asked stays."""
        require_arguments(Responses.select, locals())
        i = _numbers(responses, self.responses, "response")
        j = _numbers(references, self.references, "reference")
        n = np.arange(len(self.frequencies_hz))
        if lines is not None:
            n = n[_places(lines, len(n))]
        if band_hz is not None:
            require_band(band_hz)
            n = n[(self.frequencies_hz[n] >= band_hz[0]) & (self.frequencies_hz[n] <= band_hz[1])]
            if not len(n):
                raise InputError(
                    f"no line lies between {band_hz[0]:g} and {band_hz[1]:g} Hz", part="band_hz",
                    hint=f"they go {self._span()}",
                )  # fmt: skip
        return replace(
            self,
            frequencies_hz=self.frequencies_hz[n],
            H=self.H[n][:, i][:, :, j],
            coherence=None if self.coherence is None else self.coherence[n][:, i][:, :, j],
            responses=tuple(self.responses[k] for k in i),
            references=tuple(self.references[k] for k in j),
        )

    def to(self, quantity: str) -> Responses:
        """All motions as displacement, velocity or acceleration, by (σ + iω)^k; strains and others stay as they are.

        σ is the `window_rate`: what an exponential window leaves is H(σ + iω) exactly, and so is its factor. A line at
        0 Hz that would be divided by zero is left out, and `notes` says so.
        """
        require_arguments(Responses.to, locals())
        if quantity not in MOTIONS:
            raise InputError(f'"{quantity}" is not a motion', part="quantity", hint=nearest(quantity, MOTIONS))
        moving = [one.quantity in MOTIONS for one in self.responses]
        steps = [
            MOTIONS.index(quantity) - MOTIONS.index(one.quantity) if moves else 0
            for one, moves in zip(self.responses, moving, strict=True)
        ]
        found, notes = self, self.notes
        if min(steps, default=0) < 0 and not self.window_rate and (self.frequencies_hz == 0.0).any():
            found = self.select(lines=np.arange(1, len(self.frequencies_hz)))
            notes = (*notes, f"the line at 0 Hz is left out: it says nothing of {quantity}")
        s = self.window_rate + 2j * np.pi * found.frequencies_hz
        factors = np.stack([s**k for k in steps], axis=1) if steps else np.ones((len(s), 0))
        channels = tuple(
            one.replaced(quantity=quantity, recorded="" if k else one.recorded) if moves else one
            for one, moves, k in zip(found.responses, moving, steps, strict=True)
        )
        return replace(found, H=found.H * factors[:, :, None], responses=channels, notes=notes)

    def to_receptance(self) -> Responses:
        """Displacements per reference."""
        return self.to("displacement")

    def to_mobility(self) -> Responses:
        """Velocities per reference."""
        return self.to("velocity")

    def to_accelerance(self) -> Responses:
        """Accelerations per reference."""
        return self.to("acceleration")

    def reversed(self, *responses: str, references: str | Sequence[str] = ()) -> Responses:
        """Channels that were mounted the other way: their numbers change sign, `platform.z` stays `platform.z`."""
        signs = np.ones(self.H.shape[1:])
        signs[_numbers(responses, self.responses, "response")] *= -1.0
        signs[:, _numbers(references, self.references, "reference")] *= -1.0
        return replace(self, H=self.H * signs)

    def deviations(self) -> Array | None:
        """Standard deviation of |H| of a mean of n records, from the coherence γ²: (n, responses, references).

        σ(|H|) = √(S (1 - γ²) / (2 n γ²)), S as in `explained_power`          [Bendat and Piersol; measurements, eq. 6]
        None where the coherence or the number of averages is not known, or there is but one record.
        """
        if self.coherence is None or self.averages < 2:
            return None
        share = np.clip(self.coherence, 1e-12, 1.0)
        S = explained_power(self.H, self.coherence)
        return np.asarray(np.sqrt(S * (1.0 - share) / (2.0 * self.averages * share)))

    # ------------------------------------------------------------------------------------------ told, kept, drawn

    def _span(self) -> str:
        lines = self.frequencies_hz
        return f"from {lines[0]:.6g} to {lines[-1]:.6g} Hz" if len(lines) else "nowhere"

    def summary(self) -> str:
        of = f' "{self.title}"' if self.title else ""
        at = self.at if isinstance(self.at, str) else ", ".join(f"{name} {x:.4g}" for name, x in self.at.items())
        posture = f" at {at}" if at else ""
        told = f"{self.kind}{of} of {listed(one.name for one in self.responses)} to "
        told += (
            f"{listed(one.name for one in self.references)}{posture}, {len(self.frequencies_hz)} lines {self._span()}"
        )
        return told + (f", {len(self.notes)} notes" if self.notes else "")

    def table(self) -> Table:
        """Frequencies, and for each pair a complex column `response/reference [unit]` and its coherence."""
        columns: dict[str, Any] = {"frequency_hz": self.frequencies_hz}
        units = {"frequency_hz": "Hz"}
        for i, response in enumerate(self.responses):
            for j, reference in enumerate(self.references):
                unit = self.unit(i, j)
                column = fresh(f"{response.name}/{reference.name} [{unit}]", columns)
                columns[column], units[column] = self.H[:, i, j], unit
                if self.coherence is not None:
                    column = fresh(f"coherence {response.name}/{reference.name}", columns)
                    columns[column], units[column] = self.coherence[:, i, j], "1"
        return Table(columns, units, index="frequency_hz")

    def arrays(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {"frequencies_hz": self.frequencies_hz, "H": self.H}
        if self.coherence is not None:
            found["coherence"] = self.coherence
        found |= channel_arrays("response", self.responses) | channel_arrays("reference", self.references)
        about = {
            "averages": self.averages, "window_rate": self.window_rate, "at": self.at, "title": self.title,
            "date": self.date, "estimator": self.estimator, "notes": list(self.notes),
        }  # fmt: skip
        return {**found, "about": np.array([json.dumps(about)], dtype=str)}

    def save(self, path: str | Path, *, binary: bool = False) -> Path:
        """Write it as .npz, .mat, .csv (its table) or .uff, which `load_responses` reads; SI units throughout.

        binary : numbers of a .uff file as they are (58b), not as text of twelve digits
        """
        return save_universal(self, path, binary) or super().save(path)

    def plot(self, *pairs: tuple[str, str], axes: Any = None) -> Any:
        """Draw some pairs (the first few if none is named): magnitude, phase, coherence. Returns the panels.

        axes : where to draw magnitudes and phases instead, two of them
        """
        return picture("identification.testing.plot.responses_plot")(self, pairs, axes)


def save_universal(result: Any, path: str | Path, binary: bool) -> Path | None:
    """Write a universal file where the path's ending asks for one; None if it does not.

    What writes them is above results, and known by name alone, as pictures are.
    """
    if Path(path).suffix.lower() not in UNIVERSAL:
        return None
    write = import_module("supple.formats.measurements.universal_file").save_universal_file
    return Path(write(path, result, binary=binary))


def channel_arrays(what: str, channels: Iterable[Channel]) -> dict[str, NDArray[Any]]:
    """Points, directions, quantities, units and positions (k, 3; NaN where not known) of channels, by name."""
    listed_ = list(channels)
    texts = {
        "points": [one.point for one in listed_], "directions": [direction_text(one.direction) for one in listed_],
        "quantities": [one.quantity for one in listed_], "units": [one.unit for one in listed_],
        "recorded_units": [one.recorded for one in listed_],
    }  # fmt: skip
    places = [(np.nan,) * 3 if one.position is None else one.position for one in listed_]
    found: dict[str, NDArray[Any]] = {f"{what}_{name}": np.array(values, dtype=str) for name, values in texts.items()}
    return {**found, f"{what}_positions": np.array(places, dtype=float).reshape(-1, 3)}


def frozen_copy(values: Any, kind: Any) -> Any:
    """A copy that nobody can write to."""
    found = np.array(values, dtype=kind, order="C")
    found.flags.writeable = False
    return found


def _number(name: str, channels: Sequence[Channel], what: str) -> int:
    names = [one.name for one in channels]
    require_known(what, name, names)
    return names.index(name)


def _numbers(asked: str | Sequence[str] | None, channels: Sequence[Channel], what: str) -> list[int]:
    if asked is None:
        return list(range(len(channels)))
    names = [asked] if isinstance(asked, str) else list(asked)
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"{name!r} is no name of a {what}", part="select", hint=", ".join(one.name for one in channels[:6])
            )
    return [_number(name, channels, what) for name in names]


def require_names(channels: Sequence[Channel], what: str) -> None:
    """No two channels may have one name."""
    seen: set[str] = set()
    for one in channels:
        if one.name in seen:
            raise InputError(
                f'two channels are called "{one.name}"', part=what, hint="give each point and direction one name"
            )
        seen.add(one.name)


def explained_power(H: Complex, coherence: Array) -> Array:
    """S (n, responses, references): what of a response a coherence explains, over the spectrum of the force.

    With a coherence of each pair S = |H_oi|². One that all references share is the multiple coherence of a response,
    of which the noise on it is the rest whatever each reference does: S = Σ_j |H_oj|², of forces that are alike.
    """
    size = np.abs(H) ** 2
    if H.shape[2] > 1 and bool((coherence == coherence[:, :, :1]).all()):
        size = np.broadcast_to(size.sum(axis=2, keepdims=True), size.shape)
    return np.asarray(size)


def require_band(band_hz: Sequence[float]) -> None:
    """Refuse what is not two rising frequencies."""
    ends = real_numbers("band_hz", band_hz, finite=False)
    if ends.shape != (2,) or not ends[0] <= ends[1]:
        raise InputError(f"it is {value_text(band_hz)}", part="band_hz", hint="give (lowest, highest) in Hz")


def _places(lines: ArrayLike, count: int) -> NDArray[Any]:
    """Numbers of lines, or which of them: True or False of each."""
    found: NDArray[Any] = np.asarray(lines)
    if found.dtype == bool and found.shape == (count,):
        return found
    if found.size == 0:
        return np.zeros(0, dtype=np.int64)
    if found.dtype.kind not in "iu" or found.ndim > 1 or not ((found >= -count) & (found < count)).all():
        raise InputError(f"they are {value_text(lines)}", part="lines", hint=f"give whole numbers below {count}")
    return np.atleast_1d(found)
