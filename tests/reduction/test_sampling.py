"""Samples depend on θ alone, are computed once, and carry the derivatives they claim."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.distribution.workplace import workplace
from supple.parameterization.mode_choice import ModeChoice
from supple.reduction import sampling as module
from supple.reduction.column_choice import choose_columns
from supple.reduction.sampling import Sampling, samples_name


def random_points(mechanism, count, half=0.1, seed=0):
    rest = supple.assemble(mechanism).theta
    return rest + np.random.default_rng(seed).uniform(-half, half, (count, len(rest)))


@pytest.fixture
def counted(monkeypatch):
    """θ of every local model that is computed."""
    seen = []
    compute = module.sampled_rows
    monkeypatch.setattr(
        module, "sampled_rows", lambda mechanism, theta, choice: seen.extend(theta) or compute(mechanism, theta, choice)
    )
    return seen


@pytest.mark.parametrize("name", ["four_bar", "orthoglide", "stewart"])
def test_values_do_not_depend_on_batches(name, request):
    mechanism = request.getfixturevalue(name)
    theta = random_points(mechanism, 300)
    at_once, valid = Sampling(mechanism).rows(theta)
    assert valid.all()
    one_by_one = Sampling(mechanism)
    shuffled = np.random.default_rng(1).permutation(len(theta))
    for n in shuffled[:60]:
        assert_array_equal(one_by_one.rows(theta[n : n + 1])[0][0], at_once[n])
    assert_array_equal(Sampling(mechanism).rows(theta[shuffled])[0], at_once[shuffled])


def test_values_do_not_depend_on_processes(orthoglide):
    theta = random_points(orthoglide, 150)
    with workplace(workers=2) as place:
        alone, together = Sampling(orthoglide), Sampling(orthoglide, place=place)
        assert_array_equal(together.rows(theta)[0], alone.rows(theta)[0])
    assert together.evaluations == len(theta)


def test_a_sample_is_computed_once(four_bar, tmp_path, counted):
    theta = np.linspace(-1.7, 1.7, 700)[:, None]  # several batches
    first = Sampling(four_bar, store=tmp_path / "samples")
    rows, _ = first.rows(np.vstack([theta, theta[::3], -0.0 * theta[:1], 0.0 * theta[:1]]))
    first.close()
    assert len(counted) == first.evaluations == len(theta) + 1  # zero is one point
    again = Sampling(four_bar, store=tmp_path / "samples")
    assert_array_equal(again.rows(theta)[0], rows[: len(theta)])
    again.close()
    assert (len(counted), again.evaluations) == (len(theta) + 1, 0)


def test_what_only_names_things_does_not_change_the_samples(four_bar):
    assert samples_name(four_bar) == samples_name(four_bar.replace(configurations={"there": {"crank": 1.0}}))
    assert samples_name(four_bar) != samples_name(four_bar.replace(gravity=[0, -1.62]))
    assert samples_name(four_bar) != samples_name(four_bar, ModeChoice(internal=2))


def test_configurations_that_do_not_exist_are_marked(four_bar):
    rows, valid = Sampling(four_bar).rows(np.array([[-2.0], [0.0], [1.7], [1.9]]))
    assert valid.tolist() == [False, True, True, False]
    assert np.isnan(rows[~valid]).all()


@pytest.mark.parametrize("name", ["carrying", "pushed", "orthoglide", "stewart"])
def test_gradients_are_the_derivatives_of_the_values(name, request):
    mechanism = request.getfixturevalue(name)
    sampling, theta = Sampling(mechanism), random_points(mechanism, 20)
    s, step = theta.shape[1], 1e-5
    columns = choose_columns(mechanism, sampling.layout, sampling.rows(theta)[0], np.full(s, 0.2), structured=True)
    samples = columns.samples(*sampling.rows(theta))
    for k in range(s):
        ahead, behind = (columns.samples(*sampling.rows(theta + sign * step * np.eye(s)[k])) for sign in (1, -1))
        slope = (ahead.values - behind.values) / (2 * step)
        scale = np.abs(samples.gradients).max()
        assert_allclose(samples.gradients[:, :, k], slope, rtol=0, atol=1e-7 * scale)  # of order step², and 1e-12/step


@pytest.mark.parametrize("name", ["carrying", "pushed", "orthoglide", "stewart"])
@pytest.mark.parametrize("structured", [True, False])
def test_families_follow_from_exact_values_and_gradients(name, structured, request):
    mechanism = request.getfixturevalue(name)
    sampling, theta = Sampling(mechanism), random_points(mechanism, 20)
    rows, valid = sampling.rows(theta)
    columns = choose_columns(mechanism, sampling.layout, rows, np.full(theta.shape[1], 0.2), structured=structured)
    samples = columns.samples(rows, valid)
    gradients = samples.gradients if structured else np.zeros((*samples.values.shape, theta.shape[1]))
    found = columns.derive_families(samples.values, gradients)
    local = supple.local(mechanism, theta)
    assert set(found) == set(samples.families)
    for family, values in found.items():
        assert_array_equal(values, samples.families[family])
        if family != "outputs":
            assert_allclose(values.reshape(getattr(local, family).shape), getattr(local, family), rtol=0, atol=1e-12)


def test_what_does_not_change_is_not_fitted(orthoglide, carrying, pushed):
    def chosen(mechanism, structured=True):
        sampling, theta = Sampling(mechanism), random_points(mechanism, 5)
        return choose_columns(
            mechanism, sampling.layout, sampling.rows(theta)[0], np.full(theta.shape[1], 0.2), structured=structured
        ).layout

    found = chosen(orthoglide)
    assert set(found.columns) == {"M", "potential", "outputs"}
    assert_array_equal(found.constants["input_map"], np.eye(3).ravel())  # the digits beyond are rounding
    assert_array_equal(found.constants["damping"], np.zeros(6))
    assert (found.christoffel, found.force) == ("from-mass", "from-potential")
    everything = {"M", "potential", "damping", "input_map", "outputs", "friction_map"}
    assert set(chosen(carrying).columns) == everything
    assert set(chosen(carrying, structured=False).columns) == everything | {"christoffel", "force"}
    without_potential = chosen(pushed)
    assert set(without_potential.columns) == everything - {"potential"} | {"force"}
    assert without_potential.force == "fitted"
    weightless = chosen(orthoglide.replace(gravity=None))
    assert set(weightless.columns) == {"M", "outputs"}
    assert_array_equal(weightless.constants["force"], np.zeros(3))
