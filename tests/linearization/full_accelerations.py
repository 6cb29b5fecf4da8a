"""Accelerations of θ by other ways than the linearization's, and their differences."""

from __future__ import annotations

import numpy as np

import supple
from supple.formulations.absolute.instant import centre_motion, instant
from supple.formulations.absolute.system import absolute


def dae_accelerations(mechanism, theta, rates, u, friction_speed=1e-3):
    """θ̈ (s,) from the equations of all bodies with multipliers, in absolute coordinates."""
    here = supple.assemble(mechanism, theta[None])
    problem = absolute(here.rest, friction_speed=friction_speed, rigid=True)
    X, V, still = centre_motion(problem, supple.motion(here, rates[None]))
    found = instant(problem, X, V, np.ascontiguousarray(here.w), u[None], np.zeros((1, 0))).acceleration
    # The bodies' accelerations are affine in θ̈.
    columns = [centre_motion(problem, supple.motion(here, rates[None], e[None]))[2] - still for e in np.eye(len(theta))]
    return np.linalg.lstsq(np.array([item.ravel() for item in columns]).T, (found - still).ravel(), rcond=None)[0]


def local_accelerations(mechanism, theta, rates, u):
    """θ̈ (s,) from the coefficients of the local model."""
    model = supple.local(mechanism, theta, rigid=True)
    force = model.force + model.input_map @ u - model.damping @ rates
    force -= np.einsum("ijk,j,k->i", model.christoffel, rates, rates)
    limit = np.array([*model.dry_forces.values()])
    force -= model.friction_map.T @ (limit * np.tanh(model.friction_map @ rates / 1e-3))
    return np.linalg.solve(model.M, force)


def differences(accelerations, theta, rates, u, step=1e-3):
    """∂θ̈/∂θ, ∂θ̈/∂θ̇, ∂θ̈/∂u by central differences of sixth order: the step is long, so that rounding counts little."""
    found = []
    for number, values in enumerate((theta, rates, u)):
        columns = []
        for direction in np.eye(len(values)):
            total = 0.0
            for k, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
                both = []
                for sign in (1.0, -1.0):
                    state = [theta, rates, u]
                    state[number] = values + sign * k * step * direction
                    both.append(accelerations(*state))
                total = total + weight * (both[0] - both[1])
            columns.append(total / (60.0 * step))
        found.append(np.array(columns).T.reshape(len(theta), len(values)))
    return found
