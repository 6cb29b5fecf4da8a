"""Options of the integrators, the same for every kind of system."""

from __future__ import annotations

from typing import NamedTuple


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
