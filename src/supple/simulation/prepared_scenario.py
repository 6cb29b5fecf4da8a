"""A scenario, by its name in the mechanism file or from a file of its own, prepared for a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.elastic.material import Damping
from supple.description.mechanism import Mechanism
from supple.description.scenario import EQUILIBRIUM, REST, Scenario, ScenarioDamping
from supple.diagnostics import InputError
from supple.formats.model_description import restore_mechanism
from supple.formats.scenario_file import is_scenario_file, scenario_in
from supple.formulations.described_hardware import hardware_of
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.integration.signal import joined_inputs
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.modal_analysis.modes import modes
from supple.reduced.model import ReducedModel
from supple.reduced.time.scenario_run import rayleigh
from supple.simulation.driven_start import resting_start
from supple.statics.deformed_rest import deformed_rest
from supple.trajectories.trajectory import trajectory


class PreparedScenario(NamedTuple):
    """Arguments of a simulation.

    mechanism  : with the damping of the scenario
    start      : configuration at the start; rates : of its coordinates; motion : prescribed, or None
    inputs     : actuator -> force, or values at `times`
    step       : fixed, s; None lets steps follow the motion
    deflection : output -> force along it, N or N m, under which it rests until the run begins
    """

    mechanism: Mechanism
    start: Configuration
    rates: dict[str, float]
    inputs: dict[str, Any]
    times: Array | None
    motion: str | None
    until: float
    step: float | None
    deflection: dict[str, float]


def prepared_scenario(
    mechanism: Mechanism,
    scenario: Scenario | str | Path,
    *,
    until: float | None = None,
    step: float | None = None,
    rigid: bool = False,
    drives: bool = True,
) -> PreparedScenario:
    """Return a scenario with its start assembled; `until` and `step` (s) replace its own.

    rigid  : elastic parts do not deform, so there is no deflection or damping of them
    drives : drives act: an equilibrium holds the coordinates they move, and inputs are commands
    """
    hardware = hardware_of(mechanism) if drives else NO_HARDWARE
    given = scenario_in(mechanism, scenario)
    lasts, fixed = until if until is not None else given.until, step or given.step
    if lasts is None:
        assert given.motion is not None  # ensured by the description
        lasts = float(trajectory(mechanism, given.motion).time[-1])
    forces, times = joined_inputs(scenario_data(given).get("inputs", {}), given.times, lasts, fixed)
    if given.damping is not None and not rigid:
        about = scenario_start(mechanism, given, forces, hardware, rigid=True)
        mechanism = mechanism.replace(damping=_with(mechanism.damping, rayleigh_of(given.damping, about)))
    start = scenario_start(mechanism, given, forces, hardware, rigid=rigid)
    loads = {} if rigid else {name: float(force) for name, force in given.deflection.items()}
    return PreparedScenario(mechanism, start, dict(given.rates), forces, times, given.motion, lasts, fixed, loads)


def scenario_data(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as stored in a saved model: plain numbers in SI under the keys of the file."""
    return scenario.model_dump(mode="json", exclude_defaults=True, by_alias=True)


def model_scenario(model: ReducedModel, asked: Any) -> Any:
    """Return a scenario in the form of a reduced model: its name, or the data of one from a file.

    Other values are returned unchanged.
    """
    if not isinstance(asked, Scenario | Path) and not (isinstance(asked, str) and is_scenario_file(asked)):
        return asked
    return scenario_data(asked if isinstance(asked, Scenario) else scenario_in(restore_mechanism(model), asked))


def rayleigh_of(damping: ScenarioDamping, start: Configuration) -> tuple[float, float]:
    """Return α (1/s) and β (s) of a scenario's damping; a ratio without a frequency applies to the first mode."""
    return rayleigh(
        damping.model_dump(),
        lambda: float(modes(start.mechanism, start, count=1, preload=False).frequencies_hz[0]),
    )


def _with(own: Damping | None, more: tuple[float, float]) -> Damping:
    """Return the sum of the mechanism's damping and α M + β K."""
    if own is not None and own.rayleigh is None:
        raise InputError(
            "its damping can only be added to Rayleigh damping of the mechanism", part="scenario",
            hint="remove damping from the scenario, or give the mechanism damping: {rayleigh: [...]}",
        )  # fmt: skip
    first = (0.0, 0.0) if own is None or own.rayleigh is None else own.rayleigh
    return Damping(rayleigh=(first[0] + more[0], first[1] + more[1]))


def scenario_start(
    mechanism: Mechanism, scenario: Scenario, forces: dict[str, Any], hardware: Hardware, *, rigid: bool
) -> Configuration:
    """Return the configuration at the start.

    An equilibrium is that of the forces at the beginning, deformed unless `rigid`. A mechanism with a prescribed motion
    rests at its beginning.
    """
    if scenario.motion is not None and scenario.start == REST:
        begins = assemble(mechanism, trajectory(mechanism, scenario.motion).theta[0])
        loaded = mechanism.gravity is not None or mechanism.forces or mechanism.springs
        if rigid or not mechanism.elastic or not loaded:
            return begins
        return deformed_rest(begins, np.zeros(len(mechanism.actuators))).configuration
    if scenario.start == EQUILIBRIUM:
        return resting_start(mechanism, None, forces, hardware, rigid=rigid)
    return assemble(mechanism, None if scenario.start == REST else scenario.start)
