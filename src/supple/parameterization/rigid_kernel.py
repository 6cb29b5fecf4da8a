"""Coefficients of a rigid mechanism at one position, from its rigid modes.

    M_ij   = Ψ_iᵀ M₀ Ψ_j + Σ m ∂_iℓ ∂_jℓ                                        [Brüls 2004, eq. 18]
    ∂_k M  = ∂_kΨᵀ M₀ Ψ + Ψᵀ M₀ ∂_kΨ + ...,  M₀ constant in body axes
    p_j    = Σ F·δ_j x + Σ f(ℓ) ∂_jℓ,  -∂V/∂θ_j where V exists                  [eq. 16]
    D_d    = Σ c ∂ℓᵀ ∂ℓ,   B = (∂ℓ/∂θ)ᵀ of the actuators,   each with its gradient from ∂²ℓ

f, c and m are those of the force models that act along measures ℓ. Results of one position are one row of `out` with
the layout of `supple.equations.row`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.compilation import kernel
from supple.equations.equations_of_motion import christoffel_symbols
from supple.equations.row import (
    BEND,
    CHRISTOFFEL,
    DAMPING,
    DDAMPING,
    DFORCE_THETA,
    DFRICTION_MAP,
    DINPUT_MAP,
    DM,
    FORCE,
    FRICTION_MAP,
    INPUT_MAP,
    MASS,
    OUTPUTS,
    POTENTIAL,
    RIGID,
)
from supple.formulations.coefficients import (
    ACTUATOR,
    AT_POINT,
    BODY,
    DRY,
    FOLLOWS,
    LAW,
    NUMBER,
    OF_FORCE,
    OF_MOMENT,
    ROLE,
    SENSOR,
)
from supple.formulations.force_models import law
from supple.geometry.vectors import cross, dot, plus
from supple.kinematics.elimination import workspace
from supple.kinematics.motion import rigid_modes, world_twists
from supple.kinematics.primitives import NONE, THEN, A, B, curvature, gradient, rotate_to_world
from supple.kinematics.row_arrays import row_sizes

# Force models, actuators, dry friction and sensors, which act along measures ℓ(θ) of a rigid mechanism or read them.
#
#     p += f(ℓ) ∂ℓ,   D_d += c ∂ℓᵀ ∂ℓ,   M += m ∂ℓᵀ ∂ℓ,   B = (∂ℓ)ᵀ of the actuators, each with its gradient from ∂²ℓ


ON_A, ON_B = 1, 7
"""Offset of the gradients of a term with respect to the twists of its two bodies, behind its value."""


class MeasureSlopes(NamedTuple):
    """Slopes of one measure ℓ: slope (s,) ∂ℓ/∂θ and bend (s, s) ∂²ℓ/∂θ²; workspace for one of its terms."""

    slope: np.ndarray
    bend: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray
    scratch: np.ndarray


@kernel
def measure_workspace(s):
    """Allocate the arrays for the slopes of one measure after another."""
    return MeasureSlopes(np.empty(s), np.empty((s, s)), np.empty(13), np.empty((s, s)), np.empty((2 * s, 13)))


@kernel(inline=True)
def measure_slopes(rows, i, here, of):
    """Compute ∂ℓ/∂θ and ∂²ℓ/∂θ² of row i, the sum of its terms, into `of`."""
    rows_i, rows_f, column = rows.rows_i, rows.rows_f, rows.column
    X, twists, Psi, dPsi = here.X, here.twists, here.Psi, here.dPsi
    slope, bend, g, curve, scratch = of.slope, of.bend, of.gradient, of.curvature, of.scratch
    d, s = column.shape[0], slope.shape[0]
    for j in range(s):
        slope[j] = 0.0
        for k in range(s):
            bend[j, k] = 0.0
    term = i
    while term != NONE:
        gradient(rows_i, rows_f, term, X, g)
        curvature(rows_i, rows_f, term, X, twists, s, scratch, curve)
        a, b = rows_i[term, A], rows_i[term, B]
        for j in range(s):
            for c in range(d):
                slope[j] += g[ON_A + column[c]] * Psi[a, c, j] + g[ON_B + column[c]] * Psi[b, c, j]
            for k in range(j, s):
                total = curve[j, k]
                for c in range(d):
                    total += g[ON_A + column[c]] * dPsi[a, c, j * s + k] + g[ON_B + column[c]] * dPsi[b, c, j * s + k]
                bend[j, k] += total
        term = rows_i[term, THEN]
    for j in range(s):
        for k in range(j):
            bend[j, k] = bend[k, j]


@kernel(inline=True)
def act(acts, of, at, row):
    """Add the contributions of a force model along ℓ: V, f ∂ℓ, c ∂ℓᵀ∂ℓ and m ∂ℓᵀ∂ℓ with their gradients."""
    slope, bend = of.slope, of.bend
    s = slope.shape[0]
    if acts.force != 0.0 or acts.slope != 0.0:
        force, dforce = row[at[FORCE] :], row[at[DFORCE_THETA] :]
        row[at[POTENTIAL]] += acts.energy
        for j in range(s):
            force[j] += acts.force * slope[j]
            for k in range(s):
                dforce[j * s + k] += acts.slope * slope[j] * slope[k] + acts.force * bend[j, k]
    if acts.damping != 0.0 or acts.damping_slope != 0.0:
        add_outer(acts.damping, acts.damping_slope, of, row[at[DAMPING] :], row[at[DDAMPING] :])
    if acts.inertia != 0.0:
        add_outer(acts.inertia, 0.0, of, row[at[MASS] :], row[at[DM] :])


@kernel(inline=True)
def add_outer(factor, change, of, matrix, slopes):
    """Add factor(ℓ) ∂ℓᵀ∂ℓ to matrix (s s), and its derivatives to slopes (s s s); change : d factor / dℓ."""
    slope, bend = of.slope, of.bend
    s = slope.shape[0]
    for i in range(s):
        for j in range(s):
            matrix[i * s + j] += factor * slope[i] * slope[j]
            for k in range(s):
                slopes[(i * s + j) * s + k] += (
                    factor * (bend[i, k] * slope[j] + slope[i] * bend[j, k]) + change * slope[i] * slope[j] * slope[k]
                )


@kernel(inline=True)
def put(of, to, bends):
    """Set ∂ℓ in to (s,), ∂²ℓ in bends (s s)."""
    s = of.slope.shape[0]
    for j in range(s):
        to[j] = of.slope[j]
        for k in range(s):
            bends[j * s + k] = of.bend[j, k]


@kernel
def measures(rows, coefficients, here, at, row):
    """Add force models, actuators, sensors and dry friction, which act along measures ℓ(θ) or read them."""
    n = row_sizes(rows)
    s, inputs = n.coordinates, n.actuators
    uses_start, uses_i, uses_f, w = coefficients.uses_start, coefficients.uses_i, coefficients.uses_f, here.w
    of = measure_workspace(s)
    for i in range(n.joint_rows, n.rows):
        measure = i - n.joint_rows
        first, last = uses_start[measure], uses_start[measure + 1]
        if first == last:
            continue
        measure_slopes(rows, i, here, of)
        for use in range(first, last):
            role, to = uses_i[use, ROLE], uses_i[use, NUMBER]
            if role == LAW:
                act(law(to, uses_f[use], w[measure]), of, at, row)
            elif role == ACTUATOR:
                for j in range(s):
                    row[at[INPUT_MAP] + j * inputs + to] = of.slope[j]
                    for k in range(s):
                        row[at[DINPUT_MAP] + (j * inputs + to) * s + k] = of.bend[j, k]
            elif role == SENSOR:
                row[at[OUTPUTS] + to] = w[measure]
                put(of, row[at[RIGID] + to * s :], row[at[BEND] + to * s * s :])
            elif role == DRY:
                put(of, row[at[FRICTION_MAP] + to * s :], row[at[DFRICTION_MAP] + to * s * s :])


# A configuration with its rigid modes, from which coefficients and linear models of rigid mechanisms follow.


class Position(NamedTuple):
    """A configuration and its rigid modes.

    X : (bodies + 1, 12) poses; w : (measures,) values of all measures, angles beyond a turn
    Psi, dPsi       : (bodies + 1, d, s), (bodies + 1, d, s s) Ψ and ∂_kΨ_j at j s + k, in body axes
    twists, dtwists : (bodies + 1, s, 6), (bodies + 1, s s, 6) the same in world axes
    """

    X: np.ndarray
    w: np.ndarray
    Psi: np.ndarray
    dPsi: np.ndarray
    twists: np.ndarray
    dtwists: np.ndarray


@kernel
def position_workspace(rows, X, w):
    """Allocate the arrays for the rigid modes of one configuration after another, at X and w."""
    n = row_sizes(rows)
    nb, d, s = n.bodies, n.width, n.coordinates
    return Position(
        X,
        w,
        np.zeros((nb + 1, d, s)),
        np.zeros((nb + 1, d, s * s)),
        np.zeros((nb + 1, s, 6)),
        np.zeros((nb + 1, s * s, 6)),
    )


@kernel(inline=True)
def move_to(here, X, w):
    """Return the same arrays for another configuration."""
    return Position(X, w, here.Psi, here.dPsi, here.twists, here.dtwists)


# Coefficients at one position and at all.


@kernel
def mass(inertia, here, at, row):
    """Add M and ∂M/∂θ of the bodies; inertia : (bodies, d, d)."""
    nb, d, s = inertia.shape[0], inertia.shape[1], here.Psi.shape[2]
    M, dM, Psi, dPsi = row[at[MASS] :], row[at[DM] :], here.Psi, here.dPsi
    momentum = np.empty((d, s))
    for b in range(nb):
        for c in range(d):
            for j in range(s):
                total = 0.0
                for e in range(d):
                    total += inertia[b, c, e] * Psi[b, e, j]
                momentum[c, j] = total
        for i in range(s):
            for j in range(i, s):
                total = 0.0
                for c in range(d):
                    total += Psi[b, c, i] * momentum[c, j]
                M[i * s + j] += total
                if j > i:
                    M[j * s + i] += total
            for k in range(s):
                for j in range(s):
                    half = 0.0
                    for c in range(d):
                        half += dPsi[b, c, i * s + k] * momentum[c, j]
                    dM[(i * s + j) * s + k] += half
                    dM[(j * s + i) * s + k] += half


@kernel(inline=True)
def linear_part(twists, b, j):
    """Return v of motion j of body b."""
    return (twists[b, j, 0], twists[b, j, 1], twists[b, j, 2])


@kernel(inline=True)
def angular_part(twists, b, j):
    """Return ω of motion j of body b."""
    return (twists[b, j, 3], twists[b, j, 4], twists[b, j, 5])


@kernel
def loads(coefficients, here, at, row):
    """Add forces and moments at points of bodies, gravity among them: p_j += F·v_j + (r × F + moment)·ω_j.

    For loads of constant direction, ∂_k(δ_j x) = ω_k × δ_j x, and likewise for ω_j: F·(ω_k × δ_j x) = ω_k·(δ_j x × F).
    """
    X, twists, dtwists = here.X, here.twists, here.dtwists
    s = twists.shape[1]
    force, dforce = row[at[FORCE] :], row[at[DFORCE_THETA] :]
    loads_i, loads_f = coefficients.loads_i, coefficients.loads_f
    for n in range(loads_i.shape[0]):
        b, follows = loads_i[n, BODY], loads_i[n, FOLLOWS]
        r = rotate_to_world(X, b, loads_f, n, AT_POINT)
        F = (loads_f[n, OF_FORCE], loads_f[n, OF_FORCE + 1], loads_f[n, OF_FORCE + 2])
        moment = (loads_f[n, OF_MOMENT], loads_f[n, OF_MOMENT + 1], loads_f[n, OF_MOMENT + 2])
        if follows == 1:
            F, moment = rotate_to_world(X, b, loads_f, n, OF_FORCE), rotate_to_world(X, b, loads_f, n, OF_MOMENT)
        else:
            row[at[POTENTIAL]] -= dot(F, plus((X[b, 0], X[b, 1], X[b, 2]), r))
        about = plus(cross(r, F), moment)
        for j in range(s):
            v, w = linear_part(twists, b, j), angular_part(twists, b, j)
            force[j] += dot(F, v) + dot(about, w)
            turning = (0.0, 0.0, 0.0)
            if follows == 0:
                turning = plus(cross(plus(v, cross(w, r)), F), cross(w, moment))
            for k in range(s):
                pair = j * s + k
                dforce[pair] += (
                    dot(F, linear_part(dtwists, b, pair))
                    + dot(about, angular_part(dtwists, b, pair))
                    + dot(turning, angular_part(twists, b, k))
                )


@kernel
def rigid_row(rows, coefficients, here, at, row):
    """Compute the coefficients at one position from its rigid modes, into row (width,) by the offsets `at`."""
    s = here.Psi.shape[2]
    world_twists(rows, here.X, here.dPsi, s * s, here.dtwists)
    mass(coefficients.inertia, here, at, row)
    loads(coefficients, here, at, row)
    measures(rows, coefficients, here, at, row)
    christoffel_symbols(s, row[at[DM] :], row[at[CHRISTOFFEL] :])


@kernel(purpose="local models")
def rigid_batch(rows, selected, coefficients, X_all, w_all, at, out, regular):
    """Compute the coefficients at every position into out (N, width) by the offsets `at`; regular (N,) is 1 on success.

    rows : the mechanism's RowArrays; coefficients : its CoefficientArrays
    """
    work = workspace(rows)
    if X_all.shape[0] == 0:
        return
    here = position_workspace(rows, X_all[0], w_all[0])
    for n in range(X_all.shape[0]):
        out[n] = 0.0
        here = move_to(here, X_all[n], w_all[n])
        determined, _ = rigid_modes(rows, selected, here.X, work, here.Psi, here.dPsi, here.twists)
        regular[n] = 1 if determined else 0
        if determined:
            rigid_row(rows, coefficients, here, at, out[n])
