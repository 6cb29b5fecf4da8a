"""Frequency responses of tests: ratios of response channels to reference channels, line by line."""

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
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import real_numbers, require_arguments, value_text
from supple.results.channel import MOTIONS, Channel, direction_text
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import fresh, list_names

UNIVERSAL = (".uff", ".unv", ".uf", ".bunv")
"""File name endings of universal files."""
_FAMILY = {"displacement": "receptance", "velocity": "mobility", "acceleration": "accelerance"}


@dataclass(frozen=True, eq=False, repr=False)
class Responses(Result):
    """Measured (or simulated) frequency responses of a test in SI units.

    ``test["tip.z", "platform.-z"]`` is (lines,).

    Attributes
    ----------
    frequencies_hz : ndarray, shape (n,)
        Frequency lines, Hz, increasing.
    H : ndarray of complex, shape (n, responses, references)
        Responses per reference, for the time dependence exp(+iωt).
    responses, references : tuple of Channel
        Channels.
    coherence : ndarray or None, shape (n, responses, references)
        Part of each response that is explained by all references (with one reference: by this one), 0 to 1.
    averages : int
        Number of averaged records; 0 if unknown.
    window_rate : float
        Rate σ of the exponential window exp(-σt) of the records, 1/s. It adds σ to the decay of every mode:
        ζ_true = ζ_found - σ/ω                                                              [measurements, eq. 9]
    at : str or dict
        Posture: name of a configuration of the mechanism, or coordinates by name.
    notes : tuple of str
        Assumptions, omissions and suspected faults, one sentence each.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> test = supple.virtual_test(arm, "home", "tip.-z", "tip", sampling_hz=256.0).responses
    >>> test.select("tip.z", band_hz=(5.0, 50.0)).H.shape[1:]
    (1, 1)
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
            raise InputError(
                f"shape must be (lines, responses, references) = {expected} (got {self.H.shape})", part="H"
            )
        if not (np.diff(self.frequencies_hz) > 0.0).all() or (self.frequencies_hz < 0.0).any():
            raise InputError("must increase, from 0 or above", part="frequencies_hz", hint="sort the lines, each once")
        if self.coherence is not None:
            kept(self, "coherence", frozen_copy(self.coherence, np.float64))
            if np.shape(self.coherence) != expected:
                raise InputError(f"shape must be {expected} (got {np.shape(self.coherence)})", part="coherence")

    def __getitem__(self, pair: tuple[str, str]) -> Complex:
        """Return one response per one reference, by name: (lines,)."""
        i, j = self.response(pair[0]), self.reference(pair[1])
        return self.H[:, i, j]

    def response(self, name: str) -> int:
        """Return the index of a response channel."""
        require_arguments(Responses.response, locals())
        return _number(name, self.responses, "response")

    def reference(self, name: str) -> int:
        """Return the index of a reference channel."""
        require_arguments(Responses.reference, locals())
        return _number(name, self.references, "reference")

    def unit(self, i: int, j: int) -> str:
        """Return the unit of H[:, i, j]."""
        top, bottom = self.responses[i].unit, self.references[j].unit
        top, bottom = (f"({unit})" if any(mark in unit for mark in "/ ") else unit for unit in (top, bottom))
        return f"{top}/{bottom}" if top and bottom else top

    @property
    def kind(self) -> str:
        """Kind of all responses: receptance, mobility or accelerance per force, else "responses"."""
        found = {one.quantity for one in self.responses}
        forced = {one.quantity for one in self.references} == {"force"}
        return _FAMILY.get(next(iter(found)), "responses") if forced and len(found) == 1 else "responses"

    # ------------------------------------------------------------------------------------------ derived responses

    def copy_with(self, **changes: Any) -> Responses:
        """Return a copy with some attributes replaced, as in ``test.copy_with(at="first")``."""
        return replace(self, **changes)

    def select(
        self,
        responses: str | Sequence[str] | None = None,
        references: str | Sequence[str] | None = None,
        *,
        band_hz: tuple[float, float] | None = None,
        lines: ArrayLike | None = None,
    ) -> Responses:
        """Return some of the channels and lines.

        Parameters
        ----------
        responses : str or sequence of str, optional
            Names of response channels. Default: all.
        references : str or sequence of str, optional
            Names of reference channels. Default: all.
        band_hz : tuple of float, optional
            Lowest and highest frequency, Hz, included. Default: all lines.
        lines : array_like, optional
            Indices or a mask of lines. Default: all lines.

        Returns
        -------
        Responses
            The selected part.

        Raises
        ------
        InputError
            If a channel is unknown, or no line is in the band.
        """
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
                    f"no frequency line between {band_hz[0]:g} and {band_hz[1]:g} Hz", part="band_hz",
                    hint=f"the lines go {self._span()}",
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
        """Return the test with all motions as displacement, velocity or acceleration.

        Parameters
        ----------
        quantity : {"displacement", "velocity", "acceleration"}
            Quantity of the motions. Strains and others do not change.

        Returns
        -------
        Responses
            Responses multiplied by (σ + iω)^k.

        Notes
        -----
        σ is the `window_rate`: with an exponential window the estimate is H(σ + iω) exactly, and so is this factor. A
        line at 0 Hz that would be divided by zero is omitted, and `notes` states it.
        """
        require_arguments(Responses.to, locals())
        require_known("motion quantity", quantity, MOTIONS, part="quantity")
        moving = [one.quantity in MOTIONS for one in self.responses]
        steps = [
            MOTIONS.index(quantity) - MOTIONS.index(one.quantity) if moves else 0
            for one, moves in zip(self.responses, moving, strict=True)
        ]
        found, notes = self, self.notes
        if min(steps, default=0) < 0 and not self.window_rate and (self.frequencies_hz == 0.0).any():
            found = self.select(lines=np.arange(1, len(self.frequencies_hz)))
            notes = (*notes, f"the line at 0 Hz is omitted: it does not determine the {quantity}")
        s = self.window_rate + 2j * np.pi * found.frequencies_hz
        factors = np.stack([s**k for k in steps], axis=1) if steps else np.ones((len(s), 0))
        channels = tuple(
            one.copy_with(quantity=quantity, recorded="" if k else one.recorded) if moves else one
            for one, moves, k in zip(found.responses, moving, steps, strict=True)
        )
        return replace(found, H=found.H * factors[:, :, None], responses=channels, notes=notes)

    def to_receptance(self) -> Responses:
        """Return displacements per reference."""
        return self.to("displacement")

    def to_mobility(self) -> Responses:
        """Return velocities per reference."""
        return self.to("velocity")

    def to_accelerance(self) -> Responses:
        """Return accelerations per reference."""
        return self.to("acceleration")

    def reverse_channels(self, *responses: str, references: str | Sequence[str] = ()) -> Responses:
        """Return the test with reversed channels: their signs change and they keep their names.

        Use it for sensors that were mounted in the opposite direction.

        Parameters
        ----------
        *responses : str
            Names of response channels.
        references : str or sequence of str, optional
            Names of reference channels. Default: none.

        Returns
        -------
        Responses
            Test with corrected signs.
        """
        signs = np.ones(self.H.shape[1:])
        signs[_numbers(responses, self.responses, "response")] *= -1.0
        signs[:, _numbers(references, self.references, "reference")] *= -1.0
        return replace(self, H=self.H * signs)

    def deviations(self) -> Array | None:
        """Return the standard deviation of |H| from the coherence γ² and the number n of averages.

        Returns
        -------
        ndarray or None, shape (n, responses, references)
            Standard deviations; None if coherence or number of averages is unknown, or for a single record.

        Notes
        -----
        σ(|H|) = √(S (1 - γ²) / (2 n γ²)), S as in `explained_power`          [Bendat and Piersol; measurements, eq. 6]
        """
        if self.coherence is None or self.averages < 2:
            return None
        share = np.clip(self.coherence, 1e-12, 1.0)
        S = explained_power(self.H, self.coherence)
        return np.asarray(np.sqrt(S * (1.0 - share) / (2.0 * self.averages * share)))

    # ------------------------------------------------------------------------------------------ output

    def _span(self) -> str:
        lines = self.frequencies_hz
        return f"from {lines[0]:.6g} to {lines[-1]:.6g} Hz" if len(lines) else "nowhere"

    def summary(self) -> str:
        of = f' "{self.title}"' if self.title else ""
        at = self.at if isinstance(self.at, str) else ", ".join(f"{name} {x:.4g}" for name, x in self.at.items())
        posture = f" at {at}" if at else ""
        words = f"{self.kind}{of} of {list_names(one.name for one in self.responses)} to "
        words += f"{list_names(one.name for one in self.references)}{posture}, "
        words += f"{len(self.frequencies_hz)} lines {self._span()}"
        return words + (f", {len(self.notes)} notes" if self.notes else "")

    def table(self) -> Table:
        """Return a table of frequencies, with a complex column `response/reference [unit]` and coherence per pair."""
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
        """Write the responses as .npz, .mat, .csv (the table) or .uff in SI units; `load_responses` reads all of them.

        Parameters
        ----------
        path : str or path-like
            File; its ending selects the format.
        binary : bool, optional
            Write numbers of a .uff file in binary form (58b) instead of text with twelve digits. Default: False.

        Returns
        -------
        pathlib.Path
            The file.
        """
        return save_universal(self, path, binary) or super().save(path)

    def plot(self, *pairs: tuple[str, str], axes: Any = None) -> Any:
        """Plot magnitude, phase and coherence, and return the panels.

        Parameters
        ----------
        *pairs : tuple of str
            (response, reference) names. Default: the first few pairs.
        axes : sequence of matplotlib.axes.Axes, optional
            Two axes, for magnitudes and phases. Default: a new figure.
        """
        return picture("identification.testing.plot.responses_plot")(self, pairs, axes)


def save_universal(result: Any, path: str | Path, binary: bool) -> Path | None:
    """Write a universal file if the path has such an ending; return None otherwise.

    The writer belongs to a higher layer and is imported by name, as plots are.
    """
    if Path(path).suffix.lower() not in UNIVERSAL:
        return None
    write = import_module("supple.formats.measurements.universal_file").save_universal_file
    return Path(write(path, result, binary=binary))


def channel_arrays(what: str, channels: Iterable[Channel]) -> dict[str, NDArray[Any]]:
    """Return points, directions, quantities, units and positions (k, 3; NaN if unknown) of channels, by name."""
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
    """Return a read-only copy."""
    found = np.array(values, dtype=kind, order="C")
    found.flags.writeable = False
    return found


def _number(name: str, channels: Sequence[Channel], what: str) -> int:
    names = [one.name for one in channels]
    require_known(what, name, names)
    return names.index(name)


def _numbers(given: str | Sequence[str] | None, channels: Sequence[Channel], what: str) -> list[int]:
    if given is None:
        return list(range(len(channels)))
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"unknown {what} {name!r}", part="select", hint=", ".join(one.name for one in channels[:6])
            )
    return [_number(name, channels, what) for name in names]


def require_names(channels: Sequence[Channel], what: str) -> None:
    """Raise InputError if two channels have the same name."""
    seen: set[str] = set()
    for one in channels:
        if one.name in seen:
            raise InputError(
                f'two channels have the name "{one.name}"', part=what, hint="give each point and direction its own name"
            )
        seen.add(one.name)


def explained_power(H: Complex, coherence: Array) -> Array:
    """Return S (n, responses, references): response spectrum explained by the coherence, per force spectrum.

    With one coherence per pair, S = |H_oi|². If all references share a multiple coherence, the noise of a response is
    the remainder for all of them: S = Σ_j |H_oj|², for forces of similar spectra.
    """
    size = np.abs(H) ** 2
    if H.shape[2] > 1 and bool((coherence == coherence[:, :, :1]).all()):
        size = np.broadcast_to(size.sum(axis=2, keepdims=True), size.shape)
    return np.asarray(size)


def require_band(band_hz: Sequence[float]) -> None:
    """Raise InputError unless a band is two increasing frequencies."""
    ends = real_numbers("band_hz", band_hz, finite=False)
    if ends.shape != (2,) or not ends[0] <= ends[1]:
        raise InputError(f"invalid band {value_text(band_hz)}", part="band_hz", hint="give (lowest, highest) in Hz")


def _places(lines: ArrayLike, count: int) -> NDArray[Any]:
    """Return indices of lines from indices or from a mask."""
    found: NDArray[Any] = np.asarray(lines)
    if found.dtype == bool and found.shape == (count,):
        return found
    if found.size == 0:
        return np.zeros(0, dtype=np.int64)
    if found.dtype.kind not in "iu" or found.ndim > 1 or not ((found >= -count) & (found < count)).all():
        raise InputError(f"invalid indices {value_text(lines)}", part="lines", hint=f"give whole numbers below {count}")
    return np.atleast_1d(found)
