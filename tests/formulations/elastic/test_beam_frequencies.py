"""Frequencies of beams and frames against closed forms."""

import numpy as np
import pytest
from scipy.optimize import brentq
from single_bodies import beam, columns, hertz, relative, single

ALUMINIUM = {"youngs_modulus": 70e9, "density": 2700, "poisson": 0.3}
BAR = {"bar": {"rectangle": [0.02, 0.01]}}
LENGTH = 1.3
SOFT = np.sqrt(70e9 * 0.01**2 / 12 / 2700)  # √(EI/ρA) of the soft direction, twice as much of the stiff
CLAMPED_FREE = [1.8751040687119611, 4.694091132974175, 7.854757438237613]
FREE_FREE = [4.730040744862704, 7.853204624095838, 10.995607838001671]


def bending(roots, stiffness=SOFT):
    return np.square(roots) / LENGTH**2 * stiffness / (2 * np.pi)


def test_a_cantilever_in_space_bends_in_both_directions_stretches_and_twists():
    body = beam(LENGTH, ["bar"], ALUMINIUM, elements=32, sections=BAR)
    found = hertz(body, columns(body, (0, 0, 0)))
    # Hermite's cubics: the error of ω is (βh)⁴/1440, 3e-6 for the third root and 32 elements
    for exact in (*bending(CLAMPED_FREE), *bending(CLAMPED_FREE, 2 * SOFT)):
        assert np.min(np.abs(found / exact - 1)) < 4e-6
    stretch = np.sqrt(70e9 / 2700) / (4 * LENGTH)
    torsion = 0.02 * 0.01**3 * (1 / 3 - 0.105 * (1 - 0.5**4 / 12))
    polar = 0.02 * 0.01 * (0.02**2 + 0.01**2) / 12
    twist = np.sqrt(70e9 / 2.6 * torsion / (2700 * polar)) / (4 * LENGTH)
    for exact in (stretch, twist):  # linear shapes: (kh)²/24 with kh = π/64
        assert np.min(np.abs(found / exact - 1)) < 1.1e-4


@pytest.mark.parametrize("plane", [None, "xz"])
def test_a_free_beam(plane):
    body = beam(LENGTH, ["bar"], ALUMINIUM, elements=32, sections=BAR, plane=plane)
    found = hertz(body)
    rigid = 6 if plane is None else 3
    assert found[rigid - 1] < 1e-3 * found[rigid]
    for exact in bending(FREE_FREE):
        assert np.min(np.abs(found / exact - 1)) < 1.1e-5


def test_frequencies_converge_with_the_fourth_power_of_the_element_length():
    exact = bending(CLAMPED_FREE)[2]
    errors = []
    for elements in (8, 16, 32):
        body = beam(LENGTH, ["bar"], ALUMINIUM, elements=elements, sections=BAR, plane="xy")
        found = hertz(body, columns(body, (0, 0)))
        errors.append(np.min(np.abs(found / exact - 1)))
    assert np.log2(errors[0] / errors[1]) > 3.9
    assert np.log2(errors[1] / errors[2]) > 3.9


def test_a_cantilever_that_tapers_to_half():
    """EI and ρA linear to half at the tip: ω L² √(ρA/EI) of the clamped end, published to six digits."""
    thick = {"area": 2e-4, "Iy": 1e-9, "Iz": 1e-9, "torsion": 1e-9}
    thin = {name: 0.5 * value for name, value in thick.items()}
    body = beam(LENGTH, ["thick", "thin"], ALUMINIUM, elements=16, sections={"thick": thick, "thin": thin}, plane="xy")
    unit = np.sqrt(70e9 * 1e-9 / (2700 * 2e-4)) / LENGTH**2 / (2 * np.pi)
    found = hertz(body, columns(body, (0, 0)))[:3] / unit
    # sixteen elements leave (βh)⁴/1440, 4e-5 in the third
    assert np.all(relative(found, [4.31517, 23.5193, 63.1992]) < [2e-6, 6e-6, 5e-5])


def dynamic_stiffness(lam):
    """Exact stiffness of a beam of unit length and EI for (v₁, θ₁, v₂, θ₂), λ⁴ = ω² ρA/EI."""
    functions = (
        lambda x, n: np.cos(lam * x + n * np.pi / 2),
        lambda x, n: np.sin(lam * x + n * np.pi / 2),
        lambda x, n: np.sinh(lam * x) if n % 2 else np.cosh(lam * x),
        lambda x, n: np.cosh(lam * x) if n % 2 else np.sinh(lam * x),
    )

    def row(x, n):
        return np.array([lam**n * f(x, n) for f in functions])

    shapes = np.array([row(0, 0), row(0, 1), row(1, 0), row(1, 1)])
    forces = np.array([row(0, 3), -row(0, 2), -row(1, 3), row(1, 2)])
    return forces @ np.linalg.inv(shapes)


def portal(lam, sways):
    """Its determinant is zero at the modes of a portal of equal members that do not stretch, clamped at both feet."""
    D = dynamic_stiffness(lam)
    column = D[2:, 2:]
    if not sways:
        return column[1, 1] + D[1, 1] - D[1, 3]
    joint = column[1, 1] + D[1, 1] + D[1, 3]
    shift = 2 * column[0, 0] - lam**4  # the cross-bar moves along
    return shift * joint - 2 * column[0, 1] ** 2


@pytest.mark.parametrize(("sways", "bracket"), [(True, (1.2, 2.2)), (False, (3.0, 3.9)), (True, (4.0, 4.6))])
def test_a_portal_frame(sways, bracket):
    lam = brentq(portal, *bracket, args=(sways,), xtol=1e-12)
    height = 1e-3  # so slender that members do not stretch: (r/L)² = 8e-8
    name = {"section": "s", "material": "m", "elements": 16}
    body = single(
        {"beams": [{"from": a, "to": b, **name} for a, b in ("AB", "BC", "CD")]},
        points={"A": [0, 0], "B": [0, 1], "C": [1, 1], "D": [1, 0]},
        plane="xy",
        sections={"s": {"rectangle": [0.02, height]}},
        materials={"m": ALUMINIUM},
    )
    found = hertz(body, columns(body, (0, 0)) + columns(body, (1, 0)))
    exact = lam**2 * np.sqrt(70e9 * height**2 / 12 / 2700) / (2 * np.pi)
    assert np.min(np.abs(found / exact - 1)) < 1e-5


def test_the_same_portal_in_space_has_the_planar_frequencies():
    name = {"section": "s", "material": "m", "elements": 3}
    points = {"A": [0, 0], "B": [0.1, 0.8], "C": [1, 1], "D": [1.1, 0]}
    given = {"sections": {"s": {"rectangle": [0.02, 0.05]}}, "materials": {"m": ALUMINIUM}}
    flat = single({"beams": [{"from": a, "to": b, **name} for a, b in ("AB", "BC", "CD")]},
                  points=points, plane="xy", **given)  # fmt: skip
    # in the plane the height lies in it, to the left of each beam
    ups = [np.array([points[a][1] - points[b][1], points[b][0] - points[a][0], 0.0]) for a, b in ("AB", "BC", "CD")]
    beams = [
        {"from": a, "to": b, **name, "up": up.tolist()} for (a, b), up in zip(("AB", "BC", "CD"), ups, strict=True)
    ]
    deep = single({"beams": beams}, points={key: [*at, 0.0] for key, at in points.items()}, **given)
    planar, spatial = hertz(flat, columns(flat, (0, 0))), hertz(deep, columns(deep, (0, 0, 0)))
    for frequency in planar[:6]:
        assert np.min(np.abs(spatial / frequency - 1)) < 1e-9
