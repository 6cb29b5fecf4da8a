"""`check_measurement`: find errors in a test before a fit. `join_responses`: join several files of one test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.description.elastic.material import Damping
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleError
from supple.diagnostics.arguments import require_arguments, require_one
from supple.identification.testing.matching import WITHIN, MatchedResponses, match_channels, match_places
from supple.identification.testing.model_responses import model_responses
from supple.identification.testing.suspicions import Suspicion, likeness, suspicions
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.results.channel import channel, direction_text
from supple.results.responses import Responses
from supple.results.result import Result
from supple.results.table import Table
from supple.results.text import Text, list_names, number_text

if TYPE_CHECKING:
    from supple.identification.updating.measurement import Measurement

_BETTER = 0.15  # by how much the likeness at another posture must be better for it to be reported
_ALIKE = 0.9  # correlation of a channel that two files share
_CHANNELS = 40  # in a listing
_FEW = 3  # suspicions of a kind that are listed one by one
_SAME = 1e-6  # of a step: tolerance for the lines of two files
_USUAL = Damping(structural=0.02)  # for a mechanism without damping
_NO_PLACES: Mapping[str, str] = {}


@dataclass(frozen=True, eq=False, repr=False)
class MeasurementCheck(Result):
    """Result of `check_measurement`.

    Attributes
    ----------
    responses : Responses
        Test, its channels named by places if a mechanism was given.
    suspicions : tuple of Suspicion
        Errors and doubts, the certain ones first.
    matched : MatchedResponses or None
        Match of every point, if a mechanism was given.
    model : Responses or None
        Responses of the model for the same channels.
    """

    responses: Responses
    suspicions: tuple[Suspicion, ...]
    matched: MatchedResponses | None = None
    model: Responses | None = None

    @property
    def sound(self) -> bool:
        """True if there are no certain errors."""
        return not any(item.certain for item in self.suspicions)

    def require_sound(self) -> Responses:
        """Return the responses if they have no certain error.

        Raises
        ------
        InputError
            If there is a certain error; the message gives the first.
        """
        wrong = [item for item in self.suspicions if item.certain]
        if wrong:
            more = f" ({len(wrong) - 1} more)" if len(wrong) > 1 else ""
            part = f"channel {wrong[0].channel}" if wrong[0].channel else "test"
            raise InputError(f"{wrong[0].what}{more}", part=part, hint=wrong[0].hint)
        return self.responses

    def summary(self) -> str:
        """Return a one-line summary."""
        certain = sum(item.certain for item in self.suspicions)
        doubtful = len(self.suspicions) - certain
        found = f"{certain} errors and {doubtful} possible errors" if self.suspicions else "no errors found"
        return f"{found} in {self.responses.summary()}"

    def table(self) -> Table:
        """Return one row for each suspicion: its kind, channel, description and remedy."""
        columns = {
            name: np.array([str(getattr(item, name)) for item in self.suspicions], dtype=str)
            for name in ("kind", "channel", "what", "hint")
        }
        columns["certain"] = np.array([item.certain for item in self.suspicions], dtype=int)
        return Table(columns)

    def data(self) -> dict[str, Any]:
        """Return the object that `--json` prints: the test, its channels, and the suspicions."""
        test = self.responses
        return {
            "title": test.title, "date": test.date, "at": test.at, "lines": len(test.frequencies_hz),
            "first_hz": test.frequencies_hz[0], "last_hz": test.frequencies_hz[-1], "averages": test.averages,
            "estimator": test.estimator, "window_rate": test.window_rate, "kind": test.kind,
            "references": [_channel(one) for one in test.references],
            "responses": [
                {**_channel(one), **size} for one, size in zip(test.responses, _sizes(test), strict=True)
            ],
            "points": [] if self.matched is None else [match._asdict() for match in self.matched.matches],
            "notes": list(test.notes), "suspicions": [item._asdict() for item in self.suspicions],
        }  # fmt: skip

    def text(self) -> Text:
        """Return the test, its channels, and the suspicions."""
        out, test = Text(), self.responses
        lines = test.frequencies_hz
        at = (
            test.at
            if isinstance(test.at, str)
            else ", ".join(f"{name}={number_text(x)}" for name, x in test.at.items())
        )
        out.line(f"{test.title or 'test'}{f' at {at}' if at else ''}{f', {test.date}' if test.date else ''}")
        step = f", {(lines[-1] - lines[0]) / (len(lines) - 1):.6g} Hz apart" if len(lines) > 1 else ""
        estimate = f"; {test.estimator} of {test.averages} records" if test.averages else ""
        window = f", exponential window of {test.window_rate:.4g} 1/s" if test.window_rate else ""
        out.line(f"{test.kind}, {len(lines)} lines from {lines[0]:.6g} to {lines[-1]:.6g} Hz{step}{estimate}{window}")
        places = {match.place: match for match in self.matched.matches} if self.matched else {}
        rows = []
        for one in test.references:
            rows.append(
                (
                    one.name,
                    "reference",
                    one.quantity,
                    _unit_text(one),
                    _position_text(one),
                    "",
                    "",
                    *_match(places, one),
                )
            )
        for one, size in zip(test.responses, _sizes(test), strict=True):
            share = "" if size["coherence"] is None else f"{size['coherence']:.3f}"
            rows.append((one.name, "response", one.quantity, _unit_text(one), _position_text(one),
                         number_text(size["rms"]), share, *_match(places, one)))  # fmt: skip
        titles = ("channel", "role", "quantity", "unit", "position / m", "RMS of H", "coherence")
        shown = rows[:_CHANNELS]
        out.table(
            (*titles, "point", "distance / mm") if places else titles, [row if places else row[:7] for row in shown]
        )
        if len(rows) > _CHANNELS:
            out.line(f"and {len(rows) - _CHANNELS} more channels; --json lists all")
        for note in test.notes:
            out.line(f"note: {note}")
        for item in self.suspicions:
            out.line(f"{'error' if item.certain else 'possible error'}: {item}")
        if not self.suspicions:
            against = "" if self.model is not None else "; use --mechanism FILE to check signs and units as well"
            out.line(f"no errors found{against}")
        return out


def _channel(one: Any) -> dict[str, Any]:
    return {
        "name": one.name, "point": one.point, "direction": direction_text(one.direction), "quantity": one.quantity,
        "unit": one.unit, "recorded": one.recorded, "position": one.position,
    }  # fmt: skip


def _sizes(test: Responses) -> list[dict[str, Any]]:
    size = np.sqrt(np.mean(np.abs(test.H) ** 2, axis=(0, 2)))
    gamma = None if test.coherence is None else test.coherence.mean(axis=(0, 2))
    return [{"rms": size[i], "coherence": None if gamma is None else gamma[i]} for i in range(len(size))]


def _match(places: dict[str, Any], one: Any) -> tuple[str, str]:
    match = places.get(one.point)
    if match is None:
        return "", ""
    return match.point, "" if match.distance != match.distance else f"{1e3 * match.distance:.3g}"


def _unit_text(one: Any) -> str:
    return (
        f"{one.unit} (file: {one.recorded})"
        if one.recorded and one.recorded != one.unit.replace("²", "^2")
        else one.unit
    )


def _position_text(one: Any) -> str:
    return (
        ""
        if one.position is None
        else ", ".join(f"{value:.4g}" if abs(value) > 1e-12 else "0" for value in one.position)
    )


def check_measurement(
    test: Responses,
    mechanism: Mechanism | None = None,
    at: At | Configuration = None,
    *,
    places: Mapping[str, str] = _NO_PLACES,
    within: float = WITHIN,
    free_actuators: bool = False,
    damping: Damping | Mapping[str, Any] | float | None = None,
    drives: bool = True,
) -> MeasurementCheck:
    """Look for errors in a test; with a mechanism, match its points and compare it with the model.

    Signs, units, axes and the posture are compared with the model, whose natural frequencies may be off by 15 %.

    Parameters
    ----------
    test : Responses
        Measured frequency responses.
    mechanism : Mechanism, optional
        Mechanism to match and compare the test with. Default: the test is checked alone.
    at : str, mapping or Configuration, optional
        Posture of the test. Default: the posture that the test names.
    places : mapping of str to str, optional
        Places of the mechanism for points of the test, {point: place}, as in `match_channels`.
    within : float, optional
        Largest distance between a point and its place, m. Default: 0.02.
    free_actuators : bool, optional
        Let the actuators move freely instead of locking them. Default: False.
    damping : Damping, mapping or float, optional
        Damping model, as in `frf`. Default: the mechanism's, or a loss factor of 2 % if it has no damping.
    drives : bool, optional
        Include drives, as in `frf`. Default: True.

    Returns
    -------
    MeasurementCheck
        Test with matched channels, and the list of suspicions.

    See Also
    --------
    match_channels : Match the points of a test only.
    join_responses : Join files of one test.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> test = supple.virtual_test(arm, "home", "tip.-z", "tip", sampling_hz=256.0, noise=0.01)
    >>> supple.check_measurement(test.responses, arm, "home").sound
    True
    """
    require_arguments(check_measurement, locals())
    if mechanism is None:
        return MeasurementCheck(test, _certain_first(suspicions(test)))
    matched = match_channels(test, mechanism, at, places=places, within=within)
    named = matched.responses
    chosen: Any = at if at is not None else (named.at or None)
    damping = _USUAL if damping is None and not _has_damping(mechanism) else damping

    def answer(where: At | Configuration) -> Responses:
        lines = named.frequencies_hz
        first = 1 if free_actuators and lines[0] == 0.0 else 0
        found = model_responses(
            mechanism, where, named.references, named.responses, lines[first:], free_actuators=free_actuators,
            damping=damping, drives=drives,
        )  # fmt: skip
        if not first:
            return found
        H = np.concatenate([np.zeros_like(found.H[:1]), found.H])
        return found.copy_with(frequencies_hz=lines, H=H)

    model = answer(chosen)
    found = suspicions(named, model)
    finite = not any(item.kind == "not finite" for item in found)
    if finite and len(named.frequencies_hz) > 2:
        found += _other_postures(named, model, mechanism, chosen, answer)
    return MeasurementCheck(named, _certain_first(found), matched, model)


def _has_damping(mechanism: Mechanism) -> bool:
    """Return True if the mechanism has any damping."""
    joints = mechanism.joints.values()
    return bool(
        mechanism.damping or mechanism.dampers or any(item.damping for item in mechanism.materials.values())
        or any(item.damping for item in mechanism.couplings.values())
        or any(joint.elastic_loss or joint.elastic_damping for joint in joints)
        or any(drive.damping for joint in joints for drive in joint.drives(mechanism.plane).values())
    )  # fmt: skip


def join_responses(*tests: Responses) -> Responses:
    """Join the responses of several files of one test.

    The files must have the same lines, posture, references and exponential window.

    Parameters
    ----------
    *tests : Responses
        Responses to join.

    Returns
    -------
    Responses
        All response channels together.

    Raises
    ------
    InputError
        If the tests do not belong together. A channel that two of them measured must agree (correlation 0.9): if it
        does not, they are of different postures, or a sensor moved.

    See Also
    --------
    load_responses : Read responses from a file.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> test = supple.virtual_test(arm, "home", "tip.-z", ["tip", "link1[0.5]"], sampling_hz=256.0).responses
    >>> names = [channel.name for channel in test.responses]
    >>> len(supple.join_responses(test.select(names[:2]), test.select(names[2:])).responses)
    4
    """
    for n, one in enumerate(tests, 1):
        require_one(Responses, one, f"test {n}")
    if not tests:
        raise InputError("no test is given", part="tests", hint="give at least one")
    first = tests[0]
    responses, parts, gammas = list(first.responses), [first.H], [first.coherence]
    for n, other in enumerate(tests[1:], 2):
        part = f"test {n}{f' ({other.title})' if other.title else ''}"
        if other.at != first.at:
            raise InputError(
                f"the test was made at {other.at or 'an unknown posture'}, the first at {first.at or 'an unknown one'}",
                part=part,
                hint="files of different postures are separate tests: give each of them with its posture",
            )  # fmt: skip
        _require_alike(first, other, part)
        fresh = [one.name for one in other.responses if one.name not in {known.name for known in responses}]
        for name in (one.name for one in other.responses if one.name not in fresh):
            _require_same(first, other, name, part)
        if fresh:
            added = other.select(fresh)
            responses += added.responses
            parts.append(added.H)
            gammas.append(added.coherence)
    coherence = (
        None if any(one is None for one in gammas) else np.concatenate([one for one in gammas if one is not None], 1)
    )
    notes = tuple(dict.fromkeys(note for test in tests for note in test.notes))
    return first.copy_with(
        responses=tuple(responses), H=np.concatenate(parts, axis=1), coherence=coherence, notes=notes
    )


def _require_alike(first: Responses, other: Responses, part: str) -> None:
    lines = first.frequencies_hz
    if len(other.frequencies_hz) != len(lines) or not np.allclose(other.frequencies_hz, lines, rtol=_SAME, atol=0.0):
        raise InputError(
            "the frequency lines differ from those of the first test", part=part,
            hint="measure all with the same sample rate and record length",
        )  # fmt: skip
    if [one.name for one in other.references] != [one.name for one in first.references]:
        raise InputError(
            f"the references are {list_names(one.name for one in other.references)}, "
            f"not {list_names(one.name for one in first.references)}",
            part=part, hint="join files with the same excitation points",
        )  # fmt: skip
    if other.window_rate != first.window_rate:
        raise InputError("the exponential window differs from that of the first test", part=part,
                         hint="use one window for all")  # fmt: skip


def _require_same(first: Responses, other: Responses, name: str, part: str) -> None:
    if not any(one.name == name for one in first.responses):
        return
    a, b = (test.H[:, test.response(name)].ravel() for test in (first, other))
    size = float(np.sqrt(np.sum(np.abs(a) ** 2) * np.sum(np.abs(b) ** 2)))
    c = float(np.sum((a.conj() * b).real)) / size if size > 0.0 else 1.0
    if c < _ALIKE:
        raise InputError(
            f'channel "{name}" differs from that of the first test (correlation {c:.2f}, limit {_ALIKE})', part=part,
            hint="if the posture changed, or the sensor was moved, give the files as separate tests",
        )  # fmt: skip


def _other_postures(
    named: Responses, model: Responses, mechanism: Mechanism, chosen: Any, answer: Any
) -> list[Suspicion]:
    """Return a suspicion if the test agrees clearly better with another named posture."""
    own = likeness(named, model)
    here = chosen if isinstance(chosen, Configuration) else assemble(mechanism, chosen)
    better: dict[str, float] = {}
    for name in mechanism.configurations:
        try:
            there = assemble(mechanism, name)
            if not np.allclose(there.theta, here.theta):
                better[name] = likeness(named, answer(there))
        except SuppleError:  # the test cannot have been made at a posture that does not exist
            continue
    if not better:
        return []
    best = max(better, key=lambda name: better[name])
    if better[best] < own + _BETTER:
        return []
    what = f'the responses agree better with the posture "{best}" (correlation {better[best]:.2f}, given {own:.2f})'
    return [
        Suspicion(
            "posture",
            "",
            what,
            "if the test was made there, give the posture with --at, or after the file name as in FILE@POSTURE",
        )
    ]


def _certain_first(found: list[Suspicion]) -> tuple[Suspicion, ...]:
    return tuple(sorted(found, key=lambda item: not item.certain))


def sound_measurement(item: Measurement, mechanism: Mechanism, *, trust: bool = False) -> tuple[Measurement, list[str]]:
    """Match the responses and shapes of a measurement to places, and refuse erroneous ones.

    trust : accept responses that look wrong
    Returns the measurement without channels that do not move, and the possible errors as text.
    """
    if item.shapes is not None:
        given = [channel(one) if isinstance(one, str) else one for one in item.channels]
        item = replace(item, channels=match_places(given, assemble(mechanism, item.at)))
    if item.responses is None:
        return item, []

    matched = match_channels(item.responses, mechanism, item.at).responses
    found = check_measurement(matched if item.band is None else matched.select(band_hz=item.band), mechanism, item.at)
    if not trust:
        found.require_sound()
    name = item.label or "responses"
    kinds: dict[str, list[Suspicion]] = {}
    for one in found.suspicions:
        kinds.setdefault(one.kind, []).append(one)
    doubts: list[str] = []
    for alike in kinds.values():
        doubts += [f"{name}: {one}" for one in alike[:_FEW]]
        doubts += [f"{name}: the same for {len(alike) - _FEW} more channels"] * (len(alike) > _FEW)
    still = {one.channel for one in found.suspicions if one.kind == "dead channel" and not one.certain}
    moving = [one.name for one in matched.responses if one.name not in still]
    return replace(item, responses=matched.select(moving) if still and moving else matched), doubts
