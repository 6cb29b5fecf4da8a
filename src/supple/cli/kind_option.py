"""Options whose values are names of registered kinds (fits, export targets), and the class of all commands.

Registries are imported only when a value is checked or the help of the command is shown, so that `supple --help` starts
at once.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from operator import attrgetter
from typing import Any

import typer
from typer.core import TyperCommand

from supple.cli.answer import OPTIONS
from supple.cli.help_text import COST, MODEL, OUTPUT

_LAST = (MODEL, COST, OUTPUT)  # panels after those of a command's own options
_PLACES = {
    "fit": ("supple.approximation.fits.fits", "FITS"),
    "to": ("supple.export.export", "TARGETS"),
}


def kinds(option: str) -> Any:
    """Return the registry that an option chooses from."""
    module, name = _PLACES[option]
    return getattr(import_module(module), name)


def make_kind_check(option: str) -> Callable[[str], str]:
    """Return a callback that refuses names that are not registered."""

    def check(name: str) -> str:
        registry = kinds(option)
        if name not in registry:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(registry)}")
        return name

    return check


class Command(TyperCommand):
    """A command whose help states the defaults of its options, and lists the kinds that they choose from."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for param in self.params:
            _state_default(param)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all parameters in the order of their panels, without the types of flags."""
        panel = attrgetter("rich_help_panel")
        params = without_plain_types(super().get_params(ctx))
        return sorted(params, key=lambda param: _LAST.index(panel(param)) if panel(param) in _LAST else -1)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors can name its options."""
        OPTIONS.set(frozenset(name for param in self.params for name in param.opts))
        return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the kinds that may be chosen."""
        for option in self.params:
            if option.name in _PLACES and option.metavar:
                listed = "; ".join(f"{name}: {record.description}" for name, record in kinds(option.name).items())
                option.help = f"{option.help} {listed}."  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)


def _state_default(option: Any) -> None:
    """Write a default at the end of the help, `Default: 400.`, as docstrings have it; typer has a form of its own."""
    if option.param_type_name != "option" or not option.show_default:
        return
    value = option.default.value if isinstance(option.default, Enum) else option.default
    if isinstance(value, bool) and option.secondary_opts:
        value = (option.opts if value else option.secondary_opts)[0]
    if value is not None and not isinstance(value, bool | list | tuple) and str(value):
        option.help = f"{option.help or ''} Default: {value}.".strip()
    option.show_default = False


def without_plain_types(params: list[Any]) -> list[Any]:
    """Hide the type of flags (`<bool>`) and of named arguments (`<str>`) from the help."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
        if param.param_type_name == "argument" and param.metavar:
            param.display_type_rich = lambda ctx: None  # typer prints <str> otherwise
    return params
