"""The house style: one look for everything that is drawn, whatever the user's own settings of matplotlib are.

    @in_house_style
    def draw(...):
        figure = new_figure(10.0, 4.5)
        ...
        return figure

Settings hold inside the function alone; nothing is left behind in matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

PALETTE = ("#3b6ea8", "#c8553d", "#4f8f5b", "#8a5fa0", "#b8862b", "#3a9a9a", "#b5527d", "#6b6b6b")
INK, FAINT, GRID = "#2b2b2b", "#9a9a9a", "#e8e8e8"
DPI = 160  # ten inches are 1600 pixels
_COLOURS = 160  # of a picture
_MOST_NAMES = 14  # in one column of a legend


def style_settings() -> dict[str, Any]:
    """The rcParams of the house: where ten inches become the width of a text, letters have 6 points at least."""
    from cycler import cycler

    return {
        "figure.dpi": DPI, "savefig.dpi": "figure", "figure.facecolor": "white", "axes.facecolor": "white",
        "font.family": "DejaVu Sans", "font.size": 10.5, "axes.labelsize": 10.5, "axes.titlesize": 10.5,
        "axes.titleweight": "normal", "xtick.labelsize": 9.5, "ytick.labelsize": 9.5, "legend.fontsize": 9.5,
        "legend.frameon": False, "legend.handlelength": 1.4, "lines.linewidth": 1.4, "lines.markersize": 4.0,
        "axes.prop_cycle": cycler(color=PALETTE), "axes.grid": True, "axes.axisbelow": True, "grid.color": GRID,
        "grid.linewidth": 0.8, "axes.edgecolor": "#bbbbbb", "axes.labelcolor": INK, "axes.titlecolor": INK,
        "text.color": INK, "xtick.color": "#bbbbbb", "ytick.color": "#bbbbbb", "xtick.labelcolor": "#555555",
        "ytick.labelcolor": "#555555", "axes.spines.top": False, "axes.spines.right": False,
        "axes.formatter.useoffset": False, "axes.formatter.limits": (-4, 5), "image.cmap": "viridis",
        "xtick.minor.visible": False, "ytick.minor.visible": False,
    }  # fmt: skip


def in_house_style(draw: Callable[P, T]) -> Callable[P, T]:
    """A function that draws, with the settings of the house while it runs."""

    @wraps(draw)
    def styled(*args: P.args, **options: P.kwargs) -> T:
        from matplotlib import rc_context

        with rc_context(style_settings()):  # type: ignore[arg-type]
            found = draw(*args, **options)
            _keep_ticks(found)
            return found

    return styled


def new_figure(width: float = 10.0, height: float = 5.0) -> Any:
    """An empty figure, inches; made without a window manager, so that no window opens and nothing need be closed."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_picture(figure: Any, path: str | Path) -> Path:
    """Write a .png of few colours: a third of the size, and the same to the eye."""
    from PIL import Image  # matplotlib's own

    content = BytesIO()
    figure.savefig(content, format="png")
    with Image.open(content) as image:
        image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    return Path(path)


def label(what: str, unit: str) -> str:
    """`rate / (rad/s)`; where a unit is not known, all that is said is that it is SI."""
    if not unit:
        return f"{what} / SI"
    return f"{what} / {f'({unit})' if any(mark in unit for mark in '/ ') else unit}"


def legend_beside(axes: Any, title: str | None = None) -> None:
    """The names of the curves to the right of the axes, where they cover nothing."""
    handles, names = axes.get_legend_handles_labels()
    if names:
        axes.legend(
            handles, names, title=title, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0,
            ncols=-(-len(names) // _MOST_NAMES), alignment="left",
        )  # fmt: skip


def legend_above(axes: Any) -> None:
    """The same in a row above the axes, where panels stand side by side."""
    handles, names = axes.get_legend_handles_labels()
    if names:
        axes.legend(
            handles, names, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.3, ncols=len(names),
            columnspacing=1.2,
        )  # fmt: skip


def plain_logarithm(axis: Any) -> None:
    """Numbers as they are read, 0.1, 1, 20, 500, on a logarithmic axis; within two decades those between as well."""
    low, high = sorted(axis.get_view_interval())
    few = low > 0.0 and high < 100.0 * low

    def written(value: float, _: Any = None) -> str:
        return f"{value:g}" if 1e-4 < value < 1e6 else f"{value:.0e}"

    def between(value: float, _: Any = None) -> str:
        return written(value) if few and f"{value:e}"[0] in "25" else ""

    axis.set_major_formatter(written)
    axis.set_minor_formatter(between)


def common_unit(units: Iterable[str]) -> str:
    """The one unit of several things, or all of them."""
    return ", ".join(dict.fromkeys(units))


def _keep_ticks(found: Any) -> None:
    """Make the first tick of every axis now: matplotlib would make them when it draws, with the settings of then."""
    for axes in getattr(found, "axes", ()):
        for name in ("xaxis", "yaxis", "zaxis"):
            axis = getattr(axes, name, None)
            if axis is not None:
                _ = axis.majorTicks, axis.minorTicks
