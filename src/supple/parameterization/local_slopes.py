"""All coefficients of a local model along parameters of the file, θ held.

Of a rigid mechanism M, V, p, B, D_d, the outputs and J_j have exact slopes (`parameter_slopes`). What they are the
derivatives of (∂M/∂θ, Γ, ∂p/∂θ, ...), and everything of a flexible one, whose modes are those of the mechanism at each
value, is taken at six values around the parameter's own, the mechanism read again at each: to about 1e-10 of its size
(docs/theory/parameters.md, eqs. 1 and 2).
"""

from __future__ import annotations

from collections.abc import Sequence

from supple.array_types import Array
from supple.equations.row import RowLayout
from supple.formats.varied import require_parameters
from supple.formulations.data_slopes import neighbours
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.parameterization.mode_choice import ModeChoice
from supple.parameterization.parameter_slopes import KNOWN, parameter_slopes

_JUDGED = ("M", "K", "outputs")  # where these are smooth, all are
_COUNTED = ("overlap", "places")  # what is known of the search for modes, and no coefficient


def local_slopes(
    configuration: Configuration, choice: ModeChoice, layout: RowLayout, along: Sequence[str]
) -> dict[str, dict[str, Array]]:
    """{parameter: {coefficient: ∂/∂μ}}, in shapes as `equations.row` says, of a batch with (N, ...) before."""
    from supple.parameterization.local_model import coefficient_rows

    mechanism = configuration.mechanism
    if along:
        require_parameters(mechanism, along)
    single, found = configuration.theta.ndim == 1, {}
    for name in along:
        around = neighbours(mechanism, name)
        rows = around.slopes(
            lambda item: {
                key: values
                for key, values in layout.split(
                    coefficient_rows(assemble(item, configuration.theta), choice)[0]
                ).items()
                if key not in _COUNTED
            },
            _JUDGED,
        )
        if not choice.flexible:
            exact = parameter_slopes(configuration, name)
            rows |= {key: layout.part(exact, key) for key in KNOWN}
        found[name] = {key: values[0] if single else values for key, values in rows.items()}
    return found
