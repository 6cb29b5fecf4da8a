"""Plot of fitted damping: values with their intervals, and the misfit of each response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view.house_style import FAINT, PALETTE, in_house_style
from supple.view.panels import panel_grid, panels

if TYPE_CHECKING:
    from supple.identification.damping.fitted_damping import FittedDamping

_MOST = 24  # responses whose names are written


@in_house_style
def damping_plot(found: FittedDamping, axes: Any = None) -> Any:
    """Draw the values relative to the loss factor of the whole (hollow: not determined), and J_Q by response."""
    height = max(3.4, 1.0 + 0.27 * len(found.names))
    left, right = panel_grid(axes, (11.0, height), 1, 2, width_ratios=[1.2, 1.0])[0]
    rows = np.arange(len(found.names))[::-1]
    pairs = np.array(list(found.intervals.values())) / found.start[:, None]
    ratio = found.values / found.start
    silent = np.array([name in found.at_prior for name in found.names])
    for chosen, colour in ((~silent, PALETTE[0]), (silent, FAINT)):
        if chosen.any():
            spread = [(ratio - pairs[:, 0])[chosen], (pairs[:, 1] - ratio)[chosen]]
            left.errorbar(
                ratio[chosen], rows[chosen], xerr=spread, fmt="o", color=colour,
                markerfacecolor="white" if colour == FAINT else colour,
            )  # fmt: skip
    left.axvline(1.0, color="#bbbbbb", linewidth=0.8)
    left.set_xlim(left=0.0, right=float(1.2 * max(2.0, np.where(silent, 0.0, pairs[:, 1]).max())))
    left.set_yticks(rows, [f"{name} = {value:.3g}" for name, value in zip(found.names, found.values, strict=True)])
    left.set_ylim(-0.7, len(rows) - 0.3)
    left.set_xlabel(f"value relative to η = {found.whole:.3g} of the whole mechanism, 95 % interval")
    names, values = [], []
    for item in found.postures:
        for name, value in item.by_response.items():
            names.append(f"{item.label} {name}".strip())
            values.append(100.0 * value)
    order = np.argsort(-np.array(values))[:_MOST]
    right.bar(np.arange(len(order)), np.array(values)[order], color=PALETTE[1])
    right.set_xticks(np.arange(len(order)), [names[i] for i in order], rotation=60, ha="right")
    right.set_yscale("log")
    right.set_ylabel("J_Q / %")
    right.set_xlabel("response" if len(values) <= _MOST else f"the worst {_MOST} responses of {len(values)}")
    return panels([left, right])
