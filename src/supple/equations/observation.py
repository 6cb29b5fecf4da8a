"""Outputs as sums of products of measures and internal forces, and their linearization along a motion η(t).

    y_o = Σ w x_a^(p) x_b^(q),    x = (μ, efforts),    p = 0 for efforts

A model provides measures μ with their rates, and internal forces (efforts). A position is a measure, an acceleration
its second rate. In body axes, a vector is multiplied by measures that are the components of these axes. A stress is a
sum of section forces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.diagnostics import InputError

Numbers = NDArray[Any]  # real, or complex where derivatives are taken by a complex step

ORDERS = 3  # value, rate, second rate


class Product(NamedTuple):
    """Product weight Π x_k^(p) of at most two factors (k, p): index of a measure or effort, and order of its rate."""

    weight: float
    factors: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Observation:
    """Outputs by name, each a sum of products.

    measures : names of the measures, in the order of a row of coefficients; efforts : names of internal forces
    """

    measures: tuple[str, ...]
    efforts: tuple[str, ...]
    outputs: dict[str, tuple[Product, ...]]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.outputs)

    @cached_property
    def plain(self) -> bool:
        """Whether every output is one measure, in the same order."""
        return tuple(self.outputs) == self.measures and all(
            self.measure_of(name) == i for i, name in enumerate(self.outputs)
        )

    @cached_property
    def order(self) -> int:
        """Highest order of the rates of measures."""
        return max((p for form in self.outputs.values() for item in form for _, p in item.factors), default=0)

    @property
    def instant(self) -> bool:
        """Whether outputs depend on the inputs as well as on the state: accelerations or internal forces."""
        return self.order > 1 or bool(self.efforts)

    def feels_inputs(self, name: str) -> bool:
        """Return whether an output depends on the inputs: a factor is an acceleration or an internal force."""
        return any(p > 1 or k >= len(self.measures) for item in self.outputs[name] for k, p in item.factors)

    def measure_of(self, name: str) -> int | None:
        """Return the index of the measure that an output is, or None."""
        form = self.outputs[name]
        if len(form) == 1 and form[0].weight == 1.0 and len(form[0].factors) == 1:
            number, order = form[0].factors[0]
            return number if order == 0 and number < len(self.measures) else None
        return None

    def values(self, x: Numbers) -> Numbers:
        """Return y (..., o) for x (3, ..., measures + efforts): values, rates and second rates."""
        found = np.zeros((*x.shape[1:-1], len(self.outputs)), dtype=x.dtype)
        for o, form in enumerate(self.outputs.values()):
            for weight, factors in form:
                product = np.full(x.shape[1:-1], weight, dtype=x.dtype)
                for number, order in factors:
                    product = product * x[order, ..., number]
                found[..., o] += product
        return found

    def slopes(self, x: Array) -> Array:
        """Return ∂y/∂x^(p), (3, ..., o, measures + efforts), at x (3, ..., measures + efforts)."""
        found = np.zeros((ORDERS, *x.shape[1:-1], len(self.outputs), x.shape[-1]))
        for o, form in enumerate(self.outputs.values()):
            for weight, factors in form:
                for k, (number, order) in enumerate(factors):
                    others = [x[p, ..., other] for i, (other, p) in enumerate(factors) if i != k]
                    found[order, ..., o, number] += weight * (others[0] if others else 1.0)
        return found

    def data(self) -> dict[str, Any]:
        """Return the observation as JSON data."""
        outputs = {
            name: [[item.weight, *map(list, item.factors)] for item in form] for name, form in self.outputs.items()
        }
        return {"measures": list(self.measures), "efforts": list(self.efforts), "outputs": outputs}


def plain_observation(names: Sequence[str]) -> Observation:
    """Return the observation whose outputs are the measures."""
    return Observation(tuple(names), (), {name: (Product(1.0, ((i, 0),)),) for i, name in enumerate(names)})


def with_measures(seen: Observation, names: Sequence[str]) -> Observation:
    """Return an observation with additional measures, each of which is an output."""
    if seen.efforts:
        raise InputError(
            "a model along a path does not support internal forces as outputs", part="sensors",
            hint="remove sensors of reactions, sections, stresses and strains, or reduce over boxes",
        )  # fmt: skip
    first = len(seen.measures)
    more = {name: (Product(1.0, ((first + i, 0),)),) for i, name in enumerate(names)}
    return Observation((*seen.measures, *names), (), seen.outputs | more)


def observation_from(data: Mapping[str, Any]) -> Observation:
    """Read an observation from JSON data; raise InputError for wrong data."""
    try:
        measures, efforts = (tuple(map(str, data[key])) for key in ("measures", "efforts"))
        outputs = {
            str(name): tuple(
                Product(float(weight), tuple((int(number), int(order)) for number, order in factors))
                for weight, *factors in form
            )
            for name, form in data["outputs"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError("the outputs are invalid", hint="the file is damaged; reduce again") from None
    for form in outputs.values():
        for item in form:
            for number, order in item.factors:
                highest = ORDERS - 1 if number < len(measures) else 0
                if not (0 <= number < len(measures) + len(efforts) and 0 <= order <= highest):
                    raise InputError("an output uses a missing measure", hint="the file is damaged; reduce again")
    return Observation(measures, efforts, outputs)


# Outputs of a motion η(t), and how they change with it, to first order.
#
# Of a measure μ(η) with the gradient J = ∂μ/∂η
#
#     μ̇ = J η̇,   μ̈ = J η̈ + J̇ η̇,      ∂μ̇/∂(η, η̇) = (J̇, J),   ∂μ̈/∂(η, η̇, η̈) = (J̈, 2 J̇, J)
#
# and an output y of these, with M δη̈ = P₂ δη + P₁ δη̇ + P₃ δu, has
#
#     δy = (y_η + y_η̈ M⁻¹P₂) δη + (y_η̇ + y_η̈ M⁻¹P₁) δη̇ + (y_u + y_η̈ M⁻¹P₃) δu
#
# so that an acceleration answers to inputs at once: its row of D is not zero.


class OutputMotion(NamedTuple):
    """Factors of the outputs, x^(p) (3, k), and their derivatives by η, η̇, η̈ (3, k, n) and u (3, k, inputs)."""

    x: Array
    by_eta: Array
    by_rates: Array
    by_accelerations: Array
    by_inputs: Array


class OutputMatrices(NamedTuple):
    """Outputs y (o,) with the matrices C (o, 2 n) and D (o, inputs)."""

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
    """Return values, rates and second rates (..., 3, k) of the measures ρ + Ψ δ, for many motions with a leading axis.

    μ̈ = J η̈ + θ̇ᵀ(∂²ρ/∂θ²)θ̇ + 2 θ̇ᵀ(∂Ψ/∂θ)ᵀδ̇; the term of ∂²Ψ/∂θ² is of second order in δ and θ̇ together.
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
    """Return the factors of the outputs along one motion; bent : ∂³ρ/∂θ³[θ̇, θ̇] (k, s), default zero (as at rest)."""
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
    """Rows of internal forces and their slopes.

    The rows are (e, width), their derivatives by θ (e, width, s). The factors of the rows have slopes by η, η̇, η̈
    (width, n) and u (width, inputs).
    """

    rows: Array
    by_theta: Array
    factors: Array
    by_eta: Array
    by_rates: Array
    by_accelerations: Array
    by_inputs: Array


def with_efforts(moving: OutputMotion, forces: EffortSlopes) -> OutputMotion:
    """Append internal forces to the measures."""
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
    """Return y, C and D with δη̈ = A (n, 2 n) δx + B (n, inputs) δu."""
    n = moving.by_eta.shape[-1]
    slopes = observation.slopes(moving.x)
    by_eta, by_rates, by_accelerations, by_inputs = (np.einsum("pok,pkj->oj", slopes, by) for by in moving[1:])
    C = np.hstack([by_eta, by_rates]) + by_accelerations @ A[:, : 2 * n]
    return OutputMatrices(observation.values(moving.x), C, by_inputs + by_accelerations @ B)


def _gradient(measures: Curved, delta: Array) -> Array:
    """Return J (..., k, n)."""
    along = measures.rigid + np.einsum("...kdi,...d->...ki", measures.modes_slope, delta)
    return np.concatenate([along, measures.modes], axis=-1)


def _gradient_rate(measures: Curved, rates: Array) -> Array:
    """Return J̇ (k, n) for the rates of η; with the accelerations it returns J̈ at rest."""
    s = measures.rigid.shape[-1]
    along = np.einsum("kij,i->kj", measures.bend, rates[:s]) + np.einsum("kdi,d->ki", measures.modes_slope, rates[s:])
    return np.hstack([along, measures.modes_slope @ rates[:s]])
