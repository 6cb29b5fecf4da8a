"""A Delta with six equal tubes: three modes of its platform, and twelve of its tubes that lie within 3 Hz."""

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.approximation.refinement.box import Box
from supple.diagnostics import SuppleNote
from supple.parameterization.mode_choice import ModeChoice
from supple.reduction.region_modes import cut_cluster, kept_modes

PLATFORM, WITH_TUBES = 3, 15
CHOICE = ModeChoice((), 1, "auto")


@pytest.fixture(scope="module")
def delta():
    return supple.load(Path(__file__).parent / "carbon-delta.yaml")


@pytest.fixture(scope="module")
def boxes(delta):
    lower, upper = np.radians([-20.0, 45.0]).tolist()
    return [Box((lower,) * 3, (upper,) * 3)]


@pytest.mark.slow
def test_any_number_of_modes_converges(delta):
    hertz = supple.modes(delta, "home", count=16).frequencies_hz
    for count in range(1, 16):
        np.testing.assert_allclose(supple.modes(delta, "home", count=count).frequencies_hz, hertz[:count], rtol=1e-9)


@pytest.mark.slow
def test_the_number_that_is_found_cuts_no_cluster(delta, boxes):
    kept = kept_modes(delta, CHOICE, boxes, "auto")
    assert kept.choice.internal == PLATFORM
    assert kept.swaps == []


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 14])
def test_a_set_that_cuts_a_cluster_is_told_which_numbers_do_not(delta, boxes, count):
    words = cut_cluster(delta, CHOICE, boxes, count).describe()
    assert words.startswith("modes 4 to 15")
    assert "97.57 to 99.84 Hz" in words
    assert all(name in words for name in ("left1", "right1", "left2", "right2", "left3", "right3"))
    assert words.endswith("keep 3 or 15 internal modes")


@pytest.mark.slow
@pytest.mark.parametrize("count", [PLATFORM, WITH_TUBES])
def test_whole_sets_cut_none(delta, boxes, count):
    assert cut_cluster(delta, CHOICE, boxes, count) is None


@pytest.mark.slow
def test_modes_that_no_sensor_sees_are_left_out(delta, boxes):
    kept = kept_modes(delta, CHOICE, boxes, 8, ("tool",))
    assert kept.choice.internal == PLATFORM
    assert kept.unobservable is None


@pytest.mark.parametrize(("sensors", "count", "words"), [("tol", 3, 'no sensor "tol"'), ("tool", 0, "none are kept")])
def test_sensors_that_do_not_choose_are_refused(delta, sensors, count, words):
    with pytest.raises(supple.InputError, match=words):
        supple.reduce(delta, internal_modes=count, observable_at=[sensors], rigid=not count)


def whipped_arm() -> supple.Mechanism:
    """An arm on an elastic gearbox, with a thin whip at its root that vibrates below it and moves nothing else."""
    return supple.Mechanism(
        name="whipped arm", plane="xz", gravity=[0, -9.81],
        points={"O": [0, 0], "P": [0.6, 0], "W": [0, 0.3]},
        materials={"steel": {"youngs_modulus": 210e9, "density": 7850}},
        sections={"blade": {"rectangle": [0.002, 0.001]}},
        bodies={
            "arm": {"rod": ["O", "P"], "mass": 3.0},
            "whip": {"beam": ["O", "W"], "section": "blade", "material": "steel", "elements": 2},
        },
        point_masses={"load": {"at": "arm.P", "mass": 2.0}},
        joints={
            "O": {"revolute": ["ground", "arm"], "motor": {"inertia": 1e-4, "gear": 100},
                  "drive": {"stiffness": 8000.0, "damping": 1.0}},
            "root": {"weld": ["arm", "whip"], "at": "O"},
        },
        actuators={"q": {"joint": "O"}}, sensors={"tip": {"position": "arm.P"}},
    )  # fmt: skip


@pytest.mark.slow
def test_a_mode_that_no_sensor_sees_but_lies_below_a_seen_one_is_kept_and_named():
    arm = whipped_arm()
    whip, gearbox = supple.modes(arm, count=2, preload=False).frequencies_hz  # as internal modes are
    assert whip < gearbox
    with pytest.warns(SuppleNote, match=rf"mode 1 \({whip:.4g} to .* not observable at tip.* kept"):
        model = supple.reduce(
            arm, region={"q": (-0.2, 0.2)}, internal_modes=5, observable_at=["tip"], store=False, tolerance=1e-2
        )
    assert model.layout.internal == 2
    assert model.provenance["truncation"]["compliance"]["tip.z"] < 1e-3
