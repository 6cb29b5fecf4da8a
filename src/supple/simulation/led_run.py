"""A run of a reduced model whose coordinates θ are led along a course: the rows of δ alone are left to solve.

    M_δδ δ̈ = -[M_δθ θ̈ + Γ[η̇, η̇] + D_d η̇ + K η - p]_δ,     Q_θ = [M η̈ + Γ[η̇, η̇] + D_d η̇ + K η - p]_θ

Q_θ is what keeps θ on its course.
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.compilation import compiled
from supple.diagnostics import InputError, NumericalError
from supple.reduced.kernels import INSIDE, OUTSIDE
from supple.reduced.model import ReducedModel
from supple.reduced.time.led_march import LedCourse, LedOptions, led_march
from supple.reduced.time.led_motion import Led, course_at, parts_of, quasi_static, quintics, require_course
from supple.reduced.time.model_motion import ModelMotion
from supple.results.simulation import Simulation
from supple.simulation.driver import Known, drive
from supple.simulation.model_run import model_result

_TOLERANCE = 1e-9  # of a step, of the largest quasi-static deformation
_INSTANTS = 64  # at least, if there are as many, of a course that tell how far it will bend


def led_motion(
    model: ReducedModel,
    course: Led,
    times: Array | None = None,
    *,
    step: float | None = None,
    tolerance: float | None = None,
    friction_speed: float = 1e-3,
    delta: Array | None = None,
) -> Simulation:
    """Lead θ along a course, with δ free: from where it rests at the start, integrated by Dormand-Prince.

    Parameters
    ----------
    model
        The reduced model.
    course
        Course of its θ.
    times
        (N,) s, of the results, within the course; its own if left out.
    step
        Longest step, s; the whole run if left out.
    tolerance
        Error of a step over the deformation to expect; 1e-9 if left out.
    friction_speed
        Speed over which dry friction changes its sign.
    delta
        (n - s,) deformation at the start, at rest; the static one if left out.

    Returns
    -------
    Simulation
        Its `driving_forces` are Q_θ, N or N m along each coordinate.
    """
    require_course(course)
    layout = model.layout
    s, n = layout.theta, layout.size
    if course.coordinates != layout.coordinates[:s]:
        raise InputError(
            f"it moves {', '.join(course.coordinates)}, and the model has {', '.join(layout.coordinates[:s])}",
            part="motion", hint="make it for this model",
        )  # fmt: skip
    model.evaluate(course.theta)  # says so where the motion leaves the region
    asked = course if times is None else course_at(course, times)
    time = np.asarray(asked.time, dtype=float)
    eta, v, a = (np.hstack([part, np.zeros((len(time), n - s))]) for part in parts_of(asked))
    steps, works = 0, None
    if n > s and len(time) > 1:
        limits = (step or float(time[-1] - time[0]), tolerance or _TOLERANCE, friction_speed)
        run = LedRun(model, course, time, limits, delta)
        drive(run, Known(run.course, len(time) - 1))
        eta[:, s:], v[:, s:], works, a[:, s:] = np.split(run.record, [n - s, 2 * (n - s), 2 * (n - s) + 2], axis=1)
        steps = run.steps
    motion = ModelMotion(model, time, eta, v, np.zeros((len(time), 0)), friction_speed, a, works)
    return model_result(motion, "", float(time[-1]), steps, tolerance or _TOLERANCE)


class LedRun:
    """δ through result times (N,) of a model that is led.

    course : as the march takes it; record : (N, 3d + 2) δ, δ̇, works put in and lost, δ̈; steps : so far

    limits : a step, s; its error, of the deformation to expect and what there is; the speed of dry friction
    """

    def __init__(
        self, model: ReducedModel, course: Led, times: Array, limits: tuple[float, float, float], delta: Array | None
    ) -> None:
        self._model, self._times, self._reached, self.steps = model, times, 0, 0
        s, m = model.layout.theta, model.layout.size - model.layout.theta
        self._pieces = pieces = quintics(course)
        lowest, highest = course.theta.min(axis=0), course.theta.max(axis=0)
        still = np.zeros_like(course.theta)
        if delta is None:
            begin = np.clip(pieces(times[:1]), lowest, highest)
            delta = quasi_static(model, begin, still[:1], still[:1])[0]
        some = slice(None, None, max(1, len(course.theta) // _INSTANTS))
        typical = np.abs(quasi_static(model, course.theta[some], still[some], still[some])).max(axis=0)
        moving = quasi_static(model, *(part[some] for part in parts_of(course)))
        typical = np.maximum(typical, np.abs(moving).max(axis=0))
        typical = np.maximum(typical, max(1e-6 * float(typical.max()), 1e-12))
        typical = np.maximum(typical, np.abs(delta))
        c = model.evaluate(course.theta[0])
        fast = np.sqrt(np.maximum(np.diag(c.K)[s:] / np.diag(c.M)[s:], 1e-12))
        longest, tolerance, speed = limits
        self._options = LedOptions(float(longest), float(tolerance), float(speed), np.append(typical, typical * fast))
        ascending = np.ascontiguousarray(pieces.c[::-1].transpose(1, 0, 2))
        self.course = LedCourse(np.ascontiguousarray(course.time, dtype=float), ascending, lowest, highest)
        self.record = np.empty((len(times), 3 * m + 2))
        self._state = np.concatenate([delta, np.zeros(m + 2)])

    def advance(self, acting: LedCourse, until: int) -> bool:
        """Advance to the result time of number `until`; see `Advancing`. It raises where it cannot follow."""
        model, part = self._model, slice(self._reached, until + 1)
        status, stopped, steps = compiled(led_march)(
            *model.arrays, self._options, acting, self._times[part], self._state, self.record[part]
        )
        self.steps += int(steps)
        if status == OUTSIDE:
            model.evaluate(np.clip(self._pieces(stopped), acting.lowest, acting.highest))  # says where the region ends
        if status != INSIDE:
            raise NumericalError(
                f"its deformation cannot be followed beyond {stopped:.6g} s", part=f'model "{model.name}"',
                hint="check the motion for jumps, or give a larger tolerance",
            )  # fmt: skip
        self._reached = until
        return True
