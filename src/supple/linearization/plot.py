"""Plot of the poles of linear models in the complex plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.view.house_style import INK, in_house_style, label, legend_beside, new_figure
from supple.view.panels import one_of, panels

_WIDE = 1e3  # largest over smallest magnitude: above it, axes are logarithmic on both sides of zero
_ZERO = 1e-9  # of the largest: smaller magnitudes are zero


@in_house_style
def pole_plot(groups: Mapping[str, NDArray[np.complex128]], step: float | None = None, axes: Any = None) -> Any:
    """Draw poles by group with the stability limit, and return the panels.

    groups : {name: poles, 1/s}; in discrete time, if step is given, poles without unit
    """
    axes = new_figure(8.0, 5.0).subplots() if axes is None else one_of(axes)
    marks = ("x", "o", "+", "s")
    for n, (name, poles) in enumerate(groups.items()):
        mark = marks[n % len(marks)]
        face = {"markerfacecolor": "none"} if mark in "os" else {}
        axes.plot(poles.real, poles.imag, linestyle="none", marker=mark, markersize=6.0, label=name, **face)
    everything = np.concatenate([np.ravel(poles) for poles in groups.values()])
    if step is None:
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.set_xlabel(label("real part", "1/s"))
        axes.set_ylabel(label("imaginary part", "rad/s"))
        _spread(axes, everything)
    else:
        turn = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 361))
        axes.plot(turn.real, turn.imag, color=INK, linewidth=0.8)
        axes.set_xlabel(label("real part", "1"))
        axes.set_ylabel(label("imaginary part", "1"))
        axes.set_aspect("equal")
    if len(groups) > 1:
        legend_beside(axes)
    return panels(axes)


def _spread(axes: Any, poles: NDArray[np.complex128]) -> None:
    size = np.abs(poles)
    largest = float(size.max(initial=0.0))
    if np.abs(poles.real).max(initial=0.0) < _ZERO * largest:  # no damping: real parts are rounding errors
        axes.set_xlim(-0.5 * largest, 0.5 * largest)
        return
    size = size[size > _ZERO * size.max(initial=0.0)]
    if len(size) and size.max() > _WIDE * size.min():
        for set_scale in (axes.set_xscale, axes.set_yscale):
            set_scale("symlog", linthresh=float(size.min()))
    axes.margins(0.08)
