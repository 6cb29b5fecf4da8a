"""References: what the coordinates shall do, as polynomials of time on pieces.

    θ_d(t) = Σ_k c_pk (t - t_p)^k,   t_p ≤ t < t_{p+1}

Before its beginning a reference stands where it begins, after its end where it ends.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PPoly

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.motion import Motion
from supple.diagnostics import InputError
from supple.diagnostics.arguments import is_list, real_numbers, require_arguments, shown
from supple.formats.model_description import described
from supple.kinematics.rest import rest
from supple.reduced.model import ReducedModel
from supple.reduced.time.led_motion import quintics
from supple.reduction.model_trajectory import follows_path, model_trajectory
from supple.results.names import listed
from supple.results.result import brief
from supple.results.units import UNKNOWN, Units
from supple.trajectories.trajectory import INSTANTS, Trajectory, planned_motion, trajectory

DERIVATIVES = 4  # θ, θ̇, θ̈, θ⃛


@dataclass(frozen=True, eq=False, repr=False)
class Reference:
    """Wanted coordinates over time.

    coordinates  : names (s)
    breaks       : (P + 1,) rising times, s
    coefficients : (P, d + 1, s) of 1, τ, τ², ... with τ the time since the piece's beginning, rad or m
    units        : of the coordinates, as far as they are known
    It is called like any motion: reference(t) = (θ, θ̇, θ̈), so that `simulate(motion=...)` takes it.
    """

    coordinates: tuple[str, ...]
    breaks: Array
    coefficients: Array
    units: Units = UNKNOWN

    def __post_init__(self) -> None:
        P, s = len(self.breaks) - 1, len(self.coordinates)
        fits = self.coefficients.ndim == 3 and self.coefficients.shape[0] == P and self.coefficients.shape[2] == s
        if P < 1 or not fits or not (np.diff(self.breaks) > 0.0).all() or not np.isfinite(self.coefficients).all():
            raise InputError(
                f"{P} pieces with coefficients of the shape {self.coefficients.shape} for {s} coordinates",
                part="reference", hint="give P + 1 rising breaks and finite coefficients (P, d + 1, s)",
            )  # fmt: skip

    def __repr__(self) -> str:
        count = len(self.breaks) - 1
        pieces = "1 piece" if count == 1 else f"{count} pieces"
        return brief("Reference", f"of {listed(self.coordinates)}, {self.duration:.4g} s, {pieces}")

    @property
    def begin(self) -> float:
        """When it begins to move, s."""
        return float(self.breaks[0])

    @property
    def end(self) -> float:
        """From when on it stands, s."""
        return float(self.breaks[-1])

    @property
    def duration(self) -> float:
        """From its beginning to its end, s."""
        return self.end - self.begin

    def at(self, t: float) -> Array:
        """θ, θ̇, θ̈ and θ⃛ at a time, (4, s)."""
        p = bisect_right(self._times, t) - 1
        if p < 0 or t >= self._times[-1]:
            return self._ends[0 if p < 0 else 1]
        return np.dot((t - self._times[p]) ** self._powers, self._slopes[p]).reshape(DERIVATIVES, -1)

    def sampled(self, times: ArrayLike) -> Array:
        """θ, θ̇, θ̈ and θ⃛ at times (N,): (N, 4, s)."""
        t = np.asarray(times, dtype=float)
        p = np.searchsorted(self.breaks, t, side="right") - 1
        inside = (p >= 0) & (t < self.end)
        p = np.clip(p, 0, len(self.breaks) - 2)
        tau = np.where(inside, t - self.breaks[p], 0.0)
        found = np.einsum("nk,nkj->nj", tau[:, None] ** self._powers, self._slopes[p])
        found = found.reshape(len(t), DERIVATIVES, -1)
        for standing, end in zip((t < self.begin, t >= self.end), self._ends, strict=True):
            found[standing] = end
        return found

    def ahead(self, time: float) -> Reference:
        """What it will be so much later, θ_d(t + time): for loops that answer late."""
        return Reference(self.coordinates, self.breaks - time, self.coefficients, self.units)

    def delayed(self, time: float) -> Reference:
        """The same so much later, θ_d(t - time)."""
        return self.ahead(-time)

    def trajectory(self, times: ArrayLike | None = None) -> Trajectory:
        """At instants; left out, a thousand steps from its beginning to its end."""
        t = np.linspace(self.begin, self.end, INSTANTS + 1) if times is None else np.asarray(times, dtype=float)
        theta, rates, accelerations, _ = np.ascontiguousarray(self.sampled(t).transpose(1, 0, 2))
        return Trajectory(self.coordinates, t, theta, rates, accelerations, self.units)

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        theta, rates, accelerations, _ = self.at(t)
        return theta, rates, accelerations

    @cached_property
    def pieces(self) -> PPoly:
        """As scipy writes it, c (d + 1, P, s), the highest power first."""
        return PPoly(np.ascontiguousarray(self.coefficients[:, ::-1].transpose(1, 0, 2)), self.breaks)

    @cached_property
    def _times(self) -> list[float]:
        return [float(t) for t in self.breaks]

    @cached_property
    def _powers(self) -> Array:
        return np.arange(self.coefficients.shape[1], dtype=float)

    @cached_property
    def _slopes(self) -> Array:
        """(P, d + 1, 4 s): coefficients of the values, and of the derivatives."""
        P, count, s = self.coefficients.shape
        found = np.zeros((P, count, DERIVATIVES, s))
        for order in range(min(DERIVATIVES, count)):
            for k in range(order, count):
                found[:, k - order, order] = self.coefficients[:, k] * (factorial(k) // factorial(k - order))
        return np.ascontiguousarray(found.reshape(P, count, -1))

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """(4, s) before and after."""
        last = (self.breaks[-1] - self.breaks[-2]) ** self._powers @ self.coefficients[-1]
        ends = np.zeros((2, DERIVATIVES, len(self.coordinates)))
        ends[0, 0], ends[1, 0] = self.coefficients[0, 0], last
        ends.setflags(write=False)
        return ends[0], ends[1]


@dataclass(frozen=True, eq=False, repr=False)
class CalledReference:
    """A reference that never ends: a callable t -> (θ, θ̇, θ̈) or (θ, θ̇, θ̈, θ⃛); without θ⃛ it is taken from θ̈ by
    differences over 0.1 ms. Like a `Reference`, but without pieces."""

    coordinates: tuple[str, ...]
    called: Callable[[float], Any]
    units: Units = UNKNOWN

    begin, end, duration = -np.inf, np.inf, np.inf

    def __repr__(self) -> str:
        return brief("CalledReference", f"of {listed(self.coordinates)}, without end")

    def at(self, t: float) -> Array:
        """θ, θ̇, θ̈ and θ⃛ at a time, (4, s)."""
        h = 1e-4
        given = self.called(t)
        if not is_list(given) or len(given) < DERIVATIVES - 1:
            raise InputError(f"it gives {shown(given)}", part="motion", hint="give a function of t with (θ, θ̇, θ̈)")
        parts = [real_numbers("motion", part) for part in given]
        if len(parts) < DERIVATIVES:
            around = (np.asarray(self.called(t + d)[2], dtype=float) for d in (-0.5 * h, 0.5 * h))
            before, after = around
            parts.append((after - before) / h)
        return np.stack(parts)

    def sampled(self, times: ArrayLike) -> Array:
        """θ, θ̇, θ̈ and θ⃛ at times (N,): (N, 4, s)."""
        return np.stack([self.at(float(t)) for t in np.asarray(times, dtype=float)])

    def ahead(self, time: float) -> CalledReference:
        """θ_d(t + time)."""
        called = self.called
        return CalledReference(self.coordinates, lambda t: called(t + time), self.units)

    def __call__(self, t: float) -> tuple[Array, Array, Array]:
        theta, rates, accelerations, _ = self.at(t)
        return theta, rates, accelerations


AnyReference = Reference | CalledReference
Wanted = Reference | CalledReference | Motion | Trajectory | str | Path | Callable[[float], Any]
"""A motion's name in the mechanism file, a CSV file, a Motion, a Trajectory, a reference, or t -> (θ, θ̇, θ̈)."""


def reference(motion: Any, of: Mechanism | ReducedModel | None = None, *, until: float | None = None) -> AnyReference:
    """A motion, however it is given, as a reference.

    motion : see `Wanted`, or a PlannedMotion; profiles within bounds become their own polynomials, exactly, tables
             the splines through them, tools' paths and sines quintics between a thousand instants
    of     : the mechanism or model whose coordinates it moves; a Trajectory or a Reference says so itself
    until  : s, of a callable: up to then it is turned into quintics 1 ms long; left out it is asked at every instant
    """
    require_arguments(reference, locals())
    names = None if of is None else coordinates_of(of)
    motion = getattr(motion, "reference", motion)  # of a planned motion
    if isinstance(motion, Reference | CalledReference):
        found: AnyReference = motion
    elif isinstance(motion, Trajectory):
        found = through(motion)
    elif of is None or names is None:
        raise InputError(
            "it does not say which coordinates it moves", part="motion",
            hint="give the mechanism or the model too: reference(motion, mechanism)",
        )  # fmt: skip
    elif callable(motion):
        found = _called(motion, of, names, until)
    else:
        found = _planned(motion, of)
    if names is not None and found.coordinates != names:
        raise InputError(
            f"it moves {', '.join(found.coordinates)}, and the coordinates are {', '.join(names)}",
            part="motion", hint="make it for this mechanism",
        )  # fmt: skip
    return found


def coordinates_of(of: Mechanism | ReducedModel) -> tuple[str, ...]:
    """Names of θ."""
    if isinstance(of, ReducedModel):
        return of.layout.coordinates[: of.layout.theta]
    return rest(of).numbering.coordinates


def through(course: Trajectory) -> Reference:
    """A trajectory as a reference: between its instants the quintics that meet values, rates and accelerations."""
    if len(course.time) < 2:
        theta = course.theta[:1, None]
        return Reference(course.coordinates, course.time[0] + np.array([0.0, 1.0]), theta, course.units)
    return _of_pieces(course.coordinates, quintics(course), course.units)


def _of_pieces(names: tuple[str, ...], pieces: PPoly, units: Units) -> Reference:
    return Reference(names, np.asarray(pieces.x), np.ascontiguousarray(pieces.c[::-1].transpose(1, 0, 2)), units)


def _called(motion: Callable[[float], Any], of: Any, names: tuple[str, ...], until: float | None) -> AnyReference:
    units = of.units if isinstance(of, ReducedModel) else UNKNOWN
    found = CalledReference(names, motion, units)
    first = found.at(0.0)
    if first.shape != (DERIVATIVES, len(names)) or not np.isfinite(first).all():
        raise InputError(
            f"a callable motion gives (θ, θ̇, θ̈) of {len(names)} coordinates each, all finite, not {motion(0.0)!r}",
            part="motion", hint="return three sequences in the order of the coordinates",
        )  # fmt: skip
    if until is None:
        return found
    times = np.linspace(0.0, until, max(2, round(until / 1e-3)) + 1)
    theta, rates, accelerations, _ = np.ascontiguousarray(found.sampled(times).transpose(1, 0, 2))
    return through(Trajectory(names, times, theta, rates, accelerations, units))


def _planned(motion: Any, of: Mechanism | ReducedModel) -> Reference:
    mechanism = described(of) if isinstance(of, ReducedModel) else of
    course = model_trajectory(of, motion) if isinstance(of, ReducedModel) else trajectory(of, motion)
    pieces = planned_motion(mechanism, motion).pieces
    if pieces is None or (isinstance(of, ReducedModel) and follows_path(of)):
        return through(course)
    every = rest(mechanism).numbering.coordinates
    chosen = [every.index(name) for name in course.coordinates]
    return _of_pieces(course.coordinates, PPoly(np.ascontiguousarray(pieces.c[..., chosen]), pieces.x), course.units)
