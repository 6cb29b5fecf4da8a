"""What must hold of a scenario beside the mechanism it is for."""

from __future__ import annotations

from supple.description.mechanism import Mechanism
from supple.description.scenario import EQUILIBRIUM, REST, Scenario
from supple.diagnostics import InputError, nearest
from supple.diagnostics.errors import fault_at, part_name

Path = tuple[str, ...]


def require_sound_scenarios(mechanism: Mechanism) -> None:
    """Scenarios start, move and push what exists, and deflect and damp what is elastic."""
    for name, scenario in mechanism.scenarios.items():
        require_valid_scenario(mechanism, scenario, ("scenarios", name))


def require_valid_scenario(mechanism: Mechanism, scenario: Scenario, path: Path) -> None:
    """The first fault of a scenario that stands at a path of the mechanism's file."""
    names = mechanism.coordinate_names()
    outputs = tuple(output_names(mechanism)) if scenario.deflection else ()
    start = {} if isinstance(scenario.start, str) else scenario.start
    asked: list[tuple[Path, str, tuple[str, ...], str]] = []
    asked += [((*path, "start", item), item, names, "one of the coordinates") for item in start]
    asked += [((*path, "rates", item), item, names, "one of the coordinates") for item in scenario.rates]
    pushed = tuple(mechanism.actuators)
    asked += [((*path, "inputs", item), item, pushed, "an actuator") for item in scenario.inputs]
    asked += [((*path, "deflection", item), item, outputs, "an output of a sensor") for item in scenario.deflection]
    if isinstance(scenario.start, str):
        known = (REST, EQUILIBRIUM, *mechanism.configurations)
        asked.append(((*path, "start"), scenario.start, known, "a configuration"))
    if scenario.motion is not None:
        asked.append(((*path, "motion"), scenario.motion, tuple(mechanism.motions), "a motion"))
    for where, item, known, kind in asked:
        if item not in known:
            raise InputError(f'"{item}" is not {kind}', part=part_name(path), path=where, hint=nearest(item, known))
    for field in ("deflection", "damping"):
        if getattr(scenario, field) and not mechanism.elastic:
            raise fault_at(
                (*path, field), f"it has {field}, and nothing in the mechanism is elastic", f"leave {field} out"
            )


def output_names(mechanism: Mechanism) -> list[str]:
    """What sensors see, by name."""
    found = []
    for name, sensor in mechanism.sensors.items():
        parts = sensor.outputs(mechanism.plane) if sensor.kind != "joint" else ("",)
        found += [f"{name}.{part}" if part else name for part in parts]
    return found
