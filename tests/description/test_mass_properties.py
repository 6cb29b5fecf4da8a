"""Masses, centres and inertias of described bodies against integrals over their shape."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.description.drawing import Drawing
from supple.description.mass_properties import mass_properties
from supple.diagnostics import InputError


def described(body, **more):
    """Properties of one body, in its axes."""
    parts = {"bodies": {"part": body}, "joints": {"j": {"free": ["ground", "part"]}}} | more
    return mass_properties(Drawing(supple.Mechanism(**parts)))["part"]


def integral(points, weights):
    """Volume, centre and inertia about the centre of unit density, from a quadrature."""
    volume = weights.sum()
    center = weights @ points / volume
    d = points - center
    J = np.einsum("n,n,ij->ij", weights, (d * d).sum(1), np.eye(3)) - np.einsum("n,ni,nj->ij", weights, d, d)
    return volume, center, J


def gauss(low, high, count=8):
    x, w = np.polynomial.legendre.leggauss(count)
    return 0.5 * (low + high) + 0.5 * (high - low) * x, 0.5 * (high - low) * w


def box(a, b, c):
    (x, wx), (y, wy), (z, wz) = (gauss(-0.5 * side, 0.5 * side) for side in (a, b, c))
    points = np.stack(np.meshgrid(x, y, z, indexing="ij"), -1).reshape(-1, 3)
    return points, np.einsum("i,j,k->ijk", wx, wy, wz).ravel()


def tube(outer, inner, length):
    """In polar coordinates; sixteen equal angles are exact for the second harmonics of an inertia."""
    (r, wr), (z, wz) = gauss(inner, outer), gauss(-0.5 * length, 0.5 * length)
    angle = 2.0 * np.pi * np.arange(16) / 16.0
    R, A, Z = np.meshgrid(r, angle, z, indexing="ij")
    points = np.stack([R * np.cos(A), R * np.sin(A), Z], -1).reshape(-1, 3)
    return points, np.einsum("i,j,k->ijk", wr * r, np.full(16, np.pi / 8.0), wz).ravel()


def ball(radius):
    (r, wr), (c, wc) = gauss(0.0, radius), gauss(-1.0, 1.0)
    angle = 2.0 * np.pi * np.arange(16) / 16.0
    R, C, A = np.meshgrid(r, c, angle, indexing="ij")
    S = np.sqrt(1.0 - C**2)
    points = np.stack([R * S * np.cos(A), R * S * np.sin(A), R * C], -1).reshape(-1, 3)
    return points, np.einsum("i,j,k->ijk", wr * r * r, wc, np.full(16, np.pi / 8.0)).ravel()


SOLIDS = {
    "box": ({"box": [0.3, 0.5, 0.7]}, box(0.3, 0.5, 0.7)),
    "cylinder": ({"cylinder": [0.2, 0.9]}, tube(0.2, 0.0, 0.9)),
    "tube": ({"tube": [0.2, 0.15, 0.9]}, tube(0.2, 0.15, 0.9)),
    "sphere": ({"sphere": 0.4}, ball(0.4)),
}


@pytest.mark.parametrize("shape", SOLIDS)
def test_a_solid_has_the_inertia_of_its_volume(shape):
    written, quadrature = SOLIDS[shape]
    volume, _, J = integral(*quadrature)
    found = described({"solid": written | {"density": 2700.0}})
    # the quadratures are exact for these polynomials: only rounding of some thousand terms
    assert_allclose(found.mass, 2700.0 * volume, rtol=1e-12)
    assert_allclose(found.inertia, 2700.0 * J, atol=1e-12 * found.inertia.max())
    assert_allclose(found.center, 0.0, atol=1e-15)
    by_mass = described({"solid": written | {"mass": 3.0}})
    assert_allclose(by_mass.inertia, 3.0 * J / volume, atol=1e-12 * by_mass.inertia.max())


@pytest.mark.parametrize(
    ("named", "positional"),
    [
        ({"cylinder": {"radius": 0.2, "length": 0.9}}, {"cylinder": [0.2, 0.9]}),
        ({"cylinder": {"diameter": "400 mm", "length": 0.9}}, {"cylinder": [0.2, 0.9]}),
        ({"tube": {"outer": 0.4, "inner": 0.3, "length": 0.9}}, {"tube": [0.2, 0.15, 0.9]}),
        ({"tube": {"outer": 0.4, "wall": "50 mm", "length": 0.9}}, {"tube": [0.2, 0.15, 0.9]}),
        ({"tube": {"outer_radius": 0.2, "inner_radius": 0.15, "length": 0.9}}, {"tube": [0.2, 0.15, 0.9]}),
        ({"sphere": {"diameter": 0.8}}, {"sphere": 0.4}),
    ],
    ids=str,
)
def test_lengths_of_a_solid_by_name(named, positional):
    """By position a round solid has radii, by name `outer`, `inner` and `diameter` are diameters, as of a section."""
    found, same = (described({"solid": written | {"density": 2700.0}}) for written in (named, positional))
    assert_allclose(found.mass, same.mass, rtol=1e-14)
    assert_allclose(found.inertia, same.inertia, rtol=1e-13)


@pytest.mark.parametrize("shape", ["cylinder", "tube"])
def test_an_axis_turns_a_round_solid(shape):
    written, (points, weights) = SOLIDS[shape]
    axis = np.array([1.0, -2.0, 0.5]) / np.linalg.norm([1.0, -2.0, 0.5])
    side = np.cross(axis, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    E = np.column_stack([side, np.cross(axis, side), axis])
    _, _, J = integral(points @ E.T, weights)
    found = described({"solid": written | {"density": 1.0, "axis": list(axis)}})
    assert_allclose(found.inertia, J, atol=1e-12 * found.inertia.max())


def test_several_solids_are_one_body():
    """A hammer: a box on a stick, each drawn where it is."""
    stick = {"cylinder": [0.02, 1.0], "density": 700.0, "axis": "x", "center": [0.5, 0, 0]}
    head = {"box": [0.1, 0.1, 0.3], "density": 7800.0, "center": [1.0, 0, 0]}
    rod_points, rod_weights = tube(0.02, 0.0, 1.0)
    box_points, box_weights = box(0.1, 0.1, 0.3)
    points = np.vstack([rod_points[:, [2, 0, 1]] + np.array([0.5, 0, 0]), box_points + np.array([1.0, 0, 0])])
    volume, center, J = integral(points, np.concatenate([700.0 * rod_weights, 7800.0 * box_weights]))
    found = described({"solid": [stick, head]})
    assert_allclose(found.mass, volume, rtol=1e-12)
    assert_allclose(found.center, center, atol=1e-12)
    assert_allclose(found.inertia, J, atol=1e-12 * J.max())


def test_a_solid_is_placed_in_the_drawing_and_measured_in_body_axes():
    body = {
        "at": [1.0, 2.0, 3.0], "rotation": {"about": "z", "angle": 0.5 * np.pi},
        "solid": {"box": [0.3, 0.5, 0.7], "mass": 2.0, "center": [1.0, 2.4, 3.0]},
    }  # fmt: skip
    found = described(body)
    assert_allclose(found.center, [0.4, 0.0, 0.0], atol=1e-15)  # the body's x axis points along the drawing's y
    # a box's sides are along the body's axes
    assert_allclose(np.diag(found.inertia), 2.0 / 12.0 * np.array([0.74, 0.58, 0.34]), rtol=1e-14)


def test_a_rod_is_slender_and_lies_along_its_x_axis():
    points = {"P": [1.0, 1.0, 0.0], "Q": [1.0, 1.0, 2.0]}
    found = described({"rod": ["P", "Q"], "line_mass": 1.5}, points=points)
    assert_allclose(found.mass, 3.0, rtol=1e-15)
    assert_allclose(found.center, [1.0, 0.0, 0.0], atol=1e-15)
    assert_allclose(found.inertia, np.diag([0.0, 1.0, 1.0]), atol=1e-15)  # 3 · 2² / 12


def test_a_rods_length_counts_not_the_drawing():
    points = {"P": [0.0, 0.0, 0.0], "Q": [0.9, 0.0, 0.0]}
    found = described({"rod": ["P", "Q"], "length": 1.0, "mass": 12.0}, points=points)
    assert_allclose(found.center, [0.5, 0.0, 0.0], atol=1e-15)
    assert_allclose(found.inertia, np.diag([0.0, 1.0, 1.0]), atol=1e-14)


def test_a_rods_centre_may_be_a_distance_or_a_place():
    points = {"P": [0.0, 1.0, 0.0], "Q": [0.0, 3.0, 0.0], "G": [0.2, 1.5, 0.0]}
    by_distance = described({"rod": ["P", "Q"], "mass": 1.0, "center": 0.5, "inertia": [0.1, 0.2, 0.2]}, points=points)
    assert_allclose(by_distance.center, [0.5, 0.0, 0.0], atol=1e-15)
    by_place = described({"rod": ["P", "Q"], "mass": 1.0, "center": "G", "inertia": [0.1, 0.2, 0.2]}, points=points)
    assert_allclose(by_place.center[0], 0.5, atol=1e-15)
    assert_allclose(np.linalg.norm(by_place.center), np.hypot(0.5, 0.2), atol=1e-15)


def test_a_solid_on_a_rod_sits_in_its_middle_with_its_axes():
    points = {"P": [0.0, 0.0, 0.0], "Q": [0.0, 2.0, 0.0]}
    found = described({"rod": ["P", "Q"], "solid": {"box": [2.0, 0.1, 0.2], "mass": 12.0}}, points=points)
    assert_allclose(found.center, [1.0, 0.0, 0.0], atol=1e-15)
    assert_allclose(np.diag(found.inertia), [0.05, 4.04, 4.01], rtol=1e-14)


def test_point_masses_move_the_centre_and_add_steiners_terms():
    frames = {"tip": {"on": "part", "local": [1.0, 0.0, 0.0]}}
    masses = {"a": {"at": "tip", "mass": 1.0}, "b": {"at": "tip", "mass": 1.0, "inertia": 0.25}}
    body = {"mass": 2.0, "center": [0, 0, 0], "inertia": [1.0, 1.0, 1.0]}
    found = described(body, frames=frames, point_masses=masses)
    assert_allclose(found.mass, 4.0)
    assert_allclose(found.center, [0.5, 0.0, 0.0], atol=1e-15)
    # two halves of 2 kg at ±0.5, and the moments of each
    assert_allclose(found.inertia, np.diag([1.25, 1.25 + 1.0, 1.25 + 1.0]), atol=1e-14)


def test_products_of_inertia_are_entries_of_the_matrix():
    """Not their negatives: {xy: v} is the entry J_xy = -∫ x y dm."""
    m, r = np.array([1.0, 2.0]), np.array([[0.5, 0.4, 0.0], [-0.25, -0.2, 0.0]])
    J = sum(mi * ((ri @ ri) * np.eye(3) - np.outer(ri, ri)) for mi, ri in zip(m, r, strict=True))
    entries = {a + b: J["xyz".index(a), "xyz".index(b)] for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")}
    assert entries["xy"] < 0.0
    assert_allclose(described({"mass": 3.0, "center": [0, 0, 0], "inertia": entries}).inertia, J, atol=1e-15)


def test_a_planar_body_needs_one_moment():
    parts = {"plane": "xz", "bodies": {"part": {"mass": 1.0, "center": [1.0, 2.0], "inertia": 0.3}}}
    found = mass_properties(Drawing(supple.Mechanism(**parts, joints={"j": {"free": ["ground", "part"]}})))["part"]
    assert_allclose(found.center, [1.0, 2.0, 0.0])
    assert_allclose(found.inertia[2, 2], 0.3)


@pytest.mark.parametrize("inertia", [[1.0, 1.0, 2.5], [-1.0, 1.0, 1.0], {"xx": 1.0, "yy": 1.0, "zz": 1.0, "xy": 2.0}])
def test_an_impossible_inertia_is_refused_by_the_body_that_has_it(inertia):
    with pytest.raises(InputError, match='body "part"'):
        described({"mass": 1.0, "center": [0, 0, 0], "inertia": inertia})


def test_the_inertia_of_a_point_mass_is_given_as_entries_or_as_a_matrix():
    rows = [[0.03, 0.002, -0.001], [0.002, 0.04, 0.003], [-0.001, 0.003, 0.05]]
    entries = {"xx": 0.03, "yy": 0.04, "zz": 0.05, "xy": 0.002, "xz": -0.001, "yz": 0.003}
    body, frames = {"mass": 1, "center": [0, 0, 0], "inertia": [1, 1, 1]}, {"f": {"on": "part", "local": [0, 0, 1]}}
    one, other = (
        described(body, frames=frames, point_masses={"p": {"at": "f", "mass": 2, "inertia": form}})
        for form in (rows, entries)
    )
    assert_allclose(one.inertia, other.inertia, rtol=1e-15)
    rows[0][1] = 0.004
    with pytest.raises(ValueError, match=r"not symmetric: xy is 0.004, and yx is 0.002"):
        described(body, frames=frames, point_masses={"p": {"at": "f", "mass": 2, "inertia": rows}})
