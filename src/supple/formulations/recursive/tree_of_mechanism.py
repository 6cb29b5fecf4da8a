"""Trees of rigid bodies from the plain arrays of a robot, or from a mechanism without loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array, Integers
from supple.description.load import Acting
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import GROUND as GROUND_NAME
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, require_known
from supple.diagnostics.errors import part_name
from supple.equations.forces import FRICTION_SPEED
from supple.formulations.coefficients import get_coefficients
from supple.formulations.recursive.memory import AT_V, CARRIES_ORIGIN, HEADER, INTEGERS, PARENT, PackedTree
from supple.formulations.recursive.tree import GROUND, JOINTS, AppliedLoad, AxisElements, Distance, Links, TreeArrays
from supple.formulations.recursive.tree_packing import packed_tree, seats
from supple.geometry.inertia import MassProperties, zero_mass
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import OFFSET
from supple.kinematics.rest import Rest, rest

# Trees from plain arrays: the way in for other descriptions of a robot.


def rigid_tree(
    parent: ArrayLike,
    kind: Sequence[str],
    *,
    mass: ArrayLike,
    center: ArrayLike,
    inertia: ArrayLike,
    position: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    axis: ArrayLike | None = None,
    second_axis: ArrayLike | None = None,
    pitch: ArrayLike | None = None,
    mounting_position: ArrayLike | None = None,
    mounting_rotation: ArrayLike | None = None,
    turned_round: ArrayLike | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    armature: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    stiffness: ArrayLike | None = None,
    relaxed: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    drive: ArrayLike | None = None,
    dry: ArrayLike | None = None,
    friction_speed: ArrayLike = FRICTION_SPEED,
    loads: Sequence[AppliedLoad] = (),
    distances: Sequence[Distance] = (),
    actuated: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> TreeArrays:
    """Return a tree from arrays (see `Links`, `AxisElements`, `TreeArrays`); by default every coordinate is actuated.

    By default positions are zero, rotations the identity, and axes z (x for the second axis of a universal joint).
    """
    kinds, count = tuple(kind), len(kind)
    labels = tuple(names) if names is not None else tuple(f"link {i}" for i in range(count))
    parents = np.asarray(parent, dtype=np.int64).reshape(-1)
    _check(parents, kinds, labels)
    z, x, none, same = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.zeros(3), np.eye(3)
    links = Links(
        parents,
        kinds,
        _rows("position", position, count, none),
        _rows("rotation", rotation, count, same),
        _unit(_rows("axis", axis, count, z), labels),
        _unit(_rows("second_axis", second_axis, count, x), labels),
        _rows("pitch", pitch, count, np.zeros(())),
        _rows("mass", mass, count, np.zeros(())),
        _rows("center", center, count, none),
        _rows("inertia", inertia, count, np.zeros((3, 3))),
        _rows("mounting_position", mounting_position, count, none),
        _rows("mounting_rotation", mounting_rotation, count, same),
        _rows("turned_round", turned_round, count, np.zeros(())) != 0.0,
    )
    sizes = np.array([JOINTS[item] for item in kinds], dtype=np.int64).reshape(-1, 2)
    ends = np.cumsum(sizes, axis=0)
    nq, n = (int(ends[-1, 0]), int(ends[-1, 1])) if count else (0, 0)
    if n == 0:
        raise InputError("no joint can move", part="tree", hint="add a joint with a degree of freedom")
    along = AxisElements(
        *(
            _rows(label, values, n, np.zeros(()))
            for label, values in (
                ("armature", armature), ("damping", damping), ("stiffness", stiffness), ("relaxed", relaxed),
                ("offset", offset), ("drive", drive), ("dry", dry),
                ("friction_speed", np.broadcast_to(friction_speed, n)),
            )
        )
    )  # fmt: skip
    at_q, at_v = ends[:, 0] - sizes[:, 0], ends[:, 1] - sizes[:, 1]
    driven = np.arange(n) if actuated is None else np.asarray(actuated)
    driven = driven.astype(np.int64).reshape(-1)
    if driven.size and (driven.max() >= n or driven.min() < -1):
        raise InputError(
            f"coordinate {driven.max() if driven.max() >= n else driven.min()} of {n} does not exist",
            part="actuated",
            hint=f"use numbers from 0 to {n - 1}, or -1 for an actuator along a distance",
        )
    arrays = packed_tree(links, along, np.asarray(gravity, float), loads, distances, driven, at_q, at_v, nq, n)
    return TreeArrays(
        links, along, np.asarray(gravity, float), tuple(loads), tuple(distances), driven, labels, at_q, at_v, nq, n,
        arrays,
    )  # fmt: skip


def _rows(label: str, given: ArrayLike | None, count: int, default: Array) -> Array:
    wanted = (count, *default.shape)
    if given is None:
        return np.broadcast_to(default, wanted).copy()
    values = np.array(given, dtype=float)
    if values.shape != wanted:
        raise InputError(
            f"must have shape {wanted} (got {values.shape})", part=label, hint="one row for each link (or axis)"
        )
    if not np.isfinite(values).all():
        raise InputError("must be finite", part=label, hint="replace NaN and infinite values")
    return values


def _unit(axes: Array, labels: tuple[str, ...]) -> Array:
    size = np.linalg.norm(axes, axis=1)
    for label, length in zip(labels, size, strict=True):
        if length < 1e-12:
            raise InputError(
                "the axis must not be zero", part=f'joint of "{label}"', hint="set the direction of the axis"
            )
    return axes / size[:, None]


def _check(parents: Integers, kinds: tuple[str, ...], labels: tuple[str, ...]) -> None:
    if not len(parents) == len(kinds) == len(labels):
        raise InputError(
            f"{len(parents)} parents, {len(kinds)} kinds and {len(labels)} names",
            part="tree",
            hint="use one of each per link",
        )
    for i, (base, kind, label) in enumerate(zip(parents, kinds, labels, strict=True)):
        if not GROUND <= base < i:
            raise InputError(
                f"the parent {base} is neither one of the {i} links before it nor -1, the ground",
                part=f'link "{label}"',
                hint="list parents before their children; loops are not supported",
            )
        require_known("joint", kind, JOINTS, part=f'link "{label}"')


# The tree of a mechanism without loops.
#
# Every coordinate of a joint becomes a link of its own, the last of them with the body; the rotations of a spherical or
# free joint stay together. So q holds the values of the coordinates as the user counts them, and a quaternion for every
# joint that has rotations without a coordinate.


_AXES = dict(zip("xyz", np.eye(3), strict=True))
_TURNED = ("rotation_x", "rotation_y", "rotation_z")


@dataclass(frozen=True, eq=False)
class MechanismTree:
    """A tree with the names of its mechanism.

    coordinates : (n,) of q̇: `joint` or `joint.coordinate`, and `joint.rotation_x`, ... about the axes of the moved body
    inputs      : (m,) the actuators
    links       : of each body
    """

    tree: TreeArrays
    coordinates: tuple[str, ...]
    inputs: tuple[str, ...]
    links: dict[str, int]


@dataclass
class _Growing:
    """Links of an incomplete tree."""

    parent: list[int] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)
    axis: list[Array] = field(default_factory=list)
    pitch: list[float] = field(default_factory=list)
    position: list[Array] = field(default_factory=list)
    rotation: list[Array] = field(default_factory=list)
    mounting_position: list[Array] = field(default_factory=list)
    mounting_rotation: list[Array] = field(default_factory=list)
    turned_round: list[bool] = field(default_factory=list)
    masses: list[MassProperties] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    coordinates: list[tuple[str, str]] = field(default_factory=list)


def tree_of_mechanism(mechanism: Mechanism, *, dry: bool = True) -> MechanismTree:
    """Return the tree of a mechanism, computed once; raise an error that names the joints that close loops.

    dry : include the dry friction of the joints
    """
    return mechanism.compute_once(f"tree {dry}", lambda: _make_tree(rest(mechanism), dry))


def _make_tree(position: Rest, dry: bool) -> MechanismTree:
    numbering = position.numbering
    mechanism, graph = numbering.mechanism, numbering.topology
    if graph.closing_parts:
        raise InputError(
            f"{len(graph.closing_parts)} joints and couplings close loops: {', '.join(graph.closing_parts)}",
            part=f'mechanism "{mechanism.name}"',
            path=("joints" if graph.cut else "couplings", graph.closing_parts[0]),
            hint="a tree has none; cut them, or use a formulation for closed chains",
        )
    _require_rigid(mechanism)
    get_coefficients(position).require_linear("a tree")
    growing, links = _Growing(), {GROUND_NAME: GROUND}
    masses = mass_properties(numbering.drawing)
    for body in graph.order:
        base, joint = graph.parent[body]
        _add(growing, numbering, joint, links[base], body, masses[body])
        links[body] = len(growing.kind) - 1
    along, drives = _along(numbering, growing.coordinates)
    if not dry:
        along["dry"][:] = 0.0
    distances = _distances(numbering, links)
    gravity = np.zeros(3)
    if mechanism.gravity is not None:
        gravity = numbering.drawing.vector(mechanism.gravity, ("gravity",), "gravity")
    tree = rigid_tree(
        growing.parent, growing.kind, mass=[item.mass for item in growing.masses],
        center=[item.center for item in growing.masses], inertia=[item.inertia for item in growing.masses],
        position=growing.position, rotation=growing.rotation, axis=growing.axis, pitch=growing.pitch,
        mounting_position=growing.mounting_position, mounting_rotation=growing.mounting_rotation,
        turned_round=growing.turned_round, gravity=gravity, loads=_loads(position, links), distances=distances,
        actuated=drives, names=growing.names, **along,
    )  # fmt: skip
    return MechanismTree(tree, _labels(growing), tuple(mechanism.actuators), links)


class BareTree(NamedTuple):
    """A tree without elements along its coordinates and distances, with its reference point fixed in the world.

    coordinates : (n,) names of q; at_v : (n,) the coordinate of each axis; axes_of : axes that move each body
    """

    packed: PackedTree
    coordinates: tuple[str, ...]
    at_v: NDArray[np.int64]
    axes_of: dict[str, list[int]]


def bare_tree(mechanism: Mechanism) -> BareTree:
    """Return the bodies of a mechanism without loops, with gravity and loads only."""
    found = tree_of_mechanism(mechanism)
    tree = found.tree
    nothing_acts = AxisElements(*(np.zeros(tree.n) for _ in AxisElements._fields))
    nothing_acts = nothing_acts._replace(offset=tree.along.offset, friction_speed=tree.along.friction_speed)
    none = np.empty(0, dtype=np.int64)
    arrays = packed_tree(
        tree.links, nothing_acts, tree.gravity, tree.loads, (), none, tree.at_q, tree.at_v, tree.nq, tree.n
    )  # fmt: skip
    rows = arrays.integers[HEADER : HEADER + tree.n * INTEGERS].reshape(tree.n, INTEGERS)
    rows[:, CARRIES_ORIGIN] = 0
    seated = seats(tree.links, tree.at_q, tree.at_v)[0]
    axes_of: dict[str, list[int]] = {}
    for body, link in found.links.items():
        axis, way = (seated[link].axis if link != GROUND else GROUND), []
        while 0 <= axis < tree.n:
            way.append(axis)
            axis = int(rows[axis, PARENT])
        axes_of[body] = way
    return BareTree(arrays, found.coordinates, rows[:, AT_V].copy(), axes_of)


def _require_rigid(mechanism: Mechanism) -> None:
    """Refuse elastic bodies by name, since a rigid body would give another result."""
    elastic = set(mechanism.elastic_names)
    for section, parts in (("bodies", mechanism.bodies), ("joints", mechanism.joints)):
        for name in parts:
            if name in elastic:
                raise InputError(
                    "this part is elastic, but a tree needs rigid bodies and ideal joints",
                    part=part_name((section, name)),
                    path=(section, name),
                    hint="take a formulation for flexible mechanisms, or describe it as rigid",
                )


def _steps(mechanism: Mechanism, joint: str) -> list[tuple[str, Array, tuple[str, ...], float]]:
    """Return the motions of a joint, one coordinate (or all rotations) at a time: kind, axis, names, pitch."""
    item, plane = mechanism.joints[joint], mechanism.plane
    steps = item.form(plane).name_steps(plane)
    if steps is None:
        raise InputError(
            f"a tree does not support {item.kind} joints{' in the plane' if plane else ''}",
            part=part_name(("joints", joint)),
            path=("joints", joint),
            hint="take a formulation for closed chains",
        )
    values = {"": 1.0, **item.parameters}
    return [
        (
            step.motion,
            _AXES[step.axis],
            (step.coordinate,) if step.coordinate else _TURNED,
            step.factor * values[step.parameter],
        )
        for step in steps
    ]


def _add(growing: _Growing, numbering: Numbering, joint: str, base: int, body: str, properties: MassProperties) -> None:
    """Append the links of one joint; the last of them carries the body."""
    mechanism = numbering.mechanism
    frames = joint_frames(numbering.drawing, joint)
    backwards = mechanism.joints[joint].bodies[0] == body
    sides = [(frames.pa, frames.Ea), (frames.pb, frames.Eb)]
    (pa, Ea), (pb, Eb) = reversed(sides) if backwards else sides
    steps = _steps(mechanism, joint) or [("weld", _AXES["z"], (), 0.0)]
    for number, (kind, axis, names, pitch) in enumerate(reversed(steps) if backwards else steps):
        first, last = number == 0, number == len(steps) - 1
        growing.parent.append(base if first else len(growing.kind) - 1)
        growing.kind.append(kind)
        growing.axis.append(axis)
        growing.pitch.append(pitch)
        growing.position.append(pa if first else np.zeros(3))
        growing.rotation.append(Ea if first else np.eye(3))
        growing.mounting_position.append(pb if last else np.zeros(3))
        growing.mounting_rotation.append(Eb if last else np.eye(3))
        growing.turned_round.append(backwards)
        growing.masses.append(properties if last else zero_mass())
        growing.names.append(body if last else f"{joint}.{names[0]}")
        growing.coordinates += [(joint, name) for name in names]


def _along(numbering: Numbering, coordinates: list[tuple[str, str]]) -> tuple[dict[str, Array], list[int]]:
    """Return the elements along each coordinate, and the coordinates of the actuators (-1 for a distance)."""
    mechanism, place = numbering.mechanism, {key: i for i, key in enumerate(coordinates)}
    acting = {
        name: np.zeros(len(coordinates))
        for name in ("armature", "damping", "stiffness", "relaxed", "offset", "drive", "dry")
    }
    for (joint, coordinate), i in place.items():
        if coordinate in _TURNED:
            continue
        item = mechanism.joints[joint]
        acting["offset"][i] = numbering.arrays.rows_f[numbering.measures["joint", joint, coordinate], OFFSET]
        acting["damping"][i] += item.value("viscous", coordinate, mechanism.plane) or 0.0
        acting["dry"][i] += item.value("dry", coordinate, mechanism.plane) or 0.0
        motor = item.value("motor", coordinate, mechanism.plane)
        if motor is not None:
            acting["armature"][i] += motor.inertia * motor.gear**2

    def at(part: Acting) -> int:
        key = mechanism.joint_coordinate(part.joint or "")
        return place[key] if key is not None else -1

    for spring in mechanism.springs.values():
        if spring.joint is not None:  # k (q - r): the constants add up to one force
            acts = spring.about_relaxed
            acting["stiffness"][at(spring)] -= acts.slope
            acting["drive"][at(spring)] += acts.force - acts.slope * spring.relaxed_value
            acting["damping"][at(spring)] += acts.damping
            acting["armature"][at(spring)] += acts.inertia
    for damper in mechanism.dampers.values():
        if damper.joint is not None:
            acting["damping"][at(damper)] += damper.damping
    for force in mechanism.forces.values():
        if force.joint is not None and isinstance(force.force, float):
            acting["drive"][at(force)] += force.force
    return acting, [at(item) if item.joint is not None else -1 for item in mechanism.actuators.values()]


def _distances(numbering: Numbering, links: dict[str, int]) -> list[Distance]:
    """Return springs, dampers, forces and actuators along distances."""
    mechanism, bodies = numbering.mechanism, (*numbering.bodies, GROUND_NAME)
    distances = []

    def add(section: str, name: str, part: Acting, **values: float) -> None:
        if part.between is None:
            return
        (a, pa, _), (b, pb, _) = (numbering.place(end, (section, name, "between")) for end in part.between)
        actuator = list(mechanism.actuators).index(name) if section == "actuators" else -1
        distances.append(Distance(links[bodies[a]], pa, links[bodies[b]], pb, actuator=actuator, **values))

    for name, spring in mechanism.springs.items():
        acts, at_rest = spring.about_relaxed, spring.relaxed_value
        add("springs", name, spring, stiffness=-acts.slope, length=at_rest, damping=acts.damping, force=acts.force)
    for name, damper in mechanism.dampers.items():
        add("dampers", name, damper, damping=damper.damping)
    for name, force in mechanism.forces.items():
        if isinstance(force.force, float):
            add("forces", name, force, force=force.force)
    for name, actuator in mechanism.actuators.items():
        add("actuators", name, actuator)
    return distances


def _loads(position: Rest, links: dict[str, int]) -> list[AppliedLoad]:
    """Return forces and moments at points; gravity, the first of the coefficients, is an acceleration here."""
    numbering, arrays = position.numbering, get_coefficients(position).arrays
    bodies = (*numbering.bodies, GROUND_NAME)
    weights = 0 if numbering.mechanism.gravity is None else len(numbering.bodies)
    return [
        AppliedLoad(links[bodies[body]], values[:3], values[3:6], values[6:], follows=bool(follows))
        for (body, follows), values in zip(arrays.loads_i[weights:], arrays.loads_f[weights:], strict=True)
    ]


def _labels(growing: _Growing) -> tuple[str, ...]:
    counts = [joint for joint, _ in growing.coordinates]
    return tuple(
        joint if counts.count(joint) == 1 else f"{joint}.{coordinate}" for joint, coordinate in growing.coordinates
    )
