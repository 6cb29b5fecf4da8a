"""Plot of a model update: parameters with their intervals, frequencies and gauges before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view.house_style import FAINT, PALETTE, in_house_style, legend_beside
from supple.view.panels import panel_grid, panels

if TYPE_CHECKING:
    from supple.identification.updating.updated import Updated


@in_house_style
def updated_plot(found: Updated, axes: Any = None) -> Any:
    """Draw the parameters relative to the file with 95 % intervals, and deviations from the measurements."""
    height = max(3.4, 0.9 + 0.27 * len(found.names))
    left, right = panel_grid(axes, (11.0, height), 1, 2, width_ratios=[1.2, 1.0])[0]
    draw_numbers(left, found)
    draw_deviations(right, found)
    return panels([left, right])


def draw_numbers(axes: Any, found: Updated) -> None:
    """Draw one row for each parameter: prior (grey), result (coloured); hollow if the data do not determine it."""
    rows = np.arange(len(found.names))[::-1]
    ratio = found.after / found.before
    spread = np.exp(1.96 * found.deviations)
    silent = np.array([name in found.at_prior for name in found.names])
    for row, prior in zip(rows, found.prior, strict=True):
        if np.isfinite(prior):
            axes.plot(
                [np.exp(-1.96 * prior), np.exp(1.96 * prior)], [row, row], color="#e4e4e4", linewidth=7.0, zorder=1
            )
    for chosen, colour in ((~silent, PALETTE[0]), (silent, FAINT)):
        if chosen.any():
            axes.errorbar(
                ratio[chosen], rows[chosen], xerr=[(ratio - ratio / spread)[chosen], (ratio * spread - ratio)[chosen]],
                fmt="o", color=colour, markerfacecolor="white" if colour == FAINT else colour
            )  # fmt: skip
    axes.axvline(1.0, color="#bbbbbb", linewidth=0.8)
    axes.set_xscale("log")
    known = found.prior[np.isfinite(found.prior)]
    largest = max(
        1.3 * float(np.exp(np.abs(np.log(ratio)).max())), min(12.0, float(np.exp(2.1 * known.max(initial=0.5))))
    )
    axes.set_xlim(1.0 / largest, largest)
    axes.set_xticks([x for x in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0) if 1.0 / largest <= x <= largest])
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    axes.minorticks_off()
    axes.set_yticks(rows, found.names)
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xlabel("after / before, 95 % interval (grey: prior; hollow: not determined)")
    axes.set_ylabel("parameter / SI")


def draw_deviations(axes: Any, found: Updated) -> None:
    """Draw the deviations of the model, in per cent, before and after: frequencies of all postures, or gauges."""
    labels: list[str] = []
    before: list[float] = []
    after: list[float] = []
    for item in found.postures:
        for measured, old, new in zip(item.measured_hz, item.before_hz, item.after_hz, strict=True):
            labels.append(f"{measured:.4g}")
            before.append(100.0 * (old / measured - 1.0))
            after.append(100.0 * (new / measured - 1.0))
        largest = max((abs(values[0]) for values in item.gauges.values()), default=1.0)
        for name, (measured, old, new) in item.gauges.items():
            labels.append(name)
            before.append(100.0 * (old - measured) / largest)
            after.append(100.0 * (new - measured) / largest)
        if item.misfit is not None:
            labels.append(f"J_Q {item.label}".strip())
            before.append(100.0 * item.misfit[0])
            after.append(100.0 * item.misfit[1])
    places = np.arange(len(labels))
    axes.axhline(0.0, color="#bbbbbb", linewidth=0.8)
    axes.plot(places, before, "o", color=FAINT, markerfacecolor="white", label="before")
    axes.plot(places, after, "o", color=PALETTE[1], label="after")
    step = max(1, len(labels) // 20)
    axes.set_xticks(places[::step], labels[::step], rotation=60, ha="right")
    axes.set_ylabel("deviation of the model / %")
    axes.set_xlabel("measured / Hz, or gauge")
    legend_beside(axes)
