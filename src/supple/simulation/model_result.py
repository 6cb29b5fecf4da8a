"""The result of a run of a reduced model, whichever march ran it."""

from __future__ import annotations

from supple.reduced.time.model_motion import ModelMotion
from supple.results.simulation import Simulation


def model_result(motion: ModelMotion, reason: str, stopped: float, steps: int, tolerance: float | None) -> Simulation:
    """Make a simulation of a motion; reason, stopped : why and when (s) it ended early, or ""; steps : of the march."""
    model = motion.model
    return Simulation(
        model.name, motion.time, motion, reason, stopped, steps, tolerance=tolerance, rigid=model.rigid,
        basis=model.basis,
    )  # fmt: skip
