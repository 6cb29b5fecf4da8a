"""Damping of the nodes' displacements in time, as the full equations have it: αM and βK (docs/theory/damping.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.formulations.absolute.time_damping import time_damping
from supple.formulations.elastic.elastic_body import weighted_beams
from supple.formulations.rigid_link_system.link_system import RigidLinkSystem


class LinkDamping(NamedTuple):
    """α on all that has mass, 1/s; D (6 N, 6 N) Σ βK of beams over û; β (soft rows,) beside
    the stiffness of joints and drives."""

    alpha: float
    D: sp.csr_array
    beta: Array


def link_damping(system: RigidLinkSystem) -> LinkDamping:
    """Found once."""
    return system.numbering.mechanism.remembered("damping of rigid links", lambda: _found(system))


def _found(system: RigidLinkSystem) -> LinkDamping:
    mechanism = system.numbering.mechanism
    law = time_damping(mechanism)
    alpha, beta = law.whole
    D = sp.csr_array(beta * system.stiffness)
    for b, mesh in enumerate(system.meshes):
        if mesh is None:
            continue
        name = system.numbering.bodies[b]
        own = [law.materials.get(beam.material, (0.0, 0.0)) for beam in mechanism.bodies[name].all_beams]
        if any(by_mass for by_mass, _ in own):
            raise InputError(
                "a material's damping in proportion to its mass is none of a rigid link system in time",
                part=f'body "{name}"', hint="give it in proportion to stiffness, or to the mechanism as a whole",
            )  # fmt: skip
        weights = np.array([by_stiffness for _, by_stiffness in own])
        if weights.any():
            K, _ = weighted_beams(system.numbering.drawing, name, weights)
            at = 6 * (int(system.first_node[b]) + mesh.node) + mesh.component
            place = sp.coo_array((np.ones(len(at)), (at, np.arange(len(at)))), shape=(D.shape[0], len(at))).tocsr()
            D = sp.csr_array(D + place @ K @ place.T)
    return LinkDamping(alpha, D, np.array([law.beside(part) for part in system.holding.parts]))
