"""Linear models of a mechanism along parameters of its file, θ held.

A linear model holds second derivatives of the closure, and third ones in motion; along μ there would be one more. So
its matrices are taken at six values around the parameter's own, the mechanism read again at each, and their slopes from
the polynomial through them (docs/theory/parameters.md, eqs. 1 and 2): to about 1e-10 of a matrix, not by a chain of
exact derivatives. What is not smooth there is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

from supple.description.mechanism import Mechanism
from supple.diagnostics import SuppleWarning
from supple.formats.varied import require_parameters
from supple.formulations.data_slopes import neighbours
from supple.results.linear_model import LinearModel
from supple.results.linear_slopes import LinearSlopes


def linear_slopes(
    mechanism: Mechanism, along: Sequence[str], linearized: Callable[[Mechanism], LinearModel]
) -> dict[str, LinearSlopes]:
    """Of the linear model that `linearized` gives of a mechanism, along parameters of its file."""
    require_parameters(mechanism, along)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # said of the mechanism itself
        for name in along:
            slopes = neighbours(mechanism, name).slopes(lambda item: linearized(item).matrices, ("A",))
            found[name] = LinearSlopes(**slopes)
    return found
