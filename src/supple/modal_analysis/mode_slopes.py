"""Slopes of natural frequencies and shapes along parameters of the file, at constant θ (docs/theory/parameters.md).

    (K - λM) ψ + C_hᵀν = 0,  C_h ψ = 0,  ψᵀMψ = 1
    ∂λ/∂μ = ψᵀ(K' - λM')ψ + 2 νᵀC_h'ψ                                                              (parameters, 8)
    [K - λM  C_hᵀ  MΨ; C_h  0  0; ΨᵀM  0  0] [Y; N; κ] = -[(K' - λM')Ψ + C_h'ᵀν; C_h'Ψ; 0],
    Ψ' = Y - ½ Ψ ΨᵀM'Ψ                                                                                          (9)

C_h are ideal rows and locked coordinates, ν their forces; where points move with μ, C_h' is not zero. Modes of one
frequency are one level: its slopes are the eigenvalues of the same form over all of it, those of the branches that
part there, and its shapes have slopes without rotation among one another [Fox and Kapoor 1968, Nelson 1976, Dailey
1989].

With loads at rest K has their geometric stiffness K_g, and K' its slope, from K_g at six values around the
parameter's own. These equations use the coordinates of bodies that are not condensed: with K_g (10) is not valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.linalg as la
import scipy.sparse.linalg as spla

from supple.array_types import Array
from supple.compilation.threads import single_blas_thread
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.varied_mechanism import require_parameters
from supple.formulations.data_slopes import neighbours
from supple.formulations.elastic.condensation import away_from
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.constrained_modes import constrained_modes, rows_over_coordinates
from supple.formulations.elastic_rest.dense import collect_by_row, dense_modes, elastic_stiffness, needs_dense
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, HeldRows, elastic_rest
from supple.formulations.elastic_rest.elastic_slopes import body_matrix_slopes, constraint_slopes, elastic_slopes
from supple.formulations.elastic_rest.joint_stiffness_under_load import load_tables
from supple.formulations.elastic_rest.preload import preload_stiffness
from supple.formulations.rigid_link_system.small_link_motions import UNCONDENSED
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration

DISTINCT = 1e-4  # relative difference of ω below which modes are one level
WIDER = 8.0  # factor on the band for frequencies: shapes converge with the square root of the error of frequencies

_RANK = 1e-13  # fraction of the largest singular value, below which rows are redundant


class ModeSlopes(NamedTuple):
    """Slopes of the modes at one configuration along one parameter.

    squares : (k,) ∂ω²/∂μ; shapes : (k, n) ∂ψ/∂μ over z of `rest` with constant shapes of bodies, for these `modes`
    """

    squares: Array
    shapes: Array
    modes: Array
    rest: ElasticRest


class _System(NamedTuple):
    """K, M (n, n) and ideal rows (m, n) at one configuration, and ∂/∂μ of all three."""

    K: Array
    M: Array
    hard: Array
    dK: Array
    dM: Array
    dhard: Array


@single_blas_thread()
def mode_slopes(
    rest: ElasticRest, configuration: Configuration, shapes: Array, name: str, *, free_actuators: bool, preload: bool
) -> ModeSlopes:
    """Return the slopes of the lowest modes at one configuration, `shapes` (k, n) over z of `rest`, along a parameter.

    Bodies are condensed for a wider band here, and not at all with preload; modes of one level are rotated to the given
    ones.
    """
    count = len(shapes)
    wide = elastic_rest(rest.numbering.mechanism, UNCONDENSED if preload else WIDER * rest.band)
    held = wide.list_held_rows(actuators=not free_actuators)
    if preload or needs_dense(wide.numbering.mechanism, free_actuators=free_actuators):
        squares, Z = (found[:count] for found in dense_modes(wide, configuration, held, preload=preload))
    else:
        squares, Z = (found[0] for found in constrained_modes(wide, held, configuration.X[None], count))
    system, bodies = _system(wide, configuration, held, name), elastic_slopes(wide.numbering.mechanism, name).bodies
    if preload:
        K_g, slope = preload_stiffness(wide, configuration), preload_slope(wide, configuration, name)
        system = system._replace(K=system.K + K_g, dK=system.dK + slope)
    slopes, changes = np.empty(len(squares)), np.empty(Z.shape)
    for level in levels(squares):
        square = float(squares[level].mean())
        Z[level] = _rotate_modes(wide, Z[level], rest, shapes[level])
        form = sum(
            _eigenvalue_error(body, *own, square, Z[level]) for body, own in zip(wide.bodies, bodies, strict=True)
        )
        slopes[level], changes[level] = _level(system, square, Z[level], np.asarray(form))
    return ModeSlopes(slopes, changes, Z, wide)


def _rotate_modes(rest: ElasticRest, Z: Array, given: ElasticRest, shapes: Array) -> Array:
    """Return modes of one frequency over z of `rest`, rotated among one another to be closest to the given ones."""
    moved, known = (
        np.hstack([values[:, body.start : body.stop] @ body.shapes.T for body in of.bodies])
        for of, values in ((rest, Z), (given, shapes))
    )
    left, _, right = la.svd(known @ moved.T)
    return np.asarray(left @ right @ Z)


def levels(squares: Array) -> list[slice]:
    """Return the ranges of ω² (k,), ascending, that are one level; values that are 0 to rounding are one level too."""
    size = np.maximum(np.abs(squares), 1e-10 / DISTINCT * np.abs(squares).max(initial=0.0))
    ends = [0, *(np.flatnonzero(np.diff(squares) > 2.0 * DISTINCT * size[1:]) + 1).tolist(), len(squares)]
    return [slice(a, b) for a, b in pairwise(ends)]


def _eigenvalue_error(body: BodyCoordinates, dK: Array, dM: Array, square: float, Z: Array) -> Array:
    """Return the error of ΨᵀK'Ψ - λ ΨᵀM'Ψ of a body over its shapes, (q, q): that of its mesh at ω² minus its own.

    The shapes suffice for λ, but K' may need more: the interior of the mesh follows its interface exactly,
    (K - λM)_ii u_i = -(K - λM)_ib u_b.                                                              (parameters, 10)
    """
    small, mesh = body.condensed, body.mesh
    if small is None or mesh is None or not small.by_nodes or small.size >= mesh.size or not (dK.any() or dM.any()):
        return np.zeros((len(Z), len(Z)))
    change = dK - square * dM
    u = body.shapes @ Z[:, body.start : body.stop].T
    b = np.concatenate([mesh.columns(node) for node in small.interface])
    inner = np.setdiff1d(np.arange(mesh.size), b)
    left = ((mesh.K - square * mesh.M) @ u)[inner]
    poles = np.square(2.0 * np.pi * small.internal_hz)
    square = away_from([square], poles)[0]  # poles of shapes that are kept: the residual vanishes there
    inside = (mesh.K - square * mesh.M).tocsc()[inner][:, inner]
    more = np.zeros(u.shape)
    more[inner] = -spla.splu(inside.tocsc()).solve(left)
    return np.asarray((u + more).T @ change @ (u + more) - u.T @ change @ u)


def _level(system: _System, square: float, Z: Array, more: Array) -> tuple[Array, Array]:
    """Return ∂λ/∂μ (q,) ascending and ∂ψ/∂μ (q, n) of modes Z (q, n) of one frequency.

    more : error of the truncated shapes of bodies
    """
    K, M, hard, dK, dM, dhard = system
    (q, n), m = Z.shape, len(hard)
    D = 1.0 / np.sqrt(np.abs(np.diag(K)) + abs(square) * np.diag(M))[:, None]  # balances stiff and soft coordinates
    scale = np.linalg.norm(hard * D.T, axis=1, keepdims=True)
    border = D * (M @ Z.T)
    rows = np.vstack([hard * D.T / scale, border.T / np.linalg.norm(border)])
    matrix = np.block([[D * (K - square * M) * D.T, rows.T], [rows, np.zeros((m + q, m + q))]])
    inverse = la.pinv(matrix, rtol=_RANK)  # rows may be redundant

    def solve(force: Array, gap: Array) -> tuple[Array, Array]:
        """Return x (n, q) with (K - λM) x + C_hᵀν = force and C_h x = gap, orthogonal to the level; and ν (m, q)."""
        found = inverse @ np.vstack([D * force, gap / scale, np.zeros((q, force.shape[1]))])
        return D * found[:n], found[n : n + m] / scale

    better, carried = solve(-(K - square * M) @ Z.T, -hard @ Z.T)  # residual of the modes, which rounding limits
    Z = Z + better.T
    change, gap = (dK - square * dM) @ Z.T, dhard @ Z.T
    form, crossed = Z @ change + more, carried.T @ gap
    slopes, _ = la.eigh(0.5 * (form + form.T) + crossed + crossed.T)
    Y, _ = solve(-change - dhard.T @ carried, -gap)
    return slopes, (Y - 0.5 * Z.T @ (Z @ dM @ Z.T)).T


def _system(rest: ElasticRest, configuration: Configuration, held: HeldRows, name: str) -> _System:
    slopes = elastic_slopes(rest.numbering.mechanism, name)
    X = configuration.X
    every = np.arange(len(rest.arrays.rows_i))
    C = rows_over_coordinates(rest, every, X[None])[0]
    dC = constraint_slopes(rest, slopes, name, X, configuration.theta)
    dK, dM = body_matrix_slopes(rest, slopes)
    soft, stiffness = held.rows[held.compliance > 0.0], 1.0 / held.compliance[held.compliance > 0.0]
    crossed = C[soft].T @ (stiffness[:, None] * dC[soft])
    dK += crossed + crossed.T + C[soft].T @ (slopes.springs[soft][:, None] * C[soft])
    motors = collect_by_row(rest, "inertia")
    rows, inertia = np.array(list(motors), dtype=np.int64), np.array(list(motors.values()))
    M = np.eye(rest.size) + C[rows].T @ (inertia[:, None] * C[rows])
    crossed = C[rows].T @ (inertia[:, None] * dC[rows])
    change = slopes.motors[rows - rest.numbering.constraints]
    dM += crossed + crossed.T + C[rows].T @ (change[:, None] * C[rows])
    hard = held.rows[held.compliance == 0.0]
    return _System(elastic_stiffness(rest, configuration, held), M, C[hard], dK, dM, dC[hard])


def preload_slope(rest: ElasticRest, configuration: Configuration, name: str) -> Array:
    """Return ∂K_g/∂μ (n, n) over z of the uncondensed `rest`, at constant θ and with constant shapes of bodies."""

    def over_shapes(mechanism: Mechanism) -> dict[str, Array]:
        other = elastic_rest(mechanism, UNCONDENSED)
        B = _same_motion(rest, other)
        K_g = preload_stiffness(other, assemble(mechanism, configuration.theta))
        return {"stiffness of loads": B.T @ K_g @ B}

    (found,) = neighbours(rest.numbering.mechanism, name).slopes(over_shapes, ("stiffness of loads",)).values()
    return 0.5 * (found + found.T)


def _same_motion(rest: ElasticRest, other: ElasticRest) -> Array:
    """Return (n', n) z of another mechanism, whose nodes and deflections move as those of the first do."""
    B = np.zeros((other.size, rest.size))
    for one, two in zip(rest.bodies, other.bodies, strict=True):
        a, b = one.size - one.deflections, two.size - two.deflections
        modal = one.condensed is not None and not one.condensed.by_nodes
        shapes, moved = (item.to_condensed if modal else item.shapes for item in (one, two))
        B[two.start : two.start + b, one.start : one.start + a] = np.linalg.solve(moved[:, :b], shapes[:, :a])
    for drive, same in zip(rest.drives.values(), other.drives.values(), strict=True):
        B[same.column, drive.column] = np.sqrt(same.inertia / drive.inertia)
    return B


def require_slopes(mechanism: Mechanism, along: Sequence[str], *, rigid_links: bool) -> None:
    """Require a mechanism and formulation that have slopes along these parameters."""
    if not along:
        return
    require_parameters(mechanism, along)
    if rigid_links:
        raise InputError(
            'modes of formulation "erls" have no slopes along parameters', part="along", hint="omit the formulation"
        )
    if load_tables(mechanism):
        (joint, _), *_ = load_tables(mechanism)
        raise InputError(
            "load-dependent stiffness has no slopes along parameters",
            part=f'joint "{joint}"', path=("joints", joint, "stiffness"), hint="give a number instead of the table",
        )  # fmt: skip
