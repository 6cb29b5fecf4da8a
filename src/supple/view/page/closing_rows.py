"""What the page needs to close loops by itself: the rows of the mechanism, and where closure sets out.

The page repeats `assemble`: Newton's method along the segment from rest (docs/theory/kinematics.md, docs/view.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.kinematics.closing import start_of
from supple.kinematics.closure_kernel import Start
from supple.kinematics.rest import Rest
from supple.view.page.encoding import table


def closing_rows(position: Rest) -> dict[str, Any]:
    """Rows, rest with its rigid modes, and the rank that rows have away from dead points."""
    numbering = position.numbering
    arrays, nothing = numbering.arrays, np.zeros((0,))
    # Without θ nothing moves on the page, and rows that leave motions free have no start.
    still = Start(position.X, position.w, nothing, nothing, 1.0, 1.0, 0.0)
    start = start_of(position) if numbering.coordinates else still
    return {
        "rows": {
            "sizes": table(arrays.sizes, "i4"),
            "tree": table(arrays.tree, "i4"),
            "reach": table(arrays.reach, "i4"),
            "column": table(arrays.column, "i4"),
            "selected": table(position.selected, "i4"),
            "rows_i": table(arrays.rows_i, "i4"),
            "rows_f": table(arrays.rows_f),
            "extent": float(arrays.extent),
        },
        "rest": {
            "X": table(start.X),
            "w": table(start.w),
            "Psi": table(start.Psi),
            "dPsi": table(start.dPsi),
            "sign": float(start.sign),
            "margin": float(start.margin),
        },
        "rank": int(numbering.columns - position.mobility.mobility + len(numbering.coordinates)),
    }
