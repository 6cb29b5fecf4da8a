"""Regions: what is named, what limits give, and what is missing."""

from __future__ import annotations

import pytest

import supple
from supple.reduction.region import region_boxes


def test_limits_are_the_default(orthoglide):
    (box,) = region_boxes(orthoglide, {"y": (-0.1, 0.0)})
    assert box.lower == (-0.26, -0.1, -0.26)
    assert box.upper == (0.06, 0.0, 0.06)


def test_limits_of_a_joint_count_too(four_bar):
    joints = {**four_bar.joints, "A": four_bar.joints["A"].model_copy(update={"limits": (-1.0, 0.5)})}
    bare = four_bar.replace(
        actuators={"crank": {"joint": "A"}}, joints=joints, coordinates=["A"], rest={}, configurations={}
    )
    (box,) = region_boxes(bare)
    assert (box.lower, box.upper) == ((-1.0,), (0.5,))


def test_several_boxes(four_bar):
    assert len(region_boxes(four_bar, [{"crank": (-1, 0)}, {"crank": (0, 1)}])) == 2


@pytest.mark.parametrize(
    ("region", "message"),
    [
        ({"crank": (1.0, -1.0)}, "there is nothing"),
        ({"crank": (1.0,)}, "no interval"),
        ({"crank": (0.0, float("nan"))}, "there is nothing"),
        ({"cranck": (0, 1)}, 'did you mean "crank"'),
        ([], "no box"),
    ],
)
def test_what_is_wrong_is_told(four_bar, region, message):
    with pytest.raises(supple.InputError, match=message):
        region_boxes(four_bar, region)


def test_a_coordinate_without_limits_is_named(four_bar):
    bare = four_bar.replace(actuators={"crank": {"joint": "A"}})
    with pytest.raises(supple.InputError, match='coordinate "crank" has no limits'):
        supple.reduce(bare)


@pytest.mark.parametrize(
    "options",
    [
        {"fit": "cubic"}, {"boxes": (4, 4)}, {"boxes": 0}, {"tolerance": 0.0}, {"tolerance": 2.0},
        {"fit": "quadratic", "degree": 3}, {"boxes": 4, "continuous": True},
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(four_bar, options):
    with pytest.raises(supple.InputError):
        supple.reduce(four_bar, **options)
