"""Cardan's joint."""

from __future__ import annotations

from supple.description.joints.joint_kind import POINT, Form, JointKind, Marker, Step
from supple.description.measure import right_angle, tilt, turn

UNIVERSAL = JointKind(
    name="universal",
    says="Two rotations: `axes[0]` fixed in the first body, `axes[1]` in the second, at right angles.",
    space=Form(
        rows=(*POINT, right_angle("z", "x")),
        measures={"first": turn("z"), "second": tilt("x")},
        steps=(Step("revolute", "z", "first"), Step("revolute", "x", "second")),
    ),
    axes=2,
    marker=Marker("D", 6.5),
)
