"""What a reduced model says to wrong or impossible arguments, and where its region ends."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from supple import InputError, SuppleWarning
from supple.reduced.layout import CoefficientLayout
from supple.reduced.model import ReducedModel


def test_names_or_order(orthoglide):
    by_name = orthoglide.evaluate({"z": -0.2, "x": -0.1, "y": 0.02})
    assert_array_equal(by_name.M, orthoglide.evaluate([-0.1, 0.02, -0.2]).M)
    assert by_name.coordinates == ("x", "y", "z")
    assert_allclose(by_name.dM, by_name.christoffel + by_name.christoffel.transpose(1, 0, 2))


@pytest.mark.parametrize(
    ("theta", "message"),
    [
        ([-0.1, 0.02], r"shape \(2,\)"),
        ([-0.1, 0.02, np.nan], "not finite"),
        ({"x": 0.0, "y": 0.0}, '"z" has no value'),
        ({"x": 0.0, "y": 0.0, "w": 0.0}, 'unknown name "w"; known: "x"'),
        (["a", "b", "c"], "not numbers"),
        ([0.0, 0.0, 0.2], "z=0.2 lies outside the region"),
        ([[0.0, 0.0, 0.0], [0.0, 0.0, 0.2]], "z=0.2 lies outside the region"),
    ],
)
def test_wrong_theta(orthoglide, theta, message):
    for call in (orthoglide.evaluate, orthoglide.forward, orthoglide.inverse, orthoglide.energy, orthoglide.linearize):
        if call == orthoglide.linearize and np.ndim(theta) == 2:
            continue
        with pytest.raises(InputError, match=message):
            call(theta)


def test_the_region_is_closed_and_the_kernel_flags_what_lies_outside(orthoglide_direct):
    box = orthoglide_direct.fitted.arrays.roots_f[0]
    for corner in box:
        assert np.isfinite(orthoglide_direct.evaluate(corner).M).all()
    evaluate = orthoglide_direct.kernel()
    row = evaluate.new_row()
    assert evaluate(box[1] + 1e-12, row) == 1
    assert np.isnan(row[: evaluate.width]).all()
    assert evaluate(np.full(3, np.nan), row) == 1


def test_a_run_that_leaves_returns_what_it_has(orthoglide):
    """A slider that falls leaves the region at the time of free fall under its own acceleration, roughly."""
    grid = np.linspace(0.0, 1.0, 101)
    with pytest.warns(SuppleWarning, match="leaves the region"):
        run = orthoglide.simulate(grid, None, [-0.1, 0.02, -0.2])
    assert not run.complete
    assert "leaves the region" in run.reason
    assert '"z" moves fastest' in run.reason
    assert run.time[-1] <= run.stopped < run.time[-1] + 0.01
    with pytest.warns(SuppleWarning, match="leaves the region"):
        fixed = orthoglide.simulate(grid, None, [-0.1, 0.02, -0.2], step=1e-3)
    assert fixed.stopped == pytest.approx(run.stopped, abs=1e-6)
    assert len(run.outputs["tool.z"]) == len(run.time)


def test_inputs_in_every_form_give_the_same_motion(orthoglide):
    grid = np.linspace(0.0, 0.05, 11)
    hold = orthoglide.inverse([-0.1, 0.02, -0.2])
    start, names = [-0.1, 0.02, -0.2], orthoglide.layout.inputs
    forms = [
        hold,
        np.tile(hold, (11, 1)),
        dict(zip(names, hold.tolist(), strict=True)),
        {name: np.full(11, value) for name, value in zip(names, hold, strict=True)},
        {name: (lambda t, value=value: value) for name, value in zip(names, hold, strict=True)},
    ]
    runs = [orthoglide.simulate(grid, form, start, step=5e-3) for form in forms]
    for run in runs:
        assert_allclose(run.coordinates["z"], -0.2, atol=1e-12)
        assert_allclose(run.inputs["z"], hold[2])
        assert set(run.energy) == {"kinetic", "potential", "total", "actuators", "lost", "balance"}


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0.0],), {}, "t: .*ascending.*N > 1"),
        (([0.0, 0.0],), {}, "t: .*ascending.*N > 1"),
        ((1.0, {"w": 1.0}), {}, 'unknown actuator "w"; known: "x"'),
        ((1.0, {"x": [1.0, 2.0]}), {}, r'input "x": .*\(2,\) for 1001 times; give input_times'),
        ((1.0, {"x": np.nan}), {}, 'input "x": must be finite .*remove'),
        ((1.0,), {"start": None}, "no start is given; give values for x, y, z"),
        ((1.0,), {"start": {"x": 0.0}}, '"y" has no value'),
        ((1.0,), {"step": -1.0}, r"step .*above 0 s and at most 1 s.*got -1 s"),
        ((1.0,), {"method": "euler"}, 'unknown method "euler"; known: "auto"'),
        ((1.0,), {"start": [0.0, 0.0, 1.0]}, "outside the region"),
    ],
)
def test_wrong_runs(orthoglide, arguments, options, message):
    with pytest.raises(InputError, match=message):
        orthoglide.simulate(*arguments, **{"start": [-0.1, 0.0, -0.1], **options})


def test_flexible_models_do_not_pretend_to_know_actuator_forces(flexible):
    with pytest.raises(InputError, match=r"2 actuators .* 4 .*inverse"):
        flexible.actuator_forces([0.0, 0.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": {"M": (0, 5)}}, "5 columns|fitted columns"),
        ({"theta": 2}, "2 θ.*inconsistent"),
        ({"constants": {"mass": np.zeros(1)}}, "cannot be constant"),
        ({"force": "guessed"}, "unknown.*guessed"),
    ],
)
def test_layouts_that_do_not_fit_are_refused(orthoglide, change, message):
    facts = {name: getattr(orthoglide.layout, name) for name in CoefficientLayout.__dataclass_fields__}
    with pytest.raises(InputError, match=message):
        ReducedModel("wrong", CoefficientLayout(**{**facts, **change}), orthoglide.fitted)
