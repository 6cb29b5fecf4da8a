"""Coordinates that are led: they follow, and what leads them is what inverse dynamics says."""

import numpy as np
from differences import largest
from moving import forces_of, run_of, start_of

import supple


def led(case, step):
    """A run with every coordinate on a sine, and the sine."""
    rng = np.random.default_rng(5)
    amplitude = 0.4 * case.spread * rng.uniform(0.3, 1.0, len(case.rest))
    speed = rng.uniform(2.0, 6.0, len(case.rest))

    def course(i):
        return lambda t: case.rest[i] + amplitude[i] * np.sin(speed[i] * t)

    motion = {name: course(i) for i, name in enumerate(case.mechanism.coordinates)}
    found = run_of(case, step=step, motion=motion, output_step=5e-3)
    phase = np.outer(found.time, speed)
    return found, (
        case.rest + amplitude * np.sin(phase), amplitude * speed * np.cos(phase), -amplitude * speed**2 * np.sin(phase)
    )  # fmt: skip


def test_prescribed_coordinates_are_followed(any_case):
    found, (theta, rates, _) = led(any_case, 1e-3)
    assert largest(np.column_stack([*found.coordinates.values()]) - theta) < 1e-10
    # velocities are those of the method: its second order
    assert largest(np.column_stack([*found.rates.values()]) - rates) < 1e-4


def test_driving_forces_are_those_of_inverse_dynamics(any_case):
    """M θ̈ + Γ[θ̇, θ̇] - p - B u + D θ̇, with an error that falls as the square of the step."""
    errors = []
    for step in (1e-3, 5e-4):
        found, (theta, rates, accelerations) = led(any_case, step)
        model = supple.local(any_case.mechanism, theta)
        needed = model.inertia_forces(rates, accelerations) - forces_of(model, rates, start_of(any_case)[2])
        errors.append(largest(np.column_stack([*found.driving_forces.values()]) - needed) / largest(needed))
    assert errors[0] < 1e-5
    # accelerations of a course known by its values alone: 1e-16/h² of rounding, some fifty times that at its ends
    assert errors[1] < errors[0] / 3.0 or errors[1] < 1e-7


def test_prescribed_motion_pays_for_the_energy(any_case):
    """The work of the driving forces is in the account, and the balance falls as the square of the step."""
    coarse, fine = (np.abs(led(any_case, step)[0].energy["balance"]).max() for step in (1e-3, 5e-4))
    assert 3.4 < coarse / fine < 4.6
