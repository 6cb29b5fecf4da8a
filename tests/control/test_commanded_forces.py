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
    with pytest.raises(supple.InputError, match=r'"shoulder" takes rad/s.*joint_servo'):
        control.computed_torque(moved, swing, 20.0)
    assert control.computed_torque(moved, swing, 20.0, hardware=False).drives.plain
    with pytest.raises(supple.InputError, match=r'"shoulder\.rate" is not measured'):
        control.closed_loop(driven, control.computed_torque(driven, swing, 20.0), **OPTIONS)


def wanted(of):
    return control.reference(swing, of, until=0.2)


def test_joint_loops_ask_motors_for_their_forces(arm, driven):
    """(u + n² k² ω/R) R/(n k) volts for the forces u of the same loop on ideal actuators, feedforward included; rates
    from the encoders, filtered as the description says."""
    options = {"sample_time": 1e-3, "frequencies": 20.0, "feedforward": "rigid"}
    forces = control.joint_pid(arm, wanted(arm), **options)
    volts = control.joint_pid(driven, wanted(driven), rate_filter=400.0, **options)
    plain, loop = control.closed_loop(arm, forces, **OPTIONS), control.closed_loop(driven, volts, **OPTIONS)
    for name in ("shoulder", "elbow"):
        assert_allclose(loop.coordinates[name], plain.coordinates[name], atol=1e-3)
    of_itself = control.joint_pd(driven, wanted(driven), **options)
    assert of_itself.law.measurements == ("shoulder", "elbow")
    assert f"through {10 * 20 / (2 * np.pi):.4g} Hz" in repr(of_itself)
    slow = control.joint_pd(driven, wanted(driven), **{**options, "sample_time": 0.02})
    assert "through 12.5 Hz" in repr(slow)  # a quarter of the samples


@pytest.fixture(scope="module")
def models(arm, driven):
    region = {"shoulder": (-0.5, 1.0), "elbow": (-0.6, 0.3)}
    exact = driven.replace(sensors={
        **{f"{n}_at": {"joint": n} for n in ("shoulder", "elbow")},
        **{f"{n}_rate": {"joint": n, "order": 1} for n in ("shoulder", "elbow")},
    })  # fmt: skip
    return [supple.reduce(of, region=region, tolerance=1e-4, store=False) for of in (arm, exact)]


def decoupled(linear):
    return control.decoupled_gains(linear, 8.0)


@pytest.mark.slow
@pytest.mark.parametrize("make", [
    lambda model, hardware: control.gain_scheduled(model, swing, decoupled, sample_time=1e-3, tolerance=0.02,
                                                   hardware=hardware),
    lambda model, hardware: control.disturbance_observer(model, swing, sample_time=1e-3, frequencies=8.0,
                                                         observer_frequencies=60.0, tolerance=0.02, hardware=hardware),
    lambda model, hardware: decoupled(model.linearize([0.1, 0.1], drives=False)).regulator(
        hardware=model.hardware if hardware else supple.Hardware()),
])  # fmt: skip
def test_every_law_of_forces_makes_the_same_motion_through_motors(models, make):
    """Volts are held where forces were: back-EMF changes within a sample, and that alone is the difference."""
    plain, motors = models
    expected = control.closed_loop(plain, make(plain, True), **OPTIONS)
    loop = control.closed_loop(motors, make(motors, True), **OPTIONS)
    for name in ("shoulder", "elbow"):
        assert_allclose(loop.coordinates[name], expected.coordinates[name], atol=2e-3)
    with pytest.raises(supple.InputError, match=r'drive of "shoulder".*takes forces.*hardware=False'):
        control.closed_loop(motors, make(motors, True), hardware=False, **OPTIONS)
    ideal = control.closed_loop(motors, make(motors, False), hardware=False, **OPTIONS)
    assert_allclose(ideal.coordinates["elbow"], expected.coordinates["elbow"], atol=1e-6)


def test_gains_of_forces_are_not_taken_for_volts(models):
    _, motors = models
    linear = motors.linearize([0.1, 0.1], drives=False)
    regulator = decoupled(linear).regulator()
    control.closed_loop(linear, regulator, until=0.01, sample_time=1e-3)  # whose inputs are forces
    with pytest.raises(supple.InputError, match=r"motor drive there takes V; .*regulator\(hard"):
        control.closed_loop(motors, regulator, **OPTIONS)


def test_a_servo_moves_its_own_joint_and_the_rest_swings(arm):
    """The elbow is free, and nothing measures it; the shoulder follows."""
    servo = {"velocity": {"frequency": 30.0}}
    crane = arm.replace(
        actuators={"shoulder": {"joint": "shoulder", "drive": servo}}, coordinates=["shoulder", "elbow"],
        sensors={"encoder": {"joint": "shoulder", "resolution": 1e-6}},
    )  # fmt: skip
    controller = control.joint_servo(crane, swing, sample_time=1e-3, gain=20.0, integral=2.0)
    assert controller.law.measurements == ("shoulder",)
    loop = control.closed_loop(crane, controller, **OPTIONS)
    assert np.abs(loop.errors["shoulder"]).max() < 0.02
    assert np.abs(loop.errors["elbow"]).max() > 0.02


@pytest.mark.parametrize(("given", "options", "said"), [
    (control.StateFeedback, {}, r"StateFeedback is a class.*give StateFeedback\(\.\.\.\)"),
    ("silent", {}, r"controller at 0 s: .*returned None; return numbers for sh"),
    ("silent", {"seed": -1}, r"seed: .*integer from 0 \(got -1\)"),
])  # fmt: skip
def test_what_is_no_controller_or_no_seed_is_refused(driven, given, options, said):
    class Silent:
        def step(self, t, measurement):
            return None

    with pytest.raises(supple.InputError, match=said):
        control.closed_loop(driven, Silent() if given == "silent" else given, **options, **OPTIONS)
