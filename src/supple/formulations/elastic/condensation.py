"""Condensation of an elastic body to its connected nodes, with a stated error over a band of frequencies.

The displacements are u = Ψ_b u_b + V ι. Ψ_b are static modes of the connected nodes. V are a few internal coordinates:
the fixed-interface modes within the band, and the dominant shapes of the remaining dynamic response to the interface
(rational Krylov vectors, reduced by their share in the interface's dynamic stiffness).
docs/theory/elastic-bodies.md, equations 8-14. [Craig 1968]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from supple.array_types import Array, Integers
from supple.diagnostics import InputError, NumericalError
from supple.formulations.elastic.body_matrices import ElasticBody


@dataclass(frozen=True, eq=False)
class CondensedBody:
    """Mass and stiffness of a body for its connected nodes and internal coordinates, in body axes.

    K, M        : (nc, nc) dense; columns i*width to (i+1)*width are node interface[i], followed by the internal
                  coordinates, in which K is diagonal and M the identity
    basis       : (size, nc), Φ: displacements of the whole mesh = Φ condensed
    nodes       : (touched, 3) positions of the connected nodes
    band        : rad/s; error: largest relative error of ω² that the condensation can cause within it
    internal_hz : frequencies of the internal coordinates
    rigid_motions : (nc, width) the rigid motions of the body in these coordinates, Φ rigid_motions = T
    lumped      : (3, nc) total force of unit gravity along each body axis on each coordinate
    rigid_mass     : (width, width) Tᵀ M T
    rigid_coupling : (width, nc) Tᵀ M Φ
    turning_rigid  : (axes, width, nc) Tᵀ M W_k Φ; axes are x, y, z, or z alone in the plane
    turning        : (axes, nc, nc) Φᵀ M W_k Φ
    by_nodes       : whether the coordinates are those above; for a body given by its modes they are rigid motions and
                     modes
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
        """Number of coordinates nc."""
        return self.K.shape[0]


def condense(body: ElasticBody, band: float, tolerance: float = 1e-6) -> CondensedBody:
    """Condense a body to its interface with a relative error of ω² below `tolerance` for ω up to `band` (rad/s).

    The result is computed once for each band.
    """
    return body.compute_once(("condensed", band, tolerance), lambda: _condense(body, band, tolerance))


def _condense(body: ElasticBody, band: float, tolerance: float) -> CondensedBody:
    if not band > 0.0:
        raise InputError(
            f"the frequency band must be positive (got {band:g} rad/s)", part=f'body "{body.name}"', hint="increase it"
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
    return _project_body(body, interface, basis, band, error)


def _project_body(
    body: ElasticBody, interface: tuple[int, ...], basis: Array, band: float, error: float
) -> CondensedBody:
    count = len(interface) * body.width
    K, M = (symmetrize(basis.T @ (matrix @ basis)) for matrix in (body.K, body.M))
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
        rigid_mass=symmetrize(T.T @ MT),
        rigid_coupling=MT.T @ basis,
        turning_rigid=np.array([T.T @ shape for shape in turned]),
        turning=np.array([basis.T @ shape for shape in turned]),
        turned=np.array([basis.T @ (matrix @ basis) for matrix in body.turned]).reshape(-1, *K.shape),
    )


# The interior of an elastic body with its touched nodes held: static modes, fixed-interface modes, followers.
#
# docs/theory/elastic-bodies.md, equations 8-14. [Craig 1968]


_DENSE = 150  # internal degrees up to which dense linear algebra is the faster
_BLOCK, _LEAST, _ITERATIONS = 6, 6, 60  # vectors, least and most steps in the search for overlooked modes
_SNAPSHOTS = 6
_EDGE = 1.02  # modes this far above the band (in ω²) are still taken, so that none lies on its end
_CHECKS = (0.15, 0.4, 0.65, 0.85, 1.0)  # fractions of the band at which the error is measured


class Interior:
    """The body with fixed interface: (K - sM) x = r, s = ω², dense or sparse depending on its size."""

    def __init__(self, body: ElasticBody, b: Integers, inner: Integers):
        self.name = body.name
        self.sparse = len(inner) > _DENSE
        diagonal = body.K.diagonal()[inner]
        if diagonal.min() <= 0.0:
            raise self._singular()
        # Displacements and rotations are counted in units that make the diagonal of K_ii one.
        self.unit = 1.0 / np.sqrt(diagonal)
        scaling = sp.diags_array(self.unit)
        blocks = [sp.csc_array(scaling @ matrix[inner][:, inner] @ scaling) for matrix in (body.K, body.M)]
        self.K, self.M = blocks if self.sparse else [block.toarray() for block in blocks]
        K_ib, M_ib = (self.unit[:, None] * matrix[inner][:, b].toarray() for matrix in (body.K, body.M))
        K_bb, M_bb = (matrix[b][:, b].toarray() for matrix in (body.K, body.M))
        self.psi = -self.solve(0.0, K_ib)
        self.coupling = M_ib + self.M @ self.psi  # Lᵀ (inner, interface): inertia forces of the static modes
        static_mass = symmetrize(M_bb + M_ib.T @ self.psi + self.psi.T @ self.coupling)
        size = np.where(body.component[b] < 3, body.extent, 1.0)
        self.yardstick = Yardstick(symmetrize(K_bb + K_ib.T @ self.psi), static_mass, size)

    def solve(self, s: float, right: Array) -> Array:
        """Return (K - s M)⁻¹ right."""
        matrix = self.K - s * self.M if s else self.K
        try:
            with np.errstate(all="raise"):
                if self.sparse:
                    return spla.splu(sp.csc_array(matrix)).solve(np.ascontiguousarray(right))
                return la.solve(matrix, right, assume_a="sym" if s else "pos")
        except (RuntimeError, la.LinAlgError, FloatingPointError) as error:
            raise self._singular() from error

    def _singular(self) -> NumericalError:
        return NumericalError(
            "its stiffness is singular although the nodes of its joints are held",
            part=f'body "{self.name}"',
            hint="some of it is not connected to the rest, or a superelement lacks stiffness",
        )

    def modes(self, below: float) -> tuple[Array, Array]:
        """Return the fixed-interface modes with ω² up to `below`: values (k,), shapes (inner, k) with Φᵀ M Φ = I."""
        size = self.K.shape[0]
        if not self.sparse:
            inverse, shapes = la.eigh(self.M, self.K)  # K is positive definite, M need not be
            keep = inverse * below >= 1.0
            inverse, shapes = inverse[keep][::-1], shapes[:, keep][:, ::-1]
            return 1.0 / inverse, shapes / np.sqrt(inverse)
        heavy = np.flatnonzero(self.M.diagonal() > 0.0)
        if len(heavy) <= _DENSE:
            return self._modes_of_few(heavy, below)
        inverse_of = spla.splu(self.K)
        start = np.random.default_rng(0).normal(size=(size, 1 + _BLOCK))  # the same at every run
        operator = spla.LinearOperator(self.K.shape, inverse_of.solve)
        count = 6
        while True:
            values, shapes = spla.eigsh(
                self.K, min(count, size - 1), self.M, sigma=0.0, OPinv=operator, v0=start[:, 0], tol=1e-12
            )
            if values.max() > below or count >= size - 1:
                break
            count *= 2
        kept = np.argsort(values)[: np.count_nonzero(values <= below)]
        return self._with_overlooked(inverse_of, values[kept], shapes[:, kept], start[:, 1:], below)

    def _modes_of_few(self, heavy: Integers, below: float) -> tuple[Array, Array]:
        """Return the modes if few degrees of freedom have mass, from an eigenproblem of their compliance."""
        compliance = self.solve(0.0, np.eye(len(self.unit))[:, heavy])
        values, directions = la.eigh(self.M[heavy][:, heavy].toarray())
        root = directions * np.sqrt(np.maximum(values, 0.0))
        inverse, turn = la.eigh(symmetrize(root.T @ compliance[heavy] @ root))
        keep = np.flatnonzero(inverse * below >= 1.0)[::-1]
        return 1.0 / inverse[keep], compliance @ (root @ (turn[:, keep] / inverse[keep]))

    def _with_overlooked(
        self, factor: Any, values: Array, modes: Array, block: Array, below: float
    ) -> tuple[Array, Array]:
        """Add modes that Lanczos' method misses (duplicates in symmetric bodies), found by inverse iteration."""
        found = np.full(block.shape[1], np.inf)
        for iteration in range(_ITERATIONS):
            block = factor.solve(self.M @ block)
            block -= modes @ (modes.T @ (self.M @ block))
            inverse, turn = la.eigh(*(symmetrize(block.T @ (matrix @ block)) for matrix in (self.M, self.K)))
            block = block @ (turn[:, ::-1] / np.sqrt(inverse[::-1]))
            last, found = found, 1.0 / inverse[::-1]
            inside = found <= below
            if not inside.any() and iteration >= _LEAST:
                break
            if inside.any() and np.abs(found[inside] / last[inside] - 1.0).max() < 1e-14:
                break
        values, modes = np.append(values, found[inside]), np.hstack([modes, block[:, inside]])
        order = np.argsort(values)
        return values[order], modes[:, order]

    def internal_shapes(self, band: float, tolerance: float) -> tuple[Array, float]:
        """Return V (inner, n) with VᵀMV = I and VᵀKV diagonal, and the remaining error; band is ω² (10-14)."""
        if not self.coupling.any():  # a body without mass
            return np.zeros((len(self.coupling), 0)), 0.0
        values, modes = self.modes(_EDGE * band)
        rest = self.coupling - self.M @ (modes @ (modes.T @ self.coupling))
        candidates = self._followers(rest, modes, band, values)
        k, m = (symmetrize(candidates.T @ (matrix @ candidates)) for matrix in (self.K, self.M))
        r = candidates.T @ rest
        missing = [
            (s, rest.T @ self._solve_orthogonal(s, rest, modes)) for s in away_from(band * np.square(_CHECKS), values)
        ]
        for count in range(len(k) + 1):
            n = slice(count)
            known = [r[n].T @ la.solve(k[n, n] - s * m[n, n], r[n]) if count else 0.0 for s, _ in missing]
            error = max(self._error(s, full - part) for (s, full), part in zip(missing, known, strict=True))
            if error <= tolerance:
                break
        followers = candidates[:, :count]
        if error > tolerance:
            raise NumericalError(
                f"condensing it leaves an error of {error:.2g}, more than {tolerance:g}",
                part=f'body "{self.name}"',
                hint="request a smaller band, or a larger tolerance",
            )
        return self._orthonormal(np.hstack([modes, followers])), error

    def _solve_orthogonal(self, s: float, rest: Array, modes: Array) -> Array:
        """Return (K - sM)⁻¹ rest, orthogonal to the retained modes."""
        x = self.solve(s, rest)
        return x - modes @ (modes.T @ (self.M @ x))

    def _followers(self, rest: Array, modes: Array, band: float, values: Array) -> Array:
        """Return shapes (inner, n) of the response to the interface, sorted by their share in the dynamic stiffness."""
        points = band * 0.5 * (1.0 - np.cos(np.pi * (2 * np.arange(_SNAPSHOTS) + 1) / (2 * _SNAPSHOTS)))
        taken = [s * self._solve_orthogonal(s, rest, modes) @ self.yardstick.root(s) for s in away_from(points, values)]
        Y = np.hstack(taken) / np.sqrt(_SNAPSHOTS)
        share, directions = la.eigh(symmetrize(Y.T @ (self.K @ Y)))
        order = [i for i in np.argsort(share)[::-1] if share[i] > 1e-14 * max(share.max(), 1e-300)]
        return Y @ (directions[:, order] / np.sqrt(share[order]))

    def _error(self, s: float, missing: Array) -> float:
        """Return the largest eigenvalue of s² L[(K - sM)⁻¹ - V (Vᵀ(K - sM)V)⁻¹ Vᵀ]Lᵀ against ½(K_b + s M_b) (13)."""
        root = self.yardstick.root(s)
        return s * s * float(np.abs(la.eigvalsh(symmetrize(root.T @ missing @ root))).max())

    def _orthonormal(self, shapes: Array) -> Array:
        if not shapes.shape[1]:
            return shapes
        inverse, turn = la.eigh(symmetrize(shapes.T @ (self.M @ shapes)), symmetrize(shapes.T @ (self.K @ shapes)))
        inverse, turn = inverse[::-1], turn[:, ::-1]
        found = shapes @ (turn / np.sqrt(inverse))
        return found * np.where(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])] < 0.0, -1.0, 1.0)


_GAP = 1e-4  # of ω²: how far from a pole


def away_from(points: Iterable[float], poles: Array) -> list[float]:
    """Return the points, slightly decreased if one is too close to a pole."""
    found = []
    for s in points:
        while len(poles) and np.min(np.abs(poles / s - 1.0)) < _GAP:
            s *= 1.0 - 3.0 * _GAP
        found.append(float(s))
    return found


class Yardstick:
    """Reference for errors of the interface's dynamic stiffness: ½(K_b + s M_b) (elastic-bodies, 13).

    In a mode of the whole mechanism, twice this is at most xᵀK x + ω² xᵀM x = 2 ω² xᵀM x, so that the quotient bounds
    the relative error of ω². Directions without mass (in some imported matrices) get a small mass, relative to the
    others with displacements in units of `unit`, the body's size, and rotations in radians.
    """

    def __init__(self, stiffness: Array, mass: Array, unit: Array):
        stiffness, mass = (unit[:, None] * matrix * unit for matrix in (stiffness, mass))
        if not mass.any():
            mass = np.eye(len(mass))
        scale = 1.0 / np.sqrt(np.maximum(np.diag(mass), 1e-12 * np.diag(mass).max()))
        values, directions = la.eigh(symmetrize(scale[:, None] * mass * scale))
        half = scale[:, None] * (directions / np.sqrt(np.maximum(values, 1e-9 * values.max())))
        squares, turn = la.eigh(symmetrize(half.T @ stiffness @ half))
        self.squares, self.shapes = np.maximum(squares, 0.0), unit[:, None] * (half @ turn)

    def root(self, s: float) -> Array:
        """Return W with Wᵀ ½(K_b + s M_b) W = I."""
        return self.shapes / np.sqrt(0.5 * (self.squares + s))


def symmetrize(matrix: Array) -> Array:
    """Return the symmetric part of a matrix, which removes rounding errors."""
    return 0.5 * (matrix + matrix.T)
