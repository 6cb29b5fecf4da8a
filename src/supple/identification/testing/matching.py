"""Matching of the points of a test with places of a mechanism, by name or by position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.elastic.placed_beam import placed_beams
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import InputError, describe_unknown, require_known
from supple.diagnostics.arguments import require_arguments
from supple.identification.testing.model_responses import place_position
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.results.channel import Channel, Vector3
from supple.results.responses import Responses
from supple.results.result import Result
from supple.results.table import Table
from supple.results.text import list_names

WITHIN = 0.02  # m
_NO_PLACES: Mapping[str, str] = {}


class Match(NamedTuple):
    """Match of a point of a test.

    point : of the test; place : of the mechanism; how : given, name or position; distance : m, NaN if unknown
    """

    point: str
    place: str
    how: str
    distance: float


@dataclass(frozen=True, eq=False, repr=False)
class MatchedResponses(Result):
    """Responses with their points matched to a mechanism.

    Attributes
    ----------
    responses : Responses
        Test with channels named by places of the mechanism.
    matches : tuple of Match
        Match of every point.
    within : float
        Largest distance allowed, m.
    """

    responses: Responses
    matches: tuple[Match, ...]
    within: float

    def summary(self) -> str:
        """Return a one-line summary."""
        far = [match.distance for match in self.matches if np.isfinite(match.distance)]
        matched = f"{len(self.matches)} points matched"
        return f"{matched}, at most {1e3 * max(far):.3g} mm away" if far else f"{matched} by name, positions unknown"

    def table(self) -> Table:
        """Return point, place, kind of match and distance of every point."""
        return Table(
            {
                "point": np.array([match.point for match in self.matches], dtype=str),
                "place": np.array([match.place for match in self.matches], dtype=str),
                "how": np.array([match.how for match in self.matches], dtype=str),
                "distance": np.array([match.distance for match in self.matches]),
            },
            {"distance": "m"}, index="point",
        )  # fmt: skip


def match_channels(
    test: Responses,
    mechanism: Mechanism,
    at: At | Configuration = None,
    *,
    places: Mapping[str, str] = _NO_PLACES,
    within: float = WITHIN,
) -> MatchedResponses:
    """Match the points of a test with places of the mechanism.

    Parameters
    ----------
    test : Responses
        Measured frequency responses.
    mechanism : Mechanism
        Mechanism that was tested.
    at : str, mapping or Configuration, optional
        Posture of the test. Default: the posture that the test names.
    places : mapping of str to str, optional
        Places of the mechanism for points of the test, {point: place}. They take precedence over names and positions.
    within : float, optional
        Largest distance between a point and its place at the posture, m. Default: 0.02.

    Returns
    -------
    MatchedResponses
        Test with its channels renamed to places of the mechanism, and the match of every point.

    Raises
    ------
    InputError
        If a point matches no place, or if its place is too far away.

    Notes
    -----
    A point is matched by the first of these that applies: the entry in `places`; the place with its name (a body,
    frame, joint point, sensor or `body[share]`); the nearest named place; the nearest point along a beam. If the test
    gives the position of the point, the place must be at most `within` metres away from it. See equation 13 of
    docs/theory/measurements.md.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> test = supple.virtual_test(arm, "home", "tip.-z", "tip", sampling_hz=256.0)
    >>> [(match.point, match.place) for match in supple.match_channels(test.responses, arm, "home").matches]
    [('tip', 'tip')]
    """
    require_arguments(match_channels, locals())
    configuration = at if isinstance(at, Configuration) else assemble(mechanism, _posture(test, mechanism, at))
    found = _matches((*test.responses, *test.references), configuration, places, within)

    matched = test.copy_with(
        responses=_rename_channels(test.responses, found, configuration),
        references=_rename_channels(test.references, found, configuration),
    )
    if not test.at and isinstance(at, str):
        matched = matched.copy_with(at=at)
    return MatchedResponses(matched, tuple(found.values()), within)


def match_places(channels: Sequence[Channel], configuration: Configuration) -> tuple[Channel, ...]:
    """Return channels of shapes renamed to places of the mechanism, matched like those of a test."""
    return _rename_channels(channels, _matches(channels, configuration, _NO_PLACES, WITHIN), configuration)


def _matches(
    channels: Sequence[Channel], configuration: Configuration, places: Mapping[str, str], within: float
) -> dict[str, Match]:
    """Return the match of every point; refuse points that match nothing."""
    known, lines = _named_places(configuration), _beam_lines(configuration)
    points = {one.point: one.position for one in channels}
    found: dict[str, Match] = {}
    unmatched: list[str] = []
    for point, position in points.items():
        made = _match(point, position, places, known, lines, configuration, within)
        if isinstance(made, Match):
            found[point] = made
        else:
            unmatched.append(made)
    if unmatched:
        raise InputError(
            f"{unmatched[0]}" + (f" ({len(unmatched) - 1} more points match nothing)" if len(unmatched) > 1 else ""),
            part="points of the test", hint=_other_posture(points, configuration.mechanism, configuration, within),
        )  # fmt: skip
    return found


def _rename_channels(
    channels: Sequence[Channel], found: Mapping[str, Match], configuration: Configuration
) -> tuple[Channel, ...]:
    return tuple(
        one.copy_with(point=found[one.point].place, position=place_position(configuration, found[one.point].place))
        for one in channels
    )


def _posture(test: Responses, mechanism: Mechanism, at: At | Configuration) -> At:
    """Return the requested posture, which must agree with the one that the test names, or else the test's own."""
    assert not isinstance(at, Configuration)
    if isinstance(at, str) and isinstance(test.at, str) and test.at and test.at != at:
        raise InputError(
            f'the test names the posture "{test.at}", not "{at}"', part="at",
            hint=f'leave `at` out, or correct the test: test.changed(at="{at}")',
        )  # fmt: skip
    chosen = at if at is not None else (test.at or None)
    if isinstance(chosen, str):
        require_known("configuration", chosen, mechanism.configurations, part="at")
    return chosen


def _match(
    point: str,
    position: Vector3 | None,
    places: Mapping[str, str],
    known: Mapping[str, Array],
    lines: Sequence[tuple[str, Array]],
    configuration: Configuration,
    within: float,
) -> Match | str:
    """Return the match of a point, or the reason why there is none."""
    named = places.get(point, point)
    how = "given" if point in places else "name"
    try:
        place: Vector3 | None = place_position(configuration, named)
    except InputError:
        place = None
        if point in places:
            return f'"{named}", given for point "{point}", is not a place of the mechanism'
    if place is not None:
        apart = float("nan") if position is None else float(np.linalg.norm(np.subtract(place, position)))
        if apart > within:
            return (
                f'point "{point}" is {_length(apart)} from the place "{named}" (limit {_length(within)}): the posture, '
                "or the axes or units of the test's points, may differ, or the name may mean another place"
            )
        return Match(point, named, how, apart)
    if position is None:
        message, hint = describe_unknown("place", point, known)
        return f"{message}, and the test gives no position of it; {hint}"
    x = np.array(position)
    close = [(float(np.linalg.norm(where - x)), name) for name, where in known.items()]
    least_of_all = min((off for off, _ in close), default=np.inf)
    close = [item for item in close if item[0] <= least_of_all + 1e-3 * within][
        :1
    ]  # the first of several names of one place
    along = sorted(_nearest_on_body(name, ends, x) for name, ends in lines)
    if close and close[0][0] <= within and (not along or close[0][0] <= along[0][0] + 1e-3 * within):
        return Match(point, close[0][1], "position", close[0][0])
    if along and along[0][0] <= within:
        return Match(point, along[0][1], "position", along[0][0])
    if close and close[0][0] <= within:
        return Match(point, close[0][1], "position", close[0][0])
    least = min([*close[:1], *along[:1]])
    return (
        f'point "{point}" at ({", ".join(f"{value:.4g}" for value in position)}) m matches no sensor or place: the '
        f'nearest is "{least[1]}", {_length(least[0])} away (limit {_length(within)})'
    )


def _named_places(configuration: Configuration) -> dict[str, Array]:
    """Return the named places: sensors first, since their names take precedence, then other places."""
    mechanism, found = configuration.mechanism, {}
    sensors = [name for name, sensor in mechanism.sensors.items() if sensor.place is not None]
    drawing = configuration.rest.numbering.drawing
    for name in (*sensors, *mechanism.bodies, *drawing.frames, *drawing.joint_points):
        if name in found or (name in drawing.frames and drawing.frames[name].body == GROUND):
            continue
        found[name] = np.array(place_position(configuration, name))
    return found


def _beam_lines(configuration: Configuration) -> list[tuple[str, Array]]:
    """Return elastic bodies with their beams at the posture, (beams, 2, 4): ends, and shares of the length."""
    numbering = configuration.rest.numbering
    found = []
    for name in numbering.bodies:
        beams = placed_beams(numbering.drawing, name) if numbering.mechanism.bodies[name].elastic else ()
        if beams:
            pose = configuration.X[numbering.body_index(name)]
            local = np.array([beam.ends for beam in beams])
            world = (pose[:3] + local @ pose[3:].reshape(3, 3).T) @ numbering.mechanism.plane_axes().T
            lengths = np.cumsum([0.0, *(beam.length for beam in beams)]) / sum(beam.length for beam in beams)
            shares = np.stack([lengths[:-1], lengths[1:]], axis=1)
            found.append((name, np.concatenate([world, shares[:, :, None]], axis=2)))
    return found


def _nearest_on_body(name: str, line: Array, x: Array) -> tuple[float, str]:
    """Return the distance to the nearest point along a body, and its name."""
    best = (np.inf, "")
    for a, b in line:
        line_vector = b[:3] - a[:3]
        size = float(line_vector @ line_vector)
        t = float(np.clip((x - a[:3]) @ line_vector / size, 0.0, 1.0)) if size > 0.0 else 0.0
        off = float(np.linalg.norm(a[:3] + t * line_vector - x))
        if off < best[0]:
            best = (off, f"{name}[{a[3] + t * (b[3] - a[3]):.6g}]")
    return best


def _other_posture(
    points: Mapping[str, Vector3 | None], mechanism: Mechanism, configuration: Configuration, within: float
) -> str:
    """Return a hint: another posture of the mechanism at which the points match, or how to match them."""
    usual = "add a sensor there, give its place (places={...}, --place MEASURED=POINT), or allow more (--within)"
    fits = []
    for name in mechanism.configurations:
        other = assemble(mechanism, name)
        if np.allclose(other.theta, configuration.theta):
            continue
        known, lines = _named_places(other), _beam_lines(other)
        if all(isinstance(_match(p, x, {}, known, lines, other, within), Match) for p, x in points.items()):
            fits.append(f'"{name}"')
    return f"all points match at the posture {list_names(fits)}; give it if the test was made there" if fits else usual


def _length(metres: float) -> str:
    return f"{metres:.3g} m" if metres >= 1.0 else f"{1e3 * metres:.3g} mm"
