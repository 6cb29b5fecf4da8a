"""Named configurations, motions and scenarios that a saved model carries from its mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.diagnostics import InputError, require_known
from supple.diagnostics.errors import quote
from supple.reduced.state_arguments import Values

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


REST, EQUILIBRIUM = "rest", "equilibrium"
_ABSENT = 1e-9  # of a coordinate's value: largest deviation of a configuration from the fixed one


@dataclass(frozen=True)
class Repertoire:
    """Named configurations, motions and scenarios of a model.

    Parameters
    ----------
    configurations : dict of str to dict, optional
        All θ of the mechanism by coordinate name, rad or m, for each configuration, including `rest`.
    motions, scenarios : dict of str to dict, optional
        Motions and scenarios as in the mechanism file, with numbers in SI units.
    """

    configurations: dict[str, dict[str, float]] = field(default_factory=dict)
    motions: dict[str, dict[str, Any]] = field(default_factory=dict)
    scenarios: dict[str, dict[str, Any]] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """Return the JSON data."""
        return {"configurations": self.configurations, "motions": self.motions, "scenarios": self.scenarios}


def repertoire_from(data: Any) -> Repertoire:
    """Return a repertoire from JSON data, checked."""
    try:
        places = {
            str(key): {str(k): float(v) for k, v in where.items()} for key, where in data["configurations"].items()
        }
        courses, runs = (
            {str(key): dict(part) for key, part in data[what].items()} for what in ("motions", "scenarios")
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        raise InputError(
            f"{quote(data)} is not a set of configurations, motions and scenarios", hint="reduce again"
        ) from None
    if not all(np.isfinite(value) for where in places.values() for value in where.values()):
        raise InputError("a configuration is not finite", hint="reduce again")
    return Repertoire(places, courses, runs)


def requests_equilibrium(model: ReducedModel, where: Any) -> bool:
    """Return whether "equilibrium" is requested, and is not the name of a configuration."""
    known = () if model.repertoire is None else model.repertoire.configurations
    return isinstance(where, str) and where == EQUILIBRIUM and where not in known


def named_theta(model: ReducedModel, theta: Values | str) -> Values:
    """Return θ of a named configuration of the model; return anything else unchanged."""
    if not isinstance(theta, str):
        return theta
    part = f'model "{model.name}"'
    if model.repertoire is None:
        raise InputError(
            f'no configuration "{theta}": the model has no named configurations, because its file is of an early '
            "version or it was not made from a mechanism",
            part=part, hint="give values, or reduce again",
        )  # fmt: skip
    known: Mapping[str, dict[str, float]] = model.repertoire.configurations
    require_known("configuration", theta, known, part=part)
    here, names = known[theta], model.layout.coordinates[: model.layout.theta]
    for name, value in model.held_coordinates.items():
        if abs(here.get(name, value) - value) > _ABSENT * max(1.0, abs(value)):
            raise InputError(
                f'"{name}" is fixed at {value:.6g} in the model, but is {here[name]:.6g} in "{theta}"',
                part=part, hint="reduce with a range for it in the region",
            )  # fmt: skip
    if not set(names) <= set(here):
        raise InputError(
            f'configuration "{theta}" has no value for {", ".join(names)}',
            part=part,
            hint=f"give the value: {names[0]}=...",
        )
    return np.array([here[name] for name in names])
