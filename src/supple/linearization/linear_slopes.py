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
from supple.equations.linearized import slopes_along
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
            near = neighbours(mechanism, name)
            members = [linearized(item) for item in near.mechanisms]
            if any(each.A.shape != members[0].A.shape for each in members):
                raise near.rough("the mechanism is put together in another way on either side of it")
            slopes = slopes_along(near.stencil, members)
            if slopes is None:
                raise near.rough("its A has a kink there")
            found[name] = slopes
    return found
