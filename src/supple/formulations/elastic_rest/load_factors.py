"""Load factors of buckling: (K + K_g[fixed] + λ K_g[scaled]) z = 0, C z = 0 (docs/theory/elastic-rest.md, 14d)."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.linalg import LinAlgError, eigh

from supple.array_types import Array
from supple.compilation.threads import single_blas_thread
from supple.diagnostics import InputError
from supple.formulations.elastic_rest.dense import dense_system
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.loads import EVERY, loads_at
from supple.formulations.elastic_rest.preload import preload_stiffness
from supple.kinematics.configuration import Configuration

_NOTHING = 1e-9  # of the largest 1/λ: rounding, and no load factor


@single_blas_thread()
def load_factors(
    rest: ElasticRest, configuration: Configuration, scaled: Collection[str], count: int
) -> tuple[Array, Array]:
    """λ (k,) rising and shapes (k, n), the loads of some kinds scaled and the others fixed."""
    mechanism = rest.numbering.mechanism
    loads = loads_at(rest, configuration, scaled)
    if not loads.vector.any() and not loads.along:
        raise InputError(
            f"no load to scale: there is no {' and no '.join(scaled)}",
            part=f'mechanism "{mechanism.name}"',
            hint="give gravity: or forces: in the file",
        )
    _, K, N = dense_system(rest, configuration, rest.held(actuators=True), preload=False)
    fixed = tuple(kind for kind in EVERY if kind not in scaled)
    K = K + preload_stiffness(rest, configuration, fixed)
    G = N.T @ preload_stiffness(rest, configuration, scaled) @ N
    try:
        inverse, vectors = eigh(-0.5 * (G + G.T), N.T @ K @ N)
    except LinAlgError as error:
        raise InputError(
            "it does not hold its shape before any load is scaled: a motion has no stiffness, or the loads that stay "
            "fixed buckle it already",
            part=f'mechanism "{mechanism.name}"',
            hint='scale all loads (scale="all"), or look at its modes',
        ) from error
    chosen = np.argsort(inverse)[::-1][:count]
    chosen = chosen[inverse[chosen] > _NOTHING * np.abs(inverse).max(initial=0.0)]
    shapes = (N @ vectors[:, chosen]).T
    for shape in shapes:
        size = max(np.abs(body.shapes @ shape[body.start : body.stop]).max(initial=0.0) for body in rest.bodies)
        shape /= size if size > 0.0 else 1.0
    return 1.0 / inverse[chosen], shapes
