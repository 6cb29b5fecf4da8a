"""Operations and bytes of run-time forms."""

import numpy as np
import pytest

from supple.approximation.fits.chebyshev_products import tensor, total_degree
from supple.approximation.fits.lower_set import sort_terms
from supple.export.c.horner import horner_rule
from supple.export.c.monomials import horner_order
from supple.reduced.layout import CoefficientLayout
from supple.run_time.cost import ColumnUse, combination_steps, cost_of, horner_steps

SETS = {
    "total, 1": total_degree(1, 6), "total, 2": total_degree(2, 5), "total, 3": total_degree(3, 4),
    "total, 6": total_degree(6, 3), "tensor": sort_terms(set(map(tuple, tensor(3, 3).tolist()))),
    "lower": np.array([[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [3, 0], [4, 0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_operations_are_those_of_the_exported_code(name):
    indices = SETS[name]
    exponents = horner_order([tuple(row) for row in indices.tolist()])
    for order in range(2):
        assert horner_steps(indices, slopes=bool(order)) == horner_rule(exponents, order).products


@pytest.mark.parametrize(("s", "degree"), [(1, 6), (2, 5), (3, 4), (6, 3)])
def test_values_with_slopes_take_two_steps_a_term(s, degree):
    indices = total_degree(s, degree)
    assert horner_steps(indices, slopes=True) == 2 * len(indices) - s - 2


def test_costs_of_a_rigid_machine_are_those_counted_by_hand():
    """Three coordinates: M (6 columns) and V. 20 terms take 35 multiply-adds a column; 69 combine the columns:
    ξ and slopes over h 6, products of rates 6, Ṁ and ½ vᵀ∂M v 18 each, Ṁ v and M a 9 each, ∂V 3."""
    names = ("a", "b", "c")
    layout = CoefficientLayout(names, 3, names, (), {"M": (0, 6), "potential": (6, 7)},
                               {"damping": np.zeros(6)}, christoffel="from-mass", force="from-potential")  # fmt: skip
    assert combination_steps(layout)[0] == 6 + 6 + 2 * 18 + 2 * 9 + 3
    use = ColumnUse(tuple(range(7)), (), (), 3, ())
    cost = cost_of(layout, use, total_degree(3, 3), boxes=8, edges=9, number=4)
    assert cost.inverse == 7 * 35 + 69
    place = 4 * 9 + 12 * 3
    assert cost.memory == 8 * 20 * 7 * 4 + place
    assert cost.whole == 8 * 20 * 10 * 4 + place
