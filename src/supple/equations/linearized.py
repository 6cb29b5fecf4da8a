"""Linear models from equations of small motions, for mechanisms and reduced models.

    M δη̈ = P₂ δη + P₁ δη̇ + P₃ δu,    x = (δη, δη̇),   ẋ = A x + B δu,   y = C x + D δu     (docs/theory/linearization.md)

Slopes of a linear model with respect to a parameter are those of the polynomial through its matrices at the points of a
stencil.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.approximation.analytic_slope import NOISE, Stencil, smooth, stencil_slope
from supple.array_types import Array
from supple.equations.equations_of_motion import Labels
from supple.equations.observation import OutputMatrices
from supple.results.basis import CoordinateBasis, NamedState
from supple.results.linear_model import LinearModel, LinearSlopes, SecondOrder


class OperatingPoint(NamedTuple):
    """State η, η̇ and η̈ (n,), and inputs u (inputs,), about which a system is linearized."""

    eta: Array
    rates: Array
    accelerations: Array
    inputs: Array


def first_order_form(forces: SecondOrder) -> tuple[Array, Array]:
    """Return A (2 n, 2 n) and B (2 n, inputs) of equations of small motions."""
    n = len(forces.M)
    solved = np.linalg.solve(forces.M, np.hstack([forces.P2, forces.P1, forces.P3]))
    A = np.block([[np.zeros((n, n)), np.eye(n)], [solved[:, : 2 * n]]])
    B = np.vstack([np.zeros(forces.P3.shape), solved[:, 2 * n :]])
    return A, B


def linear_model(
    labels: Labels,
    basis: CoordinateBasis | None,
    about: OperatingPoint,
    matrices: tuple[Array, Array],
    forces: SecondOrder,
    seen: OutputMatrices,
) -> LinearModel:
    """Return the linear model of given matrices with names and units.

    Parameters
    ----------
    labels : Labels
        Names and units of coordinates, inputs and outputs.
    basis : CoordinateBasis or None
        Basis of the elastic coordinates.
    about : OperatingPoint
        State and inputs of the linearization.
    matrices : tuple
        A and B from `first_order_form`.
    forces : object
        Equations of small motions.
    seen : OutputMatrices
        Outputs at that state, with C and D.
    """
    names = labels.coordinates
    states = (*names, *(f"{name}.rate" for name in names))
    at: dict[str, dict[str, float]] = {
        "states": NamedState(dict(zip(states, [*about.eta.tolist(), *about.rates.tolist()], strict=True)), basis),
        "inputs": dict(zip(labels.inputs, about.inputs.tolist(), strict=True)),
        "outputs": dict(zip(labels.outputs, seen.y.tolist(), strict=True)),
        "accelerations": dict(zip(names, about.accelerations.tolist(), strict=True)),
    }
    return LinearModel(
        *matrices, seen.C, seen.D, states, labels.inputs, tuple(labels.outputs), at, forces, basis=basis,
        units=labels.units,
    )  # fmt: skip


def slopes_along(around: Stencil, members: Sequence[LinearModel]) -> LinearSlopes | None:
    """Return ∂(A, B, C, D)/∂μ, or None if A does not change smoothly.

    Parameters
    ----------
    around : Stencil
        Values of the parameter about its own value.
    members : sequence of LinearModel
        Linear model at each of the values.
    """
    values = [[getattr(member, matrix) for member in members] for matrix in LinearSlopes._fields]
    if not smooth(values[0], NOISE):
        return None
    return LinearSlopes(*(np.asarray(stencil_slope(around, each)) for each in values))
