"""Further forces along measures, beside those of the actuators: what deflects a mechanism until it is let go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.formulations.absolute.system import Absolute
from supple.formulations.coefficients import ACTUATOR, NUMBER, ROLE


def pushed_along(problem: Absolute, rows: Sequence[int]) -> Absolute:
    """The same equations with one more input along each of the measures of these rows, after the actuators."""
    system, numbering = problem.system, problem.rest.numbering
    starts, kinds, values = system.uses_start.copy(), system.uses_i, system.uses_f
    for k, row in enumerate(rows):
        measure = row - numbering.constraints
        use = np.zeros((1, kinds.shape[1]), dtype=np.int64)
        use[0, ROLE], use[0, NUMBER] = ACTUATOR, len(numbering.mechanism.actuators) + k
        at = int(starts[measure + 1])
        kinds = np.insert(kinds, at, use, axis=0)
        values = np.insert(values, at, np.zeros((1, values.shape[1])), axis=0)
        starts[measure + 1 :] += 1
    return problem._replace(system=system._replace(uses_start=starts, uses_i=kinds, uses_f=values))
