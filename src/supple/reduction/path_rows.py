"""Coefficients along a path θ(σ), from local models at its configurations.

With t = θ' and n = θ'',

    M_σσ = tᵀ M t        Γ_σσσ = tᵀ (Γ[t, t] + M n)     p_σ = tᵀ p     D_σσ = tᵀ D_d t
    B_σ = tᵀ B           J_σ = J t                      ρ_o(θ(σ))

It is the motion with the path as one more constraint, which does no work. Γ_σσσ is half of dM_σσ/dσ, as it must be
for one coordinate. B_σ u is the force that the actuators exert along the path; across it they, or a guide, supply what
is needed to stay on it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.equations.christoffel import inertia_forces
from supple.equations.row import RowLayout, local_layout
from supple.reduction.path import Curve

Array = NDArray[np.float64]


def path_layout(layout: RowLayout) -> RowLayout:
    """Where coefficients stand in a row along a path: one coordinate, and θ among the outputs, after all others."""
    s, actuators = layout.shapes["input_map"]
    return local_layout(1, 1, actuators, layout.shapes["outputs"][0] + s, layout.shapes["friction_map"][0])


def path_rows(rows: Array, layout: RowLayout, curve: Curve) -> Array:
    """Rows (N, width) of local models at `curve.theta`, with respect to σ: (N, width) as `path_layout` says."""
    theta, t, n = curve
    full, narrow = layout.split(rows), path_layout(layout)
    narrowed = np.zeros((len(rows), narrow.width))
    parts = narrow.split(narrowed)

    def twice(matrix: Array, slopes: Array) -> tuple[Array, Array]:
        """tᵀ A t and its derivative tᵀ (∂A[t]) t + 2 tᵀ A n."""
        value = np.einsum("ni,nij,nj->n", t, matrix, t)
        slope = np.einsum("nijk,ni,nj,nk->n", slopes, t, t, t) + 2.0 * np.einsum("ni,nij,nj->n", t, matrix, n)
        return value, slope

    mass, mass_slope = twice(full["M"], full["dM"])
    parts["M"][:, 0, 0], parts["dM"][:, 0, 0, 0] = mass, mass_slope
    inertia = inertia_forces(full["M"], full["christoffel"], t, n)
    parts["christoffel"][:, 0, 0, 0] = np.einsum("ni,ni->n", t, inertia)
    parts["potential"][:] = full["potential"]
    parts["force"][:, 0] = np.einsum("ni,ni->n", t, full["force"])
    steeper = np.einsum("nij,ni,nj->n", full["dforce_theta"], t, t)
    parts["dforce_theta"][:, 0, 0] = steeper + np.einsum("ni,ni->n", n, full["force"])
    damping, damping_slope = twice(full["damping"], full["ddamping"])
    parts["damping"][:, 0, 0], parts["ddamping"][:, 0, 0, 0] = damping, damping_slope
    parts["input_map"][:, 0] = np.einsum("ni,nia->na", t, full["input_map"])
    parts["dinput_map"][:, 0, :, 0] = np.einsum("niak,ni,nk->na", full["dinput_map"], t, t)
    parts["dinput_map"][:, 0, :, 0] += np.einsum("ni,nia->na", n, full["input_map"])
    parts["friction_map"][:, :, 0] = np.einsum("nfi,ni->nf", full["friction_map"], t)
    parts["dfriction_map"][:, :, 0, 0] = np.einsum("nfik,ni,nk->nf", full["dfriction_map"], t, t)
    parts["dfriction_map"][:, :, 0, 0] += np.einsum("nfi,ni->nf", full["friction_map"], n)
    _outputs(full, parts, theta, t, n)
    return narrowed


def _outputs(full: dict[str, Array], narrow: dict[str, Array], theta: Array, t: Array, n: Array) -> None:
    """ρ_o, its slope and its bend along the path; then θ, θ' and θ'' as outputs of their own."""
    rigid = full["rigid"]
    narrow["outputs"][:] = np.hstack([full["outputs"], theta])
    narrow["rigid"][:, :, 0] = np.hstack([np.einsum("noi,ni->no", rigid, t), t])
    bend = np.einsum("noij,ni,nj->no", full["bend"], t, t) + np.einsum("noi,ni->no", rigid, n)
    narrow["bend"][:, :, 0, 0] = np.hstack([bend, n])
