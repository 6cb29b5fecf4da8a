"""Measurements that are wrong: each is named with its channel and what to do; sound ones are left in peace."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.identification.testing.check_measurement import check_measurement, join_responses
from supple.identification.testing.matching import match_channels
from supple.identification.testing.model_responses import model_responses, place_channels
from supple.identification.testing.suspicions import suspicions
from supple.identification.testing.virtual_test import virtual_test
from supple.kinematics.closure import assemble

SURGISCOPE = Path(__file__).parents[2] / "examples" / "surgiscope" / "mechanism.yaml"
POINTS = ("platform", "arm1[0.5]", "arm2[0.9]", "arm3[0.7]")


@cache
def robot(elbow="1.0e4"):
    """The Surgiscope; with softer elbows it is what the model is not yet."""
    text = SURGISCOPE.read_text(encoding="utf-8").replace("elbow_rx: 1.0e4", f"elbow_rx: {elbow}")
    for name in ("geometry", "beams", "stiffness"):
        table = (SURGISCOPE.parent / f"{name}.csv").read_text(encoding="utf-8")
        text = text.replace(
            f"  {name}: {name}.csv\n", f"  {name}: |\n" + "".join(f"    {line}\n" for line in table.splitlines())
        )
    return supple.loads(text)


@cache
def struck(posture):
    """A simulated test of a robot that is a little softer than the model that it is checked with."""
    return virtual_test(
        robot("7.0e3"), posture, "platform.z", POINTS, sampling_hz=512.0, samples=1024, noise=0.01, seed=4
    )


def measured(posture="second"):
    """Its responses up to 120 Hz, points by number as an analyser has them, with where they are."""
    found = struck(posture).responses.select(band_hz=(2.0, 120.0))
    numbers = {}
    renamed = [
        tuple(one.copy_with(point=f"{numbers.setdefault(one.point, len(numbers) + 101)}") for one in channels)
        for channels in (found.responses, found.references)
    ]
    return found.copy_with(responses=renamed[0], references=renamed[1])


def told(check):
    return [(item.kind, item.channel) for item in check.suspicions if item.certain]


@pytest.mark.slow
def test_a_sound_test_is_left_in_peace():
    found = check_measurement(measured(), robot())
    assert told(found) == []
    assert found.sound
    assert found.require_sound() is found.responses
    assert [match.place for match in found.matched.matches] == ["tool", "arm1[0.5]", "arm2[0.9]", "arm3[0.7]"]
    assert max(match.distance for match in found.matched.matches) < 1e-9


@pytest.mark.slow
def test_numbers_in_millimetres_are_named():
    test = measured()
    one = np.array([1e3 if channel.name == "102.y" else 1.0 for channel in test.responses])[:, None]
    assert told(check_measurement(test.copy_with(H=test.H * one), robot())) == [("units", "arm1[0.5].y")]
    every = check_measurement(test.copy_with(H=test.H * 1e3), robot())
    assert told(every) == [("units", "reference tool.z")]
    assert "mm/s²" in every.suspicions[0].what
    with pytest.raises(supple.InputError, match="--unit"):
        every.require_sound()


def test_a_dead_channel_is_named():
    test = measured()
    H = test.H.copy()
    H[:, 4] = 0.0
    assert told(check_measurement(test.copy_with(H=H), robot())) == [("dead channel", "arm1[0.5].y")]
    assert [(item.kind, item.channel) for item in suspicions(test.copy_with(H=H))] == [("dead channel", "102.y")]


def test_lines_that_are_not_finite_are_named():
    H = measured().H.copy()
    H[7, 2] = np.nan
    found = check_measurement(measured().copy_with(H=H), robot())
    assert told(found) == [("not finite", "tool.z")]
    assert "1 of 237 lines" in found.suspicions[0].what


@pytest.mark.parametrize("name", ["101.z", "102.x", "103.y", "104.z"])
def test_a_reversed_sensor_is_named(name):
    """101.z is a driving point, which needs no model; the others are told by it."""
    found = check_measurement(measured().reverse_channels(name), robot())
    place = {"101": "tool", "102": "arm1[0.5]", "103": "arm2[0.9]", "104": "arm3[0.7]"}[name[:3]]
    assert told(found) == [("reversed", f"{place}.{name[-1]}")]
    assert f'test.reverse_channels("{place}.{name[-1]}")' in found.suspicions[0].hint
    alone = [item.kind for item in suspicions(measured().reverse_channels(name)) if item.certain]
    assert alone == (["reversed"] if name == "101.z" else [])


def test_a_reversed_hammer_is_named():
    test = measured()
    assert told(check_measurement(test.copy_with(H=-test.H), robot())) == [("reversed", "reference tool.z")]


@pytest.mark.slow
def test_where_a_sign_cannot_be_decided_it_is_said():
    """A vertical blow in the middle at the first posture moves the platform along z alone: x and y are noise."""
    test = struck("first").responses.select(["platform.x", "platform.y", "platform.z"], band_hz=(2.0, 120.0))
    rng = np.random.default_rng(3)
    H = test.H + 1e-4 * (rng.normal(size=test.H.shape) + 1j * rng.normal(size=test.H.shape))
    found = check_measurement(test.copy_with(H=H), robot())
    doubtful = {item.channel for item in found.suspicions if item.kind == "undecided"}
    assert {"platform.x", "platform.y"} <= doubtful
    assert all("cannot be determined" in item.what for item in found.suspicions if item.kind == "undecided")


def test_reciprocity_tells_a_reversed_pair_without_a_model():
    places = [
        channel
        for name in ("platform.x", "arm1[0.5].z")
        for channel in place_channels(assemble(robot(), "second"), name, "acceleration")
    ]
    forces = [one.copy_with(quantity="force") for one in places]
    test = model_responses(robot(), "second", forces, places, np.linspace(2.0, 120.0, 200))
    assert suspicions(test) == []
    found = suspicions(
        test.reverse_channels("platform.x", references="platform.x")
    )  # both: still reciprocal and passive
    assert found == []
    H = test.H.copy()
    H[:, 0] *= -1.0
    kinds = {item.kind for item in suspicions(test.copy_with(H=H))}
    assert kinds == {"reversed"}


def test_exchanged_axes_are_named():
    test = measured()
    H = test.H.copy()
    H[:, [0, 2]] = H[:, [2, 0]]
    found = [item for item in check_measurement(test.copy_with(H=H), robot()).suspicions if item.kind == "axes"]
    assert len(found) == 1
    assert "x is the model's z" in found[0].what
    assert "tool.x" in found[0].channel


def test_too_few_lines_are_named():
    few = check_measurement(measured().select(lines=np.arange(0, 230, 12)), robot())
    assert ("too few lines", "") in told(few)
    assert "at least 32 lines (got 20)" in str(few.suspicions[0])
    coarse = suspicions(measured().select(lines=np.arange(0, 237, 7)))
    assert [item.kind for item in coarse] == ["too few lines"]
    assert "longer records" in coarse[0].hint


def test_a_point_that_matches_no_sensor_is_named():
    test = measured()
    moved = tuple(one.copy_with(position=(0.1, 0.2, 0.3)) if one.point == "103" else one for one in test.responses)
    with pytest.raises(
        supple.InputError, match=r'point "103" at \(0.1, 0.2, 0.3\) m matches no sensor.*nearest is.*--place'
    ):
        match_channels(test.copy_with(responses=moved), robot())
    nowhere = tuple(one.copy_with(position=None) if one.point == "103" else one for one in test.responses)
    with pytest.raises(supple.InputError, match=r'unknown place "103".*no position'):
        match_channels(test.copy_with(responses=nowhere), robot())
    given = match_channels(test.copy_with(responses=nowhere), robot(), places={"103": "arm2[0.9]"})
    assert given.matches[2] == ("103", "arm2[0.9]", "given", pytest.approx(float("nan"), nan_ok=True))
    with pytest.raises(supple.InputError, match='"arm9", given for point "103", is not a place'):
        match_channels(test.copy_with(responses=nowhere), robot(), places={"103": "arm9"})


def test_points_of_another_posture_are_named_with_the_posture():
    test = measured().copy_with(at="")
    with pytest.raises(supple.InputError, match='all points match at the posture "second"'):
        match_channels(test, robot(), "first")
    named = tuple(one.copy_with(point={"101": "platform"}.get(one.point, one.point)) for one in test.responses)
    with pytest.raises(supple.InputError, match=r'point "platform" is 4.* mm from the place "platform"'):
        match_channels(test.copy_with(responses=named), robot(), "first")
    with pytest.raises(supple.InputError, match='"second", not "first"; leave `at` out'):
        match_channels(measured(), robot(), "first")


def test_responses_of_another_posture_are_named_without_positions():
    """Points by name alone, so that only the responses themselves can tell."""
    test = struck("second").responses.select(band_hz=(2.0, 120.0)).copy_with(at="first")
    plain = [tuple(one.copy_with(position=None) for one in channels) for channels in (test.responses, test.references)]
    found = check_measurement(test.copy_with(responses=plain[0], references=plain[1]), robot())
    assert "posture" in [item.kind for item in found.suspicions if item.certain]
    assert any('the posture "second"' in item.what for item in found.suspicions)


def test_files_of_different_postures_are_not_joined():
    first, second = (struck(name).responses for name in ("first", "second"))
    with pytest.raises(supple.InputError, match=r"made at second, the first at first.*separate tests"):
        join_responses(first, second)
    with pytest.raises(supple.InputError, match=r'channel "platform\.[xz]" differs .*correlation .*separate tests'):
        join_responses(first, second.copy_with(at="first"))
    names = [one.name for one in second.responses]
    both = join_responses(second.select(names[:7]), second.select(names[4:]))
    assert [one.name for one in both.responses] == names
    assert_allclose(both.H, second.H)
    with pytest.raises(supple.InputError, match=r"lines differ.*same sample rate"):
        join_responses(second, second.select(band_hz=(0.0, 50.0)))


@pytest.mark.slow
def test_a_clipped_blow_is_named_with_its_channel():
    with pytest.raises(
        supple.InputError,
        match=r"record 1, platform.z: .*clipped at its full scale of 30.*wider range or a softer impact",
    ):
        virtual_test(
            robot(), "second", "platform.z", ["platform.z"], sampling_hz=512.0, bits=16, ranges={"force": 30.0}
        )
