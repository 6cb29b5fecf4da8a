"""Operations of one evaluation: the paper's count, and ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.approximation.fits.chebyshev_products import total_degree
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, grid_tree
from supple.approximation.refinement.uniform import grid_edges
from supple.reduced.layout import CoefficientLayout
from supple.reduced.operations import kernel_operations, paper_operations

EXAMPLES = Path(__file__).parents[2] / "examples"


def quadratics(s: int, intervals: int) -> tuple[CoefficientLayout, object]:
    """M, Γ and p fitted one by one on a grid of quadratics."""
    box, indices = Box((-1.0,) * s, (1.0,) * s), total_degree(s, 2)
    pairs = s * (s + 1) // 2
    columns = {"M": (0, pairs), "christoffel": (pairs, pairs + s * pairs)}
    columns["force"] = (columns["christoffel"][1], columns["christoffel"][1] + s)
    forest = Forest([grid_tree(box, grid_edges(box, [intervals] * s))], indices)
    for leaf in forest.roots[0].leaves():
        leaf.coefficients = np.zeros((len(indices), columns["force"][1]))
    names = tuple("xyz"[:s])
    return CoefficientLayout(names, s, (), (), columns), forest.piecewise()


@pytest.mark.parametrize(("s", "intervals", "printed"), [(1, 16, 18), (3, 8, 504)])
def test_the_papers_counts_come_out(s, intervals, printed):
    """x s + s + s(s + 1)/2 + t (s² + 3s), printed for the four-bar and the Orthoglide."""
    assert paper_operations(*quadratics(s, intervals)) == printed


def test_operations_as_we_do_them():
    found = kernel_operations(*quadratics(3, 8))
    # 9 comparisons; 3 coordinates, each shifted, scaled and squared; 3 mixed products; 9 terms times 27 functions.
    assert (found.comparisons, found.table, found.products, found.sums, found.combined) == (9, 15, 3, 486, 0)
    assert found.total == 513  # the paper's 504 without the doubling and subtraction in T_2 = 2 ξ² - 1


@pytest.mark.filterwarnings("ignore:the model is unusable")  # so few boxes have errors above one
def test_gradients_are_counted():
    """A model that derives Γ and p sums fewer functions, and their slopes."""
    four_bar = supple.load(EXAMPLES / "four-bar" / "mechanism.yaml")
    model = supple.reduce(four_bar, boxes=4)
    direct = supple.reduce(four_bar, boxes=4, fit="quadratic")
    assert model.provenance["kernel_operations"] == kernel_operations(model.layout, model.fitted).total
    assert kernel_operations(model.layout, model.fitted).combined > 0
    assert direct.provenance["operations"] == 2 + 1 + 1 + 2 * 3 * 2  # two levels instead of four
