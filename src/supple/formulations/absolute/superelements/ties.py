"""Rows that tie the touched nodes of a superelement to its floating frame and its coordinates.

    e_k·Rᵀ(x_i - r) - e_k·X_i = S_ik q,   ½ (Rᵀ R_i - R_iᵀ R)ᵛ = S_φi q      (docs/theory/superelements-in-motion.md, 2)

Both are sums of measures that joints are made of: places along the axes of the floating frame, products of directions
(in the plane the angle), and positions of the frames that hold q. The second is the sine of the turn along its axis: a
small rotation to third order, objective, and smooth.
"""

from __future__ import annotations

import numpy as np

from supple.formulations.absolute.held_coordinates import Term, coordinate, term, turn_about
from supple.formulations.absolute.superelements.superelement_arrays import PlacedBody
from supple.kinematics.primitives import ALONG, PA, U

_AXES = np.eye(3)


def tie_rows(item: PlacedBody, ground: int, extent: float, planar: bool) -> list[list[Term]]:
    """Of every node: three along axes and three about them, in the plane two and one."""
    body, held = item.body, 2 if planar else 3
    found = []
    for node in range(len(body.nodes)):
        at = item.nodes + node
        for k in (0, 1, 5) if planar else range(6):
            if k < 3:
                along = term(ALONG, item.frame, at, 1.0, extent)
                along.numbers[U : U + 3] = _AXES[k]
                along.numbers[PA : PA + 3] = body.nodes[node] - body.center
                row, scale = [along], extent
            else:
                row, scale = turn_about(k - 3, item.frame, at, planar), 1.0
            for i in np.flatnonzero(body.shapes[node, k]).tolist():
                where = (item.first + i // held, i % held)
                row.append(coordinate(where, ground, -float(body.shapes[node, k, i]), scale))
            found.append(row)
    return found
