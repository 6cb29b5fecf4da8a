"""A mechanism and its reduced model over time: what deforms in both, how far they are apart, and their spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from supple.diagnostics import InputError, nearest
from supple.results.resonances import power_spectrum
from supple.results.time_comparison import FULL, REDUCED, TimeComparison
from supple.view.house_style import PALETTE, in_house_style, label, legend_beside, new_figure

_WIDTH, _TALL, _LOW = 10.0, 1.9, 1.1  # inches: of the figure, and heights of its panels
_MOST = 3  # outputs, where none is named
_DECADES = 5.0  # of power that a spectrum shows
_BEYOND = 2.0  # times the highest resonance that a spectrum goes to


@in_house_style
def comparison_plot(found: TimeComparison, names: Sequence[str] = ()) -> Any:
    """Draw each output in two panels, elastic parts (or the output) of both and their difference, then the spectra."""
    for name in names:
        if name not in found.names:
            raise InputError(f'there is no output "{name}" to compare', hint=nearest(name, found.names))
    chosen = list(names) or _telling(found)
    if not chosen:
        raise InputError("there is no output to draw", part="plot", hint="add a sensor")
    frequency, power = _spectra(found, chosen)
    heights = [_TALL, _LOW] * len(chosen) + [_TALL] * bool(len(frequency))
    figure = new_figure(_WIDTH, 0.8 + sum(heights))
    panels = figure.subplots(len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for i, name in enumerate(chosen):
        _draw(found, name, panels[2 * i], panels[2 * i + 1])
    last = panels[2 * len(chosen) - 1]
    for one in panels[: 2 * len(chosen)]:
        one.sharex(last)
        one.tick_params(labelbottom=one is last)
    last.set_xlabel(label("time", "s"))
    if len(frequency):
        _draw_spectra(found, panels[-1], frequency, power)
    figure.align_ylabels(list(panels))
    return figure


def _telling(found: TimeComparison) -> list[str]:
    """The outputs that deform most, in their order."""
    elastic = found.elastic[FULL]
    size = {name: float(np.abs(elastic[name]).max(initial=0.0)) if name in elastic else 0.0 for name in found.names}
    largest = max(size.values(), default=0.0)
    most = sorted(found.names, key=lambda name: -size[name])[:_MOST]
    return [name for name in found.names if name in most and size[name] >= 1e-6 * largest]


def _draw(found: TimeComparison, name: str, above: Any, below: Any) -> None:
    elastic, unit = name in found.elastic[FULL], found.full.seen.units.get(name, "")
    both = {which: found.elastic[which][name] if elastic else found.seen(which, name) for which in (FULL, REDUCED)}
    above.plot(found.time, both[FULL], label="mechanism")
    above.plot(found.time, both[REDUCED], "--", label="reduced model")
    above.set_ylabel(label(f"{name}, elastic" if elastic else name, unit))
    legend_beside(above)
    below.plot(found.time, 100.0 * found.difference[name] / found.scales[name], color=PALETTE[3])
    below.set_ylabel(label("difference", "%"))


def _spectra(found: TimeComparison, names: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    moving = [name for name in names if name in found.elastic[FULL] and np.ptp(found.elastic[FULL][name]) > 0.0]
    if not moving:
        return np.zeros(0), {}
    power, frequency = {}, np.zeros(0)
    for which in (FULL, REDUCED):
        signals = np.stack([found.elastic[which][name] for name in moving], axis=1)
        frequency, power[which] = power_spectrum(found.time, signals)
    return frequency, power


def _draw_spectra(found: TimeComparison, axes: Any, frequency: Any, power: dict[str, Any]) -> None:
    shown = found.frequencies_hz[FULL]
    high = _BEYOND * float(shown.max()) if len(shown) else float(frequency[-1])
    inside = frequency <= high
    top = max(float(values[inside].max()) for values in power.values()) or 1.0
    for which, style, name in ((FULL, "-", "mechanism"), (REDUCED, "--", "reduced model")):
        axes.semilogy(frequency[inside], np.maximum(power[which][inside] / top, 10.0**-_DECADES), style, label=name)
    for place in shown:
        axes.axvline(place, color="#bbbbbb", linewidth=0.8, zorder=0)
    axes.set_xlim(0.0, high)
    axes.set_xlabel(label("frequency", "Hz"))
    axes.set_ylabel(label("power", "largest"))
    legend_beside(axes)
