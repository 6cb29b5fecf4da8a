"""What a reduction has to do, as asked and checked."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from supple.approximation.fits.fits import FITS, require_continuous
from supple.approximation.fits.scattered_fit import halton_points
from supple.approximation.refinement.box import Box
from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, SuppleWarning
from supple.diagnostics.errors import values_text
from supple.diagnostics.limits import require_within
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.parameterization.mode_choice import RIGID, ModeChoice
from supple.reduction.domain import Domain, domain_of
from supple.reduction.parameter_space import Vary, require_one_branch
from supple.reduction.region import SMALLER, Interval, Region, interval_text, spoken
from supple.reduction.stated_error import ROUNDING

BUDGET = 20_000  # samples, and points that refinement looks at


class Task(NamedTuple):
    """boxes : along each coordinate of a grid; None: they are refined to the tolerance
    degree : None: the fit's own; choice : of the modes of deformation
    checks : points on which the error is stated; None: as many as `points_needed`
    budget : samples, and points that refinement looks at, before it ends with the error it has
    """

    domain: Domain
    fit: str
    boxes: tuple[int, ...] | None
    tolerance: float
    degree: int | None
    continuous: bool
    seed: int
    choice: ModeChoice = RIGID
    checks: int | None = None
    budget: int = BUDGET

    def grid_samples(self) -> int | None:
        """Samples of a grid, which are known beforehand."""
        if self.boxes is None:
            return None
        return len(self.domain.boxes) * FITS[self.fit].grid_samples(self.boxes, self.degree)

    def options(self) -> dict[str, Any]:
        """As a file keeps them."""
        return {
            **self.domain.options(),
            "fit": self.fit,
            "boxes": None if self.boxes is None else list(self.boxes),
            "tolerance": None if self.boxes else self.tolerance,
            "degree": self.degree,
            "continuous": self.continuous,
            "seed": self.seed,
            "checks": self.checks,
            "budget": None if self.boxes else self.budget,
            "modes": {**asdict(self.choice), "constraint": list(self.choice.constraint)},
        }


def checked_task(
    mechanism: Mechanism,
    region: Region,
    fit: str,
    boxes: int | Sequence[int] | None,
    tolerance: float,
    degree: int | None,
    continuous: bool,
    seed: int,
    choice: ModeChoice = RIGID,
    vary: Vary | None = None,
    checks: int | None = None,
    budget: int | None = None,
) -> Task:
    """Refuse what cannot be done, before anything is computed."""
    FITS[fit].settled(degree)
    if continuous:
        require_continuous(FITS[fit])
    if not 0.0 < tolerance < 1.0:
        raise InputError(f"{tolerance:g} is no relative error", part="tolerance", hint="give one between 0 and 1")
    if tolerance < ROUNDING:
        raise InputError(
            f"{tolerance:g} is below {ROUNDING:g}, to which samples themselves are known",
            part="tolerance", hint="give a larger one",
        )  # fmt: skip
    if checks is not None and checks < 1:
        raise InputError(f"{checks} check points are asked for", part="checks", hint="ask for one at least")
    require_within("points", checks or 1, part="checks")
    if budget is not None and budget < 1:
        raise InputError(f"a budget of {budget} samples is none", part="budget", hint=f"give more, such as {BUDGET}")
    domain = domain_of(mechanism, region, vary)
    require_region(domain.space.mechanism.nominal, domain)
    if domain.space.parameters:
        require_one_branch(domain.space, domain.theta_boxes[0].center)
    names, counts = domain.names, None
    if boxes is not None:
        counts = (int(boxes),) * len(names) if isinstance(boxes, int) else tuple(int(n) for n in boxes)
        if len(counts) == 1:
            counts *= len(names)
        if len(counts) != len(names) or min(counts) < 1:
            raise InputError(
                f"{len(counts)} numbers of boxes for the coordinates {', '.join(names)}",
                part="boxes",
                hint="give one number, 1 or more, for each",
            )
        require_within("boxes", math.prod(counts) * len(domain.boxes), part="boxes")
        if continuous:
            raise InputError(
                "a grid of boxes jumps between them", part="continuous", hint="give a tolerance instead of boxes"
            )
    if choice.stiffening and not FITS[fit].structured:
        raise InputError(
            f"the fit {fit} has M at δ = 0 alone, and stiffening is how M changes with δ",
            part="stiffening", hint="choose --fit auto or chebyshev, or leave stiffening out",
        )  # fmt: skip
    return Task(domain, fit, counts, tolerance, degree, continuous, seed, choice, checks, budget or BUDGET)


# Whether a region can be what was meant, looked at before any work: can the mechanism be assembled in it?
#
# A unit that was forgotten is the likeliest mistake: 95 to 145 are degrees. The message says so where that would help.


_CORNERS = 32  # of a box, at most
_INSIDE = 16  # scattered points of a box
_TURNS = 2.0  # an angle without limits that goes through more than these is doubtful


def require_region(mechanism: Mechanism, domain: Domain) -> None:
    """Refuse a region in which the mechanism can be assembled nowhere; doubt an angle that is many turns wide."""
    if domain.path is not None:  # looked at point by point when it was made
        return
    units = rest(mechanism).numbering.coordinate_units
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
                    f"were meant, write {interval_text(name, (a, b), 'deg')}",
                    SuppleWarning,
                    stacklevel=4,
                )


def _spread(box: Box) -> Array:
    """The centre, corners, and some points between them."""
    corners = np.array(list(product((-1.0, 1.0), repeat=min(box.dimension, 12))))
    if box.dimension > 12:
        corners = np.sign(halton_points(box.dimension, _CORNERS, 0))
    chosen = np.linspace(0, len(corners) - 1, min(len(corners), _CORNERS)).astype(int)
    return np.vstack(
        [box.center, box.from_unit(corners[chosen]), box.from_unit(halton_points(box.dimension, _INSIDE, 0))]
    )


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
            meant = [interval_text(name, intervals[name], unit) for name, unit in taken.items() if unit]
            return f"did you mean {', '.join(meant)}?"
    position = rest(mechanism)
    at = values_text(units, position.theta, 4)
    return f"choose a region around its rest ({at}), on this side of dead points"
