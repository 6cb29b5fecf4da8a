"""In many dimensions samples choose the terms: few of them, the error true, and the same again."""

import numpy as np
import pytest
from functions import Known, honest, unit_box

from supple.approximation.fits.chebyshev_products import basis, total_degree
from supple.approximation.fits.lower_set import hyperbolic_cross, repertoire, sort_terms, union_of_terms
from supple.approximation.refinement.bases import chosen_terms, fekete_points
from supple.approximation.refinement.box_tree import BoxNode, Forest
from supple.approximation.refinement.refinement import adaptive

S = 8


def bent(x):
    """It bends along every coordinate, and holds one product of three."""
    return (3.0 + np.sin(3.0 * x + 0.3).sum(axis=1) + x[:, 0] * x[:, 7] * np.cos(2.0 * x[:, 4]))[:, None]


@pytest.fixture(scope="module")
def fitted():
    function = Known(bent, None)
    return function, adaptive([unit_box(S)], 1e-2, function, function.derived)


def is_lower(indices):
    """Whether every divisor of a term stands before it."""
    seen = set()
    for term in map(tuple, indices.tolist()):
        below = [(*term[:i], n - 1, *term[i + 1 :]) for i, n in enumerate(term) if n]
        if not all(item in seen for item in below):
            return False
        seen.add(term)
    return True


def test_eight_dimensions_take_few_samples_and_the_stated_error_is_true(fitted):
    function, result = fitted
    assert result.worst <= 1e-2
    assert result.samples + result.checks == function.evaluations < 500  # 3^8 = 6561
    assert honest(function, result, [unit_box(S)])


def test_the_result_is_the_same_again(fitted):
    function = Known(bent, None)
    again = adaptive([unit_box(S)], 1e-2, function, function.derived).piecewise.arrays
    for one, other in zip(fitted[1].piecewise.arrays, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_terms_follow_what_bends(fitted):
    arrays = fitted[1].piecewise.arrays
    terms = arrays.indices[: arrays.leaves_i[:, 1].max()]
    assert is_lower(arrays.indices)
    assert terms.max(axis=0).min() >= 4  # along every axis
    assert len(terms) < 165  # those of total degree 3 alone


def test_a_coordinate_that_enters_linearly_gets_no_second_power():
    rng = np.random.default_rng(0)
    x = np.cos(np.pi * rng.random((120, 5)))
    values = ((2.0 + x[:, 4]) * np.exp(0.5 * x[:, 0]) + x[:, 1] ** 3)[:, None]
    order = chosen_terms(x, values, None, repertoire(5), 20)
    assert is_lower(order)
    assert order[:12, 4].max() == 1
    assert order[:12, 0].max() >= 3
    assert order[:12, [2, 3]].max() == 0


def test_lower_sets():
    cross = sort_terms(set(hyperbolic_cross(3, 6)))
    assert (np.prod(1 + cross, axis=1) <= 6).all()
    assert is_lower(cross)
    one, other = total_degree(2, 2), np.array([[0, 0], [1, 0], [2, 0], [3, 0]])
    assert is_lower(union_of_terms([one, other]))
    np.testing.assert_array_equal(union_of_terms([one, one[:3]]), one)


def test_leaves_with_lists_of_their_own_share_one_in_the_end():
    """Each leaf keeps its polynomial, with zeros for the terms of the other."""
    rng, whole = np.random.default_rng(0), unit_box(4)
    narrow = repertoire(4)
    narrow = narrow[(narrow[:, 0] < 2) & (narrow.sum(axis=1) < 5)]
    root = BoxNode(whole, axis=2)
    lower, upper = whole.split(2)
    root.children = (
        BoxNode(lower, coefficients=rng.normal(size=(len(narrow), 5)), indices=narrow),
        BoxNode(upper, coefficients=rng.normal(size=(20, 5)), indices=total_degree(4, 3)),
    )
    piecewise = Forest([root], total_degree(4, 1)).piecewise()
    assert is_lower(piecewise.arrays.indices)
    for leaf in root.children:
        xi = rng.uniform(-0.99, 0.99, (50, 4))
        own = basis(xi, leaf.terms(narrow)) @ leaf.coefficients
        np.testing.assert_allclose(piecewise.evaluate(leaf.box.from_unit(xi)), own, atol=1e-12)


def test_points_for_terms_keep_them_apart():
    terms = repertoire(6)[:28]
    points = fekete_points(np.zeros((0, 6)), terms, 42)
    more = fekete_points(points, terms, 10)
    assert len({point.tobytes() for point in np.vstack([points, more])}) == 52
    assert np.abs(points).max() <= 1.0
