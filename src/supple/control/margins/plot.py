"""Nyquist plot of a loop with its disk margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view.house_style import INK, PALETTE, in_house_style, legend_beside, new_figure
from supple.view.panels import one_of, panels

if TYPE_CHECKING:
    from supple.control.margins.margins import Margins

_REACH = 2.5  # half-width of the drawn area


@in_house_style
def nyquist_plot(found: Margins, axes: Any = None) -> Any:
    """Draw L_k(iω) of every input, all other loops closed, the unit circle and the disks about -1.

    Returns the panels.
    """
    axes = new_figure(6.4, 5.0).subplots() if axes is None else one_of(axes)
    turn = np.linspace(0.0, 2.0 * np.pi, 241)
    axes.plot(np.cos(turn), np.sin(turn), color="#bbbbbb", linewidth=0.8)
    for k, name in enumerate(found.inputs):
        colour = PALETTE[k % len(PALETTE)]
        curve = np.where(np.abs(found.loops[:, k]) < 20.0 * _REACH, found.loops[:, k], np.nan)
        axes.plot(curve.real, curve.imag, color=colour, label=name)
        alpha = float(found.disk[k])
        if 0.0 < alpha < 2.0:
            low = (2.0 - alpha) / (2.0 + alpha)  # the disk has -low and -1/low on its rim
            centre, radius = -0.5 * (low + 1.0 / low), 0.5 * (1.0 / low - low)
            axes.fill(centre + radius * np.cos(turn), radius * np.sin(turn), color=colour, alpha=0.15, linewidth=0.0)
    axes.plot([-1.0], [0.0], "+", color=INK, markersize=8.0)
    axes.set(xlim=(-_REACH, _REACH), ylim=(-_REACH, _REACH), aspect="equal")
    axes.set_xlabel("real part / 1")
    axes.set_ylabel("imaginary part / 1")
    legend_beside(axes)
    return panels(axes)
