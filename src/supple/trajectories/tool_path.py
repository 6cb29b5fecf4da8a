"""The coordinates that lead a tool along a path.

    y(θ) = y_d(t),   θ̇ = J⁻¹ ẏ_d,   θ̈ = J⁻¹ (ÿ_d - θ̇ᵀ ∂²y θ̇),   J = ∂y/∂θ

Newton's method is led along the geometry of the path first, from rest, in steps short enough to stay on the branch;
all instants then start from a curve through those points and are solved together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicHermiteSpline

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.sensor import Sensor
from supple.diagnostics import InputError, NumericalError
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local
from supple.trajectories.profile import Course

_CLOSED = 1e-13  # distance from the path, in extents, at which Newton's method has nothing left to do
_GOOD = 1e-10  # and what is still good enough where rounding stops it
_ITERATIONS = 12
_FIRST, _SHORTEST, _LONGEST = 0.1, 1e-5, 0.25  # steps along a straight piece, as fractions of it
_STRAY = 0.3  # a correction larger than this fraction of its step may lead to another branch


@dataclass(frozen=True, eq=False)
class Knots:
    """Points of a straight piece where the coordinates are known: fractions (K,), theta and its slope (K, s)."""

    fraction: Array
    theta: Array
    slope: Array

    def __call__(self, fraction: Array) -> Array:
        return CubicHermiteSpline(self.fraction, self.theta, self.slope)(fraction)


class Tool:
    """A place of a mechanism, as a function of the coordinates."""

    def __init__(self, mechanism: Mechanism, place: str, part: str):
        self.part, self.place = part, place
        self.letters = mechanism.plane or "xyz"
        self.mechanism = mechanism.replace(sensors={"tool": Sensor(position=place)}, motions={}, scenarios={})
        numbering = rest(self.mechanism).numbering
        self.extent = float(numbering.arrays.extent)
        s = len(numbering.coordinates)
        angles = numbering.angles()[numbering.constraints : numbering.constraints + s]
        self.unit = np.where(angles, 1.0, self.extent)  # of each coordinate
        if s != len(self.letters):
            raise InputError(
                f'place "{place}" moves along {len(self.letters)} axes, and the mechanism has mobility {s}',
                part=part,
                hint="give the motion of its coordinates, or lead a place in a mechanism whose mobility is "
                f"{len(self.letters)}",
            )

    def at(self, theta: Array) -> tuple[Array, Array, Array]:
        """y (N, c), J (N, c, s), ∂²y (N, c, s, s) at coordinates (N, s)."""
        outputs = local(self.mechanism, theta, rigid=True).outputs
        parts = [outputs[f"tool.{letter}"] for letter in self.letters]
        return (
            np.stack([part.value for part in parts], axis=-1),
            np.stack([part.rigid for part in parts], axis=-2),
            np.stack([part.bend for part in parts], axis=-3),
        )

    def led(self, path: Array, pieces: NDArray[np.int64], fractions: Array, course: Course) -> Course:
        """θ and its derivatives (N, s) along a path (P, c), at fractions of its straight pieces.

        course : y, ẏ, ÿ (N, c) at those instants
        """
        start = rest(self.mechanism).theta.copy()
        here = self.at(start[None])[0][0]
        if np.linalg.norm(path[0] - here) > _GOOD * self.extent:
            start = self._follow(start, here, path[0], "from rest to the start of its path").theta[-1]
        guess = np.empty_like(course.value)
        for i in range(len(path) - 1):
            knots = self._follow(start, path[i], path[i + 1], f"along piece {i + 1} of its path")
            mine = pieces == i
            guess[mine] = knots(fractions[mine])
            start = knots.theta[-1]
        return self._solved(guess, course)

    def _solved(self, theta: Array, course: Course) -> Course:
        """Newton's method on all instants at once."""
        y, J, bend = self.at(theta)
        gap = np.linalg.norm(course.value - y, axis=1)
        for _ in range(_ITERATIONS):
            if gap.max() <= _CLOSED * self.extent:
                break
            trial = theta + self._over(J, course.value - y)
            found = self.at(trial)
            left = np.linalg.norm(course.value - found[0], axis=1)
            better = left < gap
            if not better.any():
                break
            gap = np.where(better, left, gap)
            theta[better] = trial[better]
            for old, new in zip((y, J, bend), found, strict=True):
                old[better] = new[better]
        if gap.max() > _GOOD * self.extent:
            raise NumericalError(
                f'place "{self.place}" was brought only to {gap.max():.2g} m from its path',
                part=self.part,
                hint="keep the path away from singular configurations",
            )
        rates = self._over(J, course.rate)
        curved = course.acceleration - np.einsum("ncjk,nj,nk->nc", bend, rates, rates)
        return Course(theta, rates, self._over(J, curved))

    def _over(self, J: Array, right: Array) -> Array:
        """J⁻¹ right at every instant."""
        try:
            return np.asarray(np.linalg.solve(J, right[..., None])[..., 0], dtype=float)
        except np.linalg.LinAlgError:
            raise InputError(
                f'place "{self.place}" meets a singular configuration, where no rates of the coordinates lead it on',
                part=self.part,
                hint="keep the path away from singular configurations",
            ) from None

    def _follow(self, theta: Array, start: Array, end: Array, where: str) -> Knots:
        """Along the straight piece from start (where θ is) to end."""
        way = end - start
        slope, sign = self._slope(theta, way)
        found = [(0.0, theta, slope)]
        fraction, step = 0.0, _FIRST
        while fraction < 1.0:
            step = min(step, _LONGEST, 1.0 - fraction)
            arrived = self._corrected(theta + step * slope, start + (fraction + step) * way)
            if arrived is not None:
                moved = np.linalg.norm((arrived - theta) / self.unit)
                stray = np.linalg.norm((arrived - theta - step * slope) / self.unit)
                ahead = self._slope(arrived, way)
                if stray <= _STRAY * moved and ahead[1] == sign:
                    fraction = 1.0 if fraction + step >= 1.0 - 1e-12 else fraction + step
                    theta, slope = arrived, ahead[0]
                    found.append((fraction, theta, slope))
                    step *= 1.5
                    continue
            step *= 0.5
            if step < _SHORTEST:
                raise self._stopped(start + fraction * way, where)
        fractions, thetas, slopes = zip(*found, strict=True)
        return Knots(np.array(fractions), np.array(thetas), np.array(slopes))

    def _slope(self, theta: Array, way: Array) -> tuple[Array, float]:
        """dθ for the whole way, and the side of the singularities of J on which θ lies."""
        J = self.at(theta[None])[1][0]
        sign = float(np.sign(np.linalg.det(J)))
        if sign == 0.0:
            return np.zeros_like(theta), sign
        return np.linalg.solve(J, way), sign

    def _corrected(self, theta: Array, target: Array) -> Array | None:
        """Newton's method for one point; None where it does not converge or the mechanism does not close."""
        last = np.inf
        for _ in range(_ITERATIONS):
            try:
                y, J, _ = self.at(theta[None])
                step = np.linalg.solve(J[0], target - y[0])
            except (InputError, NumericalError, np.linalg.LinAlgError):
                return None
            gap = float(np.linalg.norm(target - y[0])) / self.extent
            if gap <= _CLOSED or (gap <= _GOOD and gap >= 0.5 * last):
                return theta
            if gap > 10.0 * last:
                return None
            last = gap
            theta = theta + step
        return None

    def _stopped(self, at: Array, where: str) -> InputError:
        point = ", ".join(f"{x:.6g}" for x in at + 0.0)
        return InputError(
            f'place "{self.place}" cannot go on {where} at [{point}]: the mechanism is at the end of its reach or in a '
            "singular configuration",
            part=self.part,
            hint="lead it through points within reach, on one side of the singularities",
        )
