"""A model that is not what was asked for says so: `met`, a warning, words in its provenance."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.approximation.piecewise.piecewise import Piecewise
from supple.reduced.file import load_model
from supple.reduction.domain import domain_of
from supple.reduction.stated_error import indefinite, missed_errors


def test_a_missed_tolerance_is_told(four_bar, tmp_path):
    with pytest.warns(supple.SuppleWarning, match="exceeds the tolerance 1e-06"):
        model = supple.reduce(four_bar, region={"crank": (-1.0, 1.0)}, tolerance=1e-6, budget=20)
    assert not model.met
    assert any("1e-06" in words for words in model.provenance["missed"])
    assert not load_model(model.save(tmp_path / "x.rom")).met


def test_a_model_that_meets_its_tolerance_says_so(four_bar):
    model = supple.reduce(four_bar, region={"crank": (-0.5, 0.5)}, tolerance=1e-2)
    assert model.met
    assert model.provenance["missed"] == []


def test_an_error_above_one_is_warned_of_on_a_grid_too(four_bar):
    """One quadratic box over 200 degrees: Γ and p are no better than nothing."""
    with pytest.warns(supple.SuppleWarning, match="model is unusable: .* above 1"):
        model = supple.reduce(four_bar, fit="quadratic", boxes=1)
    assert max(model.error.values()) > 1.0
    assert not model.met


def test_a_mass_matrix_that_is_not_positive_is_found(four_bar):
    """The same model with its mass lowered until it passes through zero somewhere in the region."""
    region = {"crank": (-1.0, 1.0)}
    model = supple.reduce(four_bar, region=region, tolerance=1e-3)
    domain = domain_of(four_bar, region)
    assert indefinite(domain, model) == []
    coefficients = model.fitted.arrays.coefficients.copy()
    first = model.layout.columns["M"][0]
    lowest = model.evaluate(np.linspace(-0.999, 0.999, 200)[:, None]).M.min()
    for leaf in model.fitted.arrays.leaves_i:
        coefficients[leaf[0], first] -= 1.2 * lowest  # the constant term
    lowered = Piecewise(model.fitted.arrays._replace(coefficients=coefficients))
    (words,) = indefinite(domain, supple.ReducedModel(model.name, model.layout, lowered))
    assert "mass matrix is not positive definite at crank=" in words


def test_errors_are_put_into_words():
    error = {"M": 1e-4, "K_ιι": 3e-3, "frequencies": 2.3, "p": float("nan")}
    assert len(missed_errors(error, 1e-3)) == 3
    assert missed_errors(error, None) == [
        "the error of frequencies is 2.3, above 1", "the error of p is nan, above 1"
    ]  # fmt: skip


def test_a_tolerance_below_what_samples_are_known_to_is_refused(four_bar):
    with pytest.raises(supple.InputError, match=r"tolerance: 1e-11.*1e-09"):
        supple.reduce(four_bar, tolerance=1e-11)
