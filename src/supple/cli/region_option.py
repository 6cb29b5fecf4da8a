"""`--region`, `--vary` and `--boxes`: what their texts mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from supple.cli.options import pieces
from supple.cli.quantities import dimension_by_name, quantity_of

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism

PATH = "path:"


def region(text: str | None, mechanism: Mechanism) -> dict[str, tuple[float, float]] | str | None:
    """`crank=-100deg:100deg,x=0:12mm` as {coordinate: (lower, upper)}, `x=5mm` holds x there; `path:MOTION` as MOTION;
    None for the limits."""
    if text is None:
        return None
    if text.startswith(PATH):
        if not text.removeprefix(PATH).strip():
            raise typer.BadParameter("which motion? Write path:MOTION or path:FILE.csv", param_hint="--region")
        return text.removeprefix(PATH).strip()
    found: dict[str, tuple[float, float]] = {}
    for piece in pieces(text):
        name, equals, interval = (item.strip() for item in piece.partition("="))
        lower, colon, upper = (item.strip() for item in interval.partition(":"))
        if not colon:
            upper = lower
        if not (equals and name and lower and upper):
            raise typer.BadParameter(
                f"{piece.strip()!r} is not NAME=LOWER:UPPER, nor NAME=VALUE to hold one", param_hint="--region"
            )
        if name in found:
            raise typer.BadParameter(f"{name!r} is given twice", param_hint="--region")
        option, wanted = f"--region {name}", dimension_by_name(mechanism)(name)
        found[name] = (quantity_of(lower, option, wanted), quantity_of(upper, option, wanted))
    return found


def vary(text: str | None) -> dict[str, tuple[str, str]] | None:
    """`payload=8kg:16kg,leg=0.6:0.8` as {parameter: (lower, upper)}, units still to be looked at."""
    if text is None:
        return None
    found: dict[str, tuple[str, str]] = {}
    for piece in pieces(text):
        name, equals, interval = (item.strip() for item in piece.partition("="))
        lower, colon, upper = (item.strip() for item in interval.partition(":"))
        if not (equals and colon and name and lower and upper):
            raise typer.BadParameter(f"{piece.strip()!r} is not NAME=LOWER:UPPER", param_hint="--vary")
        if name in found:
            raise typer.BadParameter(f"{name!r} is given twice", param_hint="--vary")
        found[name] = (lower, upper)
    return found


def boxes(text: str | None) -> tuple[int, ...] | None:
    """`8,8,8`, or `8` for every coordinate."""
    if text is None:
        return None
    try:
        counts = tuple(int(item) for item in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a list of whole numbers", param_hint="--boxes") from None
    if min(counts) < 1:
        raise typer.BadParameter("a coordinate needs one box at least", param_hint="--boxes")
    return counts
