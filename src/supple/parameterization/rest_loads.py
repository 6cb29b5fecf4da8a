"""Rows of local models with the geometric stiffness of the loads at rest: K_g in K_δδ, and its slope.

    K_δδ ∋ Ψ_δ K_g Ψ_δᵀ,    ∂_k(Ψ_δ K_g Ψ_δᵀ) = Ψ_δ ∂_kK_g Ψ_δᵀ + ∂_kΨ_δ K_g Ψ_δᵀ + Ψ_δ K_g ∂_kΨ_δᵀ

∂_kK_g is computed by central differences at neighbouring configurations, accurate to 1e-8 (docs/theory/elastic-rest.md,
14b). The damping model has been applied before: loads do not damp.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.compilation.threads import in_parts
from supple.equations.row import RowLayout
from supple.formulations.elastic_rest.loads import carries_loads
from supple.formulations.elastic_rest.preload import batch_row_forces
from supple.formulations.elastic_rest.stiffening_kernels import (
    apply_geometric_stiffness,
    geometric_stiffness,
    load_forms,
    no_stiffness,
)
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.parameterization.internal_modes import DONE, SINGULAR
from supple.parameterization.modal_coefficients import ModalRows
from supple.parameterization.modal_parameterization import ModalParameterization

STEP = 1e-4  # step of θ, rad, or fraction of the mechanism's size: the error of differences is its square


class NeighbourPositions(NamedTuple):
    """Data of N positions, each followed by the positions before and after it along each θ.

    X, row_forces : (N, 1 + 2s, ...) poses, and λ at rest
    steps         : (s,) of θ; empty without slopes, with s = 0 throughout
    modes         : (N, d, z) Ψ_δ; slopes (N, s, d, z)
    """

    X: Array
    row_forces: Array
    steps: Array
    modes: Array
    slopes: Array


@kernel(purpose="stiffness of loads over modes")
def stiffness_over_modes(rest, forms, around, K, dK):
    """Compute K (N, d, d) and dK (N, s, d, d) of the loads over the modes."""
    geometric = no_stiffness(rest, forms)
    s = around.steps.shape[0]
    for p in range(K.shape[0]):
        Psi = np.ascontiguousarray(around.modes[p])
        Pt = np.ascontiguousarray(Psi.T)
        for i in range(1 + 2 * s):
            geometric_stiffness(rest, forms, around.X[p, i], around.row_forces[p, i], geometric)
            pushed = apply_geometric_stiffness(rest, forms, geometric, Psi)
            found = np.dot(pushed, Pt)
            if i == 0:
                K[p] = 0.5 * (found + found.T)
                for k in range(s):
                    half = np.dot(np.ascontiguousarray(around.slopes[p, k]), np.ascontiguousarray(pushed.T))
                    dK[p, k] = half + half.T
            else:
                k = (i - 1) // 2
                share = (1.0 if i % 2 == 0 else -1.0) / (4.0 * around.steps[k])
                dK[p, k] += share * (found + found.T)


def is_loaded(system: ModalParameterization) -> bool:
    """Return whether K includes the loads at rest."""
    choice, mechanism = system.choice, system.rest.numbering.mechanism
    return choice.preload and not choice.stiffening and carries_loads(mechanism)


def add_rest_loads(
    system: ModalParameterization,
    configuration: Configuration,
    layout: RowLayout,
    results: ModalRows,
    *,
    slopes: bool = True,
) -> None:
    """Add the loads at rest to all rows, in place; results.slopes holds ∂Ψ. Without slopes, to K alone."""
    rest = system.rest
    s, steps = len(rest.numbering.coordinates), STEP * rest.numbering.theta_scale if slopes else np.zeros(0)
    which = np.flatnonzero(results.status == DONE)
    X = configuration.X.reshape(-1, *configuration.X.shape[-2:])[which]
    w = configuration.w.reshape(len(np.atleast_2d(configuration.theta)), -1)[which]
    every_X, every_w, chosen = X[:, None], w[:, None], which
    if slopes and len(which):
        theta = np.atleast_2d(configuration.theta)[which]
        ways = np.array([way * step * unit for step, unit in zip(steps, np.eye(s), strict=True) for way in (-1.0, 1.0)])
        beside = assemble(rest.numbering.mechanism, (theta[:, None] + ways).reshape(-1, s), failures="mark")
        there = beside.assembled.reshape(len(which), 2 * s).all(axis=1)
        results.status[which[~there]] = SINGULAR
        chosen = which[there]
        sides_X = beside.X.reshape(len(which), 2 * s, *X.shape[1:])[there]
        sides_w = beside.w.reshape(len(which), 2 * s, -1)[there]
        every_X = np.concatenate([every_X[there], sides_X], axis=1)
        every_w = np.concatenate([every_w[there], sides_w], axis=1)
    if not len(chosen):
        return
    every_X = np.ascontiguousarray(every_X)
    flat = every_X.reshape(-1, *X.shape[1:])
    forces = batch_row_forces(rest, flat, every_w.reshape(len(flat), -1)).reshape(*every_X.shape[:2], -1)
    modes = np.ascontiguousarray(results.modes[chosen, s:])
    turning = np.zeros((len(chosen), 0, *modes.shape[1:]))
    if slopes:
        turning = np.ascontiguousarray(results.slopes[chosen][:, :, s:])
    d = modes.shape[1]
    K, dK = np.empty((len(chosen), d, d)), np.empty((len(chosen), len(steps), d, d))
    forms = load_forms(rest)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        around = NeighbourPositions(every_X[piece], forces[piece], steps, modes[piece], turning[piece])
        compile_kernel(stiffness_over_modes, count=stop - start)(rest.arrays, forms, around, K[piece], dK[piece])

    in_parts(part, len(chosen))
    parts = layout.split(results.rows)
    parts["K"][chosen, s:, s:] += K
    if slopes:
        parts["stiffness_slope"][chosen] += dK
