"""The published mechanisms: what the papers' grids give, and how much less our refinement takes."""

from pathlib import Path

import numpy as np
import pytest
from functions import Known
from numpy.testing import assert_array_less

import supple
from supple.approximation.evaluated import Samples
from supple.approximation.fit_error import norms, point_errors
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.refinement import adaptive
from supple.approximation.refinement.uniform import uniform

EXAMPLES = Path(__file__).parents[2] / "examples"
ORTHOGLIDE = [Box((-0.26,) * 3, (0.06,) * 3)]
FOUR_BAR = [Box((-1.75,), (1.75,))]


def families(M, dM, force):
    N = len(M)
    christoffel = 0.5 * (dM + dM.transpose(0, 1, 3, 2) - dM.transpose(0, 3, 1, 2))
    return {"M": M.reshape(N, -1), "christoffel": christoffel.reshape(N, -1), "force": force}


class Lagrangian(Known):
    """M and the potential are fitted; Christoffel symbols and forces follow from their gradients."""

    def __init__(self, name):
        super().__init__(np.asarray, None)
        self.mechanism = supple.load(EXAMPLES / name / "mechanism.yaml")

    def at(self, x):
        model = supple.local(self.mechanism, x)
        i, j = np.triu_indices(x.shape[1])
        values = np.hstack([model.M[:, i, j], model.potential[:, None]])
        gradients = np.concatenate([model.dM[:, i, j], -model.force[:, None]], axis=1)
        exact = families(model.M, model.dM, model.force)
        return Samples(values, gradients, exact, np.ones(len(x), dtype=bool))

    def derived(self, values, gradients):
        N, _, s = gradients.shape
        i, j = np.triu_indices(s)
        M, dM = np.empty((N, s, s)), np.empty((N, s, s, s))
        M[:, i, j] = M[:, j, i] = values[:, :-1]
        dM[:, i, j] = dM[:, j, i] = gradients[:, :-1]
        return families(M, dM, -gradients[:, -1])


class Direct(Lagrangian):
    """Every coefficient is fitted, as in the paper."""

    def at(self, x):
        exact = super().at(x).families
        return Samples(np.hstack(list(exact.values())), None, exact, np.ones(len(x), dtype=bool))

    def derived(self, values, gradients):
        s = gradients.shape[2]
        M, christoffel, force = np.split(values, [s**2, s**2 + s**3], axis=1)
        return {"M": M, "christoffel": christoffel, "force": force}


@pytest.fixture(scope="module")
def orthoglide():
    return Lagrangian("orthoglide")


@pytest.fixture(scope="module")
def four_bar():
    return Lagrangian("four-bar")


def errors_at(function, result, x, region):
    """Errors at x against the median over the region."""
    rng = np.random.default_rng(6)
    spread = function.at(rng.uniform(region[0].lower, region[0].upper, (2000, region[0].dimension))).families
    medians = {name: float(np.median(norms(family))) for name, family in spread.items()}
    return point_errors(function.at(x).families, function.derived(*result.piecewise.with_gradient(x)), medians)


def honest(function, result, region):
    x = np.random.default_rng(9).uniform(region[0].lower, region[0].upper, (10_000, region[0].dimension))
    errors = errors_at(function, result, x, region)
    return all((error > 1.1 * result.error[name].worst).mean() <= 1e-3 for name, error in errors.items())


@pytest.mark.slow
@pytest.mark.parametrize(("tolerance", "evaluations"), [(5e-3, 200), (1e-4, 1000)])
def test_the_orthoglide_takes_few_evaluations(orthoglide, tolerance, evaluations):
    orthoglide.calls.clear()
    result = adaptive(ORTHOGLIDE, tolerance, orthoglide, orthoglide.derived)
    assert result.worst <= tolerance
    assert orthoglide.evaluations == result.samples + result.checks <= evaluations  # the paper's grid took 2969
    assert honest(orthoglide, result, ORTHOGLIDE)


@pytest.mark.slow
def test_the_papers_grid_of_the_orthoglide():
    function = Direct("orthoglide")
    result = uniform(ORTHOGLIDE, [8, 8, 8], function, function.derived)
    assert result.samples == 2969
    assert (result.boxes, result.depth) == (512, 9)
    x = np.random.default_rng(2).uniform(-0.26, 0.06, (2000, 3))
    errors = errors_at(function, result, x, ORTHOGLIDE)
    # Computed independently: 0.042 %, 0.27 %, 0.016 %; the worst of 2000 random points comes close to that.
    for name, known in (("M", 4.2e-4), ("christoffel", 2.7e-3), ("force", 1.6e-4)):
        assert 0.5 * known < errors[name].max() < 1.1 * known
    diagonal = np.linspace(-0.26, 0.06, 200)[:, None].repeat(3, axis=1)
    for error in errors_at(function, result, diagonal, ORTHOGLIDE).values():
        assert_array_less(error, 5e-3)  # printed


def test_the_papers_grid_of_the_four_bar():
    function = Direct("four-bar")
    result = uniform(FOUR_BAR, [16], function, function.derived)
    errors = errors_at(function, result, np.linspace(-1.2, 1.2, 2001)[:, None], FOUR_BAR)
    for name, known in (("M", 4.4e-3), ("christoffel", 3.0e-2), ("force", 1.9e-3)):
        assert errors[name].max() == pytest.approx(known, rel=0.1)  # two digits are given


@pytest.mark.slow
def test_the_four_bar_takes_fewer_boxes_than_a_uniform_grid(four_bar):
    result = adaptive(FOUR_BAR, 1e-3, four_bar, four_bar.derived, fit="quadratic")
    assert result.worst <= 1e-3
    assert honest(four_bar, result, FOUR_BAR)
    # Even twice as many equal boxes do not reach it.
    assert uniform(FOUR_BAR, [2 * result.boxes], four_bar, four_bar.derived).worst > 1e-3
    automatic = adaptive(FOUR_BAR, 1e-3, four_bar, four_bar.derived)
    assert automatic.boxes < result.boxes / 10
    assert honest(four_bar, automatic, FOUR_BAR)


def test_the_four_bar_continuously(four_bar):
    result = adaptive(FOUR_BAR, 1e-3, four_bar, four_bar.derived, continuous=True)
    assert result.worst <= 1e-3
    assert result.jumps["M"] < 1e-11
