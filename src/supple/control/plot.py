"""Plot of amplitude spectra, one panel per unit."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.results.closed_loop import Spectrum
from supple.view.house_style import in_house_style, label, legend_beside
from supple.view.panels import as_list, one_of, panel_grid, panels

_WIDTH, _PANEL, _LEAST = 8.0, 2.2, 3.4  # inches
_FLOOR = 1e-6  # of the largest amplitude: smaller ones are not drawn


@in_house_style
def spectrum_plot(spectrum: Spectrum, axes: Any = None) -> Any:
    """Draw the amplitudes of all signals, those of one unit in one panel, and return the panels.

    axes : axes to draw into: one for each unit, or one for all
    """
    units = list(dict.fromkeys(spectrum.units.get(name, "") for name in spectrum.amplitudes))
    if axes is not None and len(as_list(axes)) == 1:
        axes = one_of(axes)
        _draw(axes, spectrum, list(spectrum.amplitudes), units[0] if len(units) == 1 else "")
        axes.set_xlabel(label("frequency", "Hz"))
        return panels(axes)
    stack = panel_grid(axes, (_WIDTH, max(_LEAST, 0.6 + _PANEL * len(units))), len(units), sharex=True)[:, 0]
    for one, unit in zip(stack, units, strict=True):
        _draw(one, spectrum, [name for name in spectrum.amplitudes if spectrum.units.get(name, "") == unit], unit)
    stack[-1].set_xlabel(label("frequency", "Hz"))
    return panels(stack)


def _draw(axes: Any, spectrum: Spectrum, names: list[str], unit: str) -> None:
    largest = max(float(np.max(spectrum[name])) for name in names)
    for name in names:
        axes.loglog(spectrum.frequencies_hz, spectrum[name], label=name)
    if largest > 0.0:
        axes.set_ylim(_FLOOR * largest, 2.0 * largest)
    axes.set_ylabel(label(names[0] if len(names) == 1 else "amplitude", unit))
    if len(names) > 1:
        legend_beside(axes)
