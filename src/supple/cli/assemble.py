"""`supple assemble`: where everything is at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from supple.cli.answer import Answer, answering
from supple.cli.options import At, File, Json, Settings, configuration, read_mechanism

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.kinematics.branches import Branches
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
    typer.Option("--starts", metavar="N", show_default=False, help="With --branches: from how many, 300 if left out."),
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
        data = {
            "frames": {
                name: {"position": pose.position, "rotation": pose.rotation} for name, pose in found.frames.items()
            },
            "coordinates": found.coordinates,
            "joint_coordinates": found.joint_coordinates,
            "singularity": found.singularity,
            "rigid": found.rigid,
        }
        answer.give(data, lambda: _show(found))


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
    rests: list[dict[str, float] | None] = []
    for number in range(len(found)):
        try:
            rests.append(found.rest(number))
        except InputError as error:
            answer.warn(str(error))
            rests.append(None)
    joints = found.configurations.joint_coordinates
    listed = [
        {
            "words": words, "of_file": found.of_file and i == 0, "family": found.families[i], "hits": found.hits[i],
            "rest": rests[i], "singularity": found.configurations.singularity[i],
            "joint_coordinates": {name: values[i] for name, values in joints.items()},
            "frames": {name: pose.position[i] for name, pose in found.configurations.frames.items()},
        }
        for i, words in enumerate(found.words)
    ]  # fmt: skip
    data = {
        "branches": listed,
        "starts": starts,
        "seed": seed,
        "at": dict(next(found.configurations.each()).coordinates),
    }
    answer.give(data, lambda: _show_branches(found, rests))


def _show_branches(found: Branches, rests: list[dict[str, float] | None]) -> None:
    from supple.cli.tables import Tables, number

    out = Tables()
    at = ", ".join(f"{name}={number(value[0])}" for name, value in found.configurations.coordinates.items())
    many = len(found) != 1
    out.line(f"{found.mechanism.name} at {at}: {len(found)} assembl{'ies' if many else 'y'} from {found.starts} starts")
    for i, words in enumerate(found.words):
        said = [f"found {found.hits[i]} times"]
        said += ["the branch of the file"] if found.of_file and i == 0 else []
        said += ["a motion is left free: one of many"] if found.families[i] else []
        out.line(f"\n{i + 1:4}  {words or 'the only one'} ({', '.join(said)})")
        rest = rests[i]
        if rest is not None and many:
            out.line("      rest: {" + ", ".join(f"{name}: {value:.9g}" for name, value in rest.items()) + "}")
    if many:
        out.line("\nwrite the `rest:` of the one you mean into the file: each was tried, and leads there")
    if found.hits.min() < 3:
        out.line("some were found less than three times: there may be more; ask for more --starts")


def warn_of_limits(answer: Answer, found: Configuration) -> None:
    """Limits do not stop a computation, but nobody should cross them unawares."""
    from supple.kinematics.limits import outside_limits

    for excess in outside_limits(found.rest.numbering, found.w):
        answer.warn(str(excess))


def _show(found: Configuration) -> None:
    from supple.cli.tables import Tables, angle, number, turn

    numbering, out = found.rest.numbering, Tables()
    units = numbering.angles()[numbering.constraints :]
    out.line(f"{found.mechanism.name}, singularity {float(found.singularity):.3g} (0 is singular)")
    if found.coordinates:
        values = [
            (name, angle(value) if units[i] else number(value, "m"))
            for i, (name, value) in enumerate(found.coordinates.items())
        ]
        out.table(("coordinate", "value"), values)
    rows = []
    for key, row in numbering.measures.items():
        if key[0] == "joint":
            value = found.w[row - numbering.constraints]
            turns = units[row - numbering.constraints]
            rows.append((key[1], key[2], angle(value) if turns else number(value, "m")))
    if rows:
        out.table(("joint", "coordinate", "value"), rows)
    poses = [(name, *(number(x) for x in pose.position), turn(pose.rotation)) for name, pose in found.frames.items()]
    out.table(("frame", "x [m]", "y [m]", "z [m]", "turned by"), poses)
