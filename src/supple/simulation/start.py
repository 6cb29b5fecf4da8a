"""Start of a run of a mechanism: its configuration, and the state of its bodies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import require_known
from supple.formulations.absolute.drive_deflections import settled_deflections
from supple.formulations.absolute.system import Absolute
from supple.formulations.coefficients import get_coefficients
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.motion import motion as motion_of
from supple.statics.deformed_rest import deformed_rest
from supple.statics.equilibrium import equilibrium


def start_configuration(
    mechanism: Mechanism, start: At | Configuration, inputs: Array, *, rigid: bool = False
) -> Configuration:
    """Return the configuration at the start, given in any form.

    An equilibrium is that under the inputs, deformed unless `rigid`.
    """
    if isinstance(start, Configuration):
        return start
    if isinstance(start, str) and start == "equilibrium":
        return equilibrium(mechanism, inputs=inputs, rigid=rigid)
    return assemble(mechanism, start)


def deflected_configuration(here: Configuration, loads: Mapping[str, float]) -> Configuration:
    """Return the equilibrium with θ held under loads along outputs, N or N m; here itself without loads."""
    if not loads:
        return here
    known = get_coefficients(here.rest).outputs
    for name in loads:
        require_known("output", name, known, part="deflection")
    still = np.zeros(len(here.mechanism.actuators))
    return deformed_rest(here, still, loads={known[name]: force for name, force in loads.items()}).configuration


def centre_state(
    problem: Absolute, here: Configuration, rates: Array, inputs: Array | None = None
) -> tuple[Array, Array]:
    """Return poses and velocities of the frames at a configuration, deformed or not, that moves with θ̇ as if rigid.

    inputs : (actuators,) forces to which motors without inertia yield at once, if they drive through a compliance
    """
    frames, column = problem.frames, problem.system.rows.column
    X = frames.poses(here.X) if here.deformed is None else here.deformed.X.copy()
    if here.deformed is None and inputs is not None and frames.drives:
        group = len(frames.held.sizes) - 1
        for i, away in enumerate(settled_deflections(problem, here.w, inputs)):
            frame, position = frames.held.at(group, i)
            X[frame, position] = away
    if not rates.any():
        return X, np.zeros((frames.count, len(column)))
    return X, np.ascontiguousarray(frames.velocities(here.X, motion_of(here, rates).V)[:, column])
