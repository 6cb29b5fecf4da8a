"""Velocities and accelerations of bodies and frames, from rates and accelerations of θ.

V = Ψ θ̇,   V̇ = Ψ θ̈ + Σ_jk ∂_k Ψ_j θ̇_j θ̇_k      in body axes, V = (v, ω) of the body's origin
ẋ = R v,   ẍ = R (v̇ + ω × v),  and of a point at r:  R (v + ω × r),  R (v̇ + ω × v + ω̇ × r + ω × (ω × r))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.compilation import compiled, kernel
from supple.compilation.native_array import native_array
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers, require_arguments
from supple.kinematics.configuration import Configuration
from supple.kinematics.elimination import workspace
from supple.kinematics.rigid_modes import rigid_modes
from supple.kinematics.row_arrays import row_sizes
from supple.results.result import arrays_repr, brief


class FrameMotion(NamedTuple):
    """Motion of a frame in the world: each (..., 3), m/s, rad/s, m/s², rad/s²."""

    velocity: Array
    angular_velocity: Array
    acceleration: Array
    angular_acceleration: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


@dataclass(frozen=True, eq=False, repr=False)
class BodyRates:
    """Rates and accelerations of every body, in its own axes: (..., bodies + 1, 6), the ground last."""

    configuration: Configuration
    V: Array
    dV: Array

    def __repr__(self) -> str:
        return brief("Motion", f"of {self.configuration!r}")

    def frame(self, name: str) -> FrameMotion:
        """How a body's origin, a frame, `body.point` or a joint's point moves, in world axes."""
        body, r, _ = self.configuration.rest.numbering.place(name)
        v, w = self.V[..., body, :3], self.V[..., body, 3:]
        dv, dw = self.dV[..., body, :3], self.dV[..., body, 3:]
        velocity = v + np.cross(w, r)
        acceleration = dv + np.cross(w, v) + np.cross(dw, r) + np.cross(w, np.cross(w, r))
        X = self.configuration.X[..., body, 3:]
        R = self.configuration.mechanism.plane_axes() @ X.reshape(*X.shape[:-1], 3, 3)
        return FrameMotion(*(np.einsum("...ij,...j->...i", R, part) for part in (velocity, w, acceleration, dw)))


def motion(configuration: Configuration, rates: ArrayLike, accelerations: ArrayLike | None = None) -> BodyRates:
    """How everything moves when θ moves.

    rates, accelerations : (s,), or (N, s) for a batch of configurations; accelerations are zero if left out
    """
    require_arguments(motion, locals())
    theta = configuration.theta
    first = _for_each("rates", rates, theta)
    second = _for_each("accelerations", 0.0 if accelerations is None else accelerations, theta)
    rest = configuration.rest
    X = np.ascontiguousarray(configuration.X.reshape(-1, *configuration.X.shape[-2:]))
    V, dV = np.zeros((len(X), len(X[0]), 6)), np.zeros((len(X), len(X[0]), 6))
    s = theta.shape[-1]
    regular = compiled(motion_batch, count=len(X))(
        rest.numbering.arrays,
        rest.selected,
        X,
        native_array(first.reshape(-1, s)),
        native_array(second.reshape(-1, s)),
        V,
        dV,
    )
    if not regular:
        raise InputError(
            "velocities are not determined at a singular configuration",
            part=f'mechanism "{configuration.mechanism.name}"',
            hint="choose a configuration away from it",
        )
    lead = theta.shape[:-1]
    return BodyRates(configuration, V.reshape(*lead, *V.shape[1:]), dV.reshape(*lead, *dV.shape[1:]))


def _for_each(part: str, values: ArrayLike, theta: Array) -> Array:
    """Finite values in the shape of θ."""
    found = real_numbers(part, values)
    try:
        return np.broadcast_to(found, theta.shape)
    except ValueError:
        raise InputError(
            f"has the shape {found.shape}", part=part, hint=f"give the shape of θ, {theta.shape}"
        ) from None


@kernel(purpose="velocities of bodies")
def motion_batch(rows, selected, X_all, rates, accelerations, V, dV):
    """Body velocities and their rates at every position; returns whether all are determined."""
    sizes, column = row_sizes(rows), rows.column
    nb, d, s = sizes.bodies, sizes.width, sizes.coordinates
    work = workspace(rows)
    Psi = np.zeros((nb + 1, d, s))
    dPsi = np.zeros((nb + 1, d, s * s))
    twists = np.zeros((nb + 1, s, 6))
    for n in range(X_all.shape[0]):
        regular, _ = rigid_modes(rows, selected, X_all[n], work, Psi, dPsi, twists)
        if not regular:
            return False
        for b in range(nb):
            for c in range(d):
                for j in range(s):
                    V[n, b, column[c]] += Psi[b, c, j] * rates[n, j]
                    dV[n, b, column[c]] += Psi[b, c, j] * accelerations[n, j]
                    for k in range(s):
                        dV[n, b, column[c]] += dPsi[b, c, j * s + k] * rates[n, j] * rates[n, k]
    return True
