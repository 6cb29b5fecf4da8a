"""A mode of the set crosses one outside it that it is not coupled to: nothing happens to its derivatives."""

from functools import cache

import numpy as np
import pytest
from flexible_cases import EXAMPLES
from numpy.testing import assert_allclose
from scipy.optimize import brentq

import supple
from supple.formulations.elastic_rest.constrained_modes import constrained_modes
from supple.formulations.elastic_rest.response_operator import Structure, response_operator
from supple.parameterization.internal_modes import Eigenmodes, separate_crossings
from supple.parameterization.modal_parameterization import modal_parameterization
from supple.parameterization.mode_choice import ModeChoice

FAMILIES = ("M", "dM", "K", "dK", "christoffel")
BESIDE = 2e-4  # rad: frequencies differ by 4e-4 of themselves there
OUT_OF_PLANE = 3  # place below the crossing of a mode that no motion in the plane is coupled to


@cache
def four_bar():
    return supple.load(EXAMPLES / "flexible-four-bar" / "mechanism.yaml")


def at(crank):
    return supple.local(four_bar(), np.reshape(crank, (-1, 1)), constraint_modes=["E.z"], internal_modes=3,
                        tracking="subspace")  # fmt: skip


@cache
def crossing():
    """Where the third mode of the set has the frequency of the next outside it, from the frequencies alone."""
    system = modal_parameterization(four_bar(), ModeChoice(("E.z",), 3, "subspace"))
    held = system.rest.list_loaded_rows()

    def gap(crank):
        X = supple.assemble(four_bar(), [[crank]]).X
        squares = constrained_modes(system.rest, held, X, OUT_OF_PLANE + 1, 1e-12)[0][0]
        outside = 2 * (at(crank).internal_hz[0, -1] < np.sqrt(squares[-1]) / (2 * np.pi) * (1 - 1e-9)) - 1
        return float(outside * (squares[-1] / squares[-2] - 1.0))

    return brentq(gap, 0.5640, 0.5660, xtol=1e-15)


@pytest.mark.parametrize("name", FAMILIES)
def test_coefficients_at_an_uncoupled_crossing_are_those_beside_it(name):
    """Both sides, from a rounding to a ten-thousandth of a radian: on the cubic through four points beside."""
    steps = np.concatenate([[0.0], *(sign * 10.0 ** np.arange(-15.0, -3.5) for sign in (-1.0, 1.0))])
    nodes = np.array([-2.0, -1.0, 1.0, 2.0]) * BESIDE
    beside = np.asarray(getattr(at(crossing() + nodes), name))
    found = np.asarray(getattr(at(crossing() + steps), name))
    shares = np.array([np.prod([(steps - b) / (a - b) for b in nodes if b != a], axis=0) for a in nodes])
    expected = np.tensordot(shares.T, beside, 1)
    assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


def oscillators(t, coupling):
    """Two free masses, soft rows that θ = t stiffens and softens, and one between them."""
    root = np.sqrt(coupling)
    rows = np.array([[np.sqrt(1.0 + t), 0.0], [0.0, np.sqrt(1.0 - t)], [root, root]])
    slopes = np.array([[[0.5 / np.sqrt(1.0 + t), 0.0], [0.0, -0.5 / np.sqrt(1.0 - t)], [0.0, 0.0]]])
    return Structure(np.zeros(2), rows, np.ones(3)), slopes


@pytest.mark.parametrize("offset", [0.0, 0.3, -2.0])
@pytest.mark.parametrize("coupling", [0.0, 1e-8, 1e-4])
def test_what_crosses_is_told_from_what_veers(coupling, offset):
    """ω² = 1 + κ ± √(t² + κ²): modes veer in a strip as wide as κ, and are left alone; without κ they are unmixed."""
    t = offset * (coupling or 1e-6)
    structure, slopes = oscillators(t, coupling)
    squares, vectors = np.linalg.eigh(structure.rows.T @ structure.rows)
    residual = 0.0 if coupling else 1e-12
    angle = min(residual / max(squares[1] - squares[0], 1e-15), 0.6)
    mixed = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) @ vectors.T
    found, apart = Eigenmodes(squares, mixed.copy()), np.empty((2, 2))
    separate_crossings(structure, response_operator(structure, 0.1), slopes, found, apart)
    if coupling:
        assert not apart.any()
        assert_allclose(found.shapes, mixed, rtol=0.0, atol=0.0)
    else:
        assert_allclose(apart, [[0.0, 1.0], [1.0, 0.0]])
        assert_allclose(np.abs(found.shapes).min(axis=1), 0.0, atol=1e-12)
