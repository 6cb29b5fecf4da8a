"""Errors of coefficients, a bar for each family."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.view.house_style import PALETTE, in_house_style, label, legend_beside, new_figure
from supple.view.panels import Panels, panels

_LEAST = 1e-10  # where the axis begins: what is smaller is rounding
_WORDS = {
    "M": "inertia", "K": "stiffness", "christoffel": "Christoffel symbols", "Γ": "Christoffel symbols",
    "force": "forces", "p": "forces", "damping": "damping", "input_map": "map of inputs", "outputs": "outputs",
    "frequencies": "natural frequencies, actuators locked", "friction_map": "map of friction",
    "mass_curvature": "second slopes of the inertia", "∂²M": "second slopes of the inertia",
    "output_modes": "outputs, of the deformation", "efforts": "forces inside",
}  # fmt: skip


def meaning(family: str) -> str:
    """What a family of coefficients is, in words; nothing of one that is not known."""
    return _WORDS.get(family) or _WORDS.get(family.partition("_")[0], "")


@in_house_style
def error_bars(
    errors: Mapping[str, float], fresh: Mapping[str, float] | None = None, wanted: float | None = None
) -> Panels:
    """errors : family -> largest; fresh : at points the fit has not seen, marks; wanted : the tolerance, a line."""
    rows = np.arange(len(errors))[::-1]
    axes = new_figure(8.6, 0.9 + 0.27 * len(errors)).subplots()
    axes.barh(rows, [max(value, _LEAST) for value in errors.values()], height=0.62, color=PALETTE[0], label="stated")
    known = [(row, fresh[name]) for row, name in zip(rows, errors, strict=True) if name in fresh] if fresh else []
    if known:
        x, y = [max(value, _LEAST) for _, value in known], [row for row, _ in known]
        axes.plot(x, y, "D", color=PALETTE[1], markersize=4.5, label="fresh points")
    if wanted is not None:
        axes.axvline(wanted, color=PALETTE[3], linewidth=1.2, linestyle="--", label="tolerance")
    axes.set_xscale("log")
    axes.set_xlim(left=_LEAST)
    axes.set_yticks(rows, list(errors))
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(label("relative error", "1"))
    if known or wanted is not None:
        legend_beside(axes)
    return panels(axes)
