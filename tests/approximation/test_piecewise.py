import numpy as np
import pytest
from functions import pole, polynomial, unit_box
from numpy.testing import assert_allclose, assert_array_equal

from supple.approximation.fits.chebyshev_products import tensor, total_degree
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, grid_tree
from supple.approximation.refinement.refinement import adaptive
from supple.approximation.refinement.uniform import grid_edges, uniform
from supple.diagnostics import InputError


@pytest.mark.parametrize("s", [1, 2, 3])
@pytest.mark.parametrize("name", ["quadratic", "lagrange", "chebyshev"])
def test_polynomials_are_reproduced_on_any_grid(name, s):
    box = Box((0.2,) * s, (1.7,) * s)
    indices = total_degree(s, 2) if name == "quadratic" else tensor(s, 2)
    function = polynomial(indices, 3, box, seed=s)
    result = uniform([box], [3, 2, 1][:s], function, function.derived, fit=name)
    assert result.worst < 1e-12
    assert result.boxes == [3, 6, 6][s - 1]
    assert max(result.jumps.values()) < 1e-11


@pytest.mark.parametrize("counts", [(1, 1), (4, 2), (3, 5), (7, 1)])
def test_a_grid_becomes_a_tree_that_finds_every_cell(counts):
    box = Box((-1.0, 0.0), (2.0, 0.7))
    root = grid_tree(box, grid_edges(box, counts))
    for leaf in root.leaves():
        leaf.coefficients = np.zeros((1, 1))
    assert {leaf.box for leaf in root.leaves()} == set(box.grid(counts))
    found = Forest([root], total_degree(2, 0)).piecewise()
    assert found.depth == sum(int(np.ceil(np.log2(n))) for n in counts)


def test_locate_agrees_with_the_boxes_on_faces_and_outside():
    function = pole(1.2, 0.3)
    region = [unit_box(2), Box((1.0, -1.0), (1.1, 0.5))]
    result = adaptive(region, 2e-2, function, function.derived, fit="chebyshev", degree=3)
    leaves = result.piecewise.leaves
    rng = np.random.default_rng(0)
    corners = np.array([corner for box in leaves for corner in (box.lower, box.upper, tuple(box.center))])
    x = np.vstack([rng.uniform(-1.3, 1.3, (2000, 2)), corners])
    located = result.piecewise.locate(x)
    inside = np.array([box.contains(x) for box in region]).any(axis=0)
    # Bounds of leaves come back from centre and width, so a corner may be off by rounding.
    assert_array_equal(located[:2000] >= 0, inside[:2000])
    for point, n in zip(x, located, strict=True):
        if n >= 0:
            box = leaves[n]
            assert (np.abs(box.to_unit(point)) <= 1 + 1e-12).all()
    with pytest.raises(InputError, match="outside"):
        result.piecewise.evaluate([1.05, 0.9])


def test_gradients_of_the_piecewise_function_are_its_derivatives():
    function = pole(1.5, 0.3)
    result = adaptive([unit_box(2)], 1e-2, function, function.derived)
    x, h = 0.37 * np.random.default_rng(1).uniform(-1, 1, (50, 2)), 1e-6
    _, slopes = result.piecewise.with_gradient(x)
    for axis in (0, 1):
        step = h * np.eye(2)[axis]
        difference = (result.piecewise.evaluate(x + step) - result.piecewise.evaluate(x - step)) / (2 * h)
        assert_allclose(slopes[:, :, axis], difference, atol=1e-7)


def test_wrong_counts_are_refused():
    function = pole(1.5)
    with pytest.raises(InputError, match=r"expected 1 positive.*\[2, 2\]"):
        uniform([unit_box(1)], [2, 2], function, function.derived)
    with pytest.raises(InputError, match="no box"):
        uniform([], [2], function, function.derived)
