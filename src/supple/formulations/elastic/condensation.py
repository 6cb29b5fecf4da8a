"""One elastic body condensed to the nodes that are touched, exact to a stated error over a band of frequencies.

The displacements are u = Ψ_b u_b + V ι: static modes of the touched nodes and a few internal coordinates, the
fixed-interface modes within the band and the dominant shapes in which the rest follows the interface dynamically
(rational Krylov vectors, reduced by their share in the interface's dynamic stiffness).
docs/theory/elastic-bodies.md, equations 8-14. [Craig 1968]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.diagnostics import InputError
from supple.formulations.elastic.body_matrices import Array, ElasticBody
from supple.formulations.elastic.interior import Interior, symmetric


@dataclass(frozen=True, eq=False)
class CondensedBody:
    """Mass and stiffness of a body for its touched nodes and internal coordinates, in body axes.

    K, M        : (nc, nc) dense; columns i*width to (i+1)*width are node interface[i], then come the internal
                  coordinates with K diagonal and M the identity among themselves
    basis       : (size, nc), Φ: displacements of the whole mesh = Φ condensed
    nodes       : (touched, 3) positions of the touched nodes
    band        : rad/s; error: largest relative error of ω² that the condensation can cause within it
    internal_hz : frequencies of the internal coordinates
    rigid_motions : (nc, width) the rigid motions of the body in these coordinates, Φ rigid_motions = T
    lumped      : (3, nc) total force of unit gravity along each body axis on each coordinate
    rigid_mass     : (width, width) Tᵀ M T
    rigid_coupling : (width, nc) Tᵀ M Φ
    turning_rigid  : (axes, width, nc) Tᵀ M W_k Φ; axes are x, y, z, or z alone in the plane
    turning        : (axes, nc, nc) Φᵀ M W_k Φ
    by_nodes       : whether coordinates are those above; of a body given by its modes they are rigid motions and modes
    turned         : (pairs, nc, nc) Φᵀ W_jᵀ M W_k Φ for j <= k
    """

    name: str
    K: Array
    M: Array
    basis: Array
    interface: tuple[int, ...]
    nodes: Array
    width: int
    band: float
    error: float
    internal_hz: Array
    rigid_motions: Array
    lumped: Array
    rigid_mass: Array
    rigid_coupling: Array
    turning_rigid: Array
    turning: Array
    turned: Array
    by_nodes: bool = True

    @property
    def size(self) -> int:
        """nc, the number of coordinates."""
        return self.K.shape[0]


def condense(body: ElasticBody, band: float, tolerance: float = 1e-6) -> CondensedBody:
    """Condense a body to its interface with a relative error of ω² below `tolerance` for ω up to `band` (rad/s); once
    for each band."""
    return body.remembered(("condensed", band, tolerance), lambda: _condensed(body, band, tolerance))


def _condensed(body: ElasticBody, band: float, tolerance: float) -> CondensedBody:
    if not band > 0.0:
        raise InputError(
            f"the band of frequencies {band:g} rad/s is empty", part=f'body "{body.name}"', hint="give more"
        )
    interface = body.interface or (0,)
    b = np.concatenate([body.columns(node) for node in interface])
    inner = np.setdiff1d(np.arange(body.size), b)
    V, error = np.zeros((len(inner), 0)), 0.0
    psi = np.zeros((0, len(b)))
    if len(inner):
        problem = Interior(body, b, inner)
        V, error = problem.internal_shapes(band**2, tolerance)
        psi, V = (problem.unit[:, None] * shapes for shapes in (problem.psi, V))
    basis = np.zeros((body.size, len(b) + V.shape[1]))
    basis[b, np.arange(len(b))] = 1.0
    basis[inner, : len(b)] = psi
    basis[inner, len(b) :] = V
    return _projected(body, interface, basis, band, error)


def _projected(body: ElasticBody, interface: tuple[int, ...], basis: Array, band: float, error: float) -> CondensedBody:
    count = len(interface) * body.width
    K, M = (symmetric(basis.T @ (matrix @ basis)) for matrix in (body.K, body.M))
    K[:count, count:] = K[count:, :count] = 0.0  # Ψ_bᵀ K V vanishes because Ψ_b is static
    squares = np.diag(K)[count:].copy()
    K[count:, count:] = np.diag(squares)
    M[count:, count:] = np.eye(len(squares))
    T = body.rigid_motions()
    MT = body.M @ T
    turned = [turning @ basis for turning in body.turning]
    lumped = np.zeros((3, basis.shape[1]))
    translations = 2 if body.width == 3 else 3
    lumped[:translations] = MT[:, :translations].T @ basis
    rigid = np.zeros((basis.shape[1], body.width))
    rigid[:count] = T[np.concatenate([body.columns(node) for node in interface])]
    return CondensedBody(
        name=body.name,
        K=K,
        M=M,
        basis=basis,
        interface=interface,
        nodes=body.nodes[list(interface)],
        width=body.width,
        band=band,
        error=error,
        internal_hz=np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi),
        rigid_motions=rigid,
        lumped=lumped,
        rigid_mass=symmetric(T.T @ MT),
        rigid_coupling=MT.T @ basis,
        turning_rigid=np.array([T.T @ shape for shape in turned]),
        turning=np.array([basis.T @ shape for shape in turned]),
        turned=np.array([basis.T @ (matrix @ basis) for matrix in body.turned]).reshape(-1, *K.shape),
    )
