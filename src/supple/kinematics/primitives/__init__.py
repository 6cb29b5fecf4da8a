"""Scalar measures of which every joint, coordinate, actuator, spring and sensor consists.

A measure φ relates two frames, one on body a and one on body b (docs/theory/kinematics.md, eqs. 1-9):

    ALONG      u·(p_b - p_a)               u fixed in a
    DOT        u·w                         u fixed in a, w in b
    DISTANCE   |p_b - p_a|
    ANGLE      atan2(v·w, u·w)             u, v fixed in a at right angles, w in b

`terms` has the value, the gradient, its change along a motion (slope), the curvature and the second rate of each
measure, and of the term of a row, which is a factor times a measure. `vectors_in_motion` has the vectors they consist
of, and the kinds.
"""

from supple.kinematics.primitives.terms import (
    continue_turns,
    curvature,
    gradient,
    gradient_slope,
    row_value,
    second_rate,
    value,
)
from supple.kinematics.primitives.vectors_in_motion import (
    ALONG,
    ANGLE,
    DISTANCE,
    DOT,
    FACTOR,
    KIND,
    KINDS,
    LENGTHS,
    NONE,
    OFFSET,
    PA,
    PB,
    ROW_WIDTH,
    SCALE,
    THEN,
    TURNS,
    ZERO,
    A,
    B,
    Course,
    U,
    V,
    W,
    in_body,
    rotate_to_world,
)

__all__ = [
    "ALONG",
    "ANGLE",
    "DISTANCE",
    "DOT",
    "FACTOR",
    "KIND",
    "KINDS",
    "LENGTHS",
    "NONE",
    "OFFSET",
    "PA",
    "PB",
    "ROW_WIDTH",
    "SCALE",
    "THEN",
    "TURNS",
    "ZERO",
    "A",
    "B",
    "Course",
    "U",
    "V",
    "W",
    "continue_turns",
    "curvature",
    "gradient",
    "gradient_slope",
    "in_body",
    "rotate_to_world",
    "row_value",
    "second_rate",
    "value",
]  # fmt: skip
