"""Coarse scan of the region for configurations in which the mechanism cannot be assembled, before it is sampled.

Where loops cannot be closed, or lock, there is no model, and M grows without bound on the way there. Along one
coordinate, refinement cuts such configurations out of the region with a few small boxes. In s coordinates they have a
surface of s - 1 dimensions, and boxes of 1/64 of the region along it take about A 64^(s-1) × samples of a box. A is the
area of the surface in units of a face of the region, counted on a grid between a point that can be assembled and one
that cannot. If that is more than the budget, the tolerance is out of reach, and an error reports that before sampling
begins.

A grid may miss such configurations, or their boxes may seem affordable. If a tolerance is then missed and the error is
largest close to one of them, `require_regular` finds it from there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.refinement.box import Box
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import NumericalError
from supple.diagnostics.errors import values_text
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.reduction.domain import Domain
from supple.reduction.region import interval_text

_VERTICES = {2: 17, 3: 9, 4: 5, 5: 4}  # of the grid along each axis; for more axes, points are scattered
_SCATTERED = 512
_SMALLEST = 64  # boxes along an axis where they contain a point that cannot be assembled
_SAMPLES = 150  # samples for a box along the surface, with the larger boxes beside it
_STEPS = 12  # of the search for a smaller region
_CLEAR = 0.25  # of the regularity in the middle: least regularity of a smaller region
_TESTED = 200  # points of a smaller region
_NEAR = 0.5  # of the regularity in the middle: below it, a singular configuration may be near
_SINGULAR = 0.01  # of the regularity in the middle: below it, a configuration counts as singular
_ROUNDS, _REACH = 40, 0.1  # rounds of the search for a singular configuration, and its first step, of half the region


class Obstacle(NamedTuple):
    """Part of a region that cannot be assembled.

    share   : share of the region
    at      : (s,) point of it that is nearest to the middle
    samples : approximate number of samples for a refinement along its surface
    """

    share: float
    at: Array
    samples: float


def require_reachable(mechanism: Mechanism, domain: Domain, budget: int) -> None:
    """Refuse a region whose unassemblable part would take more samples than the budget."""
    found = _first(mechanism, domain, budget)
    if found is not None:
        reason, box = found
        raise NumericalError(
            reason,
            part=f'mechanism "{mechanism.name}"',
            hint=f"{smaller_region(mechanism, domain, box)}; or raise the budget (--budget), or give --boxes",
        )


def unreachable(mechanism: Mechanism, domain: Domain, budget: int) -> str:
    """Return the reason for which `require_reachable` refuses the region; empty if it does not."""
    found = _first(mechanism, domain, budget)
    return "" if found is None else found[0]


def _first(mechanism: Mechanism, domain: Domain, budget: int) -> tuple[str, Box] | None:
    """Return the reason and the first box of the region that takes more samples than the budget."""
    if domain.path is not None or len(domain.coordinates) < 2:
        return None
    for box in domain.theta_boxes:
        found = _obstacle(mechanism, box)
        if found is None or found.samples <= budget:
            continue
        nearest = values_text(domain.theta_names, found.at, 4)
        return (
            f"the mechanism cannot be assembled, or locks, in {100.0 * found.share:.2g} % of the region, first at "
            f"{nearest}. Refinement along these configurations would take about {found.samples:.1g} samples, more than "
            f"the budget of {budget}"
        ), box
    return None


def require_regular(mechanism: Mechanism, domain: Domain, x: Array, excess: str) -> None:
    """Refuse a region if x (dimension,), where its error is too large or stagnates, is near a singular configuration.

    excess : statement of the error, for the message
    """
    if domain.path is not None:
        return
    theta, mu = domain.theta(x[None])[0], x[len(domain.coordinates) :]
    if len(mu):
        mechanism = domain.space.mechanism.at(mu.tolist())
    box = next((item for item in domain.theta_boxes if item.contains(theta)), None)
    place = None if box is None else _singular_beside(mechanism, box, theta)
    if box is None or place is None:
        return
    near = values_text(domain.theta_names, place, 4)
    raise NumericalError(
        f"the region contains or touches singular configurations, one near {near}. M grows without bound towards them: "
        f"{excess}, and smaller boxes do not reduce it",
        part=f'mechanism "{mechanism.name}"',
        hint=f"{smaller_region(mechanism, domain, box)}; or give --boxes to get a model anyway",
    )


def _singular_beside(mechanism: Mechanism, box: Box, theta: Array) -> Array | None:
    """Search from θ for a configuration of the box that is singular or cannot be assembled.

    The search moves to less and less regular configurations. None if it finds none, or if θ is far from singular.
    """
    s, x, reach = box.dimension, theta, _REACH
    start = assemble(mechanism, np.vstack([theta, box.center]), failures="mark")
    if not start.assembled.all():
        return theta if not start.assembled[0] else None
    least, middle = (float(value) for value in start.singularity)
    if least > _NEAR * middle:
        return None
    steps = np.vstack([np.eye(s), -np.eye(s), halton_points(s, 4 * s, 11)])
    for _ in range(_ROUNDS):
        points = np.clip(x + reach * box.half * steps, box.lower, box.upper)
        found = assemble(mechanism, points, failures="mark")
        if not found.assembled.all():
            return np.asarray(points[int(np.argmin(found.assembled))])
        best = int(np.argmin(found.singularity))
        if found.singularity[best] < least:
            least, x = float(found.singularity[best]), points[best]
        else:
            reach *= 0.5
        if least < _SINGULAR * middle:
            return x
    return None


def smaller_region(mechanism: Mechanism, domain: Domain, box: Box) -> str:
    """Return the advice to use the largest region about the same middle that avoids such configurations."""
    low, high = 0.0, 1.0
    middle = assemble(mechanism, box.center[None], failures="mark")
    least = _CLEAR * float(middle.singularity[0]) if middle.assembled[0] else math.inf
    for _ in range(_STEPS):
        share = 0.5 * (low + high)
        low, high = (share, high) if _clear(mechanism, box, share, least) else (low, share)
    if low < 1.0 / _SMALLEST:
        return "choose a region around another configuration"
    units = rest(mechanism).numbering.coordinate_units
    pairs = {
        name: (_round_inwards(c - low * h, up=True), _round_inwards(c + low * h, up=False))
        for name, c, h in zip(domain.theta_names, box.center, box.half, strict=True)
        if name in domain.coordinates
    }
    region = ",".join(interval_text(name, pair, units[name]) for name, pair in pairs.items())
    return f"--region {region} avoids them"


def _round_inwards(value: float, *, up: bool) -> float:
    """Round to three decimals, inwards."""
    return (math.ceil if up else math.floor)(1e3 * value) / 1e3


def _clear(mechanism: Mechanism, box: Box, share: float, least: float) -> bool:
    s = box.dimension
    inside = np.vstack([_corners(s), halton_points(s, _TESTED, 3), np.sign(halton_points(s, 4 * s, 5)) * 1.0])
    found = assemble(mechanism, box.center + share * box.half * inside, failures="mark")
    return bool(found.assembled.all()) and float(np.min(found.singularity)) >= least


def _corners(s: int) -> Array:
    if s > 8:
        return np.sign(halton_points(s, 256, 7))
    return np.stack(np.meshgrid(*[(-1.0, 1.0)] * s, indexing="ij"), axis=-1).reshape(-1, s)


def _obstacle(mechanism: Mechanism, box: Box) -> Obstacle | None:
    axes = [i for i in range(box.dimension) if box.half[i] > 0.0]
    s = len(axes)
    count = _VERTICES.get(s)
    if count is None:
        unit = np.vstack([_corners(s), halton_points(s, _SCATTERED, 0)])
    else:
        unit = np.stack(np.meshgrid(*[np.linspace(-1.0, 1.0, count)] * s, indexing="ij"), axis=-1).reshape(-1, s)
    points = np.repeat(box.center[None], len(unit), axis=0)
    points[:, axes] += unit * box.half[axes]
    there = assemble(mechanism, points, failures="mark").assembled
    if there.all():
        return None
    outside = np.flatnonzero(~there)
    nearest = outside[np.argmin(np.abs(unit[outside]).max(axis=1))]
    share = float(np.mean(~there))
    if count is None:
        area = 2.0 * s * share
    else:
        grid = there.reshape([count] * s)
        faces = sum(int(np.count_nonzero(np.diff(grid.astype(np.int8), axis=i))) for i in range(s))
        area = faces / (count - 1) ** (s - 1)
    return Obstacle(share, points[nearest], area * float(_SMALLEST) ** (s - 1) * _SAMPLES)
