"""All that the page shows of a mechanism, a reduced model or runs, as one dictionary."""

from __future__ import annotations

from typing import Any

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError
from supple.formats.model_description import described
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At
from supple.kinematics.limits import limited
from supple.kinematics.rest import Rest, rest
from supple.reduced.model import ReducedModel
from supple.view.page.closing_rows import closing_rows
from supple.view.page.encoding import encoded
from supple.view.page.load_choice import counts_loads
from supple.view.page.model_tables import model_tables
from supple.view.page.region import ranges
from supple.view.page.scene import scene
from supple.view.page.vibration import COUNT, vibrating, vibration

__all__ = ["encoded", "page_data"]

FORMAT = 1


def page_data(
    thing: Mechanism | ReducedModel, *, at: At = None, preload: bool | None = None, count: int = COUNT
) -> dict[str, Any]:
    """The page of a mechanism, or of a reduced model and the mechanism it was made from.

    at      : the posture that it opens with; rest if left out
    preload : modes with the geometric stiffness of loads at rest; left out, see `counts_loads`
    count   : how many modes
    """
    mechanism = described(thing) if isinstance(thing, ReducedModel) else thing
    position = rest(mechanism)
    numbering, found = position.numbering, vibrating(position, count, preload=counts_loads(thing, preload))
    elastic = None if isinstance(found, str) else found.rest
    notes: list[str] = []
    return {
        "format": FORMAT,
        "name": mechanism.name,
        "description": mechanism.description or "",
        "kinematics": closing_rows(position),
        "coordinates": [
            item.data(float(value)) for item, value in zip(ranges(position), position.theta, strict=True)
        ],
        "limits": [
            {"part": part, "measure": row - numbering.constraints, "limits": list(limits),
             "unit": "rad" if numbering.angles()[row] else "m"}
            for part, row, limits in limited(numbering)
        ],
        "configurations": _configurations(position, notes),
        "scene": scene(numbering, elastic),
        "vibration": None if isinstance(found, str) else vibration(position, found, count),
        "still": found if isinstance(found, str) else "",
        "at": None if at is None else [float(value) for value in assemble(mechanism, at).theta],
        "notes": notes,
        **({"model": model_tables(mechanism, thing)} if isinstance(thing, ReducedModel) else {}),
    }  # fmt: skip


def _configurations(position: Rest, notes: list[str]) -> dict[str, list[float]]:
    """θ of the named configurations; those that cannot be assembled are told."""
    mechanism = position.numbering.mechanism
    found = {"rest": [float(value) for value in position.theta]}
    for name in mechanism.configurations:
        try:
            found[name] = [float(value) for value in assemble(mechanism, name).theta]
        except (InputError, NumericalError) as error:
            notes.append(f'configuration "{name}" is left out: {error.message}')
    return found
