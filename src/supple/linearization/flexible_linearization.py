"""First-order behaviour of a flexible mechanism about rest, in θ and the elastic coordinates δ it keeps.

Where it rests follows from the local model,

    M η̈ = f = p + B u - K η + (∂p_δ/∂θ)ᵀ δ - ½ δᵀ ∂K/∂θ δ              η = (θ, δ), the last two in the rows of θ

Small motions about it are those of the whole elastic mechanism with free actuators, z = Ψᵀη of all its motions:

    Ψ M Ψᵀ δη̈ + D_d δη̇ + Ψ (K_e + K_g) Ψᵀ δη = B δu

K_e of bodies, elastic joints and springs, K_g of all forces at rest (docs/theory/linearization.md, eqs. 13-15).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.formulations.elastic_rest.dense import elastic_stiffness
from supple.formulations.elastic_rest.preload import rest_force_stiffness
from supple.parameterization.local_model import LocalModel
from supple.results.linear_model import SecondOrder

_STEPS = 4


class FlexibleRest(NamedTuple):
    """η (n,), the inputs (m,), the accelerations (n,) there, and the equations of small motions."""

    eta: Array
    inputs: Array
    accelerations: Array
    forces: SecondOrder


def flexible_rest(model: LocalModel, wanted: Array, inputs: Array | None, friction_speed: float) -> FlexibleRest:
    """About θ with δ at rest. wanted : (n,) accelerations that inputs left out come closest to."""
    s, n = model.theta.shape[-1], len(model.coordinates)
    u = np.zeros(len(model.inputs)) if inputs is None else inputs
    eta = np.concatenate([model.theta, np.zeros(n - s)])
    still = np.zeros(n)
    for _ in range(_STEPS):  # δ enters almost linearly: the second step takes care of ∂K/∂θ
        missing = model.required_forces(still, wanted, eta[s:]) - model.input_map @ u
        give = model.stiffness_force_slope(eta[s:])
        if inputs is not None:  # θ is free to accelerate: δ balances its own rows
            eta[s:] += np.linalg.solve(give[s:], missing[s:])
            continue
        matrix = np.hstack([model.input_map, give])
        # Forces and displacements differ by orders of magnitude: columns of one size, so that none is taken for zero.
        size = np.linalg.norm(matrix, axis=0)
        size[size == 0.0] = 1.0
        change = np.linalg.lstsq(matrix / size, missing, rcond=None)[0] / size
        u, eta[s:] = u + change[: len(u)], eta[s:] + change[len(u) :]
    a = np.asarray(np.linalg.solve(model.M, model.potential_force(eta[s:]) + model.input_map @ u), dtype=np.float64)
    by_eta = -_stiffness(model, u, holding=inputs is None and not np.any(wanted)) - np.einsum("ijk,j->ik", model.dM, a)
    by_rates = model.rate_slopes(still, friction_speed)
    return FlexibleRest(eta, u, a, SecondOrder(model.M, by_eta, by_rates, model.input_map))


def _stiffness(model: LocalModel, u: Array, *, holding: bool) -> Array:
    """Ψ (K_e + K_g) Ψᵀ (n, n): one and the same stiffness, whatever modes are kept."""
    assert model.system is not None
    assert model.modes is not None
    rest, here = model.system.rest, model.configuration
    K_e = elastic_stiffness(rest, here, rest.held(actuators=False))
    K_g = rest_force_stiffness(rest, here, u, holding=holding)
    return np.asarray(model.modes @ (K_e + K_g) @ model.modes.T)
