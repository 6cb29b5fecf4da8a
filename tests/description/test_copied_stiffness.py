"""A copy of a joint with a stiffness is as stiff as the joint that was drawn, turned or mirrored."""

from __future__ import annotations

import numpy as np
import pytest

from supple import loads, modes, to_yaml
from supple.diagnostics import InputError

K = np.diag([1e6, 2e6, 3e6, 2e4, 3e4, 4e4])
K[0, 1] = K[1, 0] = 4e5
K[0, 4] = K[4, 0] = 5e4
K[2, 3] = K[3, 2] = -6e4
K[1, 5] = K[5, 1] = 7e4

GROUPS = {
    "weld": "{weld: [ground, arm], stiffness: MATRIX}",
    "weld about an axis": "{weld: [ground, arm], axis: [1, 2, 0.5], stiffness: MATRIX}",
    "diagonal": "{weld: [ground, arm], stiffness: [1e6, 2e6, 3e6, 1e4, 2e4, 3e4], elastic_damping: [1, 2, 3, 1, 1, 1]}",
    "elastic": "{weld: [ground, arm], elastic: {rx: 1e4, ry: 2e4, rz: 3e4}}",
    "hinge": "{revolute: [ground, arm], axis: [1, 2, 0.5], stiffness: MATRIX}",
    "hinge from place to place": "{revolute: [ground, arm], axis: [O, Q], stiffness: MATRIX}",
    "hinge by direction": "{revolute: [ground, arm], axis: [1, 2, 0.5], elastic: {x: 1e6, y: 3e6, rx: 1e4, ry: 1e4}}",
    "slide": "{prismatic: [ground, arm], axis: [0, 1, 1], stiffness: MATRIX}",
    "universal": "{universal: [ground, arm], axes: [[1, 2, 0.5], [2, -1, 0]], elastic: {x: 1e6, y: 2e6, z: 4e6}}",
}


def legs(joint: str, how: str) -> str:
    actuated = "actuators: {drive: {joint: O}}" if "revolute" in joint or "prismatic" in joint else ""
    springs = ""
    if "universal" in joint:
        springs = "springs: {one: {joint: O.first, stiffness: 1e3}, other: {joint: O.second, stiffness: 2e3}}"
    return f"""
supple: 1
bodies: {{post: {{mass: 1, center: [0, 0, 0], inertia: [1, 1, 1]}}}}
joints: {{post: {{weld: [ground, post], at: [0, 0, 0]}}}}
copies:
  legs:
    {how}
    points: {{O: [0.3, 0.1, 0], Q: [0.5, 0.4, 0.3]}}
    bodies: {{arm: {{mass: 2, center: [0.4, 0.35, 0.2], inertia: {{xx: 0.02, yy: 0.03, zz: 0.04, xy: 0.004}}}}}}
    joints: {{O: {joint.replace("MATRIX", str(K.tolist()))}}}
    {actuated}
    {springs}
"""


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("how", ["count: 3\n    about: [1, 2, 2]", "mirror: [1, 1, 0.5]"], ids=["turned", "mirrored"])
def test_copies_have_the_same_frequencies(name, how):
    count = 3 if "count" in how else 2
    machine = loads(legs(GROUPS[name], how))
    found = modes(machine, count=3 * count).frequencies_hz.reshape(3, count)
    assert np.ptp(found, axis=1) == pytest.approx(np.zeros(3), abs=1e-7 * found[0, 0])
    again = loads(to_yaml(machine))
    assert again == machine


def test_what_is_rigid_cannot_stand_askew():
    with pytest.raises(InputError, match=r'"legs": .*directions are not aligned .*none rigid'):
        loads(legs("{weld: [ground, arm], stiffness: {x: 1e6}}", "count: 3\n    about: z"))
