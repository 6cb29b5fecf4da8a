"""How a result reaches what draws it: by name, when it is drawn.

What draws stands above what it draws; a result only knows the place of its plot.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def picture(name: str) -> Callable[..., Any]:
    """Import the plotting function at `name`, its place below `supple`: "statics.plot.compliance_plot".

    Where the caller has imported pyplot and its backend opens windows, `pyplot.show()` shows the plot as any other.
    """
    module, _, function = name.rpartition(".")
    draw = getattr(import_module(f"supple.{module}"), function)
    return import_module("supple.view.panels").known_to_callers(draw)
