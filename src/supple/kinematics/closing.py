"""Closing many positions at once along a straight segment, the error where it stops, and inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.compilation.bundle import native_array
from supple.compilation.threads import in_parts
from supple.description import measure
from supple.description.mechanism import Mechanism
from supple.description.posture import TURNS, axes_of
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.errors import values_text
from supple.kinematics.closure_kernel import SHORTEST, Start, close_batch
from supple.kinematics.configuration import Configuration
from supple.kinematics.elimination import last_over_first, workspace
from supple.kinematics.jacobian import measured_values
from supple.kinematics.motion import rigid_modes
from supple.kinematics.numbering import Numbering, numbering
from supple.kinematics.primitives import U, row_value
from supple.kinematics.rest import Rest, independent_loop_rows, rest
from supple.kinematics.row_arrays import RowArrays

# Closing at given θ.


_DEAD = 0.02  # singularity measure below which a halted closure is at a dead point
_SHARE = 1e-2  # smallest share of a locked coordinate in the forces that balance without motion
_FEW = 6  # coordinates, up to which second derivatives along all pairs of them take milliseconds interpreted
_TOGETHER = 30.0  # singular values this close to the smallest vanish together with it


def close_all(position: Rest, theta: Array, origin: Start | None = None, rounds: int = 1) -> tuple[Array, Array, Array]:
    """Return poses, measures and the reached fraction of each θ (N, s), on all cores; from `origin`, or from rest.

    rounds : expected number of calls with as many θ
    """
    theta, count = native_array(theta), len(theta)
    X = np.empty((count, *position.X.shape))
    w = np.empty((count, len(position.w)))
    reached = np.empty(count)
    origin = closing_start(position) if origin is None else origin

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        run = compile_kernel(close_batch, count=rounds * (stop - start) * bulk(position.numbering))
        run(position.numbering.arrays, position.selected, origin, theta[piece], X[piece], w[piece], reached[piece])

    in_parts(part, count)
    return X, w, reached


def closing_start(position: Rest) -> Start:
    """Return the start of closure at rest, computed once per mechanism; an error if rest itself is a dead point."""
    return position.numbering.mechanism.compute_once("start", lambda: _start(position))


def _start(position: Rest) -> Start:
    found = departure(position, position.numbering.arrays, position.X, position.w)
    if found is None:
        raise dead_point_error(Configuration(position, position.theta, position.X, position.w, np.zeros(())))
    return found


def departure(
    position: Rest, arrays: RowArrays, X: Array, w: Array, *, count: int = 1, shortest: float = SHORTEST
) -> Start | None:
    """Return a start at poses X (bodies + 1, 12) with measures w, for rows of that mechanism; None at a dead point.

    count    : number of starts that are requested one after the other
    shortest : step at which a dead point is not approached any further
    """
    sizes = position.numbering.sizes
    nb, d, s = sizes.bodies, sizes.width, sizes.coordinates
    Psi, dPsi, twists = np.zeros((nb + 1, d, s)), np.zeros((nb + 1, d, s * s)), np.zeros((nb + 1, s, 6))
    work = workspace(arrays)
    bulky = count * bulk(position.numbering)
    bulky = 0 if bulky == 1 and s <= _FEW else bulky  # takes milliseconds once per mechanism: no compilation
    regular, sign = compile_kernel(rigid_modes, count=bulky)(arrays, position.selected, X, work, Psi, dPsi, twists)
    return Start(X, w, Psi, dPsi, sign, last_over_first(work.G, sizes.free), shortest) if regular else None


def bulk(numbering: Numbering) -> int:
    """Return how many positions of a small mechanism cost as much as one of this: 1 up to about twenty bodies."""
    return max(1, numbering.columns // 60) ** 3


def locked_coordinates(configuration: Configuration) -> list[str]:
    """Return the coordinates that a (nearly) singular position blocks: those with a share in λ, [Φ_q; A]ᵀ λ ≈ 0."""
    left, sigma, _ = np.linalg.svd(configuration.jacobian())
    numbering = configuration.rest.numbering
    vanishing = np.flatnonzero(sigma[: numbering.columns] <= _TOGETHER * sigma[numbering.columns - 1])
    share = np.linalg.norm(left[numbering.constraints :, vanishing], axis=1)
    return [name for name, part in zip(numbering.coordinates, share, strict=True) if part > _SHARE]


def dead_point_error(halted: Configuration) -> InputError | NumericalError:
    """Return the error for a closure that could not follow the segment, with the coordinates that lock."""
    position = halted.rest
    names = position.numbering.coordinates
    listed_theta = values_text(names, halted.theta)
    there = position.theta + float(halted.reached) * (halted.theta - position.theta)
    where = values_text(names, there)
    part = f'mechanism "{halted.mechanism.name}" at {listed_theta}'
    if float(halted.singularity) > _DEAD:
        return NumericalError(
            f"closure stopped at {where}, which is not a dead point (singularity {float(halted.singularity):.2g})",
            part=part,
            hint="choose a configuration closer to rest, or a rest closer to it",
        )
    locked = locked_coordinates(halted)
    listed = ", ".join(f'"{name}"' for name in locked)
    what = f"{listed} lock{'s' if len(locked) == 1 else ''}" if locked else "a freedom appears that no coordinate fixes"
    return InputError(
        f"the path from rest meets a dead point at {where} (singularity {float(halted.singularity):.2g}), where {what}",
        part=part,
        hint="choose a configuration on this side of it, or set `rest:` on the desired branch",
    )


# Inverse kinematics: the mechanism closed with components of the pose of a point as coordinates instead of θ.
#
#     [Φ(q); y(q)] = (0, y₀ + t (y_d - y₀)),   t from 0 to 1,   θ = θ(q)
#
# The rows of y are measures as θ's are, so that one solver (`closure_kernel`) follows both segments: it stays on the
# branch of the rest, and stops before rows become dependent, here at the edge of the reach. An orientation in space is
# fixed by three products of axes, e_i^d·e_j = 0, with the target axes e^d; it is reached in steps about one axis.


_PRODUCTS = ("xy", "yz", "zx")
"""Axes of the target frame and of the point, at right angles when the orientation is reached."""
_COARSE = 0.01  # fraction of a segment: shortest step while the edge is more than _CLOSE steps away
_CLOSE = 20.0
_TURN = 0.4  # rad: largest rotation about any axis that the products can follow


class PoseSolution(NamedTuple):
    """Poses X (N, bodies + 1, 12), θ (N, s), and the fraction `reached` (N,) of each segment."""

    X: Array
    theta: Array
    reached: Array


@dataclass(frozen=True, eq=False)
class PosedPoint:
    """A mechanism whose coordinates are components of the pose of a point, and some of θ.

    rest   : rest configuration with θ
    led    : the same position with components of the pose as coordinates
    names  : names of these coordinates, in order
    turned : index of the first of the three products of an orientation, or None
    theta  : numbers of the measures of `led` that are θ
    """

    rest: Rest
    led: Rest
    place: str
    names: tuple[str, ...]
    turned: int | None
    theta: NDArray[np.int64]
    start: Start

    @property
    def home(self) -> Array:
        """Components (s,) at rest."""
        return self.led.theta

    @property
    def orientation(self) -> Array:
        """Rotation matrix (3, 3) of the point at rest, in the drawing."""
        return _orientation(self.rest, self.place, self.rest.X)

    def solve_from_rest(self, targets: Array, rotations: Array | None = None) -> PoseSolution:
        """Solve for targets from rest; only segments that end close to the edge of the reach approach it finely."""
        found = self.solve(targets, rotations, self.start._replace(shortest=_COARSE))
        close = np.flatnonzero((found.reached < 1.0) & (found.reached > 1.0 - _CLOSE * _COARSE))
        if len(close):
            finer = self.solve(targets[close], None if rotations is None else rotations[close])
            for mine, new in zip(found, finer, strict=True):
                mine[close] = new
        return found

    def solve(self, targets: Array, rotations: Array | None = None, origin: Start | None = None) -> PoseSolution:
        """Return the ends of the straight segments to the targets `targets` (N, s), from rest or another position.

        rotations : (N, 3, 3) orientations of the point; default: as at rest
        origin    : start from `from_position`
        """
        start = self.start if origin is None else origin
        if self.turned is None:
            X, w, reached = close_all(self.led, targets, start)
            return PoseSolution(X, w[:, self.theta], reached)
        if rotations is None:
            rotations = np.broadcast_to(self.orientation, (len(targets), 3, 3))
        if start.X is self.led.X and (rotations == self.orientation).all():  # it only shifts: all at once
            X, w, reached = close_all(self.led, targets, start)
            return PoseSolution(X, w[:, self.theta], reached)
        found = PoseSolution(
            np.empty((len(targets), *self.led.X.shape)),
            np.empty((len(targets), len(self.theta))),
            np.empty(len(targets)),
        )
        for n, (values, R) in enumerate(zip(targets, rotations, strict=True)):
            found.X[n], found.theta[n], found.reached[n] = self._turn_to(values, R, start, len(targets))
        return found

    def from_position(self, X: Array, w: Array, count: int, shortest: float) -> Start | None:
        """Return a start at poses X (bodies + 1, 12) with measures w; None where branches of the mechanism meet.

        count : number of segments that start there, or at other such positions
        """
        arrays, first = self.led.numbering.arrays, self.led.numbering.constraints
        measures = self.led.w.copy()
        known = self.rest.numbering
        for key, row in known.measures.items():  # full turns, as they are counted
            measures[self.led.numbering.measures[key] - first] = w[row - known.constraints]
        rows = range(first, self.led.numbering.rows)
        measures = np.array([row_value(arrays.rows_i, arrays.rows_f, row, X, measures) for row in rows])
        return departure(self.led, arrays, X.copy(), measures, count=count, shortest=shortest)

    def _turn_to(self, targets: Array, R: Array, origin: Start, count: int) -> tuple[Array, Array, float]:
        """Solve for one pose of `count`, in steps that turn about one axis."""
        led, run = self.led, compile_kernel(close_batch, count=count * bulk(self.led.numbering))
        here = _orientation(self.rest, self.place, origin.X)
        turn = Rotation.from_matrix(R @ here.T).as_rotvec()
        steps = max(1, ceil(float(np.linalg.norm(turn)) / _TURN))
        X, w = origin.X[None].copy(), origin.w[None].copy()
        home = origin.w[: len(targets)]
        reached = np.ones(1)
        for step in range(1, steps + 1):
            axes = Rotation.from_rotvec(turn * (step / steps)).as_matrix() @ here
            arrays = self._towards(axes)
            measured = w[0].copy()
            now = _orientation(self.rest, self.place, X[0])
            assert self.turned is not None
            measured[self.turned : self.turned + 3] = [axes[:, i] @ now[:, j] for i, j in _pairs()]
            start = departure(led, arrays, X[0].copy(), measured, count=count, shortest=origin.shortest)
            target = home + (step / steps) * (targets - home)
            target[self.turned : self.turned + 3] = 0.0
            if start is None:
                return X[0], w[0, self.theta], (step - 1) / steps
            run(arrays, led.selected, start, target[None], X, w, reached)
            if reached[0] < 1.0:
                return X[0], w[0, self.theta], (step - 1 + float(reached[0])) / steps
        return X[0], w[0, self.theta], 1.0

    def _towards(self, axes: Array) -> RowArrays:
        """Return the rows with the target axes of the point."""
        assert self.turned is not None
        return _aim_rows(self.led.numbering.arrays, self.led.numbering.constraints + self.turned, axes)


def posed_point(mechanism: Mechanism, place: str, axes: tuple[str, ...], coordinates: tuple[str, ...]) -> PosedPoint:
    """Return a point with components of its pose, and some of θ, as coordinates; as many as the freedoms."""
    key = f"led {place} {axes} {coordinates}"
    return mechanism.compute_once(key, lambda: _make_posed_point(mechanism, place, axes, coordinates))


def _make_posed_point(
    mechanism: Mechanism, place: str, axes: tuple[str, ...], coordinates: tuple[str, ...]
) -> PosedPoint:
    position = rest(mechanism)
    rows = {}
    for axis in axes:
        if axis in TURNS:
            rows[f"{place}.{axis}"] = place, measure.right_angle(*_PRODUCTS[TURNS.index(axis)])
        elif axis == "angle":
            rows[f"{place}.{axis}"] = place, measure.turn("z")
        else:
            rows[f"{place}.{axis}"] = place, measure.along("xyz"[axes_of(mechanism).index(axis)])
    names = (*rows, *coordinates)
    found = numbering(mechanism, names, rows)
    turned = axes.index("rx") if "rx" in axes else None
    if turned is not None:
        aimed = _aim_rows(found.arrays, found.constraints + turned, _orientation(position, place, position.X))
        found.arrays.rows_f[:] = aimed.rows_f
    w = measured_values(found, position.X)
    led = Rest(found, position.X, w, independent_loop_rows(found, position.X), position.mobility, position.completion)
    start = departure(led, found.arrays, led.X, led.w)
    if start is None or start.margin < 1e-9:
        raise InputError(
            f'at rest "{place}" is at the edge of its reach or in a singular configuration, where its branches meet',
            part=f'mechanism "{mechanism.name}"',
            hint="set the rest on the desired branch (`rest:`), or give coordinates",
        )
    theta = [found.measures[key] - found.constraints for key in list(position.numbering.measures)[: len(names)]]
    return PosedPoint(position, led, place, names, turned, np.array(theta), start)


def _pairs() -> list[tuple[int, int]]:
    return [("xyz".index(pair[0]), "xyz".index(pair[1])) for pair in _PRODUCTS]


def _aim_rows(arrays: RowArrays, first: int, axes: Array) -> RowArrays:
    """Return the rows with `first` and the next two between the given axes of the ground and those of the point."""
    rows_f = arrays.rows_f.copy()
    for k, (i, _) in enumerate(_pairs()):
        rows_f[first + k, U : U + 3] = axes[:, i]
    return arrays._replace(rows_f=rows_f)


def _orientation(position: Rest, place: str, X: Array) -> Array:
    """Return R (..., 3, 3) of a point in the drawing; bodies at X."""
    return Configuration(position, position.theta, X, position.w, np.ones(())).frame(place).rotation
