"""The hinge."""

from __future__ import annotations

from supple.description.joints.joint_kind import AXIS, POINT, Form, JointKind, Marker, Step
from supple.description.measure import along, turn

_ABOUT = {"angle": turn("z")}
_STEPS = (Step("revolute", "z", "angle"),)

REVOLUTE = JointKind(
    name="revolute",
    says="One rotation about `axis`.",
    space=Form(rows=(*POINT, *AXIS), measures=_ABOUT, steps=_STEPS),
    plane=Form(rows=(along("x"), along("y")), measures=_ABOUT, steps=_STEPS),
    axes=1,
    marker=Marker("o", 7.5, through=True),
    driven=True,
)
