from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.approximation.check_points import boundary_points, fill_gaps, peaks
from supple.approximation.evaluated import Evaluated, Samples
from supple.approximation.fits.chebyshev_products import basis, basis_gradient, count, tensor, total_degree
from supple.approximation.fits.fits import FITS, central_composite, chebyshev_grid, fit, full_factorial
from supple.approximation.fits.scattered_fit import find_missing_points, halton_points, leja, sequence
from supple.approximation.refinement.box import Box
from supple.diagnostics import InputError


def as_set(points):
    return {tuple(row) for row in points.round(12).tolist()}


@pytest.mark.parametrize("s", [1, 2, 3, 4])
def test_designs_have_their_counts_and_are_symmetric(s):
    # In one dimension the corners of the central composite design are its star points as well.
    for design, size in (
        (central_composite(s), 2**s + 2 * s + 1 if s > 1 else 3),
        (full_factorial(s), 3**s),
        (chebyshev_grid(s, 4), 5**s),
    ):
        points = as_set(design)
        assert len(points) == size
        assert np.abs(design).max() == 1.0
        assert as_set(-design) == points
        for axis in range(s):
            assert as_set(np.roll(design, axis, axis=1)) == points


@pytest.mark.parametrize(("s", "n"), [(1, 8), (2, 6), (3, 4)])
def test_leja_prefixes_determine_polynomials_of_every_degree(s, n):
    points = leja(s, n)
    for degree in range(n + 1):
        size = count(s, degree)
        assert np.linalg.cond(basis(points[:size], total_degree(s, degree))) < 1e3  # far from singular


def test_the_sequence_is_nested_and_known_points_take_its_places():
    assert (sequence(2, 40) == sequence(2, 300)[:40]).all()
    assert (sequence(2, 280) == sequence(2, 300)[:280]).all()
    assert len(find_missing_points(sequence(2, 40), 40)) == 0
    assert len(find_missing_points(np.zeros((0, 2)), 40)) == 40
    assert len(find_missing_points(sequence(2, 20), 40)) == 20


@pytest.mark.parametrize("s", [1, 2, 3])
def test_total_degree_is_graded_and_complete(s):
    indices = total_degree(s, 5)
    degrees = indices.sum(axis=1)
    assert (np.diff(degrees) >= 0).all()
    expected = {alpha for alpha in product(range(6), repeat=s) if sum(alpha) <= 5}
    assert {tuple(row) for row in indices.tolist()} == expected
    assert len(indices) == count(s, 5)


@pytest.mark.parametrize("s", [1, 2, 3])
def test_basis_gradients_are_derivatives(s):
    xi, indices, h = 0.9 * halton_points(s, 20, seed=1), total_degree(s, 6), 1e-6
    found = basis_gradient(xi, indices)
    for axis in range(s):
        step = h * np.eye(s)[axis]
        difference = (basis(xi + step, indices) - basis(xi - step, indices)) / (2 * h)
        assert_allclose(found[:, axis], difference, atol=1e-7)  # third derivatives reach 6⁶ and h² is 1e-12


@pytest.mark.parametrize("s", [1, 2, 3])
@pytest.mark.parametrize("name", FITS)
def test_every_fit_reproduces_its_polynomials(name, s):
    chosen = FITS[name].polynomials(s)
    c = np.random.default_rng(3).normal(size=(len(chosen.indices), 2))
    assert_allclose(chosen.coefficients(basis(chosen.design, chosen.indices) @ c), c, atol=1e-12)


@pytest.mark.parametrize("s", [1, 2, 3])
def test_gradients_stand_in_for_samples(s):
    indices = total_degree(s, 5)
    points = sequence(s, int(np.ceil(1.5 * len(indices) / (1 + s))))
    c = np.random.default_rng(4).normal(size=(len(indices), 2))
    gradients = np.einsum("nsk,kt->nts", basis_gradient(points, indices), c)
    assert_allclose(fit(points, basis(points, indices) @ c, indices, gradients), c, atol=1e-11)
    assert len(points) < len(indices) or s == 1


def test_slopes_may_be_known_along_the_first_axes_alone():
    indices = total_degree(3, 4)
    points = sequence(3, 24)
    c = np.random.default_rng(4).normal(size=(len(indices), 2))
    gradients = np.einsum("nsk,kt->nts", basis_gradient(points, indices), c)[..., :2]
    assert len(points) < len(indices)
    assert_allclose(fit(points, basis(points, indices) @ c, indices, gradients), c, atol=1e-11)


def test_too_few_samples_give_the_smallest_coefficients_not_an_error():
    indices = tensor(2, 3)
    found = fit(leja(2, 2), np.ones((6, 1)), indices)
    assert np.isfinite(found).all()


def test_neighbouring_boxes_share_points_bit_for_bit():
    box = Box((0.1, -0.7), (0.83, 0.9))
    for axis in (0, 1):
        lower, upper = box.split(axis)
        for design in (central_composite(2), full_factorial(2), chebyshev_grid(2, 4)):
            shared = {row.tobytes() for row in lower.from_unit(design)} & {
                row.tobytes() for row in upper.from_unit(design)
            }
            assert len(shared) == len(design[design[:, axis] == 1.0])


def test_check_points_lie_inside_and_keep_away_from_known_ones():
    known = sequence(2, 30)
    new = fill_gaps(known, 10, seed=2)
    assert np.abs(new).max() <= 1.0
    far = np.linalg.norm(new[:, None] - known[None], axis=2).min(axis=1)
    near = np.linalg.norm(boundary_points(2, 200, seed=2)[:, None] - known[None], axis=2).min(axis=1)
    assert np.median(far) > np.median(near)
    assert (fill_gaps(known, 10, seed=2) == new).all()


def test_peaks_are_the_highest_that_lie_apart():
    points = np.linspace(-1, 1, 201)[:, None]
    assert_allclose(
        peaks(points, np.cos(np.pi * points[:, 0]) ** 2 + 0.01 * points[:, 0], 2).ravel(), [1.0, 0.0], atol=0.02
    )


def test_an_unknown_fit_is_named_with_the_nearest():
    with pytest.raises(InputError, match="quadratic"):
        FITS["quadratc"]


@pytest.mark.parametrize("counts", [(3,), (2, 3), (1, 2, 2)])
@pytest.mark.parametrize("name", FITS)
def test_samples_of_a_grid_are_counted_before_they_are_taken(name, counts):
    """Neighbours share the points of their faces: those of all boxes, once each."""
    design = FITS[name].polynomials(len(counts)).design
    corners = np.array(list(product(*[range(n) for n in counts])), dtype=float)
    points = np.unique(((design + 1.0)[None] + 2.0 * corners[:, None]).reshape(-1, len(counts)).round(9), axis=0)
    assert FITS[name].grid_samples(counts) == len(points)


@pytest.mark.parametrize("name", FITS)
def test_a_degree_that_a_fit_does_not_take_is_refused(name):
    with pytest.raises(InputError, match="degree"):
        FITS[name].polynomials(2, FITS[name].degrees[-1] + 1)


def test_points_are_moved_to_cheaper_ones_unless_their_box_is_too_small():
    def sampler(x):
        return Samples(x[:, :1], None, {}, np.ones(len(x), dtype=bool))

    evaluated = Evaluated(sampler, 1, placed=np.round)
    points = np.array([[0.2], [2.9], [4.3]])
    half = np.array([[10.0], [10.0], [1.0]])
    assert evaluated.count_missing(points, half) == 3
    rows = evaluated.rows(points, half)
    assert_allclose(evaluated.points[rows], [[0.0], [3.0], [4.3]])
