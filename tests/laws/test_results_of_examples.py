"""Every result of every example prints, is saved and is drawn: a slice of results_of_examples.py, which does all."""

from __future__ import annotations

import pytest
from results_of_examples import EXAMPLES, failures

QUICK = (
    "check", "assemble", "local", "modes", "modes of many", "compliance", "deflection", "large deflection", "linearize",
    "frf", "trajectory", "inverse",
)  # fmt: skip
ANSWERED = {"ralf": len(QUICK), "two-link": 4}  # at least: rigid machines refuse what is about elastic ones


@pytest.mark.filterwarnings("ignore::supple.diagnostics.SuppleWarning")
@pytest.mark.parametrize("name", EXAMPLES)
def test_results_print_and_are_saved(name, tmp_path):
    """With pictures of the example that has every kind of part and sensor."""
    told = list(failures(name, tmp_path, only=QUICK, draw=name == "ralf"))
    failed = [f"{question}: {said}" for question, said in told if said.startswith("FAILED")]
    assert not failed, "\n".join(failed)
    assert sum(not said.startswith("refused") for _, said in told) >= ANSWERED.get(name, 3)
