"""Planning of tests: the identifiability of parameters that candidate tests would provide.

The model in its present state is its own measurement: derivatives of the responses of all sensors to each impact, over
the noise, give the remaining prior uncertainty of each parameter, for every candidate.          (updating, eqs. 15-19)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.limits import require_within
from supple.identification.updating.identifiability import Identifiability, and_list, identifiability
from supple.identification.updating.observed_responses import Loss, responses_with_slopes
from supple.identification.updating.posture_model import PostureModel, posture_model
from supple.identification.updating.structure import CondensedStructure, structure_of
from supple.identification.updating.update import DECADES, prior_deviations
from supple.identification.updating.written_numbers import numbers_of
from supple.kinematics.closure import assemble
from supple.results.channel import Channel, channel
from supple.results.result import Result
from supple.results.table import Table
from supple.results.text import Text

NOISE = 0.05  # of the RMS of each response
_LOSS = 0.02  # η, if the file has none
_LINES = 50
_BAND = 1.5  # of the highest line: frequency band of the condensed bodies


@dataclass(frozen=True, eq=False)
class Candidate:
    """Candidate for an impact-hammer test.

    Attributes
    ----------
    impacts : mapping of posture to sequence of str
        Excitation points with directions, such as `platform.z`, at each posture.
    sensors : sequence of str
        Places or channels whose accelerations are measured.
    name : str
        Name in the report. Default: made from the postures and excitation points.
    """

    impacts: Mapping[Any, Sequence[str]]
    sensors: Sequence[str]
    name: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class TestPlan(Result):
    """Identifiability of parameters for each candidate test.

    Attributes
    ----------
    names : tuple of str
        Parameters.
    candidates : tuple of str
        Names of the candidates.
    found : tuple of Identifiability
        Identifiability for each candidate, in their order.
    unseen : tuple of tuple of str
        Parameters that no response of the candidate depends on.
    sensors : tuple of str
        Channels that the candidates measure.
    """

    __test__ = False  # not a test of pytest

    names: tuple[str, ...]
    candidates: tuple[str, ...]
    found: tuple[Identifiability, ...]
    unseen: tuple[tuple[str, ...], ...]
    sensors: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return a one-line summary."""
        counts = (
            f"{name}: {item.determined_count} of {len(self.names)}"
            for name, item in zip(self.candidates, self.found, strict=True)
        )
        return "determined combinations by candidate: " + "; ".join(counts)

    def table(self) -> Table:
        """Return one row per candidate: determined combinations, and remaining prior deviations."""
        columns: dict[str, NDArray[Any]] = {
            "candidate": np.array(self.candidates, dtype=str),
            "determined": np.array([item.determined_count for item in self.found]),
        }  # fmt: skip
        columns |= {name: np.array([item.left[i] for item in self.found]) for i, name in enumerate(self.names)}
        return Table(columns, index="candidate")

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints."""
        candidates = [
            {
                "name": name,
                "determined": item.determined_count,
                "left_of_prior": dict(zip(self.names, item.left.tolist(), strict=True)),
                "combinations": item.combinations,
                "unseen": self.unseen[i],
                "words": self.words(i),
            }
            for i, (name, item) in enumerate(zip(self.candidates, self.found, strict=True))
        ]
        return {"parameters": self.names, "sensors": self.sensors, "candidates": candidates}

    def text(self) -> Text:
        """Return what each candidate determines, in a table and in words."""
        out = Text(f"accelerations at {', '.join(self.sensors)}; remaining prior uncertainty of each parameter:")
        rows = [
            (name, str(item.determined_count), *(f"{100 * left:.0f} %" for left in item.left))
            for name, item in zip(self.candidates, self.found, strict=True)
        ]
        out.table(("candidate", "determined", *self.names), rows)
        for i, name in enumerate(self.candidates):
            out.lines("", name, *(f"- {words}" for words in self.words(i)))
        return out

    def words(self, candidate: int) -> list[str]:
        """Return sentences on what a candidate determines and what it does not.

        Parameters
        ----------
        candidate : int
            Index of the candidate.
        """
        sentences = self.found[candidate].words()
        if self.unseen[candidate]:
            sentences.append(f"no response depends on {and_list(self.unseen[candidate])}")
        return sentences


def plan_test(
    mechanism: Mechanism | str | Path,
    parameters: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    candidates: Sequence[Candidate],
    *,
    fixed: Sequence[str] = (),
    prior: float | Mapping[str, float] | None = DECADES,
    noise: float = NOISE,
    band: tuple[float, float] = (1.0, 100.0),
    lines: int = _LINES,
    progress: Callable[[str], None] | None = None,
) -> TestPlan:
    """Predict which parameters a set of candidate tests can identify.

    The model in its present state provides the simulated measurement: derivatives of the responses of all sensors to
    each impact, over the noise, determine how much of the prior uncertainty each candidate leaves.

    Parameters
    ----------
    mechanism : Mechanism, str or Path
        Mechanism, or its file.
    parameters : str, sequence of str, or mapping of str to str or sequence of str
        Names or patterns of the parameters to identify, as in `update`.
    candidates : sequence of Candidate
        Candidate tests: postures, excitation points and sensors.
    fixed : sequence of str, optional
        Names or patterns of parameters that keep their values.
    prior : float, mapping of str to float, or None, optional
        Prior standard deviation of the parameters, in decades. Default: 0.3.
    noise : float, optional
        Noise of each response as a fraction of its RMS over the band. Default: 0.05.
    band : (float, float), optional
        Frequency band, Hz. Default: 1 to 100 Hz.
    lines : int, optional
        Number of frequency lines in the band. Default: 50.
    progress : callable, optional
        Function that is called with a line of text for every candidate.

    Returns
    -------
    TestPlan
        Identifiability of the parameters for each candidate.

    See Also
    --------
    update : Fit the parameters to measurements.
    virtual_test : Simulate a test and its records.

    Notes
    -----
    Equations 15-19 of docs/theory/updating.md.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> candidate = supple.Candidate({"home": ["tip.-z"]}, ["tip"])
    >>> plan = supple.plan_test(arm, ["aluminium.E", "aluminium.rho"], [candidate], lines=10)
    >>> plan.found[0].determined_count
    2
    """
    require_arguments(plan_test, locals())
    from supple.formats.document import load_mechanism

    machine = mechanism if isinstance(mechanism, Mechanism) else load_mechanism(mechanism)
    if not candidates:
        raise InputError("no candidate test is given", part="candidates", hint="give at least one Candidate")
    if not noise > 0.0:
        raise InputError(f"must be positive (got {noise:g})", part="noise", hint="0.05 means five per cent")
    if lines < 1:
        raise InputError(f"must be at least 1 (got {lines})", part="lines")
    require_within("lines", lines, part="lines")
    numbers = numbers_of(machine, [parameters] if isinstance(parameters, str) else parameters, list(fixed))
    structure = structure_of(numbers, _BAND * band[1])
    spread = prior_deviations(numbers.names, prior)
    spread = np.where(np.isfinite(spread), spread, np.log(10.0) * DECADES)
    damping = machine.damping
    loss = Loss((damping and damping.structural) or _LOSS)
    s = 2j * np.pi * np.linspace(*band, lines)
    report = progress or (lambda text: None)
    models: dict[str, PostureModel] = {}
    found, unseen, names = [], [], []
    for number, one in enumerate(candidates, 1):
        report(f"candidate {number} of {len(candidates)}")
        J = np.vstack([_slopes(structure, models, at, impact, one, s, loss, noise)
                       for at, impacts in one.impacts.items() for impact in impacts])  # fmt: skip
        found.append(identifiability(numbers.names, J, spread))
        sizes = np.linalg.norm(J * spread, axis=0)
        unseen.append(tuple(name for name, size in zip(numbers.names, sizes, strict=True) if size < 1e-3 * sizes.max()))
        names.append(one.name or "; ".join(f"{at}: {', '.join(impacts)}" for at, impacts in one.impacts.items()))
    sensors = dict.fromkeys(name for one in candidates for name in one.sensors)
    return TestPlan(numbers.names, tuple(names), tuple(found), tuple(unseen), tuple(sensors))


def _slopes(
    structure: CondensedStructure, models: dict[str, PostureModel], at: Any, impact: str, one: Candidate,
    s: NDArray[Any], loss: Loss, noise: float,
) -> Array:  # fmt: skip
    """Return ∂H/∂ln p over noise, (n, k), of all sensors to one impact."""
    key = repr(at)
    if key not in models:
        models[key] = posture_model(structure, assemble(structure.mechanism, at))
    model = models[key]
    outputs = [item for name in one.sensors for item in _channels(name, structure.mechanism.plane or "xyz")]
    trial = structure.at(structure.numbers.values)
    g, f = model.channels(outputs), model.channels([channel(impact, "force")])
    H = responses_with_slopes(model.spectrum(trial), g, f, s, np.full(len(g), 2), loss, slopes=True)
    size = np.sqrt(np.mean(np.abs(H.H) ** 2, axis=0))  # (o, 1)
    size = np.maximum(size, 1e-3 * size.max())  # a sensor that hardly moves has the noise of the others
    J = np.array(
        [(slope * value / (noise * size)).ravel() for slope, value in zip(H.slopes, trial.values, strict=True)]
    )
    # Real and imaginary part have half of the variance each.
    return np.sqrt(2.0) * np.hstack([J.real, J.imag]).T


def _channels(name: str, letters: str) -> list[Channel]:
    """Return a channel, or the channels of a place along all axes of the drawing."""
    found = channel(name)
    return [found] if found.direction else [Channel(name, axis) for axis in letters]
