"""Result of model updating: parameters, their uncertainty, agreement with the measurements, and predictions."""

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

_UNEXPLAINED = 0.3  # J_Q above which a fit has failed
SURE = 1.959964  # deviations that contain 95 % of a normal distribution


@dataclass(frozen=True, eq=False)
class PostureResult:
    """One measurement and the model, before and after the update.

    measured, before, after (k,) Hz, paired; alike (k,) MAC of each with its partner, or cos² of its angle to the
    subspace of close modes; mac (k, levels) before and after, with the levels' frequencies gauges : name -> (measured,
    before, after), m; misfit : J_Q of responses before and after model_hz : the model's natural frequencies among the
    lines of responses, before and after (k,), (k,) left_at_end : for records, the remaining fraction of the slowest
    mode, and its frequency, Hz
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
        """Natural frequencies of the model before and after, Hz.

        They are those paired with measured ones; for responses alone, those among their lines.
        """
        paired = self.before_hz, self.after_hz
        return paired if len(self.measured_hz) or self.model_hz is None else self.model_hz

    def mean_error(self, which: str = "after") -> float:
        """Return the mean of |f/f_m - 1|, before or after."""
        found = self.after_hz if which == "after" else self.before_hz
        return float(np.mean(np.abs(found / self.measured_hz - 1.0))) if len(found) else np.nan


@dataclass(frozen=True, eq=False, repr=False)
class Predicted(Result):
    """Predicted natural frequencies at a posture, with their 95 % intervals; a double mode counts once.

    Attributes
    ----------
    at : str
        Name of the posture, or "".
    frequencies_hz : ndarray, shape (m,)
        Natural frequencies, Hz.
    deviations_hz : ndarray, shape (m,)
        Standard deviations, Hz.
    modes : ndarray, shape (m,)
        Number of modes at each frequency.
    """

    at: str
    frequencies_hz: Array
    deviations_hz: Array
    modes: NDArray[np.int64]

    @property
    def low_hz(self) -> Array:
        """Lower ends of the intervals (m,), Hz."""
        return np.asarray(self.frequencies_hz * np.exp(-SURE * self.deviations_hz / self.frequencies_hz))

    @property
    def high_hz(self) -> Array:
        """Upper ends of the intervals (m,), Hz."""
        return np.asarray(self.frequencies_hz * np.exp(SURE * self.deviations_hz / self.frequencies_hz))

    def summary(self) -> str:
        """Return a one-line summary."""
        pairs = zip(self.frequencies_hz, SURE * self.deviations_hz, strict=True)
        return f"at {self.at or 'rest'}: " + ", ".join(f"{f:.4g} ± {d:.2g}" for f, d in pairs) + " Hz"

    def table(self) -> Table:
        """Return one row for each frequency, with its interval."""
        columns: dict[str, Any] = {
            "frequency_hz": self.frequencies_hz, "low_hz": self.low_hz, "high_hz": self.high_hz, "modes": self.modes,
        }  # fmt: skip
        return Table(columns, dict.fromkeys(("frequency_hz", "low_hz", "high_hz"), "Hz"))

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        return {"frequencies_hz": self.frequencies_hz, "low_hz": self.low_hz, "high_hz": self.high_hz}

    def text(self) -> Text:
        """Return the frequencies with their intervals."""
        out = Text()
        self.add_table(out, self.at or "rest")
        return out

    def add_table(self, out: Text, at: str) -> None:
        """Add the frequencies with their intervals to a text."""
        bands = zip(self.frequencies_hz, self.low_hz, self.high_hz, strict=True)
        rows = [(str(i + 1), *interval_words(f, low, high)) for i, (f, low, high) in enumerate(bands)]
        out.table((f"predicted at {at}", "[Hz]", "95 % interval"), rows)


@dataclass(frozen=True, eq=False, repr=False)
class Updated(Result):
    """Result of `update`: fitted parameters with their uncertainty.

    Attributes
    ----------
    names : tuple of str
        Names of the parameters (k,).
    before, after : ndarray, shape (k,)
        Values in the file and fitted values, SI.
    covariance : ndarray, shape (k, k)
        Covariance of the logarithms of the values.
    excess : float
        Ratio of the variance of the residuals to the stated noise; covariance and intervals include it.
    prior : ndarray, shape (k,)
        Prior standard deviation of the logarithms; infinite without prior.
    identifiability : Identifiability
        Which combinations the data determine.
    at_bounds : tuple of str
        Parameters that are at a bound.
    postures : tuple of PostureResult
        Each measurement and the model, before and after.
    varying : Varying or None
        Stiffness of which one value does not explain all postures.
    measured : tuple of Measurement
        Measurements that were used.
    problem : UpdatingProblem
        The least-squares problem.
    afterwards : FittedDamping or None
        Damping of modes, joints or materials that was fitted after the parameters.
    predictions : mapping of str to Predicted
        Predictions at further postures, shown in the report.
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
            raise InputError(f'"{name}" was not fitted', part="update", hint=nearest(name, self.names))
        return float(self.after[self.names.index(name)])

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism with the fitted values."""
        k = self.problem.count
        return updated_mechanism(self.problem.structure.numbers, self.after[:k], self._damping_entries())

    def _damping_entries(self) -> dict[tuple[str, ...], Any]:
        """Return the entries of the file for the fitted damping."""
        return (
            self._joint_damping_entries(self.after[self.problem.count :])
            if self.afterwards is None
            else self.afterwards.entries()
        )

    def _joint_damping_entries(self, values: Array) -> dict[tuple[str, ...], Any]:
        """Return the entries of damping that is fitted together with the parameters."""
        kind = next((kind for kind, names in LOSSES.items() if names == self.problem.losses), "none")
        return DAMPING_KINDS[kind].written((), values) if self.problem.losses else {}

    @property
    def deviations(self) -> Array:
        """Relative standard deviations (k,), those of the logarithms."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Confidence interval of 95 % of each parameter."""
        return {
            name: (float(value * np.exp(-SURE * d)), float(value * np.exp(SURE * d)))
            for name, value, d in zip(self.names, self.after, self.deviations, strict=True)
        }

    @property
    def at_prior(self) -> tuple[str, ...]:
        """Parameters that the data hardly determine."""
        return self.identifiability.at_prior

    @property
    def damping(self) -> dict[str, float]:
        """Fitted damping parameters by name."""
        if self.afterwards is not None:
            return dict(zip(self.afterwards.names, self.afterwards.values.tolist(), strict=True))
        k = self.problem.count
        return dict(zip(self.names[k:], self.after[k:].tolist(), strict=True))

    def predict(self, at: At = None, count: int = 10) -> Predicted:
        """Predict the natural frequencies at a posture, with the uncertainty of the parameters.

        Parameters
        ----------
        at : str, mapping or array_like, optional
            Posture; it need not have been measured. Default: rest.
        count : int, optional
            Number of modes. Default: 10.

        Returns
        -------
        Predicted
            Frequencies with their intervals.
        """
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
        """Predict the displacements of gauges under a force, with the uncertainty of the parameters.

        Parameters
        ----------
        at : str, mapping or array_like
            Posture.
        force : dict of str to float
            Force {"E.z": N, or N m about an axis}.
        gauges : tuple of str
            Directions such as "E.z".

        Returns
        -------
        dict of str to (float, float)
            Displacement and standard deviation of each gauge, m.
        """
        structure, k = self.problem.structure, self.problem.count
        model = posture_model(structure, assemble(structure.mechanism, at))
        acting = np.array(list(force.values())) @ model.ports(tuple(force))
        y, dy = model.deflections(structure.at(self.after[:k]), acting[None], model.ports(tuple(gauges)))
        J = dy[:, 0].T * self.after[:k]
        spread = np.sqrt(np.einsum("ij,jk,ik->i", J, self.covariance[:k, :k], J))
        return {name: (float(value), float(d)) for name, value, d in zip(gauges, y[0], spread, strict=True)}

    def summary(self) -> str:
        """Return a one-line summary."""
        found = ", ".join(
            f"{name} {value:.4g} ± {100 * d:.2g} %"
            for name, value, d in zip(self.names, self.after, self.deviations, strict=True)
        )
        return f"{found}; {self.identifiability.words()[0]}"

    def words(self) -> list[str]:
        """Return sentences on what the data determine and what they do not, with warnings."""
        notes = [*self.identifiability.words(), *(self.afterwards.words() if self.afterwards is not None else ())]
        if self.at_bounds:
            notes.append(f"at a bound: {', '.join(self.at_bounds)}")
        for item in self.postures:
            if item.misfit is not None and item.misfit[1] > _UNEXPLAINED:
                notes.append(
                    f"responses at {item.label or 'rest'} are not explained (J_Q {item.misfit[1]:.0%}, limit "
                    f"{_UNEXPLAINED:.0%}): do not use the values; try more starts, or fit natural frequencies first"
                )
            if item.left_at_end is not None and item.left_at_end[0] > self._least():
                share, hertz = item.left_at_end
                notes.append(
                    f"records at {item.label or 'rest'} end with {share:.1g} of the {hertz:.3g} Hz motion left (limit "
                    f"{self._least():.2g}, the smallest deviation): use an exponential window or longer records"
                )
        if self.varying is not None:
            notes.append(self.varying.words())
        if self.excess > 1.5:
            notes.append(
                f"the residuals are {np.sqrt(self.excess):.1f} times the stated noise: the model is incomplete, or the "
                "noise is larger; the fit and its intervals use the larger noise"
            )
        return notes

    def _least(self) -> float:
        """Return the least deviation of the parameters that are determined individually."""
        found = [d for name, d in zip(self.names, self.deviations, strict=True) if name in self.identifiability.found]
        return float(min(found, default=np.inf))

    def table(self) -> Table:
        """Return one row for each parameter: before, after, 95 % interval, remaining prior deviation."""
        low, high = (np.array([pair[i] for pair in self.intervals.values()]) for i in range(2))
        columns: dict[str, NDArray[Any]] = {
            "name": np.array(self.names, dtype=str), "before": self.before, "after": self.after, "low": low,
            "high": high, "left_of_prior": self.identifiability.left,
        }  # fmt: skip
        return Table(columns, index="name")

    def data(self, misfits: Sequence[BandMisfit] | None = None) -> dict[str, Any]:
        """Return the object that `--json` prints; misfits : result of `misfits`, which also gives the default."""
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
        """Return parameters with their intervals, the agreement before and after, and what the data determine."""
        tests = "one measurement" if len(self.measured) == 1 else f"{len(self.measured)} measurements"
        out = Text(f"{self.problem.structure.mechanism.name}: parameters from {tests}")
        rows = []
        for name, before, after in zip(self.names, self.before, self.after, strict=True):
            words = interval_words(after, *self.intervals[name])
            rows.append((name, f"{before:.4g}", *words, "prior" if name in self.at_prior else "data"))
        out.table(("parameter", "before", "after", "95 % interval", "from"), rows)
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
            out.table(("mode", "measured [Hz]", "before [Hz]", "error [%]", "after [Hz]", "error [%]"), modes)
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
        """Draw the parameters with their intervals, and frequencies before and after; return the panels.

        Parameters
        ----------
        axes : optional
            Axes to draw on. Default: a new figure.
        """
        return picture("identification.updating.plot.updated_plot")(self, axes)

    def save_mechanism(self, path: str | Path) -> Path:
        """Write the mechanism file with the fitted values; comments and all other text are preserved.

        Parameters
        ----------
        path : str or path-like
            File to write.
        """
        k = self.problem.count
        return save_updated(path, self.problem.structure.numbers, self.after[:k], self._damping_entries())

    def with_damping(self, kinds: str | Sequence[str], *, groups: Mapping[str, Sequence[str]] | None = None) -> Updated:
        """Fit damping to the responses, with the parameters at their fitted values, and return the extended result.

        Parameters
        ----------
        kinds : str or sequence of str
            Damping kinds: modal, joints, materials, ..., as in `fit_damping`.
        groups : mapping of str to sequence of str, optional
            Joints or materials that share one loss factor: {name: patterns}.

        Returns
        -------
        Updated
            The result with the fitted damping in `afterwards`.
        """
        from supple.identification.damping.fit_damping import fit_damping

        if self.afterwards is not None:
            raise InputError(
                "the damping was already fitted", part="damping", hint="fit all kinds at once: joints,materials"
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
        k = self.problem.count  # the damping that was fitted together with the parameters is replaced
        slopes = self.problem.data(np.log(self.after)).slopes[:, :k]
        spread = np.where(np.isfinite(self.prior[:k]), self.prior[:k], FLAT)
        return replace(
            self, names=self.names[:k], before=self.before[:k], after=self.after[:k], prior=self.prior[:k],
            covariance=self.covariance[:k, :k], identifiability=identifiability(self.names[:k], slopes, spread),
            at_bounds=tuple(name for name in self.at_bounds if name in self.names[:k]), postures=tuple(postures),
            afterwards=found,
        )  # fmt: skip

    def misfits(self, bands: Sequence[tuple[float, float]] | None = None) -> tuple[BandMisfit, ...]:
        """Return J_Q in frequency bands, before and after.

        Parameters
        ----------
        bands : sequence of (float, float), optional
            Bands, Hz. Default: the band of the fit, and all lines that were measured.

        Returns
        -------
        tuple of BandMisfit
            J_Q of all responses of a measurement together, and of each response.
        """
        k = self.problem.count
        numbers = self.problem.structure.numbers
        old = updated_mechanism(numbers, self.before[:k], self._joint_damping_entries(np.exp(self.problem.start[k:])))
        return misfit_by_band(old, self.mechanism, self.measured, bands)

    def report(self, path: str | Path) -> Path:
        """Write a report as one HTML page: modes, MAC, responses, identifiability and intervals.

        Parameters
        ----------
        path : str or path-like
            File to write, .html.
        """
        picture("view.report.report.report")(self, path)
        return Path(path)


def posture_results(problem: UpdatingProblem, x: Array) -> tuple[PostureResult, ...]:
    """Return every measurement and the model at the start and at x."""
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
            pair = [observer.compute_deflections(trial)[0] for trial in trials]
            answer["gauges"] = {
                name: (float(value), float(a), float(b))
                for (name, value), a, b in zip(item.deflections.items(), *pair, strict=True)
            }
        if item.responses is not None:
            seen = next(of_responses)
            shown = [
                seen.compute_responses(trial, loss, slopes=False).H for trial, loss in zip(trials, losses, strict=True)
            ]
            answer["misfit"] = (seen.misfit(shown[0]), seen.misfit(shown[1]))
            answer["responses"] = (seen.measured, *shown)
            answer["model_hz"] = _among_lines(seen, trials)
            answer["left_at_end"] = seen.estimate_remainder(trials[1], losses[1])
        found.append(PostureResult(item.label, np.asarray(item.frequencies_hz, float), **answer))
    return tuple(found)


def _among_lines(seen: ResponseObserver, trials: list[Any]) -> tuple[Array, Array]:
    """Return natural frequencies of the model among the lines with the last trial, and the same modes before."""
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
