"""Wrong arrays are refused in words, far-away bases lose no digits, sine and cosine are exact."""

from __future__ import annotations

import re
from math import cos, sin

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import random_state, random_tree

from supple.compilation import compile_kernel
from supple.diagnostics import InputError
from supple.formulations.recursive import forward_dynamics, inverse_dynamics, mass_matrix, rigid_tree, state_space
from supple.formulations.recursive.gather import replace_angles, sine_and_cosine
from supple.formulations.recursive.outward import body, turn_joint
from supple.formulations.recursive.variation import changes

BAR = {"mass": [1.0], "center": [[0, 0, 0]], "inertia": [np.eye(3)]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parent": [0]}, r'link "link 0": .*parent 0 .*0 links before it.* -1, the ground; list parents before'),
        ({"kind": ["revolut"]}, 'link "link 0": unknown joint "revolut"; did you mean "revolute"'),
        ({"axis": [[0, 0, 0]]}, 'joint of "link 0": the axis .*not be zero; set the direction'),
        ({"mass": [1, 2]}, r"mass: .*shape \(1,\) \(got \(2,\)\); one row for each link"),
        ({"center": [[0, np.nan, 0]]}, "center: must be finite; replace NaN"),
        ({"kind": ["weld"]}, "tree: no joint can move; add a joint"),
        ({"actuated": [3]}, "coordinate 3 of 1 does not exist"),
        ({"kind": ["spherical"], "stiffness": [1, 0, 0]}, "has no coordinate for stiffness number 0"),
    ],
)
def test_wrong_arrays(change, message):
    given = {"parent": [-1], "kind": ["revolute"], **BAR, **change}
    with pytest.raises(InputError, match=message):
        rigid_tree(given.pop("parent"), given.pop("kind"), **given)


def test_wrong_states():
    tree = rigid_tree([-1], ["revolute"], **BAR)
    with pytest.raises(InputError, match=r"q: .*shape \(1,\) or \(N, 1\) \(got \(2,\)\)"):
        forward_dynamics(tree, [0, 0], [0])
    with pytest.raises(InputError, match=r"rates: .*shape \(3, 1\) \(got \(2, 1\)\)"):
        forward_dynamics(tree, np.zeros((3, 1)), np.zeros((2, 1)))


def test_a_floating_base_far_away_moves_as_at_home():
    tree = random_tree(("free", "revolute", "spherical", "revolute"), seed=1)
    q, rates, u = random_state(tree, seed=2)
    far = q.copy()
    far[:3] += [1e7, -2e7, 3e7]
    home, away = state_space(tree, q, rates, u), state_space(tree, far, rates, u)
    assert_allclose(away.A, home.A, rtol=0, atol=1e-14 * np.abs(home.A).max())


def test_a_nut_on_its_screw():
    """M = J + m h² and the weight h m g, for a nut whose centre is on the axis; the joint given from either side."""
    m, J, h, g = 2.0, 0.3, 0.05, 9.81
    for turned_round in (0, 1):
        nut = rigid_tree(
            [-1], ["screw"], mass=[m], center=[[0, 0, 0.4]], inertia=[np.diag([1.0, 1.1, J])], pitch=[h],
            turned_round=[turned_round], damping=[0.2],
        )  # fmt: skip
        M, sign = J + m * h * h, 1.0 - 2.0 * turned_round
        assert_allclose(mass_matrix(nut, [0.7]), [[M]], rtol=1e-14)
        assert_allclose(inverse_dynamics(nut, [40.0], [3.0], [5.0]), M * 5.0 + 0.2 * 3.0 + sign * h * m * g, rtol=1e-13)
        found = state_space(nut, [0.7], [3.0], [1.0])
        assert_allclose(found.A, [[0, 1], [0, -0.2 / M]], atol=1e-14)
        assert_allclose(found.B, [[0], [1 / M]], rtol=1e-14)


def test_dry_friction_has_the_one_law_and_its_slope():
    """F tanh(v / v₀), and (F / v₀) (1 - tanh²) in the derivative."""
    tree = rigid_tree([-1], ["revolute"], **BAR, gravity=(0, 0, 0), dry=[0.4], friction_speed=0.2)
    drag = 0.4 * np.tanh(0.1 / 0.2)
    assert_allclose(forward_dynamics(tree, [0.3], [0.1], [1.0]), 1.0 - drag, rtol=1e-14)
    slope = 0.4 / 0.2 * (1.0 - np.tanh(0.5) ** 2)
    assert_allclose(state_space(tree, [0.3], [0.1], [1.0]).A[1], [0.0, -slope], rtol=1e-14)


def test_sine_and_cosine():
    rng = np.random.default_rng(0)
    quarters = np.arange(-40, 41) * (np.pi / 4)
    for x in [*rng.uniform(-1e5, 1e5, 2000), *rng.uniform(-7, 7, 2000), *quarters, 0.0, 1e-300, 1e5]:
        s, c = sine_and_cosine(x)
        assert abs(s - sin(x)) < 2.3e-16  # one unit in the last place of numbers near one
        assert abs(c - cos(x)) < 2.3e-16
    x = np.array([3e9, 0.0])
    replace_angles((0,), 1, x)
    assert_allclose(x, [sin(3e9), cos(3e9)], rtol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [turn_joint, body, changes])
def test_several_states_are_taken_in_one_instruction(kernel, tmp_path, monkeypatch):
    """As many packed operations as there are of one number at a time (kept for memory that overlaps)."""
    monkeypatch.setenv("SUPPLE_CACHE_DIR", str(tmp_path))
    side, z = (0,) * 16, np.zeros(4000)
    given = {turn_joint: (z, z, z, z), body: (z, z), changes: (1.0, z)}[kernel]
    native = compile_kernel(kernel)
    native(side, 1, *given)
    text = native.inspect_llvm(native.signatures[-1])
    packed = len(re.findall(r"f(?:mul|add|sub) (?:contract )?<\d+ x double>", text))
    assert packed >= len(re.findall(r"f(?:mul|add|sub) (?:contract )?double", text)) > 50
