"""Operations and bytes of run-time forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.approximation.fits.chebyshev_products import tensor, total_degree
from supple.approximation.fits.lower_set import sort_terms
from supple.reduced.layout import CoefficientLayout
from supple.run_time.cost import BLOCK, ColumnUse, combination_steps, cost_of, horner_steps


class Counter:
    """Multiply-adds, each with its result."""

    def __init__(self):
        self.steps = 0

    def step(self, a, b, c):
        self.steps += 1
        return a * b + c


def nested_horner(terms: dict, xi, counter: Counter) -> list[float]:
    """Value and slopes of Σ c_α ξ^α by nested Horner schemes, every multiply-add counted."""
    s = len(xi)
    level = {term: [c] for term, c in terms.items()}  # prefix -> value and slopes of the inner levels
    for k in range(s, 0, -1):
        outer: dict = {}
        for prefix in sorted(level, reverse=True):
            outer.setdefault(prefix[:-1], []).append(level[prefix])
        level = {}
        for prefix, line in outer.items():
            sums, slope = list(line[0]), None
            for nextone in line[1:]:
                slope = sums[0] if slope is None else counter.step(slope, xi[k - 1], sums[0])
                sums = [counter.step(a, xi[k - 1], b) for a, b in zip(sums, nextone, strict=True)]
            level[prefix] = [*sums, 0.0 if slope is None else slope]
    value, *slopes = level[()]
    return [value, *slopes[::-1]]


SETS = {
    "total, 1": total_degree(1, 6), "total, 2": total_degree(2, 5), "total, 3": total_degree(3, 4),
    "total, 6": total_degree(6, 3), "tensor": sort_terms(set(map(tuple, tensor(3, 3).tolist()))),
    "lower": np.array([[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [3, 0], [4, 0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_operations_are_those_of_nested_horner_schemes(name):
    indices = SETS[name]
    rng, s = np.random.default_rng(3), SETS[name].shape[1]
    c, xi, counter = rng.normal(size=len(indices)), rng.uniform(-1.0, 1.0, s), Counter()
    value, *slopes = nested_horner({tuple(a): v for a, v in zip(indices.tolist(), c, strict=True)}, xi, counter)
    powers = xi**indices
    assert_allclose(value, c @ powers.prod(axis=1), rtol=1e-12)
    for j, slope in enumerate(slopes):
        lowered = indices - np.eye(s, dtype=int)[j]
        assert_allclose(slope, c @ (indices[:, j] * (xi ** np.maximum(lowered, 0)).prod(axis=1)), atol=1e-12)
    # A line of one term carries its values on, as the formula assumes.
    assert horner_steps(indices, slopes=True) == counter.steps
    assert horner_steps(indices, slopes=False) == len(indices) - 1


def test_costs_of_a_rigid_machine_are_those_counted_by_hand():
    """Three coordinates: M (6 columns) and V. 20 terms take 40 multiply-adds a column; 69 combine the columns:
    ξ and slopes over h 6, products of rates 6, Ṁ and ½ vᵀ∂M v 18 each, Ṁ v and M a 9 each, ∂V 3."""
    names = ("a", "b", "c")
    layout = CoefficientLayout(names, 3, names, (), {"M": (0, 6), "potential": (6, 7)},
                               {"damping": np.zeros(6)}, christoffel="from-mass", force="from-potential")  # fmt: skip
    assert combination_steps(layout)[0] == 6 + 6 + 2 * 18 + 2 * 9 + 3
    use = ColumnUse(tuple(range(7)), (), (), 3, ())
    cost = cost_of(layout, use, total_degree(3, 3), boxes=8, edges=9, number=4)
    assert cost.inverse == 7 * 40 + 69
    place = 4 * 9 + 12 * 3
    assert cost.memory == 8 * 20 * BLOCK * 4 + place  # 7 columns fill one block
    assert cost.whole == 8 * 20 * 2 * BLOCK * 4 + place  # 3 more begin a second one
