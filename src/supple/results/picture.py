"""How a result reaches what draws it: by name, when it is drawn.

Everything that draws is in `supple.view`, above what it draws; a result only knows the name of its picture.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def picture(name: str) -> Callable[..., Any]:
    """The function of that name in the file of `supple.view` of the same name; a new picture is one new file there.

    `folder.name` is the file of that name in a folder there. Where the caller has imported pyplot and its backend opens
    windows, `pyplot.show()` shows the picture as any other.
    """
    draw = getattr(import_module(f"supple.view.{name}"), name.rpartition(".")[2])
    return import_module("supple.view.panels").known_to_callers(draw)
