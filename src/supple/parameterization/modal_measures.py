"""Springs, dampers, motors, actuators, sensors and friction of a flexible mechanism: all act along measures ℓ(θ, δ).

A measure is a row c over z. To first order in δ, ℓ = ρ(θ) + c Ψ_δ δ, so that over η

    ∂_e ℓ = c·ψ_e,   ∂_e ∂_k ℓ = ∂_k c·ψ_e + c·∂_kψ_e  for θ_k,   0 for two of δ
"""

from __future__ import annotations

import numpy as np

from supple.compilation import kernel
from supple.equations.row import (
    BEND,
    DAMPING,
    DDAMPING,
    DFRICTION_MAP,
    DINPUT_MAP,
    DM,
    FRICTION_MAP,
    INPUT_MAP,
    MASS,
    MODES,
    MODES_SLOPE,
    OUTPUTS,
    RIGID,
)
from supple.formulations.coefficients import ACTUATOR, DRY, LAW, NUMBER, ROLE, SENSOR
from supple.formulations.laws import law


@kernel
def measure_slopes(i, C, dC, Psi, dPsi, slope, bend):
    """∂ℓ/∂η (n,) and ∂²ℓ/∂η² (n, n) of row i."""
    s = dC.shape[0]
    for e in range(Psi.shape[0]):
        slope[e] = np.dot(C[i], Psi[e])
        for k in range(s):
            bend[e, k] = np.dot(dC[k, i], Psi[e]) + np.dot(C[i], dPsi[k, e])
            bend[k, e] = bend[e, k]


@kernel
def add_outer(factor, slope, bend, directions, at, dat, row):
    """Adds factor ∂ℓ ∂ℓᵀ at row[at:], and its derivatives along the first `directions` of η at row[dat:]."""
    n = slope.shape[0]
    for e in range(n):
        for g in range(n):
            row[at + e * n + g] += factor * slope[e] * slope[g]
            for k in range(directions):
                row[dat + (e * n + g) * directions + k] += factor * (bend[e, k] * slope[g] + slope[e] * bend[g, k])


@kernel
def put_column(slope, bend, s, columns, column, at, dat, row):
    """∂ℓ as one column of an (n, columns) matrix at row[at:], and its derivatives with respect to θ at row[dat:]."""
    for e in range(slope.shape[0]):
        row[at + e * columns + column] = slope[e]
        for k in range(s):
            row[dat + (e * columns + column) * s + k] = bend[e, k]


@kernel
def put_output(slope, bend, s, to, rigid_at, given, at, row):
    """Output `to`: value, slopes and bends of θ as the rigid mechanism's row `given` has them, then Ψ_o and ∂Ψ_o/∂θ."""
    d = slope.shape[0] - s
    row[at[OUTPUTS] + to] = given[rigid_at[OUTPUTS] + to]
    for j in range(s):
        row[at[RIGID] + to * s + j] = given[rigid_at[RIGID] + to * s + j]
        for k in range(s):
            row[at[BEND] + (to * s + j) * s + k] = given[rigid_at[BEND] + (to * s + j) * s + k]
    for e in range(d):
        row[at[MODES] + to * d + e] = slope[s + e]
        for k in range(s):
            row[at[MODES_SLOPE] + (to * d + e) * s + k] = bend[s + e, k]


@kernel
def push(pushed, changed, i, C, dC, f, df):
    """Adds a force along row i to f (z,), and its derivatives to df (s, z); changed (s,): of the force itself."""
    for c in range(f.shape[0]):
        f[c] += pushed * C[i, c]
    for k in range(dC.shape[0]):
        for c in range(f.shape[0]):
            df[k, c] += pushed * dC[k, i, c] + changed[k] * C[i, c]


@kernel
def along_measures(uses, actuators, loaded, held, at, C, dC, Psi, dPsi, w, rigid_at, given, row, f, df):
    """Everything that acts along or sees a measure, into the row and the load vector.

    uses : numbers of the rows among those computed, role and number, parameters of laws, place of ℓ in w
    given : the rigid mechanism's row; the last `loaded` of the `held` rows are inputs of their own
    """
    uses_row, uses_i, uses_f, values_at = uses
    s, n = dC.shape[0], Psi.shape[0]
    slope, bend, changed = np.empty(n), np.zeros((n, n)), np.zeros(s)
    inputs = actuators + loaded
    for u in range(uses_row.shape[0]):
        i, role, to = uses_row[u], uses_i[u, ROLE], uses_i[u, NUMBER]
        measure_slopes(i, C, dC, Psi, dPsi, slope, bend)
        if role == LAW:
            acts = law(to, uses_f[u], w[values_at[u]] if values_at[u] >= 0 else 0.0)
            if acts.force != 0.0 or acts.slope != 0.0:
                for k in range(s):
                    changed[k] = acts.slope * slope[k]
                push(acts.force, changed, i, C, dC, f, df)
            if acts.damping != 0.0:
                add_outer(acts.damping, slope, bend, s, at[DAMPING], at[DDAMPING], row)
            if acts.inertia != 0.0:
                add_outer(acts.inertia, slope, bend, n, at[MASS], at[DM], row)
        elif role == ACTUATOR:
            put_column(slope, bend, s, inputs, to, at[INPUT_MAP], at[DINPUT_MAP], row)
        elif role == SENSOR:
            put_output(slope, bend, s, to, rigid_at, given, at, row)
        elif role == DRY:
            put_column(slope, bend, s, 1, 0, at[FRICTION_MAP] + to * n, at[DFRICTION_MAP] + to * n * s, row)
    for a in range(loaded):  # a force at a loaded displacement is an input
        measure_slopes(held - loaded + a, C, dC, Psi, dPsi, slope, bend)
        put_column(slope, bend, s, inputs, actuators + a, at[INPUT_MAP], at[DINPUT_MAP], row)
