"""The coefficients of the reduced equations at one θ, or at many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.reduced.layout import CoefficientLayout
from supple.reduced.row import Row
from supple.results.coefficient_table import coefficient_arrays, coefficient_summary, coefficient_table
from supple.results.result import Result, bundle
from supple.results.table import Table

Array = NDArray[np.float64]


class Output(NamedTuple):
    """One output y = ρ_o(θ) + Ψ_o(θ) δ: value ρ_o (...), rigid ∂ρ_o/∂θ (..., s), modes Ψ_o (..., n - s)."""

    value: Array
    rigid: Array
    modes: Array

    def __repr__(self) -> str:
        return bundle(self)


@dataclass(frozen=True, eq=False, repr=False)
class Coefficients(Result):
    """Coefficients of M η̈ + Γ[η̇, η̇] + D_d η̇ + K η = p + B u at θ. In a batch every array has a leading axis (N, ...).

    They are views of `rows` (..., width), made when they are asked for: a single call costs less than they do.
    """

    theta: Array
    layout: CoefficientLayout
    row: Row
    rows: Array

    def summary(self) -> str:
        many = "" if self.theta.ndim == 1 else f"{len(self.theta)} configurations, "
        return f"of the reduced equations, {many}{coefficient_summary(self)}"

    def table(self) -> Table:
        """[M K p B], a row for each coordinate; of one configuration."""
        return coefficient_table(self)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return coefficient_arrays(self)

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.layout.coordinates

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.layout.inputs

    @property
    def dry_forces(self) -> dict[str, float]:
        return dict(self.layout.dry_forces)

    @cached_property
    def M(self) -> Array:
        """(n, n)"""
        return self.row.part(self.rows, "M")

    @cached_property
    def K(self) -> Array:
        """(n, n), with zero rows for θ"""
        return self.row.part(self.rows, "K")

    @cached_property
    def christoffel(self) -> Array:
        """Γ, (n, n, n), symmetric in its last two indices"""
        return self.row.part(self.rows, "christoffel")

    @cached_property
    def damping(self) -> Array:
        """D_d, (n, n)"""
        return self.row.part(self.rows, "damping")

    @cached_property
    def potential(self) -> Array:
        """V₀, nan where only forces are known"""
        return self.row.part(self.rows, "potential")[..., 0]

    @cached_property
    def force(self) -> Array:
        """p at δ = 0, (n,)"""
        return self.row.part(self.rows, "force")

    @cached_property
    def force_slope(self) -> Array:
        """∂p_δ/∂θ, (s, n - s), so that p_θ = force + force_slope δ"""
        return self.row.part(self.rows, "force_slope")

    @cached_property
    def stiffness_slope(self) -> Array:
        """∂K_δδ/∂θ, (s, n - s, n - s): p_θ has the part -½ δᵀ ∂K/∂θ δ"""
        return self.row.part(self.rows, "stiffness_slope")

    @cached_property
    def internal_hz(self) -> Array:
        """Frequencies of the internal modes, rising, from K_ιι; none without them"""
        first = len(self.coordinates) - self.layout.internal
        squares = np.linalg.eigvalsh(self.K[..., first:, first:]) if self.layout.internal else self.force[..., :0]
        return np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi)

    @cached_property
    def input_map(self) -> Array:
        """B, (n, inputs)"""
        return self.row.part(self.rows, "input_map")

    @cached_property
    def friction_map(self) -> Array:
        """J_j of the joints with dry friction, (f, n)"""
        return self.row.part(self.rows, "friction_map")

    @cached_property
    def outputs(self) -> dict[str, Output]:
        """Outputs by name."""
        value, rigid, modes = (self.row.part(self.rows, name) for name in ("outputs", "rigid", "modes"))
        return {
            name: Output(value[..., o], rigid[..., o, :], modes[..., o, :])
            for o, name in enumerate(self.layout.outputs)
        }

    @property
    def dM(self) -> Array:
        """∂M_ij/∂η_k = Γ_ijk + Γ_jik, (n, n, n)."""
        return self.christoffel + np.swapaxes(self.christoffel, -3, -2)
