"""Measured responses and the modal model that was fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.view.house_style import FAINT, PALETTE, in_house_style, label, legend_beside, new_figure
from supple.view.panels import panels, places

if TYPE_CHECKING:
    from supple.identification.modal_parameters.modal_parameters import ModalParameters

_FEW = 4  # pairs that are drawn where none is named


@in_house_style
def fitted_plot(found: ModalParameters, pairs: Sequence[tuple[str, str]] = (), axes: Any = None) -> Any:
    """A panel for each pair (response, reference): magnitudes as measured, fitted and left over. Returns the panels.

    pairs : the ones with the best fit and the worst among them if none is named
    """
    test = found.responses
    H, fitted = test.H, found.synthesised()
    chosen = [(test.response(a), test.reference(b)) for a, b in pairs] or _telling(found)
    if axes is None:
        figure = new_figure(10.0, 0.8 + 1.9 * len(chosen))
        stack = list(figure.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0])
    else:
        stack = places(axes, len(chosen))
    hertz = test.frequencies_hz
    for axes, (o, i) in zip(stack, chosen, strict=True):
        axes.plot(hertz, np.abs(H[:, o, i]), color=FAINT, linewidth=2.2, label="measured")
        axes.plot(hertz, np.abs(fitted[:, o, i]), color=PALETTE[0], linewidth=1.0, label="fitted")
        axes.plot(hertz, np.abs(H[:, o, i] - fitted[:, o, i]), color=PALETTE[1], linewidth=0.6, label="left over")
        for f in found.frequencies_hz:
            axes.axvline(f, color=FAINT, linewidth=0.6, linestyle=":")
        axes.set_yscale("log")
        axes.set_ylabel(label(test.kind if test.kind != "responses" else "response", test.unit(o, i)))
        name = f"{test.responses[o].name} from {test.references[i].name}"
        axes.set_title(f"{name}: assurance {found.assurance[o, i]:.4f}", loc="left")
    legend_beside(stack[0])
    stack[-1].set_xlabel(label("frequency", "Hz"))
    stack[-1].set_xlim(hertz[0], hertz[-1])
    return panels(stack)


def _telling(found: ModalParameters) -> list[tuple[int, int]]:
    """Pairs spread over how well they are fitted, from the best to the worst."""
    order = np.argsort(-found.assurance, axis=None)
    places = np.unique(np.linspace(0, len(order) - 1, min(_FEW, len(order))).astype(int))
    return [(int(k) // found.assurance.shape[1], int(k) % found.assurance.shape[1]) for k in order[places]]
