"""Compiled evaluation against the basis written out, with leaves of every degree, several roots, and faces."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from supple.approximation.fits.chebyshev_products import basis, basis_gradient, total_degree
from supple.approximation.piecewise.piecewise_kernel import BLOCK
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, cut_box
from supple.reduced.coefficient_slopes import hessian


@pytest.fixture(params=[1, 2, 3, 5], scope="module")
def fitted(request):
    s, rng = request.param, np.random.default_rng(request.param)
    roots = [
        cut_box(Box((0.0,) * s, (1.0,) * s), ((2, 2, 1, 1, 1)[:s])),
        cut_box(Box((1.0, *[0.0] * (s - 1)), (2.0, *[1.0] * (s - 1))), (1,) * s),
    ]
    for leaf in (leaf for root in roots for leaf in root.leaves()):
        leaf.coefficients = rng.normal(size=(len(total_degree(s, int(rng.integers(0, 7)))), 7))
    return Forest(roots, total_degree(s, 6)).piecewise()


def points(fitted, count=300):
    rest = [1.0] * (fitted.dimension - 1)
    return np.random.default_rng(0).uniform(0.0, [2.0, *rest], (count, fitted.dimension))


def test_values_and_gradients_are_those_of_the_basis(fitted):
    x, arrays = points(fitted), fitted.arrays
    values, slopes = fitted.with_gradient(x)
    assert_array_equal(values, fitted.evaluate(x))
    for n, leaf in enumerate(fitted.locate(x)):
        assert fitted.leaves[leaf].contains(x[n])
        first, terms, _ = arrays.leaves_i[leaf]
        center, inverse = arrays.leaves_f[leaf]
        xi, c = ((x[n] - center) * inverse)[None], arrays.coefficients[first : first + terms]
        indices = arrays.indices[:terms]
        assert_allclose(values[n], basis(xi, indices)[0] @ c, atol=1e-13 * np.abs(c).sum())
        gradient = (basis_gradient(xi, indices)[0] @ c) * inverse[:, None]
        assert_allclose(slopes[n], gradient.T, atol=1e-12 * np.abs(c).sum() * inverse.max())


def test_a_point_does_not_depend_on_its_companions(fitted):
    x = points(fitted, BLOCK + 6)
    values, slopes = fitted.with_gradient(x)
    for n, point in enumerate(x):
        alone = fitted.with_gradient(point)
        assert_array_equal(alone[0], values[n])
        assert_array_equal(alone[1], slopes[n])


def test_second_derivatives_are_differences_of_the_first(fitted):
    center, inverse = fitted.arrays.leaves_f[1]
    x, h = center + 0.3 / inverse, 1e-5
    found = hessian(fitted, x)
    steps = h * np.eye(len(x))
    slopes = [(fitted.with_gradient(x + e)[1] - fitted.with_gradient(x - e)[1]) / (2.0 * h) for e in steps]
    # Central differences err by h² times a fourth derivative.
    assert_allclose(found, np.stack(slopes, axis=-1), atol=1e-6 * (1.0 + np.abs(found).max()))
    assert_array_equal(found, np.swapaxes(found, 1, 2))
