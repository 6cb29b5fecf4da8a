"""Fits on grids of boxes, and splines."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.approximation.fits.chebyshev_products import basis, total_degree
from supple.approximation.piecewise.piecewise import Piecewise
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import BoxNode, Forest
from supple.run_time.grid_fit import GridFit, grid_piecewise, region_box
from supple.run_time.spline_fit import fit_spline, spline_terms


def polynomial(s: int, degree: int, columns: int, seed: int = 0) -> Piecewise:
    """One box with random coefficients that fall with the degree."""
    rng = np.random.default_rng(seed)
    box = Box(tuple(-0.3 - 0.1 * i for i in range(s)), tuple(0.5 + 0.2 * i for i in range(s)))
    indices = total_degree(s, degree)
    coefficients = rng.normal(size=(len(indices), columns)) * 0.4 ** indices.sum(axis=1)[:, None]
    return Forest([BoxNode(box, coefficients=coefficients)], indices).piecewise()


def points_in(fitted: Piecewise, count: int, seed: int = 1) -> np.ndarray:
    lower, upper = fitted.arrays.roots_f[0]
    return np.random.default_rng(seed).uniform(lower, upper, (count, fitted.dimension))


def fits_of(surrogate) -> GridFit:
    return GridFit(surrogate, region_box(surrogate, "test"), tuple(range(surrogate.outputs // 2)))


def fit(fits: GridFit, counts, indices):
    centers, half = fits.boxes(counts)
    found = np.concatenate([
        fits.from_data(fits.data(centers[part], half, indices), indices) for part in fits.batches(len(centers), indices)
    ])  # fmt: skip
    return grid_piecewise(fits.region, counts, indices, found)


@pytest.mark.parametrize(("s", "degree", "counts"), [(1, 5, (3,)), (2, 4, (2, 3)), (3, 3, (1, 2, 2)), (6, 2, (1,) * 6)])
def test_a_polynomial_of_the_same_degree_is_reproduced(s, degree, counts):
    surrogate = polynomial(s, degree, 4)
    found = fit(fits_of(surrogate), counts, total_degree(s, degree))
    x = points_in(surrogate, 200)
    for exact, fitted in zip(surrogate.with_gradient(x), found.with_gradient(x), strict=True):
        assert_allclose(fitted, exact, atol=1e-11 * np.abs(exact).max())  # conditioning of least squares


def test_errors_of_slopes_fall_with_the_degree():
    """Halving the boxes divides the error of slopes of degree d by about 2^d."""
    surrogate = polynomial(2, 9, 2)
    x, fits, degree = points_in(surrogate, 2000), fits_of(surrogate), 3
    errors = []
    for n in (4, 8):
        slopes = fit(fits, (n, n), total_degree(2, degree)).with_gradient(x)[1]
        errors.append(np.abs(slopes - surrogate.with_gradient(x)[1])[:, 0].max())
    assert 0.6 * 2**degree < errors[0] / errors[1] < 1.6 * 2**degree


def test_columns_that_are_the_same_everywhere_stay_so():
    surrogate = polynomial(2, 4, 3)
    surrogate.arrays.coefficients[1:, 2] = 0.0
    fits = GridFit(surrogate, region_box(surrogate, "test"), (0,), (2,))
    found = fit(fits, (2, 2), total_degree(2, 3)).arrays
    assert np.ptp(found.coefficients[:: len(total_degree(2, 3)), 2]) == 0.0
    assert np.count_nonzero(found.coefficients[:, 2]) == 4


@pytest.mark.parametrize("counts", [(4,), (3, 2), (2, 2, 3)])
def test_splines_reproduce_cubics_and_are_twice_continuous(counts):
    s = len(counts)
    cubic = polynomial(s, 3, 2)
    fits, terms = fits_of(cubic), spline_terms(s)
    found = grid_piecewise(fits.region, counts, terms, fit_spline(fits, counts))
    x = points_in(cubic, 100)
    for exact, fitted in zip(cubic.with_gradient(x), found.with_gradient(x), strict=True):
        assert_allclose(fitted, exact, atol=1e-10 * np.abs(exact).max())

    rough = polynomial(s, 9, 2, seed=4)
    fits = fits_of(rough)
    c, number = fit_spline(fits, counts), np.arange(np.prod(counts)).reshape(counts)
    rng = np.random.default_rng(0)
    for axis in range(s):
        left, right = np.take(number, range(counts[axis] - 1), axis), np.take(number, range(1, counts[axis]), axis)
        for a, b in zip(left.ravel(), right.ravel(), strict=True):
            xi = rng.uniform(-1.0, 1.0, (5, s))
            for derivative in range(3):
                values = []
                for box, side in ((a, 1.0), (b, -1.0)):
                    at = xi.copy()
                    at[:, axis] = side
                    values.append(derivatives(at, terms, axis, derivative) @ c[box])
                assert_allclose(values[0], values[1], atol=1e-9 * np.abs(c).max())


def derivatives(xi, terms, axis, order):
    """Basis of a box, differentiated along an axis."""
    rest = terms.copy()
    rest[:, axis] = 0
    own = [np.polynomial.chebyshev.Chebyshev.basis(int(n)).deriv(order) if order else
           np.polynomial.chebyshev.Chebyshev.basis(int(n)) for n in terms[:, axis]]  # fmt: skip
    return basis(xi, rest) * np.stack([one(xi[:, axis]) for one in own], axis=1)
