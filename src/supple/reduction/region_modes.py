"""Choice of the internal modes that are kept over a region, and of their reference, where the user leaves it open.

The basis at θ follows that of the germ as closely as the subspace allows, and is smooth where the overlap of the two
stays away from zero. Overlap can be measured by motions, in the axes of the bodies, or by strains. In an arm the outer
links are carried around by the joints, so that the same vibration moves them along other axes of theirs while it
strains everything as before. In a loop the same motion may be distributed differently among the strains of its links.
Neither measure is always better, and both depend on θ alone; so a scan of the region decides, and the choice is part of
the model. (docs/theory/parameterization.md, eqs. 11-12b)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.fits.scattered_fit import halton_points
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import NumericalError
from supple.formats.varied_mechanism import VariedMechanism, as_varied
from supple.formulations.coefficients import get_coefficients
from supple.formulations.elastic_rest.constrained_modes import constrained_modes, rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest as undeformed
from supple.modal_analysis.modes import modes
from supple.parameterization.family_germ import carry_over, stresses_over
from supple.parameterization.internal_modes import EXACT, SPARE
from supple.parameterization.modal_parameterization import modal_parameterization, stresses_of
from supple.parameterization.mode_choice import ModeChoice
from supple.parameterization.mode_matching import KEPT
from supple.reduction.exchanges import Exchange, exchanges, strain_likeness
from supple.reduction.scanned_region import Scanned
from supple.results.text import list_names

Count = int | Literal["auto"]

_POINTS, _CORNERS = 160, 64  # points of a scan per coordinate of each box; largest number of corners
_GOOD = 0.8  # overlap at which the search for a reference ends
_BETTER = 0.05  # least improvement by another reference
_BAND = 3.0  # of the lowest frequency: "auto" keeps all modes below
_APART = 0.02  # least relative distance of the next frequency from the highest one of a set
_MOST = 12  # largest number of modes that "auto" keeps
_OBSERVABLE = 0.01  # part of the static compliance at a sensor above which a mode is observable there
_SUSPECTS = 4  # points of smallest overlap that are searched for exchanges
_MEASURES = ("subspace", "strain")


class UnobservableModes(NamedTuple):
    """Kept modes that are not observable at any of the given sensors: their numbers from 1, and Hz over the region."""

    places: tuple[int, ...]
    hz: tuple[float, float]

    def describe(self, sensors: Sequence[str]) -> str:
        """Return the modes, and why they are kept, as text."""
        one = len(self.places) == 1
        which = f"mode {self.places[0]}" if one else f"modes {list_names(str(place) for place in self.places)}"
        return (
            f"{which} ({self.hz[0]:.4g} to {self.hz[1]:.4g} Hz over the region) {'is' if one else 'are'} not "
            f"observable at {list_names(sensors)}, but {'is' if one else 'are'} kept because a higher mode is "
            "observable: a set of modes with gaps may exchange modes where frequencies cross"
        )


class KeptModes(NamedTuple):
    """Choice of modes with a fixed reference, with the exchanges of the set and its unobservable modes."""

    choice: ModeChoice
    swaps: list[Exchange]
    unobservable: UnobservableModes | None = None


def kept_modes(
    mechanism: Mechanism | VariedMechanism,
    choice: ModeChoice,
    boxes: Sequence[Scanned],
    count: Count,
    sensors: Sequence[str] = (),
) -> KeptModes:
    """Choose the modes for `count` internal modes over the region.

    choice  : requested choice; its tracking "auto" and germ None are decided here
    count   : number of modes, or "auto": the smallest set that holds all frequencies up to three times the lowest one,
              keeps away from the next one, and exchanges with none
    sensors : discard the modes above the last one with at least 1 % of the static compliance at one of these sensors
    """
    mechanism = as_varied(mechanism)
    if count == "auto" or (sensors and count):
        return _smallest(mechanism, choice, boxes, _MOST if count == "auto" else count, sensors)
    choice = replace(choice, internal=count)
    if not choice.flexible:
        return KeptModes(replace(choice, tracking="none"), [])
    if count == 0:
        return KeptModes(replace(choice, tracking="subspace"), [])
    settled, suspects, _ = next(_settled_choices(mechanism, choice, boxes, (count,)))
    return KeptModes(settled, exchanges(mechanism, settled, boxes, suspects))


def _smallest(
    mechanism: VariedMechanism, choice: ModeChoice, boxes: Sequence[Scanned], most: int, sensors: Sequence[str]
) -> KeptModes:
    candidate: KeptModes | None = None
    for settled in _settled_choices(mechanism, choice, boxes, range(1, most + 1), sensors):
        candidate = KeptModes(
            settled.choice, exchanges(mechanism, settled.choice, boxes, settled.suspects), settled.unobservable
        )
        if not candidate.swaps:
            return candidate
    raise NumericalError(
        f"every set of up to {most} internal modes exchanges modes within the region"
        + ("" if candidate is None else f"; with {candidate.choice.internal} modes, {_fault(mechanism, candidate)}"),
        part=f'mechanism "{mechanism.nominal.name}"',
        hint="choose a smaller region, or give --internal-modes N and --boxes",
    )


def _fault(mechanism: VariedMechanism, candidate: KeptModes) -> str:
    return candidate.swaps[0].describe((*assemble(mechanism.nominal).rest.numbering.coordinates, *mechanism.names))


class _Part(NamedTuple):
    """Modes of one mechanism at points of the region.

    rest    : elastic rest of the mechanism
    poses   : (N, bodies + 1, 12)
    squares : (N, k) ω²
    modes   : (N, k, z) shapes
    rows    : (N, m, z) held rows
    x       : (N, s + p) points
    """

    rest: ElasticRest
    poses: Array
    squares: Array
    modes: Array
    rows: Array
    x: Array


class _Scan(NamedTuple):
    """Modes at points of the region, for each mechanism in its own z, and at the candidate germs.

    parts    : modes of each mechanism
    at_germs : modes of the first mechanism at the germs
    germs    : (G,) θ of each candidate, or None for the rest posture
    """

    parts: list[_Part]
    at_germs: _Part
    germs: list[tuple[float, ...] | None]

    @property
    def squares(self) -> Array:
        """All ω² (N, k), including those at the germs."""
        return np.vstack([item.squares for item in (self.at_germs, *self.parts)])


class _SettledChoice(NamedTuple):
    """Choice of modes, points x (N, s + p) of smallest overlap with its reference, and its unobservable modes."""

    choice: ModeChoice
    suspects: Array
    unobservable: UnobservableModes | None = None


def _settled_choices(
    mechanism: VariedMechanism,
    choice: ModeChoice,
    boxes: Sequence[Scanned],
    counts: range | tuple[int, ...],
    sensors: Sequence[str] = (),
) -> Iterator[_SettledChoice]:
    """Yield the choice for each admissible count, with the best of the open trackings and germs."""
    scan = _scan(mechanism, choice, boxes, max(counts))
    least, whole, observable = 1, set(counts), np.zeros(0, dtype=bool)
    if isinstance(counts, range):
        whole = _uncut(scan)
        if sensors:
            observable = _observable_modes(mechanism.nominal, scan, sensors, max(counts))
            least = min(int(np.flatnonzero(observable).max(initial=0)) + 1, max(counts))
        else:
            least = int((scan.squares < _BAND**2 * scan.squares[:, 0].min()).sum(axis=1).max())
    for count in counts:
        if count >= least and count in whole:
            yield _best(scan, replace(choice, internal=count))._replace(
                unobservable=_unobservable_modes(scan, observable[:count])
            )


def _unobservable_modes(scan: _Scan, observable: NDArray[np.bool_]) -> UnobservableModes | None:
    """Return the modes of a set that no sensor observes."""
    places = np.flatnonzero(~observable)
    if not len(places):
        return None
    hz = np.sqrt(scan.squares[:, places]) / (2.0 * np.pi)
    return UnobservableModes(tuple((places + 1).tolist()), (float(hz.min()), float(hz.max())))


def _uncut(scan: _Scan) -> set[int]:
    """Return the numbers of lowest modes whose highest frequency keeps away from the next one everywhere."""
    apart = (np.sqrt(scan.squares[:, 1:] / scan.squares[:, :-1]) - 1.0).min(axis=0)
    return {count for count, distance in enumerate(apart.tolist(), start=1) if distance >= _APART}


def _observable_modes(mechanism: Mechanism, scan: _Scan, sensors: Sequence[str], most: int) -> NDArray[np.bool_]:
    """Return which of the lowest modes are observable at one of the sensors anywhere in the region.

    Only clusters that begin below the number `most` are considered. A mode's part in the static compliance along an
    output is (J z)²/ω² [elastic-rest, eq. 20]. Modes of one cluster count as one: rounding decides which of them moves
    a point.
    """
    outputs = get_coefficients(undeformed(mechanism)).outputs
    rows = [row for name, row in outputs.items() if name.split(".")[0] in sensors]
    observable = np.zeros(scan.squares.shape[1], dtype=bool)
    for part in scan.parts:
        J = rows_over_coordinates(part.rest, np.array(rows, dtype=np.int64), part.poses)
        shares = np.square(np.einsum("nfz,nrz->nfr", part.modes, J)) / part.squares[:, :, None]
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        for squares, share in zip(part.squares, shares, strict=True):
            starts = np.flatnonzero(np.r_[True, np.sqrt(squares[1:] / squares[:-1]) - 1.0 >= _APART])
            together = np.add.reduceat(share, starts, axis=0).max(axis=1)
            ends = np.r_[starts[1:], len(squares)]
            for start, end, is_observable in zip(starts, ends, together >= _OBSERVABLE, strict=True):
                observable[start:end] |= bool(is_observable) and start < most
    return observable


class ModeCluster(NamedTuple):
    """Cluster of modes of which a set holds only some.

    first, last     : mode numbers from 1
    hz              : frequency range over the region, Hz
    bodies          : bodies that move
    smaller, larger : numbers of modes below and above that cut no cluster; None if there is none
    """

    first: int
    last: int | None
    hz: tuple[float, float]
    bodies: tuple[str, ...]
    smaller: int | None
    larger: int | None

    def describe(self) -> str:
        """Return the cluster and the advice as text."""
        cluster = f"modes {self.first} to {self.last}" if self.last else f"mode {self.first} and those above it"
        numbers = " or ".join(str(number) for number in (self.smaller, self.larger) if number)
        what = f"{cluster} form a cluster ({self.hz[0]:.4g} to {self.hz[1]:.4g} Hz over the region, motion of "
        advice = f"keep {numbers} internal modes" if numbers else "use a smaller region"
        return f"{what}{', '.join(self.bodies)}), and the set holds only some of them: {advice}"


def cut_cluster(
    mechanism: Mechanism | VariedMechanism, choice: ModeChoice, boxes: Sequence[Scanned], count: int
) -> ModeCluster | None:
    """Return the cluster of modes that `count` internal modes cut somewhere in the region, or None."""
    mechanism = as_varied(mechanism)
    considered = max(_MOST, count) + _MOST
    available = modal_parameterization(mechanism.nominal, replace(choice, tracking="subspace")).rest.size
    scan = _scan(mechanism, choice, boxes, min(max(count, considered), max(count, available // 3)))
    whole, available = _uncut(scan), scan.squares.shape[1]
    if count in whole or count >= available:
        return None
    smaller = max((number for number in whole if number < count), default=0)
    larger = min((number for number in whole if number > count), default=None)
    within = scan.squares[:, smaller : larger or available]
    hz = np.sqrt([within.min(), within.max()]) / (2.0 * np.pi)
    energy = modes(mechanism.nominal, count=larger or available, preload=False).energy  # like the scan
    moving = {name: float(values[smaller:].mean()) for name, values in energy.kinetic.items()}
    order = sorted(moving, key=lambda name: -moving[name])
    bodies = tuple(name for name in order if moving[name] >= 0.5 * moving[order[0]])
    return ModeCluster(smaller + 1, larger, (float(hz[0]), float(hz[1])), bodies, smaller or None, larger)


def _scan(mechanism: VariedMechanism, choice: ModeChoice, boxes: Sequence[Scanned], count: int) -> _Scan:
    adjusted = replace(choice, internal=count, tracking="subspace")
    system = modal_parameterization(mechanism.nominal, adjusted)
    inside = [box.from_unit(halton_points(box.dimension, _POINTS * _count_widths(box), 0)) for box in boxes]
    points = np.vstack([*map(_corners, boxes), *inside])
    germs: list[tuple[float, ...] | None] = [choice.germ]
    X = [system.germ.X[None]]
    if choice.germ is None and choice.tracking == "auto":
        center = boxes[0].center[: len(boxes[0].center) - len(mechanism.names)]
        middle = assemble(mechanism.nominal, center[None], failures="mark")
        if middle.assembled[0]:
            germs.append(tuple(center.tolist()))
            X.append(middle.X)
    parts = []
    for member, which, theta in mechanism.parts(points):
        there = assemble(member, theta, failures="mark")
        if there.assembled.any():
            rest = modal_parameterization(member, adjusted).rest
            parts.append(_modes_of_poses(rest, there.X[there.assembled], count, points[which[there.assembled]]))
    at_germs = _modes_of_poses(system.rest, np.concatenate(X), count, points[:0])
    least = min(item.squares.shape[1] for item in (at_germs, *parts))
    few = [item._replace(squares=item.squares[:, :least], modes=item.modes[:, :least]) for item in (at_germs, *parts)]
    return _Scan(few[1:], few[0], germs)


def _modes_of_poses(rest: ElasticRest, X: Array, count: int, x: Array) -> _Part:
    held, poses = rest.list_loaded_rows(), np.ascontiguousarray(X)
    squares, found = constrained_modes(rest, held, poses, min(count + SPARE, rest.size), EXACT)
    return _Part(rest, poses, squares, found, rows_over_coordinates(rest, held.rows, poses), x)


def _corners(box: Scanned) -> Array:
    signs = np.array(list(product((-1.0, 1.0), repeat=box.dimension)))
    return np.unique(box.from_unit(signs[:: -(-len(signs) // _CORNERS)]), axis=0)


def _count_widths(box: Scanned) -> int:
    """Return the number of coordinates along which a box has a width."""
    return min(box.dimension, max(1, int((box.half > 0.0).sum())))


def _best(scan: _Scan, choice: ModeChoice) -> _SettledChoice:
    """Choose the tracking and germ that serve best over the scan; the first good ones, if any."""
    count = choice.internal
    measures = {"auto": _MEASURES, "strain": ("strain",)}.get(choice.tracking, ("subspace",))
    points = np.vstack([scan.at_germs.x, *(part.x for part in scan.parts)])
    best, settled = -2.0, _SettledChoice(choice, points[:0])
    for n, germ in enumerate(scan.germs):
        for name in measures:
            likeness = np.concatenate([_likeness(scan, part, n, count, name) for part in (scan.at_germs, *scan.parts)])
            lowest = np.asarray(np.linalg.svd(likeness[:, :count], compute_uv=False)[:, -1], dtype=np.float64)
            rating = _rating(likeness, lowest, count)
            if rating > best + _BETTER:
                worst = np.argsort(lowest[len(scan.germs) :])[:_SUSPECTS]
                tracking = name if choice.tracking == "auto" else choice.tracking
                best, settled = rating, _SettledChoice(replace(choice, tracking=tracking, germ=germ), points[worst])
            if best >= _GOOD:
                return settled
    return settled


def _likeness(scan: _Scan, part: _Part, germ: int, count: int, measure: str) -> Array:
    """Return the overlaps (N, found, k) of modes of one mechanism with those of a germ."""
    first = scan.at_germs
    reference = first.modes[germ, :count]
    if measure == "subspace":
        return np.asarray(part.modes @ carry_over(first.rest, part.rest, reference).T)
    stresses = stresses_over(first.rest, part.rest, stresses_of(first.rest, first.rows[germ], reference))
    return strain_likeness(stresses, part.rows, part.squares, part.modes)


def _rating(P: Array, lowest: Array, count: int) -> float:
    """Rate a reference by its smallest overlap with the kept modes.

    If the overlap P (N, found, k) with the lowest modes is too small somewhere, other modes replace them there, and the
    rating is the overlap of those minus one: a set that consists of the lowest modes everywhere is better than any that
    changes.

    lowest : (N,) smallest overlap of the lowest modes
    """
    if float(lowest.min()) >= KEPT:
        return float(lowest.min())
    taken = lowest.copy()
    for n in np.flatnonzero(lowest < KEPT):
        share = np.square(P[n]).sum(axis=1)
        taken[n] = np.linalg.svd(P[n, np.argsort(-share)[:count]], compute_uv=False)[-1]
    return float(taken.min()) - 1.0
