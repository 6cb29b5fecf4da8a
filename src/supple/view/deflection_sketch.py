"""The sagged mechanism over the undeformed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.view.house_style import in_house_style
from supple.view.mode_sketch import DeformedShapes, length, panels_of
from supple.view.panels import one_of, panels

if TYPE_CHECKING:
    from supple.analyses.statics.deflection import Deflection
    from supple.analyses.statics.large_deflection import LargeDeflection

Array = NDArray[np.float64]


@in_house_style
def deflection_sketch(found: Deflection | LargeDeflection, *, scale: float = 1.0, axes: Any = None) -> Any:
    """Draw how a mechanism sags over its undeformed shape, enlarged as the title says. Returns the panels.

    scale : of the displacements, which otherwise are drawn at 12 % of the mechanism's size, large ones as they are
    """
    panel = panels_of(1, found.rest.numbering, None, 9.0, 6.5)[0] if axes is None else one_of(axes)
    shape = {body.name: found.displacements(body.name) for body in found.rest.bodies}
    sizes = DeformedShapes(found.configuration, found.rest).draw(panel, shape, scale, False, to_scale=found.to_scale)
    times = f", drawn {float(f'{sizes.factor:.3g}'):g} : 1" if sizes.factor else ""
    panel.set_title(f"largest displacement {length(sizes.largest)}{times}", fontsize=9)
    return panels(panel)
