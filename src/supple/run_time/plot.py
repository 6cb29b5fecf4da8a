"""Plot of the trade-off of run-time forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view.house_style import in_house_style, label, new_figure
from supple.view.panels import panel_axes, panels

if TYPE_CHECKING:
    from supple.run_time.trade_off import RunTimeForm, RunTimeForms


@in_house_style
def trade_off_plot(found: RunTimeForms, axes: Any = None) -> Any:
    """Draw error and memory of the forms over the multiply-adds of `inverse`, with the budgets, and return the panels.

    The chosen form is filled. Labels are degrees, "s" for splines.
    """
    axes = new_figure(8.5, 3.6).subplots(1, 2) if axes is None else panel_axes(axes, 2)
    forms = found.forms[1:]
    for panel, name, unit, limit in zip(
        axes, ("error", "memory"), ("%", "kB"), (100.0 * found.tolerance, found.memory and found.memory / 1e3),
        strict=True,
    ):  # fmt: skip
        values = np.array([_value(form, name) for form in forms])
        panel.plot([form.inverse for form in forms], values, "o", mfc="none")
        chosen = found.chosen
        panel.plot(chosen.inverse, _value(chosen, name), "o", color="C0")
        for form, value in zip(forms, values, strict=True):
            text = "s" if form.degree is None else str(form.degree)
            panel.annotate(text, (form.inverse, value), textcoords="offset points", xytext=(5, 4), fontsize=8)
        if limit:
            panel.axhline(limit, ls="--", lw=1.0, color="C1")
        if found.operations:
            panel.axvline(found.operations, ls="--", lw=1.0, color="C1")
        panel.set(xscale="log", yscale="log", xlabel=label("multiply-adds of inverse", "1"), ylabel=label(name, unit))
    return panels(*axes)


def _value(form: RunTimeForm, name: str) -> float:
    return 100.0 * form.error if name == "error" else form.memory / 1e3
