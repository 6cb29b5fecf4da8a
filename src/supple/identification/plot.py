"""Plot of logged outputs and of the identified model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from supple.diagnostics import InputError
from supple.view.house_style import FAINT, PALETTE, in_house_style, label, legend_above
from supple.view.panels import panel_grid, panels

if TYPE_CHECKING:
    from supple.identification.identify import Identified


@in_house_style
def identified_plot(found: Identified, run: int, axes: Any = None) -> Any:
    """Draw each output as logged and as simulated, with its residual, and return the panels."""
    if not 0 <= run < len(found.runs):
        raise InputError(f"run must be 0 to {len(found.runs) - 1} (got {run})", part="plot")
    logged, left = found.runs[run], found.left[run]
    count = len(found.outputs)
    grid = panel_grid(axes, (10.0, 0.6 + 1.9 * count), count, 2, sharex=True, width_ratios=[1.6, 1.0])
    for k, (name, (both, rest)) in enumerate(zip(found.outputs, grid, strict=True)):
        true, unit = logged.measured[name], found.model.units.outputs.get(name, "")
        both.plot(logged.time, true, color=FAINT, linewidth=2.4, label="logged")
        both.plot(logged.time, true - left[:, k], color=PALETTE[0], linewidth=1.0, label="model")
        both.set_ylabel(label(name, unit))
        rest.plot(logged.time, left[:, k], color=PALETTE[1], linewidth=0.8)
        rest.set_ylabel(label("residual", unit))
    for one in grid[-1]:
        one.set_xlabel(label("time", "s"))
    legend_above(grid[0, 0])
    return panels(grid)
