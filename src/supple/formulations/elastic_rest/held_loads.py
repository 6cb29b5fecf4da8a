"""Whether the loads of a mechanism are held with θ locked, so that there are forces at rest and their stiffness."""

from __future__ import annotations

import warnings

from supple.description.mechanism import Mechanism
from supple.diagnostics import SuppleWarning
from supple.diagnostics.errors import user_level
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.formulations.elastic_rest.loads import carries_loads, loads_at
from supple.formulations.elastic_rest.preload import UnheldLoads, row_forces_at_rest
from supple.kinematics.closure import assemble


def held_loads(mechanism: Mechanism, what: str) -> bool:
    """Whether there are loads at rest, and all are held. A warning says where they are not: `what` is without their
    stiffness then. What holds them does not depend on θ; it is found once, at rest."""
    if not carries_loads(mechanism):
        return False

    def refusal() -> str:
        rest, configuration = elastic_rest(mechanism, 0.0), assemble(mechanism)
        try:
            row_forces_at_rest(rest, configuration, loads_at(rest, configuration), None, holding=True)
        except UnheldLoads as error:
            return str(error)
        return ""

    found = mechanism.remembered("loads that nothing holds", refusal)
    if found:
        warnings.warn(f"{what} without the stiffness of loads: {found}", SuppleWarning, stacklevel=user_level())
    return not found
