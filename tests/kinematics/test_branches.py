"""Branches at a θ: as many as closed forms say, all closed, told apart, and reached by what is written for the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.kinematics.far_closure import posture_distance
from supple.kinematics.jacobian import scaled_values
from supple.kinematics.rest import rest

EXAMPLES = Path(__file__).parents[2] / "examples"
KITE = """\
supple: 1
name: kite
plane: xz
points: {A: [0, 0], B: [0.6, 0.8], E: [1.6, 1.1], D: [1, 0]}
bodies:
  crank: {rod: [A, B], length: 1, mass: 1}
  coupler: {rod: [B, E], length: 1.2, mass: 1}
  follower: {rod: [D, E], length: 1.2, mass: 1}
joints:
  A: {revolute: [ground, crank]}
  B: {revolute: [crank, coupler]}
  E: {revolute: [coupler, follower]}
  D: {revolute: [ground, follower]}
actuators: {crank: {joint: A}}
"""
PLOTTER = """\
supple: 1
name: plotter
plane: xz
points: {A: [-0.3, 0], B: [-0.35, 0.4], C: [0, 0.88], D: [0.35, 0.4], E: [0.3, 0]}
bodies:
  left: {rod: [A, B], length: 0.4, mass: 1}
  left_fore: {rod: [B, C], length: 0.6, mass: 1}
  right: {rod: [E, D], length: 0.4, mass: 1}
  right_fore: {rod: [D, C], length: 0.6, mass: 1}
  cart: {mass: 1, center: C}
  pen: {mass: 1, center: C}
joints:
  A: {revolute: [ground, left]}
  B: {revolute: [left, left_fore]}
  D: {revolute: [right, right_fore]}
  E: {revolute: [ground, right]}
  C: {revolute: [left_fore, pen]}
  C_right: {revolute: [right_fore, pen], at: C}
  x: {prismatic: [ground, cart], at: C, axis: x}
  z: {prismatic: [cart, pen], at: C, axis: z}
coordinates: [x, z]
"""


def example(name):
    return supple.load(EXAMPLES / name / "mechanism.yaml")


def circles(a, p, b, q):
    """Where circles about a and b, of radii p and q, meet: (2, 2)."""
    d = np.linalg.norm(b - a)
    x = (p**2 - q**2 + d**2) / (2.0 * d)
    along = (b - a) / d
    across = np.sqrt(p**2 - x**2) * np.array([-along[1], along[0]])
    return np.array([a + x * along + across, a + x * along - across])


def require_closed_and_distinct(found):
    """Every joint to 1e-10 of the extent, and no two the same."""
    numbering = found.configurations.rest.numbering
    for X in found.configurations.X:
        assert np.abs(scaled_values(numbering, X)[: numbering.constraints]).max() < 1e-10
    for i, X in enumerate(found.configurations.X):
        assert all(posture_distance(numbering, X, Y) > 1e-3 for Y in found.configurations.X[:i])
    assert len(set(found.words)) == len(found)


def same_places(found, expected, name):
    places = found.configurations.frame(name).position
    assert len(places) == len(expected)
    for place in expected:
        assert np.linalg.norm(places - place, axis=1).min() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("angle", [0.3, -1.2])
def test_a_four_bar_has_the_two_where_circles_meet(angle):
    four_bar = example("four-bar")
    found = supple.branches(four_bar, {"crank": angle}, count=60)
    require_closed_and_distinct(found)
    B = 0.5 * np.array([np.cos(angle), np.sin(angle)])
    E = circles(B, 0.5218, np.array([1.0, 0.0]), 0.6936)
    same_places(found, np.insert(E, 1, 0.0, axis=1), "E")
    assert found.of_file
    assert_allclose(found.configurations.X[0], supple.assemble(four_bar, {"crank": angle}).X, atol=1e-12)
    assert "E above the line B-D" in found.words[0]
    assert "E below the line B-D" in found.words[1]


def test_a_five_bar_driven_at_both_cranks_has_two():
    five_bar = example("flexible-five-bar")
    found = supple.branches(five_bar, count=60)
    require_closed_and_distinct(found)
    B, D = (found.configurations.frame(name).position[0, [0, 2]] for name in "BD")
    same_places(found, np.insert(circles(B, 0.6, D, 0.6), 1, 0.0, axis=1), "C")


def test_a_five_bar_by_its_tip_has_four_working_modes():
    """Each crank by itself to the one or the other side: coordinates are where the tip is, cranks follow."""
    found = supple.branches(supple.loads(PLOTTER), count=120)
    require_closed_and_distinct(found)
    C = found.configurations.frame("C").position[0, [0, 2]]
    B = circles(np.array([-0.3, 0.0]), 0.4, C, 0.6)
    D = circles(np.array([0.3, 0.0]), 0.4, C, 0.6)
    seen = np.hstack([found.configurations.frame(name).position[:, [0, 2]] for name in "BD"])
    assert len(found) == 4
    for pair in ([*b, *d] for b in B for d in D):
        assert np.linalg.norm(seen - pair, axis=1).min() < 1e-9


def test_an_orthoglide_has_the_two_where_spheres_meet():
    """Legs of one length from (l + x, 0, 0), ...: both lie on the line through equal distances."""
    found = supple.branches(example("orthoglide"), "off-axis", count=60)
    require_closed_and_distinct(found)
    assert len(found) == 2
    ends = np.diag(0.7 + found.configurations.theta[0])
    for place in found.configurations.frame("tool").position:
        assert_allclose(np.linalg.norm(ends - place, axis=1), 0.7, atol=1e-10)


@pytest.fixture(scope="module")
def stewart():
    """Legs of different lengths: nothing is symmetric but for the plane of the base."""
    return supple.branches(example("stewart"), {f"leg{i}": 1.6 + 0.02 * i for i in range(1, 7)}, count=240)


def test_a_stewart_platform_has_several_in_pairs_above_and_below_its_base(stewart):
    require_closed_and_distinct(stewart)
    x = stewart.configurations.frame("platform").position
    assert len(stewart) >= 6
    for place in x:  # base and platform are flat: the mirror image of an assembly is one
        assert np.linalg.norm(x - place * [1.0, 1.0, -1.0], axis=1).min() < 1e-8
    ends = np.stack([stewart.configurations.frame(f"P{i}").position for i in range(1, 7)], axis=1)
    feet = np.stack([stewart.configurations.frame(f"B{i}").position for i in range(1, 7)], axis=1)
    assert_allclose(np.linalg.norm(ends - feet, axis=2), stewart.configurations.theta, atol=1e-10)


def test_what_is_written_leads_to_each_branch():
    for name, at in (("four-bar", {"crank": 0.3}), ("flexible-five-bar", None), ("orthoglide", "off-axis")):
        mechanism = example(name)
        found = supple.branches(mechanism, at, count=60)
        for number in range(len(found)):
            there = rest(mechanism.replace(rest=found.rest(number)))
            assert posture_distance(there.numbering, there.X, found.configurations.X[number]) < 1e-6


def test_a_pasted_line_draws_the_other_branch(tmp_path):
    text = (EXAMPLES / "four-bar" / "mechanism.yaml").read_text("utf-8")
    pasted = supple.loads(text.replace("rest: {crank: 0}", "rest: {crank: 0.3, B: -110deg}"))  # roughly
    other = supple.branches(example("four-bar"), {"crank": 0.3}, count=60).configurations
    assert_allclose(supple.assemble(pasted).frame("E").position, other.frame("E").position[1], atol=1e-9)


def test_a_value_of_no_branch_is_refused():
    text = (EXAMPLES / "four-bar" / "mechanism.yaml").read_text("utf-8")
    with pytest.raises(supple.InputError, match=r'"B" near -40°.*--branches'):
        supple.assemble(supple.loads(text.replace("rest: {crank: 0}", "rest: {crank: 0.3, B: -40deg}")))
    with pytest.raises(supple.InputError, match='unknown coordinate or joint coordinate "Q"'):
        supple.assemble(supple.loads(text.replace("rest: {crank: 0}", "rest: {crank: 0.3, Q: -40deg}")))


def test_a_kite_folded_flat_leaves_a_motion_free():
    """Crank and ground are of one length, and coupler and follower: folded, these turn about one point together."""
    found = supple.branches(supple.loads(KITE), {"crank": 0.0}, count=60)
    assert found.families.sum() == 1
    kite = supple.branches(supple.loads(KITE), {"crank": 0.9}, count=60)
    assert not kite.families.any()
    assert len(kite) == 2


def test_an_arm_has_one_and_what_is_out_of_reach_none():
    assert len(supple.branches(example("two-link"), count=5)) == 1
    with pytest.raises(supple.InputError, match=r"30 starts.*within reach"):
        supple.branches(example("four-bar"), {"crank": 2.5}, count=30)
    with pytest.raises(supple.InputError, match=r"count: .*at least 1.*got 0"):
        supple.branches(example("four-bar"), count=0)


def test_starts_are_seeded():
    first, again = (supple.branches(example("four-bar"), count=20, seed=3) for _ in range(2))
    assert_allclose(first.configurations.X, again.configurations.X, atol=0.0)
    assert first.hits.tolist() == again.hits.tolist()
