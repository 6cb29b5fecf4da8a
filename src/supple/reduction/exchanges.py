"""Exchanges: configurations where a kept internal mode exchanges its shape with one that is not kept.

Two frequencies that come close but do not meet veer apart again and swap their modes within a narrow strip. If one of
them is outside the set, the kept subspace turns towards it there, and coefficients change faster than any fit can
follow; one or two more modes make the set whole. An exchange differs from a mere crossing by the overlap with the
germ's subspace: at a crossing the overlap does not change, in the middle of an exchange it falls to about 0.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.fits.scattered_fit import halton_points
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics.errors import values_text
from supple.formats.varied_mechanism import VariedMechanism, as_varied
from supple.formulations.elastic_rest.constrained_modes import constrained_modes, rows_over_coordinates
from supple.kinematics.closure import assemble
from supple.parameterization.family_germ import brought_back
from supple.parameterization.internal_modes import DONE, SPARE
from supple.parameterization.local_model import local
from supple.parameterization.modal_parameterization import ModalParameterization, modal_parameterization
from supple.parameterization.modal_rows import modal_layout, modal_rows
from supple.parameterization.mode_choice import ModeChoice
from supple.parameterization.mode_matching import KEPT
from supple.parameterization.mode_tracking import continued_modes
from supple.reduction.scanned_region import Scanned, points_along, slices_of

# Points in two and more coordinates where two frequencies meet, around which modes cannot be followed one by one.
#
# Along a loop around such a point each of the two modes turns into minus itself, so no choice of signs is continuous
# there. Modes followed along straight segments from the germ jump across the ray behind the point.
# (docs/theory/parameterization.md, eqs. 23-25)


_ONE_MODE = 0.5  # least product of two modes that are the same mode
_GRID = 12  # points per side of the triangle in which the search for a meeting point begins
_NEWTON, _CONVERGED = 20, 1e-10  # iterations, and the last step of θ
_MET = 1e-6  # relative difference of ω² at which two frequencies meet
_APART = 1e-6  # in θ: meeting points closer than that are one


@dataclass(frozen=True)
class TrackingFault:
    """Two modes that cannot be followed around the point where their frequencies meet.

    theta   : meeting point, or point of closest approach
    hz      : the two frequencies there
    modes   : numbers of the two modes among all, from 1
    between : neighbouring points whose modes, each followed from the germ, do not continue each other
    """

    theta: tuple[float, ...]
    hz: tuple[float, float]
    modes: tuple[int, int]
    between: tuple[tuple[float, ...], tuple[float, ...]]

    def describe(self, names: tuple[str, ...]) -> str:
        """Return the fault as text, with coordinate names."""
        where = values_text(names, self.theta, 4)
        met = self.hz[1] - self.hz[0] < _MET * self.hz[1]
        hz = f"{self.hz[0]:.4g} Hz" if met else f"{self.hz[0]:.4g} and {self.hz[1]:.4g} Hz"
        return (
            f"modes {self.modes[0]} and {self.modes[1]} {'meet' if met else 'come close'} at {where} ({hz}) and "
            'cannot be followed one by one around that point; use tracking="subspace" (--tracking subspace)'
        )


def tracking_faults(system: ModalParameterization, line: Array) -> list[TrackingFault]:
    """Return the faults of modes followed one by one along a line (N, s), one per meeting point of frequencies.

    The modes at a point, followed on to its neighbour, must be those that are followed there from the germ. Where they
    are not, the triangle of the germ and the two neighbours contains a point at which two frequencies meet.
    """
    if not system.choice.internal:
        return []
    found: list[TrackingFault] = []
    at = [continued_modes(system, system.germ.theta, system.reference, theta) for theta in line]
    for i in range(len(line) - 1):
        onward = continued_modes(system, line[i], at[i], line[i + 1])
        if (np.einsum("kz,kz->k", onward, at[i + 1]) >= _ONE_MODE).all():
            continue
        item = _find_meeting(system, line[i], line[i + 1])
        if all(np.linalg.norm(np.subtract(item.theta, other.theta)) > _APART for other in found):
            found.append(item)
    return found


def _find_meeting(system: ModalParameterization, a: Array, b: Array) -> TrackingFault:
    """Find the meeting point of two frequencies in the triangle of the germ, a and b.

    From the closest frequencies on a grid, Newton's method solves K_11 = K_22, K_12 = 0 for the two modes, which are
    smooth functions of θ when their subspace is followed.
    """
    weights = [(i, j, _GRID - i - j) for i in range(_GRID + 1) for j in range(_GRID + 1 - i)]
    points = np.array(weights) / _GRID @ np.array([system.germ.theta, a, b])
    squares = _squares(system, points, system.choice.internal + 1)
    gap = np.diff(squares, axis=1) / squares[:, 1:]
    row, low = (int(i) for i in np.unravel_index(int(np.argmin(gap)), gap.shape))
    start = theta = points[row]
    reach = float(np.linalg.norm(np.ptp(points, axis=0)))
    for _ in range(_NEWTON):
        K, dK = _stiffness(system, theta, start, low)
        off = np.array([K[0, 0] - K[1, 1], 2.0 * K[0, 1]]) / np.trace(K)
        slope = np.array([dK[0, 0] - dK[1, 1], 2.0 * dK[0, 1]]) / np.trace(K)
        step = -np.linalg.lstsq(slope, off, rcond=None)[0]
        if np.linalg.norm(theta + step - start) > reach:
            break
        theta = theta + step
        if np.linalg.norm(step) < _CONVERGED:
            break
    one, other = _squares(system, theta[None], low + 2)[0, low : low + 2]
    if abs(other - one) > _MET * other:  # they veer so sharply that the step size decides their order
        theta = start
        one, other = squares[row, low : low + 2]
    hz = np.sqrt([one, other]) / (2.0 * np.pi)
    between = (tuple(a.tolist()), tuple(b.tolist()))
    return TrackingFault(tuple(theta.tolist()), (float(hz[0]), float(hz[1])), (low + 1, low + 2), between)


def _squares(system: ModalParameterization, theta: Array, count: int) -> Array:
    X = np.ascontiguousarray(assemble(system.rest.numbering.mechanism, theta).X)
    return constrained_modes(system.rest, system.rest.list_loaded_rows(), X, count)[0]


def _stiffness(system: ModalParameterization, theta: Array, start: Array, low: int) -> tuple[Array, Array]:
    """K (2, 2) and ∂K/∂θ (2, 2, s) of modes `low` and the next, of the subspace of all up to them."""
    mechanism = system.rest.numbering.mechanism
    found = local(
        mechanism,
        theta,
        constraint_modes=system.choice.constraint,
        internal_modes=low + 2,
        tracking="subspace",
        germ=start,
        preload=False,  # like the tracked modes
    )
    return found.K[-2:, -2:], np.asarray(found.dK)[-2:, -2:]


_POINTS, _LINES = 240, 24  # points of a scan in one dimension; lines of each kind in more, each of a few points
_CLOSE = 1e-7  # of a line: to which a change of the mode numbers is located
_FALLEN = 0.9  # overlap below which the middle of a change is an exchange
_SAME = 0.02  # of the region: exchanges closer than that are one
_NEAR = 0.005  # of the region: distance around an exchange at which a larger set is tested
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
    """Exchange of a kept mode with one outside the set.

    theta   : configuration, followed by μ if parameters are varied
    overlap : smallest overlap with the reference there
    hz      : frequencies of the two modes, the kept one first
    cure    : number of internal modes that would hold both; None if none was found among a few more
    jump    : whether the set changes discontinuously there, which no fit can follow
    """

    theta: tuple[float, ...]
    overlap: float
    hz: tuple[float, float] | None
    cure: int | None
    jump: bool = False

    def data(self) -> dict[str, Any]:
        """Return the JSON data."""
        return asdict(self) | {"theta": list(self.theta)}

    def describe(self, names: tuple[str, ...]) -> str:
        """Return the exchange and the advice as text, with coordinate names."""
        where = values_text(names, self.theta, 4)
        pair = "" if self.hz is None else f" ({self.hz[0]:.4g} Hz with {self.hz[1]:.4g} Hz)"
        how = " abruptly" if self.jump else ""
        return (
            f"at {where} a mode of the set exchanges with one outside it{how}{pair}, overlap {self.overlap:.2f}: "
            f"{self.advice}"
        )

    @property
    def advice(self) -> str:
        """Advice that removes the exchange."""
        if self.cure is None:
            return f"up to {SPARE} more internal modes do not remove it; use a smaller region or another germ"
        return f"keep {self.cure} internal modes"


class _ScannedModes(NamedTuple):
    """Modes at the points of a scan: validity, overlap with the germ, bit mask of the kept mode numbers, and shapes."""

    valid: NDArray[np.bool_]
    overlap: Array
    places: Array
    modes: Array

    def part(self, start: int, stop: int) -> _ScannedModes:
        return _ScannedModes(*(item[start:stop] for item in self))  # type: ignore[arg-type]


def exchanges(
    mechanism: Mechanism | VariedMechanism,
    choice: ModeChoice,
    boxes: Sequence[Scanned],
    suspects: Array | None = None,
    seed: int = 0,
) -> list[Exchange]:
    """Return the exchanges found by a scan of the region.

    In one dimension the scan runs along the region, in more along lines through it. With parameters it runs along lines
    at a few parameter values, and along the parameters.

    suspects : (N, s + p) further points to scan, on lines from the middle of their box
    """
    if not choice.internal:
        return []
    mechanism = as_varied(mechanism)
    adjusted = choice if choice.tracking == "strain" else replace(choice, tracking="subspace")
    swaps: list[Exchange] = []
    for box in boxes:
        width = np.where(box.half > 0.0, 2.0 * box.half, 1.0)
        for part in slices_of(box):
            lines = [*_towards(part, suspects), *_lines(part, seed)]
            scanned = _modes_at(mechanism, adjusted, np.vstack(lines))  # in one batch, shared by all cores
            first = 0
            for line in lines:
                here = scanned.part(first, first + len(line))
                first += len(line)
                for item in _on_line(mechanism, adjusted, line, box.half, here):
                    apart = [np.linalg.norm(np.subtract(item.theta, other.theta) / width) for other in swaps]
                    if all(distance > _SAME * np.sqrt(len(width)) for distance in apart):
                        swaps.append(item)
                if len(swaps) >= _MANY:
                    return swaps
    return swaps


def tracking_faults_over(
    mechanism: VariedMechanism, choice: ModeChoice, boxes: Sequence[Scanned]
) -> list[TrackingFault]:
    """Return the faults of modes followed one by one, on loops in every two coordinates of each box."""
    if choice.tracking != "modes":
        return []
    faults: list[TrackingFault] = []
    for box in (part for item in boxes for part in slices_of(item)):
        for i, j in combinations(range(box.dimension), 2):
            unit = np.zeros((len(_AROUND), box.dimension))
            unit[:, [i, j]] = _AROUND
            ((member, _, loop),) = mechanism.parts(box.from_unit(0.999 * unit))
            if assemble(member, loop, failures="mark").assembled.all():
                faults += tracking_faults(modal_parameterization(member, choice), loop)
    return faults


def _towards(box: Scanned, suspects: Array | None) -> list[Array]:
    t = np.linspace(0.0, 1.0, _POINTS // _LINES * 2)[:, None]
    near = np.zeros((0, len(box.center))) if suspects is None else suspects[box.contains(suspects)]
    return [box.center + t * (point - box.center) for point in near]


def _lines(box: Scanned, seed: int) -> list[Array]:
    if box.dimension == 1:
        return [box.from_unit(np.linspace(-1.0, 1.0, points_along(box, _POINTS))[:, None])]
    # Sets change most far from the germ: diagonals and edges reach every corner, scattered lines the rest.
    corners = np.array(list(product((-1.0, 1.0), repeat=box.dimension)))
    pairs = [(one, -one) for one in corners if one[0] > 0.0]
    for axis in range(box.dimension):
        pairs += [
            (one, one * np.where(np.arange(box.dimension) == axis, -1.0, 1.0)) for one in corners if one[axis] > 0.0
        ]
    pairs = pairs[:: -(-len(pairs) // _LINES)]
    inside = halton_points(box.dimension, 2 * _LINES, seed)
    pairs += [(inside[2 * i], inside[2 * i + 1]) for i in range(_LINES)]
    t = np.linspace(0.0, 1.0, _POINTS // _LINES * 2)[:, None]
    ends = [box.from_unit(np.array(pair)) for pair in pairs]
    return [a + t * (b - a) for a, b in ends if np.any(a != b)]


def _on_line(
    mechanism: VariedMechanism, choice: ModeChoice, line: Array, half: Array, scanned: _ScannedModes
) -> list[Exchange]:
    swaps = []
    for i in range(len(line) - 1):
        if scanned.valid[i] and scanned.valid[i + 1] and scanned.places[i] != scanned.places[i + 1]:
            swaps += _between(mechanism, choice, line[i], line[i + 1], half, scanned.places[i], scanned.places[i + 1])
    low = np.flatnonzero(scanned.valid & (scanned.overlap < KEPT))
    swaps += [_exchange_at(mechanism, choice, line[i], half, float(scanned.overlap[i])) for i in low[:1]]
    return swaps


def _between(
    mechanism: VariedMechanism,
    choice: ModeChoice,
    a: Array,
    b: Array,
    half: Array,
    at_a: float,
    at_b: float,
    depth: int = 0,
) -> list[Exchange]:
    """Return all exchanges between two points, each judged by the overlap in its middle."""
    middle = 0.5 * (a + b)
    if 2.0**-depth < _CLOSE:
        scanned = _modes_at(mechanism, choice, np.vstack([middle, a, b]))
        overlap = float(scanned.overlap[0])
        alike = np.linalg.svd(scanned.modes[1] @ scanned.modes[2].T, compute_uv=False)[-1]
        jump = bool(alike < _FALLEN)
        return [_exchange_at(mechanism, choice, middle, half, overlap, jump)] if jump or overlap < _FALLEN else []
    scanned = _modes_at(mechanism, choice, middle[None])
    if not scanned.valid[0]:
        return []
    swaps = []
    if scanned.places[0] != at_a:
        swaps += _between(mechanism, choice, a, middle, half, at_a, scanned.places[0], depth + 1)
    if scanned.places[0] != at_b:
        swaps += _between(mechanism, choice, middle, b, half, scanned.places[0], at_b, depth + 1)
    return swaps


def _modes_at(mechanism: VariedMechanism, choice: ModeChoice, x: Array) -> _ScannedModes:
    """Return the modes at x (N, s + p), in the coordinates of the first mechanism."""
    adjusted = replace(choice, stiffening=False)
    first = modal_parameterization(mechanism.nominal, adjusted).rest
    scanned = _ScannedModes(
        np.zeros(len(x), dtype=bool), np.full(len(x), np.nan), np.full(len(x), np.nan),
        np.zeros((len(x), choice.internal, first.size)),
    )  # fmt: skip
    for member, which, theta in mechanism.parts(x):
        system = modal_parameterization(member, adjusted)
        configuration = assemble(member, theta, failures="mark")
        found = modal_rows(configuration, system, loads="none")
        layout = modal_layout(system)
        scanned.valid[which] = configuration.assembled & (found.status == DONE)
        scanned.overlap[which], scanned.places[which] = (
            layout.part(found.rows, name)[:, 0] for name in ("overlap", "places")
        )
        kept = found.modes[:, found.modes.shape[1] - choice.internal :]
        scanned.modes[which] = brought_back(first, system.rest, kept)
    return scanned


def _exchange_at(
    mechanism: VariedMechanism, choice: ModeChoice, theta: Array, half: Array, overlap: float, jump: bool = False
) -> Exchange:
    cure = None
    for more in range(1, SPARE + 1):
        larger = replace(choice, internal=choice.internal + more)
        if not _changes(mechanism, larger, theta, half):
            cure = larger.internal
            break
    return Exchange(tuple(theta.tolist()), overlap, _pair(mechanism, choice, theta), cure, jump)


def _changes(mechanism: VariedMechanism, choice: ModeChoice, theta: Array, half: Array) -> bool:
    """Return whether a set exchanges a mode close to θ: its mode numbers change there, by more than a mere crossing."""
    aside = _NEAR * np.diag(half)
    scanned = _modes_at(mechanism, choice, np.vstack([theta, theta + aside, theta - aside]))
    return len(set(scanned.places[scanned.valid])) > 1 or float(scanned.overlap[scanned.valid].min(initial=1.0)) < KEPT


def _pair(mechanism: VariedMechanism, choice: ModeChoice, theta: Array) -> tuple[float, float] | None:
    """Return the frequency of the kept mode least like the reference, and of the other mode most like it."""
    ((member, _, own),) = mechanism.parts(theta[None])
    system = modal_parameterization(member, choice)
    X = np.ascontiguousarray(assemble(member, own).X)
    squares, Z = constrained_modes(system.rest, system.rest.list_loaded_rows(), X, choice.internal + SPARE)
    likeness = Z[0] @ system.reference.T
    if choice.tracking == "strain":
        held = system.rest.list_loaded_rows()
        likeness = strain_likeness(system.stresses, rows_over_coordinates(system.rest, held.rows, X), squares, Z)[0]
    share = np.square(likeness).sum(axis=1)
    places = int(_modes_at(mechanism, choice, theta[None]).places[0])
    kept = np.array([bool(places >> i & 1) for i in range(len(share))])
    if kept.all():
        return None
    inside, outside = np.argmin(np.where(kept, share, np.inf)), np.argmax(np.where(kept, -np.inf, share))
    hz = np.sqrt(squares[0]) / (2.0 * np.pi)
    return float(hz[inside]), float(hz[outside])


def strain_likeness(stresses: Array, rows: Array, squares: Array, modes: Array) -> Array:
    """Return the overlaps (N, found, k) of the strains of modes (N, found, z) with those of a reference.

    squares  : (N, found) ω² of the modes
    stresses : (k, z + m) of the reference
    rows     : (N, m, z) held rows
    """
    z = modes.shape[2]
    acting = stresses[:, :z] + stresses[:, z:] @ rows
    return np.asarray(np.einsum("nfz,nkz->nfk", modes, acting) / np.sqrt(squares)[:, :, None])
