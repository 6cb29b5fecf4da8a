"""Frequencies over a region, drawn: curves over one coordinate, coloured maps over two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view.house_style import PALETTE, in_house_style, label, legend_beside, new_figure
from supple.view.map_panels import Axis, Panel, coloured, map_axes, standing
from supple.view.panels import one_of, panels

if TYPE_CHECKING:
    from supple.analyses.vibration.frequency_map import FrequencyMap


@in_house_style
def frequency_map_plot(found: FrequencyMap, *, axes: Any, count: int | None, units: Mapping[str, str]) -> Any:
    """Curves or maps, the coordinates in the units given for them. Returns the panels."""
    over = map_axes(found.postures, units)
    if len(over) == 1:
        return _curves(found, over[0], axes, count)
    values = np.moveaxis(found.frequencies_hz, -1, 0)[:count]
    shown = [Panel(f"mode {i + 1}", part, label("frequency", "Hz")) for i, part in enumerate(values)]
    return coloured(found.postures, over, shown, axes)


def _curves(found: FrequencyMap, over: Axis, axes: Any, count: int | None) -> Any:
    axes = new_figure(8.0, 4.8).subplots() if axes is None else one_of(axes)
    x = over.values
    for i, curve in enumerate(found.frequencies_hz.T[:count]):
        axes.plot(x, curve, color=PALETTE[i % len(PALETTE)], marker="." if len(x) < 12 else "", label=f"mode {i + 1}")
    axes.set_xlabel(over.title)
    axes.set_ylabel(label("frequency", "Hz"))
    axes.set_title(standing(found.postures), fontsize="medium")
    axes.set_ylim(bottom=min(0.0, float(np.nanmin(found.frequencies_hz))))
    legend_beside(axes)
    return panels(axes)
