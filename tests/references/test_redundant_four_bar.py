"""The redundantly actuated four-bar of Silva and Menegaldo: their Table 1, and how little torque is enough.

Figures with a decimal were computed independently of supple; printed ones are the paper's.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

FILE = Path(__file__).parents[2] / "examples" / "four-bar-redundant" / "mechanism.yaml"
WITHIN = 5e-3  # figures have one decimal and are peaks over samples
TABLE = {
    1: {"A": (203.5, -232.7)},
    2: {"A": (432.1, -78.6), "B": (291.2, -173.7)},
    3: {"A": (342.7, -131.2), "B": (288.4, -175.4), "C": (257.8, -108.2)},
    4: {"A": (157.3, -74.0), "B": (77.9, -90.7), "C": (49.6, -37.9), "D": (250.4, -105.4)},
}
PRINTED = {
    1: {"A": (203, -232)},
    2: {"A": (431, -78), "B": (289, -173)},
    3: {"A": (342, -131), "B": (288, -174), "C": (257, -108)},
    4: {"A": (156, -73), "B": (77, -90), "C": (49, -37), "D": (249, -105)},
}


@pytest.fixture(scope="module")
def four_bar():
    return supple.load(FILE)


@pytest.mark.parametrize("count", TABLE)
def test_joint_forces_and_torques_in_one_pseudo_inverse(four_bar, count):
    found = supple.inverse(four_bar, "turn", actuators=list("ABCD")[:count], minimize="multipliers")
    for name, (largest, least) in TABLE[count].items():
        assert_allclose([found.largest[name], found.least[name]], [largest, least], rtol=WITHIN)
        # the paper prints whole newton-metres, not rounded but cut, from coarser samples
        assert_allclose([found.largest[name], found.least[name]], PRINTED[count][name], atol=2.5)


@pytest.mark.parametrize(
    ("minimize", "count", "peak"),
    [
        ("torque", 2, 98.3), ("torque", 3, 93.3), ("torque", 4, 79.5),
        ("peak", 2, 89.9), ("peak", 3, 76.8), ("peak", 4, 58.5),
    ],
)  # fmt: skip
def test_torques_alone_need_far_less(four_bar, minimize, count, peak):
    found = supple.inverse(four_bar, "turn", actuators=list("ABCD")[:count], minimize=minimize)
    assert_allclose(max(found.peak.values()), peak, rtol=WITHIN)


@pytest.mark.parametrize("minimize", ["torque", "peak", "multipliers"])
def test_four_actuators_of_sixty_newton_metres_are_enough(four_bar, minimize):
    found = supple.inverse(four_bar, "turn", minimize=minimize, bounds=60)
    assert max(found.peak.values()) <= 60 * (1 + 1e-9)
    work = sum(found.model.input_map[:, 0, i] * values for i, values in enumerate(found.forces.values()))
    assert_allclose(work, found.needed[:, 0], atol=1e-9 * np.abs(found.needed).max())


@pytest.mark.parametrize("minimize", ["torque", "peak", "multipliers"])
def test_fifty_are_not_by_eight_and_a_half(four_bar, minimize):
    with pytest.raises(
        supple.InputError, match=r"at 0\.839 s every bound must rise by at least 8\.5 N m .*A ±50.*raise the bounds"
    ):
        supple.inverse(four_bar, "turn", minimize=minimize, bounds=50)


def test_the_turn_is_the_papers(four_bar):
    found = supple.trajectory(four_bar, "turn")
    assert_allclose(found.theta[[0, -1], 0], np.radians([60.0, 420.0]), rtol=1e-12)
    assert_allclose(found.rates, 2 * np.pi, rtol=1e-12)
    assert not found.accelerations.any()
    assert found.time[-1] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("minimize", ["torque", "peak", "multipliers"])
def test_the_torques_return_the_motion(four_bar, minimize):
    """Forward simulation with the torques, sampled every 0.1 ms: the crank stays within 1e-6 rad of its course."""
    found = supple.inverse(four_bar, "turn", minimize=minimize, step=1e-4)
    run = supple.simulate(
        four_bar, until=1.0, step=5e-5, start="start", rates={"A": 2 * np.pi}, inputs=dict(found.forces),
        input_times=found.time, output_step=0.01, spectral_radius=1.0,
    )  # fmt: skip
    assert run.complete
    assert np.abs(run.coordinates["A"] - np.radians(60) - 2 * np.pi * run.time).max() < 1e-6
