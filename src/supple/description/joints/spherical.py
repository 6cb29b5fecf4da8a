"""The ball joint."""

from __future__ import annotations

from supple.description.joints.joint_kind import POINT, Form, JointKind, Marker, Step

SPHERICAL = JointKind(
    name="spherical",
    says="Three rotations about a point.",
    space=Form(rows=POINT, steps=(Step("spherical"),)),
    marker=Marker(".", 9.0, filled=True),
)
