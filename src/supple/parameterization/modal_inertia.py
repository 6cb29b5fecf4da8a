"""Inertia of a mechanism over η = (θ, δ) at δ = 0, from modes Ψ (rows: θ rigid, γ constraint, ι internal) over z.

    M = ΨΨᵀ,   ∂_k M = ∂_kΨ Ψᵀ + Ψ ∂_kΨᵀ                                                       [Brüls 2007, eqs. 7-11]
    ∂M_ij/∂δ_a = n_aj·ψ_i + n_ai·ψ_j,   n_aj = ∂_jψ_a + ω_j × ψ_a for θ_j, zero otherwise

(docs/theory/parameterization.md, eqs. 13-15, 17)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import kernel
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.rows import FIRST, WIDTH
from supple.formulations.elastic_rest.turning import turning_in_z


class BodyArrays(NamedTuple):
    """Bodies over z.

    place   : (bodies, 3) BODY, FIRST coordinate and WIDTH, number of coordinates
    rigid   : (bodies, widest, d) z of rigid motions
    turning : (bodies, axes, widest, widest) ΦᵀMW_kΦ in z
    """

    place: NDArray[np.int64]
    rigid: Array
    turning: Array


@kernel
def inertia(bodies, omega, Psi, dPsi, M, dM):
    """Into zeros, M (n, n) and dM (n, n, n) over η; Psi (n, z), dPsi (s, n, z), omega (bodies, s, axes) of frames."""
    s, n = omega.shape[1], Psi.shape[0]
    Pt = np.ascontiguousarray(Psi.T)
    M[:] = np.dot(Psi, Pt)
    for j in range(s):
        moved = np.dot(dPsi[j], Pt)
        for i in range(n):
            for k in range(n):
                dM[i, k, j] += moved[i, k] + moved[k, i]
        # n_aj·ψ_i for all a in δ, i in η
        for b in range(bodies.place.shape[0]):
            first, width = bodies.place[b, FIRST], bodies.place[b, WIDTH]
            Q = np.zeros((width, width))  # transposed
            turns = False
            for e in range(omega.shape[2]):
                if omega[b, j, e] != 0.0:
                    turns = True
                    for c in range(width):
                        for f in range(width):
                            Q[f, c] += omega[b, j, e] * bodies.turning[b, e, c, f]
            if turns:
                here = np.ascontiguousarray(Psi[:, first : first + width])
                moved += np.dot(np.dot(here, Q), np.ascontiguousarray(here.T))  # ψ_iᵀ Q ψ_a
        for a in range(s, n):
            for i in range(n):
                dM[i, j, a] += moved[a, i]
                dM[j, i, a] += moved[a, i]


def body_arrays(rest: ElasticRest) -> BodyArrays:
    """The bodies of a mechanism, as kernels take them."""
    d, widest = len(rest.arrays.column), max(body.size for body in rest.bodies)
    return BodyArrays(
        np.array([(b, body.start, body.size) for b, body in enumerate(rest.bodies)], dtype=np.int64),
        np.array([_padded(body.rigid, (widest, d)) for body in rest.bodies]),
        np.array([[_padded(axis, (widest, widest)) for axis in turning_in_z(rest, body)] for body in rest.bodies]),
    )


def _padded(matrix: Array, shape: tuple[int, int]) -> Array:
    return np.pad(matrix, [(0, wide - own) for own, wide in zip(matrix.shape, shape, strict=True)])
