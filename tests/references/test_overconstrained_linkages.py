"""Linkages that Grübler's count calls rigid, or worse, and that move all the same: textbook closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local


def turn(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]]) if axis == "x" else np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def bennett(theta, stretch=1.0):
    """Four skew hinges: opposite links are equal, and lengths are as the sines of the twists.

    The angles of neighbouring hinges obey tan(θ₁/2) tan(θ₂/2) = sin ½(β + α) / sin ½(β - α), those of opposite
    ones add up to a turn.
    """
    alpha, beta, a = 0.7, 1.3, 0.6
    b = a * np.sin(beta) / np.sin(alpha) * stretch
    second = 2.0 * np.arctan(np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha)) / np.tan(0.5 * theta))
    place, axes = np.zeros(3), np.eye(3)
    hinges = []
    for angle, length, twist in ((theta, a, alpha), (second, b, beta), (-theta, a, alpha), (-second, b, beta)):
        hinges.append((place, axes[:, 2]))
        axes = axes @ turn("z", angle)
        place = place + length * axes[:, 0]
        axes = axes @ turn("x", twist)
    gap = np.linalg.norm(place) + np.linalg.norm(axes - np.eye(3))
    chain = ["ground", "one", "two", "three", "ground"]
    bodies = {
        name: {"mass": 1.0, "center": list(hinges[i][0]), "inertia": [0.1, 0.1, 0.1]}
        for i, name in enumerate(("one", "two", "three"))
    }
    joints = {
        f"h{i}": {"revolute": [chain[i], chain[i + 1]], "at": list(at), "axis": list(axis)}
        for i, (at, axis) in enumerate(hinges)
    }
    return supple.Mechanism(name="Bennett", bodies=bodies, joints=joints, coordinates=["h0"]), second, gap


def test_bennett_moves_with_three_redundant_constraints():
    mechanism, _, gap = bennett(1.0)
    assert gap < 1e-14  # the closed form closes
    freedom = rest(mechanism).mobility
    assert (freedom.mobility, freedom.redundant) == (1, 3)
    assert set(freedom.joints) == {"h0", "h1", "h2", "h3"}


@pytest.mark.parametrize("step", [-0.4, 0.3, 1.1])
def test_bennett_follows_its_law_of_tangents(step):
    """Every hinge turns by the change of its angle in the chain of the closed form."""
    mechanism, before, _ = bennett(1.0)
    _, after, _ = bennett(1.0 + step)
    found = assemble(mechanism, [step]).joint_coordinates
    expected = {"h0": step, "h1": after - before, "h2": -step, "h3": before - after}
    for name, change in expected.items():
        assert_allclose(found[name], change, atol=1e-10)  # gaps of 1e-12, at a condition of some tens


def test_a_bennett_linkage_of_wrong_proportions_is_rigid():
    """One link a percent longer: drawn with a gap, it cannot be closed in a way that moves."""
    mechanism, _, gap = bennett(1.0, stretch=1.01)
    assert gap > 1e-3
    with pytest.raises(InputError, match=r"mobility 0|does not close"):
        rest(mechanism)


def sarrus(lean=0.6, length=0.5):
    """Two pairs of plates, hinged about y and about x, lift a platform in a straight line."""
    out, up = length * np.cos(lean), length * np.sin(lean)
    places, joints, bodies = {}, {}, {}
    for name, away, axis in (("a", np.array([1.0, 0, 0]), "y"), ("b", np.array([0, 1.0, 0]), "x")):
        lift = np.array([0.0, 0.0, up])
        places |= {
            f"{name}0": list(away),
            f"{name}1": list((1.0 + out) * away + lift),
            f"{name}2": list(away + 2.0 * lift),
        }
        bodies |= {
            f"{name}_low": {"rod": [f"{name}0", f"{name}1"], "mass": 1.0},
            f"{name}_high": {"rod": [f"{name}1", f"{name}2"], "mass": 1.0},
        }
        joints |= {
            f"{name}0": {"revolute": ["ground", f"{name}_low"], "axis": axis},
            f"{name}1": {"revolute": [f"{name}_low", f"{name}_high"], "axis": axis},
            f"{name}2": {"revolute": [f"{name}_high", "platform"], "axis": axis},
        }
    bodies["platform"] = {"mass": 3.0, "center": [0, 0, 2 * up], "inertia": [0.2, 0.2, 0.3]}
    return supple.Mechanism(
        name="Sarrus", gravity=[0, 0, -9.81], points=places, bodies=bodies, joints=joints, coordinates=["a0"],
        sensors={"height": {"position": "platform", "axis": "z"}},
    )  # fmt: skip


def test_sarrus_moves_with_one_redundant_constraint():
    freedom = rest(sarrus()).mobility
    assert (freedom.mobility, freedom.redundant) == (1, 1)


def test_sarrus_lifts_its_platform_in_a_straight_line():
    """The lower plates turn by -θ about y (or the other about x): height 2 L sin, and closed-form M, p."""
    theta = np.linspace(-0.4, 0.5, 10)
    model = local(sarrus(), theta[:, None])
    pose = model.configuration.frame("platform")
    lean, length = 0.6 - theta, 0.5
    height = 2.0 * length * (np.sin(lean) - np.sin(0.6))  # of the body's origin, which is drawn at the ground's
    expected = np.column_stack([np.zeros((10, 2)), height])
    assert_allclose(pose.position, expected, atol=1e-11)
    assert_allclose(pose.rotation, np.broadcast_to(np.eye(3), (10, 3, 3)), atol=1e-11)
    # each low rod turns about its foot; the high one has ends moving L(sin, cos) and 2L(0, cos) a unit of rate
    s, c = np.sin(lean), np.cos(lean)
    low = 1.0 / 3.0 * length**2
    high = 1.0 / 3.0 * length**2 * ((s**2 + c**2) + 2.0 * c**2 + 4.0 * c**2)
    assert_allclose(model.M[:, 0, 0], 2.0 * (low + high) + 3.0 * 4.0 * length**2 * c**2, rtol=1e-11)
    weight = 9.81 * (2.0 * (0.5 * length * c + 1.5 * length * c) + 3.0 * 2.0 * length * c)
    assert_allclose(model.force[:, 0], weight, rtol=1e-11)  # θ grows as it sinks


def test_two_hinges_in_line_are_as_good_as_one():
    """A door on two hinges: five rows too many, and both joints are named."""

    def door(second):
        hinges = {"low": {"revolute": ["ground", "door"], "at": [0, 0, 0], "axis": "z"}} | second
        bodies = {"door": {"mass": 2.0, "center": [0.4, 0, 0.5], "inertia": [0.1, 0.1, 0.2]}}
        return supple.Mechanism(bodies=bodies, joints=hinges, coordinates=["low"])

    single, double = door({}), door({"high": {"revolute": ["ground", "door"], "at": [0, 0, 1], "axis": "z"}})
    assert rest(double).mobility.redundant == 5
    assert rest(double).mobility.joints == ("low", "high")
    assert_allclose(local(double, [0.7]).M, local(single, [0.7]).M, rtol=1e-13)
    assert_allclose(local(double, [0.7]).M, [[0.2 + 2.0 * 0.4**2]], rtol=1e-13)
    with pytest.raises(InputError, match="cannot move"):
        rest(door({"high": {"revolute": ["ground", "door"], "at": [0.1, 0, 1], "axis": "z"}}))


def test_a_ring_of_welds_is_one_body():
    bodies = {f"b{i}": {"mass": 1.0, "center": [float(i), 0, 0], "inertia": [0.1, 0.1, 0.1]} for i in range(3)}
    joints = {
        "hinge": {"revolute": ["ground", "b0"], "at": [0, 0, 0], "axis": "z"},
        "w0": {"weld": ["b0", "b1"], "at": [0.5, 0, 0]},
        "w1": {"weld": ["b1", "b2"], "at": [1.5, 0, 0]},
        "w2": {"weld": ["b2", "b0"], "at": [1, 1, 0]},
    }
    mechanism = supple.Mechanism(bodies=bodies, joints=joints, coordinates=["hinge"])
    freedom = rest(mechanism).mobility
    assert (freedom.mobility, freedom.redundant, freedom.joints) == (1, 6, ("w0", "w1", "w2"))
    assert_allclose(local(mechanism, [0.4]).M, [[3 * 0.1 + 0.0 + 1.0 + 4.0]], rtol=1e-13)
