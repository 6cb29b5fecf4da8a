"""`supple assemble`: where everything is at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import Answer, answering
from supple.cli.options import At, File, Json, Settings, configuration, read_mechanism

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.kinematics.configuration import Configuration

AllBranches = Annotated[
    bool,
    typer.Option(
        "--branches",
        help="List the assemblies that exist there, what tells them apart, and how to write one in the file.",
    ),
]
Starts = Annotated[
    int | None,
    typer.Option("--starts", metavar="N", help="With --branches: from how many, 300 if left out."),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="With --branches: of the starts, which are random.")]


def assemble(
    file: File,
    at: At = None,
    branches: AllBranches = False,
    starts: Starts = None,
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Close all loops at a configuration; say where everything is."""
    with answering(as_json) as answer:
        if branches:
            _branches(answer, read_mechanism(answer, file, settings), at, 300 if starts is None else starts, seed)
            return
        if starts is not None or seed:
            raise typer.BadParameter("they belong to --branches", param_hint="--starts, --seed")
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
            f"{found.overrun} starts ended where a slide runs further than half the mechanism; they are left out"
        )
    if found.families.any():
        answer.note("where a motion is left free, one assembly of many is listed")
    if not found.of_file:
        answer.warn("the segment from rest does not lead there: none of these is the branch of the file")
    for error in found.rests:
        if isinstance(error, InputError):
            answer.warn(str(error))
    answer.show(found)


def warn_of_limits(answer: Answer, found: Configuration) -> None:
    """Limits do not stop a computation, but nobody should cross them unawares; of a batch each limit once."""
    from supple.kinematics.coordinate_limits import outside_limits

    ends = (found.w,) if found.w.ndim == 1 else (found.w.max(axis=0), found.w.min(axis=0))
    said: dict[str, str] = {}
    for w in ends:
        for excess in outside_limits(found.rest.numbering, w):
            said.setdefault(excess.part, str(excess))
    for text in said.values():
        answer.warn(text)
