"""Options whose values are names of kinds: fits, exports.

What there is is looked up in the registry when a value or the help is asked for, and not before: registries import what
their records are made of, and `supple --help` shall start at once.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand

_PLACES = {
    "fit": ("supple.approximation.fits.fits", "FITS"),
    "to": ("supple.export.export", "TARGETS"),
}


def kinds(option: str) -> Any:
    """The registry that an option of this name chooses from."""
    module, name = _PLACES[option]
    return getattr(import_module(module), name)


def known(option: str) -> Callable[[str], str]:
    """A callback that refuses what is not in the registry."""

    def check(name: str) -> str:
        registry = kinds(option)
        if name not in registry:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(registry)}")
        return name

    return check


class ListsKinds(TyperCommand):
    """A command whose help lists the kinds that its options choose from."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for option in self.params:
            if option.name in _PLACES:
                listed = "; ".join(f"{name}: {record.says}" for name, record in kinds(option.name).items())
                option.help = f"{option.help} {listed}."  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)
