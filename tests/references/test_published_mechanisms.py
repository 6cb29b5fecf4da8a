"""Mobility, redundancy and start values of published benchmark mechanisms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local

# ---------------------------------------------------------------------------- Bricard (IFToMM A04)

PLACES = {"A": [0, 0, 0], "B": [1, 0, 0], "C": [1, -1, 0], "D": [1, -1, 1], "E": [0, -1, 1], "F": [0, 0, 1]}
AXES = dict(zip(PLACES, "yzxyzx", strict=True))


def bricard(order=tuple(PLACES), theta="A"):
    names = list(PLACES)
    chain = ["ground", "r1", "r2", "r3", "r4", "r5", "ground"]
    solid = {"box": [1.0, 0.1, 0.1], "mass": 1.0}
    bodies = {f"r{i + 1}": {"rod": [names[i], names[i + 1]], "solid": solid} for i in range(5)}
    joints = {name: {"revolute": [chain[i], chain[i + 1]], "axis": AXES[name]} for i, name in enumerate(names)}
    return supple.Mechanism(
        name="Bricard", gravity=[0, -9.81, 0], points=PLACES, bodies=bodies,
        joints={name: joints[name] for name in order}, coordinates=[theta],
    )  # fmt: skip


def test_bricard_moves_only_because_one_constraint_is_redundant():
    freedom = rest(bricard()).mobility
    assert (freedom.mobility, freedom.redundant, freedom.instantaneous) == (1, 1, 1)
    assert set(freedom.joints) == set(PLACES)


def test_bricard_follows_any_of_its_hinges():
    """All six hinges turn together; from another one it is the same mechanism: T = ½ M q̇² is."""
    model = local(bricard(), [0.3])
    angles = model.configuration.joint_coordinates
    for order, theta in ((tuple(PLACES), "C"), (("D", "F", "B", "A", "E", "C"), "D"), (tuple(PLACES)[::-1], "B")):
        other = local(bricard(order, theta), [float(angles[theta])])
        for name in PLACES:
            assert_allclose(other.configuration.joint_coordinates[name], angles[name], atol=1e-10)
        near = assemble(bricard(), 0.3 + 1e-3 * np.array([[-2.0], [-1.0], [1.0], [2.0]])).joint_coordinates[theta]
        rate = float(np.array([1.0, -8.0, 8.0, -1.0]) @ near) / 12e-3  # error of order 1e-12
        assert_allclose(other.M * rate**2, model.M, rtol=1e-9)
        assert_allclose(other.force * rate, model.force, rtol=1e-9)


# ---------------------------------------------------------------------------- double four-bar (IFToMM A02, N = 2)


def double_four_bar(angle):
    """Ground pivots at 0, 1, 2 on the x axis, three bars and two couplers of a metre, drawn at an angle."""
    top = np.array([np.cos(angle), np.sin(angle)])
    points = {f"A{i}": [float(i), 0.0] for i in range(3)} | {f"B{i}": [i + top[0], top[1]] for i in range(3)}
    bodies = {f"bar{i}": {"rod": [f"A{i}", f"B{i}"], "mass": 1.0} for i in range(3)}
    bodies |= {f"coupler{i}": {"rod": [f"B{i}", f"B{i + 1}"], "mass": 1.0} for i in range(2)}
    joints = {f"a{i}": {"revolute": ["ground", f"bar{i}"], "at": f"A{i}"} for i in range(3)}
    for i in range(2):
        joints |= {
            f"left{i}": {"revolute": [f"bar{i}", f"coupler{i}"], "at": f"B{i}"},
            f"right{i}": {"revolute": [f"coupler{i}", f"bar{i + 1}"], "at": f"B{i + 1}"},
        }
    return supple.Mechanism(
        name="double four-bar", plane="xy", gravity=[0, -9.81], points=points, bodies=bodies, joints=joints,
        coordinates=["a0"],
    )  # fmt: skip


def test_double_four_bar_is_regular_when_its_bars_stand():
    freedom = rest(double_four_bar(0.5 * np.pi)).mobility
    assert (freedom.mobility, freedom.redundant, freedom.singular) == (1, 0, False)
    model = local(double_four_bar(0.5 * np.pi))
    # bars turn about their feet (1/3 each), couplers only translate (1 each): 3/3 + 2
    assert_allclose(model.M, [[3.0]], rtol=1e-12)
    assert_allclose(model.christoffel, 0.0, atol=1e-10)  # M is constant; second derivatives to rounding
    assert_allclose(model.force, 0.0, atol=1e-10)


def test_double_four_bar_is_singular_when_it_lies_flat():
    freedom = rest(double_four_bar(0.0)).mobility
    assert freedom.singular
    assert freedom.mobility == 1
    assert freedom.instantaneous > 1


def test_double_four_bar_swings_until_it_lies_flat_and_no_further():
    """Drawn standing: the bars' angle is 0 as they lie, where the mechanism may fold in other ways."""
    near = assemble(double_four_bar(0.5 * np.pi), [0.02])
    assert_allclose(near.frame("bar2.B2").position, [2.0 + np.cos(0.02), np.sin(0.02), 0.0], atol=1e-9)
    with pytest.raises(InputError, match=r"dead point|singular"):
        assemble(double_four_bar(0.5 * np.pi), [-0.5])


# ---------------------------------------------------------------------------- Stewart platform


def test_stewart_platform_has_six_freedoms():
    points, bodies, joints = {}, {"platform": {"mass": 10.0, "center": [0, 0, 1], "inertia": [1, 1, 2]}}, {}
    for i in range(6):
        base = 2.0 * np.pi * ((i + 1) // 2) / 3.0 + (-1) ** (i + 1) * 0.2
        top = 2.0 * np.pi * (i // 2) / 3.0 + np.pi / 3.0 + (-1) ** (i + 1) * 0.2
        low, high = np.array([np.cos(base), np.sin(base), 0.0]), np.array([0.6 * np.cos(top), 0.6 * np.sin(top), 1.0])
        along = (high - low) / np.linalg.norm(high - low)
        first = np.cross(along, [0.0, 0.0, 1.0])
        points |= {f"low{i}": list(low), f"high{i}": list(high)}
        for part, share in (("barrel", 0.3), ("piston", 0.7)):
            bodies[f"{part}{i}"] = {"mass": 1.0, "center": list(low + share * (high - low)), "inertia": [0.05] * 3}
        joints |= {
            f"fork{i}": {
                "universal": ["ground", f"barrel{i}"], "at": f"low{i}",
                "axes": [list(first), list(np.cross(along, first))],
            },
            f"slide{i}": {"prismatic": [f"barrel{i}", f"piston{i}"], "at": f"low{i}", "axis": list(along)},
            f"ball{i}": {"spherical": [f"piston{i}", "platform"], "at": f"high{i}"},
        }  # fmt: skip
    actuators = {f"ram{i}": {"joint": f"slide{i}"} for i in range(6)}
    mechanism = supple.Mechanism(points=points, bodies=bodies, joints=joints, actuators=actuators)
    freedom = rest(mechanism).mobility
    assert (freedom.mobility, freedom.redundant, freedom.joints) == (6, 0, ())
    assert_allclose(local(mechanism).input_map, np.eye(6), atol=1e-12)


# ---------------------------------------------------------------------------- spatial slider-crank (IFToMM)


def spatial_slider_crank():
    """Crank about x at (0, 0.1, 0.12), up at the start; a ball at its pin; a fork at the slider, which runs along x."""
    fork = [0.0, 2.0, -1.0]  # across the slider's axis and the rod
    return supple.Mechanism(
        name="spatial slider-crank",
        gravity=[0, 0, -9.81],
        points={"O": [0, 0.1, 0.12], "P": [0, 0.1, 0.2], "S": [0.21, 0, 0]},  # the slider is drawn roughly
        bodies={
            "crank": {"rod": ["O", "P"], "length": 0.08, "mass": 0.12},
            "rod": {"rod": ["P", "S"], "length": 0.3, "mass": 0.5},
            "slider": {"mass": 2.0, "center": "S", "inertia": [1e-4, 1e-4, 1e-4]},
        },
        joints={
            "O": {"revolute": ["ground", "crank"], "axis": "x"},
            "P": {"spherical": ["crank", "rod"]},
            "S": {"universal": ["slider", "rod"], "axes": ["x", fork]},
            "guide": {"prismatic": ["ground", "slider"], "at": [0, 0, 0], "axis": "x"},
        },
        actuators={"motor": {"joint": "O"}},
        sensors={
            "slider": {"position": "slider.S", "axis": "x"},
            "pin": {"position": "rod.P"},
            **{f"tip{i}": {"position": f"tip{i}"} for i in range(3)},
        },
        frames={f"tip{i}": {"on": "rod", "local": list(np.eye(3)[i])} for i in range(3)},
        rest={"motor": 0.0},
    )


def test_spatial_slider_crank_starts_as_published():
    model = local(spatial_slider_crank(), [0.0])
    assert rest(spatial_slider_crank()).mobility.mobility == 1
    assert_allclose(model.outputs["slider"].value, 0.2, atol=1e-10)  # a closed drawing
    assert_allclose(model.outputs["slider"].rigid * 6.0, [0.24], atol=1e-9)
    # the rod's axes e_i turn with ω: ω = ½ Σ e_i × ė_i
    pin = np.array([[*model.outputs[f"pin.{k}"].rigid] for k in "xyz"])[:, 0]
    at = np.array([float(model.outputs[f"pin.{k}"].value) for k in "xyz"])
    omega = np.zeros(3)
    for i in range(3):
        tip = np.array([float(model.outputs[f"tip{i}.{k}"].value) for k in "xyz"])
        rate = np.array([float(model.outputs[f"tip{i}.{k}"].rigid[0]) for k in "xyz"])
        omega += 0.5 * np.cross(tip - at, rate - pin) * 6.0
    # 1e-8: the rod is drawn 1 cm off, and its fork with it, so that closure turns it a little about its own axis
    assert_allclose(omega, [1.92, -0.96, 0.48], atol=1e-8)
