"""A slice of the laws of `loaded_structures.py`: loads, pressing or bending, stiffen as in nonlinear equations."""

import numpy as np
import pytest
from loaded_structures import BENT, KINDS, bent, compared


@pytest.mark.parametrize("kind", KINDS)
def test_pressed_structures_soften_as_in_the_full_equations(kind):
    found = compared(kind, 0, shares=(0.5, 0.95))
    for item in found:
        assert (np.abs(item.linear - item.full) <= item.allowed).all(), item
    assert found[-1].linear.min() < 0.2


@pytest.mark.parametrize("kind", BENT)
def test_bent_structures_vibrate_as_chains_of_rigid_links(kind):
    found = bent(kind, 1)
    assert found.moved > 0.4  # of the length of the loaded beam
    assert (np.abs(found.ours / found.chain - 1.0) <= found.allowed).all(), found
    assert found.allowed.max() < 3e-3
