"""Time steps: the options of the integrators, the generalized-α method, and the times of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers
from supple.diagnostics.limits import require_within

# Options of the integrators, common to all kinds of systems.


class StepOptions(NamedTuple):
    """Options of the integrator, as in `simulate` and `closed_loop`.

    step            : s, fixed, or with a tolerance the longest; None lets steps follow the motion
    tolerance       : error allowed per step, or None
    spectral_radius : remainder of the fastest oscillations after a step, 0 to 1, for generalized-α
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
        """Step of a run with a given step, s."""
        assert self.step is not None
        return self.step

    @property
    def fixed(self) -> bool:
        """Whether all steps have one length."""
        return self.step is not None and self.tolerance is None

    def choose_tolerance(self, usual: float) -> float | None:
        """Return the tolerance, or the default one without a step and a tolerance."""
        return usual if self.step is None and self.tolerance is None else self.tolerance

    def spacing(self, longest: float) -> float:
        """Return the longest time between samples of callables, s; longest : step, s."""
        return longest if self.fixed else longest / 8


# The generalized-α method: its four numbers, from the damping of the highest frequencies.
#
#     (1 - α_m) a_{n+1} + α_m a_n = (1 - α_f) v̇_{n+1} + α_f v̇_n
#     q_{n+1} = q_n ∘ exp(h v_n + h² ((½ - β) a_n + β a_{n+1}))
#     v_{n+1} = v_n + h ((1 - γ) a_n + γ a_{n+1})
#
# [Chung, Hulbert 1993; Brüls, Cardona, Arnold 2012 on Lie groups]. Second order for α_m = (2ρ - 1)/(ρ + 1), α_f = ρ/(ρ
# + 1), γ = ½ - α_m + α_f, β = ¼ (γ + ½)², where ρ is the remainder of an infinitely fast oscillation after a step: 1
# is undamped, 0 fully damped.


class Alpha(NamedTuple):
    """Parameters α_m, α_f, β, γ of the generalized-α method."""

    m: float
    f: float
    beta: float
    gamma: float


def alpha_of(radius: float) -> Alpha:
    """Return the optimal parameters for a spectral radius at infinity between 0 and 1."""
    if not 0.0 <= radius <= 1.0:
        raise InputError(f"the spectral radius must be from 0 to 1 (got {radius:g})", hint="give a number from 0 to 1")
    m, f = (2.0 * radius - 1.0) / (radius + 1.0), radius / (radius + 1.0)
    gamma = 0.5 - m + f
    return Alpha(m, f, 0.25 * (gamma + 0.5) ** 2, gamma)


# Times of a run: those of its results, and the longest step without a given step.


LONGEST = 1e-3  # s: longest default step
LEAST_STEPS = 100  # smallest number of steps of a run without a given step
_RESULTS = 2000  # default limit of the number of results


def longest_step(until: float) -> float:
    """Return the longest step (s) of a run without a given one."""
    return min(LONGEST, until / LEAST_STEPS)


def result_times(
    t: ArrayLike | None, *, until: float | None = None, step: float | None = None, output_step: float | None = None
) -> Array:
    """Return the ascending result times (N,), s.

    t : those times, or the end alone; until : the end of a run from 0 on, with results `output_step` apart, or every
        step, or every longest one, and then at most 2000
    """
    require_positive(output_step=output_step)
    if t is not None:
        given = _numbers(t)
        if until is not None or (given.ndim and output_step is not None):
            raise InputError(
                "cannot be combined with until and output_step", part="t", hint="give t, or until and output_step"
            )
        if given.ndim:
            require_positive(step=step)
            require_run(float(given[-1] - given[0]), step)
            return given
        until = float(given)
    if until is None:
        raise InputError("no duration; give the end in s, or times t", part="until")
    require_times(until, longest_step(until) if step is None else step)
    require_run(until, step)
    if output_step is not None:
        require_within("results", until / output_step + 1.0, part="output step", hint="give a longer one")
        return np.linspace(0.0, until, _round_up(until / output_step) + 1)
    steps = _round_up(until / (longest_step(until) if step is None else step))
    return np.linspace(0.0, until, _round_up(steps / _round_up(steps / _RESULTS)) + 1)


def _numbers(t: ArrayLike) -> Array:
    given: Array = real_numbers("t", t, finite=False)
    given = np.ascontiguousarray(given) if given.ndim else given
    if given.ndim:
        require_rising("t", given)
    return given


def require_rising(part: str, times: Array) -> None:
    """Require ascending times (N,)."""
    if times.ndim != 1 or len(times) < 2 or not np.isfinite(times).all() or not (np.diff(times) > 0.0).all():
        raise InputError("times must be ascending", part=part, hint="give (N,) ascending times in s, N > 1")


def require_times(until: float, step: float) -> None:
    """Require a run of positive length, and a step within it."""
    if not (until > 0.0 and np.isfinite(until)):
        raise InputError(f"until must be positive (got {until:g} s)", hint="give a duration such as 2 s")
    if not 0.0 < step <= until:
        raise InputError(
            f"step must be above 0 s and at most {until:g} s, the duration (got {step:g} s)", hint="give another step"
        )


def require_run(span: float, step: float | None) -> None:
    """Require a number of steps within the limit; adaptive steps are at most the longest one."""
    fewer = "shorten the run" if step is None else "shorten the run, or give a longer step"
    require_within(
        "steps", span / (longest_step(span) if step is None else step), part=f"a run of {span:g} s", hint=fewer
    )


def require_positive(**options: float | None) -> None:
    """Require options, given by name, to be positive if they are given."""
    for name, value in options.items():
        if value is not None and not (value > 0.0 and np.isfinite(value)):
            raise InputError(
                f"must be positive (got {value:g})", part=name.replace("_", " "), hint="give a number above 0"
            )


def _round_up(ratio: float) -> int:
    return max(1, int(np.ceil(ratio - 1e-6)))
