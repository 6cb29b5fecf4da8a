"""A point mass with an inertia is a small rigid body that is welded to its place."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.description.drawing import Drawing
from supple.description.mass_properties import mass_properties

MACHINE = """
supple: 1
name: mast
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0], P: [0.1, 0.2, 1.0], Q: [0.5, 0.3, 1.1]}
materials: {alu: {youngs_modulus: 70 GPa, density: 2700}}
sections: {pole: {tube: {outer: 30 mm, wall: 2 mm}}}
bodies:
  mast: {beam: [O, P], section: pole, material: alu, elements: 3}
  arm: {mass: 2, center: [0.3, 0.25, 1.05], inertia: [0.02, 0.03, 0.04]}
frames:
  tip: {on: ON, at: PLACE, rotation: {about: [0.3, -0.5, 0.8], angle: 0.7}}
joints:
  O: {weld: [ground, mast]}
  P: {revolute: [mast, arm], axis: y}
springs: {hold: {joint: P, stiffness: 500}}
sensors: {end: {position: tip}}
"""
FORMS = {
    "one number": ("2e-3", np.diag([2e-3] * 3)),
    "three": ("[2e-3, 3e-3, 4e-3]", np.diag([2e-3, 3e-3, 4e-3])),
    "six": ("{xx: 2e-3, yy: 3e-3, zz: 4e-3, xy: 5e-4, xz: -2e-4, yz: 3e-4}",
            np.array([[2e-3, 5e-4, -2e-4], [5e-4, 3e-3, 3e-4], [-2e-4, 3e-4, 4e-3]])),
}  # fmt: skip


def both(on: str, place: str, form: str) -> tuple[supple.Mechanism, supple.Mechanism]:
    text = MACHINE.replace("ON", on).replace("PLACE", place)
    written, J = FORMS[form]
    small = text + f"point_masses: {{lump: {{at: tip, mass: 1.5, inertia: {written}}}}}\n"
    entries = {f"{a}{b}": float(J["xyz".index(a), "xyz".index(b)]) for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}
    listed = ", ".join(f"{key}: {value}" for key, value in entries.items())
    body = (
        f"  lump: {{mass: 1.5, center: {place}, inertia: {{{listed}}}, at: {place}, "
        "rotation: {about: [0.3, -0.5, 0.8], angle: 0.7}}\nframes:"
    )
    welded = text.replace("frames:", body, 1).replace(
        "joints:", f"joints:\n  seam: {{weld: [{on}, lump], at: {place}}}"
    )
    return supple.loads(small), supple.loads(welded)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("on", "place"), [("mast", "P"), ("arm", "Q")])
def test_a_point_mass_with_inertia_is_a_welded_body(on, place, form):
    """In modes (condensed) and in small motions of the full equations; the axes are the frame's own."""
    small, welded = both(on, place, form)
    found, same = (supple.modes(item, count=4).frequencies_hz for item in (small, welded))
    assert_allclose(found, same, rtol=1e-7)  # the weld is rows, the small part is entries of the mass matrix
    found, same = (np.sort(np.abs(supple.small_motions(item, count=3).eigenvalues)) for item in (small, welded))
    assert_allclose(found, same, rtol=1e-6)


def test_one_number_is_three_equal_ones():
    text = MACHINE.replace("ON", "arm").replace("PLACE", "Q") + "point_masses: {lump: {at: tip, mass: 1, inertia: J}}\n"
    made = (supple.loads(text.replace("J", J)) for J in ("1e-3", "[1e-3, 1e-3, 1e-3]"))
    found, same = (mass_properties(Drawing(item))["arm"] for item in made)
    assert_allclose(found.inertia, same.inertia, rtol=1e-15)


@pytest.mark.parametrize(
    ("written", "said"),
    [("[1e-3, 1e-3, 5e-3]", "principal"), ("{xx: 1e-3, yy: 1e-3}", "zz"), ("-1", "inertia")],
)
def test_an_inertia_that_no_part_has_is_refused(written, said):
    text = MACHINE.replace("ON", "arm").replace("PLACE", "Q")
    with pytest.raises(supple.InputError, match=said):
        supple.loads(text + f"point_masses: {{lump: {{at: tip, mass: 1, inertia: {written}}}}}\n")


def test_in_the_plane_it_is_one_number():
    planar = """
supple: 1
plane: xz
points: {O: [0, 0], P: [1, 0]}
bodies: {bar: {rod: [O, P], mass: 1}}
joints: {O: {revolute: [ground, bar]}}
point_masses: {lump: {at: P, mass: 1, inertia: [1, 1, 1]}}
"""
    with pytest.raises(supple.InputError, match=r'point mass "lump": .*inertia must be one number'):
        supple.loads(planar)
    found = mass_properties(Drawing(supple.loads(planar.replace("[1, 1, 1]", "0.25"))))["bar"]
    alone = mass_properties(Drawing(supple.loads(planar.replace(", inertia: [1, 1, 1]", ""))))["bar"]
    assert found.inertia[2, 2] - alone.inertia[2, 2] == pytest.approx(0.25)
