"""Linear models of a family's member along its parameters.

    f̂(θ; μ + t) = f̂(θ; μ) + t ∂f̂/∂μ,    ∂(A, B, C, D)/∂μ = d/dt of the member's at t = 0                (parameters, 12)

∂f̂/∂μ is the exact slope of the fit. What follows from it (sag and inputs that hold the state, M⁻¹, drives and
instruments) is the same computation at Chebyshev's points about t = 0 (`approximation.analytic_slope`), to about 1e-11.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from supple.approximation.analytic_slope import stencil
from supple.approximation.piecewise.piecewise import Piecewise
from supple.diagnostics import InputError, NumericalError, nearest
from supple.diagnostics.quoting import quoted
from supple.equations.linearized import slopes_along
from supple.results.linear_model import LinearModel
from supple.results.linear_slopes import LinearSlopes

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


def model_slopes(
    model: ReducedModel, along: Sequence[str], linearized: Callable[[ReducedModel], LinearModel]
) -> dict[str, LinearSlopes]:
    """Of the linear model that `linearized` gives of a model, along parameters of its family."""
    family = model.family
    if family is None:
        raise InputError(
            "it has no parameters", part=f'model "{model.name}"', hint="reduce the mechanism with them in `vary`"
        )
    found = {}
    for name in along:
        if name not in family.names:
            raise InputError(
                f"there is no parameter {quoted(name)}", part=f'model "{model.name}"', hint=nearest(name, family.names)
            )
        parameter = family.parameters[family.names.index(name)]
        here, change = family.slice(), family.slope(name).arrays.coefficients
        around = stencil(0.0, parameter.upper - parameter.lower)
        members = []
        for t in around.points:
            arrays = here.arrays._replace(coefficients=here.arrays.coefficients + t * change)
            members.append(linearized(replace(model, fitted=Piecewise(arrays), family=None)))
        slopes = slopes_along(around, members)
        if slopes is None:
            raise NumericalError(
                "its linear model does not change smoothly with it there",
                part=f"parameter {quoted(name)}", hint="choose another state, or another value of the parameter",
            )  # fmt: skip
        found[name] = slopes
    return found
