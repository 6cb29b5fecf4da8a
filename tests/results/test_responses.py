"""Measured responses: what they are made of, and how they change into one another."""

import numpy as np
import pytest
from every_result import measured
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.results.channel import Channel, channel


@pytest.mark.parametrize("name", ["tip.z", "tip.-z", "tip.rx", "gauge", "arm1.rod.-x", "tip.(0.6 0 0.8)"])
def test_a_channel_is_found_again_by_its_name(name):
    assert channel(name).name == name
    assert channel(name).reverse().reverse() == channel(name)


def test_directions_along_an_axis_have_its_letter():
    assert Channel("tip", (0.0, 0.0, -2.0)).direction == "-z"
    assert_allclose(Channel("tip", (3.0, 0.0, 4.0)).vector, [0.6, 0.0, 0.8])
    assert_array_equal(channel("tip.-ry").vector, [0.0, -1.0, 0.0])
    assert (channel("tip.-ry", "force").unit, channel("tip.y", "velocity").unit) == ("N m", "m/s")


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: Channel("tip", "w"), "not a direction"),
        (lambda: Channel("tip", (0.0, 0.0, 0.0)), "zero vector"),
        (lambda: Channel("tip", "z", "jerk"), 'unknown quantity "jerk"'),
        (lambda: channel("tip.(1 2)"), r"three finite numbers.*1.0, 2.0"),
        (lambda: measured()["tip.x", "tip.-z"], 'unknown response "tip.x"; did you mean "tip.z"'),
        (lambda: measured().select(band_hz=(200.0, 300.0)), "no frequency line between 200 and 300 Hz"),
        (lambda: measured().to("jerk"), 'unknown motion quantity "jerk"'),
        (lambda: measured().copy_with(frequencies_hz=np.zeros(20)), "frequencies_hz: must increase"),
        (lambda: measured().copy_with(H=np.zeros((3, 2, 1))), r"\(got \(3, 2, 1\)\)"),
        (lambda: measured().copy_with(responses=(channel("tip.z"), channel("tip.z"))), "two channels"),
    ],
)
def test_what_cannot_be_is_named(make, what):
    with pytest.raises(supple.InputError, match=what):
        make()


def test_nobody_writes_into_it():
    with pytest.raises(ValueError, match="read-only"):
        measured().H[0] = 0.0


def test_derivatives_are_powers_of_i_omega():
    """There and back is the identity; the line at 0 Hz is left out, and said to be, where it is divided by zero."""
    test = measured().copy_with(window_rate=0.0)
    receptance = test.to_receptance()
    assert len(receptance.frequencies_hz) == 19
    assert "0 Hz" in receptance.notes[-1]
    assert receptance.kind == "receptance"
    omega = 2.0 * np.pi * receptance.frequencies_hz
    assert_allclose(receptance["tip.z", "tip.-z"], -test["tip.z", "tip.-z"][1:] / omega**2, rtol=1e-14)
    assert_allclose(receptance.to_accelerance().H, test.H[1:], rtol=1e-14)
    assert_array_equal(test.to_accelerance().H, test.H)
    assert (test.unit(0, 0), receptance.unit(0, 0)) == ("(m/s²)/N", "m/N")


def test_a_reversed_channel_changes_its_sign_and_no_other():
    test = measured()
    assert_array_equal(test.reverse_channels("tip.z").H[:, 0], -test.H[:, 0])
    assert_array_equal(test.reverse_channels("tip.z").H[:, 1], test.H[:, 1])
    assert_array_equal(test.reverse_channels(references="tip.-z").H, -test.H)


def test_some_channels_and_lines():
    some = measured().select("tip.(0.6 0.8 0)", band_hz=(3.0, 7.5))
    assert_array_equal(some.frequencies_hz, [3.0, 4.0, 5.0, 6.0, 7.0])
    assert_array_equal(some.H[:, 0], measured().H[3:8, 1])
    assert_array_equal(some.coherence[:, 0], measured().coherence[3:8, 1])


def test_behind_an_exponential_window_derivatives_are_powers_of_sigma_plus_i_omega():
    """What is left of H is H(σ + iω), and A(s) = s² R(s) holds there as anywhere; 0 Hz is no exception then."""
    test = measured()
    s = test.window_rate + 2j * np.pi * test.frequencies_hz
    assert_allclose(test.to_receptance().H, test.H / (s**2)[:, None, None], rtol=1e-14)
    assert len(test.to_receptance().frequencies_hz) == 20


@pytest.mark.parametrize("ending", ["npz", "mat", "uff"])
def test_what_is_saved_is_read_back(ending, tmp_path):
    test = measured().copy_with(at={"lift": 0.25})
    found = supple.load_responses(test.save(tmp_path / f"test.{ending}"))
    assert (found.responses, found.references) == (test.responses, test.references)
    for name in ("frequencies_hz", "H", "coherence"):  # a universal file has twelve digits
        assert_allclose(getattr(found, name), getattr(test, name), rtol=1e-11 if ending == "uff" else 0.0)
    for name in ("averages", "window_rate", "at", "title", *(["notes"] if ending != "uff" else [])):
        assert getattr(found, name) == getattr(test, name)


def test_a_table_keeps_numbers_and_units(tmp_path):
    test = measured().to_mobility()
    found = supple.load_responses(test.save(tmp_path / "test.csv"))
    assert [one.quantity for one in found.responses] == ["velocity", "velocity"]
    assert [one.name for one in found.responses] == [one.name for one in test.responses]
    assert_array_equal(found.H, test.H)
    assert_array_equal(found.coherence, test.coherence)
    assert not found.notes


def test_a_picture_has_magnitude_phase_and_coherence():
    assert len(measured().plot().axes) == 3
    assert len(measured().plot(("tip.z", "tip.-z")).axes[0].lines) == 1
