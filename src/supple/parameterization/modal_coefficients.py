"""Rows of local models of a flexible mechanism, position by position.

    M = ΨΨᵀ,   K = Ψ(Λ + springs)Ψᵀ,   p_δ = Ψ_δ f,   ∂_k p_δ = ∂_kΨ_δ f + Ψ_δ ∂_k f       [Brüls 2007, eqs. 7-11]

Quantities of θ alone (V₀, p_θ, its gradient, values and bends of outputs) are those of the rigid mechanism.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.compilation.bundle import copy_row, copy_table
from supple.equations.equations_of_motion import christoffel_symbols
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
from supple.formulations.elastic_rest.joint_stiffness_over_position import coordinate_at, coordinate_rate, scale_at
from supple.formulations.elastic_rest.loads import load_vector
from supple.formulations.elastic_rest.response_operator import Structure
from supple.formulations.elastic_rest.rows import BODY, FIRST, WIDTH, add_term, part_poses
from supple.kinematics.elimination import workspace
from supple.kinematics.motion import rigid_modes
from supple.kinematics.primitives import NONE, THEN, A, B, gradient, gradient_slope
from supple.kinematics.row_arrays import row_sizes
from supple.parameterization.internal_modes import (
    DONE,
    NOT_CONVERGED,
    SINGULAR,
    Eigenmodes,
    ModeShapes,
    TrackedModes,
    elastic_modes,
)
from supple.parameterization.modal_measures import Inputs, RowPlaces, RowsAndModes, along_measures, inertia
from supple.parameterization.mode_matching import Following


class Positions(NamedTuple):
    """Data of N positions.

    X, w       : poses (N, bodies + 1, 12) and values of measures (N, measures)
    rigid      : (N, ...) coefficients of the rigid mechanism, with offsets `rigid_at`
    references : (1 or N, internal modes, z) reference of the internal modes
    squares, shapes, number : the lowest modes, from `modes_batch`
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
    """Rows of coefficients of a flexible mechanism, with its modes.

    rows   : (N, width) with the layout of `layout_of`
    modes  : (N, n, z) of η
    status : (N,), see `elastic_modes`
    slopes : (N, s, n, z) of the modes, or (0, s, n, z) if they are not requested
    """

    rows: Array
    modes: Array
    status: Integers
    slopes: Array


@kernel(purpose="local models with modes")
def modal_coefficients(rows, selected, modal, positions, at, results):
    """Compute all coefficients at N positions into ModalRows, with the offsets `at` in a row.

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
            TrackedModes(
                row[at[SQUARES] : at[SQUARES] + internal],
                row[at[OVERLAP] : at[OVERLAP] + 1],
                row[at[PLACES] : at[PLACES] + 1],
            ),
        )
        results.status[p] = status
        if status != DONE:
            continue
        if p < results.slopes.shape[0]:
            for j in range(s):
                copy_table(dPsi[j], results.slopes[p, j])
        dM = row[at[DM] : at[DM] + n * n * n].reshape(n, n, n)
        inertia(bodies, omega, Psi, dPsi, row[at[MASS] : at[MASS] + n * n].reshape(n, n), dM)
        copy_table(K, row[at[STIFFNESS] : at[STIFFNESS] + n * n].reshape(n, n)[s:, s:])
        copy_row(dK.reshape(-1), row[at[STIFFNESS_SLOPE] : at[STIFFNESS_SLOPE] + s * d * d])
        load_vector(loads, X, omega, f, df)
        rigid, coefficients = RowPlaces(rigid_at, given), RowPlaces(at, row)
        along_measures(uses, inputs, RowsAndModes(C, dC, Psi, dPsi), positions.w[p], rigid, coefficients, f, df)
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


# Rows over the elastic coordinates z and their derivatives along the rigid motions of the mechanism.


@kernel
def part_twists(rest, X, twists, moving):
    """Compute twists (parts + 1, s, 6) of the parts' origins from the bodies', in world axes; the ground's are zero."""
    parts = rest.part_i.shape[0]
    moving[parts] = 0.0
    for p in range(parts):
        b = rest.part_i[p, BODY]
        r = np.empty(3)
        for i in range(3):
            r[i] = 0.0
            for c in range(3):
                r[i] += X[b, 3 + 3 * i + c] * rest.part_x[p, c]
        for j in range(moving.shape[1]):
            w = twists[b, j]
            moving[p, j, 0] = w[0] + w[4] * r[2] - w[5] * r[1]
            moving[p, j, 1] = w[1] + w[5] * r[0] - w[3] * r[2]
            moving[p, j, 2] = w[2] + w[3] * r[1] - w[4] * r[0]
            for c in range(3, 6):
                moving[p, j, c] = w[c]


@kernel
def rows_and_slopes(rest, chosen, X, twists, C, dC):
    """Compute C (rows, n) and dC (s, rows, n): the chosen rows and their derivatives with respect to θ."""
    parts, s = rest.part_i.shape[0], dC.shape[0]
    poses = np.empty((parts + 1, 12))
    part_poses(rest, X, poses)
    moving = np.empty((parts + 1, s, 6))
    part_twists(rest, X, twists, moving)
    g = np.empty(13)
    C[:] = 0.0
    dC[:] = 0.0
    for i in range(chosen.shape[0]):
        term = chosen[i]
        while term != NONE:
            a, b = rest.rows_i[term, A], rest.rows_i[term, B]
            gradient(rest.rows_i, rest.rows_f, term, poses, g)
            add_term(rest, term, g, C[i])
            for k in range(s):
                gradient_slope(rest.rows_i, rest.rows_f, term, poses, moving[a, k], moving[b, k], g)
                add_term(rest, term, g, dC[k, i])
            term = rest.rows_i[term, THEN]
        table = rest.tables.of_row[chosen[i]]
        if table != NONE:
            follow_table(rest, table, poses, moving, C[i], dC[:, i])


@kernel
def follow_table(rest, table, poses, moving, row, slopes):
    """Scale row (n,) and slopes (s, n) of a stiffness that follows a coordinate q: s C, and s ∂C + s' ∂q C.

    [eq. 5d]
    """
    coordinate = rest.tables.coordinate[table]
    scale, change = scale_at(rest.tables, table, coordinate_at(rest, coordinate, poses))
    for k in range(slopes.shape[0]):
        along = change * coordinate_rate(rest, coordinate, poses, moving, k)
        for c in range(row.shape[0]):
            slopes[k, c] = scale * slopes[k, c] + along * row[c]
    for c in range(row.shape[0]):
        row[c] *= scale


@kernel
def rigid_in_z(bodies, twists, slopes, Z, dZ):
    """Compute rigid modes Z (s, n) and their derivatives dZ (s, s, n), ∂_k first, from those of the bodies' frames.

    twists : (bodies, d, s); slopes : (bodies, d, s s)
    """
    d, s = twists.shape[1], twists.shape[2]
    for b in range(bodies.place.shape[0]):
        first, width = bodies.place[b, FIRST], bodies.place[b, WIDTH]
        for j in range(s):
            for c in range(width):
                total = 0.0
                for e in range(d):
                    total += bodies.rigid[b, c, e] * twists[b, e, j]
                Z[j, first + c] = total
            for k in range(s):
                for c in range(width):
                    total = 0.0
                    for e in range(d):
                        total += bodies.rigid[b, c, e] * slopes[b, e, j * s + k]
                    dZ[k, j, first + c] = total
