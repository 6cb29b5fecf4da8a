"""Small motions of the full equations about any state: mass, damping and stiffness of all frames.

With p the displacements of a state in the axes of each frame, and ω, ω̇ of that frame,

    δx = R ξ,  δφ = φ;   δẋ = R (ξ̇ + ω × ξ),  δω = φ̇ + ω × φ;   δẍ = R (ξ̈ + 2 ω × ξ̇ + ω × (ω × ξ) + ω̇ × ξ), ...

the equations r(q, v, v̇) + Φ_qᵀ λ = 0 become

    M p̈ + D ṗ + K p + J ᵀδλ = 0,   J p = C δλ

with coefficients that are constant if the mechanism rests, or rotates steadily as a whole. Elements provide exact
tangents. The other terms (loads, force models, gyroscopic terms, and the curvature of rows under their forces) follow
from central differences of fourth order along the frames; uncoupled frames are moved together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array, Integers
from supple.compilation import compile_kernel, kernel
from supple.compilation.bundle import copy_row, copy_table
from supple.formulations.absolute.beams.beam_arrays import ALPHA, BeamArrays
from supple.formulations.absolute.beams.element_work import element_work
from supple.formulations.absolute.beams.planar_element import planar_element
from supple.formulations.absolute.beams.space_element import space_element
from supple.formulations.absolute.instant import gradient_batch
from supple.formulations.absolute.iteration import residual
from supple.formulations.absolute.residual import measure_forces
from supple.formulations.absolute.step import State, displace_poses
from supple.formulations.absolute.step_work import BENT, step_work
from supple.formulations.absolute.system import Absolute, SystemArrays
from supple.formulations.absolute.time_damping import mass_damping_forces, projection
from supple.formulations.coefficients import DRY, ROLE
from supple.kinematics.numbering import terms
from supple.kinematics.primitives import A, B

_TURN, _LENGTH = 1e-3, 1e-3  # rad, or extents of the mechanism: how far differences reach
_SPEED, _SLIDING = 1e-2, 1e-2  # extents/s or rad/s; of the speed over which dry friction changes its sign
POSE, VELOCITY, ACCELERATION = range(3)
_STENCIL = ((-2.0, 1.0 / 12.0), (-1.0, -2.0 / 3.0), (1.0, 2.0 / 3.0), (2.0, -1.0 / 12.0))
"""Points and weights of a difference."""


class Tangent(NamedTuple):
    """Matrices M, D, K (n, n) and J (rows, n) over displacements p in frame axes; C (rows,) of compliant rows.

    force : (n,) residual r, in the same axes; gap : (rows,) Φ minus its target
    bent  : rad, the largest rotation of an element's end relative to its chord
    """

    M: sp.csc_array
    D: sp.csc_array
    K: sp.csc_array
    J: sp.csc_array
    compliance: Array
    force: Array
    gap: Array
    bent: float


def tangent_at(problem: Absolute, state: State, u: Array, aims: Array) -> Tangent:
    """Compute the tangent at one state: X, V, v̇ and λ in `state`, inputs u (actuators,), targets aims (driven,)."""
    system, column = problem.system, problem.system.rows.column
    frames, d = state.V.shape
    owner = _owner(problem)
    loose = without_elements(system)
    unit = np.where(column < 3, system.rows.extent, 1.0)
    sliding = _SLIDING * system.friction_speed if (system.uses_i[:, ROLE] == DRY).any() else _SPEED
    reach = (np.where(column < 3, _LENGTH * system.rows.extent, _TURN), sliding * unit, unit)
    elements = of_elements(problem, state)
    stiffness, damping, mass = (
        elements[kind] + _differences(problem, loose, (state, u, aims), owner, reach[kind], kind)
        for kind in (POSE, VELOCITY, ACCELERATION)
    )
    by_mass = _damp_by_mass(problem, (state, u, aims), mass, reach[POSE])
    stiffness, damping = stiffness + by_mass[POSE], damping + by_mass[VELOCITY]
    R, turn, spin, hasten = _axes(state, column)
    left = _residuals(problem, system, (state, u, aims), np.zeros((1, frames, d)), POSE)[0]
    n = frames * d
    return Tangent(
        sp.csc_array(R.T @ mass @ R),
        sp.csc_array(R.T @ (damping @ R + mass @ R @ spin)),
        sp.csc_array(R.T @ (stiffness @ R + damping @ R @ turn + mass @ R @ hasten)),
        sp.csc_array(_rows(problem, state.X) @ R),
        row_compliance(problem),
        -(R.T @ left[:n]),
        -left[n:-2],
        float(left[-2]),
    )


class StillTangent(NamedTuple):
    """Tangent at rest, over displacements in frame axes.

    Stiffness K (n, n), rows J (m, n), residual (n,) and gaps of the rows (m,) are as in `Tangent`; the potential in J
    does not include that of the inputs.
    """

    K: Array
    J: Array
    force: Array
    gap: Array
    potential: float


def still_tangent(problem: Absolute, state: State, u: Array, aims: Array, *, stiff: bool = True) -> StillTangent:
    """Compute the tangent at rest; stiff : also compute the stiffness, the most expensive part (otherwise zeros)."""
    system, column, at = problem.system, problem.system.rows.column, (state, u, aims)
    frames, d = state.V.shape
    n, blocks = frames * d, np.zeros((frames, 6, 6))
    blocks[:, :3, :3], blocks[:, 3:, 3:] = state.X[:-1, 3:].reshape(-1, 3, 3), np.eye(3)
    R = blocks[:, column[:, None], column]

    def in_frames(rows: Array) -> Array:
        return np.einsum("mfc,fcd->mfd", rows.reshape(-1, frames, d), R).reshape(-1, n)

    K = np.zeros((n, n))
    if stiff:
        reach = np.where(column < 3, _LENGTH * system.rows.extent, _TURN)
        loose = _differences(problem, without_elements(system), at, _owner(problem), reach, POSE)
        K = in_frames(in_frames((of_elements(problem, state)[POSE] + loose).toarray()).T).T
    left = _residuals(problem, system, at, np.zeros((1, frames, d)), POSE)[0]
    J = in_frames(_rows(problem, state.X).toarray())
    return StillTangent(K, J, -in_frames(left[None, :n])[0], -left[n:-2], float(left[-1]))


def without_elements(system: SystemArrays) -> SystemArrays:
    """Return the equations without beams, with superelements as masses, for differences.

    Mass-proportional damping, which couples all frames, is omitted as well.
    """
    still = system.superelements
    if still is not None:
        still = still._replace(stiffness=np.zeros_like(still.stiffness), damping=np.zeros_like(still.damping))
    # No arrays of beams instead of None, so that the same compiled kernel serves the equations with and without them.
    beams = system.beams
    if beams is not None:
        beams = BeamArrays(*(part if name == "coupled" else part[:0] for name, part in beams._asdict().items()))
    return system._replace(beams=beams, superelements=still, mass_damping=None)


def of_elements(problem: Absolute, state: State) -> tuple[sp.csr_array, ...]:
    """Return the exact K, D and M (n, n) of the terms that `without_elements` omits."""
    beams, floating, d = problem.elements.beams, problem.elements.superelements, state.V.shape[1]
    columns = (beams.frames[:, :, None] * d + np.arange(d)).reshape(len(beams.frames), 2 * d)
    derivatives = beam_derivatives(beams, problem.system.gravity, state.X, state.V, state.acceleration)
    found = [[(columns, -item)] for item in derivatives]
    for e, count in enumerate(floating.coordinates.tolist()):
        held = floating.columns[e : e + 1, d : d + count]
        for kind, item in ((POSE, floating.stiffness), (VELOCITY, floating.damping)):
            found[kind].append((held, item[e : e + 1, :count, :count]))
    return tuple(_assemble_blocks(parts, state.V.size) for parts in found)


def _damp_by_mass(
    problem: Absolute, at: tuple[State, Array, Array], mass: sp.csr_array, reach: Array
) -> tuple[sp.csr_array, sp.csr_array]:
    """Return K and D (n, n) of mass-proportional damping: D = Pᵀ M_α P; K is zero at rest, otherwise by differences."""
    state, n, d = at[0], at[0].V.size, at[0].V.shape[1]
    nothing = sp.csr_array((n, n))
    if problem.system.mass_damping is None:
        return nothing, nothing
    beams = problem.elements.beams
    weights = beams.numbers[:, ALPHA]
    damped = problem.system.alpha * mass
    if weights.any():
        still = np.zeros_like(state.V)
        own = -beam_derivatives(beams, np.zeros(3), state.X, still, still).acceleration
        columns = (beams.frames[:, :, None] * d + np.arange(d)).reshape(len(beams.frames), 2 * d)
        damped = damped + _assemble_blocks([(columns, weights[:, None, None] * own)], n)
    Psi, C = projection(problem, state.X)
    rows, across = sp.csr_array(C), sp.csr_array(damped @ Psi)  # Ψ is full, C_θ a few entries a row
    D = damped - rows.T @ across.T - across @ rows + rows.T @ sp.csr_array(Psi.T @ across) @ rows
    if not state.V.any():
        return nothing, sp.csr_array(D)
    moves = np.zeros((n, len(_STENCIL), n))
    for k, (where, _) in enumerate(_STENCIL):
        moves[np.arange(n), k, np.arange(n)] = where * np.tile(reach, n // d)
    found = np.zeros((n * len(_STENCIL), n))
    compile_kernel(damping_batch, count=len(found))(
        problem.system, problem.pattern, *at[:2], moves.reshape(-1, n // d, d), found
    )
    slopes = np.einsum("ckn,k->nc", found.reshape(n, len(_STENCIL), n), [w for _, w in _STENCIL])
    return sp.csr_array(-slopes / np.tile(reach, n // d)), sp.csr_array(D)


def _assemble_blocks(parts: list[tuple[Integers, Array]], n: int) -> sp.csr_array:
    """Assemble blocks (e, k, k) over columns (e, k) into (n, n)."""
    rows = [np.broadcast_to(columns[:, :, None], blocks.shape).ravel() for columns, blocks in parts]
    across = [np.broadcast_to(columns[:, None, :], blocks.shape).ravel() for columns, blocks in parts]
    values = np.concatenate([blocks.ravel() for _, blocks in parts])
    return sp.csr_array((values, (np.concatenate(rows), np.concatenate(across))), shape=(n, n))


def row_compliance(problem: Absolute) -> Array:
    """Return the compliance (rows,) of joints and prescribed coordinates."""
    return np.concatenate([problem.system.compliance, np.zeros(len(problem.system.driven))])


def _rows(problem: Absolute, X: Array) -> sp.csr_array:
    """Return Φ_q (rows, n) of joints and prescribed coordinates."""
    system = problem.system
    chosen = np.concatenate([np.arange(problem.rest.numbering.constraints), system.driven]).astype(np.int64)
    found = np.zeros((1, len(chosen), (len(X) - 1) * len(system.rows.column)))
    compile_kernel(gradient_batch, count=1)(system.rows, chosen, X[None], found)
    return sp.csr_array(found[0])


def _axes(state: State, column: Integers) -> tuple[sp.csr_array, ...]:
    """Return R and the dependence of velocities and accelerations on p and ṗ.

    v = R (ṗ + turn p), v̇ = R (p̈ + spin ṗ + hasten p)
    """
    frames = len(state.V)
    whole = np.zeros((frames, 6))
    whole[:, column] = state.V
    omega = skew_matrices(whole[:, 3:])
    whole[:, column] = state.acceleration
    faster = skew_matrices(whole[:, 3:])
    blocks = np.zeros((4, frames, 6, 6))
    R, turn, spin, hasten = blocks
    R[:, :3, :3], R[:, 3:, 3:] = state.X[:-1, 3:].reshape(-1, 3, 3), np.eye(3)
    turn[:, :3, :3] = turn[:, 3:, 3:] = spin[:, 3:, 3:] = omega
    spin[:, :3, :3] = 2.0 * omega
    hasten[:, :3, :3], hasten[:, 3:, 3:] = omega @ omega + faster, faster
    return tuple(sp.csr_array(sp.block_diag(list(block[:, column[:, None], column]))) for block in blocks)


def skew_matrices(vectors: Array) -> Array:
    """Return the matrices a × (k, 3, 3) of vectors (k, 3)."""
    found = np.zeros((len(vectors), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        found[:, i, j], found[:, j, i] = -vectors[:, k], vectors[:, k]
    return found


# ---------------------------------------------------------------------------- differences


def _owner(problem: Absolute) -> Integers:
    """Return the frame of each group that affects each frame, or -1, (groups, frames)."""
    system, constraints = problem.system, problem.rest.numbering.constraints
    used = tuple(np.flatnonzero(np.diff(system.uses_start)).tolist())
    key = f"frames apart {len(system.mass)} {tuple(system.driven)} {used}"
    return problem.rest.numbering.mechanism.compute_once(key, lambda: _apart(system, constraints))


def _apart(system: SystemArrays, constraints: int) -> Integers:
    near = _couple_frames(system, constraints)
    conflict = sp.csr_array(near @ near)
    group = np.full(near.shape[0], -1)
    for frame in range(len(group)):
        taken = set(group[conflict.indices[conflict.indptr[frame] : conflict.indptr[frame + 1]]].tolist())
        group[frame] = next(number for number in range(len(group) + 1) if number not in taken)
    owner = np.full((int(group.max(initial=-1)) + 1, len(group)), -1, dtype=np.int64)
    for frame in range(len(group)):
        owner[group[frame], near.indices[near.indptr[frame] : near.indptr[frame + 1]]] = frame
    return owner


def _couple_frames(system: SystemArrays, constraints: int) -> sp.csr_array:
    """Return (frames, frames) the pairs of frames that rows, measures or elements couple, including the diagonal."""
    frames, rows_i, d = len(system.mass), system.rows.rows_i, len(system.rows.column)
    measures = constraints + np.flatnonzero(np.diff(system.uses_start) > 0)
    joined = [
        sorted({int(rows_i[term, end]) for term in terms(system.rows, row) for end in (A, B)} - {frames})
        for row in [*range(constraints), *system.driven.tolist(), *measures.tolist()]
    ]
    joined += [[frame] for frame in range(frames)]
    if system.superelements is not None:
        joined += [
            sorted(set((own[: d + n] // d).tolist()))
            for own, n in zip(system.superelements.columns, system.superelements.coordinates, strict=True)
        ]
    part = np.repeat(np.arange(len(joined)), [len(item) for item in joined])
    member = np.concatenate([np.array(item, dtype=np.int64) for item in joined])
    incidence = sp.csr_array((np.ones(len(part)), (part, member)), shape=(len(joined), frames))
    return sp.csr_array(incidence.T @ incidence)


def _differences(
    problem: Absolute, system: SystemArrays, at: tuple[State, Array, Array], owner: Integers, reach: Array, kind: int
) -> sp.csr_array:
    """Return -∂(right side)/∂(poses, velocities or accelerations), (n, n); reach : (d,) of the inner differences."""
    groups, frames = owner.shape
    d, n = len(reach), frames * len(reach)
    moves = np.zeros((groups, d, len(_STENCIL), frames, d))
    for g in range(groups):
        moving = np.unique(owner[g][owner[g] >= 0])
        for c in range(d):
            for k, (where, _) in enumerate(_STENCIL):
                moves[g, c, k, moving, c] = where * reach[c]
    found = _residuals(problem, system, at, moves.reshape(-1, frames, d), kind)[:, :n]
    slopes = np.einsum("gckn,k->gcn", found.reshape(groups, d, len(_STENCIL), n), [w for _, w in _STENCIL])
    slopes = -slopes.reshape(groups, d, frames, d) / reach[None, :, None, None]
    group, f = np.nonzero(owner >= 0)
    rows = f[:, None, None] * d + np.arange(d)[None, None, :]
    columns = owner[group, f][:, None, None] * d + np.arange(d)[None, :, None]
    values = slopes[group, :, f]
    rows, columns = (np.broadcast_to(item, values.shape).ravel() for item in (rows, columns))
    return sp.csr_array((values.ravel(), (rows, columns)), shape=(n, n))


def _residuals(
    problem: Absolute, system: SystemArrays, at: tuple[State, Array, Array], moves: Array, kind: int
) -> Array:
    """Return right sides -(r_q, r_c) for poses, velocities or accelerations moved by each of moves (N, F, d).

    The last entries are the largest rotation of elements and the potential.
    """
    state, u, aims = at
    found = np.empty((len(moves), state.V.size + len(state.multipliers) + 2))
    compile_kernel(residual_batch, count=len(moves))(system, problem.pattern, state, u, aims, moves, kind, found)
    return found


@kernel(purpose="small motions of the full equations")
def residual_batch(system, pattern, state, u, aims, moves, kind, found):
    """Compute right sides of the equations at every moved state."""
    work = step_work(system, pattern)
    X, V, acceleration = state.X.copy(), state.V.copy(), state.acceleration.copy()
    moved = State(X, V, acceleration, state.algorithmic, state.multipliers, state.w)
    for n in range(moves.shape[0]):
        copy_table(state.V, V)
        copy_table(state.acceleration, acceleration)
        copy_table(state.X, X)
        if kind == POSE:
            displace_poses(system.rows.column, state.X, moves[n], X, work.twist)
        for b in range(V.shape[0]):
            for c in range(V.shape[1]):
                if kind == VELOCITY:
                    V[b, c] += moves[n, b, c]
                elif kind == ACCELERATION:
                    acceleration[b, c] += moves[n, b, c]
        potential = residual(system, moved, u, aims, work)
        copy_row(work.right_side, found[n, :-2])
        found[n, -2], found[n, -1] = work.account[BENT], potential


@kernel(purpose="damping in proportion to mass about a state")
def damping_batch(system, pattern, state, u, moves, found):
    """Compute forces of mass-proportional damping at every moved pose."""
    work, X, still = step_work(system, pattern), state.X.copy(), np.zeros_like(state.V)
    Q, d = work.forces, state.V.shape[1]
    for n in range(moves.shape[0]):
        displace_poses(system.rows.column, state.X, moves[n], X, work.twist)
        measure_forces(system, X, state.V, still, state.w, u, work)
        Q[:] = 0.0
        mass_damping_forces(system, X, state.V, state.w, work)
        for f in range(Q.shape[0]):
            for c in range(d):
                found[n, f * d + c] = Q[f, c]


# Exact derivatives of the forces of beam elements, at rest and in motion.
#
# Every column is one evaluation of the very kernel of the forces with a complex step iε along one velocity of one of
# the two frames; its imaginary part over ε is the derivative, without differences and to rounding. Rotations step in
# the frame's own axes, R (1 + iε ẽ), as velocities do; ẋ, ω and their rates are held where poses step.


STEP = 1e-30  # its square is below every rounding
OF_POSE, OF_VELOCITY, OF_ACCELERATION = range(3)


class BeamDerivatives(NamedTuple):
    """Derivatives ∂Q/∂q, ∂Q/∂v and ∂Q/∂v̇ (e, 2d, 2d) of the forces Q of each element on its two frames."""

    pose: Array
    velocity: Array
    acceleration: Array


def beam_derivatives(beams: BeamArrays, gravity: Array, X: Array, V: Array, acceleration: Array) -> BeamDerivatives:
    """Compute the derivatives at one state: X (frames + 1, 12), V and v̇ (frames, d)."""
    count, width = len(beams.frames), len(beams.coupled)
    found = np.zeros((3, count, width, width))
    if count:
        compile_kernel(complex_steps, count=count)(beams, gravity, X, V, acceleration, found)
    return BeamDerivatives(found[OF_POSE], found[OF_VELOCITY], found[OF_ACCELERATION])


@kernel(purpose="derivatives of beams")
def complex_steps(beams, gravity, X, V, acceleration, found):
    """Write the three derivatives of all elements to found (3, e, 2d, 2d)."""
    count, width = beams.frames.shape[0], beams.coupled.shape[0]
    d = width // 2
    Y, W, A = np.zeros(X.shape, np.complex128), np.zeros(V.shape, np.complex128), np.zeros(V.shape, np.complex128)
    work, Q = element_work(Y), np.zeros(V.shape, np.complex128)
    copy_table(X, Y)
    copy_table(V, W)
    copy_table(acceleration, A)
    for n in range(count):
        for q in range(3 * width):
            kind, end, column = q // width, q % width // d, q % d
            b = beams.frames[n, end]
            if kind == OF_POSE:
                step_pose(Y, b, column if d == 6 or column < 2 else 5)
            elif kind == OF_VELOCITY:
                W[b, column] += 1j * STEP
            else:
                A[b, column] += 1j * STEP
            for other in range(2):
                for c in range(d):
                    Q[beams.frames[n, other], c] = 0.0
            if d == 3:
                planar_element(beams, n, gravity, Y, W, A, work, Q)
            else:
                space_element(beams, n, gravity, Y, W, A, work, Q)
            for other in range(2):
                for c in range(d):
                    found[kind, n, other * d + c, end * d + column] = Q[beams.frames[n, other], c].imag / STEP
            for c in range(12):
                Y[b, c] = X[b, c]
            for c in range(d):
                W[b, c], A[b, c] = V[b, c], acceleration[b, c]


@kernel(inline=True)
def step_pose(Y, b, k):
    """Apply a complex step of pose b along component k of (ẋ in world axes, ω in frame axes)."""
    if k < 3:
        Y[b, k] += 1j * STEP
    else:
        first, second = 3 + (k - 2) % 3, 3 + (k - 1) % 3
        for r in range(0, 9, 3):
            one, other = Y[b, r + first], Y[b, r + second]
            Y[b, r + first] = one + 1j * STEP * other
            Y[b, r + second] = other - 1j * STEP * one
