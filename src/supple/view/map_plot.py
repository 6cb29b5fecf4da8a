"""Plots of maps over one or two coordinates or positions, and of parameter sweeps: curves or coloured maps.

A map is empty where the mechanism cannot be assembled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.quantities.expression import quantity
from supple.diagnostics import InputError
from supple.maps.grid import Grid
from supple.maps.map import MapPanel
from supple.view.house_style import PALETTE, in_house_style, label, legend_beside, new_figure
from supple.view.house_style import label as labelled
from supple.view.panels import Panels, one_of, panel_axes, panels

_FENCE = 3.0  # interquartile ranges beyond which a value is an outlier
_COLUMNS = 3
_STACKED = 3  # most panels of curves in one column; more are arranged in two columns
_FEW = 12  # curves with at most this many points have markers
_ALIKE = 1e-3  # relative to their values: closer curves are drawn with different dashes
_LINES = ("-", "--", ":")
_DISPLAYED = {
    "m/N": ("µm/N", 1e6), "rad/(N m)": ("µrad/(N m)", 1e6), "N/m": ("N/µm", 1e-6), "N m/rad": ("N m/µrad", 1e-6),
    "rad": ("°", 180.0 / np.pi), "s": ("ms", 1e3),
}  # fmt: skip
_LONGER = 2.5  # largest aspect ratio with equal scales; above it most of the panel would be empty
_EMPTY = "0.92"  # grey of missing postures, not to be confused with low values


class Axis(NamedTuple):
    """Axis of a map; title : with its unit; values : in this unit; length : True for a length."""

    title: str
    values: Array
    length: bool


@in_house_style
def map_plot(grid: Grid, shown: Sequence[MapPanel], *, axes: Any, units: Mapping[str, str]) -> Panels:
    """Plot curves over one coordinate or coloured maps over two, with coordinates in the given units."""
    over = map_axes(grid, units)
    return _plot_maps(grid, over, shown, axes) if len(over) == 2 else _curves(grid, over[0], shown, axes)


def map_axes(grid: Grid, units: Mapping[str, str]) -> list[Axis]:
    """Return the axes of a map, in the given units; raise InputError for more than two."""
    for name in units:
        if name not in grid.axes:
            raise InputError(f'the map is not over "{name}"', part="units", hint=", ".join(grid.axes))
    if len(grid.axes) > 2:
        raise InputError(
            f"maps over {len(grid.axes)} coordinates cannot be plotted",
            hint="vary one or two coordinates and hold the others",
        )
    own = grid.units_of(grid.axes)
    return [_axis(name, values, own[name], units.get(name)) for name, values in grid.axes.items()]


def _axis(name: str, values: Array, own: str, unit: str | None) -> Axis:
    if unit is None:
        return Axis(label(name, own), values, own == "m")
    return Axis(label(name, "°" if unit == "deg" else unit), values / quantity(f"1 {unit}"), own == "m")


def held_values_text(grid: Grid) -> str:
    """Return a text of the held values and of the number of empty postures: `tool.z = -1.1 m`."""
    units = grid.units_of(grid.fixed)
    held = [f"{name} = {value:.4g} {units[name]}" for name, value in grid.fixed.items()]
    missing = int((~grid.assembled).sum())
    if missing:
        why = "out of reach" if grid.by_place else "not assembled"
        held.append(f"{missing} of {grid.assembled.size} postures {why}")
    return ", ".join(held)


def _curves(grid: Grid, over: Axis, shown: Sequence[MapPanel], into: Any) -> Panels:
    """Plot curves; quantities with the same unit share a panel, and coinciding curves have different dashes."""
    groups: dict[str, list[tuple[str, Array]]] = {}
    for panel in shown:
        text, factor = _in_display_units(panel)
        groups.setdefault(text, []).append((panel.title, panel.values * factor))
    if into is None:
        columns = 1 if len(groups) <= _STACKED else 2
        rows = -(-len(groups) // columns)
        figure = new_figure(8.0 if columns == 1 else 10.0, 4.8 if len(groups) == 1 else 2.9 * rows + 0.4)
        stack = list(figure.subplots(rows, columns, squeeze=False, sharex=True).ravel())
    else:
        stack, columns = panel_axes(into, len(groups)), 1
    x = over.values
    for axes, (text, curves) in zip(stack, groups.items(), strict=False):
        for i, (title, curve) in enumerate(curves):
            alike = sum(bool(np.allclose(curve, other, rtol=_ALIKE, equal_nan=True)) for _, other in curves[:i])
            axes.plot(
                x, curve, color=PALETTE[i % len(PALETTE)], linestyle=_LINES[alike % len(_LINES)],
                marker="." if len(x) < _FEW else "", label=title or None,
                clip_on=False, zorder=3,  # a curve along the edge of the axes is not clipped by its line
            )  # fmt: skip
        axes.set_ylabel(text)
        known = np.concatenate([curve[np.isfinite(curve)] for _, curve in curves])
        axes.set_ylim(bottom=min(0.0, float(known.min(initial=0.0))))
        legend_beside(axes)
    for axes in stack[len(groups) :]:
        axes.set_visible(False)
    for axes in stack[max(0, len(groups) - columns) : len(groups)]:
        axes.set_xlabel(over.title)
        axes.tick_params(labelbottom=True)
    stack[0].set_title(held_values_text(grid), fontsize="medium")
    return panels(stack[: len(groups)])


def _in_display_units(panel: MapPanel) -> tuple[str, float]:
    """Return the label of an axis, and the factor from SI to its unit."""
    unit, factor = _DISPLAYED.get(panel.unit, (panel.unit, 1.0))
    return label(panel.quantity, unit), factor


def _plot_maps(grid: Grid, axes: Sequence[Axis], shown: Sequence[MapPanel], into: Any = None) -> Panels:
    """Plot maps over two axes, one panel each, in a new figure or in given axes."""
    first, second = axes
    columns = min(_COLUMNS, len(shown))
    rows = -(-len(shown) // columns)
    if into is None:
        figure = new_figure(3.5 * columns, 3.0 * rows + 0.3)
        drawn_on = list(figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel())
    else:
        drawn_on = panel_axes(into, len(shown))
        figure = drawn_on[0].figure
    for i, (axes_of, panel) in enumerate(zip(drawn_on, shown, strict=False)):
        text, factor = _in_display_units(panel)
        values = panel.values * factor
        low, high, extend = colour_limits(values)
        if high - low < panel.even * abs(high):  # constant: one colour, with a readable colour bar
            low, high, extend = 0.9 * low, 1.1 * high, "neither"
        shading = "gouraud" if np.isfinite(values).all() and min(grid.shape) > 1 else "nearest"
        axes_of.set_facecolor(_EMPTY)
        drawn = axes_of.pcolormesh(
            first.values, second.values, values.T, shading=shading, vmin=low, vmax=high, rasterized=True
        )
        axes_of.grid(visible=False)
        beside = axes_of.inset_axes((1.05, 0.0, 0.06, 1.0))  # as high as the map, for any aspect ratio
        figure.colorbar(drawn, cax=beside, extend=extend).set_label(text)
        axes_of.set_title(panel.title)
        if into is not None or i + columns >= len(shown):  # the lowest panel of its column
            axes_of.set_xlabel(first.title)
            axes_of.tick_params(labelbottom=True)
        axes_of.set_ylabel(second.title)
        if grid.by_place and _alike(first, second):
            axes_of.set_aspect("equal", adjustable="box")
    for axes_of in drawn_on[len(shown) :]:
        axes_of.set_visible(False)
    held = held_values_text(grid)
    if held and into is None:
        figure.suptitle(held, fontsize="medium")
    return panels(drawn_on[: len(shown)])


def _alike(first: Axis, second: Axis) -> bool:
    """Return True if a plane is drawn with equal scales: two lengths in one unit, of similar extent."""
    spans = [float(np.ptp(axis.values)) for axis in (first, second)]
    units = {axis.title.rpartition(" / ")[2] for axis in (first, second)}
    return first.length and second.length and len(units) == 1 and 0.0 < max(spans) < _LONGER * min(spans)


def colour_limits(values: Array) -> tuple[float, float, str]:
    """Return the colour limits without outliers, and the ends of the colour bar that are pointed to indicate them."""
    known = values[np.isfinite(values)]
    low, high = float(known.min()), float(known.max())
    first, third = np.percentile(known, [25.0, 75.0])
    reach = _FENCE * float(third - first)
    if reach == 0.0:  # at least half of the values are equal
        return low, high, "neither"
    inside = known[(known >= first - reach) & (known <= third + reach)]
    least, most = float(inside.min()), float(inside.max())
    pointed = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
    return least, most, pointed[low < least, high > most]


# Curves over the parameter of a sweep.


@in_house_style
def sweep_plot(parameter: str, x: Any, values: Any, label: str, axes: Any = None) -> Any:
    """Plot values (N, ...) over x (N,), one curve for each entry, and return the panels."""
    axes = new_figure(8.0, 4.5).subplots() if axes is None else one_of(axes)
    for n, curve in enumerate(np.reshape(values, (len(x), -1)).T):
        axes.plot(x, curve, marker="o", markersize=3.5, color=PALETTE[n % len(PALETTE)])
    axes.set_xlabel(labelled(parameter, ""))
    axes.set_ylabel(label)
    return panels(axes)
