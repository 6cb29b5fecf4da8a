"""Which internal modes are kept over a region, and what they are turned to, where the user leaves it open.

The basis at θ is that of the germ as closely as the subspace allows, and is smooth where the overlap of the two stays
away from zero. Overlap can be measured by motions, in the axes of the bodies, or by strains. In an arm the outer links
are carried around by the joints, so that the same vibration moves them along other axes of theirs while it strains
everything as before; in a loop the same motion may be shared otherwise among the strains of its links. Neither is
always better, both depend on θ alone; so a scan of the region decides, and the choice is part of the model.
(docs/theory/parameterization.md, eqs. 11-12b)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.box import Box
from supple.approximation.designs import scattered
from supple.description.mechanism import Mechanism
from supple.diagnostics import NumericalError
from supple.formulations.elastic_rest.constrained_modes import constrained_modes, rows_at
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.kinematics.closure import assemble
from supple.parameterization.flexible_arrays import ModeChoice, flexible_system, stresses_of
from supple.parameterization.flexible_kernel import EXACT, SPARE
from supple.parameterization.internal_modes import KEPT
from supple.reduction.exchanges import Exchange, exchanges, strain_likeness

Array = NDArray[np.float64]
Count = int | Literal["auto"]

_POINTS, _CORNERS = 160, 64  # of a scan, for each box of the region
_GOOD = 0.8  # overlap that leaves nothing to wish for
_BETTER = 0.05  # by which another reference has to be better
_BAND = 3.0  # of the lowest frequency: "auto" keeps all modes below
_APART = 0.02  # relative distance that the next frequency has to keep from the highest one of a set
_MOST = 12  # modes that "auto" may keep


class Kept(NamedTuple):
    """A choice of modes with its reference settled, and where the set does not hold together."""

    choice: ModeChoice
    swaps: list[Exchange]


def kept_modes(mechanism: Mechanism, choice: ModeChoice, boxes: list[Box], count: Count) -> Kept:
    """The modes that stand for `count` internal modes over the region.

    choice : as asked; its tracking "auto" and its germ None are settled here
    count  : "auto": as few as hold all frequencies up to three times the lowest one, keep away from the next one, and
             exchange with none
    """
    if count == "auto":
        return _smallest(mechanism, choice, boxes)
    choice = replace(choice, internal=count)
    if not choice.flexible:
        return Kept(replace(choice, tracking="none"), [])
    settled = next(_settled(mechanism, choice, boxes, (count,)))
    return Kept(settled, exchanges(mechanism, settled, boxes))


def _smallest(mechanism: Mechanism, choice: ModeChoice, boxes: list[Box]) -> Kept:
    tried: Kept | None = None
    for settled in _settled(mechanism, choice, boxes, range(1, _MOST + 1)):
        tried = Kept(settled, exchanges(mechanism, settled, boxes))
        if not tried.swaps:
            return tried
    raise NumericalError(
        f"no set of up to {_MOST} internal modes holds together over the region"
        + ("" if tried is None else f"; {tried.choice.internal} do not, because {_fault(mechanism, tried)}"),
        part=f'mechanism "{mechanism.name}"',
        hint="choose a smaller region, or give --internal-modes N and --boxes",
    )


def _fault(mechanism: Mechanism, tried: Kept) -> str:
    return tried.swaps[0].words(assemble(mechanism).rest.numbering.coordinates)


class _Scan(NamedTuple):
    """Modes at points of the region, and of the germs that come into question, all in the same z.

    squares (N, k), modes (N, k, z), rows (N, m, z) held; germs (G,) θ or None for the rest, the first G of the points
    """

    rest: ElasticRest
    squares: Array
    modes: Array
    rows: Array
    germs: list[tuple[float, ...] | None]


def _settled(
    mechanism: Mechanism, choice: ModeChoice, boxes: list[Box], counts: range | tuple[int, ...]
) -> Iterator[ModeChoice]:
    """The choice with each of the counts that comes into question, its tracking and germ the best there are."""
    asked = max(counts)
    if asked == 0 or (len(counts) == 1 and choice.tracking != "auto"):
        tracking = "subspace" if choice.tracking == "auto" else choice.tracking
        yield replace(choice, internal=asked, tracking=tracking)
        return
    scan = _scan(mechanism, choice, boxes, asked)
    found = scan.squares.shape[1]
    least = 1
    if len(counts) > 1:
        least = int((scan.squares < _BAND**2 * scan.squares[:, 0].min()).sum(axis=1).max())
    for count in counts:
        if len(counts) > 1:
            if not least <= count < found:
                continue
            if (np.sqrt(scan.squares[:, count] / scan.squares[:, count - 1]) - 1.0).min() < _APART:
                continue
        tracking, germ = _best(scan, count)
        yield replace(choice, internal=count, tracking=tracking, germ=germ)


def _scan(mechanism: Mechanism, choice: ModeChoice, boxes: list[Box], count: int) -> _Scan:
    system = flexible_system(mechanism, replace(choice, internal=count, tracking="subspace"))
    rest, held = system.rest, system.rest.held_and_loaded()
    inside = [box.from_unit(scattered(box.dimension, _POINTS, 0)) for box in boxes]
    points = np.vstack([*map(_corners, boxes), *inside])
    germs: list[tuple[float, ...] | None] = [choice.germ]
    X = [system.germ.X[None]]
    if choice.germ is None:
        middle = assemble(mechanism, boxes[0].center[None], failures="mark")
        if middle.assembled[0]:
            germs.append(tuple(boxes[0].center.tolist()))
            X.append(middle.X)
    there = assemble(mechanism, points, failures="mark")
    poses = np.ascontiguousarray(np.concatenate([*X, there.X[there.assembled]]))
    squares, modes = constrained_modes(rest, held, poses, min(count + SPARE, rest.size), EXACT)
    return _Scan(rest, squares, modes, rows_at(rest, held.rows, poses), germs)


def _corners(box: Box) -> Array:
    signs = np.array(list(product((-1.0, 1.0), repeat=box.dimension)))
    return box.from_unit(signs[:: -(-len(signs) // _CORNERS)])


def _best(scan: _Scan, count: int) -> tuple[str, tuple[float, ...] | None]:
    """Tracking and germ that serve best over the scan; the first that is good, if one is."""
    best, tracking, germ = -2.0, "subspace", scan.germs[0]
    for n, theta in enumerate(scan.germs):
        reference = scan.modes[n, :count]
        stresses = stresses_of(scan.rest, scan.rows[n], reference)
        strains = strain_likeness(stresses, scan.rows, scan.squares, scan.modes)
        for name, overlaps in (("subspace", scan.modes @ reference.T), ("strain", strains)):
            smallest = judged_overlap(overlaps, count)
            if smallest > best + _BETTER:
                best, tracking, germ = smallest, name, theta
            if best >= _GOOD:
                return tracking, germ
    return tracking, germ


def judged_overlap(P: Array, count: int) -> float:
    """How well a reference serves, from the overlaps P (N, found, k) of all modes with it: the smallest overlap of the
    lowest modes. If that is too small somewhere, so that others stand for them there, theirs, less one: a set that
    stays the lowest everywhere is better than any that changes."""
    lowest = np.linalg.svd(P[:, :count], compute_uv=False)[:, -1]
    if float(lowest.min()) >= KEPT:
        return float(lowest.min())
    for n in np.flatnonzero(lowest < KEPT):
        share = np.square(P[n]).sum(axis=1)
        lowest[n] = np.linalg.svd(P[n, np.argsort(-share)[:count]], compute_uv=False)[-1]
    return float(lowest.min()) - 1.0
