"""A run of a reduced model under forces that are known functions of time, explicit or implicit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled
from supple.diagnostics.limits import require_memory
from supple.integration.generalized_alpha import alpha_of
from supple.integration.input_course import InputCourse
from supple.integration.step_options import StepOptions
from supple.reduced.kernels import INSIDE
from supple.reduced.model import ReducedModel
from supple.reduced.time.begin import early_end
from supple.reduced.time.explicit_march import explicit_march
from supple.reduced.time.implicit_march import Options, implicit_march
from supple.reduced.time.model_motion import ModelMotion
from supple.results.simulation import Simulation
from supple.simulation.model_result import model_result

Array = NDArray[np.float64]

TOLERANCE = 1e-9  # of a step, where neither a step nor a tolerance is asked for


class FreeRun:
    """η through result times (N,), under an `InputCourse`.

    start : η and η̇ (n,); implicit : by generalized-α, else by Dormand-Prince
    """

    def __init__(
        self, model: ReducedModel, times: Array, start: tuple[Array, Array], options: StepOptions, *, implicit: bool
    ) -> None:
        size = model.layout.size
        self._model, self._times, self._last, self._steps, self._count = model, times, 0, 0, 1
        self._state = np.concatenate([*start, np.zeros(2)])
        require_memory(16.0 * len(times) * (size + 1), f"{len(times)} results take", part="t", hint="keep fewer")
        self._record = np.empty((len(times), 2 * size + 2))
        step, tolerance = options.step, options.tolerance
        self._error = tolerance if tolerance is not None else (0.0 if step is not None else TOLERANCE)
        longest = step if step is not None else float(times[-1] - times[0])
        self._friction_speed, self._stopped, self._reason = options.friction_speed, float(times[0]), ""
        limits = (float(longest), float(self._error), float(options.friction_speed))
        self._march: Any = explicit_march
        self._options: Any = limits
        if implicit:
            self._march, self._options = implicit_march, Options(*limits, alpha_of(options.spectral_radius))

    def advance(self, acting: InputCourse, until: int) -> bool:
        """Advance to the result time of number `until`; see `Advancing`."""
        part = slice(self._last, until + 1)
        status, count, time, steps = compiled(self._march)(
            *self._model.arrays, self._options, self._times[part], acting, self._state, self._record[part]
        )
        self._count, self._stopped = self._last + int(count), float(time)
        self._last, self._steps = until, self._steps + int(steps)
        if status != INSIDE:
            self._reason = early_end(self._model, int(status), self._stopped, self._state)
        return bool(status == INSIDE)

    def result(self, inputs: Array) -> Simulation:
        """Return the motion so far, under inputs (N, a) at the result times."""
        n, count = self._model.layout.size, self._count
        eta, v, works = (np.ascontiguousarray(part) for part in np.split(self._record[:count], [n, 2 * n], axis=1))
        motion = ModelMotion(
            self._model, self._times[:count], eta, v, inputs[:count], self._friction_speed, works=works
        )
        return model_result(motion, self._reason, self._stopped, self._steps, self._error or None)
