"""A body that stays in a plane."""

from __future__ import annotations

from supple.description.joints.joint_kind import AXIS, Form, JointKind, Marker, Step
from supple.description.measure import along, turn

_IN_PLANE = {"x": along("x"), "y": along("y"), "angle": turn("z")}
_STEPS = (Step("prismatic", "x", "x"), Step("prismatic", "y", "y"), Step("revolute", "z", "angle"))

PLANAR = JointKind(
    name="planar",
    says="Two translations in a plane and the rotation about its normal `axis`.",
    space=Form(rows=(along("z"), *AXIS), measures=_IN_PLANE, steps=_STEPS),
    plane=Form(measures=_IN_PLANE, steps=_STEPS),
    axes=1,
    marker=Marker("P", 8.0),
)
