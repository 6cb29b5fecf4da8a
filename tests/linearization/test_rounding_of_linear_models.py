"""What is rounding is judged against the whole machine: no linear model is refused because of it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.control import kalman_filter, observer_law
from supple.control.observers.sampled_plant import sampled_plant


def arm(seed: int) -> supple.Mechanism:
    """Four elastic joints; the first axis is vertical, so that no weight acts along it but rounding."""
    dice = np.random.default_rng(seed)
    points, joints, bodies, at = {"P0": [0.0, 0.0, 0.0]}, {}, {}, np.zeros(3)
    axes = [[0, 0, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0]]
    for i, axis in enumerate(axes):
        at = at + dice.uniform([-0.1, -0.1, 0.1], [0.3, 0.1, 0.3])
        points[f"P{i + 1}"] = at.tolist()
        bodies[f"b{i}"] = {
            "mass": float(dice.uniform(1, 9)), "center": (at - dice.uniform(0, 0.1, 3)).tolist(),
            "inertia": dice.uniform(0.01, 0.02, 3).tolist(),
        }  # fmt: skip
        joints[f"J{i}"] = {
            "revolute": [f"b{i - 1}" if i else "ground", f"b{i}"], "at": f"P{i}", "axis": axis,
            "motor": {"inertia": 7e-5, "gear": 101}, "drive": {"stiffness": 2e4},
        }  # fmt: skip
    return supple.Mechanism(
        supple=1, name="arm", gravity=[0, 0, -9.81], points=points, bodies=bodies, joints=joints,
        actuators={f"J{i}": {"joint": f"J{i}"} for i in range(len(axes))},
        sensors={"imu": {"acceleration": f"b{len(axes) - 1}"}},
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_an_arm_on_a_vertical_axis_is_held(seed):
    """Its weight along that axis is rounding, which pseudo-inverses spread; the holding torque there is zero."""
    machine = arm(seed)
    for theta in np.random.default_rng(seed).uniform(-1.5, 1.5, (6, 4)):
        model = supple.linearize(machine, theta, rigid=True)
        held = np.array(list(model.at["inputs"].values()))
        assert_allclose(held[0], 0.0, atol=1e-12 * np.abs(held).max())


def test_an_arm_whose_actuators_are_short_of_force_is_still_refused():
    machine = arm(0)
    few = machine.model_copy(
        update={
            "actuators": {name: machine.actuators[name] for name in ("J0", "J1")},
            "coordinates": ["J0", "J1", "J2", "J3"],
        }
    )
    with pytest.raises(supple.InputError, match=r"its actuators \(J0, J1\) cannot produce"):
        supple.linearize(few, [0.1, 0.2, 0.3, 0.4], rigid=True)


def test_rates_that_are_rounding_are_rest():
    machine = arm(1)
    still, almost = (
        supple.linearize(machine, [0.1, 0.2, 0.3, 0.4], internal_modes=4, rates=rates) for rates in (None, [1e-16] * 4)
    )
    assert_allclose(almost.A, still.A)


def test_an_observer_keeps_its_states_where_an_acceleration_feels_no_force():
    """Along a stretched arm an accelerometer feels no torque: D is zero, or rounding, at that θ alone."""
    machine = supple.Mechanism(
        supple=1, name="one", plane="xy", points={"P0": [0, 0], "P1": [0.5, 0]},
        bodies={"b0": {"rod": ["P0", "P1"], "mass": 1.0}}, joints={"P0": {"revolute": ["ground", "b0"]}},
        actuators={"a": {"joint": "P0"}},
        sensors={"angle": {"joint": "P0"}, "imu": {"acceleration": "P1"}},
    )  # fmt: skip
    model = supple.reduce(machine, region={"a": [-0.5, 0.5]}, store=False)
    observer = kalman_filter(model, sample_time=1e-3, accelerations=10.0, measured=["angle", "imu.x"], noise=1e-3)
    states = {len(observer.at([theta]).plant.F) for theta in (0.0, 1e-17, 0.3)}
    assert len(states) == 1
    assert observer_law(observer, tolerance=1e-2).states == states.pop()
    linear = model.linearize([0.3], drives=False)
    told, felt = ("angle", "imu.x"), np.array([[0.0], [1.0], [1.0]])
    dead = replace(linear, D=np.where(np.array(linear.outputs)[:, None] == "imu.x", 0.0, linear.D))
    noisy = replace(dead, D=np.where(dead.D == 0.0, 4e-17, dead.D))  # beside imu.y, which feels the torque
    assert sampled_plant(noisy, 1e-3, told).names == sampled_plant(dead, 1e-3, told).names == linear.states
    assert sampled_plant(dead, 1e-3, told, felt=felt).names == (*linear.states, "a.command1")
