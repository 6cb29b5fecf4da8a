"""The rows in which an axis of a tree stands: one of integers, one of numbers."""

from __future__ import annotations

TURN, SLIDE, SCREW, BALL, FLOAT = 0, 1, 2, 3, 4
"""What an axis does: it turns about z, slides along z of its frame, or both at once; or it is one of the three
rotations (BALL), or of the six motions (FLOAT), that are fixed in the body they move."""

# Integers.
KIND = 0
PARENT = 1
"""Axis before it; the number of axes for the ground."""
BEFORE = 2
"""Axis before its joint if it is BALL or FLOAT; its parent otherwise."""
AT_Q = 3
"""Its first place in q."""
AT_V = 4
"""Its place in q̇."""
FIRST = 5
"""First axis of its BALL or FLOAT; itself otherwise."""
BODY = 6
"""1 if something with mass sits on it."""
CARRIES_ORIGIN = 7
"""1 for displacements from the ground: the reference point goes along with them."""
AT_INPUT = 8
"""Its first place among the prepared configuration."""
INTEGERS = 9

# Numbers.
PLACE_ROTATION = 0
PLACE_POSITION = 9
"""Its frame in the frame of the axis before it, at q = 0."""
MASS = 12
CENTER = 13
SECOND_MOMENT = 16
"""Σ about the centre: xx, xy, xz, yy, yz, zz."""
CARRIED_MASS = 22
"""Of this body and all bodies further out."""
ARMATURE = 23
DAMPING = 24
STIFFNESS = 25
RELAXED = 26
"""Coordinate at which the spring is relaxed."""
OFFSET = 27
"""Coordinate at which the frame is as placed."""
DRIVE = 28
"""Constant force along the coordinate."""
DRY = 29
FRICTION_SPEED = 30
"""Over which dry friction changes its sign."""
PITCH = 31
"""Of a SCREW: how far it slides for a radian."""
NUMBERS = 32
