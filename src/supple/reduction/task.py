"""What a reduction has to do, as asked and checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from supple.approximation.fits.fits import FITS, require_continuous
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.limits import require_within
from supple.parameterization.mode_choice import RIGID, ModeChoice
from supple.reduction.domain import Domain, domain_of
from supple.reduction.parameter_space import Vary, require_one_branch
from supple.reduction.region import Region
from supple.reduction.region_check import require_region
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
