"""Outputs that shall follow a path, as functions of θ and δ: as many as there are coordinates θ.

    y = ρ_o(θ) + Ψ_o(θ) δ,   J = ∂y/∂θ

What θ must do so that y, ẏ and ÿ are what is wanted while δ, δ̇ and δ̈ are given follows order by order, in a few sweeps
with J. Values, rates and accelerations of k functions at N instants are one array (3, N, k).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, NumericalError, nearest
from supple.reduced.model import ReducedModel
from supple.reduced.observed import ObservedMotion, measures_along
from supple.results.names import listed

_SWEEPS = 40
_CLOSED = 1e-11  # of the largest coordinate: a change that is rounding


class LedOutputs:
    """Some outputs of a model, s of them."""

    def __init__(self, model: ReducedModel, outputs: str | Sequence[str] | None):
        if model.layout.size == model.layout.theta:
            raise InputError(
                "it does not deform: its outputs follow the path of the motion itself", part=f'model "{model.name}"',
                hint="reduce the mechanism with internal_modes=, or take the motion as it is",
            )  # fmt: skip
        self.model = model
        self.names = _chosen(model, outputs)
        observed = model.labels.observed
        self._numbers = np.array([number for name in self.names if (number := observed.measure_of(name)) is not None])

    def along(self, theta: Array, delta: Array) -> Array:
        """y, ẏ, ÿ (3, N, s)."""
        eta, v, a = np.concatenate([theta, delta], axis=2)
        found = measures_along(self.model, ObservedMotion(eta, v, a, np.zeros((len(eta), 0)), 1.0))
        return np.stack([np.asarray(part, dtype=float) for part in found])[..., self._numbers]

    def slopes(self, theta: Array, delta: Array) -> Array:
        """∂y/∂θ (N, s, s) at θ (N, s) and δ (N, m): rates of the outputs with one coordinate moving at a time."""
        moving, bent = constant_motion(theta), constant_motion(delta)
        columns = []
        for unit in np.eye(theta.shape[1]):
            moving[1] = unit
            columns.append(self.along(moving, bent)[1])
        J = np.stack(columns, axis=-1)
        if not (np.linalg.cond(J) < 1e8).all():
            raise InputError(
                f"{listed(self.names)} cannot be led there by {listed(self.model.layout.coordinates[: J.shape[-1]])}: "
                "the configuration is singular", part=f'model "{self.model.name}"', hint="keep the path away from it",
            )  # fmt: skip
        return J

    def closer(self, theta: Array, wanted: Array, delta: Array, J: Array) -> tuple[Array, float]:
        """One sweep towards θ, θ̇, θ̈ (3, N, s) with which the outputs are as wanted, and how far it moved θ."""
        steps = np.linalg.solve(J, (wanted - self.along(theta, delta))[..., None])[..., 0]
        return theta + steps, float(np.abs(steps[0]).max())

    def leading(self, wanted: Array, delta: Array, guess: Array) -> Array:
        """θ, θ̇, θ̈ (3, N, s) with which the outputs are as wanted."""
        theta, last, J = guess, np.inf, self.slopes(guess[0], delta[0])
        size = np.abs(theta[0]).max() + np.abs(wanted[0]).max()
        for _ in range(_SWEEPS):
            theta, moved = self.closer(theta, wanted, delta, J)
            if moved <= _CLOSED * size:
                return theta
            if not np.isfinite(moved) or moved > 10.0 * last:
                break
            last = moved
        raise NumericalError(
            f"no coordinates were found that lead {listed(self.names)} along the path",
            part=f'model "{self.model.name}"', hint="keep the path within reach, and away from singular configurations",
        )  # fmt: skip


def constant_motion(values: Array) -> Array:
    """Values (N, k) that do not change, with their rates and accelerations, (3, N, k)."""
    return np.stack([values, np.zeros_like(values), np.zeros_like(values)])


def position_outputs(model: ReducedModel, given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of outputs that are positions (measures as they stand): a sensor's name stands for all of its own, None for
    all there are."""
    observed = model.labels.observed
    known = [name for name in model.labels.outputs if observed.measure_of(name) is not None]
    if given is None:
        return tuple(known)
    found: list[str] = []
    for name in (given,) if isinstance(given, str) else given:
        of_sensor = [item for item in known if item == name or item.startswith(f"{name}.")]
        if not of_sensor:
            raise InputError(
                f'it has no output "{name}" that is a position', part=f'model "{model.name}"', hint=nearest(name, known)
            )
        found += of_sensor
    return tuple(found)


def _chosen(model: ReducedModel, outputs: str | Sequence[str] | None) -> tuple[str, ...]:
    s, names = model.layout.theta, position_outputs(model, outputs)
    if len(names) != s or len(set(names)) != s:
        raise InputError(
            f"{len(names)} outputs are to be led, {listed(names)}, and {s} coordinates lead {s}",
            part=f'model "{model.name}"', hint=f"choose {s} positions: outputs=[...], or the name of a sensor",
        )  # fmt: skip
    return names
