"""Where a reduced model rests under constant inputs: f(η, 0, u) = 0, by Newton's method with exact derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.array_types import Array
from supple.diagnostics import NumericalError
from supple.reduced.coefficient_slopes import coefficient_slopes, force_slopes
from supple.reduced.named_values import in_order
from supple.reduced.state_arguments import theta_points

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel
    from supple.reduced.state_arguments import Values


_STEPS = 50
_SMALL = 1e-11  # of the largest single force: what is left of their sum
_LONGEST = 0.2  # of the region's width: a step of θ


def equilibrium_of(model: ReducedModel, theta: Values, inputs: Values | None) -> Array:
    """η (n,), deflection included, close to θ; nothing is pushed there. Without inputs, all are zero."""
    layout = model.layout
    s, n = layout.theta, layout.size
    eta = np.concatenate([theta_points(layout, theta)[0][0], np.zeros(n - s)])
    u = np.zeros(len(layout.inputs)) if inputs is None else in_order("inputs", inputs, layout.inputs)
    roots = model.fitted.arrays.roots_f
    width = (roots[:, 1] - roots[:, 0]).max(axis=0)
    still = np.zeros(n)
    for _ in range(_STEPS):
        c = model.evaluate(eta[:s])
        force = c.input_map @ u - model.inverse(eta[:s], delta=eta[s:])
        largest = max(np.abs(part).max() for part in (c.force, c.K @ eta, c.input_map @ u, np.full(1, 1e-300)))
        slopes = force_slopes(model, c, coefficient_slopes(model, eta[:s], eta[s:]), eta, u, still, still)
        # Where all forces vanish together, what they grow to across the region is what a rest is small against.
        largest = max(largest, float((np.abs(slopes[:, :s]) @ width).max()))
        if np.abs(force).max() <= _SMALL * largest:
            return eta
        try:
            step = -np.linalg.solve(slopes, force)
        except np.linalg.LinAlgError:
            break
        eta = eta + step / max(1.0, float((np.abs(step[:s]) / (_LONGEST * width)).max()))
    where = ", ".join(f"{name}={value:.6g}" for name, value in zip(layout.coordinates, eta[:s], strict=False))
    raise NumericalError(
        f"no equilibrium was found near {where}; the largest force left is {np.abs(force).max():.3g}",
        part=f'model "{model.name}"',
        hint="start closer to it, or give the inputs that hold it (`linearize` tells them)",
    )
