"""Rows of the mechanism before they are numbered: sums of measures, each times a factor.

    Φ = Σ_t f_t φ_t + c                                                                            (kinematics, 13)

A hinge holds single measures; a screw holds the displacement along its axis less the pitch times the turn about it, a
coupling the coordinates of several joints.
"""

from __future__ import annotations

from typing import NamedTuple

from supple.kinematics.joint_constraints import Primitive


class PrimitiveTerm(NamedTuple):
    """A factor times a primitive between two named bodies."""

    factor: float
    primitive: Primitive
    a: str
    b: str

    def times(self, factor: float) -> PrimitiveTerm:
        return self._replace(factor=factor * self.factor)


Row = tuple[PrimitiveTerm, ...]


def single_row(primitive: Primitive, a: str, b: str) -> Row:
    """A row of one measure as it is."""
    return (PrimitiveTerm(1.0, primitive, a, b),)
