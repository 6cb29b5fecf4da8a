"""Rows of local models of a flexible mechanism, position by position.

    M = ΨΨᵀ,   K = Ψ(Λ + springs)Ψᵀ,   p_δ = Ψ_δ f,   ∂_k p_δ = ∂_kΨ_δ f + Ψ_δ ∂_k f       [Brüls 2007, eqs. 7-11]

What has θ alone (V₀, p_θ, its gradient, values and bends of outputs) is taken from the row of the rigid mechanism.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.equations.christoffel import christoffel_symbols
from supple.equations.row import (
    CHRISTOFFEL,
    DFORCE_THETA,
    DM,
    FORCE,
    FORCE_SLOPE,
    MASS,
    OVERLAP,
    PLACES,
    POTENTIAL,
    SQUARES,
    STIFFNESS,
    STIFFNESS_SLOPE,
)
from supple.formulations.elastic_rest.load_vectors import load_vector
from supple.formulations.elastic_rest.response_operator import Structure
from supple.kinematics.elimination import workspace
from supple.kinematics.rigid_modes import rigid_modes
from supple.kinematics.row_arrays import row_sizes
from supple.parameterization.elastic_modes import DONE, NOT_CONVERGED, SINGULAR, elastic_modes
from supple.parameterization.internal_modes import Eigenmodes, ModeShapes, Spectrum
from supple.parameterization.modal_inertia import inertia
from supple.parameterization.modal_measures import Coefficients, Inputs, Motion, along_measures
from supple.parameterization.mode_reference import Following
from supple.parameterization.row_slopes import rigid_in_z, rows_and_slopes


class Positions(NamedTuple):
    """N positions and what is known there.

    X, w       : poses (N, bodies + 1, 12) and values of measures (N, measures)
    rigid      : (N, ...) coefficients of the rigid mechanism, which begin `rigid_at`
    references : (1 or N, internal modes, z) what internal modes are turned to
    squares, shapes, number : the lowest modes, as `modes_batch` gives them
    """

    X: Array
    w: Array
    rigid: Array
    rigid_at: Integers
    references: Array
    squares: Array
    shapes: Array
    number: Integers


class ModalRows(NamedTuple):
    """rows (N, width) as `layout_of` says; modes (N, n, z) of η; status (N,), see `elastic_modes`; slopes (N, s, n, z)
    of the modes, or (0, s, n, z) where they are not asked for."""

    rows: Array
    modes: Array
    status: Integers
    slopes: Array


@kernel(purpose="local models with modes")
def modal_coefficients(rows, selected, modal, positions, at, results):
    """All coefficients at N positions, into ModalRows; they begin `at` in a row.

    rows : RowArrays of the rigid mechanism; modal : ModalArrays
    """
    rest, held, chosen, bodies, uses, loads = (
        modal.rest,
        modal.held,
        modal.chosen,
        modal.bodies,
        modal.uses,
        modal.loads,
    )
    sizes = row_sizes(rows)
    s, axes = sizes.coordinates, bodies.turning.shape[1]
    m, z = held.rows.shape[0], rest.stiffness.shape[0]
    n = results.modes.shape[1]
    d, internal = n - s, n - s - modal.loaded
    inputs = Inputs(modal.actuators, modal.loaded, m)
    shift, tracking, rigid_at = modal.search.shift, modal.tracking, positions.rigid_at
    work = workspace(rows)
    body_modes = np.zeros((sizes.bodies + 1, sizes.width, s))
    body_slopes = np.zeros((sizes.bodies + 1, sizes.width, s * s))
    twists = np.zeros((sizes.bodies + 1, s, 6))
    omega = np.zeros((sizes.bodies, s, axes))
    C, dC = np.empty((chosen.shape[0], z)), np.empty((s, chosen.shape[0], z))
    f, df = np.empty(z), np.empty((s, z))
    K, dK = np.zeros((d, d)), np.zeros((s, d, d))
    for p in range(positions.X.shape[0]):
        X, given, row = positions.X[p], positions.rigid[p], results.rows[p]
        row[:] = 0.0
        determined, _ = rigid_modes(rows, selected, X, work, body_modes, body_slopes, twists)
        there = positions.number[p]
        if not determined or there < 0:
            results.status[p] = NOT_CONVERGED if determined else SINGULAR
            continue
        for b in range(sizes.bodies):
            for j in range(s):
                for e in range(axes):
                    omega[b, j, e] = body_modes[b, sizes.width - axes + e, j]
        rows_and_slopes(rest, chosen, X, twists, C, dC)
        Psi, dPsi = results.modes[p], np.zeros((s, n, z))
        Psi[:] = 0.0
        rigid_in_z(bodies, body_modes, body_slopes, Psi, dPsi)
        status = elastic_modes(
            rest,
            Structure(rest.stiffness, C[:m], held.compliance),
            shift,
            np.ascontiguousarray(dC[:, :m]),
            Eigenmodes(positions.squares[p, :there], positions.shapes[p, :there]),
            Following(tracking, positions.references[min(p, positions.references.shape[0] - 1)]),
            ModeShapes(Psi[s:], dPsi[:, s:], K, dK),
            Spectrum(
                row[at[SQUARES] : at[SQUARES] + internal],
                row[at[OVERLAP] : at[OVERLAP] + 1],
                row[at[PLACES] : at[PLACES] + 1],
            ),
        )
        results.status[p] = status
        if status != DONE:
            continue
        if p < results.slopes.shape[0]:
            results.slopes[p] = dPsi
        dM = row[at[DM] : at[DM] + n * n * n].reshape(n, n, n)
        inertia(bodies, omega, Psi, dPsi, row[at[MASS] : at[MASS] + n * n].reshape(n, n), dM)
        row[at[STIFFNESS] : at[STIFFNESS] + n * n].reshape(n, n)[s:, s:] = K
        row[at[STIFFNESS_SLOPE] : at[STIFFNESS_SLOPE] + s * d * d] = dK.reshape(-1)
        load_vector(loads, X, omega, f, df)
        rigid, coefficients = Coefficients(rigid_at, given), Coefficients(at, row)
        along_measures(uses, inputs, Motion(C, dC, Psi, dPsi), positions.w[p], rigid, coefficients, f, df)
        christoffel_symbols(n, row[at[DM] :], row[at[CHRISTOFFEL] :])
        row[at[POTENTIAL]] = given[rigid_at[POTENTIAL]]
        for j in range(s):
            row[at[FORCE] + j] = given[rigid_at[FORCE] + j]
            for k in range(s):
                row[at[DFORCE_THETA] + j * s + k] = given[rigid_at[DFORCE_THETA] + j * s + k]
        for e in range(s, n):
            row[at[FORCE] + e] = np.dot(Psi[e], f)
            for k in range(s):
                row[at[FORCE_SLOPE] + k * d + e - s] = np.dot(dPsi[k, e], f) + np.dot(Psi[e], df[k])
