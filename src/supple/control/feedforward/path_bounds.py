"""What bounds along a path ask of z = σ̇² at its nodes: linear rows.

    θ̇ = θ' √z,   θ̈ = θ' a + θ'' z,   θ⃛ = √z (θ' a' + 3 θ'' a + θ''' z),   a = σ̈ = z'/2
    B u = m a + c z + d √z + g,   m = M θ',  c = M θ'' + Γ[θ', θ'],  d = D θ'

Between nodes a is constant, a = (z_{i+1} - z_i)/2Δσ; accelerations and forces are bounded at the middles, jerks at the
nodes. What is not linear is taken at z̄, the last solution, from the side that is allowed: 1/√z from below for jerks, so
that a solution that keeps the rows keeps the bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.sparse import csr_array, vstack

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.equations.coefficients import EquationsOfMotion
from supple.formats.model_description import described
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel


@dataclass(frozen=True, eq=False)
class Bounds:
    """velocity, acceleration, jerk : (s,), inf where there is none; forces : least and largest (a, 2), or None."""

    velocity: Array
    acceleration: Array
    jerk: Array
    forces: Array | None = None


def equations_at(of: Mechanism | ReducedModel, theta: Array) -> EquationsOfMotion:
    """At θ (N, s), elastic parts as if they were rigid (of a flexible model, at δ = 0)."""
    points = np.ascontiguousarray(theta)
    return of.evaluate(points) if isinstance(of, ReducedModel) else local(of, points, rigid=True)


def required(here: EquationsOfMotion, rates: Array, accelerations: Array) -> Array:
    """Forces along θ (N, s) but for dry friction."""
    s, n = rates.shape[1], len(here.coordinates)
    v, a = (np.hstack([part, np.zeros((len(part), n - s))]) for part in (rates, accelerations))
    return here.required_forces(v, a)[:, :s]


class PathRows:
    """The rows of one piece of a path, at nodes σ (N + 1,)."""

    def __init__(self, curve: BSpline, nodes: Array, bounds: Bounds, of: Mechanism | ReducedModel):
        self.nodes, self.bounds, self.curve = nodes, bounds, curve
        self.width = np.diff(nodes)
        self.ease = np.ones(len(nodes))  # by which bounds on jerks are tightened where steps are too coarse for them
        self.middle = 0.5 * (nodes[:-1] + nodes[1:])
        count = len(nodes)
        i = np.arange(count - 1)
        half = 0.5 / self.width
        self._a = csr_array((np.r_[-half, half], (np.r_[i, i], np.r_[i, i + 1])), shape=(count - 1, count))
        self._z = csr_array((np.full(2 * count - 2, 0.5), (np.r_[i, i], np.r_[i, i + 1])), shape=(count - 1, count))
        if bounds.forces is not None:
            self._forces(of)

    def _forces(self, of: Mechanism | ReducedModel) -> None:
        """m, c, d, g (N, s) and B (N, s, a) at the middles, from required forces at three states."""
        theta, first, second = (self.curve(self.middle, k) for k in range(3))
        here, none = equations_at(of, theta), np.zeros_like(theta)
        g = required(here, none, none)
        m = required(here, none, first) - g
        forth, back = required(here, first, second) - g, required(here, -first, second) - g
        s = theta.shape[1]
        self.force_parts = (m, 0.5 * (forth + back), 0.5 * (forth - back), g)
        self.input_map = here.input_map[:, :s]

    def largest(self) -> Array:
        """z (N + 1,) that the velocities allow; beside the ends also the jerk: σ = j t³/6, z = ¼ j² (6 σ/j)^(4/3)."""
        first = np.abs(self.curve(self.nodes, 1))
        with np.errstate(divide="ignore"):
            z = ((self.bounds.velocity / first) ** 2).min(axis=1)
            for end, beside in ((0, 1), (-1, -2)):
                j = float((self.bounds.jerk / first[end]).min() * self.ease[beside])
                if np.isfinite(j):
                    way = abs(self.nodes[beside] - self.nodes[end])
                    z[beside] = min(z[beside], 0.25 * j**2 * (6.0 * way / j) ** (4.0 / 3.0))
        return np.asarray(z)

    def accelerations(self) -> tuple[csr_array, Array]:
        """Rows A with A z ≤ b."""
        rows, right = [], []
        first, second = self.curve(self.middle, 1), self.curve(self.middle, 2)
        for i, bound in enumerate(self.bounds.acceleration):
            if np.isfinite(bound):
                row = _times(first[:, i], self._a) + _times(second[:, i], self._z)
                rows += [row, -row]
                right += [np.full(len(self.middle), bound)] * 2
        return _stacked(rows, right, len(self.nodes))

    def jerks(self, near: Array) -> tuple[csr_array, Array]:
        """θ' a' + 3 θ'' a + θ''' z ≤ J/√z, whose right side lies above its tangent (3 - z/z̄) J/2√z̄."""
        inner = np.arange(1, len(self.nodes) - 1)
        first, second, third = (self.curve(self.nodes[inner], k) for k in (1, 2, 3))
        apart = np.diff(self.middle)
        after, before = self._a[inner], self._a[inner - 1]
        change, mean = _times(1.0 / apart, after - before), 0.5 * (after + before)
        here = csr_array((np.ones(len(inner)), (np.arange(len(inner)), inner)), shape=(len(inner), len(self.nodes)))
        root = np.sqrt(near[inner])
        rows, right = [], []
        for i, bound in enumerate(self.bounds.jerk):
            if np.isfinite(bound):
                row = _times(first[:, i], change) + _times(3.0 * second[:, i], mean) + _times(third[:, i], here)
                most = bound * self.ease[inner]
                tangent = _times(0.5 * most / near[inner], here)
                rows += [_times(root, row) + tangent, -_times(root, row) + tangent]
                right += [1.5 * most] * 2
        return _stacked(rows, right, len(self.nodes))

    def forces(self, near: Array) -> tuple[csr_array, csr_array, Array]:
        """Rows P, Q with P z + Q u = r, u (N a,): at each middle, d √z by its tangent."""
        m, c, d, g = self.force_parts
        root = np.sqrt(np.maximum(self._z @ near, 1e-300))
        N, s, a = self.input_map.shape
        P = vstack(
            [_times(m[:, i], self._a) + _times(c[:, i] + 0.5 * d[:, i] / root, self._z) for i in range(s)]
        ).tocsr()
        k = np.arange(N)
        Q = vstack(
            [
                csr_array(
                    (-self.input_map[:, i].ravel(), (np.repeat(k, a), (k[:, None] * a + np.arange(a)).ravel())),
                    shape=(N, N * a),
                )
                for i in range(s)
            ]
        ).tocsr()
        return P, Q, -(g + 0.5 * d * root[:, None]).T.ravel()


def force_limits(of: Mechanism | ReducedModel, given: bool | Mapping[str, tuple[float, float]]) -> Array | None:
    """(a, 2), of the inputs in their order; None if none has any."""
    if given is False:
        return None
    mechanism = described(of) if isinstance(of, ReducedModel) else of
    names = of.layout.inputs if isinstance(of, ReducedModel) else tuple(of.actuators)
    limits = {name: one.force_limits for name, one in mechanism.actuators.items()}
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise InputError(f'there is no actuator "{name}"', part="forces", hint=nearest(name, names))
        limits = dict(given)
    found = np.array([limits.get(name) or (-np.inf, np.inf) for name in names], dtype=float)
    if not (found[:, 0] <= found[:, 1]).all():
        raise InputError("a least force is above the largest", part="forces", hint="give (least, largest)")
    return found if np.isfinite(found).any() else None


def _times(factors: Array, rows: csr_array) -> csr_array:
    """Each row by its factor."""
    return csr_array(rows.multiply(np.asarray(factors)[:, None]))


def _stacked(rows: list[csr_array], right: list[Array], width: int) -> tuple[csr_array, Array]:
    if not rows:
        return csr_array((0, width)), np.zeros(0)
    return csr_array(vstack(rows)), np.concatenate(right)
