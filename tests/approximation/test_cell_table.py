"""The table of cells against the search in the tree: the same leaf for every point, on faces and corners too."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from supple.approximation.fits.chebyshev_products import total_degree
from supple.approximation.piecewise.location_kernel import locate
from supple.approximation.piecewise.packing import CELLS, COEFFICIENTS, STRIDE, term_factors
from supple.approximation.piecewise.piecewise_kernel import BLOCK, evaluate_batch, locate_batch
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import BoxNode, Forest, cut_box, grid_tree
from supple.approximation.refinement.uniform import grid_edges
from supple.compilation import compile_kernel
from supple.diagnostics import InputError

REGION = Box((-0.26, 0.1, -1.0), (0.06, 0.7, 1 / 3))  # bounds whose halves and thirds are rounded


def refined(node, axes):
    """Every third leaf is cut once more, along axes in turn."""
    for n, leaf in enumerate(node.leaves()):
        if n % 3 == 0:
            axis = axes[n % len(axes)]
            leaf.axis, leaf.children = axis, tuple(BoxNode(half) for half in leaf.box.split(axis))
    return node


def function(roots, empty=()):
    """A constant on each leaf, its number; nothing on the leaves in `empty`."""
    s = roots[0].box.dimension
    for n, leaf in enumerate(leaf for root in roots for leaf in root.leaves()):
        leaf.coefficients = None if n in empty else np.array([[float(n)] * 3])
    return Forest(roots, total_degree(s, 0)).piecewise()


CASES = {
    "halves": lambda: function([cut_box(REGION, (3, 3, 3))]),
    "one axis": lambda: function([cut_box(REGION, (0, 4, 0))]),
    "thirds, fifths, sevenths": lambda: function([grid_tree(REGION, grid_edges(REGION, (3, 5, 7)))]),
    "uneven depth": lambda: function([refined(cut_box(REGION, (2, 1, 2)), (0, 1, 2))]),
    "with holes": lambda: function([refined(cut_box(REGION, (2, 2, 1)), (2, 0))], empty=(0, 5, 6, 11)),
}


def probes(fitted):
    """Random points inside and outside; every cut and bound, exactly and one bit to each side, in every combination."""
    rng = np.random.default_rng(3)
    lower, upper = fitted.arrays.roots_f[0]
    special = []
    for i in range(len(lower)):
        cuts = np.unique([lower[i], upper[i], *fitted.arrays.nodes_f[fitted.arrays.nodes_i[:, 0] == i]])
        cuts = rng.choice(cuts, 5, replace=False) if len(cuts) > 7 else cuts
        beside = [np.nextafter(cuts, -np.inf), cuts, np.nextafter(cuts, np.inf), [lower[i], upper[i], np.nan, np.inf]]
        special.append(np.unique(np.concatenate(beside)))
    corners = np.array(list(itertools.product(*special)))
    inside = rng.uniform(lower, upper, (4000, len(lower)))
    faces = inside.copy()  # one coordinate on a cut, the others anywhere
    for i, axis in enumerate(special):
        faces[i :: len(special), i] = rng.choice(axis, len(faces[i :: len(special)]))
    return np.vstack([inside, faces, rng.uniform(lower - 0.5, upper + 0.5, (1000, len(lower))), corners])


def found_by(Z, F, x):
    found = np.empty(len(x), dtype=np.int64)
    compile_kernel(locate_batch)(Z, F, x, found)
    return found


def searched(fitted, x):
    """The same without the table."""
    Z = fitted.kernel_arrays[0].copy()
    Z[CELLS] = 0
    return found_by(Z, fitted.kernel_arrays[1], x)


@pytest.mark.parametrize("name", CASES)
def test_the_table_finds_what_the_tree_finds(name):
    fitted = CASES[name]()
    Z, F = fitted.kernel_arrays
    assert Z[CELLS] > 0
    x = probes(fitted)
    found = found_by(Z, F, x)
    assert_array_equal(found, searched(fitted, x))
    assert len(np.unique(found)) == len(fitted.arrays.leaves_i) + 1  # every leaf, and nowhere
    one = compile_kernel(locate)
    assert_array_equal([one(Z, F, x.reshape(-1), n) for n in range(0, len(x), 7)], found[::7])


def test_where_there_is_no_table_the_tree_is_searched():
    two = [cut_box(Box((0.0,), (1.0,)), (2,)), cut_box(Box((1.0,), (2.0,)), (1,))]
    off = grid_tree(Box((0.0,), (1.0,)), [np.array([0.0, 1 / np.pi, 1.0])])
    deep = cut_box(Box((0.0, 0.0), (1.0, 1.0)), (1, 1))
    for _ in range(9):
        leaf = deep.leaves()[0]
        leaf.axis, leaf.children = 0, tuple(BoxNode(half) for half in leaf.box.split(0))
    for roots in (two, [off], [deep], [cut_box(Box((0.0,), (1.0,)), (0,))]):
        fitted = function(roots)
        assert fitted.kernel_arrays[0][CELLS] == 0
        box = np.array([leaf.box.center for root in roots for leaf in root.leaves()])
        assert_array_equal(fitted.locate(box), np.arange(len(box)))


@pytest.mark.parametrize("outputs", [1, 2, 3, 4, 7])
def test_results_fill_their_array_and_nothing_else(outputs):
    """Outputs are summed in groups of four: what fills the last one must not show, whatever the number of points."""
    rng = np.random.default_rng(0)
    root = cut_box(Box((0.0, 0.0), (1.0, 1.0)), (2, 2))
    for leaf in root.leaves():
        leaf.coefficients = rng.normal(size=(int(rng.choice([1, 3, 6, 10, 15, 28])), outputs))
    fitted = Forest([root], total_degree(2, 6)).piecewise()
    Z, F = fitted.kernel_arrays
    assert Z[STRIDE] == 4 * -(-outputs // 4)
    assert (F.ctypes.data + 8 * Z[COEFFICIENTS]) % 64 == 0
    x = rng.uniform(-0.1, 1.1, (BLOCK + 5, 2))
    whole, inside = np.empty((len(x), outputs)), np.empty(len(x), dtype=np.int64)
    compile_kernel(evaluate_batch)(Z, F, x, whole, inside)
    assert 0 < inside.sum() < len(x)
    assert_array_equal(np.isnan(whole).any(axis=1), inside == 0)
    assert_array_equal(whole[inside == 1], fitted.with_gradient(x[inside == 1])[0])
    for count in range(1, len(x)):
        room, size = np.full(outputs * count + 9, 5.0), outputs * count
        compile_kernel(evaluate_batch)(Z, F, x[:count].copy(), room[:size].reshape(count, outputs), inside)
        assert_array_equal(room[:size].reshape(count, outputs), whole[:count])
        assert_array_equal(room[size:], 5.0)


def test_terms_out_of_order_are_refused():
    indices = total_degree(2, 3)
    factors = term_factors(indices)
    for k in range(1, len(indices)):
        before, axis, power = factors[k]
        assert before < k
        assert_array_equal(indices[before] + power * np.eye(2, dtype=int)[axis], indices[k])
        assert indices[before, axis] == 0
    assert term_factors(indices[::-1]) is None
    root = cut_box(Box((0.0, 0.0), (1.0, 1.0)), (0, 0))
    root.coefficients = np.ones((10, 2))
    with pytest.raises(InputError, match="divisor"):
        Forest([root], np.ascontiguousarray(indices[::-1])).piecewise().evaluate([0.5, 0.5])
