"""A Delta with six equal tubes: three modes of its platform, and twelve of its tubes that lie within 3 Hz."""

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.approximation.refinement.box import Box
from supple.parameterization.mode_choice import ModeChoice
from supple.reduction.mode_set import cut_cluster, kept_modes

PLATFORM, WITH_TUBES = 3, 15
CHOICE = ModeChoice((), 1, "auto")


@pytest.fixture(scope="module")
def delta():
    return supple.load(Path(__file__).parent / "carbon-delta.yaml")


@pytest.fixture(scope="module")
def boxes(delta):
    lower, upper = np.radians([-20.0, 45.0]).tolist()
    return [Box((lower,) * 3, (upper,) * 3)]


def test_any_number_of_modes_converges(delta):
    hertz = supple.modes(delta, "home", count=16).frequencies_hz
    for count in range(1, 16):
        np.testing.assert_allclose(supple.modes(delta, "home", count=count).frequencies_hz, hertz[:count], rtol=1e-9)


def test_the_number_that_is_found_cuts_no_cluster(delta, boxes):
    kept = kept_modes(delta, CHOICE, boxes, "auto")
    assert kept.choice.internal == PLATFORM
    assert kept.swaps == []


@pytest.mark.parametrize("count", [4, 14])
def test_a_set_that_cuts_a_cluster_is_told_which_numbers_do_not(delta, boxes, count):
    words = cut_cluster(delta, CHOICE, boxes, count).words()
    assert words.startswith("modes 4 to 15 lie together (97.57 to 99.84 Hz over the region, motion of ")
    assert all(name in words for name in ("left1", "right1", "left2", "right2", "left3", "right3"))
    assert words.endswith("keep 3 or 15 internal modes")


@pytest.mark.parametrize("count", [PLATFORM, WITH_TUBES])
def test_whole_sets_cut_none(delta, boxes, count):
    assert cut_cluster(delta, CHOICE, boxes, count) is None


def test_modes_that_no_sensor_sees_are_left_out(delta, boxes):
    kept = kept_modes(delta, CHOICE, boxes, 8, ("tool",))
    assert kept.choice.internal == PLATFORM


@pytest.mark.parametrize(("sensors", "count", "words"), [("tol", 3, 'no sensor "tol"'), ("tool", 0, "none are kept")])
def test_sensors_that_do_not_choose_are_refused(delta, sensors, count, words):
    with pytest.raises(supple.InputError, match=words):
        supple.reduce(delta, internal_modes=count, modes_seen_at=[sensors], rigid=not count)
