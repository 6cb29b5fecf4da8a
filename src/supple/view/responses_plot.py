"""Measured responses: magnitudes and phases over frequency, and the coherence where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.diagnostics import InputError
from supple.view.bode_plot import unwrapped_phase
from supple.view.house_style import PALETTE, common_unit, in_house_style, label, legend_beside, new_figure
from supple.view.panels import as_list, panels

if TYPE_CHECKING:
    from supple.results.responses import Responses

_FEW = 6  # pairs that are drawn where none is named


@in_house_style
def responses_plot(test: Responses, pairs: Sequence[tuple[str, str]] = (), axes: Sequence[Any] | None = None) -> Any:
    """Draw pairs (response, reference), the first few if none is named. Returns the panels.

    axes : where to draw instead, one for magnitudes and one for phases
    """
    chosen = list(pairs) or [(a.name, b.name) for b in test.references for a in test.responses][:_FEW]
    numbers = [(test.response(a), test.reference(b)) for a, b in chosen]
    above = test.frequencies_hz > 0.0
    if not above.any() or not numbers:
        raise InputError("it has no line above 0 Hz to draw", part="plot", hint="give some lines")
    hertz = test.frequencies_hz[above]
    if axes is None:
        count = 2 if test.coherence is None else 3
        figure = new_figure(10.0, 2.6 + 1.6 * count)
        stack = list(figure.subplots(count, 1, sharex=True, height_ratios=(2.0, *[1.0] * (count - 1))))
    else:
        stack = as_list(axes)
    for n, ((a, b), (i, j)) in enumerate(zip(chosen, numbers, strict=True)):
        style = {"color": PALETTE[n % len(PALETTE)]}
        values = test.H[above, i, j]
        stack[0].plot(hertz, np.abs(values), label=f"{a} from {b}", **style)
        stack[1].plot(hertz, unwrapped_phase(values), **style)
        if test.coherence is not None and len(stack) > 2:
            stack[2].plot(hertz, test.coherence[above, i, j], **style)
    stack[0].set_yscale("log")
    stack[0].set_ylabel(label(test.kind, common_unit(test.unit(i, j) for i, j in numbers)))
    stack[1].set_ylabel(label("phase", "°"))
    if len(stack) > 2:
        stack[2].set_ylabel(label("coherence", "1"))
        stack[2].set_ylim(-0.02, 1.05)
    legend_beside(stack[0])
    left = len(test.responses) * len(test.references) - len(chosen)
    if axes is None and left:
        stack[0].set_title(f"{len(chosen)} of {left + len(chosen)} pairs", loc="left")
    stack[-1].set_xlabel(label("frequency", "Hz"))
    stack[-1].set_xlim(hertz[0], hertz[-1])
    return panels(stack)
