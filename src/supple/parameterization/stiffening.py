"""Rows of local models with what is of second order in δ: K_g in K, H_i in ∂M/∂δ, and ∂²M_θθ/∂δ².

The law of damping has been applied before: loads do not damp.
"""

from __future__ import annotations

from supple.equations.christoffel import christoffel
from supple.equations.row import RowLayout
from supple.kinematics.configuration import Configuration
from supple.parameterization.elastic_modes import DONE, SINGULAR
from supple.parameterization.modal_coefficients import ModalRows
from supple.parameterization.modal_parameterization import ModalParameterization
from supple.parameterization.second_order import second_order


def stiffen(system: ModalParameterization, configuration: Configuration, layout: RowLayout, results: ModalRows) -> None:
    """All rows, in place; results.slopes holds ∂Ψ."""
    s = len(system.rest.numbering.coordinates)
    parts = layout.split(results.rows)
    for p, here in enumerate(configuration.each()):
        if results.status[p] != DONE:
            continue
        found = second_order(system.rest, here, results.modes[p], results.slopes[p])
        if found is None:
            results.status[p] = SINGULAR
            continue
        parts["K"][p, s:, s:] += found.stiffness
        parts["stiffness_slope"][p] += found.stiffness_slope
        parts["dM"][p, :, :, s:] += found.slope
        parts["christoffel"][p] = christoffel(parts["dM"][p])
        parts["mass_curvature"][p] = found.curvature
