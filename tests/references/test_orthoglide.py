"""The Orthoglide of Brüls, Duysinx and Golinval (2004): printed figures, and an independent derivation.

The tool T is where three spheres of the leg length around the sliders meet; ∂T/∂θ follows from the lengths
staying constant; a slender leg with end velocities v₁, v₂ has the energy m/6 (v₁² + v₁·v₂ + v₂²). The derivative
of the mass matrix is a complex step, exact to rounding.
"""

import numpy as np
from numpy.testing import assert_allclose

import supple
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local

LENGTH, SLIDER, LEG, TOOL, GRAVITY = 0.70, 0.80, 0.45, 1.00, 9.81
AT = np.array([-0.1, 0.02, -0.2])


def orthoglide():
    bodies = {"tool": {"mass": TOOL, "center": [0, 0, 0], "inertia": [0, 0, 0]}}
    points, joints, actuators = {}, {"level": {"translation": ["ground", "tool"]}}, {}
    for i, letter in enumerate("xyz"):
        slider, leg = f"slider_{letter}", f"leg_{letter}"
        points |= {f"S{letter}": list(LENGTH * np.eye(3)[i]), f"T{letter}": [0, 0, 0]}
        bodies |= {
            slider: {"mass": SLIDER, "center": f"S{letter}"},
            leg: {"rod": [f"S{letter}", f"T{letter}"], "length": LENGTH, "mass": LEG},
        }
        across = ["xyz"[(i + 1) % 3], "xyz"[(i + 2) % 3]]
        joints |= {
            letter: {"prismatic": ["ground", slider], "at": f"S{letter}", "axis": letter},
            f"fork_{letter}": {"universal": [slider, leg], "at": f"S{letter}", "axes": across},
            f"ball_{letter}": {"spherical": [leg, "tool"], "at": f"T{letter}"},
        }
        actuators[letter] = {"joint": letter, "limits": [-0.26, 0.06]}
    return supple.Mechanism(
        name="orthoglide", gravity=[0, 0, -GRAVITY], points=points, bodies=bodies, joints=joints,
        actuators=actuators, sensors={"tool": {"position": "tool"}},
    )  # fmt: skip


def tool(theta):
    """Newton's method on the three leg lengths; θ may be complex."""
    S = np.diag(theta + LENGTH)
    T = np.zeros(3, dtype=S.dtype)
    for _ in range(40):
        legs = T - S
        T = T - np.linalg.solve(2.0 * legs, (legs * legs).sum(1) - LENGTH**2)
    return T, S


def mass(theta):
    T, S = tool(theta)
    legs = T - S
    J = np.linalg.solve(legs, np.diag(np.diag(legs)))
    M = SLIDER * np.eye(3) + TOOL * J.T @ J
    for i in range(3):
        first = np.outer(np.eye(3)[i], np.eye(3)[i])
        M = M + LEG / 3.0 * (first + 0.5 * (first @ J + J.T @ first) + J.T @ J)
    return M


def potential(theta):
    T, S = tool(theta)
    return GRAVITY * (TOOL * T[2] + SLIDER * S[2, 2] + LEG * 0.5 * (S[:, 2] + T[2]).sum())


def slopes(function, theta):
    """∂f/∂θ_k, last index k."""
    return np.stack([function(theta + 1e-30j * e).imag / 1e-30 for e in np.eye(3)], axis=-1)


def christoffel(dM):
    return 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 0, 1))


def test_figures_are_as_printed():
    """To 1e-6 of the largest entry of each array: seven decimals are printed."""
    model = local(orthoglide(), AT)
    place = [float(model.outputs[f"tool.{letter}"].value) for letter in "xyz"]
    assert_allclose(place, [-0.0704617, 0.0512819, -0.1945540], atol=1e-6 * 0.1945540)
    M = [[2.6561783, -0.0375420, -0.6308201], [-0.0375420, 2.4850726, -0.3120277], [-0.6308201, -0.3120277, 2.8303996]]
    assert_allclose(model.M, M, atol=1e-6 * 2.8303996)
    assert_allclose(model.force, [1.8027733, -1.0905362, -26.6928513], atol=1e-6 * 26.6928513)
    first = [
        [-0.9655713, -0.1748907, 0.0502946],
        [-0.1748907, 1.4685489, -0.2577354],
        [0.0502946, -0.2577354, 2.6903124],
    ]
    assert_allclose(model.christoffel[0], first, atol=1e-6 * 2.6903124)


def test_equations_of_motion_are_those_of_the_independent_derivation():
    thetas = np.random.default_rng(504).uniform(-0.26, 0.06, (50, 3))
    model = local(orthoglide(), thetas)
    for n, theta in enumerate(thetas):
        M, dM, p = mass(theta), slopes(mass, theta), -slopes(potential, theta)
        # both are exact; rounding is enlarged by a condition of less than a hundred
        assert_allclose(model.M[n], M, atol=1e-11 * np.abs(M).max())
        assert_allclose(model.dM[n], dM, atol=1e-9 * np.abs(dM).max())
        assert_allclose(model.christoffel[n], christoffel(dM), atol=1e-9 * np.abs(dM).max())
        assert_allclose(model.force[n], p, atol=1e-10 * np.abs(p).max())
        T = tool(theta)[0]
        assert_allclose([model.outputs[f"tool.{k}"].value[n] for k in "xyz"], T, atol=1e-12)


def test_it_moves_in_three_directions_without_redundant_constraints():
    freedom = rest(orthoglide()).mobility
    assert (freedom.mobility, freedom.redundant, freedom.joints) == (3, 0, ())


def test_the_tool_keeps_its_orientation():
    found = local(orthoglide(), AT).configuration.frame("tool")
    assert_allclose(found.rotation, np.eye(3), atol=1e-12)
