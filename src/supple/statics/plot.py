"""Plots of compliance matrices, deflections and buckling shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.diagnostics import InputError
from supple.results.units import force
from supple.view.house_style import INK, in_house_style, label, new_figure
from supple.view.mode_sketch import DeformedShapes, length, panels_of
from supple.view.panels import one_of, panel_axes, panels

if TYPE_CHECKING:
    from supple.statics.buckling import Buckling
    from supple.statics.compliance import Compliance
    from supple.statics.deflection import Deflection
    from supple.statics.large_deflection import LargeDeflection


_DARK = 0.6  # coupling whose colour is too dark for dark letters


@in_house_style
def compliance_plot(found: Compliance, axes: Any = None) -> Any:
    """Draw displacements (rows) for unit forces (columns), coloured by c_ij / √(c_ii c_jj); return the panels."""
    if found.values.ndim != 2:
        raise InputError(
            f"only one configuration can be plotted (got {len(found.values)})", part="plot", hint="plot one of them"
        )
    p = len(found.names)
    axes = new_figure(3.4 + 1.1 * p, 2.2 + 0.75 * p).subplots() if axes is None else one_of(axes)
    own = np.sqrt(np.maximum(np.diag(found.values), 0.0))
    scale = np.outer(own, own)
    coupling = np.divide(found.values, scale, out=np.zeros_like(found.values), where=scale > 0.0)
    drawn = axes.imshow(coupling, cmap="RdBu_r", vmin=-1.0, vmax=1.0)
    for i in range(p):
        for j in range(p):
            ink = "white" if abs(coupling[i, j]) > _DARK else INK
            axes.text(j, i, f"{found.values[i, j]:.3g}", ha="center", va="center", fontsize=8, color=ink)
    axes.grid(visible=False)
    axes.set_xticks(range(p), [label(name, force(unit)) for name, unit in zip(found.names, found.units, strict=True)])
    axes.set_yticks(range(p), [label(name, unit) for name, unit in zip(found.names, found.units, strict=True)])
    axes.set_xlabel(label("unit of force", ", ".join(dict.fromkeys(map(force, found.units)))))
    axes.set_ylabel(label("displacement", ", ".join(dict.fromkeys(found.units))))
    axes.figure.colorbar(drawn, ax=axes).set_label(label("coupling", "1"))
    return panels(axes)


# The deflected mechanism over the undeformed one.


@in_house_style
def deflection_sketch(found: Deflection | LargeDeflection, *, scale: float = 1.0, axes: Any = None) -> Any:
    """Draw the deflected mechanism over its undeformed shape, enlarged as the title states, and return the panels.

    scale : factor of the displacements, which are otherwise drawn at 12 % of the mechanism's size, large ones to scale
    """
    panel = panels_of(1, found.rest.numbering, None, 9.0, 6.5)[0] if axes is None else one_of(axes)
    shape = {body.name: found.displacements(body.name) for body in found.rest.bodies}
    sizes = DeformedShapes(found.configuration, found.rest).draw(panel, shape, scale, False, to_scale=found.to_scale)
    times = f", drawn {float(f'{sizes.factor:.3g}'):g} : 1" if sizes.factor else ""
    panel.set_title(f"largest displacement {length(sizes.largest)}{times}", fontsize=9)
    return panels(panel)


# Shapes of buckling, drawn over the undeformed mechanism.


@in_house_style
def buckling_sketch(
    found: Buckling, *, scale: float = 1.0, nodes: bool = True, axes: Sequence[Any] | None = None, figure: Any = None
) -> Any:
    """Draw the buckling shapes, one per panel, and return the panels.

    scale : factor of the displacements, which are otherwise drawn at 12 % of the mechanism's size at most
    nodes : mark the nodes of the meshes
    axes  : axes to draw on, one for each shape (projection="3d" for a mechanism in space); or a (sub)figure to fill
    """
    if not len(found):
        raise InputError("no shape to draw: the mechanism does not buckle under its loads", part="plot")
    drawn_on = panels_of(len(found), found.rest.numbering, figure) if axes is None else panel_axes(axes, len(found))
    drawn = DeformedShapes(found.configuration, found.rest)
    for i, panel in enumerate(drawn_on):
        shape = {body.name: body.shapes @ found.shapes[i, body.start : body.stop] for body in found.rest.bodies}
        drawn.draw(panel, shape, scale, nodes)
        panel.set_title(f"{i + 1}: load factor {found.load_factors[i]:.4g}", fontsize=9)
    return panels(drawn_on)
