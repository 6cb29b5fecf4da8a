"""What a saved model knows by name: configurations, motions and scenarios of the mechanism it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.diagnostics import InputError, nearest
from supple.diagnostics.errors import quoted
from supple.reduced.state_arguments import Values

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


REST, EQUILIBRIUM = "rest", "equilibrium"
_ABSENT = 1e-9  # of a coordinate's value: how far from the held one a configuration may be


@dataclass(frozen=True)
class Repertoire:
    """configurations : θ of the mechanism, all of it, by name and coordinate, rad or m; `rest` is among them

    motions, scenarios : as the mechanism file gives them, numbers in SI
    """

    configurations: dict[str, dict[str, float]] = field(default_factory=dict)
    motions: dict[str, dict[str, Any]] = field(default_factory=dict)
    scenarios: dict[str, dict[str, Any]] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {"configurations": self.configurations, "motions": self.motions, "scenarios": self.scenarios}


def repertoire_from(data: Any) -> Repertoire:
    """Back from JSON, checked."""
    try:
        places = {
            str(key): {str(k): float(v) for k, v in where.items()} for key, where in data["configurations"].items()
        }
        courses, runs = (
            {str(key): dict(part) for key, part in data[what].items()} for what in ("motions", "scenarios")
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        raise InputError(f"{quoted(data)} are no configurations, motions and scenarios", hint="reduce again") from None
    if not all(np.isfinite(value) for where in places.values() for value in where.values()):
        raise InputError("a configuration is not finite", hint="reduce again")
    return Repertoire(places, courses, runs)


def asks_for_rest(model: ReducedModel, where: Any) -> bool:
    """Whether "equilibrium" is meant, and not a configuration of that name."""
    known = () if model.repertoire is None else model.repertoire.configurations
    return isinstance(where, str) and where == EQUILIBRIUM and where not in known


def named_theta(model: ReducedModel, theta: Values | str) -> Values:
    """θ of a configuration that the model knows by name; anything else as it is."""
    if not isinstance(theta, str):
        return theta
    part = f'model "{model.name}"'
    if model.repertoire is None:
        raise InputError(
            f'it carries no names, and so no "{theta}": it was made before models did, or not from a mechanism',
            part=part, hint="give values, or reduce again",
        )  # fmt: skip
    known: Mapping[str, dict[str, float]] = model.repertoire.configurations
    if theta not in known:
        raise InputError(f'it has no configuration "{theta}"', part=part, hint=nearest(theta, known))
    here, names = known[theta], model.layout.coordinates[: model.layout.theta]
    for name, value in model.held.items():
        if abs(here.get(name, value) - value) > _ABSENT * max(1.0, abs(value)):
            raise InputError(
                f'it holds "{name}" at {value:.6g}, and in "{theta}" it is {here[name]:.6g}',
                part=part, hint="reduce with it in the region",
            )  # fmt: skip
    if not set(names) <= set(here):
        raise InputError(
            f'"{theta}" says nothing of its coordinate {", ".join(names)}',
            part=part,
            hint=f"give its value: {names[0]}=...",
        )
    return np.array([here[name] for name in names])
