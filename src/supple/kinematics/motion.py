"""Velocities and accelerations of bodies and frames, from rates and accelerations of θ by way of the rigid modes.

V = Ψ θ̇,   V̇ = Ψ θ̈ + Σ_jk ∂_k Ψ_j θ̇_j θ̇_k      in body axes, V = (v, ω) of the body's origin
ẋ = R v,   ẍ = R (v̇ + ω × v);  of a point at r:  R (v + ω × r),  R (v̇ + ω × v + ω̇ × r + ω × (ω × r))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.compilation.bundle import native_array
from supple.diagnostics import InputError
from supple.diagnostics.arguments import real_numbers, require_arguments
from supple.geometry.vectors import cross
from supple.kinematics.configuration import Configuration
from supple.kinematics.elimination import factor, solve, workspace
from supple.kinematics.primitives import NONE, SCALE, THEN, curvature
from supple.kinematics.row_arrays import row_sizes
from supple.results.result import arrays_repr, brief

# Rigid modes Ψ = ∂q/∂θ and their derivatives with respect to θ, at one position.
#
#     [Φ_q; A] Ψ_j = (0, e_j)                              rigid modes          [Brüls 2004, eq. 11]
#     [Φ_q; A] ∂_k Ψ_j = -(∂_k[Φ_q; A]) Ψ_j                their derivatives, from the same factorisation
#
# in velocities of the bodies, body axes. These are not derivatives of coordinates: ∂_k Ψ_j and ∂_j Ψ_k differ by a Lie
# bracket. Half of them are solved for, the other half follow; both are kept.


@kernel
def world_twists(rows, X, Psi, count, twists):
    """Transform velocities from body axes to twists (v, ω) in world axes: twists (bodies + 1, count, 6)."""
    sizes, column = row_sizes(rows), rows.column
    nb, d = sizes.bodies, sizes.width
    local = np.zeros(6)
    for j in range(count):
        for k in range(6):
            twists[nb, j, k] = 0.0
    for b in range(nb):
        for j in range(count):
            for c in range(d):
                local[column[c]] = Psi[b, c, j]
            for half in range(2):
                for r in range(3):
                    twists[b, j, 3 * half + r] = (
                        X[b, 3 + 3 * r] * local[3 * half]
                        + X[b, 4 + 3 * r] * local[3 * half + 1]
                        + X[b, 5 + 3 * r] * local[3 * half + 2]
                    )


@kernel(purpose="rigid motions at rest")
def rigid_modes(rows, selected, X, work, Psi, dPsi, twists):
    """Compute Ψ (bodies + 1, d, s), ∂_k Ψ_j in dPsi (bodies + 1, d, s * s) at j * s + k, and Ψ in world axes.

    Returns (whether the rows determine the motion, sign of their determinant).
    """
    sizes, rows_i, rows_f = row_sizes(rows), rows.rows_i, rows.rows_f
    mc, s = sizes.joint_rows, sizes.coordinates
    regular, sign = factor(rows, selected, X, work)
    if not regular:
        return False, sign
    pairs = s * (s + 1) // 2
    g = np.empty((mc + s, pairs))
    rho = np.zeros((mc + s, s))
    for j in range(s):
        rho[mc + j, j] = 1.0 / rows_f[mc + j, SCALE]
    solve(rows, work, rho, s, Psi, g)
    lengths(rows, Psi, s)
    world_twists(rows, X, Psi, s, twists)
    h = np.empty((s, s))
    scratch = np.empty((2 * s, 13))
    bends = np.zeros((mc + s, pairs))
    for i in range(mc + s):
        inverse = -1.0 / rows_f[i, SCALE]
        term = i
        while term != NONE:
            curvature(rows_i, rows_f, term, X, twists, s, scratch, h)
            pair = 0
            for j in range(s):
                for k in range(j, s):
                    bends[i, pair] += inverse * h[j, k]
                    pair += 1
            term = rows_i[term, THEN]
    half = np.empty((sizes.bodies + 1, sizes.width, pairs))
    solve(rows, work, bends, pairs, half, g)
    lengths(rows, half, pairs)
    both_orders(rows, Psi, half, dPsi)
    return True, sign


@kernel
def both_orders(rows, Psi, half, dPsi):
    """Compute ∂_k Ψ_j for all j, k from those with k >= j; the others follow from the Lie bracket.

    Mixed derivatives of x and R commute, and so
    ∂_k v_j - ∂_j v_k = ω_j × v_k - ω_k × v_j,   ∂_k ω_j - ∂_j ω_k = ω_j × ω_k.
    """
    sizes, column = row_sizes(rows), rows.column
    nb, d, s = sizes.bodies, sizes.width, sizes.coordinates
    first = np.zeros(6)
    second = np.zeros(6)
    for b in range(nb):
        pair = 0
        for j in range(s):
            for c in range(d):
                first[column[c]] = Psi[b, c, j]
            vj, wj = (first[0], first[1], first[2]), (first[3], first[4], first[5])
            for k in range(j, s):
                for c in range(d):
                    second[column[c]] = Psi[b, c, k]
                vk, wk = (second[0], second[1], second[2]), (second[3], second[4], second[5])
                jk, kj, turn = cross(wj, vk), cross(wk, vj), cross(wj, wk)
                bracket = (jk[0] - kj[0], jk[1] - kj[1], jk[2] - kj[2], turn[0], turn[1], turn[2])
                for c in range(d):
                    dPsi[b, c, j * s + k] = half[b, c, pair]
                    if k > j:
                        dPsi[b, c, k * s + j] = half[b, c, pair] - bracket[column[c]]
                pair += 1


@kernel
def lengths(rows, x, count):
    """Convert scaled displacements back to metres, in place."""
    sizes, column, extent = row_sizes(rows), rows.column, rows.extent
    for b in range(sizes.bodies):
        for c in range(sizes.width):
            if column[c] < 3:
                for j in range(count):
                    x[b, c, j] *= extent


# Motion of bodies and frames.


class FrameMotion(NamedTuple):
    """Velocity and acceleration of a frame in the world: each (..., 3), in m/s, rad/s, m/s² and rad/s²."""

    velocity: Array
    angular_velocity: Array
    acceleration: Array
    angular_acceleration: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


@dataclass(frozen=True, eq=False, repr=False)
class BodyRates:
    """Velocities and accelerations of all bodies, returned by `motion`.

    Attributes
    ----------
    configuration : Configuration
        Configuration of the mechanism.
    V, dV : ndarray, shape (..., bodies + 1, 6)
        Velocity (v, ω) of each body's origin in its own axes, and its time derivative; the ground comes last. Units
        m/s, rad/s, m/s² and rad/s².
    """

    configuration: Configuration
    V: Array
    dV: Array

    def __repr__(self) -> str:
        return brief("Motion", f"of {self.configuration!r}")

    def frame(self, name: str) -> FrameMotion:
        """Return the motion of a named point in world axes.

        Parameters
        ----------
        name : str
            Body, frame, `body.point`, or point of a joint.

        Returns
        -------
        FrameMotion
            Velocity, angular velocity, acceleration and angular acceleration, each of shape (..., 3).
        """
        body, r, _ = self.configuration.rest.numbering.place(name)
        v, w = self.V[..., body, :3], self.V[..., body, 3:]
        dv, dw = self.dV[..., body, :3], self.dV[..., body, 3:]
        velocity = v + np.cross(w, r)
        acceleration = dv + np.cross(w, v) + np.cross(dw, r) + np.cross(w, np.cross(w, r))
        X = self.configuration.X[..., body, 3:]
        R = self.configuration.mechanism.plane_axes() @ X.reshape(*X.shape[:-1], 3, 3)
        return FrameMotion(*(np.einsum("...ij,...j->...i", R, part) for part in (velocity, w, acceleration, dw)))


def motion(configuration: Configuration, rates: ArrayLike, accelerations: ArrayLike | None = None) -> BodyRates:
    """Compute the velocities and accelerations of all bodies from those of the coordinates.

    Parameters
    ----------
    configuration : Configuration
        Configuration of the mechanism, or a batch of N.
    rates : array_like, shape (s,) or (N, s)
        Rates of the coordinates, θ̇, rad/s or m/s.
    accelerations : array_like, shape (s,) or (N, s), optional
        Accelerations of the coordinates, θ̈, rad/s² or m/s². Default: 0.

    Returns
    -------
    BodyRates
        Velocities and accelerations of the bodies; its method `frame` returns those of a named point.

    Raises
    ------
    InputError
        If the configuration is singular, so that θ̇ does not determine the velocities.

    See Also
    --------
    assemble : Assemble a mechanism at a posture.
    simulate : Motion of a mechanism over time.

    Notes
    -----
    V = Ψ θ̇ and V̇ = Ψ θ̈ + Σ_jk ∂_k Ψ_j θ̇_j θ̇_k with the rigid modes Ψ = ∂q/∂θ, [Φ_q; A] Ψ_j = (0, e_j)
    [Brüls 2004, eq. 11]. Elastic bodies move as rigid ones.

    Examples
    --------
    >>> import supple
    >>> arm = supple.assemble(supple.load("four-bar"), "home")
    >>> tip = supple.motion(arm, rates=[1.0]).frame("E")
    >>> tip.velocity.round(3)
    array([0.52 , 0.   , 0.459])
    """
    require_arguments(motion, locals())
    theta = configuration.theta
    first = _for_each("rates", rates, theta)
    second = _for_each("accelerations", 0.0 if accelerations is None else accelerations, theta)
    rest = configuration.rest
    X = np.ascontiguousarray(configuration.X.reshape(-1, *configuration.X.shape[-2:]))
    V, dV = np.zeros((len(X), len(X[0]), 6)), np.zeros((len(X), len(X[0]), 6))
    s = theta.shape[-1]
    regular = compile_kernel(motion_batch, count=len(X))(
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
            "velocities are not determined: the configuration is singular",
            part=f'mechanism "{configuration.mechanism.name}"',
            hint="choose a configuration away from the singularity",
        )
    lead = theta.shape[:-1]
    return BodyRates(configuration, V.reshape(*lead, *V.shape[1:]), dV.reshape(*lead, *dV.shape[1:]))


def _for_each(part: str, values: ArrayLike, theta: Array) -> Array:
    """Return finite values in the shape of θ."""
    found = real_numbers(part, values)
    try:
        return np.broadcast_to(found, theta.shape)
    except ValueError:
        raise InputError(f"the shape is {found.shape}", part=part, hint=f"give the shape of θ, {theta.shape}") from None


@kernel(purpose="velocities of bodies")
def motion_batch(rows, selected, X_all, rates, accelerations, V, dV):
    """Compute body velocities and their rates at every position; returns whether all are determined."""
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
