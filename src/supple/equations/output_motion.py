"""Outputs of a motion η(t), and how they change with it, to first order.

Of a measure μ(η) with the gradient J = ∂μ/∂η

    μ̇ = J η̇,   μ̈ = J η̈ + J̇ η̇,      ∂μ̇/∂(η, η̇) = (J̇, J),   ∂μ̈/∂(η, η̇, η̈) = (J̈, 2 J̇, J)

and an output y of these, with M δη̈ = P₂ δη + P₁ δη̇ + P₃ δu, has

    δy = (y_η + y_η̈ M⁻¹P₂) δη + (y_η̇ + y_η̈ M⁻¹P₁) δη̇ + (y_u + y_η̈ M⁻¹P₃) δu

so that an acceleration answers to inputs at once: its row of D is not zero.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.equations.observation import ORDERS, Observation


class OutputMotion(NamedTuple):
    """What outputs are made of, x^(p) (3, k), and its derivatives by η, η̇, η̈ (3, k, n) and u (3, k, inputs)."""

    x: Array
    by_eta: Array
    by_rates: Array
    by_accelerations: Array
    by_inputs: Array


class OutputMatrices(NamedTuple):
    """y (o,), C (o, 2 n) and D (o, inputs)."""

    y: Array
    C: Array
    D: Array


class Curved(NamedTuple):
    """Measures at one θ: ρ (k,), ∂ρ/∂θ (k, s), ∂²ρ/∂θ² (k, s, s), Ψ (k, d), ∂Ψ/∂θ (k, d, s)."""

    value: Array
    rigid: Array
    bend: Array
    modes: Array
    modes_slope: Array


def measured_motion(measures: Curved, delta: Array, rates: Array, accelerations: Array) -> Array:
    """(..., 3, k): values, rates and second rates of measures ρ + Ψ δ, of many motions with a leading axis each.

    μ̈ = J η̈ + θ̇ᵀ(∂²ρ/∂θ²)θ̇ + 2 θ̇ᵀ(∂Ψ/∂θ)ᵀδ̇; what ∂²Ψ/∂θ² adds is of second order in δ and θ̇ together.
    """
    s = measures.rigid.shape[-1]
    J = _gradient(measures, delta)
    turning, bending = rates[..., :s], rates[..., s:]
    swept = np.einsum("...kij,...i,...j->...k", measures.bend, turning, turning)
    swept += 2.0 * np.einsum("...kdi,...d,...i->...k", measures.modes_slope, bending, turning)
    value = measures.value + np.einsum("...kd,...d->...k", measures.modes, delta)
    first = np.einsum("...kj,...j->...k", J, rates)
    return np.stack([value, first, np.einsum("...kj,...j->...k", J, accelerations) + swept], axis=-2)


def output_motion(
    measures: Curved, delta: Array, rates: Array, accelerations: Array, inputs: int, bent: Array | None = None
) -> OutputMotion:
    """Of one motion; bent : (k, s) ∂³ρ/∂θ³[θ̇, θ̇], zero if left out (at rest it is)."""
    s, n, k = measures.rigid.shape[-1], rates.shape[-1], len(measures.value)
    x = measured_motion(measures, delta, rates, accelerations)
    J = _gradient(measures, delta)
    first, second = _gradient_rate(measures, rates), _gradient_rate(measures, accelerations)
    if bent is not None:
        second[:, :s] += bent
    by = np.zeros((3, ORDERS, k, n))
    by[0] = J, first, second
    by[1, 1:] = J, 2.0 * first
    by[2, 2] = J
    return OutputMotion(x, by[0], by[1], by[2], np.zeros((ORDERS, k, inputs)))


class EffortSlopes(NamedTuple):
    """Rows of forces inside (e, width), their derivatives by θ (e, width, s), and what they are multiplied by, with its
    slopes by η, η̇, η̈ (width, n) and u (width, inputs)."""

    rows: Array
    by_theta: Array
    factors: Array
    by_eta: Array
    by_rates: Array
    by_accelerations: Array
    by_inputs: Array


def with_efforts(moving: OutputMotion, forces: EffortSlopes) -> OutputMotion:
    """Forces inside behind the measures."""
    e, s = len(forces.rows), forces.by_theta.shape[-1]

    def behind(measures: Array, added: Array) -> Array:
        block = np.zeros((ORDERS, e, *measures.shape[2:]))
        block[0] = added
        return np.concatenate([measures, block], axis=1)

    by_eta = forces.rows @ forces.by_eta
    by_eta[:, :s] += np.einsum("ekj,k->ej", forces.by_theta, forces.factors)
    return OutputMotion(
        behind(moving.x, forces.rows @ forces.factors),
        behind(moving.by_eta, by_eta),
        behind(moving.by_rates, forces.rows @ forces.by_rates),
        behind(moving.by_accelerations, forces.rows @ forces.by_accelerations),
        behind(moving.by_inputs, forces.rows @ forces.by_inputs),
    )


def output_matrices(observation: Observation, moving: OutputMotion, A: Array, B: Array) -> OutputMatrices:
    """y, C and D with δη̈ = A (n, 2 n) δx + B (n, inputs) δu."""
    n = moving.by_eta.shape[-1]
    slopes = observation.slopes(moving.x)
    by_eta, by_rates, by_accelerations, by_inputs = (np.einsum("pok,pkj->oj", slopes, by) for by in moving[1:])
    C = np.hstack([by_eta, by_rates]) + by_accelerations @ A[:, : 2 * n]
    return OutputMatrices(observation.values(moving.x), C, by_inputs + by_accelerations @ B)


def _gradient(measures: Curved, delta: Array) -> Array:
    """J (..., k, n)."""
    along = measures.rigid + np.einsum("...kdi,...d->...ki", measures.modes_slope, delta)
    return np.concatenate([along, measures.modes], axis=-1)


def _gradient_rate(measures: Curved, rates: Array) -> Array:
    """J̇ (k, n) at rates of η; J̈ at rest is the same at its accelerations."""
    s = measures.rigid.shape[-1]
    along = np.einsum("kij,i->kj", measures.bend, rates[:s]) + np.einsum("kdi,d->ki", measures.modes_slope, rates[s:])
    return np.hstack([along, measures.modes_slope @ rates[:s]])
