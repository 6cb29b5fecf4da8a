"""Which columns of a fitted function hold which coefficients of the reduced equations.

    M(θ, δ) η̈ + Γ(θ, δ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u,   y = ρ_o(θ) + Ψ_o(θ) δ,   η = (θ, δ)

Symmetric matrices are packed by their upper triangle, row by row; Γ_i likewise for each i, so that Γ has
n · n(n + 1)/2 columns; ∂M_ij/∂δ_a by i in θ, j ≥ i in η, and a, since ∂M_δδ/∂δ is left out; with stiffening by all i,
and ∂²M_ij/∂δ_a∂δ_b by i in θ, j ≥ i in θ, a and b ≥ a. Coefficients that do not depend on θ are kept once, as
constants.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.array_types import Array
from supple.equations.effort_row import effort_places
from supple.equations.observation import Observation


@dataclass(frozen=True)
class CoefficientLayout:
    """Names and places of the coefficients.

    coordinates : names of η, θ first; theta : how many of them are θ
    inputs, outputs : names; dry_forces : force of each joint with dry friction
    columns     : coefficient -> (first, stop) columns of the fitted function, `widths` says how many. Known
                  coefficients: M, K, christoffel, mass_slope (∂M/∂δ), mass_curvature (∂²M_θθ/∂δ²), damping, potential,
                  force, input_map, outputs (ρ_o), output_modes, friction_map, efforts. Matrices that are not symmetric
                  are kept row by row
    constants   : coefficients that do not depend on θ, packed likewise. What is in neither is zero, but for the
                  potential, which is then unknown
    christoffel : "fitted", or "from-mass": Γ follows from the gradients of the fitted M and from mass_slope. Without
                  mass_slope that is Γ_θθθ alone, whatever the columns of Γ say
    force       : "fitted", or "from-potential": p_θ is minus the gradient of the fitted potential, likewise
    limits      : of coordinates, for those who want to respect them
    internal    : how many of δ, the last ones, are internal modes; the others are displacements
    observation : what outputs are made of; None where each is a measure ρ_o + Ψ_o δ as it stands
    """

    coordinates: tuple[str, ...]
    theta: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    columns: dict[str, tuple[int, int]]
    constants: dict[str, Array] = field(default_factory=dict)
    dry_forces: dict[str, float] = field(default_factory=dict)
    christoffel: str = "fitted"
    force: str = "fitted"
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    internal: int = 0
    observation: Observation | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what outputs are made of: those of the columns `outputs` and `output_modes`."""
        return self.outputs if self.observation is None else self.observation.measures

    @property
    def efforts(self) -> tuple[str, ...]:
        """Names of the forces inside that outputs are made of: those of the columns `efforts`."""
        return () if self.observation is None else self.observation.efforts

    @property
    def size(self) -> int:
        """n, the number of coordinates η."""
        return len(self.coordinates)

    @property
    def bent(self) -> bool:
        """Whether M is M₀(θ) + Σ_a M_a(θ) δ_a and Γ its Christoffel symbols; otherwise M(θ) stands beside a Γ(θ)."""
        return "mass_slope" in self.columns or "mass_slope" in self.constants

    @property
    def conservative(self) -> bool:
        """Whether M and Γ belong to one kinetic energy, and all of p to one potential, whatever the fit is off by."""
        from_mass = self.christoffel == "from-mass" or self.vanishes("christoffel")
        inertia = self.bent or (self.size == self.theta and from_mass)
        return inertia and (self.force == "from-potential" or self.vanishes("force"))

    def vanishes(self, name: str) -> bool:
        """Whether a coefficient is constant, and zero."""
        return name in self.constants and not np.any(self.constants[name])

    @property
    def curved(self) -> bool:
        """Whether M_θθ is known to second order in δ (stiffening)."""
        return "mass_curvature" in self.columns or "mass_curvature" in self.constants

    @property
    def sloped(self) -> int:
        """How many rows of ∂M/∂δ there are: those of θ; all with stiffening."""
        return self.size if self.curved else self.theta

    @property
    def widths(self) -> dict[str, int]:
        """How many columns each coefficient has, packed."""
        n, s = len(self.coordinates), self.theta
        pairs = n * (n + 1) // 2
        return {
            "M": pairs,
            "K": pairs,
            "damping": pairs,
            "christoffel": n * pairs,
            "mass_slope": len(slope_pairs(n, self.sloped)) * (n - s),
            "mass_curvature": len(curvature_places(n, s)),
            "potential": 1,
            "force": n,
            "input_map": n * len(self.inputs),
            "outputs": len(self.measures),
            "output_modes": len(self.measures) * (n - s),
            "friction_map": len(self.dry_forces) * n,
            "efforts": len(self.efforts) * effort_places(n, s, len(self.inputs), len(self.dry_forces)).width,
        }

    @property
    def fitted(self) -> int:
        """t, the number of fitted columns."""
        return max((stop for _, stop in self.columns.values()), default=0)


def slope_pairs(n: int, sloped: int) -> list[tuple[int, int]]:
    """i, j of the entries of ∂M/∂δ_a that are kept: j ≥ i, i in the rows that change."""
    return [(i, j) for i in range(sloped) for j in range(i, n)]


def curvature_places(n: int, s: int) -> list[tuple[int, int, int, int]]:
    """i, j, a, b of the entries of ∂²M_ij/∂δ_a∂δ_b that are kept: i ≤ j in θ, a ≤ b in δ."""
    d = n - s
    return [(i, j, a, b) for i in range(s) for j in range(i, s) for a in range(d) for b in range(a, d)]


def packed_triangles(matrices: Array) -> Array:
    """Upper triangles, row by row: (..., n, n) to (..., n(n + 1)/2)."""
    i, j = np.triu_indices(matrices.shape[-1])
    return matrices[..., i, j]


def unpacked(triangles: Array, n: int) -> Array:
    """Back to symmetric matrices (..., n, n)."""
    i, j = np.triu_indices(n)
    full = np.empty((*triangles.shape[:-1], n, n))
    full[..., i, j] = triangles
    full[..., j, i] = triangles
    return full
