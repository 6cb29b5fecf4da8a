"""A flexible model whose θ is led: its deformation obeys the equations of motion, and tends to the quasi-static one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import supple
from supple.diagnostics import InputError, SuppleNote
from supple.reduced.time.begin import quasi_static
from supple.simulation.model_simulation import led_motion
from supple.time_functions.function_of_time import Trajectory

RALF = Path(__file__).parents[2] / "examples" / "ralf" / "mechanism.yaml"


@pytest.fixture(scope="module")
def ralf():
    return supple.load(RALF)


@pytest.fixture(scope="module")
def model(ralf):
    return supple.reduce(ralf, checks=200, internal_modes=2, tolerance=1e-4, progress=False)


def reaching(ralf, duration, count=801):
    motion = supple.Motion.model_validate(
        {"coordinates": {"lift": {"to": 1.0}, "elbow": {"to": 0.9}}, "duration": duration}
    )
    return supple.trajectory(ralf, motion, times=np.linspace(0.0, duration, count))


@pytest.mark.slow
def test_its_driving_forces_alone_bring_the_same_motion(ralf, model):
    """Led along a course or pushed by the forces this takes: the same equations."""
    course = reaching(ralf, 1.0)
    led = model.follow(course, tolerance=1e-11)
    eta = {name: values[0] for name, values in led.coordinates.items()}
    free = model.simulate(
        led.time, dict(led.driving_forces), eta, rates=[led.rates[name][0] for name in eta],
        tolerance=1e-11, method="explicit", drives=False,
    )  # fmt: skip
    assert free.complete
    for name, values in led.coordinates.items():
        # forces are linear between 800 instants: (h²/8) of their second derivative, h ω = 0.06
        assert_allclose(free.coordinates[name], values, atol=2e-4 * np.ptp(values))
    moved = np.ptp(led.coordinates["mode1"])
    assert moved > 0.01  # √kg m: it vibrates


def test_slow_motions_deform_quasi_statically(ralf, model):
    """Vibration left by an acceleration that sets in over T falls faster than 1/T: by Riemann and Lebesgue."""
    off = []
    for duration in (2.0, 20.0):
        course = reaching(ralf, duration, 401)
        led = model.follow(course)
        bent = quasi_static(model, course.theta, course.rates, course.accelerations)
        found = np.stack([led.coordinates[name] for name in ("mode1", "mode2")], axis=1)
        off.append(np.abs(found - bent).max() / np.abs(bent).max())
    assert off[1] < 0.1 * off[0]
    forces = supple.inverse(model, course)
    for name, values in forces.forces.items():
        assert_allclose(led.driving_forces[name], values, rtol=5.0 * off[1])
    assert forces.deformation is not None
    assert_allclose(forces.deformation["mode1"], bent[:, 0])


def test_held_still_it_vibrates_as_linear_equations_say(model):
    """θ at rest: M_δδ δ̈ + D δ̇ + K δ = p_δ with constant coefficients, whose motion is a matrix exponential."""
    theta, time = np.tile([1.15, 1.0], (21, 1)), np.linspace(0.0, 0.5, 21)
    still, c = np.zeros_like(theta), model.evaluate(theta[0])
    M, K, D = (part[2:, 2:] for part in (c.M, c.K, c.damping))
    start = np.array([0.02, -0.01])  # √kg m
    led = led_motion(model, Trajectory(("lift", "elbow"), time, theta, still, still), tolerance=1e-10, delta=start)
    rest = np.linalg.solve(K, c.force[2:])
    slopes = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    expected = np.array([expm(slopes * t) @ np.append(start - rest, [0.0, 0.0]) for t in time])
    for i, name in enumerate(("mode1", "mode2")):
        assert_allclose(led.coordinates[name], rest[i] + expected[:, i], atol=1e-7 * np.abs(start).max())
        assert_allclose(led.rates[name], expected[:, 2 + i], atol=1e-7 * np.abs(expected[:, 2 + i]).max())
    assert_allclose(led.energy["prescribed"], 0.0)
    assert led.energy_defect < 1e-8


def test_results_are_the_same_whichever_are_asked_for(ralf, model):
    """The course between results is its own, not one drawn through them; and work and energy agree along it."""
    course = reaching(ralf, 1.0, 201)
    with pytest.warns(SuppleNote, match="motion is prescribed"):
        fine, some = model.follow(course), model.simulate([0.0, 0.25, 0.6, 1.0], motion=course)
    at = [0, 50, 120, 200]
    for name, values in fine.coordinates.items():
        assert_allclose(some.coordinates[name], values[at], atol=1e-8 * np.abs(values).max())
    for name, values in fine.driving_forces.items():
        assert_allclose(some.driving_forces[name], values[at], rtol=1e-6)
    assert fine.energy_defect < 1e-9
    assert np.ptp(fine.energy["prescribed"]) > 1.0  # J


def test_a_course_out_of_the_region_is_refused(model):
    theta = np.array([[1.15, 1.0], [5.0, 1.0]])
    still = np.zeros_like(theta)
    with pytest.raises(InputError, match="region"):
        model.follow(Trajectory(("lift", "elbow"), np.array([0.0, 1.0]), theta, still, still))


def test_at_rest_it_sags_as_in_equilibrium(model):
    theta = np.array([[1.15, 1.0]])
    still = np.zeros((1, 2))
    delta = quasi_static(model, theta, still, still)[0]
    held = model.linearize(theta[0]).at["states"]
    # the iteration stops at 1e-12 of the deformation; the least squares of the linearization lose some digits
    assert_allclose(delta, [held["mode1"], held["mode2"]], rtol=1e-8)


def test_a_course_of_other_coordinates_is_refused(model):
    four_bar = supple.load(RALF.parents[1] / "four-bar" / "mechanism.yaml")
    course = supple.trajectory(four_bar, lambda t: ([0.1], [0.0], [0.0]), times=[0.0, 0.1])
    with pytest.raises(InputError, match=r"motion: .*crank.*lift, elbow"):
        model.follow(course)
