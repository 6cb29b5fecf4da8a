"""Where an internal mode that is kept exchanges its shape with one that is not.

Two frequencies that come close but do not meet veer apart again and swap their modes within a narrow strip. If one of
them is outside the set, the kept subspace turns towards it there, and coefficients change faster than any fit can
follow; one more mode, or two, make the set whole. An exchange is told from a mere crossing by the overlap with the
germ's subspace: at a crossing it stays what it is, in the middle of an exchange it falls to about 0.7.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.box import Box
from supple.approximation.designs import scattered
from supple.description.mechanism import Mechanism
from supple.formulations.elastic_rest.constrained_modes import constrained_modes
from supple.kinematics.closure import assemble
from supple.parameterization.flexible_arrays import ModeChoice, flexible_system
from supple.parameterization.flexible_kernel import DONE, SPARE
from supple.parameterization.flexible_rows import flexible_rows, layout_of
from supple.parameterization.internal_modes import KEPT
from supple.parameterization.torn_modes import TornModes, torn_modes

Array = NDArray[np.float64]

_POINTS, _LINES = 240, 24  # points of a scan in one dimension; lines in more, each of a few points
_CLOSE = 1e-7  # of a line: how close a change of places is pinned down
_FALLEN = 0.9  # overlap below which the middle of a change is an exchange
_SAME = 0.02  # of the region: exchanges closer than that are one
_NEAR = 0.005  # of the region: how far around an exchange a larger set is looked at
_MANY = 8
_SIDE = np.linspace(-1.0, 1.0, 13)
_AROUND = np.vstack(  # a loop of the square [-1, 1]², closed
    [
        np.column_stack([_SIDE, -np.ones(13)]),
        np.column_stack([np.ones(13), _SIDE])[1:],
        np.column_stack([-_SIDE, np.ones(13)])[1:],
        np.column_stack([-np.ones(13), -_SIDE])[1:],
    ]
)


@dataclass(frozen=True)
class Exchange:
    """theta : where; overlap : smallest singular value of Φ Φ_refᵀ there; hz : of the modes that swap, kept and not;
    cure : how many internal modes would hold both, None if that was not found among a few more."""

    theta: tuple[float, ...]
    overlap: float
    hz: tuple[float, float] | None
    cure: int | None

    def data(self) -> dict[str, Any]:
        return asdict(self) | {"theta": list(self.theta)}

    def words(self, names: tuple[str, ...]) -> str:
        where = ", ".join(f"{name}={value:.4g}" for name, value in zip(names, self.theta, strict=True))
        pair = "" if self.hz is None else f" ({self.hz[0]:.4g} Hz with {self.hz[1]:.4g} Hz)"
        cure = "more internal modes" if self.cure is None else f"{self.cure} internal modes"
        what = f"a mode of the set exchanges with one outside it{pair}, overlap {self.overlap:.2f}"
        return f"at {where} {what}: keep {cure}"


class _Seen(NamedTuple):
    valid: NDArray[np.bool_]
    overlap: Array
    places: Array


def exchanges(mechanism: Mechanism, choice: ModeChoice, boxes: list[Box], seed: int = 0) -> list[Exchange]:
    """Exchanges on a scan of the region: along it in one dimension, on scattered lines through it in more."""
    if not choice.internal:
        return []
    asked = replace(choice, tracking="subspace")
    found: list[Exchange] = []
    for box in boxes:
        width = np.linalg.norm(2.0 * box.half)
        for line in _lines(box, seed):
            for item in _on_line(mechanism, asked, line, box.half):
                apart = [np.linalg.norm(np.subtract(item.theta, other.theta)) for other in found]
                if all(distance > _SAME * width for distance in apart):
                    found.append(item)
            if len(found) >= _MANY:
                return found
    return found


def torn(mechanism: Mechanism, choice: ModeChoice, boxes: list[Box]) -> list[TornModes]:
    """Where modes followed one by one do not fit together, looked for around every two coordinates of each box."""
    if choice.tracking != "modes":
        return []
    system = flexible_system(mechanism, choice)
    found: list[TornModes] = []
    for box in boxes:
        for i, j in combinations(range(box.dimension), 2):
            unit = np.zeros((len(_AROUND), box.dimension))
            unit[:, [i, j]] = _AROUND
            loop = box.from_unit(0.999 * unit)
            if assemble(mechanism, loop, failures="mark").assembled.all():
                found += torn_modes(system, loop)
    return found


def _lines(box: Box, seed: int) -> list[Array]:
    if box.dimension == 1:
        return [np.linspace(box.lower, box.upper, _POINTS)]
    ends = box.from_unit(scattered(box.dimension, 2 * _LINES, seed))
    t = np.linspace(0.0, 1.0, _POINTS // _LINES * 2)[:, None]
    return [ends[2 * i] + t * (ends[2 * i + 1] - ends[2 * i]) for i in range(_LINES)]


def _on_line(mechanism: Mechanism, choice: ModeChoice, line: Array, half: Array) -> list[Exchange]:
    seen = _look(mechanism, choice, line)
    found = []
    for i in range(len(line) - 1):
        if seen.valid[i] and seen.valid[i + 1] and seen.places[i] != seen.places[i + 1]:
            found += _between(mechanism, choice, line[i], line[i + 1], half, seen.places[i], seen.places[i + 1])
    low = np.flatnonzero(seen.valid & (seen.overlap < KEPT))
    found += [_told(mechanism, choice, line[i], half, float(seen.overlap[i])) for i in low[:1]]
    return found


def _between(
    mechanism: Mechanism, choice: ModeChoice, a: Array, b: Array, half: Array, at_a: float, at_b: float, depth: int = 0
) -> list[Exchange]:
    """All changes of places between two points, each judged by the overlap in its middle."""
    middle = 0.5 * (a + b)
    if 2.0**-depth < _CLOSE:
        overlap = float(_look(mechanism, choice, middle[None]).overlap[0])
        return [_told(mechanism, choice, middle, half, overlap)] if overlap < _FALLEN else []
    seen = _look(mechanism, choice, middle[None])
    if not seen.valid[0]:
        return []
    found = []
    if seen.places[0] != at_a:
        found += _between(mechanism, choice, a, middle, half, at_a, seen.places[0], depth + 1)
    if seen.places[0] != at_b:
        found += _between(mechanism, choice, middle, b, half, seen.places[0], at_b, depth + 1)
    return found


def _look(mechanism: Mechanism, choice: ModeChoice, theta: Array) -> _Seen:
    system = flexible_system(mechanism, choice)
    configuration = assemble(mechanism, theta, failures="mark")
    rows, _, status = flexible_rows(configuration, system)
    told = layout_of(system).split(rows)["told"]
    return _Seen(configuration.assembled & (status == DONE), told[:, -2], told[:, -1])


def _told(mechanism: Mechanism, choice: ModeChoice, theta: Array, half: Array, overlap: float) -> Exchange:
    cure = None
    for more in range(1, SPARE + 1):
        larger = replace(choice, internal=choice.internal + more)
        if not _changes(mechanism, larger, theta, half):
            cure = larger.internal
            break
    return Exchange(tuple(theta.tolist()), overlap, _pair(mechanism, choice, theta), cure)


def _changes(mechanism: Mechanism, choice: ModeChoice, theta: Array, half: Array) -> bool:
    """Whether a set exchanges a mode close to θ: the places of its modes change there, and not by a mere crossing."""
    aside = _NEAR * np.diag(half)
    seen = _look(mechanism, choice, np.vstack([theta, theta + aside, theta - aside]))
    return len(set(seen.places[seen.valid])) > 1 or float(seen.overlap[seen.valid].min(initial=1.0)) < KEPT


def _pair(mechanism: Mechanism, choice: ModeChoice, theta: Array) -> tuple[float, float] | None:
    """Frequencies of the kept mode and the other one that are closest to each other, of those that share a shape."""
    system = flexible_system(mechanism, choice)
    X = np.ascontiguousarray(assemble(mechanism, theta[None]).X)
    squares, Z = constrained_modes(system.rest, system.rest.held_and_loaded(), X, choice.internal + SPARE)
    share = np.square(Z[0] @ system.reference.T).sum(axis=1)
    mixed = np.flatnonzero((share > 0.1) & (share < 0.9))
    if len(mixed) < 2:
        return None
    inside, outside = mixed[np.argsort(-share[mixed])[:2]]
    hz = np.sqrt(squares[0]) / (2.0 * np.pi)
    return float(hz[inside]), float(hz[outside])
