"""Joint loops: what they answer against their equations, what they give in the loop."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.control.controller import Measurement
from supple.control.controllers.joint_pid import joint_pd, joint_pid
from supple.control.controllers.joint_servo import drive_gain, joint_servo
from supple.control.feedforward.reference import reference
from supple.diagnostics import InputError
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import Hardware

T = 1e-3


def swing(t):
    """θ_d = (sin t, ½ sin 2t) with its rates."""
    return (
        np.array([np.sin(t), 0.5 * np.sin(2 * t)]),
        np.array([np.cos(t), np.cos(2 * t)]),
        np.array([-np.sin(t), -2 * np.sin(2 * t)]),
    )


def told(theta, rates=(0.0, 0.0)):
    return Measurement(("shoulder", "elbow"), np.asarray(theta, float), np.asarray(rates, float))


def servo(name: str, omega: float, zeta: float, delay: float, gain: float = 1.0) -> DriveBlock:
    """v̈ = ω² (g c - v) - 2 ζ ω v̇, leading θ̇ = v; states (θ, v, v̇)."""
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -(omega**2), -2.0 * zeta * omega]])
    return DriveBlock(
        actuator=name, kind="velocity", moves=True, A=A, B=np.array([0.0, 0.0, gain * omega**2]),
        C=np.array([1.0, 0.0, 0.0]), D=0.0, E=np.zeros(3), delay=delay,
    )  # fmt: skip


def test_pd_is_its_equation(arm):
    """B u = M(at) (ω² e + 2 ξ ω ė) + M(θ_d) θ̈_d + Γ - p(θ_d), the latter as the local model says it."""
    wanted = reference(swing, arm, until=1.0)
    controller = joint_pd(arm, wanted, sample_time=T, frequencies=[8.0, 5.0], damping_ratios=0.7, feedforward="rigid")
    theta, rates, t = np.array([0.3, -0.2]), np.array([0.5, 0.1]), 0.4
    answer = controller.step(t, told(theta, rates))
    aim, aim_rates, aim_accelerations = swing(t)
    home, there = supple.local(arm), supple.local(arm, aim)
    omega = np.array([8.0, 5.0])
    back = home.M @ (omega**2 * (aim - theta) + 1.4 * omega * (aim_rates - rates))
    along = there.required_forces(aim_rates, aim_accelerations)
    # cubics through forces 2 ms apart
    assert_allclose(answer, np.linalg.solve(home.input_map, back) + np.linalg.solve(there.input_map, along), rtol=1e-7)


def test_feedforward_takes_the_error_away(arm):
    """With the forces of the motion, what is left is the hold of the samples, of first order in T."""
    wanted = reference(swing, arm, until=0.4)
    errors = {}
    for kind in ("none", "rigid"):
        controller = joint_pd(arm, wanted, sample_time=T, frequencies=20.0, feedforward=kind)
        run = supple.control.closed_loop(
            arm, controller, until=0.3, sample_time=T, rates={"shoulder": 1.0, "elbow": 1.0}
        )
        seen = np.column_stack([run.coordinates[name] for name in controller.coordinates])
        errors[kind] = float(np.abs(seen - wanted.sample(run.time)[:, 0]).max())
    assert errors["rigid"] < 0.03 * errors["none"]


def test_filtered_rates_are_those_of_a_steady_motion(arm):
    """Of θ = r t a first-order filter of differences tells r, however long it filters."""
    controller = joint_pd(arm, lambda t: (np.zeros(2),) * 3, sample_time=T, proportional=0.0, derivative=[3.0, 4.0],
                          rate_filter=30.0)  # fmt: skip
    for k in range(200):
        answer = controller.step(T * k, told(T * k * np.array([2.0, -1.0])))
    assert_allclose(answer, [-6.0, 4.0], rtol=1e-9)  # exp(-2π 30 s⁻¹ 0.2 s) is left of the start


def test_the_integral_is_the_sum_of_errors_and_gives_way_at_limits(arm):
    def still(_):
        return np.array([0.1, 0.0]), np.zeros(2), np.zeros(2)

    options = {"sample_time": T, "proportional": 10.0, "derivative": 20.0, "integral": 5.0}
    free = joint_pid(arm, still, **options)
    answers = [free.step(T * k, told([0.0, 0.0])) for k in range(400)]
    assert_allclose(answers[-1], [10.0 * 0.1 + 5.0 * 0.1 * 399 * T, 0.0], rtol=1e-9, atol=1e-12)
    held = joint_pid(arm, still, tracking=0.05, **options)
    for k in range(4000):
        answer = held.step(T * k, told([0.0, 0.0]))
        held.record_command(np.clip(answer, -1.5, 1.5))
    # settled: 5 e - (u - 1.5) / T_t = 0 in units of u
    assert_allclose(answer[0], 1.5 + 0.05 * 5.0 * 0.1, rtol=1e-6)


def test_a_third_pole_is_where_it_is_asked_for(arm):
    """(s + ω_I)(s² + 2 ξ ω s + ω²) times M."""
    controller = joint_pid(arm, lambda t: (np.zeros(2),) * 3, sample_time=T, frequencies=6.0, damping_ratios=0.8,
                           integral_frequencies=2.0)  # fmt: skip
    matrices, M = controller.law.at(), supple.local(arm).M
    ports = controller.law.ports
    K_P, K_V = matrices.D[:, ports.wanted(0)], matrices.D[:, ports.wanted(1)]
    K_I = matrices.C[:, :2]
    poly = np.poly([-2.0, *np.roots([1.0, 2 * 0.8 * 6.0, 36.0])])
    for gain, coefficient in zip((K_V, K_P, K_I), poly[1:], strict=True):
        assert_allclose(gain, coefficient * M, rtol=1e-12)


def test_a_servo_is_asked_as_much_earlier_as_it_is_late(arm):
    """Lag of a second-order servo with a delay: delay + 2 ζ / ω."""
    blocks = servo("shoulder", 125.0, 0.7, 2e-3, gain=0.5), servo("elbow", 100.0, 0.6, 1e-3)
    found = drive_gain(blocks[0])
    assert found.per_rate
    assert_allclose([found.gain, found.lag], [0.5, 2e-3 + 1.4 / 125.0], rtol=1e-12)
    wanted = reference(swing, arm, until=1.0)
    controller = joint_servo(arm, wanted, sample_time=T, gain=10.0, hardware=Hardware(blocks))
    late = max(2e-3 + 1.4 / 125.0, 1e-3 + 1.2 / 100.0) + 0.5 * T
    answer = controller.step(0.3, told([0.2, 0.1]))
    expected = (wanted.at(0.3 + late)[1] + 10.0 * (wanted.at(0.3)[0] - [0.2, 0.1])) / [0.5, 1.0]
    assert_allclose(answer, expected, rtol=1e-12)


def test_what_cannot_be_is_refused(arm):
    with pytest.raises(InputError, match=r"no gains.*give either frequencies"):
        joint_pd(arm, swing, sample_time=T)
    with pytest.raises(InputError, match="has no end"):
        joint_pd(arm, swing, sample_time=T, frequencies=3.0, feedforward="rigid")
    with pytest.raises(InputError, match=r"no actuator has a drive .*joint_pd"):
        joint_servo(arm, swing, sample_time=T, hardware=Hardware())


def test_motors_are_told_the_volts_that_give_the_forces(arm):
    """f = n k c/R - n² k² ω/R of a motor without inductance: both controllers ask for the same forces."""
    motor = {"motor": {"torque_constant": 0.2, "resistance": 0.8, "gear": 60}}
    driven = arm.replace(actuators={name: {"joint": name, "drive": motor} for name in ("shoulder", "elbow")})
    wanted = reference(swing, arm, until=1.0)
    options = {"sample_time": T, "frequencies": 8.0, "feedforward": "rigid"}
    theta, rates, _ = swing(0.4)  # on the motion, where the rates of the drag are the wanted ones
    force, volts = (joint_pd(item, wanted, **options).step(0.4, told(theta, rates)) for item in (arm, driven))
    k = 60 * 0.2
    assert_allclose(k / 0.8 * volts - k**2 / 0.8 * rates, force, rtol=1e-6)
    with pytest.raises(InputError, match=r"joint PD commands forces.*joint_servo"):
        joint_pd(arm, wanted, hardware=Hardware((servo("elbow", 100.0, 0.7, 0.0),)), **options)


def test_of_several_actuators_some_are_driven(arm):
    """A push that no controller drives: f and gains are those without it."""
    every = {**arm.actuators, "push": {"joint": "elbow"}}
    pushed = arm.replace(actuators=every, coordinates=["shoulder", "elbow"])
    wanted = reference(swing, arm, until=0.5)
    options = {"sample_time": T, "frequencies": 8.0, "feedforward": "rigid"}
    plain = joint_pd(arm, wanted, **options)
    chosen = joint_pd(pushed, wanted, actuators=["shoulder", "elbow"], **options)
    seen = told([0.1, 0.2], [0.3, 0.4])
    assert chosen.actuators == ("shoulder", "elbow")
    assert_allclose(chosen.step(0.2, seen), plain.step(0.2, seen), rtol=1e-9)
