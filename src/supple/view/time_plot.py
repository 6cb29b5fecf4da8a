"""Plots of signals over time: one panel per unit, with names beside the curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from supple.diagnostics import InputError, describe_unknown
from supple.results.signals import Signals
from supple.view.house_style import common_unit, in_house_style, label, legend_beside, new_figure
from supple.view.panels import as_list, panel_axes, panels

_WIDTH, _PANEL, _LEAST = 10.0, 1.9, 3.4  # inches: width of a figure, height of a panel, least height of all panels


@in_house_style
def time_plot(groups: Mapping[str, Signals | None], names: Sequence[str] = (), axes: Any = None) -> Any:
    """Plot groups of signals, one panel per group and unit, and return the panels.

    groups : name of the group on its axis -> its signals
    names  : signals to plot, from any group; default: all
    axes   : axes to draw into: one per panel, or one for the named signals or for the first group
    """
    chosen = _chosen({title: signals for title, signals in groups.items() if signals is not None}, names)
    if axes is not None and not names and len(as_list(axes)) == 1:
        chosen = dict(list(chosen.items())[:1])
    groups_of = _panels(chosen)
    if not groups_of:
        raise InputError("no signal to plot", part="plot", hint="add a sensor, or plot another quantity")
    if axes is not None:
        _draw_over(axes := as_list(axes), groups_of)
        return panels(axes)
    figure = new_figure(_WIDTH, max(_LEAST, 0.6 + _PANEL * len(groups_of)))
    stack = figure.subplots(len(groups_of), 1, sharex=True, squeeze=False)[:, 0]
    for one, (title, unit, curves) in zip(stack, groups_of, strict=True):
        for name, time, values in curves:
            one.plot(time, values, label=name)
        alone = len(curves) == 1
        one.set_ylabel(label(curves[0][0] if alone else title, unit))
        if not alone:
            legend_beside(one)
        if one is not stack[-1]:
            one.tick_params(labelbottom=False)
    stack[-1].set_xlabel(label("time", "s"))
    figure.align_ylabels(list(stack))
    return panels(stack)


Panel = tuple[str, str, list[tuple[str, Any, Any]]]


def _chosen(groups: Mapping[str, Signals], names: Sequence[str]) -> dict[str, Signals]:
    """Return the groups with the named signals only, each from the first group that has it."""
    if not names:
        return dict(groups)
    known = list(dict.fromkeys(name for signals in groups.values() for name in signals))
    for name in names:
        if name not in known:
            message, hint = describe_unknown("signal", name, known)
            if name.lower().endswith((".png", ".pdf", ".svg", ".jpg")):
                hint = f'to write a file use plot().savefig("{name}")'
            raise InputError(message, part="plot", hint=hint)
    found: dict[str, Signals] = {}
    left = list(dict.fromkeys(names))
    for title, signals in groups.items():
        mine = {name: signals[name] for name in left if name in signals}
        left = [name for name in left if name not in mine]
        if mine:
            found[title] = Signals(signals.time, mine, signals.units)
    return found


def _panels(groups: Mapping[str, Signals]) -> list[Panel]:
    """Return (title, unit, curves) of each unit in each group, in their order."""
    found: dict[tuple[str, str], list[tuple[str, Any, Any]]] = {}
    for title, signals in groups.items():
        for name, values in signals.items():
            found.setdefault((title, signals.units.get(name, "")), []).append((name, signals.time, np.asarray(values)))
    return [(title, unit, curves) for (title, unit), curves in found.items()]


def _draw_over(axes: list[Any], panels: list[Panel]) -> None:
    """Draw into existing axes: one per panel if there are enough, else all into the first."""
    if len(axes) == 1:
        _draw_together(axes[0], panels)
        return
    for one, panel in zip(panel_axes(axes, len(panels)), panels, strict=True):
        _draw_together(one, [panel])


def _draw_together(axes: Any, panels: list[Panel]) -> None:
    several = len({unit for _, unit, _ in panels}) > 1
    for _, unit, curves in panels:
        for name, time, values in curves:
            axes.plot(time, values, label=label(name, unit) if several else name)
    titles = common_unit(title for title, _, _ in panels)
    axes.set_xlabel(label("time", "s"))
    axes.set_ylabel(label(titles, common_unit(unit for _, unit, _ in panels)))
    if sum(len(curves) for _, _, curves in panels) > 1:
        legend_beside(axes)
