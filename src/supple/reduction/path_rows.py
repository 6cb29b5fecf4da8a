"""Coefficients along a path θ(σ), from local models at its configurations.

With t = θ', n = θ'', and T = diag(t, I) that leads from (σ̇, δ̇) to η̇ = (θ̇, δ̇), T' = diag(n, 0),

    M → Tᵀ M T          dM/dσ = Tᵀ(∂M[t])T + T'ᵀM T + Tᵀ M T'     ∂M/∂δ_a → Tᵀ(∂M/∂δ_a)T     Γ follows from these
    p → Tᵀ p            D_d → Tᵀ D_d T       B → Tᵀ B       J → J T       ρ_o(θ(σ)),  Ψ_o,  K: as they are

It is the motion with the path as one more constraint, which does no work. B_σ u is the force that the actuators exert
along the path; across it they, or a guide, supply what is needed to stay on it. δ moves as it would.
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array
from supple.equations.christoffel import christoffel
from supple.equations.row import RowLayout, local_layout
from supple.reduction.path import Curve


def path_layout(layout: RowLayout) -> RowLayout:
    """Where coefficients stand in a row along a path: σ before δ, and θ among the outputs, after all others."""
    n, inputs = layout.shapes["input_map"]
    s, outputs = layout.shapes["dforce_theta"][0], layout.shapes["outputs"][0]
    dry, internal = layout.shapes["friction_map"][0], layout.shapes["squares"][0]
    curved = bool(layout.shapes["mass_curvature"][0])
    return local_layout(n - s + 1, 1, inputs, outputs + s, dry, internal, curved=curved)


def path_rows(rows: Array, layout: RowLayout, curve: Curve) -> Array:
    """Rows (N, width) of local models at `curve.theta`, with respect to (σ, δ): (N, width) as `path_layout` says."""
    theta, t, n = curve
    full, narrow = layout.split(rows), path_layout(layout)
    narrowed = np.zeros((len(rows), narrow.width))
    parts = narrow.split(narrowed)
    s = t.shape[1]
    T = np.zeros((len(rows), full["M"].shape[1], narrow.shapes["M"][0]))
    T[:, :s, 0], T[:, s:, 1:] = t, np.eye(T.shape[2] - 1)
    turned = np.zeros_like(T)
    turned[:, :s, 0] = n

    def both(matrix: Array) -> Array:
        return np.asarray(np.swapaxes(T, 1, 2) @ matrix @ T)

    def along(slopes: Array) -> Array:
        """Σ_k t_k ∂_k of what has the derivatives over θ in its last axis."""
        return np.einsum("n...k,nk->n...", slopes, t)

    def both_along(matrix: Array, slopes: Array) -> Array:
        half = np.swapaxes(turned, 1, 2) @ matrix @ T
        return both(along(slopes)) + half + np.swapaxes(half, 1, 2)

    parts["M"][:], parts["dM"][..., 0] = both(full["M"]), both_along(full["M"], full["dM"][..., :s])
    for a in range(full["M"].shape[1] - s):
        parts["dM"][..., 1 + a] = both(full["dM"][..., s + a])
    parts["christoffel"][:] = christoffel(parts["dM"])
    if full["mass_curvature"].size:
        parts["mass_curvature"][:, 0, 0] = np.einsum("nijab,ni,nj->nab", full["mass_curvature"], t, t)
    parts["K"][:] = both(full["K"])
    parts["stiffness_slope"][:, 0] = along(np.moveaxis(full["stiffness_slope"], 1, -1))
    parts["damping"][:] = both(full["damping"])
    parts["ddamping"][..., 0] = both_along(full["damping"], full["ddamping"])
    parts["potential"][:] = full["potential"]
    parts["force"][:] = np.einsum("nij,ni->nj", T, full["force"])
    steeper = np.einsum("nij,ni,nj->n", full["dforce_theta"], t, t)
    parts["dforce_theta"][:, 0, 0] = steeper + np.einsum("ni,ni->n", n, full["force"][:, :s])
    parts["force_slope"][:, 0] = along(np.moveaxis(full["force_slope"], 1, -1))
    parts["input_map"][:] = np.swapaxes(T, 1, 2) @ full["input_map"]
    steeper = np.swapaxes(T, 1, 2) @ along(full["dinput_map"]) + np.swapaxes(turned, 1, 2) @ full["input_map"]
    parts["dinput_map"][..., 0] = steeper
    parts["friction_map"][:] = full["friction_map"] @ T
    parts["dfriction_map"][..., 0] = along(full["dfriction_map"]) @ T + full["friction_map"] @ turned
    _outputs(full, parts, theta, t, n)
    for name in ("squares", "overlap", "places"):
        parts[name][:] = full[name]
    return narrowed


def _outputs(full: dict[str, Array], narrow: dict[str, Array], theta: Array, t: Array, n: Array) -> None:
    """ρ_o, its slope and its bend along the path, and Ψ_o; then θ, θ' and θ'' as outputs of their own."""
    rigid, sensed = full["rigid"], full["outputs"].shape[1]
    narrow["outputs"][:] = np.hstack([full["outputs"], theta])
    narrow["rigid"][:, :, 0] = np.hstack([np.einsum("noi,ni->no", rigid, t), t])
    bend = np.einsum("noij,ni,nj->no", full["bend"], t, t) + np.einsum("noi,ni->no", rigid, n)
    narrow["bend"][:, :, 0, 0] = np.hstack([bend, n])
    narrow["modes"][:, :sensed] = full["modes"]
    narrow["modes_slope"][:, :sensed, :, 0] = np.einsum("noak,nk->noa", full["modes_slope"], t)
