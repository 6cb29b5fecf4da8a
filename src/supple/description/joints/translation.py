"""A body that keeps its directions."""

from __future__ import annotations

from supple.description.joints.joint_kind import ORIENTATION, Form, JointKind, Step
from supple.description.measure import along, right_angle

_X, _Y, _Z = (Step("prismatic", letter, letter) for letter in "xyz")

TRANSLATION = JointKind(
    name="translation",
    says="Three translations, no rotation.",
    space=Form(rows=ORIENTATION, measures={"x": along("x"), "y": along("y"), "z": along("z")}, steps=(_X, _Y, _Z)),
    plane=Form(rows=(right_angle("x", "y"),), measures={"x": along("x"), "y": along("y")}, steps=(_X, _Y)),
)
