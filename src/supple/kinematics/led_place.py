"""Inverse kinematics: the mechanism closed with components of a place's pose in the place of θ.

    [Φ(q); y(q)] = (0, y₀ + t (y_d - y₀)),   t from 0 to 1,   θ = θ(q)

The rows of y are measures as θ's are, so that one solver (`closure_kernel`) follows both segments: it stays on the
branch of the rest, and stops before rows become dependent, here at the edge of the reach. An orientation in space is
held by three products of axes, e_i^d·e_j = 0, with the axes e^d wanted; it is turned to in steps about one axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.compilation import compiled
from supple.description import measure
from supple.description.mechanism import Mechanism
from supple.description.posture import TURNS, axes_of
from supple.diagnostics import InputError
from supple.kinematics.closing import bulk, close_all, departure
from supple.kinematics.closure_kernel import Start, close_batch
from supple.kinematics.configuration import Configuration
from supple.kinematics.jacobian import measured_values
from supple.kinematics.numbering import numbering
from supple.kinematics.primitives import U
from supple.kinematics.rest import Rest, independent_rows, rest
from supple.kinematics.row_arrays import RowArrays

Array = NDArray[np.float64]

_PRODUCTS = (
    "xy",
    "yz",
    "zx",
)  # axes of the wanted frame and of the place: at right angles once it is turned
_TURN = 0.4  # rad: the products follow a rotation about any axis this far


@dataclass(frozen=True, eq=False)
class LedPlace:
    """A mechanism whose coordinates are components of a place's pose, and some of θ.

    rest   : the rest with θ; led : the same position with components of the place as its coordinates
    names  : of these, in order; turned : where the three products of an orientation begin, or None
    theta  : which measures of `led` are θ
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
        """The components (s,) at rest."""
        return self.led.theta

    @property
    def orientation(self) -> Array:
        """R (3, 3) of the place at rest, in the drawing."""
        return _orientation(self.rest, self.place, self.rest.X)

    def solved(self, wanted: Array, rotations: Array | None = None) -> tuple[Array, Array, Array]:
        """Poses (N, bodies + 1, 12), θ (N, s) and how far each of `wanted` (N, s) was reached.

        rotations : (N, 3, 3) orientations of the place; as at rest if left out
        """
        if rotations is None or self.turned is None:
            X, w, reached = close_all(self.led, wanted, self.start)
            return X, w[:, self.theta], reached
        X, theta = np.empty((len(wanted), *self.led.X.shape)), np.empty((len(wanted), len(self.theta)))
        reached = np.empty(len(wanted))
        for n, (values, R) in enumerate(zip(wanted, rotations, strict=True)):
            X[n], theta[n], reached[n] = self._turned_to(values, R, len(wanted))
        return X, theta, reached

    def _turned_to(self, wanted: Array, R: Array, count: int) -> tuple[Array, Array, float]:
        """One pose of `count`, in steps that turn about one axis."""
        led, run = self.led, compiled(close_batch, count=count * bulk(self.led.numbering))
        here = self.orientation
        turn = Rotation.from_matrix(R @ here.T).as_rotvec()
        steps = max(1, ceil(float(np.linalg.norm(turn)) / _TURN))
        X, w = led.X[None].copy(), led.w[None].copy()
        reached = np.ones(1)
        for step in range(1, steps + 1):
            axes = Rotation.from_rotvec(turn * (step / steps)).as_matrix() @ here
            arrays = self._towards(axes)
            origin = w[0].copy()
            now = _orientation(self.rest, self.place, X[0])
            assert self.turned is not None
            origin[self.turned : self.turned + 3] = [axes[:, i] @ now[:, j] for i, j in _pairs()]
            start = departure(led, arrays, X[0].copy(), origin, count=count)
            target = self.home + (step / steps) * (wanted - self.home)
            target[self.turned : self.turned + 3] = 0.0
            if start is None:
                return X[0], w[0, self.theta], (step - 1) / steps
            run(arrays, led.selected, start, target[None], X, w, reached)
            if reached[0] < 1.0:
                return X[0], w[0, self.theta], (step - 1 + float(reached[0])) / steps
        return X[0], w[0, self.theta], 1.0

    def _towards(self, axes: Array) -> RowArrays:
        """The rows with the wanted axes of the place."""
        assert self.turned is not None
        return _aimed(self.led.numbering.arrays, self.led.numbering.constraints + self.turned, axes)


def led_place(mechanism: Mechanism, place: str, axes: tuple[str, ...], coordinates: tuple[str, ...]) -> LedPlace:
    """A place led along axes of its pose, with some of θ; as many together as the mechanism has freedoms."""
    key = f"led {place} {axes} {coordinates}"
    return mechanism.remembered(key, lambda: _led(mechanism, place, axes, coordinates))


def _led(mechanism: Mechanism, place: str, axes: tuple[str, ...], coordinates: tuple[str, ...]) -> LedPlace:
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
        aimed = _aimed(found.arrays, found.constraints + turned, _orientation(position, place, position.X))
        found.arrays.rows_f[:] = aimed.rows_f
    w = measured_values(found, position.X)
    led = Rest(found, position.X, w, independent_rows(found, position.X), position.mobility, position.completion)
    start = departure(led, found.arrays, led.X, led.w)
    if start is None or start.margin < 1e-9:
        raise InputError(
            f'at rest "{place}" is at the edge of its reach or in a singular configuration, where its branches meet',
            part=f'mechanism "{mechanism.name}"',
            hint="draw the rest on the branch you want (`rest:`), or give coordinates",
        )
    theta = [found.measures[key] - found.constraints for key in list(position.numbering.measures)[: len(names)]]
    return LedPlace(position, led, place, names, turned, np.array(theta), start)


def _pairs() -> list[tuple[int, int]]:
    return [("xyz".index(pair[0]), "xyz".index(pair[1])) for pair in _PRODUCTS]


def _aimed(arrays: RowArrays, first: int, axes: Array) -> RowArrays:
    """Rows `first` and the two after it between the given axes of the ground and those of the place."""
    rows_f = arrays.rows_f.copy()
    for k, (i, _) in enumerate(_pairs()):
        rows_f[first + k, U : U + 3] = axes[:, i]
    return arrays._replace(rows_f=rows_f)


def _orientation(position: Rest, place: str, X: Array) -> Array:
    """R (..., 3, 3) of a place in the drawing; bodies at X."""
    return Configuration(position, position.theta, X, position.w, np.ones(())).frame(place).rotation
