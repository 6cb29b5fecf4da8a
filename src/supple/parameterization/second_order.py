"""Terms of second order in δ: stiffening or softening of a spinning or loaded link.

With points at x_b + R_b (X + Ψδ + ½ g[δ, δ]), g the displacement of second order that keeps joints, θ and the strain
of Ψδ, and K[a] the geometric stiffness of the inertia -M a of an acceleration a of all bodies at constant θ,

    M_ia ∋ H_i,ab δ_b,   M_ab ∋ (H_a,bc + H_b,ac) δ_c,   H_i = K[ψ_i],   H_a = K[ψ_a]
    M_ij ∋ δᵀ(S_ij + N_ij)δ,   S_ij = n_i·n_j,   N_ij = ½(∂_jH_i + ∂_iH_j) - K[a_ij],   a_ij = ∂_jψ_i + ω_j × ψ_i
    V    ∋ ½ δᵀK_g δ,   K_g of gravity, forces, springs and the actuators that hold θ

(docs/theory/stiffening.md, eqs. 1-8)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation.threads import single_blas_thread
from supple.description.mass_properties import mass_properties
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.geometric_stiffness_at_rest import (
    CarriedLoads,
    compute_double_turning,
    compute_turning,
    in_space,
    inertia_loads,
    load_stiffness,
)
from supple.formulations.elastic_rest.loads import loads_at
from supple.formulations.elastic_rest.preload import forces_at_rest, forces_of_rows
from supple.formulations.elastic_rest.static_response import static_response
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration

_STEP = 1e-4  # step of θ, rad, or fraction of the mechanism's size: the error of differences is its square


class SecondOrderTerms(NamedTuple):
    """Terms of second order at one θ, over d elastic coordinates.

    stiffness : (d, d) K_g; stiffness_slope : (s, d, d) ∂K_g/∂θ
    slope     : (n, n, d) ∂M_ij/∂δ_b beyond the first order in the displacements; zero for θθ
    curvature : (s, s, d, d) ∂²M_ij/∂δ_a∂δ_b
    """

    stiffness: Array
    stiffness_slope: Array
    slope: Array
    curvature: Array


@single_blas_thread()
def second_order(
    rest: ElasticRest, configuration: Configuration, modes: Array, slopes: Array
) -> SecondOrderTerms | None:
    """Return the terms at one configuration, or None at the edge of the reachable ones.

    modes : (n, z) Ψ; slopes : (s, n, z) ∂_kΨ
    """
    s, d = len(slopes), len(modes) - len(slopes)
    steps, around = _around(rest, configuration)
    if not around:
        return None
    here = frame_accelerations(rest, modes[:s], slopes[:, :s], modes[s:])
    changes = [step * frame_changes(rest, slopes[j, :s]) for j, step in enumerate(steps)]
    moved = [here, *(here.change_frames(way * change) for change in changes for way in (-1.0, 1.0))]
    stack = np.concatenate([modes[s:], *slopes[:, s:]])  # Ψ_δ, ∂_1Ψ_δ, ...
    whole, *sides = _stiffness(rest, around, moved, [stack] + [modes[s:]] * (2 * s))
    K = whole[:, :d, :d]
    quadratic = K[1 + s : 1 + s + s * s].reshape(s, s, d, d)
    dK = np.empty((s, 1 + s, d, d))
    for j, step in enumerate(steps):
        turned = whole[: 1 + s, d * (1 + j) : d * (2 + j), :d]
        rise = (sides[2 * j + 1] - sides[2 * j])[: 1 + s] / (2.0 * step)
        dK[j] = rise + turned + np.swapaxes(turned, 1, 2)
    H, dH = np.concatenate([K[1 : 1 + s], K[1 + s + s * s :]]), dK[:, 1:]
    N = 0.5 * (dH + np.swapaxes(dH, 0, 1)) - quadratic
    turn, coupling = _turned_inertia(rest, modes, slopes)
    coupling = coupling + H  # (n, d, d): i, a, b of ψ_i·g_ab, and the contribution of rigid bodies
    slope = np.zeros((s + d, s + d, d))
    slope[:, s:] += coupling
    slope[s:] += np.swapaxes(coupling, 0, 1)
    return SecondOrderTerms(K[0], dK[:, 0], slope, 2.0 * (N + turn + _spin(rest, modes, slopes)))


class Accelerations(NamedTuple):
    """Inertia loads: of the bodies' frames (loads, bodies, d + axes²), and of z (loads, z)."""

    frames: Array
    motions: Array

    def change_frames(self, change: Array) -> Accelerations:
        """Return the loads with the first frames' accelerations changed, and without the others."""
        frames = self.frames[: len(change)] + change
        return Accelerations(frames, np.zeros((len(frames), self.motions.shape[1])))


def frame_accelerations(rest: ElasticRest, modes: Array, slopes: Array, elastic: Array) -> Accelerations:
    """Return the accelerations: none for the loads at rest, whose gravity is added later; ψ_i; a_ij; ψ_a.

    modes : (s, z); slopes : (s, s, z), first k of ∂_k; elastic : (n - s, z)
    """
    s, d = len(modes), len(rest.arrays.column)
    axes = 1 if d == 3 else 3
    count = 1 + s + s * s
    found = np.zeros((count + len(elastic), len(rest.bodies), d + axes * axes))
    for b, body in enumerate(rest.bodies):
        V, dV = frame_twists(body, modes), frame_twists(body, slopes)
        dV = 0.5 * (dV + np.swapaxes(dV, 0, 1))
        v, w = _in_space(V, rest.arrays.column)
        cross_terms = np.cross(w[:, None], v[None])  # ω_j × v_i
        cross_terms = 0.5 * (cross_terms + np.swapaxes(cross_terms, 0, 1))
        own = w[:, 3 - axes :]
        found[1 : 1 + s, b, :d] = V
        quadratic = found[1 + s : count, b].reshape(s, s, -1)
        quadratic[..., :d] = dV
        quadratic[..., : d - axes] += cross_terms[..., : d - axes]
        quadratic[..., d:] = (own[:, None, :, None] * own[None, :, None, :]).reshape(s, s, -1)
    return Accelerations(found, np.concatenate([np.zeros((count, rest.size)), elastic]))


def frame_changes(rest: ElasticRest, slopes: Array) -> Array:
    """Return ∂_j of the first 1 + s of `frame_accelerations`; slopes (s, z), ∂_jψ_i."""
    s, d = len(slopes), len(rest.arrays.column)
    found = np.zeros((1 + s, len(rest.bodies), d + (1 if d == 3 else 9)))
    for b, body in enumerate(rest.bodies):
        found[1 : 1 + s, b, :d] = frame_twists(body, slopes)
    return found


def frame_twists(body: BodyCoordinates, modes: Array) -> Array:
    """Return twists (..., d) of a body's frame, for rigid motions (..., z)."""
    rigid = body.rigid[: body.rigid.shape[1]]  # the first of z are the rigid motions
    return np.asarray(modes[..., body.start : body.start + len(rigid)] @ np.linalg.inv(rigid).T)


def _in_space(V: Array, column: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return velocities (n, 3) and rates (n, 3) from twists (n, d)."""
    whole = np.zeros((len(V), 6))
    whole[:, column] = V
    return whole[:, :3], whole[:, 3:]


def _around(rest: ElasticRest, configuration: Configuration) -> tuple[list[float], list[Configuration]]:
    """Return the step along each θ, and the configuration, then those before and after it along each θ.

    The list of configurations is empty if one of them does not exist.
    """
    theta, steps = configuration.theta, (_STEP * rest.numbering.theta_scale).tolist()
    ways = [way * step * unit for step, unit in zip(steps, np.eye(len(theta)), strict=True) for way in (-1.0, 1.0)]
    beside = assemble(rest.numbering.mechanism, theta + np.array(ways), failures="mark")
    return steps, [configuration, *beside.each()] if beside.assembled.all() else []


def _stiffness(
    rest: ElasticRest, around: list[Configuration], accelerations: list[Accelerations], modes: list[Array]
) -> list[Array]:
    """Return K_g (loads, n, n) over modes (n, z), at each configuration: of the loads at rest, then of inertia."""
    at_rest = [loads_at(rest, one) for one in around]
    resting = [forces_at_rest(rest, one, loads) for one, loads in zip(around, at_rest, strict=True)]
    translations = 2 if len(rest.arrays.column) == 3 else 3
    found = []
    for one, loads, own, moved, over in zip(around, at_rest, resting, accelerations, modes, strict=True):
        count = len(moved.frames)
        forces = np.vstack([inertia_loads(rest, *moved)[1:], own])
        reactions = static_response(rest, one.X[None], forces[None])[1][0]
        fields = moved.frames.copy()
        for b in range(len(rest.bodies)):
            fields[0, b, :translations] = -(one.X[b, 3:].reshape(3, 3).T @ loads.gravity)[:translations]
        rows = np.vstack(
            [forces_of_rows(rest, loads, reactions[count - 1 :], None, holding=True), reactions[: count - 1]]
        )
        found.append(load_stiffness(rest, one.X, CarriedLoads(fields, moved.motions, rows, loads.nodal), over))
    return found


def _spin(rest: ElasticRest, modes: Array, slopes: Array) -> Array:
    """Return S (s, s, d, d), the mean over i and j: n_ai·n_bj with n_ai = ∂_iψ_a + ω_i × ψ_a."""
    s = len(slopes)
    d = len(modes) - s
    S = np.zeros((s, s, d, d))
    for b, body in enumerate(rest.bodies):
        here = slice(body.start, body.stop)
        Psi, dPsi = modes[s:, here], slopes[:, s:, here]
        turning, twice = _turnings(rest)[b]
        omega = frame_twists(body, modes[:s])[:, -len(turning) :]
        half = np.tensordot(omega, Psi @ np.swapaxes(turning, 1, 2), 1)  # W_jψ_b, (j, b, z)
        half = np.einsum("iaz,jbz->ijab", dPsi, half)
        whole = np.einsum("klab,ik,jl->ijab", Psi @ twice @ Psi.T, omega, omega)
        S += np.einsum("iaz,jbz->ijab", dPsi, dPsi) + half + np.einsum("ijab->jiba", half) + whole
    return 0.5 * (S + np.swapaxes(S, 2, 3))


def _turnings(rest: ElasticRest) -> list[tuple[Array, Array]]:
    """Return ΦᵀMW_kΦ and ΦᵀW_kᵀMW_lΦ of each body; computed once."""
    key = f"turned twice {rest.band} {list(rest.displacements)}"
    return rest.numbering.mechanism.compute_once(
        key, lambda: [(compute_turning(rest, body), compute_double_turning(rest, body)) for body in rest.bodies]
    )


def _turned_inertia(rest: ElasticRest, modes: Array, slopes: Array) -> tuple[Array, Array]:
    """Return the contributions of rigid bodies in space to N (s, s, d, d), and to ψ_i·g_ab (n, d, d).

    Their angular velocity is ω + ω × φ + φ̇ + ½ φ × (φ × ω) - ½ φ × φ̇ to second order; these are the last two terms.
    """
    s = len(slopes)
    d = len(modes) - s
    N, coupling = np.zeros((s, s, d, d)), np.zeros((s + d, d, d))
    if len(rest.arrays.column) == 3:
        return N, coupling
    solid = [body for body in rest.bodies if body.mesh is None]
    properties = mass_properties(rest.numbering.drawing) if solid else {}
    for body in solid:
        here = slice(body.start, body.stop)
        rotation = in_space(rest, body.shapes)[1]
        turn = modes[:, here] @ rotation.T  # (n, 3)
        omega, phi, dphi = turn[:s], turn[s:], slopes[:, s:, here] @ rotation.T
        momentum = omega @ properties[body.name].inertia
        # L_i·(φ_a × (φ_b × ω_j)) - L_i·(φ_a × ∂_jφ_b)
        product = np.einsum("ib,ja->ijab", momentum @ phi.T, omega @ phi.T)
        product -= (momentum @ omega.T)[:, :, None, None] * (phi @ phi.T)
        product -= np.einsum("ie,jabe->ijab", momentum, np.cross(phi[None, :, None], dphi[:, None]))
        product = 0.5 * (product + np.swapaxes(product, 0, 1))
        N += 0.5 * (product + np.swapaxes(product, 2, 3))
        every = turn @ properties[body.name].inertia
        coupling -= 0.5 * np.einsum("ie,bae->iab", every, np.cross(phi[:, None], phi[None]))
    return N, coupling
