"""Linear models of a rigid mechanism at many states, on all cores."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.compilation.bundle import copy_row, native_array
from supple.compilation.threads import in_parts
from supple.diagnostics import InputError
from supple.diagnostics.errors import values_text
from supple.equations.forces import CoefficientRow, Friction, forces, rate_slopes, theta_slopes
from supple.equations.row import INPUT_MAP, MASS
from supple.formulations.coefficients import LAW, NUMBER, ROLE, get_coefficients
from supple.formulations.force_models import law
from supple.geometry.vectors import cross
from supple.kinematics.configuration import Configuration
from supple.kinematics.elimination import solve, workspace
from supple.kinematics.motion import lengths, rigid_modes, world_twists
from supple.kinematics.primitives import NONE, SCALE, THEN, A, B, Course, gradient, second_rate
from supple.kinematics.row_arrays import row_sizes
from supple.parameterization.rigid_kernel import (
    ON_A,
    ON_B,
    measure_slopes,
    measure_workspace,
    move_to,
    position_workspace,
    rigid_row,
)
from supple.parameterization.rigid_rows import rigid_layout, rigid_rows


class LinearRows(NamedTuple):
    """Linear models at N states with s coordinates: A (N, 2s, 2s), B (N, 2s, inputs), θ̈ (N, s).

    M, P2, P1 : (N, s, s)
    """

    A: Array
    B: Array
    accelerations: Array
    M: Array
    P2: Array
    P1: Array


def linear_rows(configuration: Configuration, rates: Array, inputs: Array, friction_speed: float) -> LinearRows:
    """Return the linear models of a batch of configurations with θ̇ (N, s) and forces of the actuators (N, inputs)."""
    position = configuration.rest
    load = get_coefficients(position)
    layout = rigid_layout(position.numbering, load)
    friction = Friction(np.array(list(load.dry_forces.values()), dtype=float), float(friction_speed))
    (count, s), actuators = configuration.theta.shape, inputs.shape[1]
    states = LinearizationStates(*(native_array(item) for item in (configuration.X, configuration.w, rates, inputs)))
    A, B = np.empty((count, 2 * s, 2 * s)), np.empty((count, 2 * s, actuators))
    M, P2, P1 = np.zeros((3, count, s, s))
    found = LinearModels(A, B, np.zeros((count, s)), M, P2, P1, np.empty(count, dtype=np.int64))
    fixed = (position.numbering.arrays, position.selected, load.arrays, friction, layout.offsets)

    def part(start: int, stop: int) -> None:
        some = LinearizationStates(*(item[start:stop] for item in states))
        to = LinearModels(*(item[start:stop] for item in found))
        compile_kernel(linear_batch, count=stop - start)(*fixed, some, to)

    in_parts(part, count)
    if (found.status != DONE).any():
        raise _no_linear_model(configuration, rates, found.status)
    return LinearRows(*found[:-1])


def _no_linear_model(configuration: Configuration, rates: Array, status: NDArray[np.int64]) -> InputError:
    """Return the error for the first state that has no linear model."""
    n = int(np.flatnonzero(status != DONE)[0])
    names = configuration.rest.numbering.coordinates
    where = values_text(names, configuration.theta[n])
    where += f" (state {n} of {len(status)})" if len(status) > 1 else ""
    part = f'mechanism "{configuration.mechanism.name}"'
    if status[n] == SINGULAR:
        return InputError(
            f"{where} is a singular configuration (measure {float(configuration.singularity[n]):.1g}): θ does not "
            "determine the motion",
            part=part, hint="choose a configuration away from the singularity, or other coordinates",
        )  # fmt: skip
    if status[n] == INDEFINITE:
        light = [name for name, row in zip(names, _diagonal_mass(configuration, n), strict=True) if row <= 0.0]
        which = f'"{light[0]}" moves no mass' if light else "some motion moves no mass"
        return InputError(f"{which} at {where}", part=part, hint="give a mass to the moving parts, or a motor")
    speeds = ", ".join(f"{value:.3g}" for value in rates[n])
    return InputError(
        f"a derivative is not finite at {where} with rates {speeds}",
        part=part, hint="two points with a distance between them may coincide there, or a rate is too large",
    )  # fmt: skip


def _diagonal_mass(configuration: Configuration, n: int) -> Array:
    """Diagonal of M at configuration n."""
    rows, _ = rigid_rows(configuration.part(n))
    layout = rigid_layout(configuration.rest.numbering, get_coefficients(configuration.rest))
    return np.diagonal(layout.split(rows[0])["M"])


# First-order behaviour of a rigid mechanism in motion, in its independent coordinates.
#
#     M θ̈ = f = p + B u - Γ[θ̇, θ̇] - D_d θ̇ - Σ_j J_jᵀ f_j tanh(J_j θ̇ / v₀)
#     M δθ̈ = P₂ δθ + P₁ δθ̇ + P₃ δu,   P₂ = ∂f/∂θ - ∂M/∂θ θ̈,   P₁ = ∂f/∂θ̇,   P₃ = B
#
# with every derivative exact: those of g = M θ̈ + Γ[θ̇, θ̇] from `motion_slopes`, the others from the gradients of the
# coefficients (`supple.equations.forces`).


DONE, SINGULAR, INDEFINITE, UNKNOWN = 0, 1, 2, 3
"""Status of a state: θ does not determine the motion, M is not positive definite, or a value is not finite."""


class LinearizationStates(NamedTuple):
    """States of N linear models: X (N, bodies + 1, 12), measures w (N, measures), θ̇ (N, s), inputs u (N, inputs)."""

    X: np.ndarray
    w: np.ndarray
    rates: np.ndarray
    u: np.ndarray


class RatesAndInputs(NamedTuple):
    """Rates θ̇ (s,) and inputs u (inputs,) of one state."""

    rates: np.ndarray
    u: np.ndarray


class LinearModels(NamedTuple):
    """Linear models at N states: A (N, 2s, 2s), B (N, 2s, inputs), θ̈ (N, s), M, P₂, P₁ (N, s, s), status (N,).

    P₃ is M times the lower half of B.
    """

    A: np.ndarray
    B: np.ndarray
    accelerations: np.ndarray
    M: np.ndarray
    P2: np.ndarray
    P1: np.ndarray
    status: np.ndarray


class LinearWork(NamedTuple):
    """Workspace for one state.

    row    : coefficients; still : η = 0; f : (s,); L : factor of M
    by_theta, by_rate, slopes : ∂f/∂θ, ∂f/∂θ̇, ∂g/∂θ (s, s); solved : M⁻¹ of them
    """

    row: np.ndarray
    still: np.ndarray
    f: np.ndarray
    L: np.ndarray
    by_theta: np.ndarray
    by_rate: np.ndarray
    slopes: np.ndarray
    solved: np.ndarray


@kernel
def factor_mass(s, M, L):
    """Factorise M = L Lᵀ; returns False if M (s s) is not positive definite."""
    for i in range(s):
        for j in range(i + 1):
            total = M[i * s + j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i == j:
                if not total > 1e-14 * M[i * s + i]:
                    return False
                L[i, i] = sqrt(total)
            else:
                L[i, j] = total / L[j, j]
    return True


@kernel
def solve_columns(s, L, x, count):
    """Replace x (s, count) by M⁻¹ x."""
    for i in range(s):
        for k in range(i):
            for c in range(count):
                x[i, c] -= L[i, k] * x[k, c]
        for c in range(count):
            x[i, c] /= L[i, i]
    for i in range(s - 1, -1, -1):
        for k in range(i + 1, s):
            for c in range(count):
                x[i, c] -= L[k, i] * x[k, c]
        for c in range(count):
            x[i, c] /= L[i, i]


@kernel
def solve_linear(at, work, found, n):
    """Compute A, B and the matrices before M⁻¹ of state n from f's derivatives and M = L Lᵀ.

    Returns whether all are finite.
    """
    row, solved = work.row, work.solved
    s, inputs = work.slopes.shape[0], solved.shape[1] - 2 * work.slopes.shape[0]
    A, B, M, P2, P1 = found.A[n], found.B[n], found.M[n], found.P2[n], found.P1[n]
    for i in range(s):
        for j in range(s):
            solved[i, j], solved[i, s + j] = work.by_theta[i, j] - work.slopes[i, j], work.by_rate[i, j]
            M[i, j], P2[i, j], P1[i, j] = row[at[MASS] + i * s + j], solved[i, j], solved[i, s + j]
        for a in range(inputs):
            solved[i, 2 * s + a] = row[at[INPUT_MAP] + i * inputs + a]
    solve_columns(s, work.L, solved, solved.shape[1])
    total = 0.0
    for i in range(s):
        A[i, s + i] = 1.0
        for j in range(2 * s):
            A[s + i, j] = solved[i, j]
            total += abs(solved[i, j])
        for a in range(inputs):
            B[s + i, a] = solved[i, 2 * s + a]
            total += abs(solved[i, 2 * s + a])
    return np.isfinite(total)


@kernel(purpose="linear models of closed chains")
def linear_batch(rows, selected, coefficients, friction, at, states, found):
    """Compute linear models of N states into `found`; at : offsets of the row."""
    count = states.X.shape[0]
    if count == 0:
        return
    work, motion = workspace(rows), motion_workspace(rows)
    here = position_workspace(rows, states.X[0], states.w[0])
    s, inputs = states.rates.shape[1], states.u.shape[1]
    of = measure_workspace(s)
    lin = LinearWork(
        np.empty(at[at.shape[0] - 1]),
        np.zeros(s),
        np.empty(s),
        np.zeros((s, s)),
        np.empty((s, s)),
        np.empty((s, s)),
        np.empty((s, s)),
        np.empty((s, 2 * s + inputs)),
    )
    c = CoefficientRow(s, s, inputs, at, lin.row)
    for n in range(count):
        found.A[n], found.B[n] = 0.0, 0.0
        found.status[n] = SINGULAR
        here = move_to(here, states.X[n], states.w[n])
        state = RatesAndInputs(states.rates[n], states.u[n])
        determined, _ = rigid_modes(rows, selected, here.X, work, here.Psi, here.dPsi, here.twists)
        if not determined:
            continue
        lin.row[:] = 0.0
        rigid_row(rows, coefficients, here, at, lin.row)
        forces(c, friction, lin.still, state.rates, state.u, lin.f)
        rate_slopes(c, friction, state.rates, lin.by_rate)
        theta_slopes(c, friction, state.rates, state.u, lin.by_theta)
        found.status[n] = INDEFINITE
        if not factor_mass(s, lin.row[at[MASS] :], lin.L):
            continue
        solve_columns(s, lin.L, lin.f.reshape(s, 1), 1)
        copy_row(lin.f, found.accelerations[n])
        move(rows, work, here, state.rates, found.accelerations[n], motion)
        lin.slopes[:, :] = 0.0
        body_slopes(rows, coefficients.inertia, here, motion, lin.slopes)
        law_slopes(rows, coefficients, here, motion, of, lin.slopes)
        found.status[n] = DONE if solve_linear(at, lin, found, n) else UNKNOWN


# Derivatives of the inertia forces of a mechanism in motion with respect to θ, at given θ̇ and θ̈.
#
#     V = Ψ θ̇,   [Φ_q; A] V̇ = (0, θ̈) - h(V, V)                       h : second rates of the rows at V̇ = 0
#     g_i = Ψ_iᵀ (M₀ V̇ + V ×* M₀ V) = (M θ̈ + Γ[θ̇, θ̇])_i               V ×* (p, l) = (ω × p, ω × l + v × p)
#     ∂_m g_i = ∂_mΨ_iᵀ (M₀ V̇ + V ×* M₀ V) + Ψ_iᵀ (M₀ ∂_mV̇ + ∂_mV ×* M₀ V + V ×* M₀ ∂_mV)
#
# Here ∂_mV = Σ_j ∂_mΨ_j θ̇_j is known, and ∂_mV̇ follows from the factorisation that gave Ψ: the second rates of all
# rows keep their values (0, θ̈), so that [Φ_q; A] ∂_mV̇ is minus their change at fixed V̇ (`second_rate`). All in body
# axes; laws add the inertia that they have along their measures (docs/theory/linearization.md, eqs. 5-12).


class BodyMotion(NamedTuple):
    """Motion of the bodies at one state, and its derivatives with respect to θ.

    V, dV          : (bodies + 1, d, 1) V and V̇, in body axes
    bent, bent_dV  : (bodies + 1, d, s) ∂V and ∂V̇
    moving, pushed : (bodies + 1, 1, 6) V and V̇ in world axes; bent_world : (bodies + 1, s, 6) ∂V
    changes, term_change, solving : workspace, of the rows and of one term
    """

    V: np.ndarray
    dV: np.ndarray
    bent: np.ndarray
    bent_dV: np.ndarray
    moving: np.ndarray
    pushed: np.ndarray
    bent_world: np.ndarray
    changes: np.ndarray
    term_change: np.ndarray
    solving: np.ndarray


@kernel
def motion_workspace(rows):
    """Allocate the arrays for one state after another."""
    n = row_sizes(rows)
    nb, d, s = n.bodies, n.width, n.coordinates
    return BodyMotion(
        np.zeros((nb + 1, d, 1)),
        np.zeros((nb + 1, d, 1)),
        np.zeros((nb + 1, d, s)),
        np.zeros((nb + 1, d, s)),
        np.zeros((nb + 1, 1, 6)),
        np.zeros((nb + 1, 1, 6)),
        np.zeros((nb + 1, s, 6)),
        np.zeros((n.joint_rows + s, s)),
        np.zeros(s),
        np.zeros((n.joint_rows + s, s)),
    )


@kernel(inline=True)
def second_rate_of_row(rows, i, here, motion, out):
    """Return ℓ'' of row i, the sum of its terms, and set in out (s,) its changes with θ at fixed V̇."""
    rows_i, rows_f, X, change, s = rows.rows_i, rows.rows_f, here.X, motion.term_change, out.shape[0]
    total = 0.0
    for m in range(s):
        out[m] = 0.0
    course = Course(motion.moving[:, 0], motion.pushed[:, 0], here.twists, motion.bent_world)
    term = i
    while term != NONE:
        total += second_rate(rows_i, rows_f, term, X, course, change)
        for m in range(s):
            out[m] += change[m]
        term = rows_i[term, THEN]
    return total


@kernel
def move(rows, work, here, rates, accelerations, motion):
    """Compute V, V̇, ∂V and ∂V̇ of the bodies from θ̇ (s,) and θ̈ (s,); `work` holds the factorised rows."""
    n = row_sizes(rows)
    d, s = n.width, n.coordinates
    bent, changes, rows_f = motion.bent, motion.changes, rows.rows_f
    Psi, dPsi, V, dV = here.Psi, here.dPsi, motion.V, motion.dV
    for b in range(n.bodies):
        for c in range(d):
            first, second = 0.0, 0.0
            for m in range(s):
                bent[b, c, m] = 0.0
            for j in range(s):
                first += Psi[b, c, j] * rates[j]
                second += Psi[b, c, j] * accelerations[j]
                for m in range(s):
                    bent[b, c, m] += dPsi[b, c, j * s + m] * rates[j]
            for m in range(s):
                second += bent[b, c, m] * rates[m]
            V[b, c, 0], dV[b, c, 0] = first, second
    world_twists(rows, here.X, motion.V, 1, motion.moving)
    world_twists(rows, here.X, motion.dV, 1, motion.pushed)
    world_twists(rows, here.X, bent, s, motion.bent_world)
    for i in range(n.joint_rows + s):
        second_rate_of_row(rows, i, here, motion, changes[i])
        for m in range(s):
            changes[i, m] *= -1.0 / rows_f[i, SCALE]
    solve(rows, work, changes, s, motion.bent_dV, motion.solving)
    lengths(rows, motion.bent_dV, s)


@kernel(inline=True)
def full(column, x, b, j):
    """Return column j of a body's velocities as (v, ω)."""
    v, w = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if column.shape[0] == 6:
        v, w = (x[b, 0, j], x[b, 1, j], x[b, 2, j]), (x[b, 3, j], x[b, 4, j], x[b, 5, j])
    else:
        v, w = (x[b, 0, j], x[b, 1, j], 0.0), (0.0, 0.0, x[b, 2, j])
    return v, w


@kernel(inline=True)
def body_momentum(inertia, column, x, b, j, out):
    """Set M₀ x of body b in out (6,)."""
    d = column.shape[0]
    for c in range(d):
        total = 0.0
        for e in range(d):
            total += inertia[b, c, e] * x[b, e, j]
        out[column[c]] = total


@kernel(inline=True)
def add_turned(v, w, P, out):
    """Add (v, ω) ×* P to out (6,)."""
    p, h = (P[0], P[1], P[2]), (P[3], P[4], P[5])
    force, moment, arm = cross(w, p), cross(w, h), cross(v, p)
    for k in range(3):
        out[k] += force[k]
        out[3 + k] += moment[k] + arm[k]


@kernel
def body_slopes(rows, inertia, here, motion, slopes):
    """Add ∂_m g_i of all bodies to slopes (s, s)."""
    column, Psi, dPsi = rows.column, here.Psi, here.dPsi
    V, dV, bent, bent_dV = motion.V, motion.dV, motion.bent, motion.bent_dV
    d, s = column.shape[0], slopes.shape[0]
    P, dP = np.zeros(6), np.zeros(6)
    f, df = np.zeros(6), np.zeros(6)
    for b in range(inertia.shape[0]):
        v, w = full(column, V, b, 0)
        body_momentum(inertia, column, V, b, 0, P)
        body_momentum(inertia, column, dV, b, 0, f)
        add_turned(v, w, P, f)
        for m in range(s):
            dv, dw = full(column, bent, b, m)
            body_momentum(inertia, column, bent, b, m, dP)
            body_momentum(inertia, column, bent_dV, b, m, df)
            add_turned(dv, dw, P, df)
            add_turned(v, w, dP, df)
            for i in range(s):
                total = 0.0
                for c in range(d):
                    total += dPsi[b, c, i * s + m] * f[column[c]] + Psi[b, c, i] * df[column[c]]
                slopes[i, m] += total


@kernel(inline=True)
def inertia_along(coefficients, measure, length):
    """Return the inertia m of all force models along a measure."""
    total = 0.0
    for use in range(coefficients.uses_start[measure], coefficients.uses_start[measure + 1]):
        if coefficients.uses_i[use, ROLE] == LAW:
            total += law(coefficients.uses_i[use, NUMBER], coefficients.uses_f[use], length).inertia
    return total


@kernel
def law_slopes(rows, coefficients, here, motion, of, slopes):
    """Add the slopes of inertia along measures, m ∂_iℓ ℓ'', to slopes (s, s); of : workspace."""
    n = row_sizes(rows)
    rows_i, column, s = rows.rows_i, rows.column, n.coordinates
    g, change, bent_dV = of.gradient, np.empty(s), motion.bent_dV
    for i in range(n.joint_rows, n.rows):
        inertia = inertia_along(coefficients, i - n.joint_rows, here.w[i - n.joint_rows])
        if inertia == 0.0:
            continue
        measure_slopes(rows, i, here, of)
        second = second_rate_of_row(rows, i, here, motion, change)
        term = i
        while term != NONE:
            gradient(rows_i, rows.rows_f, term, here.X, g)
            a, b = rows_i[term, A], rows_i[term, B]
            for m in range(s):
                for c in range(n.width):
                    change[m] += g[ON_A + column[c]] * bent_dV[a, c, m]
                    change[m] += g[ON_B + column[c]] * bent_dV[b, c, m]
            term = rows_i[term, THEN]
        for j in range(s):
            for m in range(s):
                slopes[j, m] += inertia * (of.bend[j, m] * second + of.slope[j] * change[m])
