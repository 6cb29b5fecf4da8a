"""Constants of sections against integrals over their area, and limits that textbooks give."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pydantic import ValidationError

from supple.description.elastic.cross_section import CrossSection


def rectangles(*parts):
    """Area, Iy, Iz of rectangles (y, z, width, height, sign) about the origin, by Steiner's theorem."""
    area = sum(s * w * h for _, _, w, h, s in parts)
    Iy = sum(s * (w * h**3 / 12.0 + w * h * z * z) for _, z, w, h, s in parts)
    Iz = sum(s * (h * w**3 / 12.0 + w * h * y * y) for y, _, w, h, s in parts)
    return area, Iy, Iz


def rings(outer, inner):
    r, weight = np.polynomial.legendre.leggauss(8)
    r = 0.25 * (outer - inner) * r + 0.25 * (outer + inner)
    weight = 0.25 * (outer - inner) * weight
    second = math.pi * (weight * r**3).sum()
    return 2.0 * math.pi * (weight * r).sum(), second, second


CASES = {
    "rectangle": ({"rectangle": [0.02, 0.01]}, rectangles((0, 0, 0.02, 0.01, 1))),
    "circle": ({"circle": 0.05}, rings(0.05, 0.0)),
    "tube": ({"tube": [0.16, 0.148]}, rings(0.16, 0.148)),
    "box": ({"box": [0.06, 0.1, 0.004]}, rectangles((0, 0, 0.06, 0.1, 1), (0, 0, 0.052, 0.092, -1))),
    "i_beam": (
        {"i_beam": [0.1, 0.2, 0.01, 0.006]},
        rectangles((0, 0.095, 0.1, 0.01, 1), (0, -0.095, 0.1, 0.01, 1), (0, 0, 0.006, 0.18, 1)),
    ),
}


@pytest.mark.parametrize("shape", CASES)
def test_a_shape_has_the_moments_of_its_area(shape):
    written, (area, Iy, Iz) = CASES[shape]
    found = CrossSection(**written).properties()
    assert_allclose(found[:3], (area, Iy, Iz), rtol=1e-13)  # closed forms on both sides: rounding alone
    assert_allclose(found.polar, Iy + Iz, rtol=1e-13)


@pytest.mark.parametrize("ratio", [1.0, 2.0, 5.0, 10.0])
def test_the_torsion_of_a_rectangle_is_that_of_its_series(ratio):
    """J = a b³ (1/3 - 64/π⁵ (b/a) Σ tanh(n π a / 2 b) / n⁵), n odd; the short form is good to half a per cent."""
    b = 0.01
    a = ratio * b
    series = sum(math.tanh(n * math.pi * a / (2.0 * b)) / n**5 for n in range(1, 40, 2))
    exact = a * b**3 * (1.0 / 3.0 - 64.0 / math.pi**5 * (b / a) * series)
    for sides in ([a, b], [b, a]):
        assert_allclose(CrossSection(rectangle=sides).properties().torsion, exact, rtol=5e-3)


def test_round_sections_twist_about_their_polar_moment():
    for written in ({"circle": 0.05}, {"tube": [0.05, 0.03]}):
        found = CrossSection(**written).properties()
        assert_allclose(found.torsion, found.polar, rtol=1e-14)


def test_a_thin_square_box_is_half_as_stiff_in_torsion_again_as_in_bending():
    """Bredt: J = t a³ of a thin square box, whose Iy is 2/3 t a³."""
    found = CrossSection(box=[0.1, 0.1, 1e-4]).properties()
    assert_allclose(found.torsion / found.Iy, 1.5, rtol=3e-3)  # corners count t/a


@pytest.mark.parametrize(
    ("written", "k"),
    [
        ({"rectangle": [0.02, 0.01]}, 5.0 / 6.0),
        ({"circle": 0.05}, 6.0 / 7.0),
        ({"tube": [0.05, 0.049999]}, 0.5),  # a thin ring
        ({"box": [0.1, 0.1, 1e-3]}, 20.0 / 48.0),  # a thin square box
    ],
)
def test_shear_factors_are_cowpers_without_poisson(written, k):
    found = CrossSection(**written).properties()
    assert_allclose((found.shear_y, found.shear_z), k, rtol=1e-6)
    other = CrossSection(**written, shear_y=0.7, shear_z=0.6).properties()
    assert (other.shear_y, other.shear_z) == (0.7, 0.6)


def test_a_table_says_what_it_holds_and_no_more():
    found = CrossSection(area=2e-4, Iy=1e-9).properties()
    assert (found.area, found.Iy) == (2e-4, 1e-9)
    assert math.isnan(found.Iz)
    assert math.isnan(found.torsion)
    full = CrossSection(area=2e-4, Iy=1e-9, Iz=2e-9, torsion=1e-9).properties()
    assert_allclose(full.polar, 3e-9)


@pytest.mark.parametrize("written", [{}, {"circle": 1, "tube": [2, 1]}, {"circle": 1, "Iy": 1.0}, {"circle": -1}])
def test_a_section_is_one_thing(written):
    with pytest.raises(ValidationError):
        CrossSection(**written)
