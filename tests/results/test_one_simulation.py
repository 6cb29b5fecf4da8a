"""A mechanism and its reduced model are simulated by the same call and answer with the same names."""

import inspect

import numpy as np
import pytest
from flexible_arm import HOME, REGION, five_bar, model
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.integration.input_course import input_course
from supple.integration.time_steps import result_times

PUSH = {"A": 2.0, "E": lambda t: -2.0 + 50.0 * t}


@pytest.fixture(scope="module")
def rigid():
    return supple.reduce(five_bar(), region=REGION, rigid=True, tolerance=1e-6, store=False)


@pytest.fixture(scope="module")
def runs(rigid):
    asked = {"until": 0.05, "inputs": {"A": 2.0}, "start": "home", "rates": {"E": 0.5}, "rigid": True}
    return supple.simulate(five_bar(), **asked), supple.simulate(rigid, **asked)


def test_the_same_call():
    verb, method = (inspect.signature(call).parameters for call in (supple.simulate, supple.ReducedModel.simulate))
    shared = [name for name in list(verb)[1:] if name != "formulation"]  # a model has one, and others are refused
    assert shared == list(method)[1:]
    for name in shared:
        assert (verb[name].default, verb[name].kind) == (method[name].default, method[name].kind), name


def test_the_same_motion_under_the_same_names(runs):
    full, reduced = runs
    assert_array_equal(full.time, reduced.time)
    for group in ("coordinates", "rates", "accelerations", "outputs", "inputs", "driving_forces"):
        first, second = getattr(full, group), getattr(reduced, group)
        assert list(first) == list(second), group
        assert first.units == second.units, group
        for name, values in first.items():
            # steps of the mechanism err by 1e-6 each, its accelerations by more; the model fits to 1e-6
            assert_allclose(
                second[name], values, atol=1e-3 * max(1e-3, np.abs(values).max()), err_msg=f"{group} {name}"
            )
    assert set(reduced.energy) <= set(full.energy)
    columns = list(full.table().columns)
    assert [name for name in columns if name in reduced.table().columns] == list(reduced.table().columns)
    assert full.complete
    assert reduced.complete
    assert full.rigid == reduced.rigid != ()
    assert full.frame("C").position.shape == (len(full.time), 3)
    with pytest.raises(supple.InputError, match="runs of mechanisms have reactions; simulate the mechanism"):
        reduced.reaction("A")


def test_rates_and_accelerations_are_slopes(runs):
    """Of cubics through a thousand results, whose error is the fourth power of their distance."""
    for run in runs:
        for name in run.coordinates:
            for values, slopes in ((run.coordinates, run.rates), (run.rates, run.accelerations)):
                found = np.gradient(values[name], run.time, edge_order=2)[1:-1]
                assert_allclose(found, slopes[name][1:-1], atol=2e-3 * np.abs(slopes[name]).max())


def test_times_of_a_users_own():
    """Anywhere, also not from zero on; what is pushed goes by the same clock."""
    asked = {"inputs": {"A": lambda t: 100.0 * (t - 1.0)}, "start": "home", "rigid": True, "step": 1e-4}
    late = supple.simulate(five_bar(), [1.0, 1.003, 1.01], **asked)
    first = supple.simulate(five_bar(), [0.0, 0.003, 0.01], **asked | {"inputs": {"A": lambda t: 100.0 * t}})
    assert late.time.tolist() == [1.0, 1.003, 1.01]
    assert_allclose(late.coordinates["A"], first.coordinates["A"], rtol=1e-12)
    assert_allclose(late.inputs["A"], [0.0, 0.3, 1.0], atol=1e-12)


def test_a_scenario_by_its_name(rigid):
    for target in (five_bar(), rigid):
        run = supple.simulate(target, "push", rigid=True)
        same = supple.simulate(target, until=0.02, inputs=PUSH, start="home", rigid=True)
        assert_array_equal(run.time, same.time)
        assert_allclose(run.coordinates["A"], same.coordinates["A"], rtol=1e-9)
        assert supple.simulate(target, "push", until=0.01, rigid=True).time[-1] == 0.01


def test_led_along_a_motion(rigid):
    course = supple.trajectory(five_bar(), "shift", step=0.01)
    led = rigid.simulate(motion=course)
    assert_array_equal(led.time, course.time)
    full = supple.simulate(five_bar(), led.time, motion="shift", rigid=True)
    for name, values in led.driving_forces.items():
        assert_allclose(values, full.driving_forces[name], atol=2e-3 * np.abs(values).max())
    part = supple.simulate(rigid, until=0.02, motion=course)
    assert part.time[-1] == 0.02
    assert_allclose(part.coordinates["A"][-1], np.interp(0.02, led.time, led.coordinates["A"]), atol=1e-6)
    for motion, words in (("shift", "Trajectory.*shift"), (course, "results are requested from .* to 1000")):
        with pytest.raises(supple.InputError, match=words):
            rigid.simulate(until=1e3, motion=motion)


def test_where_it_starts(rigid):
    rest = supple.assemble(five_bar()).theta
    for start in (None, "rest", supple.assemble(five_bar())):
        run = supple.simulate(rigid, until=1e-3, start=start)
        assert_allclose([values[0] for values in run.coordinates.values()], rest)
    assert supple.simulate(model(), 1e-3, start=HOME).basis == model().basis


@pytest.mark.parametrize(
    ("asked", "words"),
    [({}, "no duration"), ({"t": [0.0, 1.0], "until": 1.0}, "t: .*until and output_step"),
     ({"until": -1.0}, r"got -1 s"), ({"until": 1.0, "step": 2.0}, "step .*at most 1 s.*got 2 s"),
     ({"t": [0.0, 1.0], "step": 0.0}, r"step: .*got 0\)"),
     ({"until": 1.0, "output_step": 0.0}, r"output step: .*got 0\)"), ({"t": [0.0, 1.0], "method": "euler"}, "euler"),
     ({"until": 1.0, "inputs": [1.0]}, r"inputs: .*\(1,\).*; give \(.*N"),
     ({"until": 1.0, "friction_speed": 0.0}, "friction speed"),
     ({"t": "nowhere"}, 'unknown scenario "nowhere"')],
)  # fmt: skip
def test_both_refuse_alike(asked, words):
    for target in (five_bar(), model()):
        with pytest.raises(supple.InputError, match=words):
            supple.simulate(target, **{"start": "home", "rigid": True} | asked)


def test_what_is_neither_is_refused():
    with pytest.raises(supple.InputError, match=r"a Mechanism or a ReducedModel \(got {}\)"):
        supple.simulate({}, until=1.0)


def test_result_times():
    assert len(result_times(None, until=1.0)) == 1001
    assert len(result_times(2.0)) == 2001
    assert len(result_times(None, until=10.0, step=1e-3)) == 2001
    assert result_times(None, until=1.0, output_step=0.3).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_tables_and_callables_together():
    """Values stand where the table has them, callables are sampled there and between."""
    grid = np.linspace(0.0, 1.0, 5)
    breaks, values = input_course(("a", "b"), {"a": [0.0, 1.0], "b": lambda t: t * t}, [0.1, 0.8], grid, 0.125)
    assert set(breaks) == {*np.linspace(0.0, 1.0, 9), 0.1, 0.8}
    assert_allclose(values[:, 1], breaks**2)
    assert_allclose(values[:, 0], np.clip((breaks - 0.1) / 0.7, 0.0, 1.0))
