"""Deformation of a reduced model whose coordinates θ are led along a course: the rows of δ alone are left to solve.

    M_δδ δ̈ = -[M_δθ θ̈ + Γ[η̇, η̇] + D_d η̇ + K η - p]_δ,     Q_θ = [M η̈ + Γ[η̇, η̇] + D_d η̇ + K η - p]_θ

Q_θ is what keeps θ on its course. Quasi-statically δ̇ = δ̈ = 0, and δ balances the inertia of θ and the loads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.interpolate import BPoly

from supple.diagnostics import InputError, NumericalError
from supple.reduced.time.trajectories import Trajectories
from supple.results.signals import Signals

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel

Array = NDArray[np.float64]

_TOLERANCE = 1e-9  # of a step, of the largest quasi-static deformation
_ITERATIONS = 50
_SETTLED = 1e-12  # of the largest deformation: the last change


class Led(Protocol):
    """A course of θ: time (N,) s; theta, rates, accelerations (N, s) in the order of the model's coordinates."""

    @property
    def coordinates(self) -> tuple[str, ...]: ...
    @property
    def time(self) -> Array: ...
    @property
    def theta(self) -> Array: ...
    @property
    def rates(self) -> Array: ...
    @property
    def accelerations(self) -> Array: ...


def quasi_static(model: ReducedModel, theta: Array, rates: Array, accelerations: Array) -> Array:
    """δ (N, n - s) at θ, θ̇, θ̈ (N, s) with δ̇ = δ̈ = 0, by iteration with K: inertia changes little with δ."""
    s, n = model.layout.theta, model.layout.size
    v, a = (np.hstack([part, np.zeros((len(theta), n - s))]) for part in (rates, accelerations))
    delta = np.zeros((len(theta), n - s))
    K = model.evaluate(theta).K[:, s:, s:]
    last = np.inf
    for _ in range(_ITERATIONS):
        left = model.inverse(theta, v, a, delta=delta)[:, s:]
        change = np.linalg.solve(K, left[..., None])[..., 0]
        delta = delta - change
        size = float(np.abs(change).max())
        if size <= _SETTLED * float(np.abs(delta).max()) or size == 0.0:
            return delta
        if not size < last:
            break
        last = size
    if size <= 1e-9 * float(np.abs(delta).max()):  # rounding stands in the way of more
        return delta
    raise NumericalError(
        "its deformation under the inertia of the motion was not found: it moves too fast for its stiffness",
        part=f'model "{model.name}"', hint="move more slowly, or simulate it along the motion",
    )  # fmt: skip


def led_motion(model: ReducedModel, course: Led, *, tolerance: float | None = None) -> Trajectories:
    """θ as the course says, δ free: from where it rests at the start, integrated to the tolerance (Dormand-Prince, 8).

    `driving_forces` of the result are Q_θ, N or N m along each coordinate.
    """
    layout = model.layout
    s, n = layout.theta, layout.size
    if course.coordinates != layout.coordinates[:s]:
        raise InputError(
            f"it moves {', '.join(course.coordinates)}, and the model has {', '.join(layout.coordinates[:s])}",
            part="motion", hint="make it for this model",
        )  # fmt: skip
    time = np.asarray(course.time, dtype=float)
    model.evaluate(course.theta)  # says so where the motion leaves the region
    eta, v, a = (
        np.hstack([part, np.zeros((len(time), n - s))]) for part in (course.theta, course.rates, course.accelerations)
    )
    steps = 0
    if n > s and len(time) > 1:
        eta[:, s:], v[:, s:], a[:, s:], steps = _followed(model, course, time, tolerance or _TOLERANCE)
    outputs, energy = model.observe(eta, v)
    forces = model.inverse(eta[:, :s], v, a, delta=eta[:, s:] if n > s else None)[:, :s]

    def signals(names: tuple[str, ...], values: Array, units: Mapping[str, str]) -> Signals:
        return Signals(time, {name: values[:, i] for i, name in enumerate(names)}, dict(units))

    energies = {"kinetic": energy[:, 0]}
    if np.isfinite(energy[:, 1]).all():
        energies |= {"potential": energy[:, 1], "total": energy.sum(axis=1)}
    return Trajectories(
        time,
        signals(layout.coordinates, eta, model.units.coordinates),
        signals(layout.coordinates, v, model.units.rates),
        signals(layout.coordinates, a, model.units.accelerations),
        signals(layout.outputs, outputs, model.units.outputs),
        Signals(time, {}),
        Signals(time, energies, dict.fromkeys(energies, "J")),
        steps=steps,
        driving_forces=signals(layout.coordinates[:s], forces, model.units.forces),
    )  # fmt: skip


def _followed(model: ReducedModel, course: Led, time: Array, tolerance: float) -> tuple[Array, Array, Array, int]:
    """δ, δ̇, δ̈ (N, n - s) at the times, and how many steps it took."""
    s, n = model.layout.theta, model.layout.size
    m = n - s
    ends = np.stack([course.theta, course.rates, course.accelerations], axis=1)
    pieces = BPoly.from_derivatives(time, ends)
    slopes = (pieces, pieces.derivative(1), pieces.derivative(2))
    units = np.vstack([np.zeros(m), np.eye(m)])

    def acceleration(t: float, delta: Array, rate: Array) -> Array:
        theta, v, a = (np.asarray(part(t)) for part in slopes)
        # Affine in δ̈: once without it, once for each, whatever M depends on.
        tau = model.inverse(
            np.tile(theta, (m + 1, 1)), np.tile(np.append(v, rate), (m + 1, 1)),
            np.hstack([np.tile(a, (m + 1, 1)), units]), delta=np.tile(delta, (m + 1, 1)),
        )[:, s:]  # fmt: skip
        return np.asarray(-np.linalg.solve((tau[1:] - tau[0]).T, tau[0]))

    def slope(t: float, state: Array) -> Array:
        return np.concatenate([state[m:], acceleration(t, state[:m], state[m:])])

    still = np.zeros((len(time), s))
    typical = np.abs(quasi_static(model, course.theta, still, still)).max(axis=0)
    typical = np.maximum(typical, np.abs(quasi_static(model, *_parts(course))).max(axis=0))
    typical = np.maximum(typical, max(1e-6 * float(typical.max()), 1e-12))
    c = model.evaluate(course.theta[0])
    fast = np.sqrt(np.maximum(np.diag(c.K)[s:] / np.diag(c.M)[s:], 1e-12))
    start = quasi_static(model, course.theta[:1], still[:1], still[:1])[0]
    found = solve_ivp(
        slope, (time[0], time[-1]), np.concatenate([start, np.zeros(m)]), method="DOP853", t_eval=time,
        rtol=tolerance, atol=tolerance * np.concatenate([typical, typical * fast]),
    )  # fmt: skip
    if not found.success:
        raise NumericalError(
            f"its deformation cannot be followed beyond {found.t[-1]:.6g} s: {found.message}",
            part=f'model "{model.name}"', hint="check the motion for jumps, or give a larger tolerance",
        )  # fmt: skip
    states = found.y.T
    accelerations = np.array([acceleration(float(t), y[:m], y[m:]) for t, y in zip(time, states, strict=True)])
    return states[:, :m], states[:, m:], accelerations, int(found.nfev) // 12


def _parts(course: Led) -> tuple[Array, Array, Array]:
    return course.theta, course.rates, course.accelerations
