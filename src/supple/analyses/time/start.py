"""Where a run of a mechanism begins: its configuration, and the state of its bodies there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.analyses.statics.equilibrium import equilibrium
from supple.description.mechanism import Mechanism
from supple.formulations.absolute.system import Absolute
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.motion import motion as motion_of

Array = NDArray[np.float64]


def start_configuration(mechanism: Mechanism, start: At | Configuration, inputs: Array) -> Configuration:
    """Where a run begins, however it is named; the equilibrium is the one under the inputs."""
    if isinstance(start, Configuration):
        return start
    if isinstance(start, str) and start == "equilibrium":
        return equilibrium(mechanism, inputs=inputs, rigid=True)  # who runs it says what is rigid
    return assemble(mechanism, start)


def centre_state(problem: Absolute, here: Configuration, rates: Array) -> tuple[Array, Array]:
    """Poses and velocities of the frames at a configuration, deformed or not, that moves with θ̇ as if rigid."""
    frames, column = problem.frames, problem.system.rows.column
    X = frames.poses(here.X) if here.deformed is None else here.deformed.X.copy()
    if not rates.any():
        return X, np.zeros((frames.count, len(column)))
    return X, np.ascontiguousarray(frames.velocities(here.X, motion_of(here, rates).V)[:, column])
