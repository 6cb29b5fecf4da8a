"""A simulated test: its responses, and dashed over them those of the model that it was made with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view.bode_plot import unwrapped_phase
from supple.view.house_style import INK, in_house_style
from supple.view.responses_plot import responses_plot

if TYPE_CHECKING:
    from supple.identification.testing.virtual_test import VirtualTest

_FEW = 3  # pairs that are drawn where none is named: with the model over them, more are a tangle


@in_house_style
def virtual_test_plot(
    test: VirtualTest, pairs: Sequence[tuple[str, str]] = (), axes: Sequence[Any] | None = None
) -> Any:
    """Draw pairs (response, reference), the first few if none is named. Returns the panels."""
    found = test.responses
    chosen = list(pairs) or [(a.name, b.name) for b in found.references for a in found.responses][:_FEW]
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
