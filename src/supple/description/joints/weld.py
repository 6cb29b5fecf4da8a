"""Two bodies as one, or held together by what is elastic between them."""

from __future__ import annotations

from supple.description.joints.joint_kind import ORIENTATION, POINT, Form, JointKind, Marker
from supple.description.measure import along, right_angle

WELD = JointKind(
    name="weld",
    says="No motion.",
    space=Form(rows=(*POINT, *ORIENTATION), steps=()),
    plane=Form(rows=(along("x"), along("y"), right_angle("x", "y")), steps=()),
    marker=Marker("X", 7.0),
)
