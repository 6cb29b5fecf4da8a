"""What the page needs of the loads at rest: the constants of their geometric stiffness K_g.

    K_g = Σ_bodies Σ_c w_c(θ) K_c + Σ_pairs Gᵀ (Σ λ_i D²φ_i) G                        (docs/theory/elastic-rest.md, 14b)

The page is given the matrices K_c; at a posture it solves for the forces λ of the rows and adds everything up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.array_types import Array
from supple.formulations.coefficients import along_measure, carried
from supple.formulations.elastic_rest.constrained_modes import first_shift
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, Held
from supple.formulations.elastic_rest.loads import measures_acted_along
from supple.formulations.elastic_rest.preload import pushed_rows
from supple.formulations.elastic_rest.rest_stiffness import load_forms
from supple.formulations.elastic_rest.rows import WIDTH
from supple.kinematics.rest import rest as undeformed
from supple.view.page.encoding import table


class _Forms:
    """Upper triangles of symmetric matrices one after the other, equal ones once."""

    def __init__(self) -> None:
        self.values: list[Array] = []
        self._size = 0
        self._first: dict[bytes, int] = {}

    def add(self, K: Array) -> int:
        """Where the triangle of K begins."""
        upper = K[np.triu_indices(len(K))]
        key = upper.tobytes()
        if key not in self._first:
            self._first[key] = self._size
            self.values.append(upper)
            self._size += len(upper)
        return self._first[key]


def load_tables(rest: ElasticRest, held: Held) -> dict[str, Any]:
    """Loads over z, K_c for units of them and of what rows push parts with, and springs along measures.

    Springs of elastic mechanisms are linear: force + slope · measure.
    """
    given, forms = load_forms(rest), _Forms()
    acting = np.flatnonzero(given.loads.wrenches.any(axis=1))
    of_loads = []
    for number, i in enumerate(acting.tolist()):
        width, wrench = int(given.loads.place[i, WIDTH]), given.loads.wrenches[i]
        for c in range(6):
            K = given.of_loads[i, c, : width**2].reshape(width, width)
            half = wrench[:3] if c < 3 else wrench[3:]  # in body axes any component of it may act
            if half.any() and K.any():
                of_loads.append((number, c, forms.add(K)))
    of_parts = []
    for part, width in enumerate(rest.arrays.part_i[:, WIDTH].tolist()):
        for c in range(6):
            K = given.of_parts[part, c, : width**2].reshape(width, width)
            if K.any():
                of_parts.append((part, c, forms.add(K)))
    position = undeformed(rest.numbering.mechanism)
    arrays, first = carried(position).arrays, rest.numbering.constraints
    along = {measure: along_measure(arrays, measure, 0.0) for measure in measures_acted_along(rest)}
    along = {measure: item for measure, item in along.items() if item.force or item.slope}
    return {
        "place": table(given.loads.place[acting], "i4"),
        "maps": table(given.loads.maps[acting]),
        "wrenches": table(given.loads.wrenches[acting]),
        "of_loads": table(np.array(of_loads).reshape(-1, 3), "i4"),
        "of_parts": table(np.array(of_parts).reshape(-1, 3), "i4"),
        "forms": table(np.concatenate([np.zeros(0), *forms.values]), "f4"),
        "acted": table(np.array([(first + measure, measure) for measure in along]).reshape(-1, 2), "i4"),
        "along": table(np.array([(item.force, item.slope) for item in along.values()]).reshape(-1, 2)),
        "pushed": table(pushed_rows(rest), "i4"),
        "theta": [int(first), len(rest.numbering.coordinates)],
        "shift": float(first_shift(rest, held, position.X)),
    }
