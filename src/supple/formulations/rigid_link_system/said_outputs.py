"""Which outputs a rigid link system tells, and that it leaves forces inside out."""

from __future__ import annotations

import warnings

from supple.diagnostics import SuppleNote
from supple.formulations.coefficients import carried
from supple.kinematics.rest import Rest


def outputs_without_forces(position: Rest) -> list[str]:
    """Names of the outputs that are made of measures alone; a SuppleNote names the others."""
    load = carried(position)
    count = len(load.measured)
    inside = [
        name
        for name, form in load.observation.outputs.items()
        if any(number >= count for product in form for number, _ in product.factors)
    ]
    if inside:
        warnings.warn(
            f'mechanism "{position.numbering.mechanism.name}": {", ".join(inside)} are forces inside, which the rigid '
            "link system does not tell; they are left out",
            SuppleNote,
            stacklevel=4,
        )
    return [name for name in load.observation.outputs if name not in inside]
