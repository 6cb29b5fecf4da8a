"""The slide."""

from __future__ import annotations

from supple.description.joints.joint_kind import ORIENTATION, Form, JointKind, Marker, Step
from supple.description.measure import along, right_angle

PRISMATIC = JointKind(
    name="prismatic",
    says="One translation along `axis`.",
    space=Form(
        rows=(along("x"), along("y"), *ORIENTATION),
        measures={"slide": along("z")},
        steps=(Step("prismatic", "z", "slide"),),
    ),
    plane=Form(
        rows=(along("y"), right_angle("x", "y")),
        measures={"slide": along("x")},
        steps=(Step("prismatic", "x", "slide"),),
        axis="x",
    ),
    axes=1,
    marker=Marker("s", 7.0),
    driven=True,
)
