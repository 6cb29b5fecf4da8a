"""The system at one position: rows between nodes, loops, and all position-dependent forces.

    V(θ, u) = -∫ gᵀp dm + ½ ûᵀK û + Σ ½ k (C û)² + Σ W(ℓ + C û),   C_h û = 0                (rigid-link-system, 12-15)

Gravity is of first order in u, stiffness of second order: K u is as large as the forces that it balances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.errors import part_name
from supple.formulations.coefficients import (
    AT_POINT,
    BODY,
    DRY,
    DRY_FORCE,
    FOLLOWS,
    OF_FORCE,
    OF_MOMENT,
    ROLE,
    CoefficientArrays,
    along_measure,
    get_coefficients,
)
from supple.formulations.rigid_link_system.link_system import RigidLinkSystem
from supple.formulations.rigid_link_system.link_terms import (
    LinkForces,
    LinkState,
    elastic_forces,
    gravity_forces,
    link_state,
    rotation_matrix,
)
from supple.formulations.rigid_link_system.tree_freedoms import (
    TermGradients,
    along_tree,
    gradients_at,
    over_nodes,
    row_derivatives,
)
from supple.geometry.rotation import cross_arrays
from supple.kinematics.primitives import SCALE
from supple.kinematics.rest import rest

# Loops: all of q from the independent θ, at one position (docs/theory/rigid-link-system.md, 16-18).
#
#     C_q q̇ = 0,  E q̇ = θ̇  q̇ = Γ θ̇,  q̈ = Γ θ̈ + γ,  (C_q; E) γ = (F_l; -Ė q̇),  F_l = -Ċ_q q̇  (16)
#
# C are the rows of joints that close loops, and of couplings. Where θ are coordinates of the tree's joints, E picks
# q_i, and Γ = (I; -C_qd⁻¹C_qi), γ = (0; C_qd⁻¹F_l). A distance between bodies, or a coordinate of a joint that closes a
# loop, has its own row in E.


_SINGULAR = 1e-9  # of the largest singular value, lengths in extents


class LoopPartition(NamedTuple):
    """C_q (loops, n) and E (s, n) as one matrix of scaled rows and columns, its pseudo-inverse; Γ (n, s)."""

    inverse: Array
    loops: int
    Gamma: Array
    scale: Array

    def bias(self, twice: Array) -> Array:
        """Return γ (n,) from the second rates of C and θ for q̈ = 0, (loops + s,)."""
        return np.asarray(-self.inverse @ (twice / self.scale))


def partition(system: RigidLinkSystem, rigid: Array) -> LoopPartition:
    """Return the partition; rigid : (rows, n) ∂φ/∂q of all rows."""
    chosen = np.concatenate([system.loop_rows, np.array(system.theta_rows, dtype=np.int64)])
    scale = system.numbering.arrays.rows_f[chosen, SCALE]
    unit = np.array([system.numbering.arrays.extent if item.slides else 1.0 for item in system.tree.freedoms])
    matrix = rigid[chosen] / scale[:, None] * unit
    U, sigma, V = np.linalg.svd(matrix, full_matrices=False)
    if matrix.shape[0] < matrix.shape[1] or sigma[-1] <= _SINGULAR * sigma[0]:
        raise NumericalError(
            "θ does not determine the joint coordinates: the configuration is singular",
            part=f'mechanism "{system.numbering.mechanism.name}"', hint="choose another configuration",
        )  # fmt: skip
    inverse = unit[:, None] * ((V.T / sigma) @ U.T)
    loops = len(system.loop_rows)
    return LoopPartition(inverse, loops, inverse[:, loops:] / scale[loops:], scale)


class LinkPoint(NamedTuple):
    """One position of the links.

    C (rows, n_u), rigid and change (rows, n) : over u, ∂φ/∂q of the links, ∂(C u)/∂q; w : of all measures of the links
    loops : Γ and γ
    """

    state: LinkState
    found: TermGradients
    C: Array
    rigid: Array
    change: Array
    w: Array
    u: Array
    loops: LoopPartition

    @property
    def system(self) -> RigidLinkSystem:
        return self.state.system

    def soft(self) -> tuple[Array, Array]:
        """C (soft, n_u) and ∂(C u)/∂q (soft, n) of the compliant rows, including deflections of drives."""
        held, theta = self.system.holding, slice(self.system.theta_rows.start, self.system.theta_rows.stop)
        if not held.coupling.any():
            return self.C[held.soft], self.change[held.soft]
        over = self.C[held.soft] + held.coupling @ self.C[theta]
        return over, self.change[held.soft] + held.coupling @ self.change[theta]

    def measure(self, row: int) -> tuple[float, Array, Array]:
        """Return ℓ of a measure and its derivatives by q (n,) and u (n_u,); θ is that of the motor side."""
        system = self.system
        value = float(self.w[row - system.numbering.constraints])
        if row in system.theta_rows:
            return value, self.rigid[row], np.zeros(self.C.shape[1])
        over = self.C[row]
        return value + float(over @ self.u), self.rigid[row] + self.change[row], over


def link_point(system: RigidLinkSystem, X: Array, w: Array, u: Array | None = None) -> LinkPoint:
    """Return the point for X (nb + 1, 12) and w (measures,) of an assembled configuration; u (n_u,)."""
    displaced = np.zeros(len(system.kept)) if u is None else u
    state = link_state(system, X, displaced)
    _, v, turn = state.twists
    found = gradients_at(system.rows, X, v, turn)
    C = np.einsum("rnsj,nij->rnsi", over_nodes(system.rows, found, system.nodes), state.R)
    C = np.ascontiguousarray(C.reshape(len(C), -1)[:, system.kept])
    rigid = along_tree(system.rows, found, v, turn)
    change = row_derivatives(system.rows, found, turn, state.hat)
    return LinkPoint(state, found, C, rigid, change, w, displaced, partition(system, rigid))


def position_forces(point: LinkPoint) -> LinkForces:
    """Return ∂V/∂(q, u) minus the constant loads: the forces that depend on positions only."""
    system = point.system
    total = gravity_forces(point.state) + elastic_forces(point.state)
    over, change = point.soft()
    along = system.holding.stiffness * (over @ point.u)
    total = total + LinkForces(change.T @ along, over.T @ along)
    for row, _ in acting_rows(system):
        value, over_q, over_u = point.measure(row)
        force = -along_measure(acting_arrays(system), row - system.numbering.constraints, value).force
        total = total + LinkForces(force * over_q, force * over_u)
    return total + load_forces(point)


def link_stiffness(point: LinkPoint) -> sp.csr_array:
    """Return ∂²V/∂u² (n_u, n_u): AᵀK A, compliant joints, and springs."""
    system, C = point.system, point.C
    At = rotation_matrix(point.state)
    rows, values = [point.soft()[0]], [system.holding.stiffness]
    for row, _ in acting_rows(system):
        if row not in system.theta_rows:
            value, measure = point.measure(row)[0], row - system.numbering.constraints
            rows.append(C[row][None])
            values.append(np.array([-along_measure(acting_arrays(system), measure, value).slope]))
    over = sp.csr_array(np.vstack(rows))
    K = At @ system.stiffness @ At.T + over.T @ sp.diags_array(np.concatenate(values)) @ over
    return sp.csr_array(K)


def acting_rows(system: RigidLinkSystem) -> list[tuple[int, float]]:
    """Return the measures with force models or dry friction, and the friction force."""

    def find() -> list[tuple[int, float]]:
        arrays, first, found = acting_arrays(system), system.numbering.constraints, []
        for measure in range(len(arrays.uses_start) - 1):
            uses = range(arrays.uses_start[measure], arrays.uses_start[measure + 1])
            dry = sum(float(arrays.uses_f[n, DRY_FORCE]) for n in uses if arrays.uses_i[n, ROLE] == DRY)
            acts = along_measure(arrays, measure, float(rest(system.numbering.mechanism).w[measure]))
            if any(acts) or dry:
                if acts.inertia and first + measure not in system.theta_rows:
                    raise InputError(
                        "a motor or other inertia acts along a coordinate that is not in θ",
                        part=_name_row(system, first + measure),
                        hint="add it under `coordinates:`, or use another formulation",
                    )
                found.append((first + measure, dry))
        return found

    return system.numbering.mechanism.compute_once("measures that act on rigid links", find)


def motor_inertia(system: RigidLinkSystem) -> Array:
    """Return the inertia (s,) of motors and other elements along θ."""
    first = system.numbering.constraints
    arrays, w = acting_arrays(system), rest(system.numbering.mechanism).w
    return np.array([along_measure(arrays, row - first, float(w[row - first])).inertia for row in system.theta_rows])


def rate_force(system: RigidLinkSystem, row: int, dry: float, value: float, rate: float, speed: float) -> float:
    """Return the force of dampers and dry friction along a measure at a rate."""
    damping = along_measure(acting_arrays(system), row - system.numbering.constraints, value).damping
    return float(damping * rate + dry * np.tanh(rate / speed))


def load_forces(point: LinkPoint) -> LinkForces:
    """Return constant forces and moments at points, moved to the left side.

    At a node with the arm a: δp = v_k + ω_k × r + φ × (ω_k × a) for δq_k, moments to zeroth order in u.
    """
    system, state = point.system, point.state
    n, total_u = len(system.tree.freedoms), np.zeros(len(system.kept))
    total_q = np.zeros(n)
    for body, place, force, moment in _loads(system):
        R = state.X[body, 3:].reshape(3, 3)
        f, m = R.T @ force, R.T @ moment
        node, arm = _carrier(system, body, place)
        phi = state.hat[node, 1]
        v, w = state.twists.v[body], state.twists.w[body]
        total_q -= f @ v + (cross_arrays(place, f) + m) @ w
        total_q -= w.T @ cross_arrays(arm, cross_arrays(f, phi))  # f·(φ × (ω × a)) = ω·(a × (f × φ))
        on = np.zeros((system.nodes, 2, 3))
        on[node, 0], on[node, 1] = R @ f, R @ (cross_arrays(arm, f) + m)
        total_u -= on.reshape(-1)[system.kept]
    return LinkForces(total_q, total_u)


def _carrier(system: RigidLinkSystem, body: int, place: Array) -> tuple[int, Array]:
    mesh = system.meshes[body]
    if mesh is None:
        return int(system.first_node[body]), place
    node = mesh.node_at(place)
    assert node is not None  # every load has one
    return int(system.first_node[body]) + node, place - mesh.nodes[node]


def _loads(system: RigidLinkSystem) -> list[tuple[int, Array, Array, Array]]:
    """Return body, position, force and moment in world axes of every applied load, without gravity, the first one."""
    arrays, numbering = acting_arrays(system), system.numbering
    weights = 0 if numbering.mechanism.gravity is None else len(numbering.bodies)
    names = [name for name, item in numbering.mechanism.forces.items() if item.at is not None]
    found = []
    for name, kind, values in zip(names, arrays.loads_i[weights:], arrays.loads_f[weights:], strict=True):
        if kind[FOLLOWS]:
            raise InputError(
                "a rigid link system supports loads of constant direction, not follower loads",
                part=part_name(("forces", name)), path=("forces", name, "follower"),
                hint="leave follower: out, or use another formulation",
            )  # fmt: skip
        if kind[BODY] < len(numbering.bodies):
            parts = (values[at : at + 3] for at in (AT_POINT, OF_FORCE, OF_MOMENT))
            found.append((int(kind[BODY]), *parts))
    return found


def acting_arrays(system: RigidLinkSystem) -> CoefficientArrays:
    """Return the arrays of elements along measures, and of loads."""
    return get_coefficients(rest(system.numbering.mechanism)).arrays


def _name_row(system: RigidLinkSystem, row: int) -> str:
    key = next(key for key, number in system.numbering.measures.items() if number == row)
    return f'joint "{key[1]}"' if key[0] == "joint" else " ".join(key)
