"""The stabilisation diagram: poles over order and frequency, with the mode indicator behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.view.house_style import FAINT, INK, PALETTE, in_house_style, label, new_figure
from supple.view.panels import one_of, panels, root

if TYPE_CHECKING:
    from supple.identification.modal_parameters.modal_parameters import ModalParameters

_MARKS = (
    ("new", "x", FAINT, 12.0),
    ("frequency", "+", PALETTE[4], 18.0),
    ("frequency and damping", "^", PALETTE[5], 12.0),
    ("and participation", "o", PALETTE[2], 14.0),
)


def mode_indicator(H: NDArray[np.complex128]) -> NDArray[np.float64]:
    """CMIF (N, Ni): singular values of H (N, No, Ni) line by line; a peak of the second shows a second mode there."""
    return np.asarray(np.linalg.svd(H, compute_uv=False))


@in_house_style
def stabilisation_plot(found: ModalParameters, axes: Any = None) -> Any:
    """Poles of every order by what of them stayed, the modes that were kept as lines. Returns the panels."""
    axes = new_figure(10.0, 5.4).subplots() if axes is None else one_of(axes)
    hertz = found.responses.frequencies_hz
    behind = axes.twinx()
    values = mode_indicator(found.responses.H)
    for i in range(values.shape[1]):
        behind.plot(hertz, values[:, i], color=INK, alpha=0.55 / (1 + i), linewidth=0.9)
    behind.set_yscale("log")
    units = {found.responses.unit(o, i) for o in range(values.shape[1]) for i in range(1)}
    behind.set_ylabel(label("mode indicator", units.pop() if len(units) == 1 else ""))
    behind.grid(visible=False)
    axes.set_zorder(behind.get_zorder() + 1)
    axes.patch.set_visible(False)
    axes.grid(visible=False)
    diagram = found.stabilisation
    for level, (name, marker, colour, size) in enumerate(_MARKS):
        x, y = [], []
        for one, labels in zip(diagram.found, diagram.labels, strict=True):
            chosen = one.frequencies_hz[labels == level]
            x += chosen.tolist()
            y += [one.order] * len(chosen)
        filled = {"facecolors": "none"} if marker in "o^" else {}
        edge = {"edgecolors": colour} if marker in "o^" else {"color": colour}
        axes.scatter(x, y, s=size, marker=marker, linewidths=0.8, label=name, **filled, **edge)
    for r, f in enumerate(found.frequencies_hz):
        axes.axvline(f, color=PALETTE[1], linewidth=0.8, alpha=0.7, zorder=1, label="kept" if r == 0 else None)
    axes.set_xlabel(label("frequency", "Hz"))
    axes.set_ylabel(label("order", "1"))
    axes.set_xlim(hertz[0], hertz[-1])
    axes.set_title(f"{found.method}: {len(found)} modes", loc="left")
    handles, names = axes.get_legend_handles_labels()
    root(axes).legend(handles, names, loc="outside lower center", ncols=len(names), columnspacing=1.4)
    return panels(axes)
