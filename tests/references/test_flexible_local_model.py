"""The flexible four-bar of Brüls, Duysinx and Golinval (2007), reconstructed: its local model.

The figures were computed with another program from the same Euler-Bernoulli beams, 4 a bar: inertia of the crank,
stiffness of the constraint mode for the height of the hinge E, internal modes with crank and hinge held, and modes with
the crank alone held. They are printed to five or six digits.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import supple
from supple.cli.main import run

FILE = Path(__file__).parents[2] / "examples" / "flexible-four-bar" / "mechanism.yaml"
TABLE = {
    -1.2: (0.070597, 8.13465e3, [37.120, 47.248, 48.005, 84.636], [16.478, 37.120, 47.248, 50.730]),
    0.0: (0.172774, 3.32502e3, [26.489, 47.995, 55.748, 84.719], [10.268, 26.489, 54.162, 55.748]),
    0.7: (0.045980, 2.38171e7, [20.920, 25.451, 47.991, 85.577], [20.920, 25.451, 47.990, 85.577]),
}
PRINTED = 1e-4


def compared(angle, M, K, internal_hz):
    inertia, stiffness, internal, locked = TABLE[angle]
    M, K = np.array(M), np.array(K)
    assert M.shape == K.shape == (6, 6)
    assert_allclose(M[0, 0], inertia, rtol=PRINTED)
    assert_allclose(K[1, 1], stiffness, rtol=PRINTED)
    assert_allclose(internal_hz, internal, rtol=PRINTED)
    hz = np.sqrt(eigh(K[1:, 1:], M[1:, 1:], eigvals_only=True)) / (2 * np.pi)
    # Five modes stand for all of the locked mechanism's: its frequencies from above, the lowest within two thousandths.
    assert (hz[:4] > np.array(locked) * (1 - PRINTED)).all()
    assert_allclose(hz[:2], locked[:2], rtol=2e-3)


@pytest.mark.parametrize("angle", TABLE)
def test_local_model(angle):
    model = supple.local(supple.load(FILE), [angle], constraint_modes=["E.z"], internal_modes=4)
    assert model.coordinates == ("crank", "E.z", "mode1", "mode2", "mode3", "mode4")
    compared(angle, model.M, model.K, model.internal_hz)
    assert_allclose(supple.modes(supple.load(FILE), [angle], count=4).frequencies_hz, TABLE[angle][3], rtol=PRINTED)


@pytest.mark.parametrize("angle", TABLE)
def test_local_model_at_the_command_line(angle, capsys):
    line = f"local {FILE} --at crank={angle} --constraint-modes E.z --internal-modes 4 --json"
    with pytest.raises(SystemExit) as end:
        run(line.split())
    assert end.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert found["coordinates"] == ["crank", "E.z", "mode1", "mode2", "mode3", "mode4"]
    assert found["inputs"] == ["crank", "E.z"]
    compared(angle, found["M"], found["K"], found["internal_hz"])
    n = len(found["coordinates"])
    G, dM = np.array(found["christoffel"]), np.array(found["dM"])
    assert G.shape == dM.shape == (n, n, n)
    assert_allclose(G + G.transpose(1, 0, 2), dM, atol=1e-12 * np.abs(dM).max())
    assert len(found["outputs"]["E.z"]["modes"]) == n - 1


def test_stiffness_peaks_where_crank_and_coupler_align_and_falls_towards_the_singularities():
    angles = np.linspace(-1.75, 1.75, 141)
    K = supple.local(supple.load(FILE), angles[:, None], constraint_modes=["E.z"], internal_modes=1).K[:, 1, 1]
    assert abs(angles[np.argmax(K)] - 0.7) < 0.03
    assert K.max() > 1e6 > 1e3 > K[0]
    assert K[-1] < K[-20]
