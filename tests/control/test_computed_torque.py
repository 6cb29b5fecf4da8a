"""Computed torque: errors of every coordinate decay by themselves, wherever the mechanism is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control


def swing(t):
    """θ, θ̇, θ̈ of a large motion."""
    return (
        np.array([1.5 * np.sin(t), -1.0 + np.cos(2 * t)]),
        np.array([1.5 * np.cos(t), -2 * np.sin(2 * t)]),
        np.array([-1.5 * np.sin(t), -4 * np.cos(2 * t)]),
    )


@pytest.mark.slow
def test_errors_are_oscillators_of_their_own(arm):
    """From a wrong start, the error of each coordinate is that of ë + 2ξω ė + ω² e = 0, up to the sampling."""
    omega, xi = np.array([3.0, 5.0]), np.array([0.6, 1.0])
    controller = control.computed_torque(arm, swing, omega, xi)
    rates = swing(0.0)[1]
    worst = []
    for T in (4e-3, 2e-3):
        loop = control.closed_loop(arm, controller, until=3.0, sample_time=T, start=[0.2, 0.1], rates=rates)
        t = loop.time
        error = np.stack([*loop.coordinates.values()], axis=1) - np.array([swing(s)[0] for s in t])
        damped = 3.0 * 0.8
        first = 0.2 * np.exp(-1.8 * t) * (np.cos(damped * t) + 1.8 / damped * np.sin(damped * t))
        second = 0.1 * np.exp(-5 * t) * (1 + 5 * t)
        worst.append(np.abs(error - np.stack([first, second], axis=1)).max())
    assert worst[1] < 4e-3
    assert_allclose(worst[0] / worst[1], 2.0, rtol=0.1)  # the delay of a sample, and nothing else


@pytest.mark.slow
def test_trajectory_of_the_file_and_friction(arm):
    rough = arm.replace(
        motions={"lift": {"coordinates": {"shoulder": {"to": 1.2}, "elbow": {"to": -0.8}}, "duration": 1.5}},
        joints={**arm.joints, "elbow": arm.joints["elbow"].model_copy(update={"dry": 5.0, "viscous": 3.0})},
    )
    controller = control.computed_torque(rough, "lift", 20.0)
    loop = control.closed_loop(rough, controller, until=2.0, sample_time=2e-3)
    wanted = supple.trajectory(rough, "lift", times=loop.time[loop.time <= 1.5])
    count = len(wanted.time)
    for i, name in enumerate(("shoulder", "elbow")):
        assert np.abs(loop.coordinates[name][:count] - wanted.theta[:, i]).max() < 5e-3
        assert_allclose(loop.coordinates[name][-1], wanted.theta[-1, i], atol=2e-3)


@pytest.mark.slow
def test_from_a_reduced_model(four_bar, tmp_path):
    model = supple.reduce(four_bar, region={"crank": (-0.6, 0.6)}, tolerance=1e-4, output=tmp_path / "four-bar.rom")

    def wave(t):
        return [0.4 * np.sin(6 * t)], [2.4 * np.cos(6 * t)], [-14.4 * np.sin(6 * t)]

    options = {"until": 0.5, "sample_time": 1e-3, "start": [0.0], "rates": [2.4]}
    small = control.closed_loop(four_bar, control.computed_torque(model, wave, 15.0), **options)
    full = control.closed_loop(four_bar, control.computed_torque(four_bar, wave, 15.0), **options)
    assert np.abs(small.coordinates["crank"] - 0.4 * np.sin(6 * small.time)).max() < 4e-3
    assert_allclose(small.coordinates["crank"], full.coordinates["crank"], atol=1e-4)


def test_refusals(arm, four_bar):
    lazy = arm.replace(actuators={"elbow": {"joint": "elbow"}}, coordinates=["shoulder", "elbow"])
    with pytest.raises(supple.InputError, match="1 actuators cannot follow 2 coordinates"):
        control.computed_torque(lazy, swing, 5.0)
    path = supple.Trajectory(("crank",), np.array([0.0, 1.0]), *np.zeros((3, 2, 1)))
    with pytest.raises(supple.InputError, match=r"motion is of crank, .*shoulder, elbow"):
        control.computed_torque(arm, path, 5.0)
    with pytest.raises(supple.InputError, match='"two-link": unknown motion "jump"; none is defined'):
        control.computed_torque(arm, "jump", 5.0)
