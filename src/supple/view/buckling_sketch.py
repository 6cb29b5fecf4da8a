"""Shapes of buckling, drawn over the undeformed mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from supple.diagnostics import InputError
from supple.view.house_style import in_house_style
from supple.view.mode_sketch import DeformedShapes, panels_of
from supple.view.panels import panels, places

if TYPE_CHECKING:
    from supple.analyses.statics.buckling import Buckling


@in_house_style
def buckling_sketch(
    found: Buckling, *, scale: float = 1.0, nodes: bool = True, axes: Sequence[Any] | None = None, figure: Any = None
) -> Any:
    """Draw the shapes of buckling, one panel each. Returns the panels.

    scale : factor of the displacements, which are drawn at 12 % of the mechanism's size at most otherwise
    nodes : mark the nodes of the meshes
    axes  : axes to draw on, one for each (projection="3d" for a mechanism in space); or a (sub)figure to fill
    """
    if not len(found):
        raise InputError("there is no shape to draw: its loads do not buckle it", hint="look at its table")
    drawn_on = panels_of(len(found), found.rest.numbering, figure) if axes is None else places(axes, len(found))
    drawn = DeformedShapes(found.configuration, found.rest)
    for i, panel in enumerate(drawn_on):
        shape = {body.name: body.shapes @ found.shapes[i, body.start : body.stop] for body in found.rest.bodies}
        drawn.draw(panel, shape, scale, nodes)
        panel.set_title(f"{i + 1}: load factor {found.load_factors[i]:.4g}", fontsize=9)
    return panels(drawn_on)
