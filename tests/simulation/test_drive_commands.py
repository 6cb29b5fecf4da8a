"""Drives in linear models, frequency responses and simulations of a mechanism: commands in, against what they mean."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import supple
from supple.diagnostics import InputError, SuppleNote

ARM = """
supple: 1
name: arm
plane: xy
gravity: [0, -9.81]
points: {O: [0, 0], E: [0.5, 0], T: [0.9, 0]}
bodies:
  upper: {rod: [O, E], mass: 2}
  fore:  {rod: [E, T], mass: 1}
joints:
  shoulder: {revolute: [ground, upper], at: O}
  elbow:    {revolute: [upper, fore], at: E, viscous: VISCOUS}
actuators:
  shoulder: {joint: shoulder, SHOULDER}
  elbow: {joint: elbow, ELBOW}
sensors:
  tip: {position: fore.T}
  felt: {acceleration: fore.T, delay: 3 ms, bandwidth: 40 Hz}
"""
SERVO = "drive: {velocity: {frequency: 20 Hz, damping: 0.7, delay: 2 ms}}"
YIELDS = "drive: {velocity: {frequency: 20 Hz, damping: 0.7, delay: 2 ms}, stiffness: 4000, viscous: 3}"
MOTOR = "drive: {motor: {torque_constant: 0.1, resistance: 0.5, inductance: 5 mH, gear: 50, delay: 1 ms}}"
PLACE = {"shoulder": 0.3, "elbow": 0.5}
W, ZETA = 2.0 * np.pi * 20.0, 0.7


def arm(shoulder="", elbow="", *, viscous="0", gravity=True):
    text = ARM.replace("SHOULDER", shoulder).replace("ELBOW", elbow).replace("VISCOUS", viscous)
    text = text.replace(", }", "}")
    if not gravity:
        text = text.replace("gravity: [0, -9.81]\n", "")
    return supple.loads(text)


def command(t):
    """rad/s: up, and back to rest."""
    return 2.0 * np.sin(5.0 * np.pi * t) ** 2 if t < 0.2 else 0.0


def servo_motion(times):
    """θ - θ₀ of the velocity servo, by scipy."""

    def slope(t, x):
        return [x[1], x[2], W * W * (command(max(t - 0.002, 0.0)) - x[1]) - 2.0 * ZETA * W * x[2]]

    return solve_ivp(slope, (0.0, times[-1]), [0.0, 0.0, 0.0], t_eval=times, rtol=1e-10, atol=1e-13, max_step=1e-3).y[0]


def test_a_servo_that_leads_moves_its_coordinate_and_the_other_is_free():
    times = np.linspace(0.0, 0.3, 61)
    run = supple.simulate(arm(SERVO), times, {"shoulder": command}, PLACE, tolerance=1e-7)
    # commands are linear between samples an eighth of 1 ms apart
    assert_allclose(run.coordinates["shoulder"] - 0.3, servo_motion(times), atol=1e-7)
    assert list(run.driving_forces) == ["shoulder"]


def test_what_it_leads_is_led_as_a_motion_would():
    """The other coordinate, and the force, are those of the same motion prescribed."""
    times, fine = np.linspace(0.0, 0.3, 61), np.linspace(0.0, 0.3, 601)
    run = supple.simulate(arm(SERVO), times, {"shoulder": command}, PLACE, tolerance=1e-7)
    course = CubicSpline(fine, 0.3 + servo_motion(fine))
    led = supple.simulate(arm(), times, None, PLACE, motion={"shoulder": course}, tolerance=1e-7)
    assert_allclose(run.coordinates["elbow"], led.coordinates["elbow"], atol=1e-5 * np.ptp(led.coordinates["elbow"]))
    force = led.driving_forces["shoulder"]
    assert_allclose(run.driving_forces["shoulder"], force, atol=1e-3 * np.ptp(force))


def test_an_ideal_force_drive_hands_its_command_on():
    times = np.linspace(0.0, 0.2, 41)
    inputs = {"shoulder": lambda t: 20.0 + 5.0 * t, "elbow": 3.0}
    told = supple.simulate(arm("drive: {force: {}}"), times, inputs, PLACE, tolerance=1e-7)
    pushed = supple.simulate(arm("drive: {force: {}}"), times, inputs, PLACE, tolerance=1e-7, drives=False)
    assert_allclose(told.coordinates["elbow"], pushed.coordinates["elbow"], atol=1e-9)
    assert_allclose(told.inputs["shoulder"], inputs["shoulder"](times))


def test_limits_and_a_dead_band_shape_the_command():
    drive = "drive: {force: {gain: 2}, limits: [-8, 8], dead_band: 1}"
    times = np.linspace(0.0, 0.2, 41)
    run = supple.simulate(arm(drive), times, {"shoulder": lambda t: 100.0 * t - 5.0}, PLACE)
    wanted = 100.0 * times - 5.0
    wanted = 2.0 * np.clip(np.sign(wanted) * np.maximum(np.abs(wanted) - 1.0, 0.0), -8.0, 8.0)
    assert_allclose(run.inputs["shoulder"], wanted, atol=0.3)  # 2 times 100 N m/s times a step of 1 ms


def test_a_motor_without_inductance_is_a_damper_and_a_force():
    """k u n/R of force, and k² n²/R of damping, which the joint may have as well."""
    drive = "drive: {motor: {torque_constant: 0.1, resistance: 0.5, gear: 50}}"
    times = np.linspace(0.0, 0.2, 41)
    told = supple.simulate(arm(elbow=drive), times, {"elbow": 2.0}, PLACE, tolerance=1e-7)
    pushed = supple.simulate(arm(viscous="50"), times, {"elbow": 20.0}, PLACE, tolerance=1e-7)
    assert_allclose(told.coordinates["elbow"], pushed.coordinates["elbow"], atol=1e-8)
    assert_allclose(told.inputs["elbow"], 20.0 - 50.0 * told.rates["elbow"], atol=1e-6)


def test_drives_that_move_hold_where_they_are_and_what_yields_gives_way():
    """Commands left out: nothing moves, under the weight of the forearm along the one that yields."""
    run = supple.simulate(arm(SERVO, YIELDS), 0.1, None, {"shoulder": 0.0, "elbow": 0.0})
    assert_allclose(run.coordinates["elbow"], 0.0, atol=1e-9)
    assert_allclose(run.inputs["elbow"], 1.0 * 9.81 * 0.2, rtol=1e-6)
    assert_allclose(run.driving_forces["shoulder"], 9.81 * (2.0 * 0.25 + 0.7), rtol=1e-6)


def test_a_prescribed_motion_passes_drives_by_and_says_so():
    with pytest.warns(SuppleNote, match='motion is prescribed.*"shoulder" have no effect'):
        supple.simulate(arm(SERVO), 0.02, start=PLACE, motion={"shoulder": lambda t: 0.3 + t})


def test_back_emf_with_inductance_acts_back_while_it_moves():
    """J θ̈ = k n i, L di/dt = u - R i - k n θ̇, by scipy; the shoulder stands still."""
    J, L, R, kn = 0.4**2 / 3.0, 5e-3, 0.5, 0.1 * 50.0

    def volts(t):
        return 3.0 * np.sin(60.0 * t)

    def slope(t, x):
        told = volts(t - 1e-3) if t > 1e-3 else 0.0
        return [x[1], kn * x[2] / J, (told - R * x[2] - kn * x[1]) / L]

    times = np.linspace(0.0, 0.1, 51)
    wanted = solve_ivp(slope, (0.0, 0.1), [0.5, 0.0, 0.0], t_eval=times, rtol=1e-10, atol=1e-13, max_step=5e-4).y
    run = supple.simulate(arm(SERVO, MOTOR, gravity=False), times, {"elbow": volts}, PLACE)
    assert_allclose(run.coordinates["elbow"], wanted[0], atol=2e-4 * np.ptp(wanted[0]))
    assert_allclose(run.inputs["elbow"][1:], kn * wanted[2, 1:], atol=5e-3 * np.ptp(kn * wanted[2]))


@pytest.mark.parametrize("drives", [(SERVO, YIELDS), (YIELDS, MOTOR), (MOTOR, SERVO)], ids=["led", "yields", "motor"])
def test_frequency_responses_are_those_of_the_linear_model(drives):
    """A rigid arm without weight: both are exact, but for the delays, which Padé's order 8 has to rounding here."""
    machine, lines = arm(*drives, gravity=False), np.array([0.4, 3.0, 11.0, 31.0])
    names = (("shoulder", "elbow"), ("tip.x", "tip.y", "felt.y", "elbow"))
    found = supple.frf(machine, PLACE, *names, lines, free_actuators=True)
    linear = supple.linearize(machine, PLACE, pade=8)
    wanted = linear.frequency_response(lines, names[1][:3])
    for i, output in enumerate(names[1][:3]):
        scale = np.abs(found.values[:, i]).max()
        assert_allclose(wanted.values[:, i], found.values[:, i], atol=1e-8 * scale)
        assert wanted.units[i] == found.units[i], output
    plain = supple.linearize(machine, PLACE, drives=False)
    assert len(plain.states) == 4
    assert plain.units.inputs["shoulder"] == "N m"


def test_a_velocity_command_has_no_answer_at_rest():
    with pytest.raises(InputError, match=r'"shoulder": .*velocity drive at 0 Hz.*begin above 0 Hz'):
        supple.frf(arm(SERVO, gravity=False), PLACE, "shoulder", "tip.x", [0.0, 1.0])


def test_a_force_drive_of_a_locked_coordinate_is_refused_as_its_force_is():
    with pytest.raises(InputError, match=r"locked.*free the actuators"):
        supple.frf(arm(SERVO, MOTOR, gravity=False), PLACE, "elbow", "tip.x", [1.0])
