"""Noise of responses is told apart as it was put in, and stated deviations are those of repeated tests."""

from __future__ import annotations

import numpy as np
import pytest
from identified_arm import ARM
from numpy.testing import assert_allclose
from scipy.stats import chi2

import supple
from supple.diagnostics import SuppleNote
from supple.formats.mechanism_file import loads
from supple.identification.updating.least_squares import response_noise

ETA = 0.03
LINES = np.linspace(4.0, 60.0, 80)
NAMES = ("T.x", "T.y", "T.z", "P.z")


def noisy(random, H, channels, force, lines):
    """H with noise of each channel and with that of the force, which all channels of a line share; E|.|² as given."""

    def circular(*shape):
        return (random.normal(size=shape) + 1j * random.normal(size=shape)) / np.sqrt(2.0)

    L, o, i = H.shape
    scale = np.sqrt(lines)[:, None, None]
    return H + scale * (np.sqrt(force) * circular(L, 1, i) * H + np.sqrt(channels) * circular(L, o, i))


def responses(H, lines=LINES, **more):
    channels = [supple.Channel(f"P{k}", "z") for k in range(H.shape[1])]
    return supple.Responses(lines, channels, [supple.Channel("T", "z", "force")], H, **more)


def test_noise_of_channels_of_the_force_and_along_the_lines_is_found_as_it_was_put_in():
    random = np.random.default_rng(1)
    L, o = 300, 12
    f = np.linspace(1.0, 100.0, L)
    H = sum(
        random.normal(size=(1, o, 1)) / (1.0 + 0.05j - (f / pole)[:, None, None] ** 2) for pole in (12.0, 31.0, 44.0)
    )
    channels = np.abs(H).mean() ** 2 * 10.0 ** random.uniform(-5.0, -3.0, (1, o, 1))
    along = np.exp(f / 60.0)
    along /= along.mean()
    found = response_noise(responses(noisy(random, H, channels, 4e-4, along), f), H, 5)
    assert_allclose(found.force, 4e-4, rtol=4.0 / np.sqrt(L))  # four deviations of a mean of squares
    assert_allclose(found.channels, channels, rtol=5.0 / np.sqrt(L))
    assert_allclose(found.lines[:, 0, 0], along, rtol=0.35)  # means of 34 lines by 12 channels, and the ends lean
    white = found.white(noisy(random, H, channels, 4e-4, along) - H)  # another test of the same kind
    assert np.mean(np.abs(white) ** 2) == pytest.approx(2.0, rel=0.1)
    together = np.abs(np.sum(found.along.conj() * white, axis=1)) ** 2
    assert np.mean(together) == pytest.approx(2.0, rel=4.0 / np.sqrt(L))


def test_what_h1_loses_to_noise_on_the_force_is_told():
    """(N - 1) b: of three blows two thirds of the noise-to-signal ratio of one."""
    random = np.random.default_rng(2)
    L, N, ratio = 20000, 3, 0.01

    def circular(*shape):
        return (random.normal(size=shape) + 1j * random.normal(size=shape)) / np.sqrt(2.0)

    H = np.ones((L, 2, 1)) * np.array([1.0, -0.4j])[:, None]
    X = np.ones((N, L, 1)) + np.sqrt(ratio) * circular(N, L, 1)
    Y = H[None, :, :, 0] + 0.02 * circular(N, L, 2)
    xx, yx = np.sum(np.abs(X) ** 2, axis=0), np.sum(Y * X.conj(), axis=0)
    coherence = np.abs(yx) ** 2 / xx / np.sum(np.abs(Y) ** 2, axis=0)
    test = responses((yx / xx)[:, :, None], np.arange(1.0, L + 1.0), coherence=coherence[:, :, None], averages=N,
                     estimator="H1")  # fmt: skip
    seen = np.mean((test.H / H).real)
    found = response_noise(test, H, 0)
    assert seen == pytest.approx(1.0 - ratio * (N - 1) / N, abs=4e-4)
    assert found.shown.mean() == pytest.approx(seen, abs=6e-4)
    assert response_noise(test.copy_with(estimator="Hv"), H, 0).shown.mean() == 1.0


@pytest.mark.slow
def test_errors_of_repeated_tests_are_those_that_are_stated():
    """Σ(error/deviation)² over tests has the distribution χ², for every number and for η."""
    arm = loads(ARM)
    names = ["k_knee", "k_drive", "O.rx"]
    H = supple.frf(arm, "bent", ["T.z"], NAMES, LINES, kind="accelerance", preload=False, damping={"structural": ETA},
                   drives=False).values  # fmt: skip
    channels = (0.02 * np.sqrt(np.mean(np.abs(H) ** 2, axis=0, keepdims=True))) ** 2
    pairs = [supple.Channel(*item.split(".")) for item in NAMES]
    random, scores = np.random.default_rng(3), []
    for _ in range(24):
        test = supple.Responses(LINES, pairs, [supple.Channel("T", "z", "force")],
                                noisy(random, H, channels, 1e-3, np.ones(len(LINES))))  # fmt: skip
        with pytest.warns(
            SuppleNote, match=r"loads at rest change .*by up to .* %"
        ):  # as of the responses here, they are left out
            found = supple.update(arm, supple.Measurement(at="bent", responses=test), names, prior=None, starts=1)
        truth = np.array([*found.before[: len(names)], ETA])
        scores.append(np.log(found.after / truth) / found.deviations)
    total = np.sum(np.square(scores), axis=0)
    assert (total > chi2.ppf(1e-3, len(scores))).all()
    assert (total < chi2.ppf(1.0 - 1e-3, len(scores))).all()
