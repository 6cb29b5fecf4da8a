"""Measured poles are damped: the model's are too when both are compared."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.identification.updating.observing import structural_share

sys.path.insert(0, str(Path(__file__).parents[2] / "laws"))
from identified_from_modes import (
    CHANNELS,
    LINES,
    START,
    TRUE,
    arm,
    modes_of,
    standardised,
)


@pytest.mark.parametrize("damping", ["structural 0.03", "structural 0.096", "ratio 0.05", "loss of a joint", "damper"])
def test_intervals_from_modal_parameters_cover_the_truth(damping):
    """The law of tests/laws/identified_from_modes.py; 3.5 deviations are exceeded once in 2000."""
    assert max(map(abs, standardised(damping, seed=3))) < 3.5


@pytest.mark.parametrize("window", [0.0, 1.5])
@pytest.mark.parametrize(("damping", "structural"), [("structural 0.2", True), ("ratio 0.1", False)])
def test_responses_tell_structural_from_viscous_damping(damping, structural, window):
    """s² = -ω²(1 + iη), and the other pole is -s; an exponential window moves both."""
    machine = arm(damping, TRUE)
    modes = supple.modes(machine, "bent", count=3, preload=False).frequencies_hz
    shapes = np.array([[1.0, 0.4, -0.3, 0.2], [0.2, 1.0, 0.5, -0.4], [-0.5, 0.3, 1.0, 0.6]])
    s = 2j * np.pi * LINES + window
    omega = 2.0 * np.pi * modes
    stiff = omega**2 * (1.0 + 0.2j) if structural else omega**2 + 2.0 * 0.1 * omega * s[:, None]
    H = np.einsum("ro,lr->lo", shapes * shapes[:, :1], 1.0 / (stiff + s[:, None] ** 2))[:, :, None]
    measured = [supple.Channel(*name.split("."), "displacement") for name in CHANNELS]
    test = supple.Responses(LINES, measured, [supple.Channel("T", "x", "force")], H, window_rate=window)
    found = supple.modal_parameters(test)
    assert found.structural is structural
    assert_allclose(found.natural_frequencies_hz, modes, rtol=1e-6)
    assert_allclose(found.synthesise(), H, atol=1e-5 * np.abs(H).max())
    # H = φ_o φ_i/(m ...): of shapes whose largest entry is one, the mass is one over the largest squared
    assert_allclose(found.modal_masses, 1.0 / np.abs(shapes).max(axis=1) ** 2, rtol=1e-4)


def test_poles_given_by_hand_are_compared_as_they_are_damped():
    """√(-Re s²) is ω of structural damping, |s| that of viscous damping, each exactly."""
    eta, hertz = 0.2, supple.modes(arm("structural 0.2", TRUE), "bent", count=3, preload=False).frequencies_hz
    s = 2j * np.pi * hertz * np.sqrt(1.0 + 1j * eta)
    poles = {"frequencies_hz": np.abs(s) / (2.0 * np.pi), "damping": -s.real / np.abs(s)}
    machine = arm("structural 0.2", START, laws=False)
    found = supple.update(machine, supple.Measurement(at="bent", structural=True, **poles), list(TRUE), prior=None)
    for name, value in TRUE.items():
        assert found[name] == pytest.approx(value, rel=1e-6)
    assert_allclose(found.postures[0].after_hz, poles["frequencies_hz"], rtol=1e-6)
    plain = {"frequencies_hz": hertz, "damping": np.full(3, 0.2)}
    found = supple.update(machine, supple.Measurement(at="bent", structural=False, **plain), list(TRUE), prior=None)
    assert found["shoulder"] == pytest.approx(TRUE["shoulder"], rel=1e-6)
    with pytest.raises(supple.InputError, match=r"damping must be 3 ratios .*got 1"):
        supple.Measurement(at="bent", frequencies_hz=hertz, damping=[0.1])


def test_a_kind_of_damping_that_nobody_knows_widens_the_intervals():
    """Midway between structural and viscous: both are within the interval. What the file says decides."""
    hertz = supple.modes(arm("structural 0.2", TRUE), "bent", count=3, preload=False).frequencies_hz
    found = {}
    for kind, size in (("structural", (1.0 - 2.0 * 0.1**2) ** -0.5), ("viscous", 1.0)):
        seen = supple.Measurement(at="bent", frequencies_hz=size * hertz, damping=[0.1] * 3, frequency_noise=1e-5)
        found[kind] = supple.update(arm("structural 0.2", START, laws=False), seen, list(TRUE), prior=None, starts=1)
        low, high = found[kind].intervals["shoulder"]
        assert low < TRUE["shoulder"] < high
        assert found[kind].deviations[0] > 0.005
        said = supple.update(arm(f"{'structural 0.2' if kind == 'structural' else 'ratio 0.1'}", START), seen,
                             list(TRUE), prior=None, starts=1)  # fmt: skip
        assert said["shoulder"] == pytest.approx(TRUE["shoulder"], rel=1e-4)
    assert structural_share(arm("structural 0.2", START)) == 1.0
    assert structural_share(arm("rayleigh", START)) == 0.0
    assert structural_share(arm("rayleigh", START, laws=False)) is None


def test_the_kind_of_damping_goes_with_the_file_of_modes(tmp_path):
    found = modes_of("structural 0.096", seed=1)
    for name in ("modes.npz", "modes.mat"):
        found.save(tmp_path / name)
        (again,) = supple.load_measurements(tmp_path / name, "bent")
        assert again.structural is True
        assert_allclose(again.damping, found.damping)
    found.save(tmp_path / "modes.uff")
    (again,) = supple.load_measurements(tmp_path / "modes.uff", "bent")
    assert_allclose(again.damping, found.damping, rtol=1e-4)  # single precision
