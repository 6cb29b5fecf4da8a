"""A study finds on every plant what the plant's own closed form says, however its runs are divided."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.control import StateFeedback, study
from supple.control.study.study import sibling_family
from supple.reduced.scaled import scaled_model
from supple.reduction.sibling import Siblings

# A slide of mass m + load on a spring-like law u = -k x - c ẋ under its weight: it comes to rest at -(m + load) g/k.
SLIDE = """
supple: 1
name: slide
gravity: [0, 0, -9.81]
parameters: {load: 2}
points: {O: [0, 0, 0]}
bodies: {block: {at: O, mass: 3 + load, inertia: [1, 1, 1]}}
joints: {rail: {prismatic: [ground, block], at: O, axis: z}}
actuators: {rail: {joint: rail, limits: [-1, 1]}}
"""
GAIN, LOOP = 2000.0, {"until": 2.0, "sample_time": 0.02, "start": {"rail": 0.0}}


def last_of(name):
    def last(run):  # made here, so that it travels to other processes by value
        return float(run.coordinates[name][-1])

    return last


sag = last_of("rail")


@pytest.fixture(scope="module")
def slide(tmp_path_factory):
    file = tmp_path_factory.mktemp("slide") / "mechanism.yaml"
    file.write_text(SLIDE)
    return file


@pytest.fixture(scope="module")
def law():
    return StateFeedback(np.array([[GAIN, 150.0]]), np.zeros(2), np.zeros(1))


@pytest.fixture(scope="module")
def found(slide, law):
    return study(slide, law, {"load": (0.0, 4.0)}, {"sag": sag}, count=6, processes=1, seed=4, **LOOP)


def test_every_plant_sags_by_its_own_weight(found):
    assert_allclose(found.measures["sag"], -(3.0 + found.settings["load"]) * 9.81 / GAIN, rtol=1e-6)
    assert_allclose(found.nominal["sag"], -5.0 * 9.81 / GAIN, rtol=1e-6)
    assert not found.failed.any()
    assert found.dependence("sag") == {"load": pytest.approx(-1.0)}


def test_one_plant_falls_into_each_part_of_a_spread(found):
    assert_array_equal(np.sort((found.settings["load"] / 4.0 * 6.0).astype(int)), np.arange(6))


def test_quantiles_are_those_of_the_plants(found):
    ranked = np.sort(found.measures["sag"])
    assert_allclose(found.quantiles("sag", [0.5, 1.0]), [ranked[2], ranked[-1]])
    assert found.worst("sag")["load"] == found.settings["load"].min()


@pytest.mark.slow
def test_processes_do_not_change_what_is_found(found, slide, law):
    again = study(slide, law, {"load": (0.0, 4.0)}, {"sag": sag}, count=6, processes=2, seed=4, **LOOP)
    assert_array_equal(again.measures["sag"], found.measures["sag"])


def test_a_plant_that_cannot_be_run_is_counted_and_says_why(slide):
    weak = StateFeedback(np.array([[70.0, 20.0]]), np.zeros(2), np.zeros(1))  # 1 m is the end of the rail
    found = study(slide, weak, {"load": [2.0, 30.0]}, {"sag": sag}, count=4, processes=1, **LOOP)
    assert_array_equal(found.failed, found.settings["load"] > 10.0)
    assert "leaves the region" in next(reason for reason in found.reasons if reason)
    assert np.isinf(found.quantiles("sag", [1.0]))[0]
    assert "4 plants, 2 of them failed" in repr(found)


def test_what_cannot_be_varied_is_refused(slide, law):
    model = supple.reduce(supple.load(slide), store=False)
    with pytest.raises(supple.InputError, match=r'no parameter "load".*--vary'):
        study(model, law, {"load": (0.0, 4.0)}, **LOOP)
    with pytest.raises(supple.InputError, match=r'unknown parameter "lod".*; did you mean'):
        study(slide, law, {"lod": (0.0, 4.0)}, **LOOP)
    with pytest.raises(supple.InputError, match=r"not a pair \(low, high\)"):
        study(slide, law, {"load": (4.0, 0.0)}, **LOOP)


def test_a_sibling_is_the_model_that_a_reduction_would_give(slide):
    siblings = Siblings(supple.reduce(supple.load(slide), store=False))
    other = supple.load(slide, parameters={"load": 7.0})
    ours, theirs = siblings.of(other), supple.reduce(other, store=False)
    for x in (-0.5, 0.3):
        here, there = ours.evaluate([x]), theirs.evaluate([x])
        assert_allclose(here.M, there.M, rtol=1e-12)
        assert_allclose(here.force, there.force, rtol=1e-12)


def test_a_family_has_the_models_of_its_members(slide):
    siblings = Siblings(supple.reduce(supple.load(slide), store=False))
    family = sibling_family(siblings, lambda p: supple.load(slide, parameters=p), {"load": (0.0, 4.0)})
    other = siblings.of(supple.load(slide, parameters={"load": 1.3}))
    here, there = family.of({"load": 1.3}).evaluate([0.3]), other.evaluate([0.3])
    assert_allclose(here.M, there.M, rtol=1e-12)
    assert_allclose(here.force, there.force, rtol=1e-12)


def test_stiffness_and_damping_of_deformation_are_scaled_alone():
    from flexible_arm import HOME, model

    first = model()
    other = scaled_model(first, stiffness=1.21, damping=0.5)
    here, there = first.evaluate(HOME), other.evaluate(HOME)
    s = first.layout.theta
    assert_allclose(there.internal_hz, 1.1 * here.internal_hz, rtol=1e-9)
    assert_allclose(there.damping[s:, s:], 0.5 * here.damping[s:, s:])
    assert_allclose(there.damping[:s], here.damping[:s])
    assert_allclose(there.M, here.M)
