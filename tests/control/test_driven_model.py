"""A reduced model from sample to sample: led, pushed, or both, it moves as the same model does in a run of its own."""

from __future__ import annotations

import numpy as np
import pytest
from flexible_arm import HOME, five_bar, model
from numpy.testing import assert_allclose
from scipy.interpolate import CubicHermiteSpline, CubicSpline

import supple
from supple.hardware.pieces import Pieces
from supple.simulation.model_run import ModelRun

TIMES = np.linspace(0.0, 0.2, 201)


def held_pieces(duration, forces):
    """Forces (a,) that stay as they are, and nothing led."""
    cubics = np.zeros((1, 4, len(forces)))
    cubics[0, 0] = forces
    return Pieces(np.array([0.0, duration]), cubics, np.zeros((1, 4, 0)), np.zeros((1, 2, 0)))


@pytest.fixture(scope="module")
def course():
    """The motion `shift`, and the model led along it in a run of its own."""
    made = supple.trajectory(five_bar(), "shift", times=TIMES)
    return made, model().simulate(motion=made)


def pieces_of(forces, course, accelerations, cut=()):
    """Of every interval, from piecewise cubics of time; cut : where else it is divided, of its length."""
    for n in range(len(TIMES) - 1):
        edges = TIMES[n] + np.array([0.0, *cut, 1.0]) * (TIMES[n + 1] - TIMES[n])
        x = edges[:-1]

        def cubics(one, x=x):
            return np.stack([one(x), one(x, 1), one(x, 2) / 2.0, one(x, 3) / 6.0], axis=1)

        seconds = np.stack([accelerations(edges[:-1]), accelerations(edges[1:])], axis=1)
        yield Pieces(edges - edges[0], cubics(forces), cubics(course), seconds)


def run(plant, pieces):
    for k, one in enumerate(pieces, start=1):
        assert plant.advance(one, k), plant.reason
    return plant


def test_led_it_deforms_as_along_the_motion(course):
    made, whole = course
    theta = CubicHermiteSpline(TIMES, made.theta, made.rates)
    none = CubicSpline(TIMES, np.zeros((len(TIMES), 2)))
    seconds = CubicSpline(TIMES, made.accelerations)
    plant = ModelRun(model(), TIMES, led=(0, 1), start=made.theta[0], tolerance=1e-8)
    run(plant, pieces_of(none, theta, seconds))
    motion = plant.motion(np.zeros((len(TIMES), 2)))
    for name in ("tool.x", "tool.z"):
        assert_allclose(motion.outputs[name], whole.outputs[name], atol=1e-7 * np.ptp(whole.outputs[name]))
        seen = plant.found[:, 2 * 4 + model().layout.outputs.index(name)]  # in the kernel, as afterwards
        assert_allclose(seen, motion.outputs[name], atol=1e-13)
    for name, forces in whole.driving_forces.items():
        assert_allclose(motion.driving_forces[name], forces, atol=1e-3 * np.ptp(forces))
    assert motion.energy_defect < 1e-6


def test_the_force_that_leads_a_coordinate_moves_it_there_by_itself(course):
    made, whole = course
    theta = CubicHermiteSpline(TIMES, made.theta[:, 1:], made.rates[:, 1:])
    seconds = CubicSpline(TIMES, made.accelerations[:, 1:])
    force = np.stack([whole.driving_forces["A"], np.zeros(len(TIMES))], axis=1)
    start = np.concatenate([made.theta[0], whole.record.eta[0, 2:]])
    pieces = pieces_of(CubicSpline(TIMES, force), theta, seconds, cut=(0.37,))
    plant = run(ModelRun(model(), TIMES, led=(1,), start=start), pieces)
    motion = plant.motion(force)
    assert_allclose(motion.eta, whole.record.eta, atol=2e-5 * np.ptp(made.theta))  # the force is a spline in between
    there = slice(1, None)  # before the first instant no force acts
    assert_allclose(motion.driving_forces["E"][there], whole.driving_forces["E"][there], atol=1e-3 * np.ptp(force))
    assert motion.energy_defect < 1e-6


def test_under_held_forces_it_is_the_run_under_these():
    u, times = np.array([1.0, -2.0]), TIMES[:21]
    plant = ModelRun(model(), times, start=HOME)
    run(plant, [held_pieces(1e-3, u)] * 20)
    whole = model().simulate(times, u, HOME, method="explicit")
    assert_allclose(plant.states[:, :4], whole.record.eta, atol=1e-9)
    assert_allclose(plant.motion(np.tile(u, (21, 1))).works, whole.record.works, atol=1e-9)


def test_a_drive_that_yields_is_a_spring_and_a_damper():
    # θ̈ of the first instant, at rest away from where the spring is relaxed, and then moving.
    k, c, away, rate = 300.0, 4.0, 0.01, 0.2
    yields = np.zeros((4, 2))
    yields[0] = k, c
    theta = np.array([HOME["A"], HOME["E"]])
    rates = np.array([rate, 0.0, 0.0, 0.0])
    plant = ModelRun(model(), TIMES[:2], start=theta, rates=rates, yields=yields)
    relaxed = k * (theta[0] - away)
    assert plant.advance(held_pieces(1e-12, np.array([relaxed, 0.0])), 1)
    expected = model().forward(theta, rates, [-k * away - c * rate, 0.0])
    assert_allclose(plant.accelerations, expected, rtol=1e-6)
