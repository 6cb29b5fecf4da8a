"""A named scenario of the mechanism file, ready to run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.analyses.motions.trajectory import trajectory
from supple.analyses.statics.equilibrium import equilibrium
from supple.description.mechanism import Mechanism
from supple.description.scenario import EQUILIBRIUM, REST, Scenario
from supple.diagnostics import InputError, nearest
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration

Array = NDArray[np.float64]


class Run(NamedTuple):
    """What to simulate.

    start  : the configuration it sets out from; rates : of its coordinates; motion : prescribed, or None
    inputs : actuator -> force, or values at `times`
    step   : fixed, s; None lets steps follow the motion
    """

    start: Configuration
    rates: dict[str, float]
    inputs: dict[str, Any]
    times: Array | None
    motion: str | None
    until: float
    step: float | None


def scenario_of(mechanism: Mechanism, name: str) -> Scenario:
    """A scenario by its name."""
    if name not in mechanism.scenarios:
        raise InputError(
            f'there is no scenario "{name}"',
            part=f'mechanism "{mechanism.name}"', hint=nearest(name, mechanism.scenarios),
        )  # fmt: skip
    return mechanism.scenarios[name]


def run_of(
    mechanism: Mechanism, scenario: Scenario | str, *, until: float | None = None, step: float | None = None
) -> Run:
    """A scenario with its start assembled; `until` and `step` (s) take the place of its own."""
    given = scenario_of(mechanism, scenario) if isinstance(scenario, str) else scenario
    forces = {name: list(value) if isinstance(value, tuple) else value for name, value in given.inputs.items()}
    lasts = until if until is not None else given.until
    if lasts is None:
        assert given.motion is not None  # the description sees to it
        lasts = float(trajectory(mechanism, given.motion).time[-1])
    return Run(
        start_of(mechanism, given, forces), dict(given.rates), forces,
        None if given.times is None else np.array(given.times), given.motion, lasts, step or given.step,
    )  # fmt: skip


def start_of(mechanism: Mechanism, scenario: Scenario, forces: dict[str, Any]) -> Configuration:
    """Where it sets out from; an equilibrium is that of the forces at the beginning."""
    if scenario.motion is not None and scenario.start == REST:
        return assemble(mechanism, trajectory(mechanism, scenario.motion).theta[0])
    if scenario.start == EQUILIBRIUM:
        first = [np.atleast_1d(forces.get(name, 0.0))[0] for name in mechanism.actuators]
        return equilibrium(mechanism, None, inputs=first, rigid=True)  # who runs it says what is rigid
    return assemble(mechanism, None if scenario.start == REST else scenario.start)
