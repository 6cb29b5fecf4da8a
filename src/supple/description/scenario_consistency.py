"""Consistency checks between a scenario and its mechanism."""

from __future__ import annotations

from supple.description.mechanism import Mechanism
from supple.description.scenario import EQUILIBRIUM, REST, Scenario
from supple.diagnostics import require_known
from supple.diagnostics.errors import fault_at, part_name

Path = tuple[str, ...]


def require_sound_scenarios(mechanism: Mechanism) -> None:
    """Require that scenarios name existing parts, and deflect and damp elastic parts only."""
    for name, scenario in mechanism.scenarios.items():
        require_valid_scenario(mechanism, scenario, ("scenarios", name))


def require_valid_scenario(mechanism: Mechanism, scenario: Scenario, path: Path) -> None:
    """Raise the first fault of a scenario, at its path in the mechanism's file."""
    names = mechanism.coordinate_names()
    outputs = tuple(output_names(mechanism)) if scenario.deflection else ()
    start = {} if isinstance(scenario.start, str) else scenario.start
    references: list[tuple[Path, str, tuple[str, ...], str]] = []
    references += [((*path, "start", item), item, names, "coordinate") for item in start]
    references += [((*path, "rates", item), item, names, "coordinate") for item in scenario.rates]
    drivable = tuple(mechanism.actuators)
    references += [((*path, "inputs", item), item, drivable, "actuator") for item in scenario.inputs]
    references += [((*path, "deflection", item), item, outputs, "output of a sensor") for item in scenario.deflection]
    if isinstance(scenario.start, str):
        known = (REST, EQUILIBRIUM, *mechanism.configurations)
        references.append(((*path, "start"), scenario.start, known, "configuration"))
    if scenario.motion is not None:
        references.append(((*path, "motion"), scenario.motion, tuple(mechanism.motions), "motion"))
    for where, item, known, kind in references:
        require_known(kind, item, known, part=part_name(path), path=where)
    for field in ("deflection", "damping"):
        if getattr(scenario, field) and not mechanism.elastic:
            raise fault_at(
                (*path, field), f"{field} is given, but the mechanism has no elastic part", f"remove {field}"
            )


def output_names(mechanism: Mechanism) -> list[str]:
    """Return the names of all sensor outputs."""
    found = []
    for name, sensor in mechanism.sensors.items():
        parts = sensor.outputs(mechanism.plane) if sensor.kind != "joint" else ("",)
        found += [f"{name}.{part}" if part else name for part in parts]
    return found
