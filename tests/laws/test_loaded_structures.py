"""A slice of the law of `loaded_structures.py`: geometric stiffness is that of the full equations, up to buckling."""

import numpy as np
import pytest
from loaded_structures import KINDS, compared


@pytest.mark.parametrize("kind", KINDS)
def test_pressed_structures_soften_as_in_the_full_equations(kind):
    found = compared(kind, 0, shares=(0.5, 0.95))
    for item in found:
        assert (np.abs(item.linear - item.full) <= item.allowed).all(), item
    assert found[-1].linear.min() < 0.2
