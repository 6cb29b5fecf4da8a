"""Task of a reduction: its checked options."""

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
from supple.reduction.region import SMALLER, Interval, Region, interval_text, interval_words
from supple.reduction.stated_error import ROUNDING

BUDGET = 20_000  # samples and held-out points of a refinement


class Task(NamedTuple):
    """Checked options of a reduction.

    boxes  : number along each coordinate of a grid; None: refined to the tolerance
    degree : None: that of the fit
    choice : modes of deformation
    checks : points at which the error is measured; None: as many as `points_needed`
    budget : samples and held-out points at which refinement stops
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
        """Return the number of samples of a grid, which is known beforehand."""
        if self.boxes is None:
            return None
        return len(self.domain.boxes) * FITS[self.fit].grid_samples(self.boxes, self.degree)

    def options(self) -> dict[str, Any]:
        """Return the options as provenance data."""
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


def check_task(
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
    """Check the options of a reduction before anything is computed."""
    FITS[fit].choose_degree(degree)
    if continuous:
        require_continuous(FITS[fit])
    if not 0.0 < tolerance < 1.0:
        raise InputError(
            f"must be between 0 and 1 (got {tolerance:g})", part="tolerance", hint="give a relative error such as 1e-3"
        )
    if tolerance < ROUNDING:
        raise InputError(
            f"{tolerance:g} is below the accuracy of the samples, {ROUNDING:g}",
            part="tolerance", hint="give a larger tolerance",
        )  # fmt: skip
    if checks is not None and checks < 1:
        raise InputError(f"must be positive (got {checks})", part="checks", hint="give at least one check point")
    require_within("points", checks or 1, part="checks")
    if budget is not None and budget < 1:
        raise InputError(f"must be positive (got {budget} samples)", part="budget", hint=f"give more, such as {BUDGET}")
    domain = domain_of(mechanism, region, vary)
    require_region(domain.space.mechanism.nominal, domain)
    if domain.space.parameters:
        require_one_branch(domain.space, domain.theta_boxes[0].center)
    names, counts = domain.names, None
    if boxes is not None:
        counts = (int(boxes),) * len(names) if isinstance(boxes, int) else tuple(int(n) for n in boxes)
        if len(counts) == 1:
            counts *= len(names)
        if len(counts) != len(names):
            raise InputError(
                f"expected {len(names)} number{'s' * (len(names) != 1)}, one for each of {', '.join(names)} "
                f"(got {len(counts)})",
                part="boxes",
                hint="give one number for all, or one for each",
            )
        if min(counts) < 1:
            raise InputError(f"must be 1 or more (got {min(counts)})", part="boxes", hint="give positive integers")
        require_within("boxes", math.prod(counts) * len(domain.boxes), part="boxes")
        if continuous:
            raise InputError(
                "a grid of boxes cannot be continuous", part="continuous", hint="give a tolerance instead of boxes"
            )
    if choice.stiffening and not FITS[fit].structured:
        raise InputError(
            f'the fit "{fit}" does not support stiffening, because its M does not depend on δ',
            part="stiffening", hint="choose --fit auto or chebyshev, or omit stiffening",
        )  # fmt: skip
    return Task(domain, fit, counts, tolerance, degree, continuous, seed, choice, checks, budget or BUDGET)


# Check of the region before the reduction: the mechanism must be assembled somewhere in it.
#
# The likeliest mistake is a forgotten unit: 95 to 145 are degrees. The message suggests the unit if that would help.


_CORNERS = 32  # of a box, at most
_INSIDE = 16  # scattered points of a box
_TURNS = 2.0  # turns of an angle without limits above which a warning is given


def require_region(mechanism: Mechanism, domain: Domain) -> None:
    """Refuse a region in which the mechanism can be assembled nowhere; warn of an angle that is many turns wide."""
    if domain.path is not None:  # its points were checked when the path was created
        return
    units = rest(mechanism).numbering.coordinate_units
    for number, box in enumerate(domain.theta_boxes):
        intervals = dict(zip(units, zip(box.lower, box.upper, strict=True), strict=True))
        points = _spread(box)
        if not assemble(mechanism, points, failures="mark").assembled.any():
            ranges = ", ".join(f"{name} {interval_words(pair, units[name])}" for name, pair in intervals.items())
            raise InputError(
                f"the mechanism can be assembled at none of {len(points)} configurations spread over it: {ranges}",
                part=f"box {number + 1} of the region" if len(domain.boxes) > 1 else "region",
                hint=_instead(mechanism, intervals, units, domain),
            )
        for name, (a, b) in intervals.items():
            if units[name] == "rad" and name not in domain.limits and b - a > _TURNS * 2.0 * math.pi:
                turns = (b - a) / (2.0 * math.pi)
                warnings.warn(
                    f'region of "{name}": {interval_words((a, b), "rad")} is {turns:.3g} turns; for degrees, write '
                    f"{interval_text(name, (a, b), 'deg')}",
                    SuppleWarning,
                    stacklevel=4,
                )


def _spread(box: Box) -> Array:
    """Return the centre, corners, and some points between them."""
    corners = np.array(list(product((-1.0, 1.0), repeat=min(box.dimension, 12))))
    if box.dimension > 12:
        corners = np.sign(halton_points(box.dimension, _CORNERS, 0))
    chosen = np.linspace(0, len(corners) - 1, min(len(corners), _CORNERS)).astype(int)
    return np.vstack(
        [box.center, box.from_unit(corners[chosen]), box.from_unit(halton_points(box.dimension, _INSIDE, 0))]
    )


def _instead(mechanism: Mechanism, intervals: dict[str, Interval], units: dict[str, str], domain: Domain) -> str:
    """Return the advice: the same numbers in smaller units if the mechanism can be assembled there, else a posture."""
    most = {"rad": 2.0 * math.pi, "m": 3.0 * float(rest(mechanism).numbering.arrays.extent)}
    free = [  # a range within limits, or within one turn, has the right unit
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
    return f"choose a region around its rest posture ({at}) that does not reach dead points"
