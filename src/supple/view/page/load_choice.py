"""Whether modes on the page have the geometric stiffness of the loads at rest."""

from __future__ import annotations

from supple.description.mechanism import Mechanism
from supple.reduced.model import ReducedModel

PRELOAD = True  # where nobody asks: as the default of `supple.modes` with locked actuators


def counts_loads(thing: Mechanism | ReducedModel, preload: bool | None) -> bool:
    """What was asked for; left out, what a reduced model has in K, so that its frequencies are those beside it."""
    if preload is not None:
        return preload
    if isinstance(thing, ReducedModel) and thing.layout.internal:
        return thing.stiffening or bool(thing.provenance.get("options", {}).get("modes", {}).get("preload"))
    return PRELOAD
