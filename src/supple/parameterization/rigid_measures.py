"""What acts along measures ℓ(θ) of a rigid mechanism, or sees them: laws, actuators, sensors and dry friction.

p += f(ℓ) ∂ℓ,   D_d += c ∂ℓᵀ ∂ℓ,   M += m ∂ℓᵀ ∂ℓ,   B = (∂ℓ)ᵀ of the actuators, each with its gradient from ∂²ℓ
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.compilation import kernel
from supple.equations.row import (
    BEND,
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
    DRY,
    LAW,
    NUMBER,
    ROLE,
    SENSOR,
)
from supple.formulations.force_models import law
from supple.kinematics.primitives import NONE, THEN, A, B, curvature, gradient
from supple.kinematics.row_arrays import row_sizes

ON_A, ON_B = 1, 7
"""Where the gradients of a term with respect to the twists of its two bodies stand, behind its value."""


class MeasureSlopes(NamedTuple):
    """Of one measure ℓ: slope (s,) ∂ℓ/∂θ and bend (s, s) ∂²ℓ/∂θ²; workspace for one of its terms."""

    slope: np.ndarray
    bend: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray
    scratch: np.ndarray


@kernel
def measure_workspace(s):
    """Arrays for the slopes of one measure after another."""
    return MeasureSlopes(np.empty(s), np.empty((s, s)), np.empty(13), np.empty((s, s)), np.empty((2 * s, 13)))


@kernel(inline=True)
def measure_slopes(rows, i, here, of):
    """∂ℓ/∂θ and ∂²ℓ/∂θ² of row i into `of`, its terms together."""
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
    """Adds what a law gives along ℓ: V, f ∂ℓ, c ∂ℓᵀ∂ℓ and m ∂ℓᵀ∂ℓ with their gradients."""
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
    """Adds factor(ℓ) ∂ℓᵀ∂ℓ to matrix (s s), and its derivatives to slopes (s s s); change : d factor / dℓ."""
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
    """∂ℓ into to (s,), ∂²ℓ into bends (s s)."""
    s = of.slope.shape[0]
    for j in range(s):
        to[j] = of.slope[j]
        for k in range(s):
            bends[j * s + k] = of.bend[j, k]


@kernel
def measures(rows, coefficients, here, at, row):
    """Laws, actuators, sensors and dry friction: all act along measures ℓ(θ), or see them."""
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
