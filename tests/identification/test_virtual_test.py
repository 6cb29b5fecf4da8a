"""Tests that are simulated: what they measure is the model, as far as their instruments let them."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.identification.testing.check_measurement import check_measurement
from supple.identification.testing.estimate_responses import estimate_responses
from supple.identification.testing.virtual_test import virtual_test

EXAMPLES = Path(__file__).parents[2] / "examples"
# A mass on a spring along z, and a second one on it: H is known by hand.
MASSES = """
supple: 1
name: masses
plane: xz
points: {A: [0, 0], B: [0, 1], C: [0, 2]}
bodies:
  lower: {mass: 2, center: B, inertia: 1, at: B}
  upper: {mass: 1, center: C, inertia: 1, at: C}
joints:
  first: {prismatic: [ground, lower], at: B, axis: z, drive: {stiffness: 4e4, damping: 12}}
  second: {prismatic: [lower, upper], at: C, axis: z, drive: {stiffness: 2e4, damping: 8}}
actuators: {first: {joint: first}, second: {joint: second}}
"""
M = np.diag([2.0, 1.0])
K, C = (np.array([[a + b, -b], [-b, b]]) for a, b in ((4e4, 2e4), (12.0, 8.0)))


def exact(lines):
    s = (2j * np.pi * lines)[:, None, None]
    return s**2 * np.linalg.inv(M * s**2 + C * s + K)


@cache
def masses():
    return supple.loads(MASSES)


@cache
def surgiscope():
    return supple.load(EXAMPLES / "surgiscope" / "mechanism.yaml")


@cache
def impacts(**options):
    settings = {"sampling_hz": 256.0, "samples": 1024, "seed": 2, **options}
    return virtual_test(masses(), None, "upper.z", ["lower.z", "upper.z"], **settings)


def test_two_masses_are_measured_as_they_are():
    """Through blows, records, windows and spectra, against (M s² + C s + K)⁻¹ by hand; the band's end rings."""
    found = impacts().responses.select(band_hz=(0.0, 115.0))
    H = exact(found.frequencies_hz)[:, :, 1:]
    assert_allclose(found.H, H, atol=2e-3 * np.abs(H).max())
    assert_allclose(
        impacts().exact.H, exact(impacts().exact.frequencies_hz)[:, :, 1:], rtol=1e-6, atol=1e-9 * np.abs(H).max()
    )


def test_behind_an_exponential_window_the_poles_are_shifted_by_its_rate():
    found = impacts(exponential=0.01).responses.select(band_hz=(0.0, 115.0))
    s = (found.window_rate + 2j * np.pi * found.frequencies_hz)[:, None, None]
    H = (s**2 * np.linalg.inv(M * s**2 + C * s + K))[:, :, 1:]
    assert_allclose(found.H, H, atol=2e-3 * np.abs(H).max())
    assert_allclose(found.window_rate, np.log(100.0) / 4.0)


@pytest.mark.parametrize("noise", [0.01, 0.05])
def test_noise_is_as_large_as_was_asked(noise):
    silent, noisy = impacts().records, impacts(noise=noise).records
    for name in ("x", "y"):
        true = getattr(silent, name)
        added = np.sqrt(np.mean((getattr(noisy, name) - true) ** 2, axis=2))
        assert_allclose(added, noise * np.sqrt(np.mean(true**2, axis=2)), rtol=0.12)  # of 1024 samples: 3 of 4 %
    found = impacts(noise=noise).responses.select(band_hz=(2.0, 40.0))
    H = exact(found.frequencies_hz)[:, :, 1:]
    assert np.sqrt(np.mean(np.abs(found.H - H) ** 2)) < 2.0 * noise * np.sqrt(np.mean(np.abs(H) ** 2))


def test_the_same_seed_is_the_same_test_and_another_is_another():
    again = virtual_test(masses(), None, "upper.z", ["lower.z", "upper.z"], sampling_hz=256.0, seed=2, noise=0.01)
    assert_array_equal(impacts(noise=0.01).records.y, again.records.y)
    assert np.abs(impacts(noise=0.01).records.x - impacts(noise=0.01, seed=3).records.x).max() > 1.0


def test_a_repeated_test_is_the_one_of_its_seed():
    again = impacts(noise=0.02).repeat(5)
    anew = impacts(noise=0.02, seed=5)
    assert_array_equal(again.records.y, anew.records.y)
    assert_array_equal(again.responses.H, anew.responses.H)
    assert_array_equal(again.exact.H, anew.exact.H)


def test_a_converter_has_steps_and_ends():
    found = impacts(bits=8).records
    step = found.full_scale[1:, None] / 2.0**7
    codes = found.y / step
    assert_allclose(codes, np.round(codes), atol=1e-9)
    assert np.abs(codes).max() <= 2.0**7
    assert_allclose(found.full_scale[1:], 1.25 * np.abs(impacts().records.y).max(axis=(0, 2)), rtol=1e-9)


def test_two_points_are_struck_one_after_the_other():
    found = virtual_test(masses(), None, ["lower.z", "upper.-z"], ["lower.z", "upper.z"], sampling_hz=256.0, impacts=2)
    assert found.records.count == 4
    rests = np.abs(found.records.x[[0, 1, 2, 3], [1, 1, 0, 0]]).max()
    assert rests == 0.0
    test = found.responses.select(band_hz=(0.0, 110.0))
    H = exact(test.frequencies_hz) * np.array([1.0, -1.0])
    assert_allclose(test.H, H, atol=3e-3 * np.abs(H).max())
    assert_allclose(test["lower.z", "upper.-z"], -test["upper.z", "lower.z"], atol=3e-3 * np.abs(H).max())


@pytest.mark.parametrize("shaker", ["multisine", "chirp", "burst"])
def test_shakers_measure_the_same(shaker):
    both = ["lower.z", "upper.z"]
    options = {"sampling_hz": 256.0, "samples": 2048, "impacts": 8, "seed": 1}
    found = virtual_test(masses(), None, both, both, shaker=shaker, **options).responses.select(band_hz=(2.0, 100.0))
    H = exact(found.frequencies_hz)
    # Periodic signals leak nothing (the model itself has seven digits); a burst leaves what has not died away.
    assert_allclose(found.H, H, atol=(2e-2 if shaker == "burst" else 1e-6) * np.abs(H).max())


def test_displacements_and_velocities_too():
    for quantity, order in (("displacement", 2), ("velocity", 1)):
        found = impacts(quantity=quantity)
        assert found.responses.responses[0].quantity == quantity
        part = found.responses.select(band_hz=(2.0, 100.0))
        H = exact(part.frequencies_hz)[:, :, 1:] / ((2j * np.pi * part.frequencies_hz) ** order)[:, None, None]
        assert_allclose(part.H, H, atol=4e-3 * np.abs(H).max())


def test_what_is_left_out_of_a_file_can_be_estimated_again(tmp_path):
    """One file with responses and records; records give the same responses, to the digits of the file."""
    test = impacts(noise=0.01, bits=16)
    path = test.save(tmp_path / "test.uff")
    responses, records = supple.load_responses(path), supple.load_records(path)
    assert [one.name for one in responses.responses] == ["lower.z", "upper.z"]
    assert_allclose(responses.H, test.responses.H, rtol=1e-10)
    again = estimate_responses(records)
    assert_allclose(again.H, test.responses.H, atol=1e-8 * np.abs(test.responses.H).max())
    assert responses.responses[1].position == (0.0, 0.0, 2.0)
    assert records.full_scale is not None


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"samples": 3}, r"samples: .*at least 16 .*got 3"), ({"impacts": 0}, r"impacts: .*at least 1 .*got 0"),
        ({"noise": -1.0}, r"noise: .*got -1"),
        ({"sampling_hz": 0.0}, r"sampling_hz: .*got 0 Hz"), ({"bits": 1}, r"bits: .*2 to 32 .*got 1"),
        ({"ranges": {"forec": 1.0}}, r'"forec".*no such channel'),
        ({"shaker": "earthquake"}, r'"earthquake"'), ({"quantity": "strain"}, r'"lower\.z": .*got strain'),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_told(options, what):
    with pytest.raises(supple.InputError, match=what):
        impacts(**{key: value for key, value in options.items() if key != "ranges"}) if "ranges" not in options else (
            virtual_test(masses(), None, "upper.z", "upper.z", sampling_hz=256.0, **options)
        )


@pytest.mark.parametrize(
    ("hammer", "sensors", "what"),
    [
        ("upper", ["upper.z"], "no direction"), ((), ["upper.z"], r"hammer: no point"),
        ("upper.z", [], r"sensors: no point"),
        ("uper.z", ["upper.z"], 'unknown point.* "uper"; did you mean "upper"'),
        ("upper.y", ["upper.z"], "does not move along y"),
    ],
)  # fmt: skip
def test_where_nothing_can_be_struck_or_seen_is_told(hammer, sensors, what):
    with pytest.raises(supple.InputError, match=what):
        virtual_test(masses(), None, hammer, sensors, sampling_hz=256.0)


def test_without_damping_nothing_dies_away_and_it_is_told():
    text = MASSES.replace(", damping: 12", "").replace(", damping: 8", "")
    with pytest.raises(supple.InputError, match=r"decayed only to .* % after .* s; .*damping"):
        virtual_test(supple.loads(text), None, "upper.z", "upper.z", sampling_hz=256.0, samples=256)


@pytest.mark.slow
def test_the_surgiscope_at_forty_points():
    """As in its paper: 40 points by 3 directions, 1024 samples in 2.046 s, three blows, here skew ones."""
    points = ["platform", *(f"arm{i}[{share:.4g}]" for i in (1, 2, 3) for share in np.linspace(0.0, 1.0, 14)[1:])]
    found = virtual_test(
        surgiscope(), "second", ("platform", (0.3, 0.2, -1.0)), points, sampling_hz=1024 / 2.046, noise=0.01, seed=1
    )
    assert found.records.y.shape == (3, 120, 1024)
    assert_allclose(found.responses.frequencies_hz[1], 1.0 / 2.046)
    assert any("structural damping has no causal motion" in note for note in found.responses.notes)
    below = found.responses.select(band_hz=(0.0, 100.0))
    H = found.exact.select(band_hz=(0.0, 100.0)).H
    error = np.sum(np.abs(below.H - H) ** 2) / np.sum(np.abs(H) ** 2)
    assert error < 1e-4  # J_Q: 1 % of noise, averaged over three blows


@pytest.mark.slow
def test_a_skew_blow_is_the_sum_of_its_parts():
    options = {"sampling_hz": 200.0, "samples": 256, "impacts": 1}
    skew = virtual_test(surgiscope(), "second", ("platform", (0.6, 0.0, 0.8)), "platform.y", **options).exact
    parts = virtual_test(surgiscope(), "second", ["platform.x", "platform.z"], "platform.y", **options).exact
    assert_allclose(skew.H[:, 0, 0], parts.H[:, 0] @ [0.6, 0.8], rtol=1e-9)


@pytest.mark.slow
def test_a_channel_that_symmetry_forbids_shows_noise():
    """A vertical blow in the middle at the first posture: sideways nothing but the floor of the sensors is seen."""
    found = virtual_test(
        surgiscope(), "first", "platform.z", ["platform"], sampling_hz=250.0, samples=256, noise=0.01, seed=1
    )
    coherence = found.responses.coherence[:, :, 0].mean(axis=0)
    assert coherence[2] > 0.95
    assert (coherence[:2] < 0.7).all()  # three records of noise alone have one third in the mean


def test_what_does_not_move_is_told():
    """Across the guides nothing moves: a share of nothing is no error, and the channel is named."""
    found = virtual_test(masses(), None, "upper.z", ["upper.x", "upper.z"], sampling_hz=256.0, samples=256, noise=0.01)
    across, along = found.table().columns["error"]
    assert np.isnan(across)
    assert 0.0 < along < 0.2
    assert "upper.x does not move" in " ".join(found.responses.notes)
    quiet = virtual_test(masses(), None, "upper.z", ["upper.x", "upper.z"], sampling_hz=256.0, samples=256)
    (dead,) = (one for one in check_measurement(quiet.responses, masses()).suspicions if one.kind == "dead channel")
    assert dead.channel == "upper.x"
    assert not dead.certain  # a fit is made with the other
    assert "the model does not move there either" in dead.what
