"""Whether a region can be what was meant, looked at before any work: can the mechanism be assembled in it?

A unit that was forgotten is the likeliest mistake: 95 to 145 are degrees. The message says so where that would help.
"""

from __future__ import annotations

import math
import warnings
from itertools import product

import numpy as np

from supple.approximation.fits.scattered_designs import scattered
from supple.approximation.refinement.box import Box
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleWarning
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.reduction.domain import Domain
from supple.reduction.region_units import SMALLER, Interval, coordinate_units, spoken, written

_CORNERS = 32  # of a box, at most
_INSIDE = 16  # scattered points of a box
_TURNS = 2.0  # an angle without limits that goes through more than these is doubtful


def require_region(mechanism: Mechanism, domain: Domain) -> None:
    """Refuse a region in which the mechanism can be assembled nowhere; doubt an angle that is many turns wide."""
    if domain.path is not None:  # looked at point by point when it was made
        return
    units = coordinate_units(mechanism)
    for number, box in enumerate(domain.theta_boxes):
        intervals = dict(zip(units, zip(box.lower, box.upper, strict=True), strict=True))
        points = _spread(box)
        if not assemble(mechanism, points, failures="mark").assembled.any():
            said = ", ".join(f"{name} {spoken(pair, units[name])}" for name, pair in intervals.items())
            raise InputError(
                f"the mechanism can be assembled at none of {len(points)} configurations spread over it: {said}",
                part=f"box {number + 1} of the region" if len(domain.boxes) > 1 else "region",
                hint=_instead(mechanism, intervals, units, domain),
            )
        for name, (a, b) in intervals.items():
            if units[name] == "rad" and name not in domain.limits and b - a > _TURNS * 2.0 * math.pi:
                turns = (b - a) / (2.0 * math.pi)
                warnings.warn(
                    f'region of "{name}": {spoken((a, b), "rad")} are {turns:.3g} turns; if degrees '
                    f"were meant, write {written(name, (a, b), 'deg')}",
                    SuppleWarning,
                    stacklevel=4,
                )


def _spread(box: Box) -> Array:
    """The centre, corners, and some points between them."""
    corners = np.array(list(product((-1.0, 1.0), repeat=min(box.dimension, 12))))
    if box.dimension > 12:
        corners = np.sign(scattered(box.dimension, _CORNERS, 0))
    chosen = np.linspace(0, len(corners) - 1, min(len(corners), _CORNERS)).astype(int)
    return np.vstack([box.center, box.from_unit(corners[chosen]), box.from_unit(scattered(box.dimension, _INSIDE, 0))])


def _instead(mechanism: Mechanism, intervals: dict[str, Interval], units: dict[str, str], domain: Domain) -> str:
    """The same numbers in smaller units, if the mechanism can be assembled there; else where it can be."""
    most = {"rad": 2.0 * math.pi, "m": 3.0 * float(rest(mechanism).numbering.arrays.extent)}
    free = [  # what is within limits was meant as it stands, and so was what is no more than a turn
        name
        for name, ends in intervals.items()
        if name not in domain.limits and max(map(abs, ends)) > most[units[name]]
    ]
    for angle, length in product([None, *SMALLER["rad"]], [None, *SMALLER["m"]]):
        taken = {name: angle if units[name] == "rad" else length for name in free}
        factor = [SMALLER[units[name]].get(taken.get(name) or "", 1.0) for name in intervals]
        middle = 0.5 * np.sum(list(intervals.values()), axis=1) * factor
        if any(taken.values()) and assemble(mechanism, middle[None], failures="mark").assembled.all():
            meant = [written(name, intervals[name], unit) for name, unit in taken.items() if unit]
            return f"did you mean {', '.join(meant)}?"
    position = rest(mechanism)
    at = ", ".join(f"{name}={value:.4g}" for name, value in zip(units, position.theta, strict=True))
    return f"choose a region around its rest ({at}), on this side of dead points"
