"""The coefficients of the reduced equations at one θ, or at many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.reduced.layout import CoefficientLayout
from supple.reduced.row import Row

Array = NDArray[np.float64]


class Output(NamedTuple):
    """One output y = ρ_o(θ) + Ψ_o(θ) δ: value ρ_o (...), rigid ∂ρ_o/∂θ (..., s), modes Ψ_o (..., n - s)."""

    value: Array
    rigid: Array
    modes: Array


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients of M η̈ + Γ[η̇, η̇] + D_d η̇ + K η = p + B u at θ. In a batch every array has a leading axis (N, ...).

    M, K, damping : (n, n), K with zero rows for θ; christoffel : (n, n, n) Γ, symmetric in its last two indices
    potential     : V₀, nan where only forces are known; force : (n,) p at δ = 0
    force_slope   : (s, n - s), ∂p_δ/∂θ, so that p_θ = force + force_slope δ
    input_map     : (n, inputs) B; friction_map : (f, n) J_j of the joints with dry friction
    """

    theta: Array
    coordinates: tuple[str, ...]
    inputs: tuple[str, ...]
    M: Array
    K: Array
    christoffel: Array
    damping: Array
    potential: Array
    force: Array
    force_slope: Array
    input_map: Array
    outputs: dict[str, Output]
    friction_map: Array
    dry_forces: dict[str, float]

    @property
    def dM(self) -> Array:
        """∂M_ij/∂η_k = Γ_ijk + Γ_jik, (n, n, n)."""
        return self.christoffel + np.swapaxes(self.christoffel, -3, -2)


def coefficients_of(layout: CoefficientLayout, row: Row, theta: Array, rows: Array) -> Coefficients:
    """Views of rows (..., width) by name."""
    part = row.split(rows)
    outputs = {
        name: Output(part["outputs"][..., o], part["rigid"][..., o, :], part["modes"][..., o, :])
        for o, name in enumerate(layout.outputs)
    }
    return Coefficients(
        theta,
        layout.coordinates,
        layout.inputs,
        part["M"],
        part["K"],
        part["christoffel"],
        part["damping"],
        part["potential"][..., 0],
        part["force"],
        part["force_slope"],
        part["input_map"],
        outputs,
        part["friction_map"],
        dict(layout.dry_forces),
    )
