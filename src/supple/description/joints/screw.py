"""Screw and nut: what slides along the axis follows what turns about it.

s - h/(2π) φ = 0          s the slide, φ the angle, h the pitch: advance for a whole turn
"""

from __future__ import annotations

from math import tau

from supple.description.joints.joint_kind import AXIS, Form, JointKind, Marker, Parameter, Step
from supple.description.measure import along, turn
from supple.description.quantities.dimension import LENGTH

SCREW = JointKind(
    name="screw",
    says="Rotation about `axis` and, for every turn, translation along it by `pitch`.",
    space=Form(
        rows=(along("x"), along("y"), *AXIS, along("z") + turn("z", -1.0 / tau, "pitch")),
        measures={"angle": turn("z")},
        steps=(Step("screw", "z", "angle", 1.0 / tau, "pitch"),),
    ),
    axes=1,
    marker=Marker("8", 8.0, through=True),
    parameters=(
        Parameter(
            "pitch",
            "Of a screw: advance of the second body along the axis for a whole turn, m (also the lead of a screw of "
            "several starts); positive for a right-hand thread, negative for a left-hand one.",
            LENGTH,
            mirrored=True,
        ),
    ),
)
