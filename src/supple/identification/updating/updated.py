"""What updating found: numbers before and after, how sure they are, how well postures agree, what others will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.identification.damping.damping_kinds import DAMPING_KINDS
from supple.identification.damping.fitted_damping import BandMisfit, FittedDamping, misfit_by_band, misfit_table
from supple.identification.updating.identifiability import FLAT, Identifiability, identifiability
from supple.identification.updating.least_squares import LOSSES, UpdatingProblem
from supple.identification.updating.measurement import Measurement
from supple.identification.updating.observed_responses import ResponseObserver
from supple.identification.updating.observing import Observer
from supple.identification.updating.posture_model import posture_model
from supple.identification.updating.updated_file import save_updated, updated_mechanism
from supple.identification.updating.varying import Varying
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At
from supple.results.interval import interval_words
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import Text

_UNEXPLAINED = 0.3  # J_Q: a fit that leaves more has found no machine
SURE = 1.959964  # deviations that hold 95 % of a normal distribution


@dataclass(frozen=True, eq=False)
class PostureResult:
    """One measurement against the model, before and after.

    measured, before, after (k,) Hz, paired; alike (k,) MAC of each with its partner, or cos² of its angle to the space
    of close ones; mac (k, levels) before and after, with the levels' frequencies
    gauges : name -> (measured, before, after), m; misfit : J_Q of responses before and after
    model_hz : the model's own natural frequencies among the lines of responses, as many before as after (k,), (k,)
    left_at_end : of records, what is left of the mode that rings longest, and its Hz
    """

    label: str
    measured_hz: Array
    before_hz: Array
    after_hz: Array
    deviation_hz: Array
    alike_before: Array | None = None
    alike_after: Array | None = None
    mac_before: Array | None = None
    mac_after: Array | None = None
    levels_before: Array | None = None
    levels_after: Array | None = None
    gauges: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    misfit: tuple[float, float] | None = None
    model_hz: tuple[Array, Array] | None = None
    left_at_end: tuple[float, float] | None = None
    responses: Any = None

    @property
    def own_hz(self) -> tuple[Array, Array]:
        """Natural frequencies of the model before and after: those paired with measured ones; where there are
        responses alone, those among their lines."""
        paired = self.before_hz, self.after_hz
        return paired if len(self.measured_hz) or self.model_hz is None else self.model_hz

    def mean_error(self, which: str = "after") -> float:
        """Mean of |f/f_m - 1|."""
        found = self.after_hz if which == "after" else self.before_hz
        return float(np.mean(np.abs(found / self.measured_hz - 1.0))) if len(found) else np.nan


@dataclass(frozen=True, eq=False, repr=False)
class Predicted(Result):
    """Natural frequencies at a posture with their 95 % intervals; of a level (a double mode) once.

    frequencies_hz (m,), deviations_hz (m,) one σ, modes (m,) how many each stands for
    """

    at: str
    frequencies_hz: Array
    deviations_hz: Array
    modes: NDArray[np.int64]

    @property
    def low_hz(self) -> Array:
        return np.asarray(self.frequencies_hz * np.exp(-SURE * self.deviations_hz / self.frequencies_hz))

    @property
    def high_hz(self) -> Array:
        return np.asarray(self.frequencies_hz * np.exp(SURE * self.deviations_hz / self.frequencies_hz))

    def summary(self) -> str:
        pairs = zip(self.frequencies_hz, SURE * self.deviations_hz, strict=True)
        return f"at {self.at or 'rest'}: " + ", ".join(f"{f:.4g} ± {d:.2g}" for f, d in pairs) + " Hz"

    def table(self) -> Table:
        columns: dict[str, Any] = {
            "frequency_hz": self.frequencies_hz, "low_hz": self.low_hz, "high_hz": self.high_hz, "modes": self.modes,
        }  # fmt: skip
        return Table(columns, dict.fromkeys(("frequency_hz", "low_hz", "high_hz"), "Hz"))

    def data(self) -> dict[str, Any]:
        """The keys and values that `--json` prints."""
        return {"frequencies_hz": self.frequencies_hz, "low_hz": self.low_hz, "high_hz": self.high_hz}

    def text(self) -> Text:
        """Frequencies with their intervals."""
        out = Text()
        self.add_table(out, self.at or "rest")
        return out

    def add_table(self, out: Text, at: str) -> None:
        """Add frequencies with their intervals to a text."""
        bands = zip(self.frequencies_hz, self.low_hz, self.high_hz, strict=True)
        rows = [(str(i + 1), *interval_words(f, low, high)) for i, (f, low, high) in enumerate(bands)]
        out.table((f"predicted at {at}", "[Hz]", "95 % interval"), rows)


@dataclass(frozen=True, eq=False, repr=False)
class Updated(Result):
    """names (k,), values before and after (k,), covariance (k, k) of their logarithms.

    excess  : how much larger the noise is than was said, as variance, as what is left over shows; all allows for it
    prior   : (k,) deviation of ln p that was known before; inf: none
    identifiability : which combinations the data determine, in words; at_bounds : names that ended at a bound
    postures : each measurement before and after
    varying  : a stiffness of which one value does not explain all postures, if there is one
    predictions : at postures that somebody asked for, which the page shows
    afterwards : damping of modes, joints or materials that was fitted when the numbers were found
    """

    names: tuple[str, ...]
    before: Array
    after: Array
    covariance: Array
    excess: float
    prior: Array
    identifiability: Identifiability
    at_bounds: tuple[str, ...]
    postures: tuple[PostureResult, ...]
    varying: Varying | None
    measured: tuple[Measurement, ...]
    problem: UpdatingProblem = field(repr=False)
    afterwards: FittedDamping | None = None
    predictions: Mapping[str, Predicted] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        if self.afterwards is not None and name in self.afterwards.names:
            return self.afterwards[name]
        if name not in self.names:
            raise InputError(f'"{name}" was not looked for', part="updated", hint=nearest(name, self.names))
        return float(self.after[self.names.index(name)])

    @property
    def mechanism(self) -> Mechanism:
        """With the numbers found."""
        k = self.problem.count
        return updated_mechanism(self.problem.structure.numbers, self.after[:k], self._damping_entries())

    def _damping_entries(self) -> dict[tuple[str, ...], Any]:
        """Where the file keeps the damping that was found."""
        return self._along(self.after[self.problem.count :]) if self.afterwards is None else self.afterwards.entries()

    def _along(self, values: Array) -> dict[tuple[str, ...], Any]:
        """Entries of damping that is fitted along."""
        kind = next((kind for kind, names in LOSSES.items() if names == self.problem.losses), "none")
        return DAMPING_KINDS[kind].written((), values) if self.problem.losses else {}

    @property
    def deviations(self) -> Array:
        """One σ of each, relative (of its logarithm)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """95 % of each."""
        return {
            name: (float(value * np.exp(-SURE * d)), float(value * np.exp(SURE * d)))
            for name, value, d in zip(self.names, self.after, self.deviations, strict=True)
        }

    @property
    def at_prior(self) -> tuple[str, ...]:
        """Numbers of which the data say next to nothing."""
        return self.identifiability.at_prior

    @property
    def damping(self) -> dict[str, float]:
        """Numbers of damping that were found."""
        if self.afterwards is not None:
            return dict(zip(self.afterwards.names, self.afterwards.values.tolist(), strict=True))
        k = self.problem.count
        return dict(zip(self.names[k:], self.after[k:].tolist(), strict=True))

    def predict(self, at: At = None, count: int = 10) -> Predicted:
        """Natural frequencies at a posture that need not have been measured, with what is not known of the numbers."""
        structure, k = self.problem.structure, self.problem.count
        spectrum = posture_model(structure, assemble(structure.mechanism, at)).spectrum(
            structure.at(self.after[:k]), count
        )
        first = np.array([level.start for level in spectrum.levels])
        J = spectrum.log_slopes()[:, first].T
        spread = np.sqrt(np.einsum("ij,jk,ik->i", J, self.covariance[:k, :k], J))
        hertz = spectrum.level_hertz()
        modes = np.array([level.stop - level.start for level in spectrum.levels])
        return Predicted(at if isinstance(at, str) else "", hertz, hertz * spread, modes)

    def predict_deflections(
        self, at: At, force: dict[str, float], gauges: tuple[str, ...]
    ) -> dict[str, tuple[float, float]]:
        """{gauge: (m, one σ)} under a force at a posture."""
        structure, k = self.problem.structure, self.problem.count
        model = posture_model(structure, assemble(structure.mechanism, at))
        acting = np.array(list(force.values())) @ model.ports(tuple(force))
        y, dy = model.deflections(structure.at(self.after[:k]), acting[None], model.ports(tuple(gauges)))
        J = dy[:, 0].T * self.after[:k]
        spread = np.sqrt(np.einsum("ij,jk,ik->i", J, self.covariance[:k, :k], J))
        return {name: (float(value), float(d)) for name, value, d in zip(gauges, y[0], spread, strict=True)}

    def summary(self) -> str:
        found = ", ".join(
            f"{name} {value:.4g} ± {100 * d:.2g} %"
            for name, value, d in zip(self.names, self.after, self.deviations, strict=True)
        )
        return f"{found}; {self.identifiability.words()[0]}"

    def words(self) -> list[str]:
        """What the data determine and what they do not, a sentence each."""
        said = [*self.identifiability.words(), *(self.afterwards.words() if self.afterwards is not None else ())]
        if self.at_bounds:
            said.append(f"at a bound: {', '.join(self.at_bounds)}")
        for item in self.postures:
            if item.misfit is not None and item.misfit[1] > _UNEXPLAINED:
                said.append(
                    f"responses at {item.label or 'rest'} are not explained (J_Q {item.misfit[1]:.0%}): do not trust "
                    "the numbers; try more starts, or fit natural frequencies first"
                )
            if item.left_at_end is not None and item.left_at_end[0] > self._least():
                share, hertz = item.left_at_end
                said.append(
                    f"records at {item.label or 'rest'} end with {share:.1g} of the motion at {hertz:.3g} Hz, and the "
                    f"least deviation is {self._least():.1g}: if they are of blows, use an exponential window"
                )
        if self.varying is not None:
            said.append(self.varying.words())
        if self.excess > 1.5:
            said.append(
                f"what is left over is {np.sqrt(self.excess):.1f} times the noise that was said: the model lacks "
                "something, or the noise is larger; fit and intervals count with that"
            )
        return said

    def _least(self) -> float:
        """Of the deviations of numbers that were found."""
        found = [d for name, d in zip(self.names, self.deviations, strict=True) if name in self.identifiability.found]
        return float(min(found, default=np.inf))

    def table(self) -> Table:
        """A row for each number: before, after, 95 % interval, what is left of what was not known."""
        low, high = (np.array([pair[i] for pair in self.intervals.values()]) for i in range(2))
        columns: dict[str, NDArray[Any]] = {
            "name": np.array(self.names, dtype=str), "before": self.before, "after": self.after, "low": low,
            "high": high, "left_of_prior": self.identifiability.left,
        }  # fmt: skip
        return Table(columns, index="name")

    def data(self, misfits: Sequence[BandMisfit] | None = None) -> dict[str, Any]:
        """The keys and values that `--json` prints; misfits : as `misfits` gives them, in the bands that it takes."""
        known = self.identifiability
        return {
            "parameters": {
                name: {"before": before, "after": after, "interval": self.intervals[name], "left_of_prior": left,
                       "at_prior": name in self.at_prior}
                for name, before, after, left in zip(self.names, self.before, self.after, known.left, strict=True)
            },
            "frequencies_before": {item.label: item.own_hz[0] for item in self.postures},
            "frequencies_after": {item.label: item.own_hz[1] for item in self.postures},
            "frequencies_measured": {item.label: item.measured_hz for item in self.postures},
            "mac": {item.label: item.mac_after for item in self.postures if item.mac_after is not None},
            "damping": self.damping,
            "misfit": {item.label: item.misfit for item in self.postures if item.misfit is not None},
            "misfit_by_band": [item.data() for item in (self.misfits() if misfits is None else misfits)],
            **(self.afterwards.numbers_data() if self.afterwards is not None else {}),
            "combinations": known.combinations,
            "words": self.words(),
            "at_bounds": self.at_bounds,
            "predictions": {where: item.data() for where, item in self.predictions.items()},
        }  # fmt: skip

    def text(self, misfits: Sequence[BandMisfit] | None = None) -> Text:
        """Numbers with their intervals, frequencies and responses before and after, and what data determine; misfits as
        in `data`."""
        tests = "one measurement" if len(self.measured) == 1 else f"{len(self.measured)} measurements"
        out = Text(f"{self.problem.structure.mechanism.name}: numbers from {tests}")
        rows = []
        for name, before, after in zip(self.names, self.before, self.after, strict=True):
            words = interval_words(after, *self.intervals[name])
            rows.append((name, f"{before:.4g}", *words, "prior" if name in self.at_prior else "data"))
        out.table(("number", "before", "after", "95 % interval", "says"), rows)
        if self.afterwards is not None:
            self.afterwards.numbers_table(out)
        self._measured_tables(out)
        misfit_table(out, self.misfits() if misfits is None else misfits)
        for where, predicted in self.predictions.items():
            predicted.add_table(out, where)
        return out.lines("", *(f"- {words}" for words in self.words()))

    def _measured_tables(self, out: Text) -> None:
        """Add natural frequencies and gauges before and after to a text."""
        modes = [
            (f"{item.label or 'posture'} {i + 1}", f"{m:.4g}", f"{b:.4g}", f"{100 * (b / m - 1):+.2f}", f"{a:.4g}",
             f"{100 * (a / m - 1):+.2f}")
            for item in self.postures
            for i, (m, b, a) in enumerate(zip(item.measured_hz, item.before_hz, item.after_hz, strict=True))
        ]  # fmt: skip
        if modes:
            out.table(("mode", "measured [Hz]", "before [Hz]", "off [%]", "after [Hz]", "off [%]"), modes)
        own = [
            (f"{item.label or 'posture'} {i + 1}", f"{b:.4g}", f"{a:.4g}")
            for item in self.postures
            if not len(item.measured_hz)
            for i, (b, a) in enumerate(zip(*item.own_hz, strict=True))
        ]
        if own:
            out.table(("mode of the model", "before [Hz]", "after [Hz]"), own)
        gauges = [
            (f"{item.label} {name}".strip(), *(f"{1e3 * value:.4f}" for value in values))
            for item in self.postures
            for name, values in item.gauges.items()
        ]
        if gauges:
            out.table(("gauge", "measured [mm]", "before [mm]", "after [mm]"), gauges)

    def plot(self, *, axes: Any = None) -> Any:
        """Numbers with their intervals, frequencies before and after, the strength of what is known (matplotlib)."""
        return picture("identification.updating.plot.updated_plot")(self, axes)

    def save_mechanism(self, path: str | Path) -> Path:
        """Write the mechanism file with the numbers found, comments and all else as they were."""
        k = self.problem.count
        return save_updated(path, self.problem.structure.numbers, self.after[:k], self._damping_entries())

    def with_damping(self, kinds: str | Sequence[str], *, groups: Mapping[str, Sequence[str]] | None = None) -> Updated:
        """The same with damping of these kinds (`modal`, `joints`, `materials`, ...) fitted to its responses, the other
        numbers as they were found."""
        from supple.identification.damping.fit_damping import fit_damping

        if self.afterwards is not None:
            raise InputError(
                "its damping was fitted already", part="damping", hint="fit all kinds at once: joints,materials"
            )
        plain = updated_mechanism(self.problem.structure.numbers, self.after[: self.problem.count])
        found = fit_damping(plain, self.measured, kinds, groups=groups or {})
        fitted = iter(found.postures)
        postures = []
        for item in self.postures:
            if item.misfit is not None:
                one = next(fitted)
                item = replace(
                    item, misfit=(item.misfit[0], one.after), responses=(*item.responses[:2], one.shown)
                )  # fmt: skip
            postures.append(item)
        k = self.problem.count  # what was fitted along for the damping is not what is kept
        slopes = self.problem.data(np.log(self.after)).slopes[:, :k]
        spread = np.where(np.isfinite(self.prior[:k]), self.prior[:k], FLAT)
        return replace(
            self, names=self.names[:k], before=self.before[:k], after=self.after[:k], prior=self.prior[:k],
            covariance=self.covariance[:k, :k], identifiability=identifiability(self.names[:k], slopes, spread),
            at_bounds=tuple(name for name in self.at_bounds if name in self.names[:k]), postures=tuple(postures),
            afterwards=found,
        )  # fmt: skip

    def misfits(self, bands: Sequence[tuple[float, float]] | None = None) -> tuple[BandMisfit, ...]:
        """J_Q before and after in bands (Hz), of each measurement's responses together and one by one.

        If left out: in the band that was fitted, and over all lines that were measured.
        """
        k = self.problem.count
        numbers = self.problem.structure.numbers
        old = updated_mechanism(numbers, self.before[:k], self._along(np.exp(self.problem.start[k:])))
        return misfit_by_band(old, self.mechanism, self.measured, bands)

    def report(self, path: str | Path) -> Path:
        """Write one page of HTML with pictures: modes, MAC, responses, identifiability, intervals."""
        picture("view.report.report.report")(self, path)
        return Path(path)


def posture_results(problem: UpdatingProblem, x: Array) -> tuple[PostureResult, ...]:
    """Every measurement against the model at the start and at x."""
    found = []
    structure = problem.structure
    trials = [structure.at(problem.split(at)[0]) for at in (problem.start, x)]
    losses = [problem.split(at)[1] for at in (problem.start, x)]
    of_responses = iter(problem.responses)
    for observer in problem.observers:
        item = observer.measured
        answer: dict[str, Any] = {name: np.zeros(0) for name in ("before_hz", "after_hz", "deviation_hz")}
        if len(item.frequencies_hz):
            answer |= _vibration(observer, trials)
        if item.deflections:
            pair = [observer.deflected(trial)[0] for trial in trials]
            answer["gauges"] = {
                name: (float(value), float(a), float(b))
                for (name, value), a, b in zip(item.deflections.items(), *pair, strict=True)
            }
        if item.responses is not None:
            seen = next(of_responses)
            shown = [seen.shown(trial, loss, slopes=False).H for trial, loss in zip(trials, losses, strict=True)]
            answer["misfit"] = (seen.off(shown[0]), seen.off(shown[1]))
            answer["responses"] = (seen.measured, *shown)
            answer["model_hz"] = _among_lines(seen, trials)
            answer["left_at_end"] = seen.left_at_end(trials[1], losses[1])
        found.append(PostureResult(item.label, np.asarray(item.frequencies_hz, float), **answer))
    return tuple(found)


def _among_lines(seen: ResponseObserver, trials: list[Any]) -> tuple[Array, Array]:
    """Natural frequencies of the model that the lines reach with the last of the trials, and the same ones before."""
    before, after = (seen.model.spectrum(trial).hertz for trial in trials)
    low, high = seen.measured.frequencies_hz[[0, -1]]
    reached = np.flatnonzero((after >= low) & (after <= high))
    return before[reached], after[reached]


def _vibration(observer: Observer, trials: list[Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    for when, trial in zip(("before", "after"), trials, strict=True):
        spectrum = observer.spectrum(trial)
        answer[f"{when}_hz"], answer[f"alike_{when}"] = observer.paired_hz(spectrum)
        if observer.measured.shapes is not None:
            answer[f"mac_{when}"] = observer.mac(spectrum)
            answer[f"levels_{when}"] = spectrum.level_hertz()
    answer["deviation_hz"] = answer["after_hz"] * observer.sigma
    return answer
