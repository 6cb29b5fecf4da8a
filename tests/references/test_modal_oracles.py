"""Poles of other codes: sdypy-EMA's least-squares complex frequency, pyOMA2's polyreference one, python-control's
realisation from impulse responses. The deviations of each from the truth, and ours, are printed (-s)."""

import contextlib
import sys
import warnings
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

sys.path.insert(0, str(Path(__file__).parents[1] / "identification"))
from known_modes import Known, few_modes

LINES = np.arange(0.25, 100.0, 0.25)


@pytest.fixture(scope="module")
def structure():
    return few_modes()


@pytest.fixture(scope="module")
def ours(structure):
    return supple.modal_parameters(structure.measured(LINES, 0.01, seed=11), band_hz=(5.0, 100.0))


def worst(poles, known):
    """Of the poles nearest to each known one: largest relative deviation of frequency, and of damping."""
    near = poles[np.abs(poles[:, None] - known.poles).argmin(axis=0)]
    f = np.abs(np.abs(near) / np.abs(known.poles) - 1.0)
    return float(f.max()), float(np.abs(-near.real / np.abs(near) / known.damping - 1.0).max())


def told(name, theirs, mine):
    print(f"{name}: frequencies {theirs[0]:.4%}, damping {theirs[1]:.2%}; ours {mine[0]:.4%}, {mine[1]:.2%}")


def test_poles_of_sdypy(structure, ours):
    sdypy = pytest.importorskip("sdypy.EMA", reason="sdypy-EMA is not installed: pip install 'supple[test]'")
    test = structure.measured(LINES, 0.01, seed=11)
    with warnings.catch_warnings(), contextlib.redirect_stdout(StringIO()), contextlib.redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        model = sdypy.Model(test.H[:, :, 0].T, test.frequencies_hz, lower=5, upper=100, pol_order_high=40)
        model.get_poles(show_progress=False)
    poles = np.asarray(model.all_poles[-1])
    theirs, mine = worst(poles[poles.imag > 0.0], structure), worst(ours.poles, structure)
    told("sdypy-EMA", theirs, mine)
    # Both find the poles; theirs is linear least squares and biased by noise, ours is the most likely.
    # The figures of docs/theory/modal-parameters.md.
    assert (theirs[0], theirs[1]) == (pytest.approx(9.3e-4, rel=0.1), pytest.approx(0.018, rel=0.1))
    assert (mine[0], mine[1]) == (pytest.approx(4e-5, rel=0.1), pytest.approx(3e-3, rel=0.1))


@pytest.mark.slow
def test_poles_of_pyoma(structure, ours):
    plscf = pytest.importorskip("pyoma2.functions.plscf", reason="pyoma-2 is not installed: pip install 'supple[test]'")
    known = Known(structure.frequencies_hz, structure.damping, structure.shapes, 2)
    hertz = np.linspace(0.0, 100.0, 401)
    H = known.receptance(hertz) * (2j * np.pi * hertz)[:, None, None] ** 2
    H += 0.01 * np.abs(H) * np.random.default_rng(3).standard_normal(H.shape)
    dt = 1.0 / (2.0 * hertz[-1])
    with contextlib.redirect_stderr(StringIO()):
        Ad, Bn = plscf.pLSCF(H.conj().transpose(1, 2, 0), dt, 24)  # phases there are as of exp(-iωt)
        poles = plscf.pLSCF_poles(Ad, Bn, dt, "per", 800)[3][:, -1]
    poles = poles[np.isfinite(poles) & (poles.imag > 0.0)]
    theirs, mine = worst(poles, known), worst(ours.poles, known)
    told("pyOMA2", theirs, mine)
    assert (theirs[0], theirs[1]) == (pytest.approx(1.02e-3, rel=0.1), pytest.approx(0.012, rel=0.1))
    assert mine[1] < theirs[1]


def test_poles_of_a_realisation(structure):
    """Impulse responses that were never in the frequency domain, through python-control, beside ours from the lines."""
    control = pytest.importorskip("control", reason="python-control is not installed: pip install 'supple[test]'")
    step, count = 1.0 / 250.0, 400
    t = step * np.arange(count)
    s = structure.poles
    residues = structure.shapes * structure.shapes[:, :1] / (2j * s.imag)[:, None]
    h = 2.0 * np.real(np.exp(np.outer(t, s)) @ residues)  # (count, outputs)
    with contextlib.redirect_stdout(StringIO()):
        found, _ = control.eigensys_realization(h.T[:, None, :], 8, dt=True)
    poles = np.log(np.linalg.eigvals(found.A).astype(complex)) / step
    theirs = worst(poles[poles.imag > 0.0], structure)
    mine = worst(supple.modal_parameters(structure.measured(LINES[19:]), method="ptd").poles, structure)
    told("eigensys_realization", theirs, mine)
    assert_allclose(theirs, 0.0, atol=1e-6)  # without noise it is exact, and so are we
    assert_allclose(mine, 0.0, atol=1e-5)
