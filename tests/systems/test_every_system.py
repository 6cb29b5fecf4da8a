"""The same question of every kind of system: the public function and the method of a model are one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple.diagnostics import InputError

EXAMPLES = Path(__file__).parents[2] / "examples"
LINES = np.linspace(1.0, 60.0, 30)


@pytest.fixture(scope="module")
def ralf():
    return supple.load(EXAMPLES / "ralf" / "mechanism.yaml")


@pytest.fixture(scope="module", params=["rigid", "flexible"])
def model(ralf, request):
    kept = {"rigid": True} if request.param == "rigid" else {"internal_modes": 2}
    return supple.reduce(ralf, checks=50, tolerance=1e-3, progress=False, **kept)


def theta(model):
    return model.evaluate("rest").theta


@pytest.mark.parametrize("options", [{}, {"drives": False}, {"rates": {"lift": 0.3}}, {"inputs": {"lift": 5.0}}])
def test_a_model_is_linearized_the_same_both_ways(model, options):
    ours, method = supple.linearize(model, "rest", **options), model.linearize("rest", **options)
    for name, matrix in method.matrices.items():
        assert_array_equal(ours.matrices[name], matrix)
    assert ours.at == method.at


def test_a_model_is_linearized_at_a_configuration(ralf, model):
    here = supple.assemble(ralf, theta(model))
    assert_array_equal(supple.linearize(model, here).A, model.linearize(here.theta).A)
    assert_array_equal(supple.linearize(model).A, model.linearize("rest").A)


def test_responses_of_a_model_are_the_same_both_ways(model):
    given = ("lift", model.layout.outputs[0], LINES)
    ours = supple.frf(model, "rest", *given, free_actuators=True, kind="accelerance")
    method = model.frf("rest", *given, free_actuators=True, kind="accelerance")
    assert_array_equal(ours.values, method.values)
    assert ours.units == method.units


def test_responses_of_a_linear_model_are_its_transfer_function(model):
    linear = model.linearize("rest")
    found = supple.frf(linear, None, "lift", linear.outputs[0], LINES, kind="mobility")
    exact = 2j * np.pi * LINES * linear.response(LINES, linear.outputs[0], "lift")
    assert_array_equal(found.values[:, 0, 0], exact)
    assert found.units[0][0].startswith("(m/s)")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"frequencies_hz": [-1.0]}, "frequencies_hz: -1 Hz .*0 or more"),
        ({"frequencies_hz": []}, "frequencies_hz: no frequencies .*; give .*Hz"),
        ({"inputs": []}, "none is given"),
        ({"kind": "compliance"}, "kind"),
    ],
)
def test_every_system_refuses_a_wrong_question_in_the_same_words(ralf, model, changed, said):
    for system, at in ((ralf, "home"), (model, "home"), (model.linearize("rest"), None)):
        asked = {"at": at, "inputs": "lift", "outputs": model.layout.outputs[0], "frequencies_hz": LINES, **changed}
        with pytest.raises(InputError, match=said):
            supple.frf(system, **asked)


def test_what_nothing_holds_has_no_response_at_zero_frequency(ralf, model):
    options = {"free_actuators": True, "drives": False, "preload": False}
    for system in (ralf, model):
        with pytest.raises(InputError, match=r"at 0 Hz .*not finite.*lock the actuators"):
            supple.frf(system, "home", "lift", "lift", [0.0, 1.0], **options)


@pytest.mark.slow
def test_a_mechanism_and_its_models_agree_on_responses(ralf):
    """With all its modes of the band a model has the resonances of the mechanism; 2 % of the largest response."""
    model = supple.reduce(ralf, checks=50, tolerance=1e-4, internal_modes=4, progress=False)
    lines = np.linspace(0.5, 5.0, 10)
    options = {"free_actuators": True, "drives": False}
    pairs = [supple.frf(system, "home", "lift", "lift", lines, **options).values for system in (ralf, model)]
    assert np.abs(pairs[0] - pairs[1]).max() < 0.02 * np.abs(pairs[0]).max()


def test_a_model_rests_at_the_same_place_both_ways(model):
    held = model.linearize("rest", drives=False).at["inputs"]
    assert_array_equal(supple.equilibrium(model, inputs=held), model.equilibrium("rest", held))


@pytest.mark.parametrize(
    ("ask", "part"),
    [
        (lambda model: supple.linearize(model, internal_modes=3), "internal_modes"),
        (lambda model: supple.linearize(model, formulation="erls"), "formulation"),
        (lambda model: supple.frf(model, "rest", "lift", "lift", LINES, damping=0.01), "damping"),
        (lambda model: supple.equilibrium(model, held=["lift"]), "held"),
        (lambda model: supple.inverse(model, "reach", minimize="multipliers"), "minimize"),
        (lambda model: supple.inverse(model, "reach", rigid=True), "rigid"),
    ],
)
def test_a_model_refuses_what_only_a_mechanism_can_answer(model, ask, part):
    with pytest.raises(InputError, match="reduced model") as caught:
        ask(model)
    assert caught.value.part == part


@pytest.mark.parametrize("option", [{"at": "rest"}, {"damping": 0.01}, {"drives": False}, {"method": "modal"}])
def test_a_linear_model_refuses_what_was_decided_when_it_was_made(model, option):
    linear = model.linearize("rest")
    asked = {"at": None, "inputs": "lift", "outputs": linear.outputs[0], "frequencies_hz": LINES, **option}
    with pytest.raises(InputError, match="as it was linearized"):
        supple.frf(linear, **asked)


def test_a_linear_model_has_no_other_linear_model_and_no_motion(model):
    linear = model.linearize("rest")
    for ask in (supple.linearize, supple.equilibrium):
        with pytest.raises(InputError, match="Mechanism"):
            ask(linear)


def test_the_deformation_of_a_mechanism_is_not_given(ralf):
    with pytest.raises(InputError, match="follows from its loads"):
        supple.linearize(ralf, delta=[0.0], rigid=True)


def test_forces_along_a_motion_add_up_to_what_the_model_needs(ralf, model):
    path = supple.trajectory(ralf, supple.Motion.model_validate(
        {"coordinates": {"lift": {"to": 1.0}, "elbow": {"to": 0.9}}, "duration": 1.0}), step=0.05)  # fmt: skip
    found = supple.inverse(model, path)
    pushed = np.stack(list(found.forces.values()), axis=1)
    B = model.evaluate(path.theta).input_map[:, : model.layout.theta]
    off = np.abs(np.einsum("nia,na->ni", B, pushed) - found.needed).max()
    assert off <= 1e-12 * np.abs(found.needed).max()  # solved to rounding
