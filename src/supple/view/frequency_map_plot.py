"""Frequencies over a region, drawn: curves over one coordinate, coloured maps over two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.description.quantities.expression import quantity
from supple.diagnostics import InputError
from supple.formulations.measured_units import units_of
from supple.kinematics.rest import rest
from supple.view.house_style import PALETTE, in_house_style, label, legend_beside, new_figure, root

if TYPE_CHECKING:
    from supple.analyses.vibration.frequency_map import FrequencyMap

Array = NDArray[np.float64]

_FENCE = 3.0  # spreads of the middle half beyond which a frequency is an outlier
_COLUMNS = 3


@in_house_style
def frequency_map_plot(found: FrequencyMap, *, axes: Any, count: int | None, units: Mapping[str, str]) -> Any:
    """Curves or maps, the coordinates in the units given for them. Returns the figure."""
    for name in units:
        if name not in found.coordinates:
            raise InputError(f'the map is not over "{name}"', part="units", hint=", ".join(found.coordinates))
    shown = [_shown(found, name, units.get(name)) for name in found.coordinates]
    if len(shown) == 1:
        return _curves(found, *shown[0], axes, count)
    if len(shown) == 2 and axes is None:
        return _maps(found, shown[0], shown[1], count)
    raise InputError(
        f"a map over {len(shown)} coordinates is not drawn"
        + (" into axes of another figure" if len(shown) == 2 else ""),
        hint="vary one or two of them and leave the others where they are",
    )


def _shown(found: FrequencyMap, name: str, unit: str | None) -> tuple[str, Array]:
    """The label of an axis, and the values on it."""
    values = found.coordinates[name]
    if unit is None:
        return label(name, units_of(rest(found.mechanism)).coordinates[name]), values
    return label(name, "°" if unit == "deg" else unit), values / quantity(f"1 {unit}")


def _curves(found: FrequencyMap, title: str, x: Array, axes: Any, count: int | None) -> Any:
    if axes is None:
        axes = new_figure(8.0, 4.8).subplots()
    for i, curve in enumerate(found.frequencies_hz.T[:count]):
        axes.plot(x, curve, color=PALETTE[i % len(PALETTE)], marker="." if len(x) < 12 else "", label=f"mode {i + 1}")
    axes.set_xlabel(title)
    axes.set_ylabel(label("frequency", "Hz"))
    axes.set_ylim(bottom=min(0.0, float(np.nanmin(found.frequencies_hz))))
    legend_beside(axes)
    return root(axes)


def _maps(found: FrequencyMap, first: tuple[str, Array], second: tuple[str, Array], count: int | None) -> Any:
    shown = np.moveaxis(found.frequencies_hz, -1, 0)[:count]
    columns = min(_COLUMNS, len(shown))
    rows = -(-len(shown) // columns)
    figure = new_figure(3.5 * columns, 3.0 * rows)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    shading = "gouraud" if found.assembled.all() else "nearest"
    for i, (axes, values) in enumerate(zip(panels, shown, strict=False)):
        low, high, extend = colour_limits(values)
        drawn = axes.pcolormesh(first[1], second[1], values.T, shading=shading, vmin=low, vmax=high, rasterized=True)
        axes.grid(visible=False)
        figure.colorbar(drawn, ax=axes, extend=extend).set_label(label("frequency", "Hz"))
        axes.set_title(f"mode {i + 1}")
        axes.set_xlabel(first[0])
        axes.set_ylabel(second[0])
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    return figure


def colour_limits(values: Array) -> tuple[float, float, str]:
    """Between which values colours change, outliers left outside, and at which ends the bar is pointed to say so."""
    known = values[np.isfinite(values)]
    low, high = float(known.min()), float(known.max())
    first, third = np.percentile(known, [25.0, 75.0])
    reach = _FENCE * float(third - first)
    if reach == 0.0:  # at least half of them are equal
        return low, high, "neither"
    inside = known[(known >= first - reach) & (known <= third + reach)]
    least, most = float(inside.min()), float(inside.max())
    pointed = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    return least, most, pointed[low < least, high > most]
