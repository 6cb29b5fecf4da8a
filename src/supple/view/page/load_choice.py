"""Whether modes on the page have the geometric stiffness of the loads at rest."""

from __future__ import annotations

from supple.description.mechanism import Mechanism
from supple.reduced.model import ReducedModel

PRELOAD = True  # where nobody asks: as the default of `supple.modes` with locked actuators


def counts_loads(thing: Mechanism | ReducedModel, preload: bool | None) -> bool:
    """The given choice; without one, that of a reduced model's K, so that frequencies beside each other agree."""
    if preload is not None:
        return preload
    if isinstance(thing, ReducedModel) and thing.layout.internal:
        return thing.stiffening or bool(thing.provenance.get("options", {}).get("modes", {}).get("preload"))
    return PRELOAD
