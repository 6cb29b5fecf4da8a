"""Superelements of a mechanism in their floating frames: by the modes of their files, or a mesh in its vibrations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.formulations.absolute.superelements.floating_body import FloatingBody, Integrals, about_centre
from supple.formulations.absolute.superelements.floating_modes import modal_body
from supple.formulations.elastic.elastic_body import mesh_of
from supple.formulations.elastic.natural_frequency import natural_frequency
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates, elastic_coordinates
from supple.kinematics.numbering import Numbering

BAND = 8.0  # of the body's own frequency: up to there ω² is right to 1e-6

_AXES = (0, 1, 2)


def floating_body(numbering: Numbering, name: str) -> FloatingBody:
    """The superelement `name`, made once."""
    return numbering.mechanism.remembered(f"floating {name}", lambda: _made(numbering, name))


def _made(numbering: Numbering, name: str) -> FloatingBody:
    modal = modal_body(numbering.drawing, name)
    if modal is not None:
        return modal
    own = natural_frequency(mesh_of(numbering, name))
    return floating_mesh(elastic_coordinates(numbering, name, BAND * own, 0))


def floating_mesh(body: BodyCoordinates) -> FloatingBody:
    """A condensed body in space in its free vibrations, without its rigid ones.

    They are counted so that each has the mass of the body: q is then a length, of the order of its displacements.
    """
    condensed, mesh = body.condensed, body.mesh
    assert condensed is not None
    assert mesh is not None
    d, mass = condensed.width, float(condensed.rigid_mass[0, 0])
    Z = body.to_condensed[:, d:] * np.sqrt(mass)
    n = Z.shape[1]
    turned = np.zeros((3, 3, n, n))
    pairs = [(j, k) for j in _AXES for k in _AXES if j <= k]
    for (j, k), matrix in zip(pairs, condensed.turned, strict=True):
        turned[j, k] = Z.T @ matrix @ Z
        turned[k, j] = turned[j, k].T
    integrals = Integrals(
        condensed.rigid_mass,
        condensed.rigid_coupling @ Z,
        np.array([[condensed.turning_rigid[k, 3 + j] @ Z for k in _AXES] for j in _AXES]),
        np.array([Z.T @ matrix @ Z for matrix in condensed.turning]),
        turned,
        mass * np.eye(n),
    )
    shapes = Z[: len(condensed.nodes) * d].reshape(-1, d, n)
    found = about_centre(body.name, integrals, np.diag(mass * body.stiffness[d : d + n]), condensed.nodes, shapes)
    return replace(found, carriers={key: condensed.interface.index(node) for key, node in mesh.places.items()})
