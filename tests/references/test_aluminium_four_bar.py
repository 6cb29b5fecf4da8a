"""The aluminium four-bar over a turn, against an assembly by hand that shares no code with supple.

Dimensions and material as published; its frequencies are published as curves only. Here: planar Euler-Bernoulli
elements with consistent mass in world axes, bars hinged by sharing the two translations of a node, and the locked crank
clamped.
"""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import supple

INCH, E, RHO, BEARING = 0.0254, 71.016e9, 2714.4716, 0.04194
GROUND, CRANK, COUPLER, FOLLOWER = (inches * INCH for inches in (10.0, 4.25, 11.0, 10.65))
THICK, THIN = (0.167 * INCH**2, 3.881e-4 * INCH**4), (0.063 * INCH**2, 2.084e-5 * INCH**4)


def element(a, b, area, second_moment):
    """K, M (6, 6) of a beam from a to b for (ux, uy, φ) of both ends in world axes."""
    L = np.linalg.norm(b - a)
    c, s = (b - a) / L
    K, M = np.zeros((6, 6)), np.zeros((6, 6))
    axial, bending = np.ix_([0, 3], [0, 3]), np.ix_([1, 2, 4, 5], [1, 2, 4, 5])
    K[axial] = E * area / L * np.array([[1, -1], [-1, 1]])
    M[axial] = RHO * area * L / 6 * np.array([[2, 1], [1, 2]])
    K[bending] = E * second_moment / L**3 * np.array(
        [[12, 6 * L, -12, 6 * L], [6 * L, 4 * L**2, -6 * L, 2 * L**2],
         [-12, -6 * L, 12, -6 * L], [6 * L, 2 * L**2, -6 * L, 4 * L**2]]
    )  # fmt: skip
    M[bending] = RHO * area * L / 420 * np.array(
        [[156, 22 * L, 54, -13 * L], [22 * L, 4 * L**2, 13 * L, -3 * L**2],
         [54, 13 * L, 156, -22 * L], [-13 * L, -3 * L**2, -22 * L, 4 * L**2]]
    )  # fmt: skip
    T = np.kron(np.eye(2), np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]))
    return T.T @ K @ T, T.T @ M @ T


def by_hand(angle, elements=4, count=3):
    """Frequencies in Hz with the crank clamped at an angle."""
    A, D = np.zeros(2), np.array([GROUND, 0.0])
    B = CRANK * np.array([np.cos(angle), np.sin(angle)])
    way = D - B
    span = np.linalg.norm(way)
    x = (COUPLER**2 - FOLLOWER**2 + span**2) / (2 * span)
    C = B + (x * way + np.sqrt(COUPLER**2 - x**2) * np.array([-way[1], way[0]])) / span
    numbers: dict[object, int] = {}
    parts = []
    bars = {"crank": (A, B, "A", "B", THICK), "coupler": (B, C, "B", "C", THIN), "follower": (D, C, "D", "C", THIN)}
    for bar, (first, last, start, end, section) in bars.items():
        for i in range(elements):
            ends = [first + (last - first) * k / elements for k in (i, i + 1)]
            degrees = []
            for k in (i, i + 1):
                at = start if k == 0 else end if k == elements else (bar, k)  # hinges share their place
                degrees += [(at, "x"), (at, "y"), (bar, k, "turn")]
            parts.append(([numbers.setdefault(key, len(numbers)) for key in degrees], element(*ends, *section)))
    K, M = np.zeros((len(numbers),) * 2), np.zeros((len(numbers),) * 2)
    for at, (k, m) in parts:
        K[np.ix_(at, at)] += k
        M[np.ix_(at, at)] += m
    for name in "BC":
        for axis in "xy":
            M[(numbers[name, axis],) * 2] += BEARING
    held = [numbers[key] for key in (("A", "x"), ("A", "y"), ("crank", 0, "turn"), ("D", "x"), ("D", "y"))]
    free = np.setdiff1d(np.arange(len(numbers)), held)
    squares = eigh(K[np.ix_(free, free)], M[np.ix_(free, free)], eigvals_only=True)
    return np.sqrt(squares[:count]) / (2 * np.pi)


@pytest.fixture(scope="module")
def over_a_turn() -> supple.FrequencyMap:
    four_bar = supple.load(Path(__file__).parents[2] / "examples" / "aluminium-four-bar" / "mechanism.yaml")
    return supple.frequency_map(four_bar, {"crank": np.linspace(0.0, 2.0 * np.pi, 73)}, count=3)


def test_first_three_frequencies_over_a_full_turn(over_a_turn):
    assert over_a_turn.assembled.all()
    expected = [by_hand(angle) for angle in over_a_turn.coordinates["crank"]]
    assert_allclose(over_a_turn.frequencies_hz, expected, rtol=1e-6)  # condensation promises 5e-7


def test_a_turn_ends_where_it_began(over_a_turn):
    assert_allclose(over_a_turn.frequencies_hz[-1], over_a_turn.frequencies_hz[0], rtol=1e-8)
