"""What `plot` returns: the axes that were drawn, which know their figure, save it, and show it."""

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
_SCREEN = 110  # dots an inch in a notebook


class Panels(tuple[Any, ...]):
    """Axes of matplotlib, one a panel; bars of colours are not among them.

    Of a single panel it is used as if it were those axes: `result.plot().set_title("as built")`. It goes in where
    `plot` takes `axes`, so that one result is drawn over another: `reduced.plot(axes=full.plot())`.
    """

    @property
    def figure(self) -> Any:
        """The whole figure that they stand in."""
        return root_figure(self[0])

    @property
    def axes(self) -> list[Any]:
        """The same as a list."""
        return list(self)

    def savefig(self, path: str | Path | BytesIO, **options: Any) -> None:
        """Write the figure: .png, .svg, .pdf."""
        self.figure.savefig(path, **options)

    def show(self) -> None:
        """Show the figure: in a window that is waited for, or below the cell of a notebook.

        Pictures need no `show` in a notebook. Where matplotlib has no window to open, an `InputError` names `savefig`.
        """
        import matplotlib

        backend = str(matplotlib.get_backend())
        if backend.lower() in _NOTEBOOK:
            import_module("IPython.display").display(self)
        elif not opens_windows():
            raise InputError(
                f'matplotlib opens no window here: its backend is "{backend}"', part="show",
                hint='write a file, plot().savefig("picture.png"), or set MPLBACKEND to a backend with windows',
            )  # fmt: skip
        else:
            import matplotlib.pyplot as plt

            known_to_pyplot(self.figure)
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
    """Whether matplotlib's backend opens windows."""
    import matplotlib
    from matplotlib.backends import backend_registry

    module = backend_registry.load_backend_module(matplotlib.get_backend())
    return getattr(module.FigureCanvas, "required_interactive_framework", None) is not None


def known_to_pyplot(figure: Any) -> None:
    """Give a figure a window, which `pyplot.show()` then opens as it does those of `pyplot.figure()`."""
    import matplotlib.pyplot as plt

    if figure.canvas.manager is None:
        plt.figure(FigureClass=lambda **options: figure)  # type: ignore[arg-type]


def known_to_callers(draw: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; what it draws is known to pyplot where the caller has imported pyplot and windows can open."""
    if "matplotlib.pyplot" not in sys.modules:  # nobody can call pyplot.show()
        return draw

    @wraps(draw)
    def drawn(*given: Any, **options: Any) -> Any:
        found = draw(*given, **options)
        if isinstance(found, Panels) and opens_windows():
            known_to_pyplot(found.figure)
        return found

    return drawn


def panels(found: Any) -> Panels:
    """What was drawn: axes, several of them, or all of a figure."""
    if isinstance(found, Panels):
        return found
    if hasattr(found, "add_subplot"):
        return Panels(one for one in found.axes if one.get_visible() and one.get_label() != "<colorbar>")
    return Panels(as_list(found))


def as_list(axes: Any) -> list[Any]:
    """One axes or several, in whatever order of rows and columns, as a list."""
    if hasattr(axes, "ravel"):
        return list(axes.ravel())
    return [one for part in axes for one in as_list(part)] if isinstance(axes, Iterable) else [axes]


def one_of(axes: Any) -> Any:
    """The one panel that all is drawn into."""
    (found,) = panel_axes(axes, 1)
    return found


def panel_axes(axes: Any, count: int) -> list[Any]:
    """As many axes as there are panels to draw; more may be given."""
    found = as_list(axes)
    if len(found) < count:
        raise InputError(f"{count} panels do not fit into {len(found)} axes", part="axes", hint="give one for each")
    return found[:count]


def panel_grid(axes: Any, size: tuple[float, float], rows: int, columns: int = 1, **options: Any) -> Any:
    """Axes (rows, columns) to draw on: those given, or of a new figure of so many inches with `subplots(**options)`."""
    if axes is None:
        return new_figure(*size).subplots(rows, columns, squeeze=False, **options)
    return np.array(panel_axes(axes, rows * columns), dtype=object).reshape(rows, columns)


def root_figure(axes: Any) -> Any:
    """The whole figure that axes, or a part of a figure, stand in."""
    figure = axes.figure
    while getattr(figure, "figure", figure) is not figure:
        figure = figure.figure
    return figure
