"""About rest, actuators locked and nothing loaded, the full equations vibrate as the elastic mechanism does."""

from pathlib import Path

import numpy as np
import pytest
from elastic_mechanisms import NAMES, mechanism
from numpy.testing import assert_allclose

import supple
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.modal_analysis.small_motions import free_motions

CONDENSED = 6e-7
"""Of a frequency: bodies are condensed to 1e-6 of ω²."""
FILES = Path(__file__).parents[2] / "examples"
EXAMPLES = ("aluminium-four-bar", "five-bar-gearbox", "five-bar-urdf", "flexible-five-bar", "flexible-four-bar", "ralf")


@pytest.mark.parametrize("name", [*EXAMPLES, *NAMES])
def test_frequencies_are_those_of_the_elastic_mechanism(name):
    made = mechanism(name) if name in NAMES else supple.load(FILES / name / "mechanism.yaml")
    made = made.replace(gravity=None)
    about = supple.small_motions(made, count=6)
    tangent = about.found.settled.tangent
    # Without damping, as modes are; with it, of the same tangent, `frequencies_hz`.
    hertz = free_motions(tangent._replace(D=0.0 * tangent.D), 6).eigenvalues.imag / (2.0 * np.pi)
    whole = elastic_rest(made, 1e12)  # wider than any frequency: nothing is condensed away
    assert whole.whole
    squares, _ = dense_modes(whole, supple.assemble(made), whole.list_held_rows(actuators=True), preload=True)
    assert_allclose(hertz, np.sqrt(squares[: len(hertz)]) / (2.0 * np.pi), rtol=1e-8)
    assert_allclose(hertz, supple.modes(made, count=6).frequencies_hz, rtol=CONDENSED)
    plain, _ = dense_modes(whole, supple.assemble(made), whole.list_held_rows(actuators=True), preload=False)
    found = supple.modes(made, count=6, preload=False).frequencies_hz
    assert_allclose(found, np.sqrt(plain[: len(found)]) / (2.0 * np.pi), rtol=CONDENSED)
