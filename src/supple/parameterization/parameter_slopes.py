"""Derivatives of the coefficients of a rigid mechanism with respect to a parameter μ of its file, exact to rounding.

    ∂_μM = ∂_μΨᵀM₀Ψ + ΨᵀM₀∂_μΨ + Ψᵀ(∂M₀/∂μ)Ψ + Σ ∂_μ(m ∂ℓᵀ∂ℓ), and so on                              (parameters, 5)

θ is constant. With the motion of poses, rigid modes and their change (`kinematics.parameter_motion`), and the slopes of
the arrays, the expressions of the kernels of local models are evaluated once along a complex step; the imaginary part
is the slope. [Brüls 2004; Squire 1998]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.approximation.analytic_slope import NEAR, stencil, stencil_slope
from supple.equations.row import RowLayout
from supple.formulations.coefficients import (
    ACTUATOR,
    AT_POINT,
    BODY,
    DRY,
    FOLLOWS,
    LAW,
    OF_FORCE,
    OF_MOMENT,
    SENSOR,
    CoefficientArrays,
    get_coefficients,
)
from supple.formulations.data_slopes import DataSlopes, data_slopes
from supple.formulations.force_models import law
from supple.kinematics.configuration import Configuration
from supple.kinematics.numbering import Numbering
from supple.kinematics.parameter_motion import STEP, Moved, step_along
from supple.parameterization.rigid_rows import rigid_layout

Array = NDArray[Any]

KNOWN = ("M", "damping", "potential", "force", "input_map", "outputs", "friction_map")
"""Coefficients of a rigid mechanism whose slopes along parameters are known."""
_BATCH = 64


def parameter_slopes(configuration: Configuration, name: str) -> Array:
    """Return ∂/∂μ of the coefficients at each configuration, (N, width) with the layout of `rigid_rows.rigid_layout`.

    Coefficients that are not in KNOWN are nan. One configuration gives N = 1.
    """
    position = configuration.rest
    position.numbering.require_coordinates()
    data, load = data_slopes(position.numbering.mechanism, name), get_coefficients(position)
    layout = rigid_layout(position.numbering, load)
    X, w = configuration.batch.X, configuration.batch.w
    out = np.full((len(X), layout.width), np.nan)
    for start in range(0, len(X), _BATCH):
        piece = slice(start, start + _BATCH)
        here = step_along(position.numbering, data.rows_f, X[piece])
        _fill(layout, position.numbering, load.arrays, data, here, w[piece], out[piece])
    return out


def _fill(
    layout: RowLayout,
    numbering: Numbering,
    load: CoefficientArrays,
    data: DataSlopes,
    here: Moved,
    w: Array,
    out: Array,
) -> None:
    s, column = numbering.sizes.coordinates, numbering.arrays.column
    N, inputs = len(here.X), numbering.sizes.actuators
    inertia = load.inertia + 1j * STEP * data.inertia
    own = here.Psi[:, :, column]
    total: dict[str, Array] = {
        "M": np.einsum("nbci,bce,nbej->nij", own, inertia, own, optimize=True),
        "damping": np.zeros((N, s, s), complex),
        "potential": np.zeros((N, 1), complex),
        "force": np.zeros((N, s), complex),
        "input_map": np.zeros((N, s, inputs), complex),
        "outputs": np.zeros((N, *layout.shapes["outputs"]), complex),
        "friction_map": np.zeros((N, *layout.shapes["friction_map"]), complex),
    }
    _add_loads(load, load.loads_f + 1j * STEP * data.loads_f, here, total)
    first = numbering.constraints
    for measure in range(len(load.uses_start) - 1):
        uses = range(load.uses_start[measure], load.uses_start[measure + 1])
        if not uses:
            continue
        ell = w[:, measure] + 1j * here.rows.values[:, first + measure].imag
        along = np.einsum("nbc,nbcj->nj", here.rows.gradients[:, first + measure], here.Psi)
        for use in uses:
            role, to = load.uses_i[use]
            if role == LAW:
                _act(_force_model(int(to), load.uses_f[use], data.uses_f[use], ell), along, total)
            elif role == ACTUATOR:
                total["input_map"][:, :, to] = along
            elif role == SENSOR:
                total["outputs"][:, to] = ell
            elif role == DRY:
                total["friction_map"][:, to] = along
    for name in KNOWN:
        layout.part(out, name)[:] = total[name].imag / STEP


def _add_loads(load: CoefficientArrays, loads_f: Array, here: Moved, total: dict[str, Array]) -> None:
    """Add p_j += F·(v_j + ω_j × r) + moment·ω_j, and V -= F·x of forces of constant direction."""
    R = here.X[..., 3:].reshape(*here.X.shape[:-1], 3, 3)
    for (b, follows), numbers in zip(load.loads_i[:, [BODY, FOLLOWS]], loads_f, strict=True):
        point, force, moment = (numbers[at : at + 3] for at in (AT_POINT, OF_FORCE, OF_MOMENT))
        turn = R[:, b]
        r = turn @ point
        F, torque = (turn @ x if follows else np.tile(x, (len(r), 1)) for x in (force, moment))
        if not follows:
            total["potential"][:, 0] -= np.einsum("ni,ni->n", F, here.X[:, b, :3] + r)
        if b < here.Psi.shape[1]:
            v, spin = (np.einsum("nij,njk->nik", turn, here.Psi[:, b, part]) for part in (slice(3), slice(3, 6)))
            total["force"] += np.einsum("ni,nij->nj", F, v) + np.einsum("ni,nij->nj", np.cross(r, F) + torque, spin)


class _Acting(NamedTuple):
    energy: Array
    force: Array
    damping: Array
    inertia: Array


def _force_model(number: int, p: Array, change: Array, ell: Array) -> _Acting:
    """Return the contribution of a force model along ℓ (N,) with a complex step.

    Along ℓ it uses the model's own slopes, along its parameters values at Chebyshev points about them.
    """
    found = np.array([law(number, p, length) for length in ell.real]).reshape(-1, 6)
    energy, force, bend, damping, damping_bend, inertia = found.T
    moved = ell.imag / STEP
    slopes = np.array([-force * moved, bend * moved, damping_bend * moved, np.zeros(len(ell))])
    if change.any():
        around = stencil(0.0, float(np.abs(p).max() / np.abs(change).max()) or 1.0, NEAR)
        each = [[law(number, p + t * change, length) for length in ell.real] for t in around.points]
        slopes += stencil_slope(around, np.array(each).reshape(len(around.points), -1, 6))[:, [0, 1, 3, 5]].T
    values = np.array([energy, force, damping, inertia])
    return _Acting(*(values + 1j * STEP * slopes))


def _act(acts: _Acting, along: Array, total: dict[str, Array]) -> None:
    """Add the contributions V, f ∂ℓ, c ∂ℓᵀ∂ℓ and m ∂ℓᵀ∂ℓ."""
    outer = along[:, :, None] * along[:, None, :]
    total["potential"][:, 0] += acts.energy
    total["force"] += acts.force[:, None] * along
    total["damping"] += acts.damping[:, None, None] * outer
    total["M"] += acts.inertia[:, None, None] * outer
