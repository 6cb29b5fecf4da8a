"""Published motions: Andrews' squeezer, the double four-bar, Bricard's mechanism, the slider-crank, the pendulum."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

EXAMPLES = Path(__file__).parents[2] / "examples"

# Andrews' squeezer, Test Set for IVP Solvers: accelerations and multipliers at its start, angles and speeds at 0.03 s.
ANGLES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
FIRST_ACCELERATIONS = (14222.4439199541138706, -10666.8329399655854029, 0.0, 0.0, 0.0, 0.0, 0.0)
FIRST_MULTIPLIERS = (98.5668703962410896, -6.12268834425566266, 0.0, 0.0, 0.0, 0.0)
LAST_ANGLES = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805303,
    0.5347301163226948, 1.048080741042263,
)  # fmt: skip
LAST_SPEEDS = (
    1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808,
    -19.29337464421385, 0.3231791658026955,
)  # fmt: skip


def mechanism(name):
    return supple.load(EXAMPLES / name / "mechanism.yaml")


@pytest.fixture(scope="module")
def squeezer():
    return supple.simulate(mechanism("andrews-squeezer"), until=0.03, step=1e-6, output_step=0.03)


def of_norm(found, published):
    return np.linalg.norm(np.array(found) - published) / np.linalg.norm(published)


def angle_rates(run, number, bodies):
    """Rates (0) or accelerations (1) of the seven angles from those of the bodies, in the plane."""
    name = ("angular_velocity", "angular_acceleration")[number]
    turn = {body: getattr(run.frame_motion(body), name)[bodies, 2] for body in (f"K{i}" for i in range(1, 8))}
    return np.array([
        turn["K1"], turn["K2"] - turn["K1"], turn["K3"], turn["K4"] - turn["K5"], turn["K5"], turn["K6"] - turn["K7"],
        turn["K7"],
    ])  # fmt: skip


def test_andrews_squeezer_starts_as_published(squeezer):
    found = angle_rates(squeezer, 1, 0)
    assert_allclose(found, FIRST_ACCELERATIONS, atol=1e-9 * max(FIRST_ACCELERATIONS))


def test_andrews_common_pin_carries_the_published_multipliers(squeezer):
    """Three hinges K2-K3, K2-K4 and K2-K6: what they do to K3, K4 and K6, up to sign."""
    found = np.concatenate([squeezer.reaction(pin).force[0, :2] for pin in ("K2-K3", "K2-K4", "K2-K6")])
    assert_allclose(np.abs(found), np.abs(FIRST_MULTIPLIERS), atol=1e-9 * max(FIRST_MULTIPLIERS))


def test_andrews_squeezer_after_two_and_a_half_turns(squeezer):
    angles = [squeezer.joint_coordinates[name][-1] for name in ANGLES]
    assert of_norm(angles, LAST_ANGLES) < 1e-6
    assert of_norm(angle_rates(squeezer, 0, -1), LAST_SPEEDS) < 1e-6
    assert_allclose(np.column_stack([*squeezer.output_rates.values()])[-1], angle_rates(squeezer, 0, -1)[1:], rtol=1e-9)


def test_the_double_four_bar_passes_its_singular_positions():
    """It lies flat time and again, where constraints lose rank and it could go on folded; B0 after 10 s."""
    run = supple.simulate(
        mechanism("double-four-bar"), until=10.0, step=2.5e-4, start="upright", rates={"A0": -1.0}, output_step=0.01
    )
    assert run.complete
    found = [run.outputs["B0.x"][-1], run.outputs["B0.y"][-1]]
    assert_allclose(found, [0.32845810, 0.94451854], atol=1e-5)
    height = run.outputs["B0.y"]
    assert (np.diff(np.sign(height)) != 0).sum() >= 10  # through the flat position every time


def test_bricards_mechanism_keeps_its_energy():
    """Movable only because a constraint repeats the others: ten seconds from rest."""
    run = supple.simulate(mechanism("bricard"), until=10.0, step=5e-4, output_step=0.01)
    assert run.complete
    kinetic, total = run.energy["kinetic"], run.energy["total"]
    assert np.ptp(total) < 1e-6 * kinetic.max()
    assert kinetic.max() > 4.0


def test_the_pendulum_swings_with_its_exact_period():
    """Released from the horizontal: 4 K(sin 45°) sqrt(L/g)."""
    run = supple.simulate(mechanism("pendulum"), until=2.5, step=5e-5, output_step=5e-5)
    rate = np.column_stack([*run.rates.values()])[:, 0]
    back = np.flatnonzero((rate[1:-1] > 0.0) & (rate[2:] <= 0.0))[-1] + 1  # at rest again, where it began
    period = run.time[back] + rate[back] / (rate[back] - rate[back + 1]) * (run.time[back + 1] - run.time[back])
    assert_allclose(period, 2.3678419475762373, atol=1e-7)


def test_the_spatial_slider_crank_starts_as_published():
    crank = mechanism("spatial-slider-crank")
    here = supple.assemble(crank)
    move = supple.motion(here, [6.0])
    assert_allclose(here.frame("S").position, [0.2, 0.0, 0.0], atol=1e-12)
    assert_allclose(move.frame("S").velocity, [0.24, 0.0, 0.0], atol=1e-12)
    assert_allclose(move.frame("rod").angular_velocity, [1.92, -0.96, 0.48], atol=1e-12)
