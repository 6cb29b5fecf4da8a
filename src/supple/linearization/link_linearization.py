"""Linear models of the equivalent rigid link system about rest (docs/theory/rigid-link-system.md, 19-22).

States are θ with the displacements u_i of nodes, `BODY.NODE.DIRECTION` in world axes, or with the lowest modes of u_i
at locked θ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.equations.equations_of_motion import Labels
from supple.equations.linearized import OperatingPoint, first_order_form, linear_model
from supple.equations.observation import OutputMatrices
from supple.formulations.coefficients import get_coefficients, units_of
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.formulations.elastic_rest.loads import carries_loads
from supple.formulations.rigid_link_system.link_system import RigidLinkSystem
from supple.formulations.rigid_link_system.small_link_motions import (
    UNCONDENSED,
    LinkMotions,
    link_free_motions,
    link_modes,
    measure_row,
    outputs_without_forces,
    over_z,
    rest_load_stiffness,
)
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest
from supple.results.linear_model import LinearModel, SecondOrder
from supple.results.units import MODAL, Units

_WITHOUT_MASS = 1e-12  # of a mass matrix with unit diagonal: rounding
_DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")


def link_linearization(configuration: Configuration, inputs: Array | None, internal_modes: int) -> LinearModel:
    """Return the linear model about rest at θ under the inputs; the default inputs hold θ.

    internal_modes : number of modes of u_i that are states; with 0, all displacements are states
    """
    motions = link_free_motions(configuration, inputs=inputs)
    if carries_loads(configuration.mechanism) or (inputs is not None and inputs.any()):
        whole = elastic_rest(configuration.mechanism, UNCONDENSED)
        added = rest_load_stiffness(whole, configuration, motions, over_z(whole, motions), inputs)
        motions = motions._replace(K=motions.K + added)
    system, s = motions.point.system, len(configuration.theta)
    names, units = _state_names(system, motions, internal_modes)
    basis = np.eye(len(motions.M))
    if internal_modes:
        within = motions._replace(M=motions.M[s:, s:], K=motions.K[s:, s:], theta=False)
        _, shapes = link_modes(within, internal_modes)
        basis = np.zeros((len(motions.M), s + shapes.shape[1]))
        basis[:s, :s], basis[s:, s:] = np.eye(s), shapes
        names, units = names[: basis.shape[1]], dict(list(units.items())[: basis.shape[1]])
    M, D, K = (basis.T @ matrix @ basis for matrix in (motions.M, motions.D, motions.K))
    B = basis.T @ motions.inputs
    return _model(configuration, motions, basis, SecondOrder(M, -K, -D, B), names, units)


def _state_names(system: RigidLinkSystem, motions: LinkMotions, modes: int) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the names and units of w_i, or of θ and modes."""
    units = dict(units_of(rest(system.numbering.mechanism)).coordinates)
    if modes:
        units |= {f"mode{i + 1}": MODAL for i in range(modes)}
        return tuple(units), units
    for number in system.kept[motions.held.independent].tolist():
        node, direction = divmod(number, 6)
        body = int(system.node_body[node])
        name = f"{system.numbering.bodies[body]}.{node - int(system.first_node[body]) + 1}.{_DIRECTIONS[direction]}"
        units[name] = "m" if direction < 3 else "rad"
    return tuple(units), units


def _model(
    configuration: Configuration,
    motions: LinkMotions,
    basis: Array,
    forces: SecondOrder,
    names: Sequence[str],
    units: dict[str, str],
) -> LinearModel:
    n = len(forces.M)
    size = np.sqrt(np.maximum(np.diag(forces.M), 1e-300))
    if np.linalg.eigvalsh(forces.M / np.outer(size, size))[0] < _WITHOUT_MASS:
        raise InputError(
            "a part moves without mass (a body, or a motor behind an elastic transmission), so that its acceleration "
            "is undefined", part=f'mechanism "{configuration.mechanism.name}"',
            hint="keep some modes (internal_modes, --internal-modes), or give the motor its inertia",
        )  # fmt: skip
    A, B = first_order_form(forces)
    load, position = get_coefficients(configuration.rest), configuration.rest
    rows = list(load.measured.values())
    G = np.array([measure_row(motions, row) @ basis for row in rows]).reshape(-1, n)
    x = np.zeros((3, len(rows) + len(load.efforts)))
    x[0, : len(rows)] = [motions.point.measure(row)[0] for row in rows]
    slopes = load.observation.slopes(x)[:, :, : len(rows)]
    C = np.hstack([slopes[0] @ G, slopes[1] @ G]) + slopes[2] @ G @ A[n:]
    D = slopes[2] @ G @ B[n:]
    shown = outputs_without_forces(position)
    at = [list(load.observation.outputs).index(name) for name in shown]
    values = load.observation.values(x)
    eta = np.zeros(n)
    eta[: len(configuration.theta)] = configuration.theta
    if len(basis) == n:
        eta[len(configuration.theta) :] = motions.point.u[motions.held.independent]
    else:
        rest_u = motions.point.u[motions.held.independent]
        s = len(configuration.theta)
        eta[s:] = basis[s:, s:].T @ (motions.M[s:, s:] @ rest_u)
    known, still = units_of(position), np.zeros(n)
    labels = Labels(
        tuple(names), tuple(configuration.mechanism.actuators), tuple(shown), {},
        units=Units(units, known.inputs, {name: known.outputs[name] for name in shown}),
    )  # fmt: skip
    about, seen = OperatingPoint(eta, still, still, motions.forces), OutputMatrices(values[at], C[at], D[at])
    return linear_model(labels, None, about, (A, B), forces, seen)
