"""House style: one appearance for all figures, independent of the user's matplotlib settings.

    @in_house_style
    def draw(...):
        figure = new_figure(10.0, 4.5)
        ...
        return figure

The settings are valid only inside the function; matplotlib's own settings do not change.
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
_COLOURS = 160  # colours of a picture
_MOST_NAMES = 14  # names in one column of a legend


def style_settings() -> dict[str, Any]:
    """Return the rcParams of the house style.

    Letters have at least 6 points if ten inches are scaled to a text width.
    """
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
    """Return a function that draws with the settings of the house style."""

    @wraps(draw)
    def draw_styled(*args: P.args, **options: P.kwargs) -> T:
        from matplotlib import rc_context

        with rc_context(style_settings()):  # type: ignore[arg-type]
            found = draw(*args, **options)
            _keep_ticks(found)
            return found

    return draw_styled


def new_figure(width: float = 10.0, height: float = 5.0) -> Any:
    """Return an empty figure of a size in inches, without a window manager.

    No window opens, and nothing needs to be closed.
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_picture(figure: Any, path: str | Path) -> Path:
    """Write a picture; a .png file has a reduced palette and a third of the size."""
    from PIL import Image  # a dependency of matplotlib

    content = BytesIO()
    figure.savefig(content, format="png")
    with Image.open(content) as image:
        image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    return Path(path)


def label(what: str, unit: str) -> str:
    """Return an axis label such as `rate / (rad/s)`; an unknown unit is shown as SI."""
    if not unit:
        return f"{what} / SI"
    return f"{what} / {f'({unit})' if any(mark in unit for mark in '/ ') else unit}"


def legend_beside(axes: Any, title: str | None = None) -> None:
    """Place the legend to the right of the axes, where it covers nothing."""
    handles, names = axes.get_legend_handles_labels()
    if names:
        axes.legend(
            handles, names, title=title, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0,
            ncols=-(-len(names) // _MOST_NAMES), alignment="left",
        )  # fmt: skip


def legend_above(axes: Any) -> None:
    """Place the legend in a row above the axes, for panels side by side."""
    handles, names = axes.get_legend_handles_labels()
    if names:
        axes.legend(
            handles, names, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.3, ncols=len(names),
            columnspacing=1.2,
        )  # fmt: skip


def plain_logarithm(axis: Any) -> None:
    """Label a logarithmic axis with plain numbers, 0.1, 1, 20, 500; within two decades also numbers in between."""
    low, high = sorted(axis.get_view_interval())
    few = low > 0.0 and high < 100.0 * low

    def write_number(value: float, _: Any = None) -> str:
        return f"{value:g}" if 1e-4 < value < 1e6 else f"{value:.0e}"

    def between(value: float, _: Any = None) -> str:
        return write_number(value) if few and f"{value:e}"[0] in "25" else ""

    axis.set_major_formatter(write_number)
    axis.set_minor_formatter(between)


def common_unit(units: Iterable[str]) -> str:
    """Return the common unit of several quantities, or all units if they differ."""
    return ", ".join(dict.fromkeys(units))


def _keep_ticks(found: Any) -> None:
    """Create the first tick of every axis now; otherwise matplotlib creates it later, with other settings."""
    for axes in getattr(found, "axes", ()):
        for name in ("xaxis", "yaxis", "zaxis"):
            axis = getattr(axes, name, None)
            if axis is not None:
                _ = axis.majorTicks, axis.minorTicks
