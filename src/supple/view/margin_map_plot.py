"""Margins over a region, drawn: curves over one coordinate, coloured maps over two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.view.house_style import PALETTE, in_house_style, label, new_figure
from supple.view.map_panels import colour_limits
from supple.view.panels import panels, places

if TYPE_CHECKING:
    from supple.control.margins.margin_map import MarginMap

Array = NDArray[np.float64]

_EVEN = 1e-3  # of a margin: less of a change is none


@in_house_style
def margin_map_plot(found: MarginMap, axes: Any = None) -> Any:
    """Four panels: the largest factor and the least phase and delay that any input stands alone, and the disk of all
    together. White where the loop is unstable. Returns the panels."""
    if len(found.coordinates) > 2:
        raise InputError(
            f"a map over {len(found.coordinates)} coordinates is not drawn",
            hint="vary one or two of them and leave the others where they are",
        )
    kinds = {
        "gain / 1": found.gain[..., 1].min(axis=-1), "phase / °": np.degrees(found.phase.min(axis=-1)),
        "delay / ms": 1e3 * found.delay.min(axis=-1), "disk of all inputs / 1": found.together,
    }  # fmt: skip
    shown = {title: np.where(found.stable & np.isfinite(x), x, np.nan) for title, x in kinds.items()}
    shown = {title: x for title, x in shown.items() if np.isfinite(x).any()}
    if not shown:
        raise InputError("the loop is unstable everywhere", part="margin map", hint="look at the controller first")
    axes_of = [(label(name, found.units.coordinates.get(name, "")), x) for name, x in found.coordinates.items()]
    if axes is None:
        figure = new_figure(10.0, 3.3 * -(-len(shown) // 2))
        drawn_on = list(figure.subplots(-(-len(shown) // 2), 2, squeeze=False, sharex=True).ravel())
    else:
        drawn_on = places(axes, len(shown))
    for one, (title, x) in zip(drawn_on, shown.items(), strict=False):
        if len(axes_of) == 1:
            one.plot(axes_of[0][1], x, color=PALETTE[0])
            one.set_ylim(bottom=0.0)
            one.set(xlabel=axes_of[0][0], ylabel=title)
        else:
            _map(one.figure, one, axes_of, title, x)
    for one in drawn_on[len(shown) :]:
        one.set_visible(False)
    return panels(drawn_on[: len(shown)])


def _map(figure: Any, axes: Any, axes_of: list[tuple[str, Array]], title: str, values: Array) -> None:
    low, high, extend = colour_limits(values)
    if high - low < _EVEN * abs(high):  # one colour, and a bar that can be read
        low, high, extend = 0.9 * low, 1.1 * high, "neither"
    (first, x), (second, y) = axes_of
    shading = "gouraud" if np.isfinite(values).all() else "nearest"
    drawn = axes.pcolormesh(x, y, values.T, shading=shading, vmin=low, vmax=high, rasterized=True)
    axes.grid(visible=False)
    figure.colorbar(drawn, ax=axes, extend=extend).set_label(title)
    axes.set(xlabel=first, ylabel=second)
