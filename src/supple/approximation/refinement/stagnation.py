"""When dividing boxes does not help any more.

A smooth function is fitted better in a half than in the whole, by 2^-(n+1) once the box is smaller than what it holds.
Where a function jumps, every box across the jump has the same error, however small: their number doubles, or more,
with every halving, and nothing is gained. Boxes may be divided that long before a narrow feature is resolved; so a
box counts as stagnant when its error is still more than half that of an ancestor many halvings ago.
"""

from __future__ import annotations

GAINED = 0.5  # of the ancestor's error
_ALONG_A_LINE = 16  # halvings; in one dimension a jump costs two boxes a halving, in more it costs many
_IN_ALL, _PER_AXIS = 8, 3


def generations(dimension: int) -> int:
    """Halvings within which the error of a box has to fall."""
    return _ALONG_A_LINE if dimension == 1 else max(_IN_ALL, _PER_AXIS * dimension)


def stagnates(errors: tuple[float, ...], dimension: int) -> bool:
    """Whether the last of the errors of a box and its ancestors, oldest first, has not fallen for long."""
    back = generations(dimension)
    return len(errors) > back and errors[-1] > GAINED * errors[-1 - back]
