"""Slopes of the elastic mechanism with respect to a parameter of its file: matrices of bodies, rows, springs, motors.

In the coordinates z of the current mechanism, with constant shapes Φ_b,

    K' = Σ_b Φ_bᵀK_b'Φ_b + Σ_r (k_r' C_rᵀC_r + k_r (C_r'ᵀC_r + C_rᵀC_r')),   M' = Σ_b Φ_bᵀM_b'Φ_b + ...  (parameters, 6)
    C_r' = ∂C_r/∂μ + ∂C_r/∂X ξ                  for the data of the rows, and the change of poses with μ             (7)

K_b and M_b are those of the meshes before condensation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.analytic_slope import NEAR
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.errors import quote
from supple.formulations.absolute.superelements.superelement_arrays import modal_body
from supple.formulations.coefficients import along_measure, get_coefficients
from supple.formulations.data_slopes import data_slopes, neighbours
from supple.formulations.elastic.elastic_body import mesh_of
from supple.formulations.elastic_rest.body_coordinates import (
    BodyCoordinates,
    modal_condensed,
    modal_mesh,
    rigid_coordinates,
)
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, mass_floor
from supple.formulations.elastic_rest.joint_stiffness_over_position import scale_at, stiffness_tables
from supple.formulations.elastic_rest.part_rows import PartRows
from supple.formulations.elastic_rest.rows import BODY, FIRST, WIDTH
from supple.formulations.elastic_rest.yielding_drives import yielding_drives
from supple.kinematics.numbering import Numbering
from supple.kinematics.parameter_motion import STEP, moved_poses, moved_twists, rows_of
from supple.kinematics.primitives import NONE, SCALE, ZERO
from supple.kinematics.rest import rest as undeformed

Array = NDArray[Any]


class ElasticSlopes(NamedTuple):
    """Slopes ∂/∂μ of the arrays of an elastic mechanism, equal for all bands.

    rows_f, part_x : of the rows between parts; springs (rows,) k; motors (measures,) inertia along each
    motions : (drives, parts, 6) of motor sides, for unit deflection; deflections (drives, 2) k and inertia
    bodies  : (K', M') of each: of its mesh, a rigid body's inertia, or over its given modes
    """

    rows_f: Array
    part_x: Array
    springs: Array
    motors: Array
    motions: Array
    deflections: Array
    bodies: tuple[tuple[Array, Array], ...]


def elastic_slopes(mechanism: Mechanism, name: str) -> ElasticSlopes:
    """Return the slopes with respect to a parameter, computed once."""

    def make() -> ElasticSlopes:
        count = len(undeformed(mechanism).numbering.bodies)
        found = neighbours(mechanism, name, NEAR).slopes(_arrays)
        if found["tables"].any():
            raise InputError(
                "a stiffness table depends on it, and tables have no derivative",
                part=f"parameter {quote(name)}", hint="replace the table by a number",
            )  # fmt: skip
        bodies = tuple((found[f"stiffness of body {b}"], found[f"mass of body {b}"]) for b in range(count))
        return ElasticSlopes(bodies=bodies, **{field: found[field] for field in ElasticSlopes._fields[:-1]})

    return mechanism.compute_once(f"elastic slopes along {name}", make)


def _arrays(mechanism: Mechanism) -> dict[str, NDArray[Any]]:
    numbering = undeformed(mechanism).numbering
    bodies = [_bare(numbering, name) for name in numbering.bodies]
    drives = yielding_drives(numbering)
    rows = PartRows(numbering, bodies, (), drives, following=True)
    rows_f = rows.rows_f.copy()
    rows_f[:, [SCALE, ZERO]] = 0.0
    springs = np.where(rows.compliance > 0.0, 1.0 / np.where(rows.compliance > 0.0, rows.compliance, 1.0), 0.0)
    load = get_coefficients(undeformed(mechanism)).arrays
    tables = stiffness_tables(numbering, rows.rows_i, rows.soft)
    found: dict[str, NDArray[Any]] = {
        "rows_f": rows_f, "part_x": rows.part_x(), "springs": springs,
        "motors": np.array([along_measure(load, i).inertia for i in range(len(load.uses_start) - 1)]),
        "motions": np.array(
            [[drive.motion(place) * np.sqrt(drive.inertia) for place in rows.part_x()] for drive in drives]
        ).reshape(len(drives), len(rows.parts), 6),
        "deflections": np.array([(drive.stiffness, drive.inertia) for drive in drives]).reshape(-1, 2),
        "tables": np.concatenate([tables.at, tables.stiffness]),
        "rows_i": rows.rows_i, "parts": np.array([key[:2] for key in rows.parts], dtype=np.int64),
    }  # fmt: skip
    for b, (K, M) in enumerate(_matrices(numbering, body) for body in bodies):
        found |= {f"stiffness of body {b}": K, f"mass of body {b}": M}
    return found


def _bare(numbering: Numbering, name: str) -> BodyCoordinates:
    """Return a body with nodes and without coordinates."""
    mesh, none = None, np.zeros((0, 0))
    if numbering.mechanism.bodies[name].elastic:
        modal = modal_body(numbering.drawing, name)
        mesh = mesh_of(numbering, name) if modal is None else modal_mesh(modal)
    return BodyCoordinates(name, 0, np.zeros(0), none, none, none, mesh)


def _matrices(numbering: Numbering, body: BodyCoordinates) -> tuple[Array, Array]:
    """Return K and M of a body, dense or, for a large mesh, their nonzero entries."""
    if body.mesh is None:
        masses, column = mass_properties(numbering.drawing), numbering.arrays.column
        inertia = masses[body.name].spatial()[np.ix_(column, column)]
        L = rigid_coordinates(body.name, inertia, mass_floor(numbering, list(masses.values())), 0).rigid
        return np.zeros_like(inertia), L.T @ L
    modal = modal_body(numbering.drawing, body.name)
    if modal is not None:
        condensed = modal_condensed(modal)
        return condensed.K, condensed.M
    return body.mesh.K.toarray(), body.mesh.M.toarray()


def body_matrix_slopes(rest: ElasticRest, slopes: ElasticSlopes) -> tuple[Array, Array]:
    """Return K' and M' of the bodies and of deflections over z, (n, n) each."""
    dK, dM = np.zeros((rest.size, rest.size)), np.zeros((rest.size, rest.size))
    for body, (K, M) in zip(rest.bodies, slopes.bodies, strict=True):
        own = slice(body.start, body.stop)
        modal = body.condensed is not None and not body.condensed.by_nodes
        shapes = body.to_condensed if modal else body.shapes
        for matrix, to in ((K, dK), (M, dM)):
            if matrix.any():
                to[own, own] += shapes.T @ matrix @ shapes
    for drive, (k, inertia) in zip(rest.drives.values(), slopes.deflections, strict=True):
        dK[drive.column, drive.column] += k / drive.inertia
        dM[drive.column, drive.column] += inertia / drive.inertia
    return dK, dM


def constraint_slopes(rest: ElasticRest, slopes: ElasticSlopes, name: str, X: Array, theta: Array) -> Array:
    """Return dC/dμ (rows, n) of all rows of the mechanism over z, at one configuration: X (bodies + 1, 12)."""
    numbering, arrays = rest.numbering, rest.arrays
    twists = moved_twists(numbering, data_slopes(numbering.mechanism, name).rows_f, X[None])
    moved = moved_poses(X[None], twists)[0]
    owner = np.append(arrays.part_i[:, BODY], len(X) - 1)
    place = np.vstack([arrays.part_x + 1j * STEP * slopes.part_x, np.zeros((1, 3))])
    poses = moved[owner]
    poses[:, :3] += np.einsum("pij,pj->pi", poses[:, 3:].reshape(-1, 3, 3), place)
    found = rows_of(arrays.rows_i, arrays.rows_f + 1j * STEP * slopes.rows_f, poses[None], len(arrays.rows_i))
    gradients = found.gradients[0][:, :, arrays.column]
    C = np.zeros((len(arrays.rows_i), rest.size))
    for p, (_, first, width) in enumerate(arrays.part_i[:, [BODY, FIRST, WIDTH]]):
        C[:, first : first + width] += gradients[:, p].imag / STEP @ arrays.shapes[p, :, :width]
        for drive, motion in zip(rest.drives.values(), slopes.motions, strict=True):
            at = drive.column - first
            if 0 <= at < width and arrays.shapes[p, :, at].any():  # the motor's side of it
                C[:, drive.column] += gradients[:, p].real @ motion[p, arrays.column] / np.sqrt(drive.inertia)
    for row in np.flatnonzero(arrays.tables.of_row != NONE):
        table = arrays.tables.of_row[row]
        at = theta[arrays.tables.coordinate[table] - numbering.constraints]
        C[row] *= scale_at(arrays.tables, table, at)[0]
    return C
