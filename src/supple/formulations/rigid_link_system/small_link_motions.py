"""Small motions about a rest of the links: M_i ẅ_i + D_i ẇ_i + K_i w_i = F_i  (rigid-link-system, 19-23).

    δw = B δw_i,   w = (q, u),   w_i = (θ, u_i),   B = [Γ, 0; U, N],   C_h N = 0,   C_h U = -∂(C_h u)/∂θ          (19)

u_i are nodal displacements that the ideal rows leave independent. Without ideal rows, N only omits dependent
displacements, and B is block diagonal. With locked θ, w_i = u_i.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, qr, solve_triangular

from supple.array_types import Array, Integers
from supple.compilation.threads import single_blas_thread
from supple.diagnostics import NumericalError, SuppleNote
from supple.formulations.coefficients import along_measure, get_coefficients
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.preload import rest_force_stiffness
from supple.formulations.rigid_link_system.link_point import (
    LinkPoint,
    acting_arrays,
    acting_rows,
    link_point,
    link_stiffness,
    motor_inertia,
    position_forces,
)
from supple.formulations.rigid_link_system.link_system import actuator_rows, rigid_link_system
from supple.formulations.rigid_link_system.link_terms import LinkForces, link_mass, rotation_matrix
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import Rest

_DEPENDENT = 1e-10  # of the largest pivot: an ideal row that follows from the others
_STEPS = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
_WEIGHTS = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60.0
_SLOW = 1e-2  # of the lowest ω² with θ locked: what motions of θ are told from each other by
_WITHOUT_MASS = 1e-14  # of the largest eigenvalue of mass over stiffness: rounding
_STEP = 1e-3  # rad, or of the mechanism's extent: its sixth power is rounding


class HeldNodes(NamedTuple):
    """Nodal displacements u = U δθ + N u_i: independent (r,) indices of u_i in u, U (n_u, s), N (n_u, r)."""

    independent: Integers
    U: Array
    N: Array


def held_nodes(point: LinkPoint) -> HeldNodes:
    """Return the coordinate partitioning of u under the ideal rows.

        C_d u_d = -C_i u_i - ∂(C_h u)/∂θ δθ                                                                         (20)

    The columns with the largest pivots become u_d, with rotations in units of the mechanism's extent.
    """
    system = point.system
    C = point.C[system.holding.ideal]
    change = point.change[system.holding.ideal] @ point.loops.Gamma
    n = C.shape[1]
    unit = np.where(system.kept % 6 < 3, 1.0, 1.0 / system.numbering.arrays.extent)
    length = np.linalg.norm(C * unit, axis=1, keepdims=True)
    length[length == 0.0] = 1.0
    Q, R, order = qr(C * unit / length, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int(np.count_nonzero(pivots > _DEPENDENT * pivots.max(initial=0.0)))
    dependent, free = order[:rank], np.sort(order[rank:])
    place = {int(column): i for i, column in enumerate(order[rank:])}
    rest = R[:rank, rank:][:, [place[int(column)] for column in free]]
    N, U = np.zeros((n, len(free))), np.zeros((n, change.shape[1]))
    N[free, np.arange(len(free))] = 1.0
    top = R[:rank, :rank]
    N[dependent] = -unit[dependent, None] * solve_triangular(top, rest) / unit[free]
    U[dependent] = -unit[dependent, None] * solve_triangular(top, (Q.T @ (change / length))[:rank])
    return HeldNodes(free, U, N)


class LinkMotions(NamedTuple):
    """Equations of small motions over w_i = (θ, u_i), or over u_i if θ is locked.

    point, held : position, and u over u_i; M, D, K (n_i, n_i); inputs (n_i, actuators)
    forces : (actuators,) of the rest, of least norm; theta : whether w_i contains θ
    """

    point: LinkPoint
    held: HeldNodes
    M: Array
    D: Array
    K: Array
    inputs: Array
    forces: Array
    theta: bool

    @property
    def over_u(self) -> Array:
        """Displacements δu for each of w_i, (n_u, n_i)."""
        return np.hstack([self.held.U, self.held.N]) if self.theta else self.held.N

    @property
    def over_q(self) -> Array:
        """Displacements δq for each of w_i, (n, n_i)."""
        still = np.zeros((len(self.point.rigid[0]), self.held.N.shape[1]))
        return np.hstack([self.point.loops.Gamma, still]) if self.theta else still


def measure_row(motions: LinkMotions, row: int) -> Array:
    """Return the row of a measure over w_i."""
    _, over_q, over_u = motions.point.measure(row)
    return np.asarray(over_q @ motions.over_q + over_u @ motions.over_u)


@single_blas_thread()
def locked_motions(configuration: Configuration) -> LinkMotions:
    """Return the motions about the undeformed mechanism without loads, with θ locked."""
    system = rigid_link_system(configuration.mechanism)
    point = link_point(system, configuration.X, configuration.w)
    held = held_nodes(point)
    none = np.zeros((0, 0))
    start = LinkMotions(point, held, none, none, none, none, np.zeros(0), False)
    return _with_matrices(start, np.asarray(held.N.T @ (link_stiffness(point) @ held.N)))


@single_blas_thread()
def link_free_motions(
    configuration: Configuration, *, preload: bool = True, inputs: Array | None = None
) -> LinkMotions:
    """Return the motions about rest with θ free.

    With preload, the rest is deformed by gravity, springs and inputs, and forces at rest contribute stiffness.

    inputs : (actuators,); default: those of least norm that hold the rest
    """
    system = rigid_link_system(configuration.mechanism)
    point = link_point(system, configuration.X, configuration.w)
    forces = np.zeros(len(system.numbering.mechanism.actuators)) if inputs is None else inputs
    multipliers = np.zeros(len(system.holding.ideal))
    if preload:
        for _ in range(2 if inputs is None else 1):  # inputs that hold it, then the same with what u adds to them
            u, multipliers = resting_nodes(point, forces)
            point = link_point(system, configuration.X, configuration.w, u)
            if inputs is None:
                forces = _holding_inputs(point, multipliers)
    held = held_nodes(point)
    none = np.zeros((0, 0))
    start = LinkMotions(point, held, none, none, none, none, forces, True)
    s, n_u = held.U.shape[1], len(held.U)
    H = np.zeros((s + n_u, s + n_u))
    H[s:, s:] = link_stiffness(point).toarray()
    if preload:
        slope_theta, slope_u = _slopes(configuration, point, multipliers, forces)
        H[:s, :s] = 0.5 * (slope_theta + slope_theta.T)
        H[:s, s:], H[s:, :s] = slope_u, slope_u.T
    else:
        arrays, first = acting_arrays(system), system.numbering.constraints
        values = [along_measure(arrays, row - first, float(point.w[row - first])).slope for row in system.theta_rows]
        H[:s, :s] = -np.diag(values)
    B = np.vstack([np.hstack([np.eye(s), np.zeros((s, held.N.shape[1]))]), start.over_u])
    return _with_matrices(start, B.T @ H @ B)


def _with_matrices(start: LinkMotions, K: Array) -> LinkMotions:
    """Add M, D and the input map over w_i."""
    point, system = start.point, start.point.system
    mass = link_mass(point.state)
    Bq, Bu = start.over_q, start.over_u
    across = Bq.T @ (mass.qu @ Bu)
    M = Bq.T @ mass.qq @ Bq + across + across.T + Bu.T @ (mass.uu @ Bu)
    if start.theta:
        s = len(system.theta_rows)
        M[:s, :s] += np.diag(motor_inertia(system))
    over, change = point.soft()
    rows = over @ Bu + change @ Bq
    D = rows.T @ (system.holding.damping[:, None] * rows)
    first, arrays = system.numbering.constraints, acting_arrays(system)
    for row, _ in acting_rows(system):
        damping = along_measure(arrays, row - first, point.measure(row)[0]).damping
        if damping:
            over = measure_row(start, row)
            D = D + damping * np.outer(over, over)
    inputs = [measure_row(start, row) for row in actuator_rows(system.numbering)]
    return start._replace(
        M=0.5 * (M + M.T), D=D, K=0.5 * (K + K.T), inputs=np.array(inputs).reshape(-1, len(M)).T
    )  # fmt: skip


def resting_nodes(point: LinkPoint, inputs: Array) -> tuple[Array, Array]:
    """Return u (n_u,) and the multipliers of the ideal rows at rest under the inputs, with θ fixed.

    [K, C_hᵀ; C_h, 0] (u, λ) = (-∂V/∂u at u = 0 + inputs, 0)                                              (21)
    """
    system = point.system
    unloaded = link_point(system, point.state.X, point.w) if point.u.any() else point
    total = subtract_actuator_forces(unloaded, position_forces(unloaded), inputs)
    C = unloaded.C[system.holding.ideal]
    K = link_stiffness(unloaded)
    held = held_nodes(unloaded)
    inner = held.N.T @ (K @ held.N)
    try:
        u = held.N @ np.linalg.solve(inner, -held.N.T @ total.u)
    except np.linalg.LinAlgError:
        raise NumericalError(
            "a part moves freely while the coordinates are locked",
            part=f'mechanism "{system.numbering.mechanism.name}"', hint="check the modes with locked actuators",
        ) from None  # fmt: skip
    left = total.u + K @ u
    multipliers = -np.linalg.lstsq(C.T, left, rcond=1e-12)[0]
    return np.asarray(u), np.asarray(multipliers)


def subtract_actuator_forces(point: LinkPoint, total: LinkForces, inputs: Array) -> LinkForces:
    """Subtract the actuator forces."""
    for row, force in zip(actuator_rows(point.system.numbering), inputs.tolist(), strict=True):
        if force:
            _, over_q, over_u = point.measure(row)
            total = total + LinkForces(-force * over_q, -force * over_u)
    return total


def _held_forces(point: LinkPoint, multipliers: Array, inputs: Array) -> tuple[Array, Array]:
    """Return ∂(V + λᵀC_h u)/∂θ (s,) and /∂u (n_u,), minus the work of the inputs."""
    ideal = point.system.holding.ideal
    total = subtract_actuator_forces(point, position_forces(point), inputs)
    along = total.q + point.change[ideal].T @ multipliers
    return point.loops.Gamma.T @ along, total.u + point.C[ideal].T @ multipliers


def _holding_inputs(point: LinkPoint, multipliers: Array) -> Array:
    """Return the inputs of least norm that balance θ."""
    rows = actuator_rows(point.system.numbering)
    none = np.zeros(len(rows))
    needed, _ = _held_forces(point, multipliers, none)
    B = np.array([point.measure(row)[1] @ point.loops.Gamma for row in rows]).reshape(-1, len(needed)).T
    return np.asarray(np.linalg.lstsq(B, needed, rcond=1e-12)[0])


def _slopes(configuration: Configuration, point: LinkPoint, multipliers: Array, inputs: Array) -> tuple[Array, Array]:
    """Return ∂/∂θ of the forces on θ (s, s) and on u (s, n_u) at fixed u, λ and inputs, by sixth-order differences."""
    system = point.system
    s, size = len(system.theta_rows), _STEP * system.numbering.theta_scale
    theta = configuration.theta + np.einsum("k,ij->ikj", _STEPS, np.diag(size)).reshape(-1, s)
    near = assemble(configuration.mechanism, theta)
    over_theta, over_u = np.zeros((s, s)), np.zeros((s, len(point.u)))
    for i in range(s):
        for k, weight in enumerate(_WEIGHTS):
            at = i * len(_STEPS) + k
            moved = link_point(system, near.X[at], near.w[at], point.u)
            on_theta, on_u = _held_forces(moved, multipliers, inputs)
            over_theta[i] += weight / size[i] * on_theta
            over_u[i] += weight / size[i] * on_u
    return over_theta, over_u


@single_blas_thread()
def link_modes(motions: LinkMotions, count: int | None = None) -> tuple[Array, Array]:
    """Return the lowest ω² (k,), ascending, and modes (n_i, k) of unit modal mass, without motions that have no mass.

    1/(ω² + σ) are eigenvalues of M in the metric of K + σM: the lowest modes are then the largest ones, independent of
    the stiffness of the highest modes. σ makes K definite if θ is free.
    """
    M, K = motions.M, motions.K
    inverse, vectors = eigh(M, K + _shift(motions) * M)
    order = np.argsort(inverse)[::-1][:count]
    Z = vectors[:, order[inverse[order] > _WITHOUT_MASS * inverse.max(initial=0.0)]]
    # Once more within what was found: energies are exact to rounding of themselves.
    squares, turn = eigh(Z.T @ K @ Z, Z.T @ M @ Z)
    return squares, Z @ turn


def _shift(motions: LinkMotions) -> float:
    """Return σ: zero with locked θ; otherwise above the most negative ω² of the motions of θ with following nodes."""
    if not motions.theta:
        return 0.0
    M, K, s = motions.M, motions.K, len(motions.point.system.theta_rows)
    follow = np.vstack([np.eye(s), -np.linalg.solve(K[s:, s:], K[s:, :s])])
    slow = eigh(follow.T @ K @ follow, follow.T @ M @ follow, eigvals_only=True)
    last = len(K) - s - 1
    elastic = eigh(M[s:, s:], K[s:, s:], eigvals_only=True, subset_by_index=[last, last])
    return float(2.0 * np.abs(slow).max() + _SLOW / elastic[0])


def outputs_without_forces(position: Rest) -> list[str]:
    """Return the names of the outputs that a rigid link system has: those of measures.

    A SuppleNote names the omitted outputs, which measure internal forces.
    """
    load = get_coefficients(position)
    count = len(load.measured)
    inside = [
        name
        for name, form in load.observation.outputs.items()
        if any(number >= count for product in form for number, _ in product.factors)
    ]
    if inside:
        warnings.warn(
            f'mechanism "{position.numbering.mechanism.name}": {", ".join(inside)} are internal forces, which the '
            "rigid link system does not compute; they are omitted",
            SuppleNote,
            stacklevel=4,
        )
    return [name for name in load.observation.outputs if name not in inside]


# Displacements of the links in the coordinates z of the uncondensed elastic mechanism, and the stiffness of loads at
# rest between them (rigid-link-system, 24).


UNCONDENSED = 1e12  # Hz: wider than any band


def rest_load_stiffness(
    rest: ElasticRest, one: Configuration, motions: LinkMotions, T: Array, inputs: Array | None = None
) -> Array:
    """Return TᵀK_g T (n_i, n_i), the stiffness of loads at rest between the u_i, with T (n, n_i) of `over_z`.

    The equations of the links are linear in u and do not contain it (rigid-link-system, 24a). They do contain the
    stiffness
    of loads between θ and θ, and between θ and u. inputs : (actuators,); default: those that hold the rest
    """
    first = motions.K.shape[0] - motions.held.N.shape[1]
    found = np.zeros_like(motions.K)
    own, K_g = T[:, first:], rest_force_stiffness(rest, one, inputs, holding=inputs is None)
    found[first:, first:] = own.T @ (0.5 * (K_g + K_g.T)) @ own
    return found


def over_z(rest: ElasticRest, motions: LinkMotions) -> Array:
    """Return z (n, n_i) of the uncondensed mechanism for each of w_i: z = SᵀM û + (rigid motions) q (24).

    Deflections of drives are the differences between the coordinates and those of the nodes.
    """
    system, state = motions.point.system, motions.point.state
    twists = np.concatenate([state.twists.v, state.twists.w], axis=1) @ motions.over_q  # (nb, 6, n_i)
    hat = np.asarray(rotation_matrix(state).T @ motions.over_u)
    Z = np.zeros((rest.size, hat.shape[1]))
    column = rest.arrays.column
    for b, body in enumerate(rest.bodies):
        first, mesh = 6 * int(system.first_node[b]), system.meshes[b]
        here, twist = slice(body.start, body.stop), twists[b][column]
        if mesh is None:
            Z[here] = body.rigid @ (hat[first + column] + twist)
        else:
            own = hat[first + 6 * mesh.node + mesh.component]
            Z[here] = body.shapes.T @ (mesh.M @ own) + body.rigid @ twist
    first = rest.numbering.constraints
    for drive in rest.drives.values():
        row = rest.numbering.measures["joint", drive.joint, drive.coordinate]
        g = rows_over_coordinates(rest, np.array([row]), state.X[None])[0, 0]
        Z[drive.column] = 0.0
        wanted = np.zeros(Z.shape[1])
        if motions.theta:
            wanted[row - first] = 1.0
        Z[drive.column] = (wanted - g @ Z) / g[drive.column]
    return Z
