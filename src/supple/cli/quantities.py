"""Values with units on the command line: one, or several by name."""

from __future__ import annotations

from collections.abc import Iterable

import typer

from supple.cli.options import pieces


def quantity_of(text: str, option: str) -> float:
    """`2s`, `40deg` or `0.3` in SI; a mistake names the option."""
    from supple.description.expression import quantity
    from supple.diagnostics import InputError

    try:
        return quantity(text)
    except InputError as error:
        raise InputError(error.message, part=option, hint=error.hint) from None


def quantities_of(text: str, option: str, known: Iterable[str], kind: str) -> dict[str, float]:
    """`A=10,B=0` in SI, each name one of those known."""
    from supple.diagnostics import InputError, nearest

    names = list(known)
    found: dict[str, float] = {}
    for piece in pieces(text):
        name, equals, value = (item.strip() for item in piece.partition("="))
        if not equals or not name:
            raise typer.BadParameter(f"{piece!r} is not NAME=VALUE", param_hint=option)
        if name not in names:
            raise InputError(f'"{name}" is not {kind}', part=option, hint=nearest(name, names))
        found[name] = quantity_of(value, f"{option} {name}")
    return found
