"""Velocities, accelerations and angular rates that sensors see: the same from bodies, linear and reduced models."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

ARM = """
supple: 1
name: arm
points: {A: [0, 0, 0], B: [1, 0, 0.2]}
gravity: [0, 0, -9.81]
bodies: {arm: {rod: [A, B], mass: 1}}
joints: {A: {universal: [ground, arm], axes: [z, y]}}
actuators: {first: {joint: A.first}, second: {joint: A.second}}
sensors:
  B: {position: arm.B}
  v: {velocity: arm.B}
  own: {velocity: arm.B, axes: body}
  imu: {acceleration: arm.B, axes: body, gravity: true}
  up: {acceleration: arm.B, axis: z, gravity: true}
  a: {acceleration: arm.B}
  w: {angular_velocity: arm}
  gyro: {angular_velocity: arm, axes: body}
  faster: {angular_acceleration: arm, axis: [1, 1, 0]}
  rate: {joint: A.first, order: 1}
"""
FOUR_BAR = """
supple: 1
name: four-bar
plane: xz
points: {A: [0, 0], B: [0.2, 0.3], C: [0.9, 0.5], D: [0.8, 0]}
gravity: [0, -9.81]
bodies:
  crank: {rod: [A, B], mass: 1}
  coupler: {rod: [B, C], mass: 2}
  rocker: {rod: [D, C], mass: 1.5}
joints:
  A: {revolute: [ground, crank]}
  B: {revolute: [crank, coupler]}
  C: {revolute: [coupler, rocker]}
  D: {revolute: [ground, rocker]}
actuators: {crank: {joint: A}}
sensors:
  C: {position: C}
  a: {acceleration: C}
  imu: {acceleration: coupler.C, axes: body, gravity: true}
  w: {angular_velocity: coupler}
  wide: {between: [A, C], order: 2}
"""
THETA, RATES, INPUTS = np.array([0.3, 0.2]), np.array([1.0, 0.7]), np.array([0.5, -1.0])


@cache
def arm():
    return supple.loads(ARM)


@cache
def four_bar():
    return supple.loads(FOUR_BAR)


@cache
def reduced_arm():
    region = {"first": (0.0, 0.6), "second": (-0.1, 0.5)}
    return supple.reduce(arm(), region=region, tolerance=1e-7, progress=False)


def seen(run, name):
    return np.stack([run.outputs[f"{name}.{letter}"] for letter in "xyz"], axis=1)


def test_sensors_see_the_motion_of_frames_in_either_axes():
    run = supple.simulate(arm(), until=0.1, step=2e-3, start=THETA, rates=RATES)
    moving, R = run.frame_motion("arm.B"), run.frame("arm").rotation
    own = np.swapaxes(R, 1, 2)
    assert_allclose(seen(run, "v"), moving.velocity, atol=1e-12)
    assert_allclose(seen(run, "own"), np.einsum("nij,nj->ni", own, moving.velocity), atol=1e-12)
    assert_allclose(seen(run, "w"), moving.angular_velocity, atol=1e-12)
    assert_allclose(seen(run, "gyro"), np.einsum("nij,nj->ni", own, moving.angular_velocity), atol=1e-12)
    felt = seen(run, "a") - [0.0, 0.0, -9.81]
    assert_allclose(seen(run, "imu"), np.einsum("nij,nj->ni", own, felt), atol=1e-11)
    assert_allclose(run.outputs["up"], felt[:, 2], atol=1e-12)
    assert_allclose(run.outputs["rate"], run.rates["first"], atol=1e-12)
    assert run.outputs.units["imu.x"] == "m/s²"
    assert run.outputs.units["faster"] == "rad/s²"


def test_at_rest_an_accelerometer_shows_gravity_alone():
    held = supple.linearize(arm(), THETA)
    R = supple.assemble(arm(), THETA).frame("arm").rotation
    shown = [held.at["outputs"][f"imu.{letter}"] for letter in "xyz"]
    assert_allclose(shown, R.T @ [0.0, 0.0, 9.81], atol=1e-9)


@pytest.mark.parametrize("machine", [arm, four_bar], ids=["arm", "four-bar"])
def test_second_differences_of_the_position_come_closer_with_the_square_of_the_step(machine):
    one = machine()
    position, acceleration = ("B.z", "a.z") if one.name == "arm" else ("C.z", "a.z")
    off = []
    for h in (4e-3, 2e-3):
        run = supple.simulate(
            one, np.arange(0.0, 0.1, h), step=h, rates={"first" if one.name == "arm" else "crank": 2.0}
        )
        y, a = run.outputs[position], run.outputs[acceleration]
        second = (y[2:] - 2.0 * y[1:-1] + y[:-2]) / h**2
        off.append(np.abs(second - a[1:-1])[5:].max())
    assert 3.0 < off[0] / off[1] < 5.5  # 4 at order two


def test_linear_models_have_the_slopes_of_what_sensors_see_with_its_answer_to_inputs():
    linear = supple.linearize(arm(), THETA, rates=RATES, inputs=INPUTS)
    model = reduced_arm()

    def observed(theta, rates, inputs):
        run = model.simulate([0.0, 1e-9], dict(zip(("first", "second"), inputs, strict=True)), theta, rates=rates)
        return np.array([values[0] for values in run.outputs.values()])

    here = (THETA, RATES, INPUTS)
    about = model.linearize(THETA, rates=RATES, inputs=INPUTS)
    assert_allclose(observed(*here), list(about.at["outputs"].values()), atol=1e-10)
    for part, matrix in enumerate((about.C[:, :2], about.C[:, 2:], about.D)):
        for i in range(2):
            step = 1e-5 * np.eye(2)[i]
            ahead, behind = (observed(*(x + sign * step * (k == part) for k, x in enumerate(here))) for sign in (1, -1))
            assert_allclose((ahead - behind) / 2e-5, matrix[:, i], atol=2e-8 * max(1.0, np.abs(matrix).max()))
    size = np.abs(linear.C).max()
    assert_allclose(about.C, linear.C, atol=2e-4 * size)  # third derivatives of a fit whose values have 1e-7
    assert_allclose(about.D, linear.D, atol=1e-5 * np.abs(linear.D).max())
    assert np.abs(linear.D).max() > 1.0


@pytest.mark.parametrize("reduced", [False, True], ids=["mechanism", "reduced"])
def test_the_response_of_an_acceleration_is_the_accelerance_of_its_position(reduced):
    lines = np.geomspace(0.05, 50.0, 40)
    model = reduced_arm() if reduced else arm()
    ask = (lambda *given, **more: model.frf(THETA, *given, **more)) if reduced else (
        lambda *given, **more: supple.frf(model, THETA, *given, **more)
    )  # fmt: skip
    linear = model.linearize(THETA) if reduced else supple.linearize(model, THETA)
    places, sensors = ([f"{name}.{letter}" for letter in "xyz"] for name in "Ba")
    expected = ask("first", places, lines, kind="accelerance", free_actuators=True).values[..., 0]
    direct = ask("first", sensors, lines, free_actuators=True).values[..., 0]
    size = np.abs(expected).max()
    assert_allclose(direct, expected, atol=1e-12 * size)
    found = np.stack([linear.response(lines, name, "first") for name in sensors], axis=1)
    assert_allclose(found, expected, atol=1e-9 * size)


def test_a_reduced_model_gives_the_outputs_of_the_mechanism_after_its_file(tmp_path):
    model = supple.load(reduced_arm().save(tmp_path / "arm.rom"))
    times = np.linspace(0.0, 0.1, 11)
    reduced = model.simulate(times, start=THETA, rates=RATES)
    full = supple.simulate(arm(), times, start=THETA, rates=RATES, tolerance=1e-9)
    assert list(reduced.outputs) == list(full.outputs)
    assert reduced.outputs.units == full.outputs.units
    for name, values in full.outputs.items():
        assert_allclose(reduced.outputs[name], values, atol=1e-4 * max(1.0, np.abs(values).max()))


def test_a_controller_is_given_the_accelerations_under_the_last_inputs():
    from supple.control import closed_loop

    shown = []

    class Watching:
        def step(self, t, measurement):
            shown.append(dict(measurement.outputs))
            return {"crank": 5.0}

    run = closed_loop(four_bar(), Watching(), until=0.02, sample_time=0.01)
    free = supple.simulate(four_bar(), [0.0, 0.01], {"crank": 5.0})
    assert_allclose(shown[1]["imu.x"], free.outputs["imu.x"][-1], rtol=1e-4)
    assert len(run.outputs["imu.x"]) == 3
