"""Dead points: found where closed forms say, named by what locks, marked in a batch."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local

CRANK, ROD = 0.3, 0.8

NEAR = 1e-4
"""Closure halts before a fold where its steps become too small: within this of the closed form, m or rad."""


def slider_crank(theta):
    return supple.Mechanism(
        name="slider-crank",
        plane="xy",
        points={"O": [0, 0], "P": [0.2, 0.2], "S": [0.9, 0]},
        bodies={
            "crank": {"rod": ["O", "P"], "length": CRANK, "mass": 1.0},
            "rod": {"rod": ["P", "S"], "length": ROD, "mass": 1.0},
            "slider": {"mass": 1.0, "center": "S", "inertia": 0.0},
        },
        joints={
            "O": {"revolute": ["ground", "crank"]},
            "P": {"revolute": ["crank", "rod"]},
            "S": {"revolute": ["rod", "slider"]},
            "guide": {"prismatic": ["ground", "slider"], "at": "S", "axis": "x", "rest": 0.9},
        },
        coordinates=[theta],
    )


def reported(error):
    """Coordinates and where the dead point is."""
    message = str(error.value)
    place = re.search(r"dead point at (.*?) \(singularity", message).group(1)
    return {name: float(value) for name, value in (item.split("=") for item in place.split(", "))}, message


@pytest.mark.parametrize(("asked", "limit"), [(1.3, CRANK + ROD), (0.3, ROD - CRANK)])
def test_a_slider_locks_where_crank_and_rod_align(asked, limit):
    with pytest.raises(InputError, match='"guide" locks') as error:
        assemble(slider_crank("guide"), [asked])
    where, _ = reported(error)
    assert_allclose(where["guide"], limit, atol=NEAR)
    assert error.value.exit_status == 1


def test_driven_by_its_crank_the_same_mechanism_passes_both_dead_centres():
    thetas = np.linspace(0.0, 2.0 * np.pi, 100)[:, None]
    found = assemble(slider_crank("O"), thetas)
    x = CRANK * np.cos(thetas[:, 0]) + np.sqrt(ROD**2 - (CRANK * np.sin(thetas[:, 0])) ** 2)
    assert_allclose(found.frame("S").position[:, 0], x, atol=1e-11)  # closed to 1e-12, well conditioned


def test_a_batch_marks_what_it_cannot_reach_and_keeps_the_rest():
    thetas = np.array([[0.8], [1.3], [1.0], [0.2]])
    found = assemble(slider_crank("guide"), thetas, failures="mark")
    assert found.assembled.tolist() == [True, False, True, False]
    begin = rest(slider_crank("guide")).theta[0]
    reached = begin + found.reached * (thetas[:, 0] - begin)
    assert_allclose(reached, [0.8, CRANK + ROD, 1.0, ROD - CRANK], atol=NEAR)
    for n in (0, 2):
        assert np.array_equal(found.X[n], assemble(slider_crank("guide"), thetas[n]).X)
    with pytest.raises(InputError, match="dead point"):
        assemble(slider_crank("guide"), thetas)


def five_bar():
    """Symmetric: cranks of 0.4 at ±0.5, links of 0.7 that meet above."""
    height = np.sqrt(0.7**2 - 0.5**2)
    return supple.Mechanism(
        plane="xy",
        points={"A": [-0.5, 0], "B": [-0.5, 0.4], "C": [0, 0.4 + height], "D": [0.5, 0.4], "E": [0.5, 0]},
        bodies={
            name: {"rod": ends, "mass": 1.0}
            for name, ends in {"left": ["A", "B"], "up": ["B", "C"], "down": ["D", "C"], "right": ["E", "D"]}.items()
        },
        joints={
            "A": {"revolute": ["ground", "left"]}, "B": {"revolute": ["left", "up"]}, "C": {"revolute": ["up", "down"]},
            "D": {"revolute": ["right", "down"]}, "E": {"revolute": ["ground", "right"]},
        },
        coordinates=["A", "E"],
    )  # fmt: skip


def test_both_cranks_of_a_five_bar_lock_when_the_links_stretch():
    """Opened symmetrically the knees part until 1 + 0.8 sin φ = 1.4: there the links are one line."""
    opened = np.arcsin(0.5)
    with pytest.raises(InputError, match='"A", "E" lock') as error:
        assemble(five_bar(), [0.5 * np.pi + 0.8, 0.5 * np.pi - 0.8])
    where, _ = reported(error)
    assert_allclose([where["A"], where["E"]], [0.5 * np.pi + opened, 0.5 * np.pi - opened], atol=NEAR)


def test_only_the_crank_that_strains_the_links_is_named():
    """At the dead point the stretched links lie in line with the right crank, which then moves across them."""
    line, blocked = np.array([-0.8, 0.6]), 1.2
    E = np.array([0.5, 0.0])
    D = E + 0.4 * line
    A = D + 1.4 * line - 0.4 * np.array([np.cos(blocked), np.sin(blocked)])
    B = A + 0.4 * np.array([np.cos(0.6), np.sin(0.6)])
    across = np.array([B[1] - D[1], D[0] - B[0]]) / np.linalg.norm(B - D)
    C = 0.5 * (B + D) + np.sqrt(0.7**2 - 0.25 * (B - D) @ (B - D)) * across
    places = {"A": A, "B": B, "C": C, "D": D, "E": E}
    mechanism = five_bar().replace(points={name: list(at) for name, at in places.items()})
    right = float(np.arctan2(line[1], line[0]))
    with pytest.raises(InputError, match='where "A" locks') as error:
        assemble(mechanism, [1.5, right])
    where, _ = reported(error)
    assert_allclose([where["A"], where["E"]], [blocked, right], atol=NEAR)


def test_a_local_model_at_a_singular_drawing_is_refused():
    """Drawn stretched: the slider's place does not tell which way the knee goes."""
    stretched = slider_crank("guide").replace(
        points={"O": [0, 0], "P": [CRANK, 0], "S": [CRANK + ROD, 0]}, name="stretched"
    )
    with pytest.raises(InputError, match=r"singular|dead point"):
        local(stretched)


def test_singularity_measure_falls_towards_the_dead_point():
    places = CRANK + ROD - np.array([1e-1, 1e-2, 1e-3, 1e-4])
    measure = assemble(slider_crank("guide"), places[:, None]).singularity
    assert (np.diff(measure) < 0.0).all()
    # near a fold it falls with the root of the distance
    assert_allclose(measure[1:-1] / measure[2:], np.sqrt(10.0), rtol=0.1)
