"""A term of a row in the arrays `rows_i` and `rows_f`: a factor times a measure, plus an offset.

A row of the mechanism is a chain of terms (kinematics, 13): THEN is the row of its next term, NONE after the last.

An angle is known within a turn. Where a row counts full turns, TURNS is the number of the measure among those that are
followed (`Configuration.w`) that does so, and φ = w - ZERO to within half a turn (kinematics, 14).

`X[b]` holds position (3) and rotation (9, row by row) of body b; the last body is the ground.
"""

from __future__ import annotations

ALONG, DOT, DISTANCE, ANGLE = KINDS = 0, 1, 2, 3
LENGTHS = (ALONG, DISTANCE)

KIND, A, B, THEN, TURNS = 0, 1, 2, 3, 4  # columns of rows_i
NONE = -1

U, V, W, PA, PB, OFFSET, SCALE, FACTOR, ZERO = 0, 3, 6, 9, 12, 15, 16, 17, 18  # columns of rows_f
ROW_WIDTH = 19
