"""Steps in time: the options of the integrators, the generalized-α method, and the times of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers
from supple.diagnostics.limits import require_within

# Options of the integrators, the same for every kind of system.


class StepOptions(NamedTuple):
    """Options of the integrator, as `simulate` and `closed_loop` take them.

    step            : s, fixed, or with a tolerance the longest; None lets steps follow the motion
    tolerance       : error allowed per step, or None
    spectral_radius : what a step leaves of the fastest oscillations, 0 to 1, for generalized-α
    friction_speed  : speed over which dry friction changes its sign
    rigid           : elastic parts of a mechanism do not deform
    """

    step: float | None = None
    tolerance: float | None = None
    spectral_radius: float = 0.9
    friction_speed: float = 1e-3
    rigid: bool = False

    @property
    def longest(self) -> float:
        """The step, for a run that has been given one, s."""
        assert self.step is not None
        return self.step

    @property
    def fixed(self) -> bool:
        """Whether all steps have one length."""
        return self.step is not None and self.tolerance is None

    def allowed(self, usual: float) -> float | None:
        """The tolerance, or the usual one where neither a step nor a tolerance is asked for."""
        return usual if self.step is None and self.tolerance is None else self.tolerance

    def spacing(self, longest: float) -> float:
        """Longest time between samples of callables, s; longest : step, s."""
        return longest if self.fixed else longest / 8


# The generalized-α method: its four numbers, from the damping of the highest frequencies.
#
#     (1 - α_m) a_{n+1} + α_m a_n = (1 - α_f) v̇_{n+1} + α_f v̇_n
#     q_{n+1} = q_n ∘ exp(h v_n + h² ((½ - β) a_n + β a_{n+1}))
#     v_{n+1} = v_n + h ((1 - γ) a_n + γ a_{n+1})
#
# [Chung, Hulbert 1993; Brüls, Cardona, Arnold 2012 on Lie groups]. Second order for α_m = (2ρ - 1)/(ρ + 1), α_f = ρ/(ρ
# + 1), γ = ½ - α_m + α_f, β = ¼ (γ + ½)², where ρ is what remains of an infinitely fast oscillation after a step: 1
# damps nothing, 0 all of it.


class Alpha(NamedTuple):
    """α_m, α_f, β, γ."""

    m: float
    f: float
    beta: float
    gamma: float


def alpha_of(radius: float) -> Alpha:
    """The optimal parameters for a spectral radius at infinity between 0 and 1."""
    if not 0.0 <= radius <= 1.0:
        raise InputError(f"the spectral radius at infinity is {radius:g}", hint="give a number from 0 to 1")
    m, f = (2.0 * radius - 1.0) / (radius + 1.0), radius / (radius + 1.0)
    gamma = 0.5 - m + f
    return Alpha(m, f, 0.25 * (gamma + 0.5) ** 2, gamma)


# The times of a run: when its results are wanted, and how long a step may be at most if no step is given.


LONGEST = 1e-3  # s, and
LEAST_STEPS = 100  # of a run, where no step is asked for
_RESULTS = 2000  # at most, if nothing is said of them


def longest_step(until: float) -> float:
    """The longest step (s) of a run that is not told one."""
    return min(LONGEST, until / LEAST_STEPS)


def result_times(
    t: ArrayLike | None, *, until: float | None = None, step: float | None = None, output_step: float | None = None
) -> Array:
    """(N,) rising times, s.

    t : those times, or the end alone; until : the end of a run from 0 on, with results `output_step` apart, or every
        step, or every longest one, and then at most 2000
    """
    require_positive(output_step=output_step)
    if t is not None:
        given = _numbers(t)
        if until is not None or (given.ndim and output_step is not None):
            raise InputError(
                "it is said twice which results are wanted", part="t", hint="give t, or until and output_step"
            )
        if given.ndim:
            require_positive(step=step)
            require_run(float(given[-1] - given[0]), step)
            return given
        until = float(given)
    if until is None:
        raise InputError("no duration is given", part="until", hint="give the end in s, or times t")
    require_times(until, longest_step(until) if step is None else step)
    require_run(until, step)
    if output_step is not None:
        require_within("results", until / output_step + 1.0, part="output step", hint="give a longer one")
        return np.linspace(0.0, until, _ceiling(until / output_step) + 1)
    steps = _ceiling(until / (longest_step(until) if step is None else step))
    return np.linspace(0.0, until, _ceiling(steps / _ceiling(steps / _RESULTS)) + 1)


def _numbers(t: ArrayLike) -> Array:
    given: Array = real_numbers("t", t, finite=False)
    given = np.ascontiguousarray(given) if given.ndim else given
    if given.ndim:
        require_rising("t", given)
    return given


def require_rising(part: str, times: Array) -> None:
    """Refuse what is not (N,) rising times."""
    if times.ndim != 1 or len(times) < 2 or not np.isfinite(times).all() or not (np.diff(times) > 0.0).all():
        raise InputError("they are not rising numbers", part=part, hint="give (N,) rising times in s, N > 1")


def require_times(until: float, step: float) -> None:
    """Refuse a run that has no length, or a step beyond it."""
    if not (until > 0.0 and np.isfinite(until)):
        raise InputError(f"the simulation ends at {until:g} s", hint="give a time after 0")
    if not 0.0 < step <= until:
        raise InputError(f"the step is {step:g} s for {until:g} s", hint="give a step above 0 and at most the duration")


def require_run(span: float, step: float | None) -> None:
    """Refuse a run of more steps than anyone waits for; those that follow the motion are no longer than the longest."""
    fewer = "end earlier" if step is None else "end earlier, or give a longer step"
    require_within(
        "steps", span / (longest_step(span) if step is None else step), part=f"a run of {span:g} s", hint=fewer
    )


def require_positive(**options: float | None) -> None:
    """Refuse an option, by its name, that is given and not above zero."""
    for name, value in options.items():
        if value is not None and not (value > 0.0 and np.isfinite(value)):
            raise InputError(f"it is {value:g}", part=name.replace("_", " "), hint="give a number above 0")


def _ceiling(ratio: float) -> int:
    return max(1, int(np.ceil(ratio - 1e-6)))
