"""Compliance over a region, drawn: curves over one coordinate, coloured maps over two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view.house_style import PALETTE, in_house_style, label, legend_beside, new_figure
from supple.view.map_panels import Axis, Panel, coloured, map_axes, standing
from supple.view.panels import panels, places

if TYPE_CHECKING:
    from supple.analyses.statics.compliance_map import ComplianceMap

_YIELDS = {"m": ("µm/N", 1e6), "rad": ("µrad/(N m)", 1e6)}
_LINES = ("-", "--", ":")  # directions that yield alike lie on one another
_RESISTS = {"m": ("N/µm", 1e-6), "rad": ("N m/µrad", 1e-6)}


@in_house_style
def compliance_map_plot(found: ComplianceMap, *, stiffness: bool, units: Mapping[str, str], axes: Any = None) -> Any:
    """A panel for each direction: how far it yields to a unit force along itself, or how stiff it is. The panels."""
    over = map_axes(found.postures, units)
    values, words, scales = (
        (found.stiffness, "stiffness", _RESISTS) if stiffness else (found.own, "compliance", _YIELDS)
    )
    shown = []
    for i, (name, unit) in enumerate(zip(found.names, found.units, strict=True)):
        text, factor = scales[unit]
        part = np.where(np.isfinite(values[..., i]), values[..., i], np.nan) * factor
        if np.isfinite(part).any():
            shown.append(Panel(name, part, label(words, text)))
    return coloured(found.postures, over, shown, axes) if len(over) == 2 else _curves(found, over[0], shown, axes)


def _curves(found: ComplianceMap, over: Axis, shown: list[Panel], into: Any) -> Any:
    """Directions in one unit share a panel."""
    labels = list(dict.fromkeys(panel.label for panel in shown))
    if into is None:
        figure = new_figure(8.0, 2.9 * len(labels) + 0.4)
        stack = list(figure.subplots(len(labels), squeeze=False, sharex=True).ravel())
    else:
        stack = places(into, len(labels))
    for axes, text in zip(stack, labels, strict=True):
        for i, panel in enumerate(panel for panel in shown if panel.label == text):
            style = {"color": PALETTE[i % len(PALETTE)], "linestyle": _LINES[i % len(_LINES)], "label": panel.title}
            axes.plot(over.values, panel.values, **style)
        axes.set_ylabel(text)
        axes.set_ylim(bottom=0.0)
        legend_beside(axes)
    stack[-1].set_xlabel(over.title)
    stack[0].set_title(standing(found.postures), fontsize="medium")
    return panels(stack)
