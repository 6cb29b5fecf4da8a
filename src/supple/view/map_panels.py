"""Panels of a map over one or two coordinates, or positions of a place: curves, or colours; empty where none exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.analyses.posture_grid import PostureGrid, axis_units
from supple.description.quantities.expression import quantity
from supple.diagnostics import InputError
from supple.view.house_style import label, new_figure
from supple.view.panels import Panels, panels, places

Array = NDArray[np.float64]

_FENCE = 3.0  # spreads of the middle half beyond which a value is an outlier
_COLUMNS = 3
_LONGER = 2.5  # times the shorter axis: a plane longer than this would leave most of its panel empty
_EMPTY = "0.92"  # grey of what does not exist, so that it is not taken for a low value


class Axis(NamedTuple):
    """title : with its unit; values : in it; length : whether it is one"""

    title: str
    values: Array
    length: bool


class Panel(NamedTuple):
    """What one panel shows: its title, the values (n₁, n₂), and their label."""

    title: str
    values: Array
    label: str


def map_axes(postures: PostureGrid, units: Mapping[str, str]) -> list[Axis]:
    """The axes of a map, in the units given for them; more than two are not drawn."""
    for name in units:
        if name not in postures.axes:
            raise InputError(f'the map is not over "{name}"', part="units", hint=", ".join(postures.axes))
    if len(postures.axes) > 2:
        raise InputError(
            f"a map over {len(postures.axes)} coordinates is not drawn",
            hint="vary one or two of them and leave the others where they are",
        )
    own = axis_units(postures.mechanism, postures.axes)
    return [_axis(name, values, own[name], units.get(name)) for name, values in postures.axes.items()]


def _axis(name: str, values: Array, own: str, unit: str | None) -> Axis:
    if unit is None:
        return Axis(label(name, own), values, own == "m")
    return Axis(label(name, "°" if unit == "deg" else unit), values / quantity(f"1 {unit}"), own == "m")


def standing(postures: PostureGrid) -> str:
    """`tool.z = -1.1 m`: what stays, and how many postures are empty."""
    units = axis_units(postures.mechanism, postures.fixed)
    said = [f"{name} = {value:.4g} {units[name]}" for name, value in postures.fixed.items()]
    missing = int((~postures.assembled).sum())
    if missing:
        why = "out of reach" if postures.by_place else "not assembled"
        said.append(f"{missing} of {postures.assembled.size} postures {why}")
    return ", ".join(said)


def coloured(postures: PostureGrid, axes: Sequence[Axis], shown: Sequence[Panel], into: Any = None) -> Panels:
    """Maps over two axes, a panel each, in a figure of their own or in axes that are given."""
    first, second = axes
    columns = min(_COLUMNS, len(shown))
    rows = -(-len(shown) // columns)
    if into is None:
        figure = new_figure(3.5 * columns, 3.0 * rows + 0.3)
        drawn_on = list(figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel())
    else:
        drawn_on = places(into, len(shown))
        figure = drawn_on[0].figure
    shading = "gouraud" if postures.assembled.all() and min(postures.shape) > 1 else "nearest"
    for i, (axes_of, panel) in enumerate(zip(drawn_on, shown, strict=False)):
        low, high, extend = colour_limits(panel.values)
        axes_of.set_facecolor(_EMPTY)
        drawn = axes_of.pcolormesh(
            first.values, second.values, panel.values.T, shading=shading, vmin=low, vmax=high, rasterized=True
        )
        axes_of.grid(visible=False)
        beside = axes_of.inset_axes((1.05, 0.0, 0.06, 1.0))  # as tall as the map, whatever its sides are
        figure.colorbar(drawn, cax=beside, extend=extend).set_label(panel.label)
        axes_of.set_title(panel.title)
        if into is not None or i + columns >= len(shown):  # the lowest of its column
            axes_of.set_xlabel(first.title)
            axes_of.tick_params(labelbottom=True)
        axes_of.set_ylabel(second.title)
        if postures.by_place and _alike(first, second):
            axes_of.set_aspect("equal", adjustable="box")
    for axes_of in drawn_on[len(shown) :]:
        axes_of.set_visible(False)
    said = standing(postures)
    if said and into is None:
        figure.suptitle(said, fontsize="medium")
    return panels(drawn_on[: len(shown)])


def _alike(first: Axis, second: Axis) -> bool:
    """Whether a plane is seen as it is: two lengths in one unit, neither much longer than the other."""
    spans = [float(np.ptp(axis.values)) for axis in (first, second)]
    units = {axis.title.rpartition(" / ")[2] for axis in (first, second)}
    return first.length and second.length and len(units) == 1 and 0.0 < max(spans) < _LONGER * min(spans)


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
