"""Which internal modes are kept over a region, and what they are turned to, where the user leaves it open.

The basis at θ is that of the germ as closely as the subspace allows, and is smooth where the overlap of the two stays
away from zero. Overlap can be measured by motions, in the axes of the bodies, or by strains. In an arm the outer links
are carried around by the joints, so that the same vibration moves them along other axes of theirs while it strains
everything as before; in a loop the same motion may be shared otherwise among the strains of its links. Neither is
always better, both depend on θ alone; so a scan of the region decides, and the choice is part of the model.
(docs/theory/parameterization.md, eqs. 11-12b)
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
from supple.formulations.coefficients import carried
from supple.formulations.elastic_rest.constrained_modes import constrained_modes, rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest as undeformed
from supple.modal_analysis.modes import modes
from supple.parameterization.family_germ import carried_over, stresses_over
from supple.parameterization.internal_modes import EXACT, SPARE
from supple.parameterization.modal_parameterization import modal_parameterization, stresses_of
from supple.parameterization.mode_choice import ModeChoice
from supple.parameterization.mode_matching import KEPT
from supple.reduction.exchanges import Exchange, exchanges, strain_likeness
from supple.reduction.scanned_region import Scanned
from supple.results.text import listed

Count = int | Literal["auto"]

_POINTS, _CORNERS = 160, 64  # of a scan, for each coordinate of each box of the region; and at most so many corners
_GOOD = 0.8  # overlap that leaves nothing to wish for
_BETTER = 0.05  # by which another reference has to be better
_BAND = 3.0  # of the lowest frequency: "auto" keeps all modes below
_APART = 0.02  # relative distance that the next frequency has to keep from the highest one of a set
_MOST = 12  # modes that "auto" may keep
_SEEN = 0.01  # of the static compliance at a sensor: part of a mode that is seen there
_SUSPECTS = 4  # points of smallest overlap, looked at closely
_MEASURES = ("subspace", "strain")


class Unseen(NamedTuple):
    """Modes of a set that no sensor asked for sees anywhere: places from 1, and Hz over the region."""

    places: tuple[int, ...]
    hz: tuple[float, float]

    def words(self, sensors: Sequence[str]) -> str:
        one = len(self.places) == 1
        which = f"mode {self.places[0]}" if one else f"modes {listed(str(place) for place in self.places)}"
        return (
            f"{which} ({self.hz[0]:.4g} to {self.hz[1]:.4g} Hz over the region) {'does' if one else 'do'} not move "
            f"{listed(sensors)}, but {'lies' if one else 'lie'} below a mode that does, and {'is' if one else 'are'} "
            "kept: the lowest modes stay one set where their frequencies cross, a set with gaps need not"
        )


class Kept(NamedTuple):
    """A choice of modes with its reference settled, where the set does not hold together, and which of the modes no
    sensor sees that was asked for (None where none was, or all are seen)."""

    choice: ModeChoice
    swaps: list[Exchange]
    unseen: Unseen | None = None


def kept_modes(
    mechanism: Mechanism | VariedMechanism,
    choice: ModeChoice,
    boxes: Sequence[Scanned],
    count: Count,
    seen_at: Sequence[str] = (),
) -> Kept:
    """The modes that stand for `count` internal modes over the region.

    choice  : as asked; its tracking "auto" and its germ None are settled here
    count   : "auto": as few as hold all frequencies up to three times the lowest one, keep away from the next one, and
              exchange with none
    seen_at : sensors; of `count` modes, or of those that "auto" would hold, only as many as reach up to the last one
              with at least 1 % of the static compliance at one of them
    """
    mechanism = as_varied(mechanism)
    if count == "auto" or (seen_at and count):
        return _smallest(mechanism, choice, boxes, _MOST if count == "auto" else count, seen_at)
    choice = replace(choice, internal=count)
    if not choice.flexible:
        return Kept(replace(choice, tracking="none"), [])
    if count == 0:
        return Kept(replace(choice, tracking="subspace"), [])
    settled, suspects, _ = next(_settled(mechanism, choice, boxes, (count,)))
    return Kept(settled, exchanges(mechanism, settled, boxes, suspects))


def _smallest(
    mechanism: VariedMechanism, choice: ModeChoice, boxes: Sequence[Scanned], most: int, seen_at: Sequence[str]
) -> Kept:
    tried: Kept | None = None
    for settled in _settled(mechanism, choice, boxes, range(1, most + 1), seen_at):
        tried = Kept(settled.choice, exchanges(mechanism, settled.choice, boxes, settled.suspects), settled.unseen)
        if not tried.swaps:
            return tried
    raise NumericalError(
        f"no set of up to {most} internal modes holds together over the region"
        + ("" if tried is None else f"; {tried.choice.internal} do not, because {_fault(mechanism, tried)}"),
        part=f'mechanism "{mechanism.nominal.name}"',
        hint="choose a smaller region, or give --internal-modes N and --boxes",
    )


def _fault(mechanism: VariedMechanism, tried: Kept) -> str:
    return tried.swaps[0].words((*assemble(mechanism.nominal).rest.numbering.coordinates, *mechanism.names))


class _Part(NamedTuple):
    """Modes of one mechanism at points x (N, s + p): poses (N, bodies + 1, 12), squares (N, k), modes (N, k, z), rows
    (N, m, z) held."""

    rest: ElasticRest
    poses: Array
    squares: Array
    modes: Array
    rows: Array
    x: Array


class _Scan(NamedTuple):
    """Modes at points of the region, each mechanism's in its own z, and at the germs that come into question, of the
    first one; germs (G,) θ or None for the rest."""

    parts: list[_Part]
    at_germs: _Part
    germs: list[tuple[float, ...] | None]

    @property
    def squares(self) -> Array:
        """(N, k), the germs' too."""
        return np.vstack([item.squares for item in (self.at_germs, *self.parts)])


class _Settled(NamedTuple):
    """A choice, x (N, s + p) where the overlap with its reference is smallest, and its modes that no sensor sees."""

    choice: ModeChoice
    suspects: Array
    unseen: Unseen | None = None


def _settled(
    mechanism: VariedMechanism,
    choice: ModeChoice,
    boxes: Sequence[Scanned],
    counts: range | tuple[int, ...],
    seen_at: Sequence[str] = (),
) -> Iterator[_Settled]:
    """The choice with each of the counts that comes into question, tracking and germ the best of those left open."""
    scan = _scan(mechanism, choice, boxes, max(counts))
    least, whole, seen = 1, set(counts), np.zeros(0, dtype=bool)
    if isinstance(counts, range):
        whole = _uncut(scan)
        if seen_at:
            seen = _seen(mechanism.nominal, scan, seen_at, max(counts))
            least = min(int(np.flatnonzero(seen).max(initial=0)) + 1, max(counts))
        else:
            least = int((scan.squares < _BAND**2 * scan.squares[:, 0].min()).sum(axis=1).max())
    for count in counts:
        if count >= least and count in whole:
            yield _best(scan, replace(choice, internal=count))._replace(unseen=_unseen(scan, seen[:count]))


def _unseen(scan: _Scan, seen: NDArray[np.bool_]) -> Unseen | None:
    """The modes of a set that no sensor sees."""
    places = np.flatnonzero(~seen)
    if not len(places):
        return None
    hz = np.sqrt(scan.squares[:, places]) / (2.0 * np.pi)
    return Unseen(tuple((places + 1).tolist()), (float(hz.min()), float(hz.max())))


def _uncut(scan: _Scan) -> set[int]:
    """Numbers of lowest modes that keep away from the next one everywhere."""
    apart = (np.sqrt(scan.squares[:, 1:] / scan.squares[:, :-1]) - 1.0).min(axis=0)
    return {count for count, distance in enumerate(apart.tolist(), start=1) if distance >= _APART}


def _seen(mechanism: Mechanism, scan: _Scan, sensors: Sequence[str], most: int) -> NDArray[np.bool_]:
    """Which of the lowest modes, by their places, are seen at one of the sensors anywhere; of clusters that begin below
    the place `most`.

    A mode's part in the static compliance along an output is (J z)²/ω² [elastic-rest, eq. 20]. Modes that lie
    together count as one: which of them moves a place is a matter of rounding.
    """
    outputs = carried(undeformed(mechanism)).outputs
    rows = [row for name, row in outputs.items() if name.split(".")[0] in sensors]
    seen = np.zeros(scan.squares.shape[1], dtype=bool)
    for part in scan.parts:
        J = rows_over_coordinates(part.rest, np.array(rows, dtype=np.int64), part.poses)
        shares = np.square(np.einsum("nfz,nrz->nfr", part.modes, J)) / part.squares[:, :, None]
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        for squares, share in zip(part.squares, shares, strict=True):
            starts = np.flatnonzero(np.r_[True, np.sqrt(squares[1:] / squares[:-1]) - 1.0 >= _APART])
            together = np.add.reduceat(share, starts, axis=0).max(axis=1)
            ends = np.r_[starts[1:], len(squares)]
            for start, end, sees in zip(starts, ends, together >= _SEEN, strict=True):
                seen[start:end] |= bool(sees) and start < most
    return seen


class ModeCluster(NamedTuple):
    """Modes that lie together somewhere in the region, of which a set holds some: places from 1, Hz over the region,
    bodies that move, and the numbers of modes below and above that cut nothing (None where none was found)."""

    first: int
    last: int | None
    hz: tuple[float, float]
    bodies: tuple[str, ...]
    smaller: int | None
    larger: int | None

    def words(self) -> str:
        places = f"modes {self.first} to {self.last}" if self.last else f"mode {self.first} and those above it"
        numbers = " or ".join(str(number) for number in (self.smaller, self.larger) if number)
        what = f"{places} lie together ({self.hz[0]:.4g} to {self.hz[1]:.4g} Hz over the region, motion of "
        advice = f"keep {numbers} internal modes" if numbers else "take a smaller region"
        return f"{what}{', '.join(self.bodies)}), and the set holds only some of them: {advice}"


def cut_cluster(
    mechanism: Mechanism | VariedMechanism, choice: ModeChoice, boxes: Sequence[Scanned], count: int
) -> ModeCluster | None:
    """The cluster of modes that `count` internal modes cut somewhere in the region; None if they cut none."""
    mechanism = as_varied(mechanism)
    looked_at = max(_MOST, count) + _MOST
    available = modal_parameterization(mechanism.nominal, replace(choice, tracking="subspace")).rest.size
    scan = _scan(mechanism, choice, boxes, min(max(count, looked_at), max(count, available // 3)))
    whole, available = _uncut(scan), scan.squares.shape[1]
    if count in whole or count >= available:
        return None
    smaller = max((number for number in whole if number < count), default=0)
    larger = min((number for number in whole if number > count), default=None)
    within = scan.squares[:, smaller : larger or available]
    hz = np.sqrt([within.min(), within.max()]) / (2.0 * np.pi)
    energy = modes(mechanism.nominal, count=larger or available, preload=False).energy  # as the scan
    moving = {name: float(values[smaller:].mean()) for name, values in energy.kinetic.items()}
    order = sorted(moving, key=lambda name: -moving[name])
    bodies = tuple(name for name in order if moving[name] >= 0.5 * moving[order[0]])
    return ModeCluster(smaller + 1, larger, (float(hz[0]), float(hz[1])), bodies, smaller or None, larger)


def _scan(mechanism: VariedMechanism, choice: ModeChoice, boxes: Sequence[Scanned], count: int) -> _Scan:
    asked = replace(choice, internal=count, tracking="subspace")
    system = modal_parameterization(mechanism.nominal, asked)
    inside = [box.from_unit(halton_points(box.dimension, _POINTS * _moving(box), 0)) for box in boxes]
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
            rest = modal_parameterization(member, asked).rest
            parts.append(_looked_at(rest, there.X[there.assembled], count, points[which[there.assembled]]))
    at_germs = _looked_at(system.rest, np.concatenate(X), count, points[:0])
    least = min(item.squares.shape[1] for item in (at_germs, *parts))
    few = [item._replace(squares=item.squares[:, :least], modes=item.modes[:, :least]) for item in (at_germs, *parts)]
    return _Scan(few[1:], few[0], germs)


def _looked_at(rest: ElasticRest, X: Array, count: int, x: Array) -> _Part:
    held, poses = rest.held_and_loaded(), np.ascontiguousarray(X)
    squares, found = constrained_modes(rest, held, poses, min(count + SPARE, rest.size), EXACT)
    return _Part(rest, poses, squares, found, rows_over_coordinates(rest, held.rows, poses), x)


def _corners(box: Scanned) -> Array:
    signs = np.array(list(product((-1.0, 1.0), repeat=box.dimension)))
    return np.unique(box.from_unit(signs[:: -(-len(signs) // _CORNERS)]), axis=0)


def _moving(box: Scanned) -> int:
    """Coordinates along which a box is not flat."""
    return min(box.dimension, max(1, int((box.half > 0.0).sum())))


def _best(scan: _Scan, choice: ModeChoice) -> _Settled:
    """Of the tracking and germ that are left open those that serve best over the scan; the first good ones, if any."""
    count = choice.internal
    measures = {"auto": _MEASURES, "strain": ("strain",)}.get(choice.tracking, ("subspace",))
    points = np.vstack([scan.at_germs.x, *(part.x for part in scan.parts)])
    best, settled = -2.0, _Settled(choice, points[:0])
    for n, germ in enumerate(scan.germs):
        for name in measures:
            likeness = np.concatenate([_likeness(scan, part, n, count, name) for part in (scan.at_germs, *scan.parts)])
            lowest = np.asarray(np.linalg.svd(likeness[:, :count], compute_uv=False)[:, -1], dtype=np.float64)
            served = _served(likeness, lowest, count)
            if served > best + _BETTER:
                worst = np.argsort(lowest[len(scan.germs) :])[:_SUSPECTS]
                tracking = name if choice.tracking == "auto" else choice.tracking
                best, settled = served, _Settled(replace(choice, tracking=tracking, germ=germ), points[worst])
            if best >= _GOOD:
                return settled
    return settled


def _likeness(scan: _Scan, part: _Part, germ: int, count: int, measure: str) -> Array:
    """Overlaps (N, found, k) of modes of one mechanism with those of a germ."""
    first = scan.at_germs
    reference = first.modes[germ, :count]
    if measure == "subspace":
        return np.asarray(part.modes @ carried_over(first.rest, part.rest, reference).T)
    stresses = stresses_over(first.rest, part.rest, stresses_of(first.rest, first.rows[germ], reference))
    return strain_likeness(stresses, part.rows, part.squares, part.modes)


def _served(P: Array, lowest: Array, count: int) -> float:
    """How well a reference serves, from the overlaps P (N, found, k) of all modes with it, and the smallest ones of the
    lowest modes (N,): the smallest of these. If that is too small somewhere, so that other modes stand for them there,
    theirs, less one: a set that stays the lowest everywhere is better than any that changes."""
    if float(lowest.min()) >= KEPT:
        return float(lowest.min())
    taken = lowest.copy()
    for n in np.flatnonzero(lowest < KEPT):
        share = np.square(P[n]).sum(axis=1)
        taken[n] = np.linalg.svd(P[n, np.argsort(-share)[:count]], compute_uv=False)[-1]
    return float(taken.min()) - 1.0
