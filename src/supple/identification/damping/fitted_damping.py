"""Damping that was found from responses: its numbers, how sure they are, and how well responses agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.identification.damping.damped_responses import DampedPosture, already_there
from supple.identification.damping.damping_kind import DampingKind, Numbers
from supple.identification.updating.identifiability import Identifiability, and_list
from supple.identification.updating.least_squares import models_of
from supple.identification.updating.measurement import Measurement
from supple.identification.updating.observed_responses import ResponseObserver, response_observer
from supple.identification.updating.structure import structure_of
from supple.identification.updating.updated_file import changed_mechanism, save_updated
from supple.identification.updating.written_numbers import no_numbers
from supple.results.interval import interval_words
from supple.results.responses import Responses
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import Text

_SURE = 1.959964


class FittedKind(NamedTuple):
    """A kind of damping and its numbers."""

    kind: DampingKind
    numbers: Numbers


class DampingMisfit(NamedTuple):
    """J_Q of one measurement with a loss factor of the whole and with what was found; of each response; and H."""

    label: str
    before: float
    after: float
    by_response: dict[str, float]
    measured: Responses
    shown: Complex


@dataclass(frozen=True, eq=False, repr=False)
class FittedDamping(Result):
    """names, values (k,) and their covariance (k, k); whole : the loss factor that is as much for the whole.

    start : (k,) what is as much as that, from where numbers are drawn only by data
    """

    mechanism: Mechanism
    kinds: tuple[FittedKind, ...]
    names: tuple[str, ...]
    values: Array
    whole: float
    covariance: Array
    start: Array
    identifiability: Identifiability
    postures: tuple[DampingMisfit, ...] = field(repr=False)
    measured: tuple[Measurement, ...] = field(default=(), repr=False)

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise InputError(f'"{name}" was not looked for', part="damping", hint=nearest(name, self.names))
        return float(self.values[self.names.index(name)])

    @property
    def deviations(self) -> Array:
        """(k,) one σ of each."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """95 % of each; not below 0."""
        spread = _SURE * self.deviations
        return {
            name: (max(0.0, float(value - d)), float(value + d))
            for name, value, d in zip(self.names, self.values, spread, strict=True)
        }

    @property
    def at_prior(self) -> tuple[str, ...]:
        """Numbers of which data say next to nothing: they stay as much as the loss factor of the whole."""
        return self.identifiability.at_prior

    def entries(self) -> dict[tuple[str, ...], Any]:
        """Where the file keeps it, and what."""
        found: dict[tuple[str, ...], Any] = {}
        first = 0
        for kind, numbers in self.kinds:
            found |= kind.written(numbers, self.values[first : first + len(numbers)])
            first += len(numbers)
        return found

    @property
    def damped(self) -> Mechanism:
        """The mechanism with this damping."""
        return changed_mechanism(self.mechanism, self.entries())

    def save_mechanism(self, path: str | Path) -> Path:
        """Write the mechanism file with this damping, all else as it was."""
        return save_updated(path, no_numbers(self.mechanism), np.zeros(0), self.entries())

    def misfits(self, bands: Sequence[tuple[float, float]] | None = None) -> tuple[BandMisfit, ...]:
        """J_Q in bands (Hz) with the damping of the file and with that found, of each measurement's responses together
        and one by one.

        If left out: in the band that was fitted, and over all lines that were measured.
        """
        return misfit_by_band(self.mechanism, self.damped, self.measured, bands)

    def summary(self) -> str:
        numbers = zip(self.names, self.values, _SURE * self.deviations, strict=True)
        told = ", ".join(f"{name} {value:.3g} ± {d:.2g}" for name, value, d in numbers)
        return f"{told}; J_Q {', '.join(f'{item.after:.3g}' for item in self.postures)}"

    def words(self) -> list[str]:
        """What data determine and what they do not, a sentence each."""
        said = [f"damping: {self.identifiability.words()[0]}", *self.identifiability.words()[1:]]
        if self.at_prior:
            said[-1] = (
                f"{and_list(self.at_prior)}: the responses do not tell; taken as much as the loss factor of the whole, "
                f"{self.whole:.3g}"
            )
        nothing = [name for name, value in zip(self.names, self.values, strict=True) if value < 1e-3 * self.whole]
        if nothing:
            said.append(f"{and_list(nothing)}: nothing is lost there, as far as the responses tell")
        said.append(f"{self.used()}; stiffnesses and masses were held as they stand")
        return said

    def used(self) -> str:
        """Where the numbers run."""
        hysteretic = any(item.kind.hysteretic for item in self.kinds)
        if not hysteretic:
            return "frf, local, reduced models and simulations of these take the numbers as they are"
        return (
            "frf takes the loss factors as they are; models in time have the viscous damping that loses as much at "
            "each resonance, and the full equations in time as much at the lowest mode"
        )

    def data(self, misfits: Sequence[BandMisfit] | None = None) -> dict[str, Any]:
        """The keys and values that `--json` prints; misfits : as `misfits` gives them, in the bands that it takes."""
        from_bands = [item.data() for item in (self.misfits() if misfits is None else misfits)]
        return {"parameters": {}, **self.numbers_data(), "misfit_by_band": from_bands, "words": self.words()}

    def numbers_data(self) -> dict[str, Any]:
        """The numbers with their intervals, and J_Q of each measurement and response."""
        return {
            "damping": dict(zip(self.names, self.values.tolist(), strict=True)),
            "damping_intervals": self.intervals,
            "damping_at_prior": self.at_prior,
            "misfit": {item.label: (item.before, item.after) for item in self.postures},
            "misfit_by_response": {item.label: item.by_response for item in self.postures},
        }

    def text(self, misfits: Sequence[BandMisfit] | None = None) -> Text:
        """The numbers with their intervals, J_Q of each measurement, and what data determine; misfits as in `data`."""
        count = len(self.postures)
        out = Text(f"{self.mechanism.name}: damping from {count} measurements, other numbers as they stand")
        self.numbers_table(out)
        misfit_table(out, self.misfits() if misfits is None else misfits)
        return out.lines("", *(f"- {words}" for words in self.words()))

    def numbers_table(self, out: Text) -> None:
        """Add a table of the numbers, and J_Q of each measurement, to a text."""
        rows = [
            (name, *interval_words(value, low, high), "not told" if name in self.at_prior else "data")
            for name, value, (low, high) in zip(self.names, self.values, self.intervals.values(), strict=True)
        ]
        out.table(("damping", "value", "95 % interval", "says"), rows)
        for item in self.postures:
            worst = max(item.by_response.items(), key=lambda pair: pair[1])
            out.line(
                f"J_Q {item.label}: {100 * item.after:.3g} % ({100 * item.before:.3g} % with a loss factor "
                f"{self.whole:.3g} of the whole), at most {100 * worst[1]:.3g} % at {worst[0]}"
            )

    def table(self) -> Table:
        """A row for each number."""
        pairs = np.array(list(self.intervals.values()))
        columns: dict[str, NDArray[Any]] = {
            "name": np.array(self.names, dtype=str), "value": self.values, "low": pairs[:, 0], "high": pairs[:, 1],
            "left_of_prior": self.identifiability.left,
        }  # fmt: skip
        return Table(columns, index="name")

    def report(self, path: str | Path) -> Path:
        """Write one page of HTML: numbers, intervals, J_Q of every response."""
        picture("view.report.report.report")(self, path)
        return Path(path)

    def plot(self, *, axes: Any = None) -> Any:
        """Numbers with intervals beside the loss factor of the whole; J_Q of each response (matplotlib)."""
        return picture("identification.damping.plot.damping_plot")(self, axes)


# How well a mechanism explains measured responses, band by band and response by response.
#
#     J_Q = Σ|H - H_m|² / Σ|H_m|²                                                          [Rognant 2010, eq. 34]


Band = tuple[float, float]

_REACH = 3.0  # of the highest line: what bodies are condensed for


class BandMisfit(NamedTuple):
    """J_Q before and after, of all responses of a measurement together, and of each by itself."""

    label: str
    band_hz: Band
    before: float
    after: float
    by_response: dict[str, tuple[float, float]]

    def data(self) -> dict[str, Any]:
        """The keys and values that `--json` prints."""
        return {
            "posture": self.label, "band_hz": self.band_hz, "before": self.before, "after": self.after,
            "by_response": self.by_response,
        }  # fmt: skip


def misfit_table(out: Text, misfits: Sequence[BandMisfit]) -> None:
    """Add a table of J_Q in every band to a text, with the response that is explained worst."""
    rows = []
    for item in misfits:
        worst = max(item.by_response, key=lambda name: item.by_response[name][1])
        low, high = item.band_hz
        percent = [f"{100 * value:.3g}" for value in (item.before, item.after, item.by_response[worst][1])]
        rows.append((item.label, f"{low:.4g} .. {high:.4g}", *percent[:2], f"{percent[2]} {worst}"))
    if rows:
        out.table(("J_Q of responses", "[Hz]", "before [%]", "after [%]", "at most, after [%]"), rows)


def misfit_by_band(
    before: Mechanism, after: Mechanism, measured: Sequence[Measurement], bands: Sequence[Band] | None = None
) -> tuple[BandMisfit, ...]:
    """Of two mechanisms, as they stand with their damping, in every band; if left out, in the one of each measurement
    and over all its lines."""
    items = [item for item in measured if item.responses is not None]
    asked = [list(bands) if bands is not None else _own(item) for item in items]
    if not items or not any(asked):
        return ()
    old, new = (_observed(one, items) for one in (before, after))
    found = []
    for item, chosen, a, b in zip(items, asked, old, new, strict=True):
        for band in chosen:
            one, two = (_within(seen, H, band) for seen, H in (a, b))
            beside = two[0].off_by_response(two[1])
            each = {name: (value, beside[name]) for name, value in one[0].off_by_response(one[1]).items()}
            found.append(BandMisfit(item.label, band, one[0].off(one[1]), two[0].off(two[1]), each))
    return tuple(found)


def _own(item: Measurement) -> list[Band]:
    lines = item.responses.frequencies_hz
    whole = (float(lines[lines > 0.0][0]), float(lines[-1]))
    return [whole] if item.band is None else [item.band, whole]


def _observed(mechanism: Mechanism, items: Sequence[Measurement]) -> list[tuple[ResponseObserver, np.ndarray]]:
    """Each measurement with all its lines, and what the mechanism shows there."""
    highest = max(float(item.responses.frequencies_hz[-1]) for item in items)
    postures = damped_postures(mechanism, items, _REACH * highest, [None] * len(items))
    return [(one.seen, one.shown(np.zeros(0), slopes=False)[0]) for one in postures]


def damped_postures(
    mechanism: Mechanism, items: Sequence[Measurement], highest: float, bands: Sequence[Band | None]
) -> list[DampedPosture]:
    """Each measurement with its lines in a band, damped as the mechanism says; bodies are condensed up to `highest`."""
    structure = structure_of(no_numbers(mechanism), highest)
    trial = structure.at(np.zeros(0))
    found = []
    for model, item, band in zip(models_of(structure, items), items, bands, strict=True):
        spectrum, seen = model.spectrum(trial), response_observer(model, item.responses, band)
        found.append(DampedPosture(seen, spectrum, *already_there(spectrum), (), ()))
    return found


def _within(seen: ResponseObserver, H: np.ndarray, band: Band) -> tuple[ResponseObserver, np.ndarray]:
    lines = seen.measured.frequencies_hz
    kept = np.flatnonzero((lines >= band[0]) & (lines <= band[1]))
    narrow = ResponseObserver(seen.model, seen.measured.select(lines=kept), seen.g, seen.f)
    return narrow, H[kept]
