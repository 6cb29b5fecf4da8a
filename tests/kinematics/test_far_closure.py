"""Drawings that are far from closed: they close wherever plain least squares does, axes the right way round."""

from __future__ import annotations

import re

import numpy as np
import pytest
from drawn_open import closed_leg, least_squares_closes, open_leg
from numpy.testing import assert_allclose

import supple
from supple.cli.main import run
from supple.kinematics.completion import close_drawing
from supple.kinematics.far_closure import FAR, _Gaps, alignments, joint_gaps
from supple.kinematics.joint_tree import close_tree, freedoms, joint_tree, move_tree
from supple.kinematics.numbering import numbering
from supple.kinematics.rest import rest


@pytest.fixture
def loaded(tmp_path):
    def load(leg) -> supple.Mechanism:
        file = tmp_path / "leg.urdf"
        file.write_text(leg.urdf())
        return supple.load(file, sidecar=leg.sidecar())

    return load


def require_closed(mechanism: supple.Mechanism) -> None:
    """The two frames of every loop coincide, in place and, for a weld, in all axes."""
    here = supple.assemble(mechanism)
    for name in mechanism.joints:
        if name.startswith("loop"):
            first, second = (here.frame(f"{name}_{end}") for end in ("parent", "child"))
            # 1e-10 of an extent of about a metre is what counts as closed
            assert_allclose(first.position, second.position, atol=1e-9)
            if mechanism.joint(name).kind == "weld":
                assert_allclose(first.rotation, second.rotation, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_legs_drawn_open_by_a_fifth_of_a_metre_close(loaded, seed):
    """One to four rods, their halves welded, and up to two loops beside them."""
    leg = open_leg(seed, rods=1 + seed % 4, direct=seed % 3)
    assert 0.15 <= leg.opening() <= 0.23
    assert least_squares_closes(leg)
    require_closed(loaded(leg))


@pytest.mark.parametrize("seed", [1, 4, 7, 11])
def test_legs_turned_by_a_radian_close(loaded, seed):
    """Where every joint is drawn far from its place the least change alone fails, or closes welds turned over."""
    dice = np.random.default_rng(seed)
    leg = closed_leg(dice, 1 + seed % 3, seed % 2)
    require_closed(loaded(leg.drawn_at(dice.normal(size=leg.size()))))


@pytest.mark.parametrize("turn", [0.5 * np.pi, np.pi])
def test_a_weld_is_not_closed_turned_over(loaded, turn):
    """x·y' = y·z' = z·x' = 0 also at half a turn, and at a third about the diagonal: both are other positions."""
    dice = np.random.default_rng(2)
    leg = closed_leg(dice, 1, 0)
    q = np.zeros(leg.size())
    q[5:8] = turn * np.array([0.0, 0.0, 1.0])
    q[8:11] = 2.0 * np.pi / 3.0 * np.ones(3) / np.sqrt(3.0)
    require_closed(loaded(leg.drawn_at(q)))


def test_gradients_of_the_gaps_are_those_of_the_motion(loaded):
    """∂r/∂z by central differences of step h along the tree: an error of h² and of rounding / h, both below 1e-8."""
    mechanism = loaded(open_leg(5, rods=2, direct=2))
    found = numbering(mechanism, ())
    axes = alignments(found)
    tree = joint_tree(found, joint_gaps(found, found.drawn, axes))
    gaps = _Gaps(found, tree, axes, {})
    X = close_tree(found, tree, found.drawn)
    r, J, bases = gaps.linear(X)
    assert {name for name in mechanism.joints if name.startswith("loop")} == set(tree.cut)
    h = 1e-5
    for column, z in enumerate(np.eye(J.shape[1])):
        ahead, behind = (gaps.values(move_tree(found, tree, X, bases, way * h * z)) for way in (1.0, -1.0))
        assert_allclose((ahead - behind) / (2.0 * h), J[:, column], atol=1e-8)
    assert len(r) == len(J)
    assert sum(basis.shape[1] for basis in freedoms(found, tree, X)) == J.shape[1]


def four_bar(coupler: float, *, at=(0.3, 2.6)) -> supple.Mechanism:
    """Cranks of 1 m on hinges 3 m apart, drawn at two angles; the coupler is drawn from the first crank's end."""
    (ax, ay), (bx, by) = ((np.cos(a), np.sin(a)) for a in at)
    reach = coupler * np.array([1.0, 0.0])
    return supple.loads(
        f"""
supple: 1
plane: xy
points: {{A: [0, 0], D: [3, 0]}}
bodies:
  left: {{mass: 1, inertia: 0.1, at: [{ax / 2}, {ay / 2}]}}
  right: {{mass: 1, inertia: 0.1, at: [{3 + bx / 2}, {by / 2}]}}
  bar: {{mass: 1, inertia: 0.1, at: [{ax}, {ay}]}}
frames:
  right_end: {{on: right, at: [{3 + bx}, {by}]}}
  bar_end: {{on: bar, at: [{ax + reach[0]}, {ay + reach[1]}]}}
joints:
  A: {{revolute: [ground, left]}}
  D: {{revolute: [ground, right]}}
  B: {{revolute: [left, bar], at: [{ax}, {ay}]}}
  C: {{revolute: [right, bar], frames: [right_end, bar_end]}}
"""
    )


@pytest.mark.slow
def test_a_loop_that_cannot_close_names_the_gap_that_remains():
    """Two cranks of 1 m, 3 m apart, and a coupler of 0.4 m: 600 mm are missing, whatever the drawing."""
    with pytest.raises(supple.InputError, match=r"does not close \(gap 600 mm > .*check the lengths"):
        supple.check(four_bar(0.4))


def test_check_and_assemble_say_how_far_it_moved(tmp_path, capsys):
    mechanism = four_bar(1.5)
    completion = rest(mechanism).completion
    assert completion.far
    assert completion.joint == "C"
    (note,) = [note for note in supple.check(mechanism).notes if "far from closed" in note]
    assert re.search(r'joint "C".*moved "\w+" by [\d.]+ m and turned "\w+" by [\d.]+°', note)
    file = tmp_path / "bars.yaml"
    file.write_text(supple.to_yaml(mechanism))
    with pytest.raises(SystemExit):
        run(["assemble", str(file)])
    assert 'joint "C"' in capsys.readouterr().err


def test_a_drawing_that_almost_closes_takes_the_least_change_alone():
    """A drawing with rounded numbers comes to rest as it always did."""
    mechanism = four_bar(1.5, at=(0.7, 2.44))
    position = rest(mechanism)
    assert 1e-3 < position.completion.gap < FAR
    found = numbering(mechanism, ())
    assert (close_drawing(found, found.drawn.copy(), {}) == position.X).all()
    assert not [note for note in supple.check(mechanism).notes if "far from closed" in note]
