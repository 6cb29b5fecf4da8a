"""Displacements under further constant forces of a mechanism that carries its loads, actuators locked.

With A the response without loads (elastic-rest, 20) and K_g their geometric stiffness,

    (K + K_g) z + Cᵀλ = f,  C z = diag(c) λ      z = A (f - K_g z) = (1 + A K_g)⁻¹ A f       (elastic-rest, 20a)
"""

from __future__ import annotations

import warnings

import numpy as np

from supple.array_types import Array
from supple.compilation.threads import single_blas_thread
from supple.diagnostics import SuppleWarning
from supple.diagnostics.errors import user_level
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.preload import batch_row_forces
from supple.formulations.elastic_rest.static_response import static_response
from supple.formulations.elastic_rest.stiffening_kernels import geometric_stiffnesses


@single_blas_thread()
def loaded_response(rest: ElasticRest, X: Array, w: Array, forces: Array) -> Array:
    """Z (N, p, n) under forces (N, p, n) over z, at poses X (N, ...) where measures have the values w (N, ...).

    A warning says where the loads are more than the mechanism bears: an eigenvalue of A K_g is below -1 there.
    """
    K_g = geometric_stiffnesses(rest, X, batch_row_forces(rest, X, w))
    both, _ = static_response(rest, X, np.ascontiguousarray(np.concatenate([forces, K_g], axis=1)))
    Z, W = both[:, : forces.shape[1]], both[:, forces.shape[1] :]  # rows of W are K_g A: A is symmetric
    past = np.array([np.linalg.eigvals(one).real.min(initial=0.0) for one in W]) < -1.0
    if past.any():
        where = f" at {np.count_nonzero(past)} of {len(past)} configurations" if len(past) > 1 else ""
        warnings.warn(
            f'mechanism "{rest.numbering.mechanism.name}" buckles under its loads{where}: what is given there is no '
            "compliance of a position that holds. `buckling` gives the load factors",
            SuppleWarning, stacklevel=user_level(),
        )  # fmt: skip
    matrix = np.swapaxes(np.eye(rest.size) + W, 1, 2)
    return np.asarray(np.swapaxes(np.linalg.solve(matrix, np.swapaxes(Z, 1, 2)), 1, 2))
