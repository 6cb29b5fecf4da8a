"""Linear models of flexible mechanisms: one pencil, projected on the modes that are kept."""

import copy
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg as la
from elastic_mechanisms import NAMES, mechanism, parts
from numpy.testing import assert_allclose

import supple

EXAMPLES = Path(supple.__file__).parents[2] / "examples"
COUNTS = (1, 2, 4, 8, 16, 32)
# Numbers of internal modes with which a loop is all but complete.
MANY = {"loop 0": 48, "loop 2": 64, "loop 3": 64, "loop 4": 64, "loop 5": 52, "spatial 0": 39, "spatial 3": 39,
        "spatial 5": 64, "ralf": 40, "geared": 24, "driven": 16}  # fmt: skip


def driven():
    """The same with the gearboxes as drives of its joints."""
    made = geared()
    joints = {name: joint for name, joint in made.joints.items() if name in "BCD"}
    hinge = {"motor": {"inertia": 2e-4, "gear": 40}, "viscous": 0.4, "drive": {"stiffness": 6e3}}
    joints |= {"A": {"revolute": ["ground", "ab"], **hinge}, "E": {"revolute": ["ground", "ed"], **hinge}}
    bodies = {name: body for name, body in made.bodies.items() if name not in ("left", "right")}
    return made.replace(name="driven", joints=joints, bodies=bodies)


def geared():
    """A five-bar with flexible arms behind elastic gearboxes, motors and dampers, about an unstable posture."""
    hinge = {"motor": {"inertia": 2e-4, "gear": 40}, "viscous": 0.4}
    return supple.Mechanism(
        name="geared", plane="xz", gravity=[0, -9.81],
        materials={"metal": {"youngs_modulus": 7e10, "density": 2700}}, sections={"arm": {"box": [0.05, 0.03, 0.002]}},
        points={"A": [-0.2, 0], "B": [-0.37, 0.28], "C": [0, 0.7], "D": [0.35, 0.3], "E": [0.2, 0]},
        bodies={
            "left": {"mass": 0.4, "center": "A", "inertia": 3e-4},
            "right": {"mass": 0.4, "center": "E", "inertia": 3e-4},
            "ab": {"beam": ["A", "B"], "section": "arm", "material": "metal", "elements": 4},
            "ed": {"beam": ["E", "D"], "section": "arm", "material": "metal", "elements": 4},
            "bc": {"rod": ["B", "C"], "mass": 0.3}, "dc": {"rod": ["D", "C"], "mass": 0.3},
        },
        point_masses={"load": {"at": "bc.C", "mass": 1.5}},
        joints={
            "A": {"revolute": ["ground", "left"], **hinge}, "E": {"revolute": ["ground", "right"], **hinge},
            "ga": {"weld": ["left", "ab"], "at": "A", "elastic": {"angle": 6e3}},
            "ge": {"weld": ["right", "ed"], "at": "E", "elastic": {"angle": 6e3}},
            "B": {"revolute": ["ab", "bc"]}, "D": {"revolute": ["ed", "dc"]}, "C": {"revolute": ["bc", "dc"]},
        },
        damping={"modal": 0.02}, actuators={"A": {"joint": "A"}, "E": {"joint": "E"}},
    )  # fmt: skip


def given(name):
    if name in ("geared", "driven"):
        return geared() if name == "geared" else driven()
    return mechanism(name) if name in NAMES else supple.load(EXAMPLES / name / "mechanism.yaml")


def squares(model):
    """ω² of the undamped pencil, rising."""
    return np.sort(la.eigvals(-model.second_order.P2, model.second_order.M).real)


def of_modes(made, count):
    hertz = supple.modes(made, count=count, free_actuators=True).frequencies_hz
    return np.sign(hertz) * (2 * np.pi * hertz) ** 2


@pytest.mark.parametrize(
    "name", [*NAMES, "geared", "driven", "ralf", "flexible-five-bar", "flexible-four-bar", "aluminium-four-bar"]
)
def test_eigenvalues_fall_to_those_of_the_whole_mechanism_as_modes_are_added(name):
    """Ritz: a subspace that grows has each eigenvalue of (K, M) from above, never rising."""
    made = given(name)
    s = len(supple.assemble(made).theta)
    whole = of_modes(made, s + 2)
    elastic = whole[s]  # the lowest vibration: what rounding and condensation (5e-7 of a frequency) are measured by
    before = np.full(s + 2, np.inf)
    last = MANY.get(name, COUNTS[-1])
    for count in sorted({*(c for c in COUNTS if c < last), last}):
        found = squares(supple.linearize(made, internal_modes=count, drives=False))[: s + 2]
        # Bodies are condensed anew for each number of modes: 1e-6 of ω² either way, and rounding of the stiffest.
        assert (found <= before[: len(found)] + 1e-6 * np.abs(found) + 1e-9 * elastic).all()
        assert (found >= whole[: len(found)] - 1e-6 * elastic).all()
        before[: len(found)] = found
    assert_allclose(before, whole, rtol=1e-6, atol=1e-6 * elastic)
    if name != "loop 5":  # whose last six modes are more than its search resolves
        swinging = np.abs(whole) > 1e-6 * elastic  # and not carried by nothing at all
        assert_allclose(before[swinging], whole[swinging], rtol=3e-6)


def test_poles_converge_with_dampers_and_motors():
    """The damped pole that the fall begins with moves by less with every pair of modes."""
    made = geared()
    poles = [supple.linearize(made, internal_modes=n).eigenvalues.real.max() for n in (1, 2, 4, 6, 8, 12)]
    assert_allclose(poles, poles[-1], rtol=1e-3)
    assert_allclose(poles[3:], poles[-1], rtol=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_along_the_coordinates_alone_it_is_the_rigid_mechanism(name):
    """Ψ_θ(K_e + K_g)Ψ_θᵀ is the curvature of the rigid mechanism's potential."""
    made = mechanism(name)
    expected = supple.linearize(made, rigid=True).second_order.P2
    s = len(expected)
    found = supple.linearize(made, internal_modes=2).second_order.P2
    assert_allclose(found[:s, :s], expected, atol=1e-8 * np.abs(expected).max())  # a static solution's accuracy
    assert_allclose(found, found.T, atol=1e-9 * np.abs(found).max())


def pushed(name, kind, what, follower):
    """A force or a moment, and nothing else, at an end of the first body of a kind."""
    changed = copy.deepcopy(parts(name))
    chosen = next((i for i, body in enumerate(changed["bodies"].values()) if kind in body), None)
    if chosen is None:
        pytest.skip(f"{name} has no body of this kind")
    force = {"at": f"b{chosen}.P{chosen + 1}", what: [3.0, -5.0, 7.0], "follower": follower}
    return supple.Mechanism(**(changed | {"gravity": [0.0, 0.0, 0.0], "forces": {"F": force}}))


@pytest.mark.parametrize("follower", [False, True])
@pytest.mark.parametrize("what", ["force", "moment"])
@pytest.mark.parametrize("kind", ["mass", "beam", "beams"])
@pytest.mark.parametrize("name", ["loop 0", "spatial 1"])
def test_applied_forces_stiffen_as_in_the_rigid_mechanism(name, kind, what, follower):
    made = pushed(name, kind, what, follower)
    expected = supple.linearize(made, rigid=True).second_order.P2
    s = len(expected)
    found = supple.linearize(made, internal_modes=1).second_order.P2
    # 7 N on arms of half a metre: what is zero is so to a static solution's accuracy of it
    assert_allclose(found[:s, :s], expected, atol=1e-8 * max(1.0, np.abs(expected).max()))


def test_a_dead_force_holds_a_beam_as_gravity_would():
    """Pulled at its end by P, an all but rigid bar of 1 m and inertia J swings with √(P/J)."""
    made = supple.Mechanism(
        name="pulled", plane="xz", materials={"steel": {"youngs_modulus": 210e9, "density": 7850}},
        sections={"bar": {"rectangle": [0.04, 0.04]}}, points={"A": [0, 0], "B": [1, 0]},
        bodies={"bar": {"beam": ["A", "B"], "section": "bar", "material": "steel"}},
        joints={"A": {"revolute": ["ground", "bar"]}}, actuators={"a": {"joint": "A"}},
        forces={"P": {"at": "bar.B", "force": [20.0, 0.0]}},
    )  # fmt: skip
    inertia = float(supple.local(made, rigid=True).M[0, 0])
    hertz = supple.modes(made, count=1, free_actuators=True).frequencies_hz[0]
    assert_allclose(hertz, np.sqrt(20.0 / inertia) / (2 * np.pi), rtol=1e-5)  # it bends by 1e-6 of its stiffness


@pytest.mark.parametrize("name", ["loop 1", "spatial 2"])
def test_actuators_elsewhere_than_the_coordinates_hold_it_as_they_are(name):
    """θ at one hinge, the motor at another: a motor's torque turns with the lever it acts by."""
    changed = copy.deepcopy(parts(name))
    hinges = [key for key, joint in changed["joints"].items() if "revolute" in joint]
    changed |= {"coordinates": [hinges[0]], "actuators": {"motor": {"joint": hinges[-1]}}}
    made = supple.Mechanism(**changed)
    expected = supple.linearize(made, rigid=True).second_order.P2
    found = supple.linearize(made, internal_modes=1).second_order.P2
    assert_allclose(found[:1, :1], expected, rtol=1e-8)  # a static solution's accuracy
    held = of_modes(made, 1)
    assert held[0] == pytest.approx(squares(supple.linearize(made, internal_modes=16))[0], rel=1e-4)
