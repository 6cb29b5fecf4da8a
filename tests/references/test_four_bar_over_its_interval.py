"""The rigid four-bar of Brüls, Duysinx and Golinval (2004): printed inertias, and a closed form of our own.

The pin E between coupler and follower is the upper intersection of two circles, E' follows from the two lengths
staying constant, and a slender rod of mass m with end velocities v₁, v₂ has the energy m/6 (v₁² + v₁·v₂ + v₂²).
Derivatives of the closed form are complex steps: exact to rounding.
"""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local

GROUND, CRANK, COUPLER, FOLLOWER, LINE_MASS, GRAVITY = 1.0, 0.5, 0.5218, 0.6936, 0.54, 9.81
LOCKS_AT = np.arccos((CRANK**2 + GROUND**2 - (COUPLER + FOLLOWER) ** 2) / (2.0 * CRANK * GROUND))


def four_bar(**changes):
    parts = {
        "name": "four-bar",
        "plane": "xz",
        "gravity": [0, -GRAVITY],
        "parameters": {"ground": GROUND, "crank": CRANK, "coupler": COUPLER, "follower": FOLLOWER},
        "points": {"A": [0, 0], "B": ["crank", 0], "E": [0.54, 0.52], "D": ["ground", 0]},
        "bodies": {
            "crank": {"rod": ["A", "B"], "length": "crank", "line_mass": LINE_MASS},
            "coupler": {"rod": ["B", "E"], "length": "coupler", "line_mass": LINE_MASS},
            "follower": {"rod": ["D", "E"], "length": "follower", "line_mass": LINE_MASS},
        },
        "joints": {
            "A": {"revolute": ["ground", "crank"]},
            "B": {"revolute": ["crank", "coupler"]},
            "E": {"revolute": ["coupler", "follower"]},
            "D": {"revolute": ["follower", "ground"]},
        },
        "actuators": {"crank": {"joint": "A", "limits": [-1.75, 1.75]}},
    }
    return supple.Mechanism(**parts | changes)


def pins(theta):
    """B, E and their derivatives, for real or complex θ."""
    B = CRANK * np.array([np.cos(theta), np.sin(theta)])
    dB = CRANK * np.array([-np.sin(theta), np.cos(theta)])
    D = np.array([GROUND, 0.0])
    d = D - B
    span = np.sqrt(d @ d)
    x = (span**2 + COUPLER**2 - FOLLOWER**2) / (2.0 * span)
    y = np.sqrt(COUPLER**2 - x**2)
    E = B + (x * d + y * np.array([-d[1], d[0]])) / span
    dE = np.linalg.solve(np.array([E - B, E - D]), np.array([(E - B) @ dB, 0.0 * theta]))
    return B, E, dB, dE


def inertia(theta):
    _, _, dB, dE = pins(theta)
    lengths = np.array([CRANK, COUPLER, FOLLOWER])
    return LINE_MASS / 3.0 * lengths @ np.array([dB @ dB, dB @ dB + dB @ dE + dE @ dE, dE @ dE])


def potential(theta):
    B, E, _, _ = pins(theta)
    return LINE_MASS * GRAVITY * 0.5 * (CRANK * B[1] + COUPLER * (B[1] + E[1]) + FOLLOWER * E[1])


def slope(function, theta):
    return function(theta + 1e-30j).imag / 1e-30


@pytest.mark.parametrize(("theta", "printed"), [(-1.2, 0.0705966783), (0.0, 0.172774478), (0.7, 0.0459804818)])
def test_inertia_is_as_printed(theta, printed):
    # all digits that are printed: nine
    assert_allclose(local(four_bar(), [theta]).M, [[printed]], rtol=1e-8)


def test_equations_of_motion_are_the_closed_form_over_the_interval():
    thetas = np.linspace(-1.75, 1.75, 141)
    model = local(four_bar(), thetas[:, None])
    M = np.array([inertia(t) for t in thetas])
    dM = np.array([slope(inertia, t) for t in thetas])
    p = np.array([-slope(potential, t) for t in thetas])
    # at ±1.75 the condition of the closure is near a hundred; rounding enters the derivative with its cube
    assert_allclose(model.M[:, 0, 0], M, rtol=1e-11)
    assert_allclose(model.dM[:, 0, 0, 0], dM, rtol=1e-9, atol=1e-12)
    assert_allclose(model.christoffel[:, 0, 0, 0], 0.5 * dM, rtol=1e-9, atol=1e-12)
    assert_allclose(model.force[:, 0], p, rtol=1e-10, atol=1e-12)
    V = np.array([potential(t) for t in thetas])
    assert_allclose(model.potential - model.potential[0], V - V[0], atol=1e-12)


def test_places_are_the_closed_form_over_the_interval():
    thetas = np.linspace(-1.79, 1.79, 101)
    found = assemble(four_bar(), thetas[:, None])
    E = np.array([pins(t)[1] for t in thetas])
    # a gap of 1e-13 m moves E by its condition, some hundreds close to the ends
    assert_allclose(found.frame("E").position[:, [0, 2]], E, atol=1e-10)
    assert_allclose(found.frame("coupler.E").position, found.frame("follower.E").position, atol=1e-12)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_dead_point_is_reported_with_what_locks_and_where(sign):
    with pytest.raises(InputError) as caught:
        assemble(four_bar(), {"crank": sign * 1.9})
    assert caught.value.exit_status == 1
    message = str(caught.value)
    assert '"crank" lock' in message
    where = float(re.search(r"dead point at crank=(-?[\d.]+)", message).group(1))
    # closure halts before the fold by what its smallest step is: 1e-4 rad is a fold's width in single precision
    assert_allclose(where, sign * LOCKS_AT, atol=1e-4)
    assert_allclose(LOCKS_AT, 1.80, atol=5e-3)  # as printed


def test_right_up_to_the_dead_point_it_assembles():
    found = assemble(four_bar(), [[LOCKS_AT - 1e-3], [-LOCKS_AT + 1e-3]])
    assert found.assembled.all()
    assert (found.singularity < 0.01).all()


def test_a_configuration_beyond_a_dead_point_lies_outside_although_it_could_be_assembled():
    """A turn less a radian shows the same picture as minus a radian, but the way there is barred."""
    assert assemble(four_bar(), [-1.0]).assembled
    with pytest.raises(InputError, match="dead point"):
        assemble(four_bar(), [2.0 * np.pi - 1.0])


def test_crank_and_coupler_align_where_the_paper_says():
    """At θ = 0.70 the distance of A from E is the sum of crank and coupler: E stands still against the crank."""
    found = assemble(four_bar(), np.linspace(0.6, 0.8, 2001)[:, None])
    reach = np.linalg.norm(found.frame("E").position - found.frame("A").position, axis=1)
    best = np.linspace(0.6, 0.8, 2001)[np.argmax(reach)]
    assert_allclose(best, 0.70, atol=5e-3)  # two decimals are printed
    assert_allclose(reach.max(), CRANK + COUPLER, atol=1e-6)  # a maximum between samples 1e-4 apart


def in_space():
    """The same with its hinges along y: each hinge measured as drawn, the crank along x."""
    points = {"A": [0, 0, 0], "B": ["crank", 0, 0], "E": [0.54, 0, 0.52], "D": ["ground", 0, 0]}
    pairs = {
        "A": ["ground", "crank"],
        "B": ["crank", "coupler"],
        "E": ["coupler", "follower"],
        "D": ["follower", "ground"],
    }
    joints = {name: {"revolute": pair, "axis": "-y"} for name, pair in pairs.items()}
    return four_bar(plane=None, gravity=[0, 0, -GRAVITY], points=points, joints=joints)


def test_in_space_it_has_rank_17_of_20_and_all_four_hinges_are_involved():
    position = rest(in_space())
    assert position.numbering.constraints == 20
    assert position.numbering.columns == 18
    assert position.mobility.mobility == 1
    assert position.numbering.columns - position.mobility.mobility == 17
    assert position.mobility.redundant == 3
    assert set(position.mobility.joints) == {"A", "B", "E", "D"}


def test_in_space_its_equations_are_the_same():
    thetas = np.linspace(-1.7, 1.7, 35)[:, None]
    planar, spatial = local(four_bar(), thetas), local(in_space(), thetas)
    assert_allclose(spatial.M, planar.M, rtol=1e-10)  # rounding times a condition of a hundred
    assert_allclose(spatial.christoffel, planar.christoffel, rtol=1e-8, atol=1e-11)
    assert_allclose(spatial.force, planar.force, rtol=1e-9, atol=1e-11)
