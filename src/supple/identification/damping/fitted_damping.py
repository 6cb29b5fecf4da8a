"""Damping that was fitted to responses: its parameters, their uncertainty, and the agreement of the responses."""

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
from supple.identification.damping.damped_responses import DampedPosture, described_damping
from supple.identification.damping.damping_kind import DampingKind, Numbers
from supple.identification.updating.identifiability import Identifiability, and_list
from supple.identification.updating.least_squares import models_of
from supple.identification.updating.measurement import Measurement
from supple.identification.updating.observed_responses import ResponseObserver, response_observer
from supple.identification.updating.structure import structure_of
from supple.identification.updating.updated_file import changed_mechanism, save_updated
from supple.identification.updating.written_numbers import no_parameters
from supple.results.interval import interval_words
from supple.results.responses import Responses
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import Text

_SURE = 1.959964


class FittedKind(NamedTuple):
    """A kind of damping and its parameters."""

    kind: DampingKind
    numbers: Numbers


class DampingMisfit(NamedTuple):
    """J_Q of one measurement before (with a loss factor of the whole mechanism) and after the fit.

    by_response : J_Q of each response after the fit; shown : H of the mechanism
    """

    label: str
    before: float
    after: float
    by_response: dict[str, float]
    measured: Responses
    shown: Complex


@dataclass(frozen=True, eq=False, repr=False)
class FittedDamping(Result):
    """Fitted damping parameters with their uncertainty.

    Attributes
    ----------
    mechanism : Mechanism
        Mechanism before the fit.
    kinds : tuple
        Damping kinds with their parameters.
    names : tuple of str
        Names of the parameters (k,).
    values : ndarray, shape (k,)
        Fitted values.
    whole : float
        Loss factor of the whole mechanism that fits best.
    covariance : ndarray, shape (k, k)
        Covariance of the values.
    start : ndarray, shape (k,)
        Values equivalent to the loss factor `whole`: the first guesses and prior values.
    identifiability : Identifiability
        How well the data determine the parameters.
    postures : tuple
        Misfit of each measurement.
    measured : tuple of Measurement
        Measurements that were used.
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
            raise InputError(f'"{name}" was not fitted', part="damping", hint=nearest(name, self.names))
        return float(self.values[self.names.index(name)])

    @property
    def deviations(self) -> Array:
        """Standard deviations (k,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Confidence interval of 95 % of each parameter; its lower end is at least 0."""
        spread = _SURE * self.deviations
        return {
            name: (max(0.0, float(value - d)), float(value + d))
            for name, value, d in zip(self.names, self.values, spread, strict=True)
        }

    @property
    def at_prior(self) -> tuple[str, ...]:
        """Parameters that the data hardly determine; they stay equivalent to the loss factor `whole`."""
        return self.identifiability.at_prior

    def entries(self) -> dict[tuple[str, ...], Any]:
        """Return the fitted values by their paths in the mechanism file."""
        found: dict[tuple[str, ...], Any] = {}
        first = 0
        for kind, numbers in self.kinds:
            found |= kind.written(numbers, self.values[first : first + len(numbers)])
            first += len(numbers)
        return found

    @property
    def damped_mechanism(self) -> Mechanism:
        """Mechanism with the fitted damping."""
        return changed_mechanism(self.mechanism, self.entries())

    def save_mechanism(self, path: str | Path) -> Path:
        """Write the mechanism file with the fitted damping and everything else unchanged.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        return save_updated(path, no_parameters(self.mechanism), np.zeros(0), self.entries())

    def misfits(self, bands: Sequence[tuple[float, float]] | None = None) -> tuple[BandMisfit, ...]:
        """Return J_Q in frequency bands, with the damping of the file and with the fitted one.

        Parameters
        ----------
        bands : sequence of (float, float), optional
            Bands, Hz. Default: the band of the fit, and all lines that were measured.

        Returns
        -------
        tuple of BandMisfit
            J_Q of all responses of a measurement together, and of each response.
        """
        return misfit_by_band(self.mechanism, self.damped_mechanism, self.measured, bands)

    def summary(self) -> str:
        """Return a one-line summary."""
        numbers = zip(self.names, self.values, _SURE * self.deviations, strict=True)
        found = ", ".join(f"{name} {value:.3g} ± {d:.2g}" for name, value, d in numbers)
        return f"{found}; J_Q {', '.join(f'{item.after:.3g}' for item in self.postures)}"

    def words(self) -> list[str]:
        """Return sentences on what the data determine and what they do not."""
        notes = [f"damping: {self.identifiability.words()[0]}", *self.identifiability.words()[1:]]
        if self.at_prior:
            notes[-1] = (
                f"{and_list(self.at_prior)}: not determined by the responses; set to the equivalent of the loss factor "
                f"of the whole mechanism, {self.whole:.3g}"
            )
        nothing = [name for name, value in zip(self.names, self.values, strict=True) if value < 1e-3 * self.whole]
        if nothing:
            notes.append(f"{and_list(nothing)}: no measurable damping")
        notes.append(f"{self.describe_use()}; stiffnesses and masses were kept constant")
        return notes

    def describe_use(self) -> str:
        """Return a sentence on how models use the fitted values."""
        hysteretic = any(item.kind.hysteretic for item in self.kinds)
        if not hysteretic:
            return "frf, local, reduced models and simulations of these use the values directly"
        return (
            "frf uses the loss factors directly; models in time use viscous damping that dissipates as much at each "
            "resonance, and the full equations in time as much at the lowest mode"
        )

    def data(self, misfits: Sequence[BandMisfit] | None = None) -> dict[str, Any]:
        """Return the object that `--json` prints; misfits : result of `misfits`, which also gives the default."""
        from_bands = [item.data() for item in (self.misfits() if misfits is None else misfits)]
        return {"parameters": {}, **self.numbers_data(), "misfit_by_band": from_bands, "words": self.words()}

    def numbers_data(self) -> dict[str, Any]:
        """Return the values with their intervals, and J_Q of each measurement and response."""
        return {
            "damping": dict(zip(self.names, self.values.tolist(), strict=True)),
            "damping_intervals": self.intervals,
            "damping_at_prior": self.at_prior,
            "misfit": {item.label: (item.before, item.after) for item in self.postures},
            "misfit_by_response": {item.label: item.by_response for item in self.postures},
        }

    def text(self, misfits: Sequence[BandMisfit] | None = None) -> Text:
        """Return the values with their intervals, J_Q of each measurement, and what the data determine."""
        count = len(self.postures)
        out = Text(f"{self.mechanism.name}: damping from {count} measurements, other parameters unchanged")
        self.numbers_table(out)
        misfit_table(out, self.misfits() if misfits is None else misfits)
        return out.lines("", *(f"- {words}" for words in self.words()))

    def numbers_table(self, out: Text) -> None:
        """Add a table of the values, and J_Q of each measurement, to a text."""
        rows = [
            (name, *interval_words(value, low, high), "prior" if name in self.at_prior else "data")
            for name, value, (low, high) in zip(self.names, self.values, self.intervals.values(), strict=True)
        ]
        out.table(("damping", "value", "95 % interval", "from"), rows)
        for item in self.postures:
            worst = max(item.by_response.items(), key=lambda pair: pair[1])
            out.line(
                f"J_Q {item.label}: {100 * item.after:.3g} % ({100 * item.before:.3g} % with a loss factor "
                f"{self.whole:.3g} of the whole mechanism), at most {100 * worst[1]:.3g} % at {worst[0]}"
            )

    def table(self) -> Table:
        """Return one row for each parameter."""
        pairs = np.array(list(self.intervals.values()))
        columns: dict[str, NDArray[Any]] = {
            "name": np.array(self.names, dtype=str), "value": self.values, "low": pairs[:, 0], "high": pairs[:, 1],
            "left_of_prior": self.identifiability.left,
        }  # fmt: skip
        return Table(columns, index="name")

    def report(self, path: str | Path) -> Path:
        """Write a report as one HTML page, with values, intervals and J_Q of every response.

        Parameters
        ----------
        path : str or path-like
            File to write, .html.
        """
        picture("view.report.report.report")(self, path)
        return Path(path)

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the values with their intervals relative to the prior, and J_Q of each response; return the panels.

        Parameters
        ----------
        axes : optional
            Axes to draw on. Default: a new figure.
        """
        return picture("identification.damping.plot.damping_plot")(self, axes)


# Agreement of a mechanism with measured responses, for each band and response.
#
#     J_Q = Σ|H - H_m|² / Σ|H_m|²                                                          [Rognant 2010, eq. 34]


Band = tuple[float, float]

_REACH = 3.0  # of the highest line: frequency band of the condensed bodies


class BandMisfit(NamedTuple):
    """J_Q before and after a fit, of all responses of a measurement together and of each response."""

    label: str
    band_hz: Band
    before: float
    after: float
    by_response: dict[str, tuple[float, float]]

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {
            "posture": self.label, "band_hz": self.band_hz, "before": self.before, "after": self.after,
            "by_response": self.by_response,
        }  # fmt: skip


def misfit_table(out: Text, misfits: Sequence[BandMisfit]) -> None:
    """Add a table of J_Q in every band to a text, with the response that agrees least."""
    rows = []
    for item in misfits:
        worst = max(item.by_response, key=lambda name: item.by_response[name][1])
        low, high = item.band_hz
        percent = [f"{100 * value:.3g}" for value in (item.before, item.after, item.by_response[worst][1])]
        rows.append((item.label, f"{low:.4g} .. {high:.4g}", *percent[:2], f"{percent[2]} {worst}"))
    if rows:
        out.table(("J_Q of responses", "[Hz]", "before [%]", "after [%]", "worst after [%]"), rows)


def misfit_by_band(
    before: Mechanism, after: Mechanism, measured: Sequence[Measurement], bands: Sequence[Band] | None = None
) -> tuple[BandMisfit, ...]:
    """Return J_Q of two mechanisms with their damping in every band.

    The default bands are the one of each measurement, and all its lines.
    """
    items = [item for item in measured if item.responses is not None]
    chosen_bands = [list(bands) if bands is not None else _default_bands(item) for item in items]
    if not items or not any(chosen_bands):
        return ()
    old, new = (_all_responses(one, items) for one in (before, after))
    found = []
    for item, chosen, a, b in zip(items, chosen_bands, old, new, strict=True):
        for band in chosen:
            one, two = (_within(observer, H, band) for observer, H in (a, b))
            beside = two[0].misfit_by_response(two[1])
            each = {name: (value, beside[name]) for name, value in one[0].misfit_by_response(one[1]).items()}
            found.append(BandMisfit(item.label, band, one[0].misfit(one[1]), two[0].misfit(two[1]), each))
    return tuple(found)


def _default_bands(item: Measurement) -> list[Band]:
    lines = item.responses.frequencies_hz
    whole = (float(lines[lines > 0.0][0]), float(lines[-1]))
    return [whole] if item.band is None else [item.band, whole]


def _all_responses(mechanism: Mechanism, items: Sequence[Measurement]) -> list[tuple[ResponseObserver, np.ndarray]]:
    """Return each measurement with all its lines, and the responses of the mechanism there."""
    highest = max(float(item.responses.frequencies_hz[-1]) for item in items)
    postures = damped_postures(mechanism, items, _REACH * highest, [None] * len(items))
    return [(one.observer, one.compute_responses(np.zeros(0), slopes=False)[0]) for one in postures]


def damped_postures(
    mechanism: Mechanism, items: Sequence[Measurement], highest: float, bands: Sequence[Band | None]
) -> list[DampedPosture]:
    """Return each measurement with its lines in a band, with the damping of the mechanism.

    highest : Hz, up to which bodies are condensed
    """
    structure = structure_of(no_parameters(mechanism), highest)
    trial = structure.at(np.zeros(0))
    found = []
    for model, item, band in zip(models_of(structure, items), items, bands, strict=True):
        spectrum, observer = model.spectrum(trial), response_observer(model, item.responses, band)
        found.append(DampedPosture(observer, spectrum, *described_damping(spectrum), (), ()))
    return found


def _within(observer: ResponseObserver, H: np.ndarray, band: Band) -> tuple[ResponseObserver, np.ndarray]:
    lines = observer.measured.frequencies_hz
    kept = np.flatnonzero((lines >= band[0]) & (lines <= band[1]))
    narrow = ResponseObserver(observer.model, observer.measured.select(lines=kept), observer.g, observer.f)
    return narrow, H[kept]
