"""Plots of tests: time records, measured responses with their phase and coherence, and simulated tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.diagnostics import InputError, require_known
from supple.frequency_response.plot import unwrapped_phase
from supple.view.house_style import INK, PALETTE, common_unit, in_house_style, label, legend_beside, new_figure
from supple.view.panels import as_list, panel_grid, panels

if TYPE_CHECKING:
    from supple.identification.testing.virtual_test import VirtualTest
    from supple.results.responses import Responses
    from supple.results.time_records import TimeRecords


# Time records of a test: one panel for each channel, with all its records.


_CHANNELS = 4  # that are drawn if none is named


@in_house_style
def time_records_plot(records: TimeRecords, names: Sequence[str] = (), axes: Sequence[Any] | None = None) -> Any:
    """Draw channels by name, the first few if none is named, and return the panels."""
    known = [one.name for one in records.channels]
    for name in names:
        require_known("channel", name, known, part="plot")
    chosen = [known.index(name) for name in names] or list(range(min(_CHANNELS, len(known))))
    drawn_on = panel_grid(axes, (10.0, 0.8 + 1.7 * len(chosen)), len(chosen), sharex=True)[:, 0]
    both = np.concatenate([records.x, records.y], axis=1)
    for panel, k in zip(drawn_on, chosen, strict=True):
        one = records.channels[k]
        for n in range(records.count):
            panel.plot(records.time, both[n, k], color=PALETTE[n % len(PALETTE)], lw=1.0)
        if records.full_scale is not None and np.abs(both[:, k]).max() >= 0.9 * records.full_scale[k]:
            for end in (-1.0, 1.0):
                panel.axhline(end * records.full_scale[k], color="#c8553d", lw=0.8, ls=":")
        panel.set_ylabel(label(one.quantity, one.unit))
        panel.set_title(one.name + (f", {records.count} records" if records.count > 1 else ""), loc="left", fontsize=9)
    drawn_on[-1].set_xlabel(label("time", "s"))
    return panels(drawn_on)


# Simulated test: its responses, with the exact ones of the model dashed.


_PAIRS = 3  # pairs that are drawn if none is named; more are illegible with the model over them


@in_house_style
def virtual_test_plot(
    test: VirtualTest, pairs: Sequence[tuple[str, str]] = (), axes: Sequence[Any] | None = None
) -> Any:
    """Draw pairs (response, reference), the first few if none is named, and return the panels."""
    found = test.responses
    chosen = list(pairs) or [(a.name, b.name) for b in found.references for a in found.responses][:_PAIRS]
    panels = responses_plot(found, chosen, axes)
    above = test.exact.frequencies_hz > 0.0
    hertz = test.exact.frequencies_hz[above]
    for n, pair in enumerate(chosen):
        values = test.exact[pair][above]
        style = {"color": INK, "ls": "--", "lw": 0.8, "label": "the model" if n == 0 else None}
        panels[0].plot(hertz, np.abs(values), **style)
        shift = np.median(unwrapped_phase(found[pair][found.frequencies_hz > 0.0]) - unwrapped_phase(values))
        panels[1].plot(hertz, unwrapped_phase(values) + 360.0 * np.round(shift / 360.0), **style)
    if axes is None:
        from supple.view.house_style import legend_beside

        legend_beside(panels[0])
    return panels


_FEW = 6  # pairs that are drawn if none is named


@in_house_style
def responses_plot(test: Responses, pairs: Sequence[tuple[str, str]] = (), axes: Sequence[Any] | None = None) -> Any:
    """Draw pairs (response, reference), the first few if none is named, and return the panels.

    axes : axes to draw on, one for magnitudes and one for phases. Default: a new figure
    """
    chosen = list(pairs) or [(a.name, b.name) for b in test.references for a in test.responses][:_FEW]
    numbers = [(test.response(a), test.reference(b)) for a, b in chosen]
    above = test.frequencies_hz > 0.0
    if not above.any() or not numbers:
        raise InputError("the responses have no line above 0 Hz", part="plot", hint="give lines above 0 Hz")
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
