from itertools import product

import numpy as np
import pytest
from functions import (
    Known,
    dome,
    fresh_errors,
    growth,
    honest,
    pole,
    polynomial,
    ridge,
    unit_box,
    wave,
    without_gradients,
)
from numpy.testing import assert_allclose, assert_array_equal

from supple.approximation.confidence import GUARD, points_needed
from supple.approximation.evaluated import Samples
from supple.approximation.fits.chebyshev_products import total_degree
from supple.approximation.fits.fits import FITS
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.refinement import adaptive
from supple.approximation.refinement.uniform import uniform
from supple.diagnostics import InputError, NumericalError, SuppleWarning

CASES = {
    "near one end": (pole(1.1), [unit_box(1)], 1e-3),
    "near one end, values alone": (without_gradients(pole(1.1)), [unit_box(1)], 1e-3),
    "near a side": (pole(1.4, 0.2), [unit_box(2)], 1e-2),
    "near a side, values alone": (without_gradients(pole(1.4, 0.2)), [unit_box(2)], 1e-2),
    "near a corner in space": (pole(1.4, 1.4, 1.4), [unit_box(3)], 1e-2),
    "where it does not exist everywhere": (dome(), [unit_box(2)], 1e-2),
    "on two boxes": (pole(1.3, 0.0), [Box((-1.0, -1.0), (0.0, 1.0)), Box((0.0, -0.5), (1.0, 1.0))], 1e-2),
}


@pytest.mark.parametrize("case", CASES)
def test_the_tolerance_is_met_and_the_stated_error_is_true(case):
    function, region, tolerance = CASES[case]
    function.calls.clear()
    result = adaptive(region, tolerance, function, function.derived, shortest=1 / 16)
    assert result.worst <= tolerance
    assert honest(function, result, region)
    assert function.never_twice()
    assert result.samples + result.checks == function.evaluations
    assert (result.dropped > 0) == (function.valid is not None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "s", "tolerance"),
    [(wave(4), 4, 1e-2), (ridge(4), 4, 5e-2), (growth(5), 5, 1e-2), (growth(6), 6, 5e-2)],
    ids=["wave in 4", "ridge in 4", "growth in 5", "growth in 6"],
)
def test_the_stated_error_is_true_in_many_dimensions(function, s, tolerance):
    result = adaptive([unit_box(s)], tolerance, function, function.derived)
    assert result.worst <= tolerance
    assert honest(function, result, [unit_box(s)])


def test_a_box_across_a_kink_is_judged_by_fresh_points():
    """At its own samples the fit of the values is right; the slope between them is not."""
    slope = Known(lambda x: np.abs(x - 0.25), lambda x: np.sign(x - 0.25)[:, None, :])
    result = uniform([unit_box(1)], [2], slope, slope.derived, fit="chebyshev", degree=1)
    left, right = (result.piecewise.with_gradient([[x]])[1][0, 0, 0] for x in (-1e-9, 1e-9))
    assert left == pytest.approx(-1.0)
    assert right == pytest.approx(0.5)  # from 0.25 at 0 to 0.75 at 1
    # Up to 0.25 the function falls by 1: the left box is right, the right one is wrong by 1.5 there, by 0.5 beyond.
    assert result.error["slope"].seen == pytest.approx(1.5)
    assert 1.5 < result.error["slope"].worst <= GUARD * 1.5 + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("fit", ["quadratic", "lagrange", "chebyshev"])
def test_a_fixed_kind_is_bisected_to_the_tolerance(fit):
    function, region = pole(1.4, 0.2), [unit_box(2)]
    result = adaptive(region, 2e-2, function, function.derived, fit=fit, degree=3 if fit == "chebyshev" else None)
    assert result.worst <= 2e-2
    assert honest(function, result, region)
    assert function.never_twice()
    # The boxes nearest to the pole are the smallest.
    near = result.piecewise.leaves[int(result.piecewise.locate([[0.99, 0.2]])[0])]
    far = result.piecewise.leaves[int(result.piecewise.locate([[-0.9, -0.9]])[0])]
    assert np.prod(near.half) < np.prod(far.half)


@pytest.mark.slow
def test_bisection_takes_the_axis_that_pays():
    wave = Known(lambda x: np.sin(9.0 * x[:, :1]), lambda x: np.stack([9 * np.cos(9 * x[:, :1]), 0 * x[:, :1]], axis=2))
    for function in (wave, without_gradients(wave)):
        for fit in ("quadratic", "auto"):
            result = adaptive(
                [unit_box(2)], 5e-3, function, function.derived, fit=fit, degree=6 if fit == "auto" else 2
            )
            widths = np.array([box.half for box in result.piecewise.leaves])
            # Without gradients the choice rests on a few residuals, and may be wrong where hardly any are left.
            assert np.mean(widths[:, 1] == 1.0) >= (0.5 if function.gradient is None else 1.0)


@pytest.mark.parametrize("s", [1, 2, 3])
def test_a_polynomial_is_found_at_once(s):
    function = polynomial(total_degree(s, 3), 2, unit_box(s), seed=s)
    result = adaptive([unit_box(s)], 1e-8, function, function.derived)
    assert result.boxes == 1
    assert result.worst < 1e-11
    assert result.samples <= 30


def test_a_family_that_vanishes_needs_no_refinement():
    flat = Known(lambda x: np.full((len(x), 1), 0.3), lambda x: 1e-17 * np.sign(x)[:, None, :])
    result = adaptive([unit_box(2)], 1e-6, flat, flat.derived)
    assert result.boxes == 1
    assert result.worst < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"fit": "quadratic"}, {"continuous": True}], ids=["auto", "fixed", "one grid"])
def test_rounding_does_not_decide_where_boxes_are_divided(options):
    """Entries that are zero but for rounding, as many coefficients of a mechanism are, change neither boxes nor points,
    whatever the last bits are: their families have other entries, which are what counts."""
    function, region = without_gradients(pole(1.3, 0.2)), [unit_box(2)]

    def rounded(seed):
        def value(x):
            last_bits = np.sin(1e6 * (1 + seed) * x @ np.array([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]))
            return np.hstack([function.value(x), 1e-17 * last_bits])

        return Known(value, None)

    plain = adaptive(region, 2e-2, function, function.derived, **options)
    for seed in range(3):
        noisy = rounded(seed)
        found = adaptive(region, 2e-2, noisy, noisy.derived, **options)
        assert [box.lower for box in found.piecewise.leaves] == [box.lower for box in plain.piecewise.leaves]
        assert (found.samples, found.checks) == (plain.samples, plain.checks)


def test_a_family_of_rounding_is_judged_by_what_the_caller_knows_of_it():
    """Its own size says nothing: it is all noise. The floor does."""
    noise = Known(lambda x: np.hstack([np.cos(x[:, :1]), 1e-16 * np.sin(1e7 * x[:, :1])]), None)

    def derived(values, gradients):
        return {"wave": values[:, :1], "zero": values[:, 1:]}

    def sampler(x):
        found = noise(x)
        return found._replace(families=derived(found.values, None))

    result = adaptive([unit_box(1)], 1e-4, sampler, derived, floors={"zero": 1e-9})
    assert result.boxes == 1
    assert result.worst <= 1e-4
    assert result.error["zero"].worst <= 1e-6


@pytest.mark.parametrize(("s", "most"), [(1, 3000), (2, 20000)])
@pytest.mark.parametrize("fit", ["auto", "lagrange"])
def test_a_jump_ends_the_refinement_with_its_error_stated(s, most, fit):
    """No box across it is ever good; what the run has is returned, the place told."""
    slope = np.array([1.0, 0.4])[:s]
    jump = Known(lambda x: np.sign(x @ slope - 0.123)[:, None] + 0.1 * x[:, :1], None)
    with pytest.warns(SuppleWarning, match="no longer reduces the error near") as caught:
        result = adaptive([unit_box(s)], 1e-3, jump, jump.derived, fit=fit)
    assert len(caught) == 1
    assert jump.evaluations < most
    assert result.worst > 0.5
    assert result.stagnant is not None
    corners = np.array(list(product((-1.0, 1.0), repeat=s)))
    sides = np.sign(result.stagnant.from_unit(corners) @ slope - 0.123)
    assert len(set(sides.tolist())) == 2
    # Away from the jump it is good all the same.
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (400, s))
    far = points[np.abs(points @ slope - 0.123) > 0.3]
    assert_allclose(result.piecewise.with_gradient(far)[0], jump.value(far), atol=2e-3)  # of a family of size 1


def test_adaptive_boxes_are_fewer_than_uniform_ones():
    function = pole(1.1)
    result = adaptive([unit_box(1)], 1e-2, function, function.derived, fit="quadratic")
    coarser = uniform([unit_box(1)], [result.boxes], function, function.derived)
    assert coarser.worst > 2 * result.worst


@pytest.mark.slow
def test_results_do_not_depend_on_batches():
    function, region = pole(1.4, 0.2), [unit_box(2)]

    def one_by_one(x):
        parts = [function.at(row[None]) for row in x]
        families = {name: np.vstack([part.families[name] for part in parts]) for name in parts[0].families}
        return Samples(
            np.vstack([part.values for part in parts]),
            np.concatenate([part.gradients for part in parts]),
            families,
            np.concatenate([part.valid for part in parts]),
        )

    for options in ({"fit": "auto"}, {"fit": "quadratic"}, {"fit": "auto", "continuous": True}):
        whole = adaptive(region, 1e-1, function.at, function.derived, **options)
        parts = adaptive(region, 1e-1, one_by_one, function.derived, **options)
        assert_array_equal(whole.piecewise.arrays.coefficients, parts.piecewise.arrays.coefficients)


@pytest.mark.slow
def test_a_level_is_sampled_in_one_batch():
    function = pole(1.4, 0.2)
    result = adaptive([unit_box(2)], 2e-2, function, function.derived, fit="lagrange")
    assert result.boxes > 20
    assert len(function.calls) <= 2 * result.depth + 4  # each level once, and some fresh points


@pytest.mark.parametrize("fit", [name for name in FITS if FITS[name].continuous])
@pytest.mark.parametrize("s", [1, 2])
def test_a_continuous_result_has_no_jumps(fit, s):
    function, region = pole(1.4, *[0.2] * (s - 1)), [Box((-1.0,) * s, (0.3, *[1.0] * (s - 1)))]
    region.append(Box((0.3, *[-0.7] * (s - 1)), (1.0, *[0.8] * (s - 1))))
    result = adaptive(region, 2e-2, function, function.derived, fit=fit, continuous=True)
    assert result.worst <= 2e-2
    assert result.boxes > 1
    assert result.jumps["value"] < 1e-11  # rounding; the slope may jump
    assert honest(function, result, region)
    assert function.never_twice()


@pytest.mark.slow
def test_free_trees_do_jump():
    function = pole(1.4, 0.2)
    result = adaptive([unit_box(2)], 2e-2, function, function.derived, fit="lagrange")
    assert result.jumps["value"] > 1e-6  # hanging nodes; this is why `continuous` exists


def test_uniform_grids_state_their_error_truly():
    function, region = pole(1.3, 0.2), [unit_box(2)]
    result = uniform(region, [6, 6], function, function.derived)
    assert honest(function, result, region)
    families, peaks = 2, 0.2
    assert points_needed(families) <= result.checks <= (1.0 + peaks) * points_needed(families)
    assert max(error.max() for error in fresh_errors(function, result, region).values()) > 0.2 * result.worst


def test_running_out_of_samples_warns_and_keeps_what_there_is():
    function, region = pole(1.02, 0.2), [unit_box(2)]
    for fit in ("auto", "quadratic", "lagrange"):
        function.calls.clear()
        with pytest.warns(SuppleWarning, match="exceeds the tolerance"):
            result = adaptive(region, 1e-4, function, function.derived, fit=fit, largest_samples=300)
        assert function.evaluations <= 300 + 100
        assert result.dropped == 0
        assert result.worst > 1e-4


def test_a_function_that_exists_nowhere_is_an_error():
    nowhere = Known(lambda x: x, lambda x: np.eye(1)[None].repeat(len(x), 0), lambda x: np.zeros(len(x), dtype=bool))
    for fit in ("auto", "quadratic"):
        with pytest.raises(NumericalError, match="exists at none"):
            adaptive([unit_box(1)], 1e-2, nowhere, nowhere.derived, fit=fit)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": 0.0}, "tolerance"),
        ({"fit": "cubic"}, 'unknown fit "cubic"; known: "auto"'),
        ({"fit": "quadratic", "continuous": True}, "continuous"),
        ({"degree": 0}, "degree"),
    ],
)
def test_wrong_options_are_refused(options, message):
    function = pole(1.4)
    with pytest.raises(InputError, match=message):
        adaptive([unit_box(1)], options.pop("tolerance", 1e-2), function, function.derived, **options)
