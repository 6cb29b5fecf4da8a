"""Trees from plain arrays: the way in for other descriptions of a robot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array, Integers
from supple.diagnostics import InputError, require_known
from supple.equations.dry_friction import FRICTION_SPEED
from supple.formulations.recursive.joint_axes import JOINTS
from supple.formulations.recursive.tree import GROUND, AppliedLoad, AxisElements, Distance, Links, TreeArrays
from supple.formulations.recursive.tree_packing import packed_tree


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
    """A tree from arrays (see `Links`, `AxisElements`, `TreeArrays`); every coordinate is actuated if `actuated` is
    left out.

    Positions left out are zero, rotations the identity, axes z (and x for the second axis of a universal joint).
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
        raise InputError("no joint of it can move", part="tree", hint="give it a joint with a freedom")
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
            hint=f"give numbers from 0 to {n - 1}, or -1 for an actuator along a distance",
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
            f"it has shape {values.shape}, not {wanted}", part=label, hint="one row for each link (or axis)"
        )
    if not np.isfinite(values).all():
        raise InputError("not all of it is finite", part=label, hint="replace what is infinite or not a number")
    return values


def _unit(axes: Array, labels: tuple[str, ...]) -> Array:
    size = np.linalg.norm(axes, axis=1)
    for label, length in zip(labels, size, strict=True):
        if length < 1e-12:
            raise InputError("its axis is zero", part=f'joint of "{label}"', hint="give the direction of its axis")
    return axes / size[:, None]


def _check(parents: Integers, kinds: tuple[str, ...], labels: tuple[str, ...]) -> None:
    if not len(parents) == len(kinds) == len(labels):
        raise InputError(
            f"{len(parents)} parents, {len(kinds)} kinds and {len(labels)} names",
            part="tree",
            hint="give one of each for a link",
        )
    for i, (base, kind, label) in enumerate(zip(parents, kinds, labels, strict=True)):
        if not GROUND <= base < i:
            raise InputError(
                f"its parent is {base}, not one of the {i} links before it (or -1, the ground)",
                part=f'link "{label}"',
                hint="list parents before their children; a loop is no tree",
            )
        require_known("joint", kind, JOINTS, part=f'link "{label}"')
