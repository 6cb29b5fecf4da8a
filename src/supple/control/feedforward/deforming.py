"""A motion with the deformation that a flexible model has along it: what a controller of vibration should leave alone.

The coordinates are led along the motion, and δ_d(t) is how the model moves then. Of a motion that was shaped, so that
it leaves nothing behind, δ_d is not quasi-static on the way; a controller that held δ to what is would work against it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.control.feedforward.planned_motion import PlannedMotion, deformation_along, resting_after
from supple.control.feedforward.reference import finite_reference
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel
from supple.time_functions.function_of_time import Trajectory

_STEP = 1e-3  # s


def deforming(motion: Any, model: ReducedModel) -> PlannedMotion:
    """A motion, shaped as a rule, with its deformation.

    motion : as `reference` takes it; it must end
    From its end on δ_d is the static deflection there. What still vibrates then is no part of the plan.
    """
    require_arguments(deforming, locals())
    given = finite_reference(motion, model, otherwise="it never ends")
    times = np.linspace(given.begin, given.end, max(5, int(np.ceil(given.duration / _STEP))) + 1)
    run = model.follow(given.trajectory(times))
    names = model.layout.coordinates[model.layout.theta :]
    bending = Trajectory(names, times, *deformation_along(model, run), model.units).function
    return PlannedMotion(given, resting_after(bending, model, given.at(given.end)[0]), model)
