"""Responses of the equivalent rigid link system, line by line over w_i (docs/theory/rigid-link-system.md, 22).

    (K_e(1 + iη) + K_g + iω(D + αM + βK_e) + iH - ω²M) w_i = f

K_e is elastic, K_g what forces at rest add. Ports are rows over the coordinates z of the uncondensed mechanism, and so
are dampings of modes and materials.
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array, Complex
from supple.compilation.threads import single_blas_thread
from supple.formulations.elastic_rest.damping_law import Dissipation
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.rigid_link_system.small_motions import free_motions, locked_motions
from supple.frequency_response.direct_response import Proportional, require_finite
from supple.frequency_response.driving import Holding
from supple.kinematics.configuration import Configuration
from supple.modal_analysis.link_modes import over_z, rest_load_stiffness


@single_blas_thread()
def link_response(
    rest: ElasticRest,
    configuration: Configuration,
    held: Holding,
    led: list[int],
    ports: tuple[Array, Array],
    omega: Array,
    damping: Proportional,
    deformed: Dissipation | None,
    *,
    preload: bool,
    turning: bool,
) -> Complex:
    """Displacement of outputs for unit forces, then for unit displacements of the led rows: (L, outputs, inputs).

    ports : rows (p, n) of forces and (o, n) of outputs over z; turning : as in `modal_response`
    """
    moving = bool(led) or held.moves(rest.numbering)
    turns = preload and turning
    motions = free_motions(configuration, preload=turns) if moving else locked_motions(configuration)
    T = over_z(rest, motions)
    added = rest_load_stiffness(rest, configuration, motions, T) if preload else 0.0
    F, G = ports[0] @ T, ports[1] @ T
    M, D, K = motions.M, motions.D.copy(), motions.K + added
    K_e = (free_motions(configuration, preload=False).K if moving and turns else motions.K).copy()
    K_g = K - K_e
    first = rest.numbering.constraints
    for row, (stiffness, lost) in held.yields.items() if moving else ():
        K_e[row - first, row - first] += stiffness
        D[row - first, row - first] += lost
    H = np.zeros_like(K)
    if deformed is not None:
        D, H = D + T.T @ deformed.viscous @ T, T.T @ deformed.hysteretic @ T
    stands = [row - first for row in {*held.locked, *led}] if moving else []
    free = np.setdiff1d(np.arange(len(K)), stands)
    moved = np.array([row - first for row in led], dtype=np.int64)
    stiff = K_e * (1.0 + 1j * damping.eta) + K_g + 1j * H
    lossy = D + damping.alpha * M + damping.beta * K_e
    found = np.empty((len(omega), len(G), len(F) + len(led)), dtype=np.complex128)
    finite = np.ones(len(omega), dtype=np.bool_)
    for i, w in enumerate(omega):
        A = stiff + 1j * w * lossy - w * w * M
        pushes = np.hstack([F[:, free].T, -A[np.ix_(free, moved)]])
        try:
            x = np.linalg.solve(A[np.ix_(free, free)], pushes)
        except np.linalg.LinAlgError:
            finite[i] = False
            continue
        found[i] = G[:, free] @ x
        found[i, :, len(F) :] += G[:, moved]
    require_finite(rest, omega, finite & np.isfinite(found).all(axis=(1, 2)))
    return found
