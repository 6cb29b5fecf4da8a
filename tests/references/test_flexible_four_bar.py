"""The flexible four-bar of Brüls, Duysinx and Golinval (2007), reconstructed: frequencies with the crank locked.

The figures were computed with another program from the same Euler-Bernoulli beams, 4 a bar, and are printed to three
decimals.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

TEXT = (Path(__file__).parents[2] / "examples" / "flexible-four-bar" / "mechanism.yaml").read_text("utf-8")
LOCKED_HZ = {
    -1.2: [16.478, 37.120, 47.248, 50.730],
    0.0: [10.268, 26.489, 54.162, 55.748],
    0.7: [20.920, 25.451, 47.990, 85.577],
}


def four_bar(elements: int = 4) -> supple.Mechanism:
    assert TEXT.count("elements: 4") == 3
    return supple.loads(TEXT.replace("elements: 4", f"elements: {elements}"))


@pytest.mark.parametrize("angle", LOCKED_HZ)
def test_frequencies_with_the_crank_locked(angle):
    found = supple.modes(four_bar(), [angle], count=4).frequencies_hz
    assert_allclose(found, LOCKED_HZ[angle], rtol=1e-4)
    assert_allclose(found, LOCKED_HZ[angle], rtol=0, atol=5.1e-4)  # as printed


def test_they_do_not_depend_on_being_asked_for_one_by_one():
    found = supple.modes(four_bar(), np.array([*LOCKED_HZ])[:, None], count=4).frequencies_hz
    assert_allclose(found, [*LOCKED_HZ.values()], rtol=1e-4)


@pytest.mark.parametrize("angle", LOCKED_HZ)
def test_they_converge_with_refinement(angle):
    coarse, middle, fine = (supple.modes(four_bar(n), [angle], count=6).frequencies_hz for n in (4, 8, 16))
    first, second = coarse - middle, middle - fine
    assert (first > -5e-7 * fine).all()  # from above, as Ritz values do
    assert_allclose(middle, fine, rtol=1e-4)
    # The error of cubic shapes falls with the fourth power of the length, where it stands above that of condensation.
    clear = second > 5e-6 * fine
    assert clear.sum() >= 2
    assert_allclose(first[clear] / second[clear], 16.0, rtol=0.1)


def test_two_modes_cross_and_two_lie_out_of_the_plane():
    """At -1.2 rad the out-of-plane mode at 47 Hz is the third, at 0 rad (then at 56 Hz) the fourth."""
    energy = supple.modes(four_bar(), np.array([[-1.2], [0.0]]), count=4).energy
    assert_allclose(energy.out_of_plane, [[0, 1, 1, 0], [0, 1, 0, 1]], atol=1e-9)
