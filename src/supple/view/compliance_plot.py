"""A compliance matrix, drawn: its numbers, coloured by coupling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.diagnostics import InputError
from supple.results.units import force
from supple.view.house_style import INK, in_house_style, label, new_figure
from supple.view.panels import one_of, panels

if TYPE_CHECKING:
    from supple.analyses.statics.compliance import Compliance

_DARK = 0.6  # coupling whose colour is too dark for dark letters


@in_house_style
def compliance_plot(found: Compliance, axes: Any = None) -> Any:
    """Displacements (rows) for unit forces (columns); coloured by c_ij / √(c_ii c_jj), -1 to 1. Returns the panels."""
    if found.values.ndim != 2:
        raise InputError(
            f"the compliance of {len(found.values)} configurations is not drawn", part="plot", hint="draw one of them"
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
