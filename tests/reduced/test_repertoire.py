"""A saved model knows the configurations, motions and scenarios of its mechanism by name."""

import h5py
import pytest
from flexible_arm import HOME, five_bar, model
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.files.seal import seal
from supple.reduced.file import load_model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return model().save(tmp_path_factory.mktemp("named") / "arm.rom")


def test_names_mean_what_they_mean_in_the_mechanism(saved):
    loaded = load_model(saved)
    theta = [HOME["A"], HOME["E"]]
    assert_array_equal(loaded.evaluate("home").M, loaded.evaluate(theta).M)
    assert_array_equal(loaded.inverse("home"), loaded.inverse(theta))
    assert_array_equal(loaded.forward("home"), loaded.forward(theta))
    assert loaded.energy("home") == loaded.energy(theta)
    assert_array_equal(loaded.linearize("home").A, loaded.linearize(theta).A)
    ask = ("A.acceleration", "tool.x", [10.0])
    assert_array_equal(loaded.frf("home", *ask).values, loaded.frf(theta, *ask).values)
    assert_array_equal(
        loaded.simulate(0.01, None, "home").outputs["tool.x"], loaded.simulate(0.01, None, theta).outputs["tool.x"]
    )
    rest = supple.assemble(five_bar()).theta
    assert_allclose(loaded.evaluate("rest").theta, rest)


def test_it_carries_motions_and_scenarios(saved):
    loaded = load_model(saved)
    assert loaded.repertoire == model().repertoire
    assert loaded.basis == model().basis
    assert list(loaded.repertoire.configurations) == ["rest", "home", "far"]
    assert loaded.repertoire.motions["shift"]["coordinates"]["A"]["to"] == 2.1
    run = loaded.simulate("push")
    push = {"A": 2.0, "E": lambda t: -2.0 + 50.0 * t}
    assert run.time[-1] == 0.02
    same = loaded.simulate(run.time, push, "home")
    assert_allclose(run.coordinates["A"], same.coordinates["A"], rtol=1e-12)
    assert loaded.simulate("push", start="rest").coordinates["A"][0] == pytest.approx(2.1)


def test_what_it_does_not_know_is_told(saved):
    loaded = load_model(saved)
    for take, words in (
        (lambda: loaded.evaluate("hom"), '"hom".*"home"'),
        (lambda: loaded.linearize("far"), "outside the region"),
        (lambda: loaded.simulate("pusch"), 'scenario "pusch".*"push"'),
        (lambda: loaded.simulate("led"), 'prescribes the motion "shift"'),
    ):
        with pytest.raises(supple.InputError, match=words):
            take()


def test_a_held_coordinate_is_that_of_the_configuration():
    held = supple.reduce(five_bar(), region={"A": (2.0, 2.2), "E": (1.12, 1.12)}, rigid=True, store=False)
    assert_allclose(held.evaluate("home").theta, [HOME["A"]])
    with pytest.raises(supple.InputError, match=r'"E" is fixed at 1\.12.* 1\.04 in "rest"'):
        held.evaluate("rest")


def test_an_older_file_loads_and_says_that_it_carries_no_names(saved, tmp_path):
    old = tmp_path / "old.rom"
    old.write_bytes(saved.read_bytes())
    with h5py.File(old, "r+") as file:
        del file["repertoire"], file["basis"]
        file.attrs["schema"] = 1
    seal(old)
    loaded = load_model(old)
    assert loaded.repertoire is None
    assert loaded.basis is None
    assert_array_equal(loaded.evaluate([2.05, 1.12]).M, model().evaluate("home").M)
    with pytest.raises(supple.InputError, match=r'"home".*named configurations.*reduce again'):
        loaded.evaluate("home")
    with pytest.raises(supple.InputError, match=r"no basis.* reduce it again"):
        supple.linearize(five_bar(), basis=loaded)


@pytest.mark.parametrize(
    ("place", "text"),
    [("repertoire", '{"configurations": 3, "motions": {}, "scenarios": {}}'), ("repertoire", "[]"),
     ("repertoire", '{"configurations": {"x": {"A": 1e999}}, "motions": {}, "scenarios": {}}'),
     ("basis", '{"internal": 2}'), ("basis", "7")],
)  # fmt: skip
def test_damage_is_told(place, text, saved, tmp_path):
    bad = tmp_path / "bad.rom"
    bad.write_bytes(saved.read_bytes())
    with h5py.File(bad, "r+") as file:
        del file[place]
        file[place] = text
    seal(bad)
    with pytest.raises(supple.InputError, match=r"bad\.rom"):
        load_model(bad)
