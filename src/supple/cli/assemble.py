"""`supple assemble`: positions of bodies, joints and points at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import Answer, open_answer
from supple.cli.help_text import COST
from supple.cli.options import At, File, Json, Settings, configuration, read_mechanism

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.kinematics.configuration import Configuration

AllBranches = Annotated[
    bool,
    typer.Option(
        "--branches", help="List all assemblies of the loops at this configuration and how to select one in the file."
    ),
]
Starts = Annotated[
    int | None,
    typer.Option(
        "--starts",
        metavar="N",
        help="Number of random initial guesses for --branches. Default: 300.",
        show_default=False,
        rich_help_panel=COST,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        help="Random seed of the initial guesses for --branches. Default: 0.",
        show_default=False,
        rich_help_panel=COST,
    ),
]


def assemble(
    file: File,
    at: At = None,
    branches: AllBranches = False,
    starts: Starts = None,
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Close all loops at a configuration; list positions."""
    with open_answer(as_json) as answer:
        if branches:
            _branches(answer, read_mechanism(answer, file, settings), at, 300 if starts is None else starts, seed)
            return
        if starts is not None or seed:
            raise typer.BadParameter("only --branches uses these options; add it", param_hint="--starts, --seed")
        from supple.kinematics.closure import assemble as assembled
        from supple.kinematics.completion import BRANCH

        mechanism = read_mechanism(answer, file, settings)
        found = assembled(mechanism, configuration(mechanism, at))
        if found.rest.completion.far:
            answer.warn(f"{found.rest.completion}; {BRANCH}")
        warn_of_limits(answer, found)
        answer.show(found)


def _branches(answer: Answer, mechanism: Mechanism, at: str | None, starts: int, seed: int) -> None:
    from supple.diagnostics import InputError
    from supple.kinematics.branches import branches

    found = branches(mechanism, configuration(mechanism, at), count=starts, seed=seed)
    if found.overrun:
        answer.note(
            f"{found.overrun} starts are left out: a prismatic joint moved by more than half the mechanism's size"
        )
    if found.families.any():
        answer.note("assemblies with a free motion are listed once")
    if not found.of_file:
        answer.warn("the path from rest does not reach this configuration: none of these is the branch of the file")
    for error in found.rests:
        if isinstance(error, InputError):
            answer.warn(str(error))
    answer.show(found)


def warn_of_limits(answer: Answer, found: Configuration) -> None:
    """Warn of every limit of a joint or actuator that the configurations exceed, once per limit."""
    from supple.kinematics.coordinate_limits import outside_limits

    ends = (found.w,) if found.w.ndim == 1 else (found.w.max(axis=0), found.w.min(axis=0))
    warnings: dict[str, str] = {}
    for w in ends:
        for excess in outside_limits(found.rest.numbering, w):
            warnings.setdefault(excess.part, str(excess))
    for text in warnings.values():
        answer.warn(text)
