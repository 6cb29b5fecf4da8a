"""Damping of a mechanism's deformation over z, whichever of its actuators are free.

Modes and materials are damped as `damping_law` says with actuators locked; with free ones the same forces act, on what
is deformation in a motion, z - Ψ_θ C_θ z, and not on the rigid motion that goes with θ (docs/theory/damping.md, eq. 6):

    D_z = BᵀDB,   H_z = BᵀHB,   B = Φ M (1 - Ψ_θ C_θ)

Φ are the modes with locked actuators, of unit mass. So do models in time, where D has no part in θ. A mechanism that
is rigid but for springs along its coordinates has no deformation; there the law is that of its modes as they are held.
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.description.elastic.damping import Damping
from supple.formulations.elastic_rest.constrained_modes import rows_at
from supple.formulations.elastic_rest.damping_law import Dissipation, dissipation, joint_losses, materials_over_z
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.frequency_response.modal_response import modal_system
from supple.kinematics.configuration import Configuration
from supple.modal_analysis.restraint import Restraint, restraint


def deformation_damping(
    rest: ElasticRest, configuration: Configuration, law: Damping | None, held: Restraint
) -> Dissipation | None:
    """D_z and H_z (n, n) at one configuration, held as it is; None if no mode, material or joint is damped."""
    materials = materials_over_z(rest)
    if law is None and materials is None and not rest.losses:
        return None
    first = rest.numbering.constraints
    theta = np.arange(first, first + len(rest.numbering.coordinates))
    deforms = restraint(rest, locked=set(theta.tolist())) if rest.elastic else held
    system = modal_system(rest, configuration, deforms, preload=False)
    Phi = system.shapes
    of_joints = joint_losses(rest, configuration.X[None], Phi)
    found = dissipation(
        law, np.eye(len(Phi)), np.diag(system.squares), None if materials is None else materials.over(Phi),
        None if of_joints is None else of_joints[0],
    )  # fmt: skip
    B = Phi @ system.M
    if rest.elastic:
        C = rows_at(rest, theta, configuration.X[None])[0]
        B = B - B @ rigid_over_z(rest, configuration).T @ C
    return Dissipation(B.T @ found.viscous @ B, B.T @ found.hysteretic @ B)


def rigid_over_z(rest: ElasticRest, configuration: Configuration) -> Array:
    """Ψ_θ (s, n): every body moves rigidly, one of θ by one and the others not at all."""
    bodies = np.zeros((rest.size, sum(body.rigid.shape[1] for body in rest.bodies)))
    d = rest.bodies[0].rigid.shape[1]
    for b, body in enumerate(rest.bodies):
        bodies[body.start : body.stop, b * d : (b + 1) * d] = body.rigid
    m, s = rest.numbering.constraints, len(rest.numbering.coordinates)
    rows = rows_at(rest, np.arange(m + s), configuration.X[None])[0]
    # Bodies in units of their own mass, as z is: a twist of size one is then of energy one half.
    unit = np.linalg.qr(bodies)[0]
    wanted = np.vstack([np.zeros((m, s)), np.eye(s)])
    length = np.linalg.norm(rows @ unit, axis=1, keepdims=True)
    length[length == 0.0] = 1.0
    found = np.linalg.lstsq(rows @ unit / length, wanted / length, rcond=1e-12)[0]
    return np.asarray((unit @ found).T, dtype=np.float64)
