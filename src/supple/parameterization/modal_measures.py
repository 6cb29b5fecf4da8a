"""Measures of a flexible mechanism, the forces and sensors along them, and its inertia, over η = (θ, δ).

The equations are in docs/theory/parameterization.md, eqs. 13-15, 17.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import kernel
from supple.compilation.bundle import copy_table
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
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.geometric_stiffness_at_rest import compute_turning
from supple.formulations.elastic_rest.rows import FIRST, WIDTH
from supple.formulations.force_models import law

# Springs, dampers, motors, actuators, sensors and friction of a flexible mechanism: all act along measures ℓ(θ, δ).
#
# A measure is a row c over z. To first order in δ, ℓ = ρ(θ) + c Ψ_δ δ, so that over η
#
#     ∂_e ℓ = c·ψ_e,   ∂_e ∂_k ℓ = ∂_k c·ψ_e + c·∂_kψ_e  for θ_k,   0 for two of δ


class MeasureUses(NamedTuple):
    """Forces and sensors along measures.

    row        : (uses,) number of the computed row; value (uses,) : index of ℓ among the measures
    role       : (uses, 2) ROLE and NUMBER
    parameters : (uses, p) of force models
    """

    row: NDArray[np.int64]
    role: NDArray[np.int64]
    parameters: NDArray[np.float64]
    value: NDArray[np.int64]


class RowsAndModes(NamedTuple):
    """Rows C (rows, z) and modes Ψ (n, z) at one position, and their slopes ∂/∂θ in a first axis."""

    C: NDArray[np.float64]
    dC: NDArray[np.float64]
    Psi: NDArray[np.float64]
    dPsi: NDArray[np.float64]


class Measure(NamedTuple):
    """Derivatives ∂ℓ/∂η (n,) and ∂²ℓ/∂η² (n, n) of one measure."""

    slope: NDArray[np.float64]
    bend: NDArray[np.float64]


class Inputs(NamedTuple):
    """Numbers of actuators, of loaded displacements, and of constrained rows, the loaded displacements included."""

    actuators: int
    loaded: int
    held: int


class RowPlaces(NamedTuple):
    """A row of coefficients, and their offsets in it."""

    at: NDArray[np.int64]
    row: NDArray[np.float64]


@kernel
def measure_derivatives(motion, i, measure):
    """Compute ∂ℓ and ∂²ℓ of row i."""
    for e in range(motion.Psi.shape[0]):
        measure.slope[e] = np.dot(motion.C[i], motion.Psi[e])
        for k in range(motion.dC.shape[0]):
            measure.bend[e, k] = np.dot(motion.dC[k, i], motion.Psi[e]) + np.dot(motion.C[i], motion.dPsi[k, e])
            measure.bend[k, e] = measure.bend[e, k]


@kernel
def add_measure_product(factor, measure, directions, at, dat, row):
    """Add factor ∂ℓ ∂ℓᵀ at row[at:], and its derivatives along the first `directions` of η at row[dat:]."""
    slope, bend = measure.slope, measure.bend
    n = slope.shape[0]
    for e in range(n):
        for g in range(n):
            row[at + e * n + g] += factor * slope[e] * slope[g]
            for k in range(directions):
                row[dat + (e * n + g) * directions + k] += factor * (bend[e, k] * slope[g] + slope[e] * bend[g, k])


@kernel
def put_column(measure, s, columns, column, at, dat, row):
    """Set ∂ℓ as one column of an (n, columns) matrix at row[at:], and its derivatives by θ at row[dat:]."""
    for e in range(measure.slope.shape[0]):
        row[at + e * columns + column] = measure.slope[e]
        for k in range(s):
            row[dat + (e * columns + column) * s + k] = measure.bend[e, k]


@kernel
def put_output(measure, s, to, rigid, coefficients):
    """Set output `to`: value, slopes and bends in θ from the rigid mechanism, then Ψ_o and ∂Ψ_o/∂θ."""
    given, known, row, at = rigid.row, rigid.at, coefficients.row, coefficients.at
    d = measure.slope.shape[0] - s
    row[at[OUTPUTS] + to] = given[known[OUTPUTS] + to]
    for j in range(s):
        row[at[RIGID] + to * s + j] = given[known[RIGID] + to * s + j]
        for k in range(s):
            row[at[BEND] + (to * s + j) * s + k] = given[known[BEND] + (to * s + j) * s + k]
    for e in range(d):
        row[at[MODES] + to * d + e] = measure.slope[s + e]
        for k in range(s):
            row[at[MODES_SLOPE] + (to * d + e) * s + k] = measure.bend[s + e, k]


@kernel
def push_row(motion, i, force, changed, f, df):
    """Add a force along row i to f (z,), and its derivatives to df (s, z); changed (s,) : those of the force itself."""
    for c in range(f.shape[0]):
        f[c] += force * motion.C[i, c]
    for k in range(motion.dC.shape[0]):
        for c in range(f.shape[0]):
            df[k, c] += force * motion.dC[k, i, c] + changed[k] * motion.C[i, c]


@kernel
def along_measures(uses, inputs, motion, w, rigid, coefficients, f, df):
    """Add the contributions of forces and sensors along measures to the coefficients and the load f (z,), df (s, z).

    uses : MeasureUses; w : values of the measures; rigid : RowPlaces of the rigid mechanism
    """
    at, row = coefficients.at, coefficients.row
    s, n = motion.dC.shape[0], motion.Psi.shape[0]
    measure, changed = Measure(np.empty(n), np.zeros((n, n))), np.zeros(s)
    columns = inputs.actuators + inputs.loaded
    for u in range(uses.row.shape[0]):
        i, role, to = uses.row[u], uses.role[u, ROLE], uses.role[u, NUMBER]
        measure_derivatives(motion, i, measure)
        if role == LAW:
            acts = law(to, uses.parameters[u], w[uses.value[u]] if uses.value[u] >= 0 else 0.0)
            if acts.force != 0.0 or acts.slope != 0.0:
                for k in range(s):
                    changed[k] = acts.slope * measure.slope[k]
                push_row(motion, i, acts.force, changed, f, df)
            if acts.damping != 0.0:
                add_measure_product(acts.damping, measure, s, at[DAMPING], at[DDAMPING], row)
            if acts.inertia != 0.0:
                add_measure_product(acts.inertia, measure, n, at[MASS], at[DM], row)
        elif role == ACTUATOR:
            put_column(measure, s, columns, to, at[INPUT_MAP], at[DINPUT_MAP], row)
        elif role == SENSOR:
            put_output(measure, s, to, rigid, coefficients)
        elif role == DRY:
            put_column(measure, s, 1, 0, at[FRICTION_MAP] + to * n, at[DFRICTION_MAP] + to * n * s, row)
    for a in range(inputs.loaded):  # a force at a loaded displacement is an input
        measure_derivatives(motion, inputs.held - inputs.loaded + a, measure)
        put_column(measure, s, columns, inputs.actuators + a, at[INPUT_MAP], at[DINPUT_MAP], row)


# Inertia of a mechanism over η = (θ, δ) at δ = 0, from modes Ψ (rows: θ rigid, γ constraint, ι internal) over z.
#
#     M = ΨΨᵀ,   ∂_k M = ∂_kΨ Ψᵀ + Ψ ∂_kΨᵀ                                                   [Brüls 2007, eqs. 7-11]
#     ∂M_ij/∂δ_a = n_aj·ψ_i + n_ai·ψ_j,   n_aj = ∂_jψ_a + ω_j × ψ_a for θ_j, zero otherwise


class BodyArrays(NamedTuple):
    """Bodies over z.

    place   : (bodies, 3) BODY, FIRST coordinate and WIDTH, number of coordinates
    rigid   : (bodies, widest, d) z of rigid motions
    turning : (bodies, axes, widest, widest) ΦᵀMW_kΦ in z
    """

    place: NDArray[np.int64]
    rigid: Array
    turning: Array


@kernel
def inertia(bodies, omega, Psi, dPsi, M, dM):
    """Add the inertia to zeroed M (n, n) and dM (n, n, n) over η.

    Psi (n, z), dPsi (s, n, z), omega (bodies, s, axes) of frames
    """
    s, n = omega.shape[1], Psi.shape[0]
    Pt = np.ascontiguousarray(Psi.T)
    copy_table(np.dot(Psi, Pt), M)
    for j in range(s):
        moved = np.dot(dPsi[j], Pt)
        for i in range(n):
            for k in range(n):
                dM[i, k, j] += moved[i, k] + moved[k, i]
        # n_aj·ψ_i for all a in δ, i in η
        for b in range(bodies.place.shape[0]):
            first, width = bodies.place[b, FIRST], bodies.place[b, WIDTH]
            Q = np.zeros((width, width))  # transposed
            turns = False
            for e in range(omega.shape[2]):
                if omega[b, j, e] != 0.0:
                    turns = True
                    for c in range(width):
                        for f in range(width):
                            Q[f, c] += omega[b, j, e] * bodies.turning[b, e, c, f]
            if turns:
                here = np.ascontiguousarray(Psi[:, first : first + width])
                moved += np.dot(np.dot(here, Q), np.ascontiguousarray(here.T))  # ψ_iᵀ Q ψ_a
        for a in range(s, n):
            for i in range(n):
                dM[i, j, a] += moved[a, i]
                dM[j, i, a] += moved[a, i]


def body_arrays(rest: ElasticRest) -> BodyArrays:
    """Return the bodies of a mechanism in the form that kernels use."""
    d, widest = len(rest.arrays.column), max(body.size for body in rest.bodies)
    return BodyArrays(
        np.array([(b, body.start, body.size) for b, body in enumerate(rest.bodies)], dtype=np.int64),
        np.array([_pad(body.rigid, (widest, d)) for body in rest.bodies]),
        np.array([[_pad(axis, (widest, widest)) for axis in compute_turning(rest, body)] for body in rest.bodies]),
    )


def _pad(matrix: Array, shape: tuple[int, int]) -> Array:
    return np.pad(matrix, [(0, wide - own) for own, wide in zip(matrix.shape, shape, strict=True)])
