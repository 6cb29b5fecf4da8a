"""Published structures, written as mechanisms without a freedom: beams and frames on joints to the ground."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

STEEL = {"m": {"youngs_modulus": 200e9, "density": 8000, "poisson": 0.3}}


def hertz(count, **described):
    return supple.modes(supple.Mechanism(**described), count=count).frequencies_hz


def cantilever_with_masses(elements):
    """NAFEMS FV4: 10 m, solid circle of 0.5 m, 10000 and 1000 kg at ±2 m on rigid arms at the tip.

    The printed figures are of bending with rotary inertia and without shear: the shear factor is very large.
    """
    return hertz(
        6, points={"A": [0, 0, 0], "B": [10, 0, 0]}, materials=STEEL,
        sections={"s": {"circle": 0.5, "shear_y": 1e6, "shear_z": 1e6}},
        bodies={"beam": {"beams": [{"from": "A", "to": "B", "section": "s", "material": "m", "elements": elements,
                                    "theory": "timoshenko"}],
                         "attach": {"upper": "B", "lower": "B"}}},
        frames={"upper": {"on": "beam", "at": [10, 2, 0]}, "lower": {"on": "beam", "at": [10, -2, 0]}},
        point_masses={"large": {"at": "lower", "mass": 10000}, "small": {"at": "upper", "mass": 1000}},
        joints={"A": {"weld": ["ground", "beam"]}},
    )  # fmt: skip


def test_nafems_fv4_a_cantilever_with_masses_off_its_axis():
    printed = [1.723, 1.727, 7.413, 9.972, 18.155, 26.957]
    assert_allclose(cantilever_with_masses(20), printed, atol=6e-4)  # half of the last digit, and the mesh


def deep_beam(elements, factor, carriage=None):
    """NAFEMS FV5: 10 m, 2 m square; one end turns about y and z, the other slides along x as well.

    The carriage there is a 320000th of the beam's mass, unless it is given.
    """
    slides = carriage or {"mass": 1, "center": [10, 0, 0], "inertia": [1, 1, 1]}
    square = {"area": 4.0, "Iy": 4 / 3, "Iz": 4 / 3, "torsion": 8 / 3, "shear_y": factor, "shear_z": factor}
    return hertz(
        9, points={"A": [0, 0, 0], "B": [10, 0, 0]}, materials=STEEL, sections={"s": square},
        bodies={"beam": {"beam": ["A", "B"], "section": "s", "material": "m", "elements": elements,
                         "theory": "timoshenko"}, "carriage": slides},
        joints={"A": {"universal": ["ground", "beam"], "axes": ["y", "z"]}, "B": {"spherical": ["beam", "carriage"]},
                "rail": {"prismatic": ["ground", "carriage"], "at": "B", "axis": "x"}},
    )  # fmt: skip


def test_nafems_fv5_a_deep_simply_supported_beam():
    """The printed figures are those of twenty elements, a shear factor 10(1 + ν)/(12 + 11ν), and the torsion constant
    Iy + Iz; 125.00 is the limit of fine meshes."""
    found = deep_beam(20, 10 * 1.3 / (12 + 11 * 0.3))
    printed = [42.649, 42.649, 77.542, 125.00, 148.31, 148.31, 233.10, 284.55, 284.55]
    assert (np.abs(found / printed - 1.0) < [2e-5, 2e-5, 2e-5, 3e-4, 5e-5, 5e-5, 5e-5, 5e-5, 5e-5]).all()


def test_a_carriage_without_mass_is_the_limit_of_a_light_one():
    assert_allclose(deep_beam(20, 0.85, {"mass": 0}), deep_beam(20, 0.85), rtol=4e-6)


def test_the_l_frame_of_argyris():
    """Printed: 11.2732 and 30.5269 Hz; the second with rotary inertia that beam theory does not have, 0.6 %."""
    bar = {"section": "s", "material": "m", "elements": 10, "up": "z", "theory": "timoshenko"}
    found = hertz(
        2, points={"A": [0, 0, 0], "B": [0.24, 0, 0], "C": [0.24, 0.24, 0]},
        sections={"s": {"rectangle": [0.03, 0.003]}},
        materials={"m": {"youngs_modulus": 71240e6, "poisson": 0.31, "density": 5000}},
        bodies={"frame": {"beams": [{"from": "A", "to": "B", **bar}, {"from": "B", "to": "C", **bar}]}},
        joints={"A": {"weld": ["ground", "frame"]}},
    )  # fmt: skip
    assert (np.abs(found / [11.2732, 30.5269] - 1.0) < [1e-3, 6.1e-3]).all()


@pytest.mark.parametrize("welded", [False, True])
def test_the_l_frame_is_the_same_of_two_bodies_welded_together(welded):
    bar = {"section": "s", "material": "m", "elements": 6, "up": "z"}
    legs = {"one": {"beam": ["A", "B"], **bar}, "two": {"beam": ["B", "C"], **bar}}
    whole = {"one": {"beams": [{"from": "A", "to": "B", **bar}, {"from": "B", "to": "C", **bar}]}}
    shared = {
        "points": {"A": [0, 0, 0], "B": [0.24, 0, 0], "C": [0.24, 0.24, 0]},
        "sections": {"s": {"rectangle": [0.03, 0.003]}},
        "materials": {"m": {"youngs_modulus": 71240e6, "poisson": 0.31, "density": 5000}},
    }
    joints = {"A": {"weld": ["ground", "one"]}}
    one = hertz(6, bodies=whole, joints=joints, **shared)
    seam = {"B": {"weld": ["one", "two"]}}
    if welded:
        assert_allclose(hertz(6, bodies=legs, joints=joints | seam, **shared), one, rtol=1e-6)
    else:  # the same by stiffnesses a million times those of the legs and more
        seam["B"]["elastic"] = {"x": 1e14, "y": 1e14, "z": 1e14, "rx": 1e10, "ry": 1e10, "rz": 1e10}
        assert_allclose(hertz(6, bodies=legs, joints=joints | seam, **shared), one, rtol=2e-6)


def tapered(elements):
    """EI and ρA linear to half at the tip: ω L² √(ρA/EI) of the clamped end."""
    thick = {"area": 2e-4, "Iy": 1e-9}
    thin = {name: 0.5 * value for name, value in thick.items()}
    found = hertz(
        3, plane="xy", points={"A": [0, 0], "B": [1.3, 0]}, sections={"thick": thick, "thin": thin},
        materials={"m": {"youngs_modulus": 70e9, "density": 2700}}, joints={"A": {"weld": ["ground", "beam"]}},
        bodies={"beam": {"beam": ["A", "B"], "section": ["thick", "thin"], "material": "m", "elements": elements}},
    )  # fmt: skip
    return found / (np.sqrt(70e9 * 1e-9 / (2700 * 2e-4)) / 1.3**2 / (2 * np.pi))


def test_a_cantilever_that_tapers_to_half():
    printed = np.array([4.31517, 23.5193, 63.1992])
    # sixteen elements leave (βh)⁴/1440, 4e-5 in the third
    assert (np.abs(tapered(16) / printed - 1.0) < [2e-6, 6e-6, 5e-5]).all()


def test_frequencies_of_a_mechanism_converge_with_its_elements():
    """Hermite's cubics: half of the element length leaves a sixteenth of the error."""
    coarse, middle, fine = (tapered(elements)[2] for elements in (8, 16, 64))
    assert 14.0 < (coarse - fine) / (middle - fine) < 18.0


def test_a_cantilever_deflects_and_vibrates_as_the_closed_forms_say():
    """w = P L³/3EI at the tip, q L⁴/8EI under its weight, and the first frequency 1.8751²√(EI/ρA)/2πL²."""
    E, rho, b, h, L = 70e9, 2700.0, 0.02, 0.01, 1.3
    EI, line = E * b * h**3 / 12, rho * b * h
    made = supple.Mechanism(
        plane="xz", gravity=[0, -9.81], points={"A": [0, 0], "B": [L, 0]}, sections={"s": {"rectangle": [b, h]}},
        materials={"m": {"youngs_modulus": E, "density": rho}}, joints={"A": {"weld": ["ground", "beam"]}},
        bodies={"beam": {"beam": ["A", "B"], "section": "s", "material": "m", "elements": 8}},
        sensors={"tip": {"position": "B"}},
    )  # fmt: skip
    static = supple.compliance(made, None, "tip", preload=False)
    assert static.names == ("tip.x", "tip.z", "tip.angle")
    exact = np.array([[L / (E * b * h), 0, 0], [0, L**3 / (3 * EI), L**2 / (2 * EI)], [0, L**2 / (2 * EI), L / EI]])
    assert_allclose(static.values, exact, rtol=1e-9, atol=1e-15)
    sagging = supple.deflection(made)
    assert_allclose(sagging.of("tip.z"), -line * 9.81 * L**4 / (8 * EI), rtol=1e-9)
    assert_allclose(sagging.reactions["A"].force, [0, 0, line * 9.81 * L], atol=1e-9)
    assert_allclose(sagging.reactions["A"].moment, [0, -line * 9.81 * L**2 / 2, 0], atol=1e-9)
    nodes = sagging.displacements("beam").reshape(-1, 3)
    places = sagging.rest.bodies[0].mesh.nodes[:, 0]
    curve = -line * 9.81 * places**2 * (6 * L**2 - 4 * L * places + places**2) / (24 * EI)
    assert_allclose(nodes[:, 1], curve, atol=1e-12)
    first = 1.8751040687119611**2 * np.sqrt(EI / line) / (2 * np.pi * L**2)
    assert_allclose(supple.modes(made, count=1).frequencies_hz[0], first, rtol=3e-6)  # (βh)⁴/1440
