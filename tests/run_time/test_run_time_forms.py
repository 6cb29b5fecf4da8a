"""Choice of run-time forms within budgets: errors, budgets, energy, messages."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError, SuppleNote
from supple.formats.model_description import restore_mechanism
from supple.run_time.passive_machine import energy_drift, passive_start
from supple.run_time.run_time_error import SurrogateError, exact_check
from supple.run_time.run_time_forms import with_constants

CHECKS = 200


@pytest.fixture(scope="module")
def forms(orthoglide):
    return supple.run_time_forms(orthoglide, memory="8kB", tolerance=4e-3, target="cortex-m7", checks=CHECKS)


@pytest.mark.slow
def test_the_form_is_cheaper_and_within_budget_and_tolerance(orthoglide, forms):
    form, itself = forms.chosen, forms.forms[0]
    assert form.memory <= 8000 < forms.forms[1].memory  # forms with fewer operations need more memory
    assert form.inverse < itself.inverse
    assert form.inverse == min(one.inverse for one in forms.forms[1:] if one.within and one.error <= forms.tolerance)
    assert forms.model.met
    assert max(forms.model.error.values()) == pytest.approx(form.error)
    assert form.error <= 4e-3
    assert forms.visited == np.prod(form.boxes) == len(forms.model.fitted.leaves)
    assert forms.model.layout == orthoglide.layout
    assert [one.inverse for one in forms.forms[1:]] == sorted(one.inverse for one in forms.forms[1:])


@pytest.mark.slow
def test_the_stated_error_holds_at_fresh_points(forms):
    """A small part of the region may exceed it by little; medians of 200 points, which errors are relative to, too."""
    judge = SurrogateError(forms.model)
    found = exact_check(restore_mechanism(forms.model), judge, forms.model.fitted, checks=1500, seed=77)
    for name, item in found.errors.items():
        assert item["seen"] <= 1.05 * forms.model.error[name]


@pytest.mark.slow
def test_a_form_of_one_box_keeps_energy_and_boxes_let_it_jump_a_little(forms):
    surrogate = forms.forms[0]
    assert surrogate.drift < 1e-5
    for form in forms.forms[1:]:
        assert form.drift < (1e-5 if np.prod(form.boxes) == 1 else 1e-2)
        assert (form.jump == 0.0) == (np.prod(form.boxes) == 1)
    assert forms.model.layout.conservative


@pytest.mark.slow
def test_splines_have_no_jumps(orthoglide):
    model = orthoglide.compiled_for(operations=950, tolerance=8e-3, smooth=True)
    assert model.met
    assert max(model.provenance["jumps"].values()) < 1e-9
    assert model.provenance["run_time"]["inverse"] <= 950
    passive = passive_start(orthoglide)
    assert energy_drift(model, passive) < 1e-5


@pytest.mark.slow
def test_least_memory_within_operations(orthoglide):
    found = supple.run_time_forms(orthoglide, operations=700, tolerance=4e-3, checks=CHECKS)
    within = [form for form in found.forms[1:] if form.inverse <= 700 and form.error <= 4e-3]
    assert found.chosen.memory == min(form.memory for form in within)


@pytest.mark.slow
def test_a_flexible_machine(bending_arm):
    found = supple.run_time_forms(bending_arm, memory="20kB", tolerance=1e-2, checks=CHECKS)
    model = found.model
    assert model.met
    assert found.chosen.inverse < found.forms[0].inverse
    assert model.layout.conservative
    assert set(model.error) == set(bending_arm.error)
    assert "input_map" in model.layout.constants  # the same everywhere
    rng, (lower, upper) = np.random.default_rng(2), bending_arm.fitted.arrays.roots_f[0]
    theta = rng.uniform(lower, upper, (50, 2))
    rates, accelerations = rng.normal(size=(2, 50, 3))
    delta = 1e-3 * rng.normal(size=(50, 1))
    there, here = (m.inverse(theta, rates, accelerations, delta=delta) for m in (bending_arm, model))
    assert (np.abs(here - there).max(axis=0) <= 2e-2 * np.abs(there).max(axis=0)).all()


def test_constant_coefficients_change_nothing(bending_arm):
    model = with_constants(bending_arm)
    theta = bending_arm.fitted.leaves[0].center
    for name in ("M", "K", "input_map", "damping", "force"):
        assert_allclose(getattr(model.evaluate(theta), name), getattr(bending_arm.evaluate(theta), name), atol=1e-9)
    assert_allclose(model.evaluate(theta).rows, bending_arm.evaluate(theta).rows, atol=1e-9)


@pytest.mark.slow
def test_a_family_is_taken_at_its_values(loaded_arm):
    with pytest.warns(SuppleNote, match="load = 3 kg"):
        model = loaded_arm.at(load=3.0).compiled_for(memory="20kB", tolerance=5e-3)
    assert model.family is None
    assert model.met
    theta = model.fitted.leaves[0].center
    assert_allclose(model.evaluate(theta).M, loaded_arm.at(load=3.0).evaluate(theta).M, rtol=5e-3)
    assert "load" in model.provenance["description"]


@pytest.mark.slow
def test_a_form_is_saved_and_exported_like_any_model(forms, tmp_path):
    model = supple.load_model(forms.model.save(tmp_path / "form.rom"))
    assert model.provenance["run_time"]["form"] == forms.chosen.name
    assert {file.name for file in supple.export(model, tmp_path / "c", precision="single")} >= {"orthoglide.c"}
    theta = model.fitted.leaves[-1].center
    assert_allclose(model.evaluate(theta).M, forms.model.evaluate(theta).M, rtol=0, atol=0)


@pytest.mark.slow
def test_text_table_and_picture(forms, tmp_path):
    text = str(forms)
    for word in ("within 0.4 %", "8 kB", "cortex-m7", forms.chosen.name, "chosen", "the model itself", "cycles"):
        assert word in text
    table = forms.table()
    assert len(table) == len(forms.forms)
    assert table.units["memory"] == "bytes"
    assert forms.save(tmp_path / "forms.csv").is_file()
    assert len(forms.plot()) == 4
    data = forms.data()
    assert sum(row["chosen"] for row in data["forms"]) == 1


# Messages


def test_a_budget_is_required(orthoglide):
    with pytest.raises(InputError, match="budget") as caught:
        supple.run_time_forms(orthoglide, tolerance=1e-2)
    assert "operations" in caught.value.hint


@pytest.mark.parametrize(
    ("options", "part", "words"),
    [
        ({"memory": "many"}, "memory", "not a size"),
        ({"memory": -1.0}, "memory", "not a size"),
        ({"operations": 0}, "operations", "must be positive (got 0)"),
        ({"memory": "8kB", "tolerance": 2.0}, "tolerance", "between 0 and 1 (got 2)"),
        ({"memory": "8kB", "target": "cortex-m9"}, "target", "cortex-m9"),
        ({"memory": "8kB", "checks": 0}, "checks", "must be positive (got 0)"),
    ],
)
def test_wrong_options_are_refused(orthoglide, options, part, words):
    with pytest.raises(InputError) as caught:
        supple.run_time_forms(orthoglide, **options)
    assert caught.value.part == part
    assert words in caught.value.message


def test_a_model_that_uses_the_tolerance_up_is_refused_with_the_tolerance_it_should_have(orthoglide):
    worst = max(orthoglide.error.values())
    with pytest.raises(InputError) as caught:
        supple.run_time_forms(orthoglide, memory="8kB", tolerance=1.05 * worst)
    assert f"{worst:.2g}" in caught.value.message
    assert "christoffel" in caught.value.message
    assert f"reduce with a tolerance of {1.05 * worst / 5:.1g}" in caught.value.hint


@pytest.mark.slow
def test_impossible_budgets_name_the_closest_form_and_the_needs(orthoglide):
    with pytest.raises(InputError) as caught:
        supple.run_time_forms(orthoglide, memory="1000", operations=300, tolerance=2e-3, target="cortex-m7")
    message, hint = caught.value.message, caught.value.hint
    assert "1 kB and 300 multiply-adds" in message
    assert "below 0.002" in message
    assert "the smallest is" in message
    assert "allow " in hint
    assert "raise the tolerance" in hint


def test_the_papers_fits_are_refused(orthoglide):
    layout = replace(
        orthoglide.layout, columns={"M": (0, 6), "christoffel": (6, 24)}, constants={}, christoffel="fitted",
        force="fitted", outputs=(), observation=None,
    )  # fmt: skip
    arrays = orthoglide.fitted.arrays
    wide = np.zeros((len(arrays.coefficients), 24))
    model = replace(orthoglide, layout=layout,
                    fitted=type(orthoglide.fitted)(arrays._replace(coefficients=wide)))  # fmt: skip
    with pytest.raises(InputError, match="separately") as caught:
        supple.run_time_forms(model, memory="8kB")
    assert '"auto"' in caught.value.hint


def test_a_region_of_several_boxes_is_refused():
    mechanism = supple.load("four-bar")
    region = [{"crank": (-0.6, -0.2)}, {"crank": (0.2, 0.5)}]
    model = supple.reduce(mechanism, region=region, tolerance=1e-3, progress=False, checks=50)
    with pytest.raises(InputError, match="2 boxes") as caught:
        supple.run_time_forms(model, memory="8kB", tolerance=1e-2)
    assert "one box" in caught.value.hint


# Exports


@pytest.fixture(scope="module")
def small_form():
    """A four-bar of one coordinate, as several boxes."""
    region = {"crank": (-1.0, 1.0)}
    rom = supple.reduce(supple.load("four-bar"), region=region, tolerance=1e-4, checks=50, progress=False)
    return rom.compiled_for(operations=25, tolerance=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["c", "fmu", "casadi", "matlab", "numpy", "json"])
def test_every_target_writes_a_form(small_form, target, tmp_path):
    assert len(small_form.fitted.leaves) > 2
    assert supple.export(small_form, tmp_path, to=target)


@pytest.mark.slow
def test_casadi_computes_the_form(small_form, tmp_path):
    pytest.importorskip("casadi")
    file = supple.export(small_form, tmp_path, to="casadi")[0]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    functions = module.FUNCTIONS
    rng = np.random.default_rng(5)
    for theta, v, u in rng.uniform(-0.9, 0.9, (8, 3)):
        assert float(functions["forward"](theta, v, u)) == pytest.approx(small_form.forward([theta], [v], [u])[0])
        assert float(functions["inverse"](theta, v, 0.0)) == pytest.approx(small_form.inverse([theta], [v], [0.0])[0])
