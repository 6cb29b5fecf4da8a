"""A model as a slice of its family: parameters held at values, exactly."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import InputError
from supple.approximation.fits.chebyshev_products import total_degree
from supple.approximation.piecewise.piecewise import sliced_fit
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, cut_box
from supple.control.study.study import plant_maker
from supple.reduced.damped import add_damping
from supple.reduced.family import Family, FamilyParameter
from supple.reduced.file import load_model
from supple.reduced.scaled import scaled_model

PARAMETERS = (FamilyParameter("payload", 8.0, 16.0, 10.0, "kg"), FamilyParameter("length", -1.0, 1.0, 5.0, "m"))


@pytest.fixture(scope="module")
def whole(flexible):
    """Over (a, b, payload, length): boxes cut along all of them, one left out, leaves of different degrees."""
    rng = np.random.default_rng(3)
    root = cut_box(Box((-1.0, -1.0, 8.0, -1.0), (1.0, 1.0, 16.0, 1.0)), (1, 1, 2, 1))
    indices = total_degree(4, 3)
    base = flexible.fitted.arrays.coefficients[0]
    for n, leaf in enumerate(root.leaves()):
        terms = len(total_degree(4, 1 + n % 3))
        leaf.coefficients = 0.01 * rng.normal(size=(terms, len(base))) * np.abs(base)
        leaf.coefficients[0] += base
    root.leaves()[5].coefficients = None
    return Forest([root], indices).piecewise()


@pytest.fixture(scope="module")
def model(flexible, whole):
    family = Family(PARAMETERS, tuple(item.start for item in PARAMETERS), whole)
    return replace(flexible, fitted=family.slice(), family=family)


def test_a_slice_and_its_slopes_are_those_of_the_whole(whole):
    rng = np.random.default_rng(0)
    for values in ([9.0, 0.4], [10.0, 0.0], [16.0, -1.0], [12.0, 1.0]):
        theta = rng.uniform(-1.0, 1.0, size=(50, 2))
        x = np.hstack([theta, np.tile(values, (50, 1))])
        inside = whole.locate(x) >= 0
        part = sliced_fit(whole, np.array(values))
        assert_array_equal(part.locate(theta) >= 0, inside)
        f, slopes = whole.with_gradient(x[inside])
        g, along_theta = part.with_gradient(theta[inside])
        size = np.abs(f).max()
        assert_allclose(g, f, rtol=0, atol=1e-13 * size)
        assert_allclose(along_theta, slopes[..., :2], rtol=0, atol=1e-12 * size)
        for j in range(2):
            along = sliced_fit(whole, np.array(values), j).evaluate(theta[inside])
            assert_allclose(along, slopes[..., 2 + j], rtol=0, atol=1e-12 * size)


def test_a_family_begins_at_the_value_of_the_file_or_in_the_middle(model):
    assert model.family.named == {"payload": 10.0, "length": 0.0}
    assert "payload=10 kg (of 8 to 16 kg)" in repr(model)
    assert "payload=10 kg" in model._repr_html_()


def test_coefficients_at_other_values_and_their_slopes(model):
    theta, step = np.array([0.3, -0.4]), 1e-5
    assert model.at(payload=10.0).evaluate(theta).M.tobytes() == model.evaluate(theta).M.tobytes()
    for name in model.family.names:
        value = model.family.named[name] + 0.25  # away from cuts
        here = model.at({name: value})
        assert here.family.named[name] == value
        slope = here.parameter_slopes(theta, delta=[0.02, 0.01])[name]
        above, below = (here.at({name: value + h}).evaluate(theta, delta=[0.02, 0.01]) for h in (step, -step))
        for what in ("M", "K", "christoffel", "force", "input_map", "damping"):
            expected = (getattr(above, what) - getattr(below, what)) / (2.0 * step)
            size = np.abs(getattr(above, what)).max()
            assert_allclose(getattr(slope, what), expected, rtol=0, atol=1e-9 * size, err_msg=what)


def test_values_outside_and_names_that_are_not_there(model, flexible):
    with pytest.raises(InputError, match=r"20 kg lies outside the range .* 8 to 16 kg"):
        model.at(payload=20.0)
    with pytest.raises(InputError, match=r'unknown parameter "paylod".*payload'):
        model.at(paylod=9.0)
    with pytest.raises(InputError, match='"9kg" is not a number'):
        model.at(payload="9kg")
    with pytest.raises(InputError, match=r"no varied parameters.*`vary`"):
        flexible.at(payload=9.0)
    assert model.at(payload=16.0 * (1.0 + 1e-12)).family.values[0] == 16.0
    assert flexible.parameter_slopes([0.0, 0.0]) == {}


def test_changes_of_a_model_are_those_of_its_family(model):
    theta = [0.1, 0.2]
    for change in (
        lambda item: add_damping(item, 0.3, 1e-3),
        lambda item: scaled_model(item, stiffness=1.1, damping=0.5),
    ):
        one, other = change(model).at(payload=15.0), change(model.at(payload=15.0))
        assert_allclose(one.evaluate(theta).damping, other.evaluate(theta).damping, rtol=1e-13)
        assert_allclose(one.evaluate(theta).K, other.evaluate(theta).K, rtol=1e-13)


def test_a_study_takes_its_plants_from_a_family(model):
    maker = plant_maker(model, {"payload": None, "stiffness": None}, False, None, {})
    plant = maker.plant({"payload": 9.0, "stiffness": 1.2})
    assert plant.family.named["payload"] == 9.0
    assert_allclose(plant.evaluate([0.0, 0.0]).K, 1.2 * model.at(payload=9.0).evaluate([0.0, 0.0]).K)
    with pytest.raises(InputError, match=r'no parameter "mass".*--vary'):
        plant_maker(model, {"mass": None}, False, None, {})


def test_the_file_keeps_the_whole_family_and_the_values(model, flexible, tmp_path):
    here = model.at(payload=11.0)
    again = load_model(here.save(tmp_path / "x.rom"))
    assert again.family.parameters == PARAMETERS
    assert again.family.named == {"payload": 11.0, "length": 0.0}
    for mine, theirs in zip(here.family.fitted.arrays, again.family.fitted.arrays, strict=True):
        assert mine.tobytes() == theirs.tobytes()
    for mine, theirs in zip(here.fitted.arrays, again.fitted.arrays, strict=True):
        assert mine.tobytes() == theirs.tobytes()
    assert isinstance(supple.load(tmp_path / "x.rom"), supple.ReducedModel)
    import h5py

    with h5py.File(flexible.save(tmp_path / "plain.rom")) as file:
        assert file.attrs["schema"] == 3
        assert "family" not in file


@pytest.mark.parametrize(
    "change",
    [
        {"values": [20.0, 0.0]},
        {"values": [9.0]},
        {"parameters": []},
        {"parameters": [{"name": "a", "lower": 8.0, "upper": 16.0, "nominal": 9.0, "unit": ""}], "values": [9.0]},
        {"parameters": "payload"},
    ],
)
def test_a_file_with_parameters_that_do_not_fit_is_refused(model, change, tmp_path):
    import json

    import h5py

    from supple.files.seal import seal

    path = model.save(tmp_path / "x.rom")
    with h5py.File(path, "r+") as file:
        facts = json.loads(file["family"][()])
        del file["family"]
        file["family"] = json.dumps({**facts, **change})
    seal(path)
    with pytest.raises(InputError, match=r"x\.rom"):
        load_model(path)


def test_a_linear_model_along_parameters(model):
    theta = np.array([0.3, -0.4])
    here = model.at(payload=10.25, length=0.25)
    found = here.linearize(theta, drives=False, along=("payload", "length"))
    for name, value in here.family.named.items():
        step = {"payload": 0.02, "length": 0.002}[name]
        near = [here.at({name: value + k * step}).linearize(theta, drives=False) for k in (-2, -1, 1, 2)]
        for matrix in ("A", "B", "C", "D"):
            values = [getattr(item, matrix) for item in near]
            expected = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * step)
            size = max(np.abs(values[1]).max(), 1e-12)
            got = getattr(found.slopes[name], matrix)
            assert_allclose(got, expected, rtol=0, atol=1e-7 * size, err_msg=f"{matrix} {name}")
        values = [item.eigenvalues for item in near]
        expected = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * step)
        assert_allclose(found.eigenvalue_slopes[name], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    assert not found.discretize(0.01).slopes
    assert "A per payload" in found.arrays()
    with pytest.raises(InputError, match='unknown parameter "weight"'):
        here.linearize(theta, along=("weight",))
    with pytest.raises(InputError, match=r"no parameters; .*`vary`"):
        replace(here, family=None).linearize(theta, along=("payload",))
