"""A small part of `standing_error.py`: laws over a region keep their equilibrium for every tolerance of their fit."""

import shutil

import pytest
from standing_error import LARGEST, check, made, on_the_machine, random_machine


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler (cc)")
@pytest.mark.parametrize(
    ("seed", "kind", "tolerances"), [(1, "state feedback", (1e-2, 1e-3)), (3, "gain scheduling", (1e-2,))]
)
def test_a_law_stands_on_its_goal_in_python_and_in_c(seed, kind, tolerances):
    for in_python, in_c in check(seed, 1, kind, tolerances):
        assert in_python < LARGEST
        assert in_c < LARGEST


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "joints"), [(2, 1), (6, 1)])
def test_a_machine_stands_on_its_goal_to_the_error_at_rest_that_its_model_states(seed, joints):
    machine = random_machine(seed, joints)
    off, stated = on_the_machine(machine, made(machine, "state feedback", 1e-3))
    assert off < stated
    assert stated < 0.03  # of second order: about half the angle by which the gearbox yields
