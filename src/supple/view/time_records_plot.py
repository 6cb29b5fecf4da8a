"""Records of a test over time: one panel a channel, records over one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.diagnostics import InputError, nearest
from supple.view.house_style import PALETTE, in_house_style, label, new_figure
from supple.view.panels import panels, places

if TYPE_CHECKING:
    from supple.results.time_records import TimeRecords

_FEW = 4  # channels that are drawn where none is named


@in_house_style
def time_records_plot(records: TimeRecords, names: Sequence[str] = (), axes: Sequence[Any] | None = None) -> Any:
    """Draw channels by name, the first few if none is named. Returns the panels."""
    known = [one.name for one in records.channels]
    for name in names:
        if name not in known:
            raise InputError(f'there is no channel "{name}"', part="plot", hint=nearest(name, known))
    chosen = [known.index(name) for name in names] or list(range(min(_FEW, len(known))))
    if axes is None:
        figure = new_figure(10.0, 0.8 + 1.7 * len(chosen))
        drawn_on = list(figure.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0])
    else:
        drawn_on = places(axes, len(chosen))
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
