"""A small part of `standing_error.py`: laws over a region keep their equilibrium for every tolerance of their fit."""

import shutil

import pytest
from standing_error import LARGEST, check


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")
@pytest.mark.parametrize(
    ("seed", "kind", "tolerances"), [(1, "state feedback", (1e-2, 1e-3)), (3, "gain scheduling", (1e-2,))]
)
def test_a_law_stands_on_its_goal_in_python_and_in_c(seed, kind, tolerances):
    for in_python, in_c in check(seed, 1, kind, tolerances):
        assert in_python < LARGEST
        assert in_c < LARGEST
