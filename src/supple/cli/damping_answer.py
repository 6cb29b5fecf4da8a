"""Damping that was fitted, as `supple identify` says it: its options, its table, its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.options import pieces

if TYPE_CHECKING:
    from supple.cli.tables import Tables
    from supple.identification.damping.fitted_damping import FittedDamping

DampingText = Annotated[
    str | None,
    typer.Option(
        "--damping", metavar="KIND,...", show_default=False,
        help="Of responses: structural, rayleigh or none, fitted along; modal, joints, materials, fitted afterwards. "
        "Without --parameters damping alone.",
    ),
]  # fmt: skip
Groups = Annotated[
    str | None,
    typer.Option(
        "--damping-groups", metavar="NAME:PART|PART,...", show_default=False,
        help="Joints or materials (patterns) that share a loss factor.",
    ),
]  # fmt: skip


def groups_of(text: str | None) -> dict[str, list[str]]:
    """`drives:O|knee,others:*`."""
    found = {}
    for item in pieces(text) if text else ():
        name, colon, patterns = item.partition(":")
        if not colon or not name.strip() or not patterns.strip():
            raise typer.BadParameter(f"{item.strip()!r} is not NAME:PART|PART", param_hint="--damping-groups")
        found[name.strip()] = [pattern.strip() for pattern in patterns.split("|")]
    return found


def damping_data(found: FittedDamping) -> dict[str, Any]:
    """Beside `damping`: intervals, J_Q of each response."""
    return {
        "damping": dict(zip(found.names, found.values.tolist(), strict=True)),
        "damping_intervals": found.intervals,
        "damping_at_prior": found.at_prior,
        "misfit": {item.label: (item.before, item.after) for item in found.postures},
        "misfit_by_response": {item.label: item.by_response for item in found.postures},
    }


def show_damping(out: Tables, found: FittedDamping) -> None:
    """A table of its numbers, and J_Q of each measurement."""
    from supple.results.interval import interval_words

    rows = [
        (name, *interval_words(value, low, high), "not told" if name in found.at_prior else "data")
        for name, value, (low, high) in zip(found.names, found.values, found.intervals.values(), strict=True)
    ]
    out.table(("damping", "value", "95 % interval", "says"), rows)
    for item in found.postures:
        worst = max(item.by_response.items(), key=lambda pair: pair[1])
        out.line(
            f"J_Q {item.label}: {100 * item.after:.3g} % ({100 * item.before:.3g} % with a loss factor "
            f"{found.whole:.3g} of the whole), at most {100 * worst[1]:.3g} % at {worst[0]}"
        )
