"""Bode diagrams: magnitude and unwrapped phase over the logarithm of frequency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.view.house_style import PALETTE, in_house_style, label, legend_beside, new_figure, plain_logarithm
from supple.view.panels import as_list, panels, root_figure

if TYPE_CHECKING:
    from supple.results.frequency_response import FrequencyResponse

_REAL = 1e-9  # rad from half a turn: the response is real and negative


@in_house_style
def bode_plot(response: FrequencyResponse, axes: Sequence[Any] | None = None) -> Any:
    """Draw every output to every input: a panel of magnitudes for each unit, and one of phases. Returns the panels.

    axes : axes to draw in instead, one for each unit of magnitudes or one for all, and one for the phases
    """
    order = np.argsort(response.frequencies_hz, kind="stable")
    order = order[response.frequencies_hz[order] > 0.0]  # a logarithm has no zero
    if not len(order):
        raise InputError("the response has no frequency above 0 Hz", part="plot", hint="compute lines above 0 Hz")
    pairs = [(i, j) for i in range(len(response.outputs)) for j in range(len(response.inputs))]
    units = list(dict.fromkeys(response.units[i][j] for i, j in pairs))
    if axes is None:
        figure = new_figure(10.0, 2.2 + 2.2 * len(units))
        heights = (*[1.5] * len(units), 1.0)
        stack = figure.subplots(len(units) + 1, 1, sharex=True, height_ratios=heights)
        above = dict(zip(units, stack, strict=False))
        below = stack[-1]
    else:
        *stack, below = as_list(axes)
        above = dict(zip(units, stack, strict=True)) if len(stack) == len(units) else dict.fromkeys(units, stack[0])
    hertz = response.frequencies_hz[order]
    style = {"marker": "."} if len(hertz) < 3 else {}
    for n, (i, j) in enumerate(pairs):
        unit, values = response.units[i][j], response.values[order, i, j]
        name = f"{response.outputs[i]} from {response.inputs[j]}"
        above[unit].plot(hertz, np.abs(values), color=PALETTE[n % len(PALETTE)], label=name, **style)
        below.plot(hertz, unwrapped_phase(values), color=PALETTE[n % len(PALETTE)], **style)
    for unit, one in above.items():
        one.set(xscale="log", yscale="log")
        one.set_ylabel(label(response.kind, unit if len(set(above.values())) == len(units) else ", ".join(units)))
        if axes is None:
            one.tick_params(labelbottom=False)
        if len(pairs) > 1:
            legend_beside(one)
        else:
            one.set_title(f"{response.outputs[0]} from {response.inputs[0]}", loc="left")
    below.set_xscale("log")
    below.set_xlabel(label("frequency", "Hz"))
    below.set_ylabel(label("phase", "°"))
    _quarter_turns(below)
    if len(hertz) > 1:
        below.set_xlim(hertz[0], hertz[-1])
    plain_logarithm(below.xaxis)
    drawn_on = list(dict.fromkeys([*above.values(), below]))
    root_figure(below).align_ylabels(drawn_on)
    return panels(drawn_on)


def unwrapped_phase(values: NDArray[np.complex128]) -> NDArray[np.float64]:
    """Return the phase in degrees, without jumps of a whole turn; the first is at least -180 and below 180.

    Without damping a response is real and its phase jumps between 0 and -180, whichever way its zeros are rounded.
    """
    angle = np.angle(values)
    angle[angle > np.pi - _REAL] -= 2.0 * np.pi
    return np.asarray(np.degrees(np.unwrap(angle)), dtype=np.float64)


def _quarter_turns(axes: Any) -> None:
    """Set ticks at multiples of a quarter of a turn, fewer for a large range."""
    from matplotlib.ticker import MultipleLocator

    low, high = axes.get_ylim()
    low, high = min(low, -10.0), max(high, 10.0)
    axes.set_ylim(low, high)
    step = 90.0
    while (high - low) / step > 6:
        step *= 2.0
    axes.yaxis.set_major_locator(MultipleLocator(step))
