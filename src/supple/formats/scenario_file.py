"""Scenario in a file of its own: the fields of one entry of `scenarios:` in a mechanism file."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from supple.description.mechanism import Mechanism
from supple.description.quantities.coordinate_dimensions import require_dimensions
from supple.description.quantities.expression import use_parameters
from supple.description.scenario import Scenario
from supple.description.scenario_consistency import require_valid_scenario
from supple.diagnostics import InputError, require_known
from supple.formats.error_lines import as_input_error, fields_of
from supple.formats.yaml_tree import read_text, read_tree

SUFFIXES = (".yaml", ".yml")


def is_scenario_file(scenario: str | Path) -> bool:
    """Return whether a text is a file name rather than the name of a scenario."""
    return Path(scenario).suffix.lower() in SUFFIXES


def scenario_in(mechanism: Mechanism, scenario: str | Path | Scenario) -> Scenario:
    """Return a scenario given by its name in the mechanism, by a file, or as an object, after its checks."""
    if isinstance(scenario, Scenario):
        _require_sound(mechanism, scenario, "scenario")
        return scenario
    if is_scenario_file(scenario):
        return load_scenario(scenario, mechanism)
    known, empty = mechanism.scenarios, "give a file: NAME.yaml"
    require_known("scenario", scenario, known, empty=empty, part=f'mechanism "{mechanism.name}"')
    return mechanism.scenarios[str(scenario)]


def load_scenario(path: str | Path, mechanism: Mechanism) -> Scenario:
    """Return the scenario in a YAML file, whose expressions may use the parameters of the mechanism."""
    tree = read_tree(read_text(path), str(path))
    try:
        with use_parameters(mechanism.parameters):
            found = Scenario.model_validate(tree.data)
    except ValidationError as error:
        raise as_input_error(error, tree, fields_of(Scenario)) from None
    try:
        _require_sound(mechanism, found, Path(path).stem)
    except InputError as error:
        raise error.locate(*tree.place(tuple(error.path[2:]))) from None
    return found


def _require_sound(mechanism: Mechanism, scenario: Scenario, name: str) -> None:
    require_valid_scenario(mechanism, scenario, ("scenarios", name))
    require_dimensions(mechanism.replace(scenarios={name: scenario}))
