"""Plots of a study: the distribution of measures over many plants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view.house_style import FAINT, INK, PALETTE, in_house_style
from supple.view.panels import as_list, one_of, panel_grid, panels

if TYPE_CHECKING:
    from supple.control.study.distribution import Study

_FAR = 50.0  # largest over least value: above it an axis is logarithmic


@in_house_style
def study_plot(found: Study, axes: Any = None) -> Any:
    """Draw each measure in a row: the share of plants below a value, and the measure over what it depends on most.

    axes : axes to draw into: as many as there are panels, or one for the shares of all measures

    Returns the panels.
    """
    if axes is not None and len(as_list(axes)) == 1:
        axes = one_of(axes)
        for k, name in enumerate(found.measures):
            _shares(found, name, axes, PALETTE[k % len(PALETTE)], label=name)
        axes.set_xlabel("measure / SI")
        return panels(axes)
    count, columns = len(found.measures), 2 if found.settings else 1
    grid = panel_grid(axes, (9.0, 0.5 + 2.7 * count), count, columns)
    for row, name in zip(grid, found.measures, strict=True):
        _shares(found, name, row[0], PALETTE[0], label=None)
        row[0].set_xlabel(f"{name} / SI")
        if found.settings:
            _over(found, name, row[1])
    return panels(grid)


def _shares(found: Study, name: str, axes: Any, colour: str, label: str | None) -> None:
    values = np.sort(found.measures[name][~found.failed])
    share = np.arange(1, len(values) + 1) / len(found)
    axes.step(values, 100.0 * share, where="post", color=colour, label=label)
    axes.axvline(found.nominal[name], color=FAINT, linewidth=1.0, linestyle="--")
    failures = int(found.failed.sum())
    if failures:
        axes.annotate(
            f"{failures} of {len(found)} failed", (0.98, 0.04), xycoords="axes fraction", ha="right", color=INK
        )
    axes.set_ylim(0.0, 101.0)
    axes.set_ylabel("plants / %")
    _choose_scale(axes.set_xscale, values)


def _over(found: Study, name: str, axes: Any) -> None:
    depends = found.dependence(name)
    most = max(depends, key=lambda key: abs(depends[key]))
    kept = ~found.failed
    axes.plot(found.settings[most][kept], found.measures[name][kept], ".", color=PALETTE[0])
    if found.failed.any():
        edge = np.full(int(found.failed.sum()), np.nanmax(found.measures[name], initial=found.nominal[name]))
        axes.plot(found.settings[most][found.failed], edge, "x", color=PALETTE[1])
    axes.set_xlabel(f"{most} / SI")
    axes.set_ylabel(f"{name} / SI")
    _choose_scale(axes.set_yscale, found.measures[name][kept])


def _choose_scale(set_scale: Any, values: Any) -> None:
    if len(values) and values.min() > 0.0 and values.max() > _FAR * values.min():
        set_scale("log")
