"""A body that floats."""

from __future__ import annotations

from supple.description.joints.joint_kind import Form, JointKind, Step
from supple.description.measure import along, turn

_X, _Y, _Z = (Step("prismatic", letter, letter) for letter in "xyz")

FREE = JointKind(
    name="free",
    says="Every motion.",
    space=Form(measures={"x": along("x"), "y": along("y"), "z": along("z")}, steps=(_X, _Y, _Z, Step("spherical"))),
    plane=Form(
        measures={"x": along("x"), "y": along("y"), "angle": turn("z")}, steps=(_X, _Y, Step("revolute", "z", "angle"))
    ),
)
