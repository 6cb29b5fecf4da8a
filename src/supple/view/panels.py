"""Return value of `plot`: the axes that were drawn, with methods to save and show their figure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from supple.diagnostics import InputError
from supple.view.house_style import new_figure

_NOTEBOOK = ("inline", "module://matplotlib_inline.backend_inline", "nbagg", "ipympl", "module://ipympl.backend_nbagg")
_SCREEN = 110  # dots per inch in a notebook


class Panels(tuple[Any, ...]):
    """Axes of matplotlib, one per panel, without colour bars.

    A single panel can be used as axes: `result.plot().set_title("as built")`. Panels can be given as `axes` of another
    `plot`, to overlay results: `reduced.plot(axes=full.plot())`.
    """

    @property
    def figure(self) -> Any:
        """Complete figure that contains the axes."""
        return root_figure(self[0])

    @property
    def axes(self) -> list[Any]:
        """Axes as a list."""
        return list(self)

    def savefig(self, path: str | Path | BytesIO, **options: Any) -> None:
        """Write the figure: .png, .svg, .pdf."""
        self.figure.savefig(path, **options)

    def show(self) -> None:
        """Show the figure in a window and wait for it, or below the cell of a notebook.

        Notebooks show figures without a call of `show`. If matplotlib cannot open windows, an `InputError` suggests
        `savefig`.
        """
        import matplotlib

        backend = str(matplotlib.get_backend())
        if backend.lower() in _NOTEBOOK:
            import_module("IPython.display").display(self)
        elif not opens_windows():
            raise InputError(
                f'matplotlib cannot open a window: its backend is "{backend}"', part="show",
                hint='write a file with plot().savefig("picture.png"), or set MPLBACKEND to an interactive backend',
            )  # fmt: skip
        else:
            import matplotlib.pyplot as plt

            register_figure(self.figure)
            plt.show()

    def _repr_png_(self) -> bytes:
        content = BytesIO()
        self.figure.savefig(content, format="png", dpi=_SCREEN)
        return content.getvalue()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or len(self) != 1:
            raise AttributeError(f"{len(self)} panels have no {name!r}; take one of them, as plot()[0], or .figure")
        return getattr(self[0], name)

    def __repr__(self) -> str:
        titles = [axes.get_title().split("\n")[0] or axes.get_ylabel() for axes in self]
        return f"<Panels: {', '.join(titles)}>"


def opens_windows() -> bool:
    """Return True if matplotlib's backend opens windows."""
    import matplotlib
    from matplotlib.backends import backend_registry

    module = backend_registry.load_backend_module(matplotlib.get_backend())
    return getattr(module.FigureCanvas, "required_interactive_framework", None) is not None


def register_figure(figure: Any) -> None:
    """Register a figure with pyplot, so that `pyplot.show()` opens it."""
    import matplotlib.pyplot as plt

    if figure.canvas.manager is None:
        plt.figure(FigureClass=lambda **options: figure)  # type: ignore[arg-type]


def register_results(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose figures are registered with pyplot.

    They are registered only if the caller has imported pyplot and windows can open.
    """
    if "matplotlib.pyplot" not in sys.modules:  # the caller cannot call pyplot.show()
        return draw

    @wraps(draw)
    def draw_registered(*given: Any, **options: Any) -> Any:
        found = draw(*given, **options)
        if isinstance(found, Panels) and opens_windows():
            register_figure(found.figure)
        return found

    return draw_registered


def panels(found: Any) -> Panels:
    """Return panels from axes, several of them, or all axes of a figure."""
    if isinstance(found, Panels):
        return found
    if hasattr(found, "add_subplot"):
        return Panels(one for one in found.axes if one.get_visible() and one.get_label() != "<colorbar>")
    return Panels(as_list(found))


def as_list(axes: Any) -> list[Any]:
    """Return one axes or several, in any arrangement of rows and columns, as a list."""
    if hasattr(axes, "ravel"):
        return list(axes.ravel())
    return [one for part in axes for one in as_list(part)] if isinstance(axes, Iterable) else [axes]


def one_of(axes: Any) -> Any:
    """Return the single panel for the whole plot."""
    (found,) = panel_axes(axes, 1)
    return found


def panel_axes(axes: Any, count: int) -> list[Any]:
    """Return axes for a number of panels; more may be given."""
    found = as_list(axes)
    if len(found) < count:
        raise InputError(f"{count} panels do not fit into {len(found)} axes", part="axes", hint=f"give {count} axes")
    return found[:count]


def panel_grid(axes: Any, size: tuple[float, float], rows: int, columns: int = 1, **options: Any) -> Any:
    """Return axes (rows, columns): the given ones, or those of a new figure of a size in inches."""
    if axes is None:
        return new_figure(*size).subplots(rows, columns, squeeze=False, **options)
    return np.array(panel_axes(axes, rows * columns), dtype=object).reshape(rows, columns)


def root_figure(axes: Any) -> Any:
    """Return the complete figure of axes or of a subfigure."""
    figure = axes.figure
    while getattr(figure, "figure", figure) is not figure:
        figure = figure.figure
    return figure
