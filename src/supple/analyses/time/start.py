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
    """Poses and velocities of the centres of mass at a configuration moving with θ̇."""
    X = here.X.copy()
    R = X[:, 3:].reshape(-1, 3, 3)
    X[:, :3] += np.einsum("bij,bj->bi", R, problem.centers)
    column = problem.system.rows.column
    if not rates.any():
        return X, np.zeros((len(X) - 1, len(column)))
    twist = motion_of(here, rates).V[:-1]
    v, turn = twist[:, :3], twist[:, 3:]
    centre = np.einsum("bij,bj->bi", R[:-1], v + np.cross(turn, problem.centers[:-1]))
    return X, np.ascontiguousarray(np.concatenate([centre, turn], axis=1)[:, column])
