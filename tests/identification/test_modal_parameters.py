"""Modal parameters of structures whose modes are known."""

import numpy as np
import pytest
from known_modes import Known, few_modes, matched, twenty_modes
from numpy.testing import assert_allclose

import supple
from supple.identification.modal_parameters.modal_parameters import phase_collinearity, phase_deviation

LINES = np.arange(10.0, 200.0, 0.125)
FEW = np.arange(5.0, 90.0, 0.25)


def deviations(known, found):
    which = matched(known, found)
    f = found.frequencies_hz[which] / known.frequencies_hz - 1.0
    z = found.damping[which] / known.damping - 1.0
    return np.abs(f), np.abs(z), np.diag(found.mac(known.shapes)[which])


# ---------------------------------------------------------------------------------------------------------- laws


@pytest.mark.parametrize("method", ["plscf", "ptd"])
@pytest.mark.parametrize("kind", ["receptance", "mobility", "accelerance"])
def test_without_noise_modes_are_exact_whatever_was_measured(method, kind):
    known = few_modes()
    found = supple.modal_parameters(known.measured(FEW, kind=kind), method=method)
    assert len(found) == 4
    # Normal equations lose half of the digits.
    assert_allclose(found.frequencies_hz, known.frequencies_hz, rtol=1e-7)
    assert_allclose(found.damping, known.damping, rtol=1e-5)
    assert_allclose(np.diag(found.mac(known.shapes)), 1.0, atol=1e-8)
    assert_allclose(found.phase_collinearity, 1.0, atol=1e-8)
    assert_allclose(found.synthesise(), found.responses.H, atol=1e-6 * np.abs(found.responses.H).max())


def test_masses_of_modes_come_from_the_response_where_it_was_pushed():
    known = few_modes()
    found = supple.modal_parameters(known.measured(FEW))
    # Shapes of unit modal mass whose largest entry is a have the mass 1/a² where that entry is 1.
    assert_allclose(found.modal_masses, 1.0 / np.abs(known.shapes).max(axis=1) ** 2, rtol=1e-5)
    elsewhere = supple.modal_parameters(known.measured(FEW).select(responses=["p2.z", "p3.z", "p4.z", "p5.z"]))
    assert np.isnan(elsewhere.modal_masses).all()


def test_modes_outside_the_band_are_in_the_residual_terms():
    known = Known(
        np.array([2.0, 20.0, 33.0, 35.0, 60.0, 400.0, 700.0]), np.full(7, 0.01),
        np.random.default_rng(2).standard_normal((7, 8)), 2,
    )  # fmt: skip
    found = supple.modal_parameters(known.measured(np.arange(10.0, 80.0, 0.2), kind="receptance"))
    inside = Known(known.frequencies_hz[1:5], known.damping[1:5], known.shapes[1:5], 2)
    f, z, alike = deviations(inside, found)
    assert len(found) == 4
    # Two terms stand for the tails of three modes: 400 Hz is within a sixth of its own frequency at the upper end.
    assert f.max() < 1e-5
    assert z.max() < 2e-3
    assert alike.min() > 0.9999


def test_units_of_channels_change_nothing_but_the_shapes():
    known = few_modes()
    test = known.measured(FEW, 0.02, seed=3)
    factors = 10.0 ** np.arange(-3.0, 3.0)
    found = supple.modal_parameters(test)
    other = supple.modal_parameters(test.copy_with(H=test.H * factors[:, None]))
    assert_allclose(other.poles, found.poles, rtol=1e-6)
    assert_allclose(other.mac(found.shapes * factors), other.mac(), atol=1e-6)


def test_the_damping_of_an_exponential_window_is_taken_off():
    known, rate = few_modes(), 1.5
    seen = known.poles - rate
    damped = Known(np.abs(seen) / (2.0 * np.pi), -seen.real / np.abs(seen), known.shapes, 1)
    found = supple.modal_parameters(damped.measured(FEW, window_rate=rate))
    assert_allclose(found.poles, known.poles, rtol=1e-5)
    assert_allclose(found.synthesise(), found.responses.H, atol=1e-6 * np.abs(found.responses.H).max())


@pytest.mark.slow
def test_deviations_are_those_of_repeated_tests():
    known = few_modes()
    scores = []
    for seed in range(12):
        found = supple.modal_parameters(
            known.measured(FEW, 0.05, seed=seed, relative=bool(seed % 2)), method=("plscf", "ptd")[seed % 3 == 0]
        )
        assert len(found) == 4
        scores.append((found.frequencies_hz - known.frequencies_hz) / found.frequency_deviations_hz)
        scores.append((found.damping - known.damping) / found.damping_deviations)
    scores = np.array(scores)
    # 96 scores of unit deviation: their RMS is 1 within 0.07, thrice that is allowed; 95 % lie within 1.96.
    assert 0.85 < np.sqrt(np.mean(scores**2)) < 1.2
    assert np.mean(np.abs(scores) < 1.96) > 0.9


@pytest.mark.slow
def test_shape_deviations_are_those_of_repeated_tests():
    known = few_modes()
    scores = []
    for seed in range(6):
        found = supple.modal_parameters(known.measured(FEW, 0.05, seed=seed))
        scale = known.shapes / known.shapes[np.arange(4), np.abs(known.shapes).argmax(axis=1)][:, None]
        scores.append((found.shapes.real - scale) / found.shape_deviations)
    off = np.abs(scale) < 0.9  # the largest entry is 1 by definition, and varies the others with it
    assert 0.6 < np.sqrt(np.mean(np.array(scores)[:, off] ** 2)) < 1.6


def test_two_modes_of_one_frequency_are_two_with_two_references():
    known = Known(np.array([30.0, 30.0, 55.0]), np.array([0.01, 0.01, 0.02]),
                  np.random.default_rng(5).standard_normal((3, 8)), 2)  # fmt: skip
    found = supple.modal_parameters(known.measured(np.arange(10.0, 80.0, 0.2), 0.01, seed=1))
    assert_allclose(found.frequencies_hz, known.frequencies_hz, rtol=1e-3)
    pairs = supple.pair_modes(found, (known.frequencies_hz, known.shapes))
    assert pairs.pairs[0].measured == pairs.pairs[0].model == (0, 1)
    assert pairs.pairs[0].mac > 0.999


def test_a_line_of_the_mains_is_no_mode():
    known = few_modes()
    test = known.measured(FEW, 0.02, seed=8)
    H = test.H.copy()
    H[np.argmin(np.abs(FEW - 50.0))] *= 30.0
    found = supple.modal_parameters(test.copy_with(H=H))
    assert_allclose(found.frequencies_hz, known.frequencies_hz, rtol=2e-3)


def test_noise_alone_has_no_modes():
    rng = np.random.default_rng(4)
    H = rng.standard_normal((400, 6, 2)) + 1j * rng.standard_normal((400, 6, 2))
    known = few_modes(2)
    test = known.measured(np.arange(1.0, 401.0) / 4.0).copy_with(H=H)
    with pytest.raises(supple.NumericalError, match=r"no pole is stable .*order"):
        supple.modal_parameters(test)


def test_a_coherence_weighs_the_lines():
    """Lines of a disturbed stretch, whose coherence says so, do not spoil what is near them."""
    known = few_modes()
    clean = known.measured(FEW, 0.01, seed=2)
    level = np.where((FEW > 30.0) & (FEW < 32.5), 3.0, 0.01)[:, None, None]
    rng = np.random.default_rng(6)
    e = rng.standard_normal(clean.H.shape) + 1j * rng.standard_normal(clean.H.shape)
    H = clean.H + np.abs(clean.H) * level * e
    coherence = np.broadcast_to(1.0 / (1.0 + 10.0 * level**2), H.shape)
    found = supple.modal_parameters(clean.copy_with(H=H, coherence=coherence, averages=10))
    f, z, _ = deviations(known, found)
    assert len(found) == 4
    assert f.max() < 1e-3
    assert z.max() < 0.03


def test_complexity_of_shapes():
    real = np.array([[1.0, -2.0, 0.5]]) * np.exp(0.7j)
    round_ = np.exp(2j * np.pi * np.arange(8) / 8)[None]
    assert_allclose(phase_collinearity(real), 1.0, atol=1e-14)
    assert_allclose(phase_deviation(real), 0.0, atol=1e-14)
    assert_allclose(phase_collinearity(round_), 0.0, atol=1e-14)  # as a wave that travels


# ------------------------------------------------------------------------------------------------------ references


@pytest.mark.parametrize("seed", [pytest.param(n, marks=[pytest.mark.slow] if n else []) for n in range(3)])
def test_twenty_modes_in_noise(seed):
    """Pairs 0.5 % apart, 0.1 to 10 % damping, 5 % noise: all are found, within these bounds, and none beside them."""
    known = twenty_modes(seed)
    found = supple.modal_parameters(known.measured(LINES, 0.05, seed=seed))
    assert len(found) == 20
    f, z, alike = deviations(known, found)
    print(f"seed {seed}: frequencies {f.max():.3%}, damping {z.max():.2%}, MAC {alike.min():.4f}")
    assert f.max() < 5e-4
    assert z.max() < 0.0125
    assert alike.min() > 0.999


@pytest.mark.slow
def test_twenty_modes_in_noise_by_the_time_domain():
    known = twenty_modes(2)
    found = supple.modal_parameters(known.measured(LINES, 0.05, seed=2), method="ptd")
    f, z, alike = deviations(known, found)
    assert len(found) == 20
    assert f.max() < 1e-3
    assert z.max() < 0.05
    assert alike.min() > 0.99


# --------------------------------------------------------------------------------------------------------- mistakes


def test_what_cannot_be_fitted_is_named():
    test = few_modes().measured(FEW)
    H = test.H.copy()
    H[10, 2] = np.nan
    for wrong, words in (
        (test.copy_with(H=H), "p2.z from p0.z"),
        (test.copy_with(H=np.where(np.arange(6)[:, None] == 3, 0.0, test.H)), "all lines are zero for p3.z"),
        (test.select(lines=np.arange(12)), r"at least 16 lines .*got 12"),
    ):
        with pytest.raises(supple.InputError, match=words):
            supple.modal_parameters(wrong)
    with pytest.raises(supple.InputError, match="plscf"):
        supple.modal_parameters(test, method="plscv")
    with pytest.raises(supple.InputError, match=r"order must be .*got 500"):
        supple.modal_parameters(test, order=500)
    uneven = test.select(lines=np.r_[np.arange(0, 100), np.arange(101, 300, 2)])
    with pytest.raises(supple.InputError, match="evenly"):
        supple.modal_parameters(uneven, method="ptd")
    assert len(supple.modal_parameters(uneven)) == 4
