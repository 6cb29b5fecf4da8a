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
        ({"crank": (1.0, -1.0)}, '"crank".*1 to -1'),
        ({"crank": (1.0,)}, r"\(got 1\).*\(lower, upper\)"),
        ({"crank": (0.0, float("nan"))}, "nan.*finite"),
        ({"cranck": (0, 1)}, 'did you mean "crank"'),
        ([], "no box"),
        (
            {"crank": (-60, 60)},
            r"-60 to 60 rad exceeds the limits -1.75 to 1.75 rad; did you mean crank=-60deg:60deg",
        ),
        ({"crank": 60}, r"60 rad.*limits.*did you mean crank=60deg\?"),
        ({"crank": (-2.0, 1.0)}, "limits.*widen"),
        ({"crank": 0.5}, "every coordinate is fixed"),
        ({"crank": (0.5, 0.5)}, "every coordinate is fixed"),
    ],
)
def test_what_is_wrong_is_told(four_bar, region, message):
    with pytest.raises(supple.InputError, match=message):
        region_boxes(four_bar, region)


def test_a_coordinate_without_limits_is_named(four_bar):
    bare = four_bar.replace(actuators={"crank": {"joint": "A"}})
    with pytest.raises(supple.InputError, match=r'"crank".*limits.*crank=LOWER:UPPER'):
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


def test_a_length_in_millimetres_is_recognised(orthoglide):
    with pytest.raises(supple.InputError, match=r"did you mean y=-100mm:0mm\?"):
        supple.reduce(orthoglide, region={"y": (-100, 0)})


def test_a_region_where_nothing_can_be_assembled_is_refused_before_any_work(four_bar, monkeypatch):
    """Without limits, closure itself tells: the crank locks at ±1.80 rad, and 30 to 90 degrees were meant."""
    monkeypatch.setattr("supple.reduction.reduce.Sampling", None)  # no sample is taken
    free = four_bar.replace(actuators={"crank": {"joint": "A"}})
    with pytest.raises(supple.InputError, match=r"at none of .* crank 30 to 90 rad; did you mean crank=30deg:90deg\?"):
        supple.reduce(free, region={"crank": (30, 90)})
    with pytest.raises(supple.InputError, match="choose a region around its rest"):
        supple.reduce(free, region={"crank": (2.5, 3.0)})


@pytest.mark.slow
def test_an_angle_of_many_turns_is_doubted():
    arm = supple.loads("""
supple: 1
name: wheel
bodies: {wheel: {mass: 1, inertia: [1, 1, 1]}}
joints: {hub: {revolute: [ground, wheel], at: O, axis: z}}
points: {O: [0, 0, 0]}
actuators: {hub: {joint: hub}}
""")
    with pytest.warns(supple.SuppleWarning, match=r"7\.96 turns.*hub=95deg:145deg"):
        supple.reduce(arm, region={"hub": (95, 145)}, progress=False)


def test_boxes_must_hold_the_same(orthoglide):
    with pytest.raises(supple.InputError, match=r"boxes.*same coordinates"):
        supple.reduce(orthoglide, region=[{"x": 0.0}, {"x": -0.1}])


@pytest.mark.parametrize(
    ("boxes", "what"),
    [(0, r"boxes: must be 1 or more \(got 0\)"), ([-2], r"boxes: .*\(got -2\)"), ([1, 2], r"boxes: .*crank \(got 2\)")],
)
def test_boxes_that_are_not_positive_or_too_many_are_refused_with_their_value(boxes, what):
    with pytest.raises(supple.InputError, match=what):
        supple.reduce(supple.load("four-bar"), region={"crank": (-0.1, 0.1)}, boxes=boxes, store=False, progress=False)
