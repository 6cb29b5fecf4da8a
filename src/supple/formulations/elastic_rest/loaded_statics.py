"""Displacements under additional forces, and buckling load factors, of a loaded mechanism.

Actuators are locked. With A the response without loads (elastic-rest, 20) and K_g their geometric stiffness,

    (K + K_g) z + Cᵀλ = f,  C z = diag(c) λ      z = A (f - K_g z) = (1 + A K_g)⁻¹ A f       (elastic-rest, 20a)
"""

from __future__ import annotations

import warnings
from collections.abc import Collection

import numpy as np
from scipy.linalg import LinAlgError, eigh

from supple.array_types import Array
from supple.compilation.threads import single_blas_thread
from supple.diagnostics import InputError, SuppleWarning
from supple.diagnostics.errors import user_level
from supple.formulations.elastic_rest.dense import dense_system
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.loads import EVERY, loads_at
from supple.formulations.elastic_rest.preload import batch_row_forces, preload_stiffness
from supple.formulations.elastic_rest.static_response import static_response
from supple.formulations.elastic_rest.stiffening_kernels import geometric_stiffnesses
from supple.kinematics.configuration import Configuration


@single_blas_thread()
def loaded_response(rest: ElasticRest, X: Array, w: Array, forces: Array) -> Array:
    """Return Z (N, p, n) under forces (N, p, n) over z, at poses X (N, ...) with measures w (N, ...).

    A warning reports loads beyond buckling: an eigenvalue of A K_g is below -1.
    """
    K_g = geometric_stiffnesses(rest, X, batch_row_forces(rest, X, w))
    both, _ = static_response(rest, X, np.ascontiguousarray(np.concatenate([forces, K_g], axis=1)))
    Z, W = both[:, : forces.shape[1]], both[:, forces.shape[1] :]  # rows of W are K_g A: A is symmetric
    past = np.array([np.linalg.eigvals(one).real.min(initial=0.0) for one in W]) < -1.0
    if past.any():
        where = f" at {np.count_nonzero(past)} of {len(past)} configurations" if len(past) > 1 else ""
        warnings.warn(
            f'mechanism "{rest.numbering.mechanism.name}" buckles under its loads{where}, so the compliance is not '
            "that of a stable equilibrium; `buckling` computes the load factors",
            SuppleWarning, stacklevel=user_level(),
        )  # fmt: skip
    matrix = np.swapaxes(np.eye(rest.size) + W, 1, 2)
    return np.asarray(np.swapaxes(np.linalg.solve(matrix, np.swapaxes(Z, 1, 2)), 1, 2))


_NOTHING = 1e-9  # of the largest 1/λ: rounding, and no load factor


@single_blas_thread()
def load_factors(
    rest: ElasticRest, configuration: Configuration, scaled: Collection[str], count: int
) -> tuple[Array, Array]:
    """Return buckling load factors λ (k,), ascending, and shapes (k, n), with some kinds of loads scaled.

    (K + K_g[fixed] + λ K_g[scaled]) z = 0, C z = 0                              (docs/theory/elastic-rest.md, 14d)
    """
    mechanism = rest.numbering.mechanism
    loads = loads_at(rest, configuration, scaled)
    if not loads.vector.any() and not loads.along:
        raise InputError(
            f"no load to scale: the mechanism has no {' and no '.join(scaled)}",
            part=f'mechanism "{mechanism.name}"',
            hint="add gravity: or forces: to the file",
        )
    _, K, N = dense_system(rest, configuration, rest.list_held_rows(actuators=True), preload=False)
    fixed = tuple(kind for kind in EVERY if kind not in scaled)
    K = K + preload_stiffness(rest, configuration, fixed)
    G = N.T @ preload_stiffness(rest, configuration, scaled) @ N
    try:
        inverse, vectors = eigh(-0.5 * (G + G.T), N.T @ K @ N)
    except LinAlgError as error:
        raise InputError(
            "the mechanism is unstable before any load is scaled: a motion has no stiffness, or the fixed loads "
            "already cause buckling",
            part=f'mechanism "{mechanism.name}"',
            hint='scale all loads (scale="all"), or check the modes',
        ) from error
    chosen = np.argsort(inverse)[::-1][:count]
    chosen = chosen[inverse[chosen] > _NOTHING * np.abs(inverse).max(initial=0.0)]
    shapes = (N @ vectors[:, chosen]).T
    for shape in shapes:
        size = max(np.abs(body.shapes @ shape[body.start : body.stop]).max(initial=0.0) for body in rest.bodies)
        shape /= size if size > 0.0 else 1.0
    return 1.0 / inverse[chosen], shapes
