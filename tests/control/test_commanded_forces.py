"""Controllers that ask for forces, on machines whose drives take volts and whose sensors are encoders."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control

MOTOR = {"motor": {"torque_constant": 0.2, "resistance": 0.8, "gear": 60}}


@pytest.fixture(scope="module")
def driven(arm):
    """The two-link arm with motors and encoders; that of the elbow is read with a little noise."""
    return arm.replace(
        actuators={name: {"joint": name, "drive": MOTOR} for name in ("shoulder", "elbow")},
        sensors={"s": {"joint": "shoulder"}, "e": {"joint": "elbow", "noise": 1e-6}},
    )


def swing(t):
    """θ, θ̇, θ̈ of a large motion."""
    return (
        np.array([1.5 * np.sin(t), -1.0 + np.cos(2 * t)]),
        np.array([1.5 * np.cos(t), -2 * np.sin(2 * t)]),
        np.array([-1.5 * np.sin(t), -4 * np.cos(2 * t)]),
    )


OPTIONS = {"until": 0.2, "sample_time": 1e-3, "start": swing(0.0)[0], "rates": swing(0.0)[1]}


def test_volts_make_the_forces(arm, driven):
    """Motors without inductance: forces n k c/R - n² k² ω/R, of held volts; the loop is that of forces but for what
    back-EMF changes within a sample, and the filter of the rates."""
    plain = control.closed_loop(arm, control.computed_torque(arm, swing, 20.0), **OPTIONS)
    volts = control.computed_torque(driven, swing, 20.0, rate_filter=400.0)
    loop = control.closed_loop(driven, volts, **OPTIONS)
    for name in ("shoulder", "elbow"):
        assert_allclose(loop.coordinates[name], plain.coordinates[name], atol=1e-3)
    k = 60 * 0.2 / 0.8
    force = k * loop.commands["elbow"] - k * 60 * 0.2 * loop.rates["elbow"]
    assert np.abs(force - plain.inputs["elbow"]).max() < 0.05 * np.abs(force).max()


def test_drives_that_move_and_missing_rates_are_refused(arm, driven):
    servo = {"velocity": {"frequency": 20.0}}
    moved = driven.replace(actuators={name: {"joint": name, "drive": servo} for name in ("shoulder", "elbow")})
    with pytest.raises(supple.InputError, match='the drive of actuator "shoulder" takes rad/s and moves it'):
        control.computed_torque(moved, swing, 20.0)
    assert control.computed_torque(moved, swing, 20.0, hardware=False).drives.plain
    with pytest.raises(supple.InputError, match=r'"shoulder\.rate" is not measured'):
        control.closed_loop(driven, control.computed_torque(driven, swing, 20.0), **OPTIONS)
