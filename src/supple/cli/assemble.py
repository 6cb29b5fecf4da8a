"""`supple assemble`: where everything is at a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supple.cli.answer import Answer, answering
from supple.cli.options import At, File, Json, Settings, configuration, read_mechanism

if TYPE_CHECKING:
    from supple.kinematics.configuration import Configuration


def assemble(file: File, at: At = None, settings: Settings = None, as_json: Json = False) -> None:
    """Close all loops at a configuration; say where everything is."""
    with answering(as_json) as answer:
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
