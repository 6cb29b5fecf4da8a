"""The search for the peaks of an error: it ends at the largest errors there are, and states none that is not there."""

from __future__ import annotations

import numpy as np
import pytest
from functions import Known, pole, unit_box

from supple.approximation.confidence import GUARD, Confirmation
from supple.approximation.error_peaks import PeakSearch
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.refinement import adaptive
from supple.approximation.refinement.uniform import uniform

INSIDE = 1.0 - 1e-9


def largest_by_grid(function, result, count):
    """The largest error of each family on a fine grid of every box, crowded towards its faces."""
    s = result.piecewise.dimension
    nodes = INSIDE * np.cos(np.linspace(0.0, np.pi, count))
    unit = np.stack(np.meshgrid(*[nodes] * s, indexing="ij"), axis=-1).reshape(-1, s)
    found: dict[str, float] = {}
    for box in result.piecewise.leaves:
        x = box.center + box.half * unit
        exact, fitted = function(x).families, function.derived(*result.piecewise.with_gradient(x))
        for name, family in exact.items():
            size = np.maximum(np.linalg.norm(family, axis=1), result.error[name].scale)
            off = np.linalg.norm(fitted[name] - family, axis=1) / size
            found[name] = max(found.get(name, 0.0), float(off.max()))
    return found


@pytest.mark.parametrize(
    ("function", "s", "boxes", "degree"),
    [(pole(1.4, 0.2), 2, [2, 2], 4), (pole(1.4, 0.2, 0.6), 3, [1, 1, 1], 5), (pole(1.1), 1, [3], 5)],
    ids=["four boxes", "one in space", "an interval"],
)
def test_the_stated_error_is_the_largest_one_and_was_found(function, s, boxes, degree):
    """Uniform points alone are short of it by half in space: the peaks are on edges and in corners."""
    result = uniform([unit_box(s)], boxes, function, function.derived, fit="chebyshev", degree=degree)
    largest = largest_by_grid(function, result, {1: 4000, 2: 200, 3: 60}[s])
    for name, stated in result.error.items():
        found = stated.worst / GUARD
        assert found >= 0.98 * largest[name]
        at = stated.at[None]
        exact, fitted = function(at).families[name], function.derived(*result.piecewise.with_gradient(at))[name]
        size = max(float(np.linalg.norm(exact)), stated.scale)
        assert float(np.linalg.norm(fitted - exact)) / size == pytest.approx(found, rel=1e-9)
        assert stated.seen <= found


def test_peaks_above_the_tolerance_are_refined():
    function = pole(1.4, 0.2)
    confirmation = Confirmation(function, function.derived, 400)
    result = adaptive([unit_box(2)], 1e-2, function, function.derived, confirmation=confirmation)
    assert result.worst <= 1e-2
    assert max(largest_by_grid(function, result, 40).values()) <= 1e-2


def test_a_search_is_the_same_every_time_and_keeps_its_budget():
    function = pole(1.4, 0.2)
    runs = []
    for _ in range(2):
        confirmation = Confirmation(function, function.derived, 600)
        runs.append(
            uniform([unit_box(2)], [2, 1], function, function.derived, fit="chebyshev", degree=3,
                    confirmation=confirmation)
        )  # fmt: skip
        assert 600 < confirmation.evaluations <= 600 + 600 // 10
    for name, stated in runs[0].error.items():
        assert stated.worst == runs[1].error[name].worst
        assert (stated.at == runs[1].error[name].at).all()


def test_a_search_looks_only_where_points_may_be():
    """Points are moved to levels of the last coordinate, as with parameters that cost a mechanism each; its ends are
    among them."""
    function = Known(
        lambda x: np.exp(x[:, :1] + 2.0 * x[:, 1:]), lambda x: np.exp(x[:, :1] + 2.0 * x[:, 1:])[:, :, None] * [1, 2]
    )
    result = uniform([Box((0.0, 0.0), (1.0, 1.0))], [1, 1], function, function.derived, fit="chebyshev", degree=2)

    def levels(x):
        return np.column_stack([x[:, 0], np.round(32.0 * x[:, 1]) / 32.0])

    looked = []

    def compared(x):
        looked.append(x)
        off = np.abs(function(x).values - result.piecewise.evaluate(x))[:, 0]
        return np.ones(len(x), dtype=bool), {"f": off}

    start = np.random.default_rng(0).uniform(size=(50, 2))
    known = np.abs(function(start).values - result.piecewise.evaluate(start))[:, 0]
    found = PeakSearch(result.piecewise, start, {"f": known}, compared, 120, levels).run()
    points = np.vstack(looked)
    assert set(np.unique(32.0 * points[:, 1])) <= set(range(33))
    assert {0.0, 1.0} <= set(points[:, 1])
    assert len(points) == len(np.unique(points, axis=0)) <= 120
    assert len(found.points) == len(points)
    assert found.errors["f"].max() > known.max()
