"""Kernels for the outputs of a reduced model at one instant of its motion, including accelerations and internal forces.

The numbers equal those of `supple.reduced.observed`, which computes many instants at once, and derivatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.approximation.piecewise.packing import COEFFICIENTS, DEGREE, FACTORS, LEAVES_F, LEAVES_I, STRIDE, TERMS
from supple.approximation.piecewise.packing import S as AXES
from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.compilation.bundle import copy_row
from supple.equations.forces import dry_friction, slip
from supple.equations.observation import ORDERS
from supple.equations.row import EFFORTS

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


NONE = -1
OUTPUT, FIRST, FIRST_ORDER, SECOND, SECOND_ORDER = range(5)  # columns of terms


class Observed(NamedTuple):
    """Composition of the outputs, for kernels.

    columns   : (2,) first columns of the fit that hold ρ (m,) and Ψ (m, d) of the measures; NONE where they are
                constant
    constants : (m + m d,) constant ρ and Ψ
    measures  : number m of measures
    efforts   : number of internal forces
    terms     : (t, 5) output, measure or effort and its order, and the second factor; NONE where there is only one
    weights   : (t,)
    order     : highest rate of any measure that is needed
    """

    columns: Integers
    constants: Array
    measures: int
    efforts: int
    terms: Integers
    weights: Array
    order: int


def observed_arrays(model: ReducedModel) -> Observed:
    """Return the composition of a model's outputs."""
    layout = model.layout
    m, d = len(layout.measures), layout.size - layout.theta
    columns, constants = np.full(2, NONE, dtype=np.int64), np.zeros(m + m * d)
    for number, (name, part) in enumerate((("outputs", slice(0, m)), ("output_modes", slice(m, None)))):
        if name in layout.columns:
            columns[number] = layout.columns[name][0]
        elif name in layout.constants:
            constants[part] = np.ravel(layout.constants[name])
    observed = model.labels.output_composition
    terms, weights = [], []
    for number, form in enumerate(observed.outputs.values()):
        for weight, factors in form:
            pairs = [*factors, (NONE, 0), (NONE, 0)][:2]
            terms.append((number, *pairs[0], *pairs[1]))
            weights.append(weight)
    return Observed(
        columns, constants, m, len(layout.efforts), np.array(terms, dtype=np.int64).reshape(-1, 5), np.array(weights),
        observed.order,
    )  # fmt: skip


@kernel(inline=True)
def product_jet(f, g):
    """Return the value and two rates of a product."""
    return f[0] * g[0], f[1] * g[0] + f[0] * g[1], f[2] * g[0] + 2.0 * f[1] * g[1] + f[0] * g[2]


@kernel
def basis_jets(Z, F, leaf, moving, T, basis):
    """Fill `basis` (terms, 3) with the terms of a leaf and their rates along θ; return the number of terms.

    T (s, degree + 1, 3) is workspace.
    """
    s, entry, box = Z[AXES], Z[LEAVES_I] + 3 * leaf, Z[LEAVES_F] + 2 * Z[AXES] * leaf
    terms, degree = Z[entry + 1], Z[entry + 2]
    for i in range(s):
        inverse = F[box + s + i]
        xi = ((moving.eta[i] - F[box + i]) * inverse, moving.v[i] * inverse, moving.a[i] * inverse)
        T[i, 0, 0], T[i, 0, 1], T[i, 0, 2] = 1.0, 0.0, 0.0
        if degree > 0:
            T[i, 1, 0], T[i, 1, 1], T[i, 1, 2] = xi
        for n in range(2, degree + 1):
            turned = product_jet(xi, (T[i, n - 1, 0], T[i, n - 1, 1], T[i, n - 1, 2]))
            for k in range(3):
                T[i, n, k] = 2.0 * turned[k] - T[i, n - 2, k]
    basis[0, 0], basis[0, 1], basis[0, 2] = 1.0, 0.0, 0.0
    for t in range(1, terms):
        at = Z[FACTORS] + 3 * t
        before, axis, power = Z[at], Z[at + 1], Z[at + 2]
        one = (basis[before, 0], basis[before, 1], basis[before, 2])
        basis[t, 0], basis[t, 1], basis[t, 2] = product_jet(
            one, (T[axis, power, 0], T[axis, power, 1], T[axis, power, 2])
        )
    return terms


@kernel
def measure_jets(model, leaf, observed, moving, x):
    """Fill x (3, m + efforts) with the measures μ = ρ + Ψ δ and their rates."""
    Z, F, m, constants = model.integers, model.numbers, observed.measures, observed.constants
    s, d = Z[AXES], moving.eta.shape[0] - Z[AXES]
    T, basis = np.empty((s, Z[DEGREE] + 1, 3)), np.empty((max(Z[TERMS], 1), 3))
    terms = basis_jets(Z, F, leaf, moving, T, basis)
    sums = np.zeros((3, m + m * d))
    for part in range(2):
        begin, end = (0, m) if part == 0 else (m, m + m * d)
        if observed.columns[part] == NONE:
            copy_row(constants[begin:end], sums[0, begin:end])
            continue
        at = Z[COEFFICIENTS] + Z[Z[LEAVES_I] + 3 * leaf] * Z[STRIDE] + observed.columns[part] - begin
        for t in range(terms):
            value, rate, second = basis[t, 0], basis[t, 1], basis[t, 2]
            for o in range(begin, end):
                number = F[at + o]
                sums[0, o] += number * value
                sums[1, o] += number * rate
                sums[2, o] += number * second
            at += Z[STRIDE]
    for i in range(m):
        for k in range(3):
            x[k, i] = sums[k, i]
        for q in range(d):
            o, j = m + i * d + q, s + q
            along = product_jet((sums[0, o], sums[1, o], sums[2, o]), (moving.eta[j], moving.v[j], moving.a[j]))
            for k in range(3):
                x[k, i] += along[k]


@kernel
def effort_values(c, friction, moving, first, x):
    """Fill x[first:] with the internal forces, from their rows.

    They are e₀ + Ψ^e δ + E_u u + E_a η̈ + E_v η̇ + E_q[θ̇, η̇] + E_f f.
    """
    n, s, row, at = c.n, c.s, c.values, c.at[EFFORTS]
    dry = friction.limits.shape[0]
    eta, v, a, u = moving.eta, moving.v, moving.a, moving.u
    for i in range(first, x.shape[0]):
        total = row[at]
        at += 1
        for j in range(s, n):
            total += row[at + j - s] * eta[j]
        at += n - s
        for j in range(c.inputs):
            total += row[at + j] * u[j]
        at += c.inputs
        for j in range(n):
            total += row[at + j] * a[j] + row[at + n + j] * v[j]
        at += 2 * n
        for j in range(s):
            for k in range(j, n):
                total += row[at] * v[j] * v[k]
                at += 1
        for j in range(dry):
            total += row[at + j] * dry_friction(friction.limits[j], slip(c, v, j), friction.speed)[0]
        at += dry
        x[i] = total


@kernel
def observe_moving(model, leaf, friction, observed, moving, c, y):
    """Compute the outputs (o,) at η, η̇, η̈ under inputs u; c : the row at θ or η."""
    m, terms, weights = observed.measures, observed.terms, observed.weights
    x = np.zeros((ORDERS, m + observed.efforts))
    measure_jets(model, leaf, observed, moving, x)
    if observed.efforts > 0:
        effort_values(c, friction, moving, m, x[0])
    y[:] = 0.0
    for t in range(terms.shape[0]):
        value = weights[t]
        if terms[t, FIRST] != NONE:
            value *= x[terms[t, FIRST_ORDER], terms[t, FIRST]]
        if terms[t, SECOND] != NONE:
            value *= x[terms[t, SECOND_ORDER], terms[t, SECOND]]
        y[terms[t, OUTPUT]] += value
