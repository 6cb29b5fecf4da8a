"""Plot of the trade-off of run-time forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.view.house_style import in_house_style, label, new_figure
from supple.view.panels import panel_axes, panels

if TYPE_CHECKING:
    from supple.run_time.trade_off import RunTimeForms


class _Quantity(NamedTuple):
    """Quantity of a panel: name, field of a form, factor, unit, and whether its axis is logarithmic."""

    name: str
    field: str
    factor: float
    unit: str
    logarithmic: bool


_QUANTITIES = (
    _Quantity("memory", "memory", 1e-3, "kB", True),
    _Quantity("error", "error", 100.0, "%", False),
    _Quantity("jump between boxes", "jump", 100.0, "%", False),
    _Quantity("energy drift", "drift", 1.0, "1", True),
)


@in_house_style
def trade_off_plot(found: RunTimeForms, axes: Any = None) -> Any:
    """Draw memory, error, jumps and energy drift of the forms over their multiply-adds, and return the panels.

    The chosen form is filled, budgets and tolerance are dashed. Labels are degrees, "s" for splines.
    """
    count = len(_QUANTITIES)
    axes = new_figure(9.0, 6.4).subplots(2, 2, sharex=True) if axes is None else axes
    limits = {"memory": found.memory, "error": found.tolerance}
    for panel, quantity in zip(panel_axes(axes, count), _QUANTITIES, strict=True):
        limit = limits.get(quantity.field)
        for form in found.forms[1:]:
            value = quantity.factor * getattr(form, quantity.field)
            if np.isnan(value) or (quantity.logarithmic and value <= 0.0):
                continue
            panel.plot(form.inverse, value, "o", color="C0", mfc="C0" if form.chosen else "none")
            text = "s" if form.degree is None else str(form.degree)
            panel.annotate(text, (form.inverse, value), textcoords="offset points", xytext=(5, 4), fontsize=8)
        if limit:
            panel.axhline(quantity.factor * limit, ls="--", lw=1.0, color="C1")
        if found.operations:
            panel.axvline(found.operations, ls="--", lw=1.0, color="C1")
        panel.set(xscale="log", ylabel=label(quantity.name, quantity.unit))
        if quantity.logarithmic:
            panel.set_yscale("log")
        else:
            panel.set_ylim(bottom=0.0)
        if panel in panel_axes(axes, count)[-2:]:
            panel.set_xlabel(label("multiply-adds of inverse", "1"))
    return panels(axes)
