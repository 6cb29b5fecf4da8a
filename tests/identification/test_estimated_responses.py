"""Records to responses: systems whose H is known, through the whole chain; windows undone exactly; faults found."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import signal

import supple
from supple.identification.testing.estimate_responses import (
    damping_without_window,
    estimate_responses,
    exponential_rate,
    record_faults,
    without_window,
)
from supple.identification.testing.excitation import SHAKERS, impact_spectrum, shaker_signals

FS, N = 512.0, 1024
# Two masses in a row to the wall, viscous: M q̈ + C q̇ + K q = f.
MASS, STIFF = np.diag([2.0, 1.0]), np.array([[6e4, -2e4], [-2e4, 2e4]])
DAMP = 4e-4 * STIFF + 8.0 * MASS


def channels(count, quantity="displacement", force=False):
    return tuple(supple.Channel(f"m{i + 1}", "z", "force" if force else quantity) for i in range(count))


def exact(lines, sigma=0.0):
    """H(s) = (M s² + C s + K)⁻¹ at s = σ + iω: (lines, 2, 2)."""
    s = (sigma + 2j * np.pi * lines)[:, None, None]
    return np.linalg.inv(MASS * s**2 + DAMP * s + STIFF)


def answered(force):
    """Displacements for forces (records, 2, samples), periodic over a padded record: sampled at FS, band-limited."""
    padded = 8 * N
    F = np.fft.rfft(force, padded, axis=2)
    H = exact(np.fft.rfftfreq(padded, 1.0 / FS))
    return np.fft.irfft(np.einsum("lrp,npl->nrl", H, F), padded, axis=2)[:, :, :N]


def impacts(count=3, start=16):
    force = np.zeros((count, 2, N))
    for n in range(count):
        force[n, 0, start : start + 6] = (80.0 + 10.0 * n) * np.sin(np.pi * (np.arange(6) + 0.5) / 6)
    return force


def struck(count=3, noise=0.0, **changes):
    force = impacts(count)
    rng = np.random.default_rng(11)
    x, y = force[:, :1], answered(force)
    for part in (x, y):
        part += noise * np.sqrt(np.mean(part**2, axis=2, keepdims=True)) * rng.normal(size=part.shape)
    made = supple.TimeRecords(FS, channels(1, force=True), channels(2), x, y, 16 / FS, at="first", title="two masses")
    return made.copy_with(**changes)


@pytest.mark.parametrize("estimator", ["H1", "H2", "Hv"])
def test_without_noise_every_estimator_is_exact(estimator):
    """Records die away to 1e-5, so that nothing leaks; below the first gap in the spectrum of the blow."""
    found = estimate_responses(struck(), estimator=estimator).select(band_hz=(0.0, 100.0))
    H = exact(found.frequencies_hz)[:, :, :1]
    assert_allclose(found.H, H, atol=2e-4 * np.abs(H).max())
    assert_allclose(found.coherence, 1.0, atol=1e-3)
    assert (found.averages, found.estimator, found.at, found.window_rate) == (3, estimator, "first", 0.0)


def test_an_exponential_window_gives_h_at_sigma_plus_i_omega_exactly():
    """As far as a sampled blow goes: what its answer rings before it, 1e-6 of it, is not in the record."""
    found = estimate_responses(struck(), exponential=1e-3).select(band_hz=(0.0, 100.0))
    assert found.window_rate == exponential_rate(1e-3, N / FS)
    H = exact(found.frequencies_hz, found.window_rate)[:, :, :1]
    assert_allclose(found.H, H, atol=3e-6 * np.abs(H).max())
    twice = found.to_accelerance().to_receptance()
    assert_allclose(twice.H, found.H, rtol=1e-12)


def test_the_damping_that_the_window_adds_is_taken_off_exactly():
    true = np.array([-1.2 + 40.0j, -0.3 + 90.0j])
    rate = exponential_rate(0.01, 2.0)
    found = true - rate
    assert_allclose(without_window(found, rate), true, rtol=1e-15)
    size = np.abs(found)
    ratios = damping_without_window(-found.real / size, size / (2.0 * np.pi), rate)
    assert_allclose(ratios, -true.real / np.abs(true), rtol=1e-12)


def test_noise_is_averaged_and_its_deviation_is_told():
    """5 % noise on everything, 40 blows: H1 within its own stated deviation, in the mean over lines."""
    found = estimate_responses(struck(40, noise=0.05))
    H = exact(found.frequencies_hz)[:, :, :1]
    band = (found.frequencies_hz > 5.0) & (found.frequencies_hz < 60.0)
    error = np.abs(np.abs(found.H) - np.abs(H))[band]
    stated = found.deviations()[band]
    ratio = np.sqrt(np.mean(error**2)) / np.sqrt(np.mean(stated**2))
    assert 0.6 < ratio < 1.6  # the formula is a first-order one, and 110 lines are a sample
    assert found.coherence[band].mean() > 0.8


def test_noise_is_as_large_with_a_reference_that_moves_nothing():
    """Two white forces, of which the second does not move the response: the deviation of both pairs is told alike."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((40, 2, 256))
    y = 2.0 * x[:, :1] + 0.3 * rng.standard_normal((40, 1, 256))
    forces = tuple(supple.Channel(name, "z", "force") for name in ("a", "b"))
    records = supple.TimeRecords(256.0, forces, (supple.Channel("c", "z", "acceleration"),), x, y)
    found = estimate_responses(records)
    stated = np.sqrt((found.deviations()[:, 0] ** 2).mean(axis=0))
    error = np.sqrt((np.abs(found.H[:, 0] - [2.0, 0.0]) ** 2).mean(axis=0) / 2.0)  # of each part
    assert_allclose(stated, error, rtol=0.2)  # 128 lines: 9 %


def test_h1_is_low_h2_high_and_hv_between_under_noise():
    noisy = struck(30, noise=0.2)
    low, high, between = (np.abs(estimate_responses(noisy, estimator=name).H) for name in ("H1", "H2", "Hv"))
    assert (low <= between * (1.0 + 1e-9)).all()
    assert (between <= high * (1.0 + 1e-9)).all()
    assert_allclose(between, np.sqrt(low * high), rtol=1e-9)  # of one reference


@pytest.mark.parametrize("kind", SHAKERS)
def test_shakers_at_two_points_tell_the_whole_matrix(kind):
    """Periodic signals in steady state and bursts leave no leakage; random needs a window, and keeps a little of it."""
    force = shaker_signals(kind, sampling_hz=FS, samples=N if kind != "random" else 32 * N, records=8, inputs=2,
                           band_hz=(2.0, 100.0), seed=3)  # fmt: skip
    samples = force.shape[2]
    lines = np.fft.rfftfreq(samples, 1.0 / FS)
    y = np.fft.irfft(np.einsum("lrp,npl->nrl", exact(lines), np.fft.rfft(force, axis=2)), samples, axis=2)
    test = supple.TimeRecords(FS, channels(2, force=True), channels(2), force, y)
    options = {"window": "hann", "blocks": 4 * N, "overlap": 0.6} if kind == "random" else {}
    found = estimate_responses(test, **options).select(band_hz=(5.0, 90.0))
    H = exact(found.frequencies_hz)
    assert_allclose(found.H, H, atol=(2e-2 if kind == "random" else 1e-9) * np.abs(H).max())
    assert_allclose(found.H, found.H.transpose(0, 2, 1), atol=(4e-2 if kind == "random" else 1e-9) * np.abs(H).max())


def test_forces_that_push_alike_are_refused():
    force = np.repeat(impacts()[:, :1], 2, axis=1)
    test = supple.TimeRecords(FS, channels(2, force=True), channels(2), force, answered(force))
    with pytest.raises(supple.InputError, match=r"proportional.*independent signals"):
        estimate_responses(test)
    with pytest.raises(supple.InputError, match=r"2 references need .*got 1"):
        estimate_responses(test.without(0, 1))


def test_signals_have_the_size_and_the_band_that_was_asked():
    for kind in SHAKERS:
        found = shaker_signals(
            kind, sampling_hz=FS, samples=N, records=2, inputs=3, band_hz=(20.0, 50.0), rms=4.0, seed=1
        )
        assert_allclose(np.sqrt(np.mean(found**2, axis=2)), 4.0, rtol=1e-12)
        power = np.abs(np.fft.rfft(found, axis=2)) ** 2
        lines = np.fft.rfftfreq(N, 1.0 / FS)
        outside = power[:, :, (lines < 15.0) | (lines > 55.0)].sum() / power.sum()
        assert outside < (0.02 if kind in ("burst", "chirp") else 1e-20)  # both come and go


def test_a_blow_has_the_spectrum_of_half_a_sine():
    """Against the sampled pulse itself, at a rate at which sampling does not count."""
    fs, duration = 2e5, 0.004
    t = np.arange(int(0.05 * fs)) / fs
    pulse = np.where((t >= 0.01) & (t <= 0.014), 120.0 * np.sin(np.pi * (t - 0.01) / duration), 0.0)
    lines = np.array([0.0, 50.0, 125.0, 260.0, 375.0])
    direct = [np.sum(pulse * np.exp(-2j * np.pi * f * t)) / fs for f in lines]
    assert_allclose(impact_spectrum(lines, 120.0, duration, 0.01), direct, atol=1e-5 * 120.0 * duration)


# ------------------------------------------------------------------------------------------------ faults


def test_good_blows_have_no_faults():
    assert not record_faults(struck(5, noise=0.01))


def test_a_double_hit_is_found_and_left_out():
    test = struck(4)
    x = test.x.copy()
    x[2, 0, 90:96] += 0.2 * x[2, 0, 16:22]
    found = record_faults(test.copy_with(x=x))
    assert [(fault.record, fault.channel, fault.kind) for fault in found] == [(2, "m1.z", "double hit")]
    assert "144 ms" in found[0].what or "145 ms" in found[0].what
    responses = estimate_responses(test.copy_with(x=x))
    assert responses.averages == 3
    assert "omitted: record 3, m1.z: a second impact" in responses.notes[0]


@pytest.mark.parametrize("known", [True, False])
def test_a_clipped_blow_is_found_by_its_scale_or_by_its_flat_top(known):
    test = struck(4)
    x = np.clip(test.x, -60.0, 60.0)
    x[0] = 0.5 * test.x[0]
    full = np.array([60.0, 1.0, 1.0]) if known else None
    found = record_faults(test.copy_with(x=x, full_scale=full))
    assert {(fault.record, fault.channel, fault.kind) for fault in found} == {
        (n, "m1.z", "overload") for n in (1, 2, 3)
    }
    assert all("softer impact" in fault.hint for fault in found)
    assert estimate_responses(test.copy_with(x=x, full_scale=full)).averages == 1


def test_when_nothing_is_left_it_is_said():
    with pytest.raises(supple.InputError, match=r"all 3 records .* record 1, m1\.z: .*clipped.*softer impact"):
        estimate_responses(struck().copy_with(x=np.clip(struck().x, -20.0, 20.0)))
    assert estimate_responses(struck().copy_with(x=np.clip(struck().x, -20.0, 20.0)), keep_faulty=True).averages == 3


def test_samples_that_are_not_finite_and_dead_channels_are_named():
    y = struck().y.copy()
    y[1, 0, 100] = np.nan
    y[:, 1] = 0.0
    found = estimate_responses(struck().copy_with(y=y))
    assert "omitted: record 2, m1.z: 1 samples are not finite" in " ".join(found.notes)
    assert "m2.z: the signal is constant" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"estimator": "H3"}, r'"H3".*H1'), ({"exponential": 0.0}, r"exponential: .*got 0"),
        ({"force_length": -1.0}, r"positive.*-1 s"), ({"window": "square"}, r'"square".*hann'),
        ({"blocks": 4}, r"blocks: .*got 4"),
        ({"overlap": 1.0}, r"overlap: .*got 1"),
    ],
)  # fmt: skip
def test_wrong_options_are_named(options, what):
    with pytest.raises(supple.InputError, match=what):
        estimate_responses(struck(), **options)


def test_scipy_agrees_on_welchs_method():
    """Another way to the same numbers: csd over welch, of one long record in blocks."""
    force = shaker_signals("random", sampling_hz=FS, samples=16 * N, seed=5)
    y = answered(np.concatenate([force[:, :, :N], np.zeros((1, 1, N))], axis=1))
    test = supple.TimeRecords(FS, channels(1, force=True), channels(2), force[:, :, :N], y)
    found = estimate_responses(test, window="hann", blocks=256, overlap=0.5)
    options = {"fs": FS, "window": "hann", "nperseg": 256, "noverlap": 128, "detrend": False}
    for i in range(2):
        H = (signal.csd(force[0, 0, :N], y[0, i], **options)[1] / signal.welch(force[0, 0, :N], **options)[1])[:-1]
        assert_allclose(found.H[:, i, 0], H, rtol=1e-7)
        assert_allclose(
            found.coherence[:, i, 0], signal.coherence(force[0, 0, :N], y[0, i], **options)[1][:-1], atol=1e-9
        )
