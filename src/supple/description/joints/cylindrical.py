"""A slide that also turns."""

from __future__ import annotations

from supple.description.joints.joint_kind import AXIS, Form, JointKind, Marker, Step
from supple.description.measure import along, turn

CYLINDRICAL = JointKind(
    name="cylindrical",
    says="Translation along and rotation about `axis`.",
    space=Form(
        rows=(along("x"), along("y"), *AXIS),
        measures={"slide": along("z"), "angle": turn("z")},
        steps=(Step("prismatic", "z", "slide"), Step("revolute", "z", "angle")),
    ),
    axes=1,
    marker=Marker("h", 8.5, through=True),
    driven=True,
)
