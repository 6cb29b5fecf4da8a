"""Constants of sections against integrals over their area, and limits that textbooks give."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pydantic import ValidationError

from supple.description.elastic.cross_section import CrossSection
from supple.description.quantities.dual import Dual


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


NAMED = [
    ({"rectangle": {"height": 0.01, "width": 0.02}}, {"rectangle": [0.02, 0.01]}),
    ({"circle": {"diameter": 0.05}}, {"circle": 0.05}),
    ({"circle": {"radius": "25 mm"}}, {"circle": 0.05}),
    ({"tube": {"outer": "16 mm", "inner": "14 mm"}}, {"tube": [0.016, 0.014]}),
    ({"tube": {"outer": "16 mm", "wall": "1 mm"}}, {"tube": [0.016, 0.014]}),
    ({"tube": {"outer_radius": "8 mm", "wall": "1 mm"}}, {"tube": [0.016, 0.014]}),
    ({"tube": {"outer_radius": "8 mm", "inner_radius": "7 mm"}}, {"tube": [0.016, 0.014]}),
    ({"box": {"width": 0.06, "height": 0.1, "wall": 0.004}}, {"box": [0.06, 0.1, 0.004]}),
    ({"i_beam": {"width": 0.1, "height": 0.2, "flange": 0.01, "web": 0.006}}, {"i_beam": [0.1, 0.2, 0.01, 0.006]}),
]


@pytest.mark.parametrize(("named", "positional"), NAMED, ids=str)
def test_lengths_by_name_are_those_by_position(named, positional):
    found, same = CrossSection(**named), CrossSection(**positional)
    assert_allclose(found.properties(), same.properties(), rtol=1e-14)
    assert_allclose(found.lengths, same.lengths, rtol=1e-14)
    assert found.in_words == same.in_words
    assert CrossSection(**found.model_dump(exclude_defaults=True)) == found


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"tube": {"outer": 0.016}}, "a tube needs one of inner or inner_radius or wall"),
        ({"tube": {"outer": 0.016, "inner": 0.01, "wall": 0.001}}, "not inner and wall"),
        ({"tube": {"outer": 0.016, "wall": 0.008}}, "inner must be positive.*wall 0.008 m.* 0 m; .*smaller wall"),
        (
            {"tube": {"outer": 0.016, "inner": 0.016}},
            "inner diameter 0.016 m must be smaller than the outer diameter 0.016 m",
        ),
        ({"tube": {"outer": 0.016, "thickness": 0.001}}, "thickness"),
        ({"tube": {"outer": "16 s", "wall": 0.001}}, "a length"),
        ({"box": {"width": 0.06, "height": 0.1}}, "a box needs wall"),
    ],
)
def test_each_length_is_given_once(written, said):
    with pytest.raises(ValidationError, match=said):
        CrossSection(**written)


def test_numbers_of_a_shape_have_slopes_under_their_names():
    """dA/dwall of a tube is the length of its inner circle, π (outer - 2 wall)."""
    tube = CrossSection(tube={"outer": 0.016, "wall": 0.001})
    found = tube.properties({"tube.wall": Dual(0.001, np.ones(1))}).area
    assert_allclose(found.slopes, math.pi * 0.014, rtol=1e-13)
    by_position = CrossSection(tube=[0.016, 0.014]).properties({"tube.1": Dual(0.014, np.ones(1))}).area
    assert_allclose(by_position.slopes, -math.pi * 0.007, rtol=1e-13)


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ({"tube": [0.07, 0.003]}, True),  # the wall where the inner diameter is expected
        ({"tube": {"outer": 0.07, "inner": 0.003}}, True),
        ({"tube": {"outer": 0.07, "wall": 0.03}}, False),  # said by its name
        ({"tube": [0.07, 0.064]}, False),
        ({"circle": 0.07}, False),
        ({"area": 1e-4, "Iy": 1e-9}, False),
    ],
)
def test_a_tube_that_is_nearly_a_bar_is_questioned(written, asked):
    question = CrossSection(**written).question
    assert (question is not None) == asked
    assert not asked or ("3 mm is the wall" in question and "write tube: {outer: ..., wall: ...}" in question)


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
