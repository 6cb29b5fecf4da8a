"""The Orthoglide with parallelograms moves as the one with rods: the same masses on the same ends."""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose

import supple
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local

LENGTH, HALF, SLIDER, LEG, TOOL = 0.70, 0.05, 0.80, 0.45, 1.00


def with_rods():
    """One rod a leg, a fork and a ball; a joint keeps the tool upright."""
    bodies = {"tool": {"mass": TOOL, "center": [0, 0, 0], "inertia": [0, 0, 0]}}
    points, joints, actuators = {}, {"upright": {"translation": ["ground", "tool"]}}, {}
    for i, letter in enumerate("xyz"):
        points |= {f"S{letter}": list(LENGTH * np.eye(3)[i]), f"T{letter}": [0, 0, 0]}
        bodies |= {
            f"slider_{letter}": {"mass": SLIDER, "center": f"S{letter}"},
            f"leg_{letter}": {"rod": [f"S{letter}", f"T{letter}"], "mass": LEG},
        }
        across = ["xyz"[(i + 1) % 3], "xyz"[(i + 2) % 3]]
        joints |= {
            letter: {"prismatic": ["ground", f"slider_{letter}"], "at": f"S{letter}", "axis": letter},
            f"fork_{letter}": {"universal": [f"slider_{letter}", f"leg_{letter}"], "at": f"S{letter}", "axes": across},
            f"ball_{letter}": {"spherical": [f"leg_{letter}", "tool"], "at": f"T{letter}"},
        }
        actuators[letter] = {"joint": letter}
    return supple.Mechanism(gravity=[0, 0, -9.81], points=points, bodies=bodies, joints=joints, actuators=actuators)


def with_parallelograms():
    """Two rods a leg between massless cross-bars, hinges throughout: only the parallelograms keep the tool upright."""
    points, bodies, joints, actuators = {}, {"tool": {"mass": TOOL, "center": [0, 0, 0], "inertia": [0, 0, 0]}}, {}, {}
    for i, letter in enumerate("xyz"):
        along, side = np.eye(3)[i], np.eye(3)[(i + 1) % 3]
        bar_axis, rod_axis = "xyz"[(i + 1) % 3], "xyz"[(i + 2) % 3]
        for k, sign in enumerate((1.0, -1.0)):
            points |= {
                f"S{letter}{k}": list(LENGTH * along + sign * HALF * side),
                f"T{letter}{k}": list(sign * HALF * side),
            }
            bodies[f"rod_{letter}{k}"] = {"rod": [f"S{letter}{k}", f"T{letter}{k}"], "mass": 0.5 * LEG}
        bodies |= {
            f"slider_{letter}": {"mass": SLIDER, "center": list(LENGTH * along)},
            f"near_{letter}": {"rod": [f"S{letter}0", f"S{letter}1"], "mass": 0},
            f"far_{letter}": {"rod": [f"T{letter}0", f"T{letter}1"], "mass": 0},
        }
        joints |= {
            letter: {"prismatic": ["ground", f"slider_{letter}"], "at": list(LENGTH * along), "axis": letter},
            f"near_{letter}": {
                "revolute": [f"slider_{letter}", f"near_{letter}"], "at": list(LENGTH * along), "axis": bar_axis,
            },
            f"far_{letter}": {"revolute": [f"far_{letter}", "tool"], "at": [0, 0, 0], "axis": bar_axis},
        }  # fmt: skip
        for k in range(2):
            joints |= {
                f"s_{letter}{k}": {
                    "revolute": [f"near_{letter}", f"rod_{letter}{k}"],
                    "at": f"S{letter}{k}",
                    "axis": rod_axis,
                },
                f"t_{letter}{k}": {
                    "revolute": [f"rod_{letter}{k}", f"far_{letter}"],
                    "at": f"T{letter}{k}",
                    "axis": rod_axis,
                },
            }
        actuators[letter] = {"joint": letter}
    return supple.Mechanism(gravity=[0, 0, -9.81], points=points, bodies=bodies, joints=joints, actuators=actuators)


def assert_same_equations(first, second):
    thetas = np.random.default_rng(512).uniform(-0.26, 0.06, (20, 3))
    one, other = local(first, thetas), local(second, thetas)
    for name in ("M", "dM", "christoffel", "force", "dforce"):
        expected = getattr(one, name)
        # both exact; the parallelograms' closure has a condition of some hundreds
        assert_allclose(getattr(other, name), expected, atol=1e-9 * np.abs(expected).max(), err_msg=name)
    place = one.configuration.frame("tool")
    assert_allclose(other.configuration.frame("tool").position, place.position, atol=1e-10)
    assert_allclose(other.configuration.frame("tool").rotation, place.rotation, atol=1e-10)


def test_parallelograms_move_like_rods():
    assert_same_equations(with_rods(), with_parallelograms())


def test_parallelograms_hold_the_tool_upright_more_than_once():
    freedom = rest(with_parallelograms()).mobility
    bodies, hinges, slides = 16, 18, 3
    assert freedom.mobility == 3
    assert freedom.redundant == 5 * (hinges + slides) - (6 * bodies - 3)


def test_the_bundled_parallelogram_example_moves_like_rods():
    file = Path(__file__).parents[2] / "examples" / "orthoglide-parallelogram" / "mechanism.yaml"
    assert_same_equations(with_rods(), supple.load(file))
