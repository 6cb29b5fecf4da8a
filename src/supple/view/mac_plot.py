"""A matrix of modal assurance criteria: how alike shapes are, by colour and number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.view.house_style import INK, PALETTE, in_house_style, label, new_figure
from supple.view.panels import one_of, panels

Array = NDArray[np.float64]

_DARK = 0.55  # from which on letters are white
_MANY = 16  # modes a side, above which numbers would not be legible
_SMALL = 0.005  # not written


@in_house_style
def mac_plot(
    values: Array,
    rows_hz: Array,
    columns_hz: Array | None = None,
    *,
    framed: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
    axes: Any = None,
) -> Any:
    """Rows are modes at rows_hz, columns at columns_hz (the same if left out); `framed` are pairs."""
    from matplotlib.patches import Rectangle

    a, b = values.shape
    axes = new_figure(3.0 + 0.5 * b, 1.6 + 0.42 * a).subplots() if axes is None else one_of(axes)
    drawn = axes.imshow(values, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    if max(a, b) <= _MANY:
        for i, j in np.argwhere(values > _SMALL):
            ink = "white" if values[i, j] > _DARK else INK
            axes.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center", fontsize=7, color=ink)
    for left, right in framed:
        i, j = min(left), min(right)
        height, width = max(left) - i + 1, max(right) - j + 1
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), width, height, fill=False, edgecolor=PALETTE[1], linewidth=1.6))
    axes.grid(visible=False)
    other = rows_hz if columns_hz is None else columns_hz
    axes.set_yticks(range(a), [f"{f:.4g}" for f in rows_hz])
    if len(other) == b:
        axes.set_xticks(range(b), [f"{f:.4g}" for f in other], rotation=90)
    own = columns_hz is None or (len(other) == a and np.array_equal(rows_hz, other))
    axes.set_ylabel(label("frequency" if own else "measured frequency", "Hz"))
    axes.set_xlabel(label("frequency" if own else "frequency of the model", "Hz"))
    axes.figure.colorbar(drawn, ax=axes).set_label(label("MAC", "1"))
    return panels(axes)
