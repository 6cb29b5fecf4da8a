"""Plots of modal parameters: fitted responses, stabilisation diagram and MAC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.view.house_style import FAINT, INK, PALETTE, in_house_style, label, legend_beside, new_figure
from supple.view.panels import one_of, panel_grid, panels, root_figure

if TYPE_CHECKING:
    from supple.identification.modal_parameters.modal_parameters import ModalParameters


_FEW = 4  # pairs that are drawn if none is named


@in_house_style
def fitted_plot(found: ModalParameters, pairs: Sequence[tuple[str, str]] = (), axes: Any = None) -> Any:
    """Draw the magnitudes of pairs (response, reference) as measured and fitted, with residuals; return the panels.

    pairs : Default: pairs from the best fit to the worst
    """
    test = found.responses
    H, fitted = test.H, found.synthesise()
    chosen = [(test.response(a), test.reference(b)) for a, b in pairs] or _spread_pairs(found)
    stack = panel_grid(axes, (10.0, 0.8 + 1.9 * len(chosen)), len(chosen), sharex=True)[:, 0]
    hertz = test.frequencies_hz
    for axes, (o, i) in zip(stack, chosen, strict=True):
        axes.plot(hertz, np.abs(H[:, o, i]), color=FAINT, linewidth=2.2, label="measured")
        axes.plot(hertz, np.abs(fitted[:, o, i]), color=PALETTE[0], linewidth=1.0, label="fitted")
        axes.plot(hertz, np.abs(H[:, o, i] - fitted[:, o, i]), color=PALETTE[1], linewidth=0.6, label="residual")
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


def _spread_pairs(found: ModalParameters) -> list[tuple[int, int]]:
    """Return pairs from the best fit to the worst."""
    order = np.argsort(-found.assurance, axis=None)
    places = np.unique(np.linspace(0, len(order) - 1, min(_FEW, len(order))).astype(int))
    return [(int(k) // found.assurance.shape[1], int(k) % found.assurance.shape[1]) for k in order[places]]


# Stabilisation diagram: poles over order and frequency, with the mode indicator in the background.


_MARKS = (
    ("new", "x", FAINT, 12.0),
    ("frequency", "+", PALETTE[4], 18.0),
    ("frequency and damping", "^", PALETTE[5], 12.0),
    ("and participation", "o", PALETTE[2], 14.0),
)


def mode_indicator(H: NDArray[np.complex128]) -> NDArray[np.float64]:
    """Return the CMIF (N, Ni): singular values of H (N, No, Ni) at each line.

    A peak of the second value shows a second mode.
    """
    return np.asarray(np.linalg.svd(H, compute_uv=False))


@in_house_style
def stabilisation_plot(found: ModalParameters, axes: Any = None) -> Any:
    """Draw the poles of every order, marked by what is stable, and the selected modes as lines; return the panels."""
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
    root_figure(axes).legend(handles, names, loc="outside lower center", ncols=len(names), columnspacing=1.4)
    return panels(axes)


# Matrix of modal assurance criteria (MAC), by colour and number.


_DARK = 0.55  # MAC above which letters are white
_MANY = 16  # modes per side, above which numbers would be illegible
_SMALL = 0.005  # smaller values have no number


@in_house_style
def mac_plot(
    values: Array,
    rows_hz: Array,
    columns_hz: Array | None = None,
    *,
    framed: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
    axes: Any = None,
) -> Any:
    """Draw a MAC matrix with rows at rows_hz and columns at columns_hz (default: the same); `framed` are pairs."""
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
