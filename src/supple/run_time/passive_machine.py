"""Energy drift of a form: the passive machine, held inside the region by springs.

Without inputs, damping and friction, the energy T + V is constant in the exact model, and in one box. Where a form
jumps from box to box, M and V jump, and so does the energy. Springs on θ,

    V_c = ½ Σ_i k_i (θ_i - c_i)²,      k_i = 2 (T_0 + ΔV) / (0.9 w_i - |c_i|)²                                      (1)

with half widths w_i, the initial kinetic energy T_0 and the range ΔV of the potential, keep the machine inside: the
energy does not suffice to reach a face. V_c is of degree two, so the polynomials of a box contain it exactly. Steps are
fixed, since a jump of forces would stop a step with an error bound.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.approximation.confidence import uniform_points
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array
from supple.diagnostics import EarlyEnd
from supple.hardware.hardware import NO_HARDWARE
from supple.reduced.damped import locked_frequencies
from supple.reduced.layout import CoefficientLayout
from supple.reduced.model import ReducedModel

_STEPS = 25_000  # of a run
_CROSSING = 0.5  # s in which the initial rates cross half the region
_REACH, _ASIDE = 0.9, 0.1  # of half the region: farthest place, and distance of the start from the middle
_POINTS = 400
_STEP, _FASTEST = 2e-4, 0.1  # longest step, s, and its product with the highest frequency
_SAMPLES = 2001  # of the energy
_PART = 4  # the drift is the change of the mean energy from the first to the last part
_KEPT = ("M", "mass_slope", "mass_curvature", "K", "force", "potential")


class Passive(NamedTuple):
    """Springs and start of a passive run: centers and stiffnesses (s,), initial rates (n,), and its steps (s)."""

    center: Array
    stiffness: Array
    rates: Array
    step: float

    @property
    def duration(self) -> float:
        """Duration of a run, s."""
        return _STEPS * self.step


def passive_start(model: ReducedModel) -> Passive | None:
    """Return springs and a start for a model and its run-time forms; None if the model does not conserve energy."""
    layout, arrays = model.layout, model.fitted.arrays
    if not layout.conservative or not arrays.indices.sum(axis=1).max(initial=0):
        return None
    s, n = layout.theta, layout.size
    lower, upper = arrays.roots_f[0]
    half = 0.5 * (upper - lower)
    offset = _ASIDE * (1.0 + np.arange(s)) / s  # not on a face of a grid
    center = 0.5 * (lower + upper) + offset * half
    points = uniform_points(model.fitted, _POINTS, np.random.default_rng(0))
    coefficients = model.evaluate(points)
    signs = np.where(np.arange(s) % 2 == 0, 1.0, -1.0)
    rates = np.concatenate([signs * half / (_CROSSING * np.sqrt(s)), np.zeros(n - s)])
    kinetic = 0.5 * float(np.einsum("nij,i,j->n", coefficients.M, rates, rates).max())
    potential = np.ravel(coefficients.potential)
    change = float(np.ptp(potential)) if np.isfinite(potential).all() else 0.0
    faster = max(1.0, change / kinetic)  # the springs would otherwise allow only a small part of the region
    kinetic, rates = kinetic * faster, rates * np.sqrt(faster)
    stiffness = 2.0 * (kinetic + change) / ((_REACH - offset) * half) ** 2
    K = coefficients.K + np.diag(np.concatenate([stiffness, np.zeros(n - s)]))
    fastest = float(locked_frequencies(K, coefficients.M).max())  # of all coordinates, on their springs
    return Passive(center, stiffness, rates, min(_STEP, _FASTEST / fastest))


def passive_machine(model: ReducedModel, passive: Passive) -> ReducedModel:
    """Return a model without inputs, outputs, damping and friction, with springs on θ."""
    layout, arrays = model.layout, model.fitted.arrays
    columns: dict[str, tuple[int, int]] = {}
    taken: list[int] = []
    for name in _KEPT:
        if name in layout.columns:
            columns[name] = (len(taken), len(taken) + layout.widths[name])
            taken += range(*layout.columns[name])
    coefficients = arrays.coefficients[:, taken]
    if "potential" not in columns:
        columns["potential"] = (len(taken), len(taken) + 1)
        coefficients = np.hstack([coefficients, np.zeros((len(coefficients), 1))])
    constants = {name: layout.constants[name] for name in (*_KEPT, "christoffel") if name in layout.constants}
    constants.pop("potential", None)
    n = layout.size
    constants["damping"] = np.zeros(layout.widths["damping"])
    if "force" in constants and n == layout.theta:
        constants.pop("force")
    bare = CoefficientLayout(
        layout.coordinates, layout.theta, (), (), columns, constants, christoffel=layout.christoffel,
        force="from-potential", limits=layout.limits, internal=layout.internal,
    )  # fmt: skip
    fitted = _with_squares(Piecewise(arrays._replace(coefficients=np.ascontiguousarray(coefficients))))
    rows, changed = _with_springs(fitted, passive)
    fitted.arrays.coefficients[rows, columns["potential"][0]] += changed
    return replace(model, layout=bare, fitted=fitted, hardware=NO_HARDWARE, repertoire=None, family=None)


def _with_squares(fitted: Piecewise) -> Piecewise:
    """Return a copy of the function with T_1 and T_2 of every coordinate in every box, where springs are added."""
    arrays, s = fitted.arrays, fitted.dimension
    known = {tuple(row) for row in arrays.indices.tolist()}
    missing = [row for row in (*np.eye(s, dtype=np.int64), *(2 * np.eye(s, dtype=np.int64))) if tuple(row) not in known]
    if not missing:
        return Piecewise(arrays._replace(coefficients=arrays.coefficients.copy()))
    terms, added = len(arrays.indices), len(missing)
    boxes = len(arrays.leaves_i)
    values = np.zeros((boxes, terms + added, fitted.outputs))
    for leaf, (first, count, _) in enumerate(arrays.leaves_i.tolist()):
        values[leaf, :count] = arrays.coefficients[first : first + count]
    degree = np.maximum(arrays.leaves_i[:, 2], 2)
    leaves = np.column_stack([np.arange(boxes) * (terms + added), np.full(boxes, terms + added), degree])
    return Piecewise(
        arrays._replace(
            indices=np.vstack([arrays.indices, missing]), leaves_i=leaves,
            coefficients=values.reshape(-1, fitted.outputs),
        )
    )  # fmt: skip


def _with_springs(fitted: Piecewise, passive: Passive) -> tuple[Array, Array]:
    """Return the rows of coefficients of the terms 1, T_1(ξ_i) and T_2(ξ_i) in every box, and what V_c adds to them."""
    arrays, s = fitted.arrays, fitted.dimension
    place = {tuple(row): k for k, row in enumerate(arrays.indices.tolist())}
    unit = np.eye(s, dtype=int)
    rows, added = [], []
    for (first, _, _), (middle, inverse) in zip(arrays.leaves_i.tolist(), arrays.leaves_f, strict=True):
        h, offset = 1.0 / inverse, middle - passive.center
        half = 0.5 * passive.stiffness
        rows.append(first)  # (offset + h ξ)² = offset² + 2 offset h T_1 + h² (1 + T_2) / 2
        added.append(float((half * (offset**2 + 0.5 * h**2)).sum()))
        for i in range(s):
            rows += [first + place[tuple(unit[i])], first + place[tuple(2 * unit[i])]]
            added += [float(half[i] * 2.0 * offset[i] * h[i]), float(half[i] * 0.5 * h[i] ** 2)]
    return np.array(rows), np.array(added)


def energy_drift(model: ReducedModel, passive: Passive) -> float | None:
    """Return the change of the energy in a passive run, relative to the largest kinetic energy.

    The energy of each box is defined by its own M and V, so means of the energy over the first and the last quarter of
    the run are compared. None if the run cannot be finished.
    """
    machine = passive_machine(model, passive)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyEnd)  # the result is None then
        run = machine.simulate(
            np.linspace(0.0, passive.duration, _SAMPLES), start=passive.center, rates=passive.rates, step=passive.step,
            method="explicit",
        )  # fmt: skip
    if run.reason:
        return None
    total = run.energy["total"]
    part = len(total) // _PART
    return float(abs(total[-part:].mean() - total[:part].mean()) / run.energy["kinetic"].max())
