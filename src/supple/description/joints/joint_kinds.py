"""All kinds of joints by name: the built-in kinds and the registered ones."""

from __future__ import annotations

from math import tau

from supple.description.joints.joint_kind import (
    AXIS,
    ORIENTATION,
    POINT,
    Form,
    JointKind,
    Marker,
    Parameter,
    Step,
)
from supple.description.measure import along, right_angle, tilt, turn
from supple.description.quantities.dimension import LENGTH
from supple.kinds.registry import Registry

# Screw and nut: the translation along the axis follows the rotation about it.
#
# s - h/(2π) φ = 0          s the slide, φ the angle, h the pitch: advance per turn


SCREW = JointKind(
    name="screw",
    description="Rotation about `axis`, with a translation along it by `pitch` per turn.",
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
            "Advance of a screw's second body along the axis per turn, m (the lead of a screw with "
            "several starts); positive for a right-hand thread, negative for a left-hand one.",
            LENGTH,
            mirrored=True,
        ),
    ),
)


# The slide.


PRISMATIC = JointKind(
    name="prismatic",
    description="One translation along `axis`.",
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


# The hinge.


_ABOUT = {"angle": turn("z")}
_TURNING = (Step("revolute", "z", "angle"),)

REVOLUTE = JointKind(
    name="revolute",
    description="One rotation about `axis`.",
    space=Form(rows=(*POINT, *AXIS), measures=_ABOUT, steps=_TURNING),
    plane=Form(rows=(along("x"), along("y")), measures=_ABOUT, steps=_TURNING),
    axes=1,
    marker=Marker("o", 7.5, through=True),
    driven=True,
)


# The cylindrical joint.


CYLINDRICAL = JointKind(
    name="cylindrical",
    description="Translation along and rotation about `axis`.",
    space=Form(
        rows=(along("x"), along("y"), *AXIS),
        measures={"slide": along("z"), "angle": turn("z")},
        steps=(Step("prismatic", "z", "slide"), Step("revolute", "z", "angle")),
    ),
    axes=1,
    marker=Marker("h", 8.5, through=True),
    driven=True,
)


# The universal (Cardan) joint.


UNIVERSAL = JointKind(
    name="universal",
    description="Two rotations about perpendicular axes: `axes[0]` fixed in the first body, `axes[1]` in the second.",
    space=Form(
        rows=(*POINT, right_angle("z", "x")),
        measures={"first": turn("z"), "second": tilt("x")},
        steps=(Step("revolute", "z", "first"), Step("revolute", "x", "second")),
    ),
    axes=2,
    marker=Marker("D", 6.5),
)


# The planar joint.


_IN_PLANE = {"x": along("x"), "y": along("y"), "angle": turn("z")}
_STEPS = (Step("prismatic", "x", "x"), Step("prismatic", "y", "y"), Step("revolute", "z", "angle"))

PLANAR = JointKind(
    name="planar",
    description="Two translations in a plane and the rotation about its normal `axis`.",
    space=Form(rows=(along("z"), *AXIS), measures=_IN_PLANE, steps=_STEPS),
    plane=Form(measures=_IN_PLANE, steps=_STEPS),
    axes=1,
    marker=Marker("P", 8.0),
)


# The free joint.


_X, _Y, _Z = (Step("prismatic", letter, letter) for letter in "xyz")

FREE = JointKind(
    name="free",
    description="All motions: no constraint between the two bodies.",
    space=Form(measures={"x": along("x"), "y": along("y"), "z": along("z")}, steps=(_X, _Y, _Z, Step("spherical"))),
    plane=Form(measures=_IN_PLANE, steps=_STEPS),
)


# The translational joint.

TRANSLATION = JointKind(
    name="translation",
    description="Three translations, no rotation.",
    space=Form(rows=ORIENTATION, measures={"x": along("x"), "y": along("y"), "z": along("z")}, steps=(_X, _Y, _Z)),
    plane=Form(rows=(right_angle("x", "y"),), measures={"x": along("x"), "y": along("y")}, steps=(_X, _Y)),
)


# The weld: a rigid connection, or an elastic one.


WELD = JointKind(
    name="weld",
    description="No motion: a rigid connection, or an elastic one with `stiffness`.",
    space=Form(rows=(*POINT, *ORIENTATION), steps=()),
    plane=Form(rows=(along("x"), along("y"), right_angle("x", "y")), steps=()),
    marker=Marker("X", 7.0),
)


# The ball joint.


SPHERICAL = JointKind(
    name="spherical",
    description="Three rotations about a point.",
    space=Form(rows=POINT, steps=(Step("spherical"),)),
    marker=Marker(".", 9.0, filled=True),
)


# All kinds of joints by name.


JOINT_KINDS = Registry(
    "joint kind", JointKind,
    REVOLUTE, PRISMATIC, CYLINDRICAL, SCREW, UNIVERSAL, SPHERICAL, PLANAR, TRANSLATION, WELD, FREE,
)  # fmt: skip
