"""Values with units on the command line: one, or several by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import typer

from supple.cli.options import pieces

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.description.quantities.dimension import Dimension

_PERCENT = 0.01
DimensionOf = Callable[[str], "Dimension | None"]


def relative(text: str | float) -> float:
    """`1e-3`, or `0.1%`: a number without a unit, of something."""
    if not isinstance(text, str):
        return float(text)
    number, percent, rest = text.strip().partition("%")
    try:
        if rest:
            raise ValueError
        return float(number) * (_PERCENT if percent else 1.0)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number such as 1e-3 or 0.1%") from None


def quantity_of(text: str, option: str, wanted: Dimension | None) -> float:
    """`2s`, `40deg` or `0.3` in SI; a mistake names the option.

    wanted : the dimension it must have unless it is a plain number; None for any
    """
    from supple.description.quantities.expression import quantity
    from supple.diagnostics import InputError

    try:
        return quantity(text, wanted)
    except InputError as error:
        raise InputError(error.message, part=option, hint=error.hint) from None


def dimension_by_name(mechanism: Mechanism, which: str = "value") -> DimensionOf:
    """The dimension of a coordinate or actuator by its name, or of its `rate`, `acceleration` or `force`.

    None for what is not of the mechanism: the arclength of a path, an elastic coordinate of a model.
    """
    from supple.description.quantities.coordinate_dimensions import coordinate_dimensions

    def dimension(name: str) -> Dimension | None:
        known = name in mechanism.actuators or mechanism.joint_coordinate(name) is not None
        return getattr(coordinate_dimensions(mechanism, name), which) if known else None

    return dimension


def quantities_of(text: str, option: str, known: Iterable[str], kind: str, wanted: DimensionOf) -> dict[str, float]:
    """`A=10,B=0` in SI, each name one of those known, each value of the dimension that is wanted of its name."""
    from supple.diagnostics import InputError, nearest

    names = list(known)
    found: dict[str, float] = {}
    for piece in pieces(text):
        name, equals, value = (item.strip() for item in piece.partition("="))
        if not equals or not name:
            raise typer.BadParameter(f"{piece!r} is not NAME=VALUE", param_hint=option)
        if name not in names:
            raise InputError(f'"{name}" is not {kind}', part=option, hint=nearest(name, names))
        found[name] = quantity_of(value, f"{option} {name}", wanted(name))
    return found
