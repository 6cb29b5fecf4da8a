"""Plot of a `TimeComparison`: the outputs of the mechanism and of its reduced model, and their difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.comparison.time_comparison import FULL, REDUCED, TimeComparison
from supple.diagnostics import InputError, require_known
from supple.view.house_style import PALETTE, in_house_style, label, legend_beside, new_figure
from supple.view.panels import panel_axes, panels, root_figure

_WIDTH, _TALL, _LOW = 10.0, 1.9, 1.1  # inches: of the figure, and heights of its panels
_MOST = 3  # outputs that are drawn if none is named


@in_house_style
def comparison_plot(found: TimeComparison, names: Sequence[str] = (), axes: Any = None) -> Any:
    """Draw each output in two panels: the elastic parts (or the output) of both models, and their difference."""
    for name in names:
        require_known("output", name, found.names, part="plot")
    chosen = list(names) or _most_elastic(found)
    if not chosen:
        raise InputError("the comparison has no output to draw", part="plot", hint="add a sensor to the mechanism")
    heights = [_TALL, _LOW] * len(chosen)
    if axes is None:
        figure = new_figure(_WIDTH, 0.6 + sum(heights))
        rows = {"height_ratios": heights}
        stack = list(figure.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw=rows)[:, 0])
    else:
        stack = panel_axes(axes, len(heights))
    for i, name in enumerate(chosen):
        _draw(found, name, stack[2 * i], stack[2 * i + 1])
    stack[-1].set_xlabel(label("time", "s"))
    root_figure(stack[0]).align_ylabels(stack)
    return panels(stack)


def _most_elastic(found: TimeComparison) -> list[str]:
    """Return the outputs with the largest elastic parts, in their original order."""
    elastic = found.elastic[FULL]
    size = {name: float(np.abs(elastic[name]).max(initial=0.0)) if name in elastic else 0.0 for name in found.names}
    largest = max(size.values(), default=0.0)
    most = sorted(found.names, key=lambda name: -size[name])[:_MOST]
    return [name for name in found.names if name in most and size[name] >= 1e-6 * largest]


def _draw(found: TimeComparison, name: str, above: Any, below: Any) -> None:
    elastic, unit = name in found.elastic[FULL], found.full.observed_signals.units.get(name, "")
    both = {
        which: found.elastic[which][name] if elastic else found.get_output(which, name) for which in (FULL, REDUCED)
    }
    above.plot(found.time, both[FULL], label="mechanism")
    above.plot(found.time, both[REDUCED], "--", label="reduced model")
    above.set_ylabel(label(f"{name}, elastic" if elastic else name, unit))
    legend_beside(above)
    off = 100.0 / found.scales[name]
    below.plot(found.time, off * found.difference[name], color=PALETTE[3], label="of the output")
    if elastic:
        below.plot(found.time, off * (both[REDUCED] - both[FULL]), color=PALETTE[2], label="of the elastic part")
        legend_beside(below)
    below.set_ylabel(label("difference", "%"))
