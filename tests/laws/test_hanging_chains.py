"""A small part of `hanging_chains.py`."""

import numpy as np
import pytest
from hanging_chains import EXACT, drawing, off_by, random_chain


@pytest.mark.parametrize("bars", [4, 9, 24])
def test_a_hanging_chain_is_found_from_any_drawing(bars):
    """Nearly as it hangs, as a parabola, an arch and a zigzag."""
    dice = np.random.default_rng(bars)
    chain = random_chain(dice, bars)
    for number in range(4):
        assert off_by(chain, drawing(dice, chain, number)) <= EXACT
