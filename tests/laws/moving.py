"""Runs of random mechanisms for the laws of motion in time."""

from __future__ import annotations

import numpy as np

import supple

RUN = 0.1
"""s: the mechanisms stay where they have no singularity."""

FRICTION_SPEED = 0.3
"""Dry friction of all of them is smooth at the steps taken here."""


def start_of(case):
    """θ, θ̇ and constant forces of all actuators."""
    rng = np.random.default_rng(7)
    s = len(case.rest)
    theta = case.rest + 0.2 * case.spread * rng.uniform(-1.0, 1.0, s)
    return theta, case.spread * rng.uniform(-1.0, 1.0, s), rng.uniform(-1.0, 1.0, len(case.mechanism.actuators))


def run_of(case, *, mechanism=None, step=1e-3, until=RUN, output_step=0.02, **options) -> supple.Simulation:
    mechanism = case.mechanism if mechanism is None else mechanism
    theta, rates, u = start_of(case)
    inputs = dict(zip(mechanism.actuators, u, strict=True))
    found = supple.simulate(
        mechanism, until=until, step=step, output_step=output_step,
        **{"start": theta, "rates": rates, "inputs": inputs, "friction_speed": FRICTION_SPEED} | options,
    )  # fmt: skip
    assert found.complete, found.reason
    return found


def friction_forces(model: supple.LocalModel, rates):
    """Dry friction along θ as the simulation smooths it: -J_jᵀ f_j tanh(J_j θ̇ / speed)."""
    f = np.array([*model.dry_forces.values()])
    rubbing = f * np.tanh(np.einsum("...fi,...i->...f", model.friction_map, rates) / FRICTION_SPEED)
    return -np.einsum("...fi,...f->...i", model.friction_map, rubbing)


def forces_of(model: supple.LocalModel, rates, u):
    """Everything that acts along θ: p + B u - D θ̇ and dry friction."""
    damping = np.einsum("...ij,...j->...i", model.damping, rates)
    return model.force + model.input_map @ u - damping + friction_forces(model, rates)
