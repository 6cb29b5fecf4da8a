"""Curves over the parameter of a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.view.house_style import PALETTE, in_house_style, new_figure
from supple.view.house_style import label as labelled
from supple.view.panels import one_of, panels


@in_house_style
def sweep_plot(parameter: str, x: Any, values: Any, label: str, axes: Any = None) -> Any:
    """values (N, ...) over x (N,), a curve for each entry. Returns the panels."""
    axes = new_figure(8.0, 4.5).subplots() if axes is None else one_of(axes)
    for n, curve in enumerate(np.reshape(values, (len(x), -1)).T):
        axes.plot(x, curve, marker="o", markersize=3.5, color=PALETTE[n % len(PALETTE)])
    axes.set_xlabel(labelled(parameter, ""))
    axes.set_ylabel(label)
    return panels(axes)
