"""Motions that the joints allow and that carry no inertia, so that no acceleration follows from a force."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.description.mass_properties import mass_properties
from supple.diagnostics.limits import most
from supple.diagnostics.quoting import listed
from supple.kinematics.jacobian import scaled_jacobian
from supple.kinematics.measure_slopes import slope_row
from supple.kinematics.ranked_rows import LARGE, sparse_rows
from supple.kinematics.rest import Rest

_INERTIALESS = 1e-12  # of the largest eigenvalue of the mass matrix: a motion that carries no inertia
_INVOLVED = 1e-6  # share of a body in such a motion that counts


def massless(position: Rest, inertia: Array) -> list[str]:
    """What to say about them, if there are any."""
    found, freedom = position.numbering, position.mobility
    if freedom.singular or not freedom.mobility:  # motions that end at rest would be taken for real ones
        return []
    motors = _motors(position)
    light = _light_sparse(position, inertia, motors) if found.columns > LARGE else None
    if light is None and found.columns > LARGE and 16.0 * found.columns**2 > most("memory"):
        return ["whether a motion carries no inertia is not known: the mechanism is too large to tell by this memory"]
    if light is None:
        light = _light_dense(position, inertia, motors)
    count = light.shape[1]
    if count == 0:
        return []
    moving = np.linalg.norm(light.reshape(len(found.bodies), -1), axis=1)
    bodies = listed([f'"{name}"' for name, part in zip(found.bodies, moving, strict=True) if part > _INVOLVED])
    one = count == 1
    return [
        f"{count} motion{'' if one else 's'} of {bodies} carr{'ies' if one else 'y'} no inertia, "
        "so the mass matrix is singular; give what moves there a mass or an inertia"
    ]


def body_inertia(position: Rest) -> Array:
    """Constant mass matrices of the bodies (bodies, d, d), lengths in units of the mechanism's extent."""
    found = position.numbering
    properties = mass_properties(found.drawing)
    column, extent = found.arrays.column, found.arrays.extent
    scale = np.where(column < 3, extent, 1.0)
    spatial = [properties[name].spatial()[np.ix_(column, column)] for name in found.bodies]
    return np.array(spatial) * np.outer(scale, scale)


def _motors(position: Rest) -> Array:
    """A row √(J i²) a of each motor (motors, n): half its square is the motor's energy."""
    found = position.numbering
    rows = []
    for name, joint in found.mechanism.joints.items():
        for coordinate in joint.coordinates(found.mechanism.plane):
            motor = joint.value("motor", coordinate, found.mechanism.plane)
            if motor is not None:
                row = found.measures["joint", name, coordinate]
                rows.append(np.sqrt(motor.inertia) * motor.gear * slope_row(found, position.X, row))
    return np.array(rows).reshape(len(rows), found.columns)


def _light_dense(position: Rest, inertia: Array, motors: Array) -> Array:
    """Scaled motions (n, count) from the eigenvalues of the mass matrix over all motions."""
    found, freedom = position.numbering, position.mobility
    m, n = found.constraints, found.columns
    J = scaled_jacobian(found, position.X)[:m]
    motions = np.linalg.svd(J)[2][n - freedom.mobility :] if m else np.eye(n)
    parts = motions.reshape(len(motions), len(found.bodies), -1)
    M = np.einsum("ibc,bcd,jbd->ij", parts, inertia, parts, optimize=True)
    turning = motors @ motions.T
    M += turning.T @ turning
    values, vectors = np.linalg.eigh(M)
    return motions.T @ vectors[:, values <= _INERTIALESS * max(values[-1], np.finfo(float).tiny)]


def _light_sparse(position: Rest, inertia: Array, motors: Array) -> Array | None:
    """The same where the joints' rows and those of what carries inertia together have a clear rank; None where not.

    x with Φ_q x = 0 and xᵀ M x = 0 are those with Φ_q x = 0, v x = 0 of every principal direction v of a body whose
    inertia counts beside the largest, and a x = 0 of every motor. Rows of unit length, whatever the inertia: a light
    hand at the end of a long chain makes no rank unclear.
    """
    from scipy.sparse import block_diag, csr_array, vstack

    from supple.kinematics.orthogonal_fronts import Fronts

    found = position.numbering
    values, vectors = np.linalg.eigh(inertia)
    size = np.square(motors).sum(axis=1)
    largest = max(float(values.max()), float(size.max(initial=0.0)))
    if largest <= 0.0:
        return None
    heavy = (values > _INERTIALESS * largest).astype(float)
    turning = motors[size > _INERTIALESS * largest] / np.sqrt(size[size > _INERTIALESS * largest])[:, None]
    joints = sparse_rows(found, position.X, found.constraints)
    rows = block_diag([which[:, None] * axes.T for which, axes in zip(heavy, vectors, strict=True)])
    stacked = vstack([joints.J, rows, csr_array(turning)], format="csr")
    fronts = Fronts(csr_array(stacked), joints.bodies)
    if fronts.rank and fronts.smallest**2 <= 10.0 * _INERTIALESS:
        return None
    return fronts.kernel()
