"""Equations of motion in θ and u with multipliers of the ideal rows (docs/theory/rigid-link-system.md, 25-27).

    Γᵀ(M_qq q̈ + M_qu ü + F_q) + J_m θ̈ + (∂(C_h u)/∂θ)ᵀλ = Q,   M_uq q̈ + M_uu ü + F_u + C_hᵀλ = 0,   C_h u = 0     (25)

with q̈ = Γθ̈ + γ. Elimination of λ gives M_i ẅ_i + K_i w_i = F_i. In time the multipliers are kept, so that changes of
the partition need not be tracked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array, Integers
from supple.diagnostics import InputError
from supple.formulations.absolute.time_damping import time_damping
from supple.formulations.coefficients import along_measure
from supple.formulations.elastic.elastic_body import weighted_beams
from supple.formulations.rigid_link_system.link_point import (
    LinkPoint,
    acting_arrays,
    acting_rows,
    link_point,
    link_stiffness,
    motor_inertia,
    position_forces,
    rate_force,
)
from supple.formulations.rigid_link_system.link_system import RigidLinkSystem
from supple.formulations.rigid_link_system.link_terms import (
    LinkForces,
    LinkState,
    accelerated_forces,
    displaced_forces,
    gyroscopic_forces,
    link_mass,
    rigid_forces,
    rotate_into_bodies,
    rotation_matrix,
    strained_forces,
    to_world,
)
from supple.formulations.rigid_link_system.small_link_motions import subtract_actuator_forces
from supple.formulations.rigid_link_system.tree_freedoms import LinkBias, link_bias, second_rates
from supple.geometry.rotation import cross_arrays
from supple.kinematics.closing import close_all
from supple.kinematics.rest import Rest


class LinkMotion(NamedTuple):
    """State x = (θ, u) with its rates v and accelerations a, each (s + n_u,), and the multipliers (m,)."""

    x: Array
    v: Array
    a: Array
    multipliers: Array


class LinkEquations(NamedTuple):
    """A system in time: independent rows of the ideal constraints, and the speed of dry friction."""

    system: RigidLinkSystem
    position: Rest
    ideal: Integers
    friction_speed: float

    @property
    def s(self) -> int:
        return len(self.system.theta_rows)

    def point(self, x: Array) -> LinkPoint:
        """Return the links assembled at θ, with nodes displaced by u."""
        X, w, _ = close_all(self.position, np.ascontiguousarray(x[None, : self.s]))
        return link_point(self.system, X[0], w[0], x[self.s :])


class LinkResidual(NamedTuple):
    """Residual of (25): forces (s + n_u,) and the ideal rows (m,); gradient (m, s + n_u) of the rows."""

    force: Array
    rows: Array
    gradient: Array
    point: LinkPoint


def link_residual(equations: LinkEquations, motion: LinkMotion, inputs: Array) -> LinkResidual:
    """Return the residual at one state, under the inputs (actuators,)."""
    system, s = equations.system, equations.s
    point = equations.point(motion.x)
    state, loops = point.state, point.loops
    rates = loops.Gamma @ motion.v[:s]
    still = link_bias(system.tree, state.X, state.twists, rates)
    chosen = np.concatenate([system.loop_rows, np.array(system.theta_rows, dtype=np.int64)])
    twice = second_rates(system.rows, point.found, still, rates)[chosen]
    q = loops.Gamma @ motion.a[:s] + loops.bias(twice)
    bias = LinkBias(still.a + state.twists.v @ q, still.alpha + state.twists.w @ q, still.w, still.v)
    rate_hat = rotate_into_bodies(state, motion.v[s:])
    total = rigid_forces(state, bias) + displaced_forces(state, bias) + gyroscopic_forces(state, bias, rate_hat)
    total = total + accelerated_forces(state, rotate_into_bodies(state, motion.a[s:]))
    total = subtract_actuator_forces(point, total + position_forces(point), inputs)
    total = total + _sum_losses(equations, point, bias, rates, motion.v[s:], rate_hat)
    along = point.change[equations.ideal] @ loops.Gamma
    C = point.C[equations.ideal]
    theta = loops.Gamma.T @ total.q + motor_inertia(system) * motion.a[:s] + along.T @ motion.multipliers
    force = np.concatenate([theta, total.u + C.T @ motion.multipliers])
    return LinkResidual(force, C @ point.u, np.hstack([along, C]), point)


def _sum_losses(
    equations: LinkEquations, point: LinkPoint, bias: LinkBias, rates: Array, rate_u: Array, rate_hat: Array
) -> LinkForces:
    """Return the forces of material, joint, drive and measure damping, and of dry friction."""
    system, state = equations.system, point.state
    law = link_damping(system)
    strain_rate = rate_hat - cross_arrays(bias.w[system.node_body][:, None], state.hat)  # of û, as seen from the body
    total = strained_forces(state, np.asarray(law.D @ strain_rate.ravel()).reshape(-1, 2, 3))
    over, change = point.soft()
    held = system.holding
    lost = (held.damping + law.beta * held.stiffness) * (over @ rate_u + change @ rates)
    total = total + LinkForces(change.T @ lost, over.T @ lost)
    for row, dry in acting_rows(system):
        value, over_q, over_u = point.measure(row)
        rate = float(over_q @ rates + over_u @ rate_u)
        force = rate_force(system, row, dry, value, rate, equations.friction_speed)
        total = total + LinkForces(force * over_q, force * over_u)
    if law.alpha:  # on what deforms, as seen from the bodies: links that move rigidly with θ are not braked
        force = law.alpha * (link_mass(state).uu @ to_world(state, strain_rate))
        total = total + strained_forces(state, rotate_into_bodies(state, force))
    return total


def link_iteration_matrix(equations: LinkEquations, point: LinkPoint, mass: float, damping: float) -> sp.csc_array:
    """Return mass · M + damping · D + K over (θ, u), without the stiffness of forces at rest."""
    M, D = matrices(equations, point)
    K = sp.block_diag([sp.csr_array((equations.s, equations.s)), link_stiffness(point)])
    return sp.csc_array(mass * M + damping * D + K)


def matrices(equations: LinkEquations, point: LinkPoint) -> tuple[sp.csr_array, sp.csr_array]:
    """Return M and D over (θ, u)."""
    system, Gamma = equations.system, point.loops.Gamma
    found = link_mass(point.state)
    across = sp.csr_array(Gamma.T @ found.qu)
    theta = Gamma.T @ found.qq @ Gamma + np.diag(motor_inertia(system))
    M = sp.block_array([[sp.csr_array(theta), across], [across.T, found.uu]])
    law, At = link_damping(system), rotation_matrix(point.state)
    over, held = sp.csr_array(point.soft()[0]), system.holding
    joints = over.T @ sp.diags_array(held.damping + law.beta * held.stiffness) @ over
    u = law.alpha * found.uu + At @ law.D @ At.T + joints
    return sp.csr_array(M), sp.csr_array(sp.block_diag([sp.csr_array((equations.s, equations.s)), u]))


def link_energies(equations: LinkEquations, motion: LinkMotion) -> tuple[float, float, float]:
    """Return the kinetic energy, the potential energy, and the strain energy alone, J, to second order in u and u̇."""
    system, point, s = equations.system, equations.point(motion.x), equations.s
    M, _ = matrices(equations, point)
    kinetic = 0.5 * float(motion.v @ (M @ motion.v))
    hat = point.state.hat.ravel()
    over, _ = point.soft()
    strain = 0.5 * float(hat @ (system.stiffness @ hat))
    strain += 0.5 * float(system.holding.stiffness @ (over @ motion.x[s:]) ** 2)
    first = system.numbering.constraints
    arrays, acting = acting_arrays(system), acting_rows(system)
    stored = sum(along_measure(arrays, row - first, point.measure(row)[0]).energy for row, _ in acting)
    return kinetic, strain + stored + gravity_energy(point.state), strain


def gravity_energy(state: LinkState) -> float:
    """Return -∫ gᵀp dm."""
    system = state.system
    R, x = state.X[:-1, 3:].reshape(-1, 3, 3), state.X[:-1, :3]
    found = np.asarray(system.inertia.moments @ state.hat.ravel()).reshape(-1, 12)[:, :3]
    first = system.inertia.first + found
    p = system.inertia.mass[:, None] * x + np.einsum("bij,bj->bi", R, first)
    return -float(p.sum(axis=0) @ system.gravity)


# Damping of the nodes' displacements in time, as the full equations have it: αM and βK (docs/theory/damping.md).


class LinkDamping(NamedTuple):
    """Damping of the links.

    α on all masses, 1/s; D (6 N, 6 N) Σ βK of beams over û; β (soft rows,) with the stiffness of joints and drives
    """

    alpha: float
    D: sp.csr_array
    beta: Array


def link_damping(system: RigidLinkSystem) -> LinkDamping:
    """Return the damping, computed once."""
    return system.numbering.mechanism.compute_once("damping of rigid links", lambda: _find_damping(system))


def _find_damping(system: RigidLinkSystem) -> LinkDamping:
    mechanism = system.numbering.mechanism
    law = time_damping(mechanism)
    alpha, beta = law.whole
    D = sp.csr_array(beta * system.stiffness)
    for b, mesh in enumerate(system.meshes):
        if mesh is None:
            continue
        name = system.numbering.bodies[b]
        own = [law.materials.get(beam.material, (0.0, 0.0)) for beam in mechanism.bodies[name].all_beams]
        if any(by_mass for by_mass, _ in own):
            raise InputError(
                "mass-proportional material damping is not supported by the rigid link system in time",
                part=f'body "{name}"', hint="use stiffness-proportional damping, or damping of the whole mechanism",
            )  # fmt: skip
        weights = np.array([by_stiffness for _, by_stiffness in own])
        if weights.any():
            K, _ = weighted_beams(system.numbering.drawing, name, weights)
            at = 6 * (int(system.first_node[b]) + mesh.node) + mesh.component
            place = sp.coo_array((np.ones(len(at)), (at, np.arange(len(at)))), shape=(D.shape[0], len(at))).tocsr()
            D = sp.csr_array(D + place @ K @ place.T)
    return LinkDamping(alpha, D, np.array([law.beside(part) for part in system.holding.parts]))
