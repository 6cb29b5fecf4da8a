"""Curves over the parameter of a sweep."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.view.house_style import PALETTE, in_house_style, new_figure, root
from supple.view.house_style import label as labelled


@in_house_style
def sweep_plot(parameter: str, x: Any, values: Any, label: str, axes: Any = None) -> Any:
    """values (N, ...) over x (N,), a curve for each entry. Returns the figure."""
    if axes is None:
        axes = new_figure(8.0, 4.5).subplots()
    for n, curve in enumerate(np.reshape(values, (len(x), -1)).T):
        axes.plot(x, curve, marker="o", markersize=3.5, color=PALETTE[n % len(PALETTE)])
    axes.set_xlabel(labelled(parameter, ""))
    axes.set_ylabel(label)
    return root(axes)
