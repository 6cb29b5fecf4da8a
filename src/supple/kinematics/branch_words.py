"""What tells branches apart, in words, and what to write in the file to have one of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from supple.array_types import Array
from supple.description.joints.joint import Joint
from supple.description.joints.joint_kind import directions
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import InputError
from supple.kinematics.configuration import Configuration
from supple.kinematics.far_closure import distance
from supple.kinematics.rest import rest

_SAME = 1e-4  # rad, or extents: values that do not differ
_FLAT = 1e-6  # extents: an elbow this close to its line lies on it
_DIGITS = 9  # significant, of what is written to be pasted


def separating(found: Configuration) -> tuple[str, ...]:
    """Joint coordinates that take different values in any two of the configurations: at each turn the one that leaves
    the fewest pairs that look alike. All of them where that is not enough."""
    values = {name: _steps(found, name, column) for name, column in found.joint_coordinates.items()}
    values = {name: steps for name, steps in values.items() if len(set(steps)) > 1}
    chosen: list[str] = []
    groups = [0] * len(found.theta)
    while values and len(set(groups)) < len(groups):
        best = max(values, key=lambda name: len(set(zip(groups, values[name], strict=True))))
        labels = list(zip(groups, values[best], strict=True))
        if len(set(labels)) == len(set(groups)):
            break
        groups = [sorted(set(labels)).index(label) for label in labels]
        chosen.append(best)
    return tuple(chosen)


def _steps(found: Configuration, name: str, column: Array) -> list[int]:
    """Numbers of the different values, equal for those that do not differ."""
    size = 1.0 if is_angle(found, name) else float(found.rest.numbering.arrays.extent)
    known: list[float] = []
    steps = []
    for value in column.tolist():
        near = [i for i, other in enumerate(known) if abs(_between(value, other, size == 1.0)) < _SAME * size]
        if not near:
            known.append(value)
        steps.append(near[0] if near else len(known) - 1)
    return steps


def is_angle(found: Configuration, name: str) -> bool:
    """Whether a joint coordinate is one."""
    numbering = found.rest.numbering
    joint = found.mechanism.joint_coordinate(name)
    assert joint is not None
    return bool(numbering.angles()[numbering.measures["joint", *joint]])


def _between(value: float, other: float, angle: bool) -> float:
    return (value - other + np.pi) % (2.0 * np.pi) - np.pi if angle else value - other


def sides(found: Configuration, separators: tuple[str, ...]) -> tuple[str, ...]:
    """`E below the line B-D, B = -95.2°` of each: elbows that differ, in the plane, then values of the separators."""
    elbows = _elbows(found) if found.mechanism.planar else {}
    told = []
    for n, one in enumerate(found.each()):
        parts = [words[n] for words in elbows.values() if len(set(words)) > 1]
        for name in separators:
            value = one.joint_coordinates[name]
            parts.append(f"{name} = {np.degrees(value):.1f}°" if is_angle(found, name) else f"{name} = {value:.4g} m")
        told.append(", ".join(parts))
    return tuple(told)


def _elbows(found: Configuration) -> dict[str, list[str]]:
    """For a joint between two others of a loop in the plane, on which side of the line through them it lies."""
    numbering, mechanism = found.rest.numbering, found.mechanism
    points = set(numbering.drawing.joint_points)
    told: dict[str, list[str]] = {}
    for loop in numbering.topology.loops:
        for (before, joint), (_, after) in zip(
            pairwise([*loop, *loop]), pairwise([*loop[1:], *loop, loop[0]]), strict=False
        ):
            if joint in told or not {before, joint, after} <= points or len({before, joint, after}) < 3:
                continue
            if GROUND in mechanism.joints[joint].bodies:  # it does not move: another elbow says the same
                continue
            a, e, b = ((found.frame(name).position @ mechanism.plane_axes())[:, :2] for name in (before, joint, after))
            told[joint] = [_side(joint, f"{before}-{after}", *place, float(numbering.arrays.extent))
                           for place in zip(a, e, b, strict=True)]  # fmt: skip
    return told


def _side(joint: str, line: str, a: Array, e: Array, b: Array, extent: float) -> str:
    along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-300)
    off = (e - a) - along * float(along @ (e - a))
    if np.linalg.norm(off) < _FLAT * extent:
        return f"{joint} on the line {line}"
    if abs(off[1]) >= abs(off[0]):
        return f"{joint} {'above' if off[1] > 0.0 else 'below'} the line {line}"
    return f"{joint} {'right' if off[0] > 0.0 else 'left'} of the line {line}"


def written(mechanism: Mechanism, found: Configuration, number: int, separators: tuple[str, ...]) -> dict[str, float]:
    """`rest:` for one of the configurations: θ, and joints that tell it apart; more of them if the few do not lead
    there. It is tried out: what comes back is that branch."""
    one = list(found.each())[number]
    theta = {name: float(value) for name, value in one.coordinates.items()}
    joints = {name: float(value) for name, value in one.joint_coordinates.items()}
    known = {mechanism.joint_coordinate(name) or _joint_of(mechanism, name) for name in theta}
    joints = {name: value for name, value in joints.items() if mechanism.joint_coordinate(name) not in known}
    few = {name: joints[name] for name in separators if name in joints}
    told = all(_told(mechanism, joint) for joint in mechanism.joints.values())
    for hints in (few, joints) if told else (joints,):
        given = {name: float(f"{value:.{_DIGITS}g}") for name, value in (theta | hints).items()}
        if _leads_there(mechanism, given, one):
            return given
    raise InputError(
        f"no values of its joints lead to branch {number + 1}", part=f'mechanism "{mechanism.name}"',
        hint="draw it there",
    )  # fmt: skip


def _told(mechanism: Mechanism, joint: Joint) -> bool:
    """Whether its coordinates tell all of its freedoms."""
    form = joint.form(mechanism.plane)
    return len(form.rows) + len(form.measures) == len(directions(mechanism.plane))


def _joint_of(mechanism: Mechanism, name: str) -> tuple[str, str] | None:
    actuator = mechanism.actuators.get(name)
    return None if actuator is None or actuator.joint is None else mechanism.joint_coordinate(actuator.joint)


def _leads_there(mechanism: Mechanism, given: dict[str, float], one: Configuration) -> bool:
    try:
        X = rest(mechanism.replace(rest=given)).X
    except InputError:
        return False
    return distance(one.rest.numbering, X, one.X) < _SAME
