"""A superelement by its modes among the bodies of vibrations: its rigid motions and modes as condensed coordinates.

    Φ = (T, S):   ΦᵀMΦ, ΦᵀMW_kΦ and ΦᵀW_jᵀMW_kΦ from the integrals of its file      (docs/theory/elastic-bodies.md, 7)

About the centre of mass, with P = ∫ρ XXᵀ from the inertia and D = ∫ρ X Sᵀ from what of J and H is linear in q.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array
from supple.formulations.absolute.superelements.floating_body import FloatingBody
from supple.formulations.elastic.body_matrices import ElasticBody
from supple.formulations.elastic.condensation import CondensedBody
from supple.geometry.rotation import tilde

_AXES = np.eye(3)
_PAIRS = [(j, k) for j in range(3) for k in range(3) if j <= k]


def modal_mesh(body: FloatingBody) -> ElasticBody:
    """Its touched nodes, among which its mass is divided: for what is told of a mode; motions are those of Φ."""
    count = len(body.nodes)
    share = np.concatenate([np.full(3, body.mass), np.full(3, np.trace(body.inertia) / 3.0)]) / count
    none = sp.csr_array((6 * count, 6 * count))
    return ElasticBody(
        name=body.name,
        nodes=body.nodes,
        K=none,
        M=sp.csr_array(sp.diags_array(np.tile(share, count))),
        turning=(none,) * 3,
        width=6,
        node=np.repeat(np.arange(count), 6),
        component=np.tile(np.arange(6), count),
        interface=tuple(range(count)),
        places={(key[0], key[1], key[2]): node for key, node in body.carriers.items()},
    )


def lowest_hz(body: FloatingBody) -> float:
    """Of its modes in their own frame, Hz."""
    squares = np.linalg.eigvals(np.linalg.solve(body.M, body.K)).real
    moving = squares[squares > 1e-13 * squares.max(initial=0.0)]
    return float(np.sqrt(moving.min())) / (2.0 * np.pi) if len(moving) else 0.0


def modal_condensed(body: FloatingBody) -> CondensedBody:
    """In coordinates (ξ, q): a twist at the centre of mass, and the modes."""
    n, count = body.size, len(body.nodes)
    T = np.zeros((count, 6, 6))
    T[:] = np.eye(6)
    T[:, :3, 3:] = -np.array([tilde(place) for place in body.nodes - body.center])
    basis = np.concatenate([T, body.shapes], axis=2).reshape(6 * count, 6 + n)
    rigid = np.zeros((6, 6))
    rigid[:3, :3], rigid[3:, 3:] = body.mass * np.eye(3), body.inertia
    coupling = np.vstack([body.momentum, body.spin])
    K = np.zeros((6 + n, 6 + n))
    K[6:, 6:] = body.K
    M = np.block([[rigid, coupling], [coupling.T, body.M]])
    to_centre = np.eye(6)
    to_centre[:3, 3:] = -tilde(body.center)
    turning, turned = _turned(body)
    motions = np.vstack([to_centre, np.zeros((n, 6))])
    return CondensedBody(
        name=body.name,
        K=K,
        M=M,
        basis=basis,
        interface=tuple(range(count)),
        nodes=body.nodes,
        width=6,
        band=np.inf,
        error=0.0,
        internal_hz=np.zeros(0),
        rigid_motions=motions,
        lumped=M[:3],
        rigid_mass=to_centre.T @ rigid @ to_centre,
        rigid_coupling=to_centre.T @ M[:6],
        turning_rigid=np.array([to_centre.T @ matrix[:6] for matrix in turning]),
        turning=turning,
        turned=turned,
        by_nodes=False,
    )


def _turned(body: FloatingBody) -> tuple[Array, Array]:
    """ΦᵀMW_kΦ (3, nc, nc), and ΦᵀW_jᵀMW_kΦ (6, nc, nc) for j <= k."""
    m, C, n = body.mass, body.momentum, body.size
    P = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    D = _products(body)
    trace = np.einsum("iia->a", D)
    wide = np.einsum("jk,a->jka", np.eye(3), trace) - np.einsum("kja->jka", D)  # ∫ρ (e_j × X)·(e_k × S)
    spins = [tilde(e) for e in _AXES]
    # e_j × (e_a × X) = L_ja X
    L = [[np.outer(_AXES[a], _AXES[j]) - (j == a) * np.eye(3) for a in range(3)] for j in range(3)]
    turning, turned = np.zeros((3, 6 + n, 6 + n)), np.zeros((6, 6 + n, 6 + n))
    for k, G in enumerate(turning):
        G[:3, :3] = m * spins[k]
        G[3:6, 3:6] = [[_AXES[k] @ P @ np.cross(_AXES[j], _AXES[i]) for j in range(3)] for i in range(3)]
        G[:3, 6:], G[6:, :3] = spins[k] @ C, C.T @ spins[k]
        G[3:6, 6:], G[6:, 3:6] = wide[:, k], -wide[:, k].T
        G[6:, 6:] = body.turning[k]
    for (j, k), G in zip(_PAIRS, turned, strict=True):
        G[:3, :3] = m * spins[j].T @ spins[k]
        G[3:6, 3:6] = [[np.sum((L[j][a].T @ L[k][b]) * P) for b in range(3)] for a in range(3)]
        G[:3, 6:] = spins[j].T @ spins[k] @ C
        G[6:, :3] = (spins[k].T @ spins[j] @ C).T
        G[3:6, 6:] = [np.einsum("mn,mna->a", L[j][a].T @ spins[k], D) for a in range(3)]
        G[6:, 3:6] = np.transpose([np.einsum("mn,mna->a", L[k][b].T @ spins[j], D) for b in range(3)])
        G[6:, 6:] = body.turned[j, k]
    return turning, turned


def _products(body: FloatingBody) -> Array:
    """D (3, 3, n), ∫ρ X_i S_j: its symmetric part from how J widens, the other from H₀."""
    found = np.zeros((3, 3, body.size))
    trace = np.einsum("jja->a", body.widening) / 4.0
    for i in range(3):
        found[i, i] = trace - 0.5 * body.widening[i, i]
        j, k = (i + 1) % 3, (i + 2) % 3
        both, difference = -body.widening[j, k], body.spin[i]
        found[j, k], found[k, j] = 0.5 * (both + difference), 0.5 * (both - difference)
    return found
