"""The stiffness of a joint in a copy: the axes of its directions do not always move as the copy does.

Axes across a joint's axis follow from where that points, and those of a weld are the drawing's. With E of them before
and E' behind, components along become Q = E'ᵀ A E times what they were, turns det(A) Q, and K' = T K Tᵀ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.description.copies.movement import Array, Movement
from supple.description.joints.elasticity import elasticity
from supple.description.joints.joint import Joint
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.joints.stiffness import StiffnessTable
from supple.geometry.rotation import axes_from_z

_ROUNDING = 1e-12
_ASKEW = (
    "the directions in which it yields stand askew to the joint's axes in this copy; give all directions that turn "
    "into one another a number, none rigid and none a table"
)


def moved_stiffness(joint: Joint, by: Movement, L: Array) -> dict[str, Any]:
    """The fields of the joint's stiffness that change: none where it is the same along the new axes.

    L : how components in the axes are moved that the joint's own are written in
    """
    if joint.stiffness is None and joint.elastic is None:
        return {}
    found, T = elasticity(joint, by.plane), _turning(joint, by, L)
    soft = np.diag(found.K) != 0.0
    of_soft, of_others = (np.abs(T[:, part]).sum(axis=1) > _ROUNDING for part in (soft, ~soft))
    if (of_soft & of_others).any():
        raise ValueError(_ASKEW)
    K, D = (_moved(T * of_soft[:, None], matrix) for matrix in (found.K, found.D))
    if K is None and D is None:
        if any(abs(T[i, i]) < 1.0 - _ROUNDING for i, way in enumerate(found.directions) if way in found.tables):
            raise ValueError(_ASKEW)
        return {"stiffness": _renamed(joint.stiffness, by)} if found.tables else {}
    if found.tables:
        raise ValueError(_ASKEW)
    rigid = [way in joint.held(by.plane) and not of_soft[i] for i, way in enumerate(found.directions)]
    matrix = (found.K if K is None else K).tolist()
    for i in np.flatnonzero(rigid):
        matrix[i][i] = None
    changes: dict[str, Any] = {"elastic": None, "stiffness": matrix}
    if joint.elastic_damping is not None:
        changes["elastic_damping"] = (found.D if D is None else D).tolist()
    return changes


def _turning(joint: Joint, by: Movement, L: Array) -> Array:
    """T (6, 6), in the plane (3, 3)."""
    form, kind = joint.form(by.plane), JOINT_KINDS[joint.kind]
    turned = by.plane is not None and form.turns and form.axis == "z" and not form.rolls
    if turned and joint.frames is None and joint.axis is None:
        Q = by.local(joint.bodies[0])  # there axes are those of the first body
    else:
        axes = [_direction(axis, by) for axis in ((joint.axis,) if joint.axes is None else joint.axes) if axis]
        sign = -1.0 if by.mirrored and kind.axis_turns and by.plane is None else 1.0
        Q = _axes([sign * L @ axis for axis in axes], by.plane).T @ L @ _axes(axes, by.plane)
    hand = -1.0 if by.mirrored else 1.0
    if by.plane is not None:
        T = np.eye(3) * hand
        T[:2, :2] = Q[:2, :2]
        return T
    return np.asarray(np.kron(np.diag([1.0, hand]), Q), dtype=np.float64)


def _axes(axes: list[Array], plane: str | None) -> Array:
    """E as the joint's frame has it in the drawing, or in its frames (`kinematics.joint_frames`)."""
    if len(axes) == 2:
        return np.column_stack([axes[1], np.cross(axes[0], axes[1]), axes[0]])
    if not axes:
        return np.eye(3)
    if plane is not None:
        x, y, _ = axes[0]
        return np.array([[x, -y, 0.0], [y, x, 0.0], [0.0, 0.0, 1.0]])
    return axes_from_z(axes[0])


def _direction(axis: Any, by: Movement) -> Array:
    """A letter, components, or from place to place, as a unit vector."""
    if isinstance(axis, str):
        vector = np.eye(3)[(by.plane or "xyz").index(axis[-1])] * (-1.0 if axis.startswith("-") else 1.0)
    elif isinstance(axis[0], str):
        unknown = [name for name in axis if name not in by.drawn]
        if unknown:
            raise ValueError(f'its stiffness is copied, and "{unknown[0]}" of its axis is no point; write components')
        vector = by.drawn[axis[1]] - by.drawn[axis[0]]
    else:
        vector = by.whole(axis)
    return np.asarray(vector / np.linalg.norm(vector))


def _moved(T: Array, matrix: Array) -> Array | None:
    """T K Tᵀ without what rounding leaves; None where it is what it was."""
    found = T @ matrix @ T.T
    found = 0.5 * (found + found.T)
    size = np.sqrt(np.outer(np.diag(found), np.diag(found)))
    if np.all(np.abs(found - matrix) <= 1e-11 * size):
        return None
    return np.where(np.abs(found) <= _ROUNDING * size, 0.0, found)


def _renamed(given: Any, by: Movement) -> Any:
    """Tables over coordinates of the group are over those of the copy."""
    return {
        name: item.model_copy(update={"over": _over(item.over, by)}) if isinstance(item, StiffnessTable) else item
        for name, item in given.items()
    }


def _over(name: str, by: Movement) -> str | None:
    return name + by.suffix if name in by.group.actuators else by.joint(name)
