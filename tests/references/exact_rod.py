"""The geometrically exact rod as a boundary value problem: clamped at one end, a dead force at the other."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

from supple.geometry.rotation import tilde


def tip_displacement(stiffness, length, force, curvature=(0.0, 0.0, 0.0)):
    """r' = R (e₁ + C_n⁻¹ Rᵀn),  R' = R (κ₀ + C_m⁻¹ Rᵀm)~,  m' = -r' × n, by shooting for the moment at the clamp.

    stiffness : EA, GA_y, GA_z, GJ, EI_y, EI_z; curvature : κ₀ of the unloaded rod
    """
    n, (strain, bend) = np.asarray(force, float), np.split(1.0 / np.asarray(stiffness, float), 2)
    first, initial = np.array([1.0, 0.0, 0.0]), np.asarray(curvature, float)

    def slope(_, y, n):
        R, m = y[3:12].reshape(3, 3), y[12:]
        along = R @ (first + strain * (R.T @ n))
        return np.concatenate([along, (R @ tilde(initial + bend * (R.T @ m))).ravel(), -np.cross(along, n)])

    def end(moment, n):
        begin = np.concatenate([np.zeros(3), np.eye(3).ravel(), moment])
        return solve_ivp(slope, (0.0, length), begin, args=(n,), rtol=1e-9, atol=1e-11, method="DOP853").y[:, -1]

    unloaded = end(np.zeros(3), np.zeros(3))[:3]
    moment = np.zeros(3)
    for part in (0.25, 0.5, 0.75, 1.0):  # the moment of a part of the force is a good guess of that of more
        guess = moment * part / max(part - 0.25, 0.25) if moment.any() else np.cross(unloaded, part * n)
        moment = fsolve(lambda m, n: end(m, n)[12:], guess, args=(part * n,), xtol=1e-11)
    return end(moment, n)[:3] - unloaded
