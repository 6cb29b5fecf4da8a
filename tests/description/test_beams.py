"""Beams as described: their axes, their mass, and that a mechanism of beams moves as one of rods."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.description.drawing import Drawing
from supple.description.elastic.placed_beam import placed_beams
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.mass_properties import mass_properties
from supple.diagnostics import InputError
from supple.view.sketch import sketch

ALUMINIUM = {"aluminium": {"youngs_modulus": 70e9, "density": 2700.0}}
SECTIONS = {"bar": {"rectangle": [0.02, 0.01]}, "thin": {"rectangle": [0.01, 0.005]}}
FREE = {"j": {"free": ["ground", "part"]}}


def drawn(body, *, points=None, **more):
    parts = {"materials": ALUMINIUM, "sections": SECTIONS, "points": points or {}, "joints": FREE}
    return Drawing(supple.Mechanism(bodies={"part": body}, **parts, **more))


def beam(**more):
    return {"beam": ["P", "Q"], "section": "bar", "material": "aluminium", **more}


def line_integral(start, end, density, turning, x, *, count=6):
    """Mass, first and second moments about the origin of a line of varying mass, and of its sections' own inertia."""
    s, w = np.polynomial.legendre.leggauss(count)
    s, w = 0.5 * (1.0 + s), 0.5 * w * np.linalg.norm(end - start)
    r = start + s[:, None] * (end - start)
    m = w * density(s)
    J = np.einsum("n,n,ij->ij", m, (r * r).sum(1), np.eye(3)) - np.einsum("n,ni,nj->ij", m, r, r)
    return m.sum(), m @ r, J + (w * turning(s)).sum() * np.outer(x, x)


def about_center(mass, first, second):
    c = first / mass
    return mass, c, second - mass * ((c @ c) * np.eye(3) - np.outer(c, c))


SPACE = {"P": [0.1, -0.2, 0.3], "Q": [0.7, 0.4, 0.9], "R": [0.2, 0.8, 0.1]}


def test_a_uniform_beam_weighs_as_a_slender_rod_that_also_twists():
    found = mass_properties(drawn(beam(), points=SPACE))["part"]
    rod = mass_properties(drawn({"rod": ["P", "Q"], "line_mass": 0.54}, points=SPACE))["part"]
    length = np.linalg.norm(np.subtract(SPACE["Q"], SPACE["P"]))
    twist = 2700.0 * length * (0.02 * 0.01**3 + 0.01 * 0.02**3) / 12.0
    assert_allclose(found.mass, rod.mass, rtol=1e-14)
    assert_allclose(found.center, rod.center, atol=1e-15)
    assert_allclose(found.inertia, rod.inertia + np.diag([twist, 0.0, 0.0]), atol=1e-15)


def test_timoshenkos_sections_turn_as_they_bend():
    plain, deep = (
        mass_properties(drawn(beam(theory=theory), points=SPACE))["part"]
        for theory in ("euler-bernoulli", "timoshenko")
    )
    length = np.linalg.norm(np.subtract(SPACE["Q"], SPACE["P"]))
    rotary = 2700.0 * length / 12.0 * np.array([0.02 * 0.01**3, 0.01 * 0.02**3])
    assert_allclose(deep.inertia - plain.inertia, np.diag([0.0, *rotary]), atol=1e-15)


def test_tapered_and_shifted_beams_have_the_mass_of_their_integrals():
    """Two beams welded at P, one tapered, one shifted off the line of its places."""
    beams = [
        {"from": "P", "to": "Q", "section": ["bar", "thin"], "material": "aluminium"},
        {"from": "P", "to": "R", "section": "bar", "material": "aluminium", "up": "z", "offset": [0.01, -0.03]},
    ]
    drawing = drawn({"beams": beams}, points=SPACE)
    found = mass_properties(drawing)["part"]
    P, Q, R = (np.array(SPACE[name]) for name in "PQR")
    polar = {"bar": (0.02 * 0.01**3 + 0.01 * 0.02**3) / 12.0, "thin": (0.01 * 0.005**3 + 0.005 * 0.01**3) / 12.0}
    x = [(end - P) / np.linalg.norm(end - P) for end in (Q, R)]
    z = np.array([0.0, 0.0, 1.0]) - x[1][2] * x[1]
    z /= np.linalg.norm(z)
    arm = 0.01 * np.cross(z, x[1]) - 0.03 * z
    first = line_integral(
        P, Q, lambda s: 0.54 * (1 - 0.75 * s), lambda s: 2700.0 * (polar["bar"] * (1 - s) + polar["thin"] * s), x[0]
    )
    second = line_integral(P + arm, R + arm, lambda s: 0.54 + 0 * s, lambda s: 2700.0 * polar["bar"] + 0 * s, x[1])
    mass, center, inertia = about_center(*(a + b for a, b in zip(first, second, strict=True)))
    assert_allclose(found.mass, mass, rtol=1e-13)
    assert_allclose(found.center, center, atol=1e-14)
    assert_allclose(found.inertia, inertia, atol=1e-14)


def test_the_height_of_a_section_points_up_and_the_axes_are_right_handed():
    for up in ("z", "-y", [1.0, 2.0, -0.5]):
        drawing = drawn(beam(up=up), points=SPACE)
        (placed,) = placed_beams(drawing, "part")
        E = drawing.bodies["part"].axes @ placed.axes
        wanted = drawing.direction(up, ())
        x = np.subtract(SPACE["Q"], SPACE["P"])
        assert_allclose(E.T @ E, np.eye(3), atol=1e-15)
        assert_allclose(np.cross(E[:, 0], E[:, 1]), E[:, 2], atol=1e-15)
        assert_allclose(E[:, 0], x / np.linalg.norm(x), atol=1e-15)
        assert E[:, 2] @ wanted > 0.0
        assert_allclose(np.linalg.det(np.column_stack([E[:, 0], E[:, 2], wanted])), 0.0, atol=1e-15)


def test_without_up_a_beam_has_the_axes_of_a_rod():
    (placed,) = placed_beams(drawn(beam(), points=SPACE), "part")
    assert_allclose(placed.axes, np.eye(3))
    several = {"beams": [{"from": "P", "to": "Q", "section": "bar", "material": "aluminium"}]}
    drawing = drawn(several, points=SPACE)
    (among,) = placed_beams(drawing, "part")
    rod = drawn({"rod": ["P", "Q"], "mass": 1.0}, points=SPACE).bodies["part"].axes
    assert_allclose(drawing.bodies["part"].axes @ among.axes, rod, atol=1e-15)


@pytest.mark.parametrize("plane", ["xy", "xz", "zx"])
def test_in_the_plane_the_height_lies_in_it_unless_up_says_otherwise(plane):
    points = {"P": [0.1, 0.2], "Q": [0.5, 0.9]}
    (placed,) = placed_beams(drawn(beam(), points=points, plane=plane), "part")
    assert_allclose(placed.axes, [[1, 0, 0], [0, 0, 1], [0, -1, 0]], atol=1e-15)  # z to the left, y along -normal
    (letter,) = set("xyz") - set(plane)
    drawing = drawn(beam(up=letter), points=points, plane=plane)
    (turned,) = placed_beams(drawing, "part")
    world = drawing.mechanism.plane_axes() @ drawing.bodies["part"].axes @ turned.axes[:, 2]
    assert_allclose(world, np.eye(3)["xyz".index(letter)], atol=1e-15)


def test_a_beams_length_counts_not_the_drawing():
    drawing = drawn(beam(length=1.0), points={"P": [0.0, 0.0, 0.0], "Q": [0.9, 0.0, 0.0]})
    (placed,) = placed_beams(drawing, "part")
    assert_allclose(placed.length, 1.0)
    assert_allclose(mass_properties(drawing)["part"].mass, 0.54, rtol=1e-14)


def four_bar(plane, bar):
    """The four-bar of the examples in the plane x-z, or in space with its hinges along y."""
    points = {"A": [0, 0, 0], "B": [0.5, 0, 0], "E": [0.54, 0, 0.52], "D": [1, 0, 0]}
    lengths = {"crank": ("A", "B", 0.5), "coupler": ("B", "E", 0.5218), "follower": ("D", "E", 0.6936)}
    joints = {
        "A": ("ground", "crank"),
        "B": ("crank", "coupler"),
        "E": ("coupler", "follower"),
        "D": ("ground", "follower"),
    }
    axis = {} if plane else {"axis": "-y"}
    return supple.Mechanism(
        plane=plane,
        gravity=[0, -9.81] if plane else [0, 0, -9.81],
        materials=ALUMINIUM,
        sections=SECTIONS,
        points={name: p[::2] if plane else p for name, p in points.items()},
        bodies={name: bar(a, b, length) for name, (a, b, length) in lengths.items()},
        joints={name: {"revolute": pair} | axis for name, pair in joints.items()},
        point_masses={"load": {"at": "coupler.E", "mass": 0.3}},
        actuators={"crank": {"joint": "A"}},
        rest={"crank": 0.0},
    )


def rods(a, b, length):
    return {"rod": [a, b], "length": length, "line_mass": 0.54}


def beams(a, b, length):
    return {"beam": [a, b], "length": length, "section": "bar", "material": "aluminium", "up": "z"}


@pytest.mark.parametrize("plane", ["xz", None], ids=["plane", "space"])
def test_everything_rigid_takes_beams_as_rods(plane):
    """In planar motion the twist of a section never turns, so that the two are the same mechanism."""
    stiff, elastic = four_bar(plane, rods), four_bar(plane, beams)
    theta = np.linspace(-1.2, 1.2, 7)[:, None]
    a, b = (supple.local(mechanism, theta, rigid=True) for mechanism in (stiff, elastic))
    for name in ("M", "dM", "force", "potential", "input_map"):
        one, other = np.asarray(getattr(a, name)), np.asarray(getattr(b, name))
        assert_allclose(other, one, atol=1e-12 * np.abs(one).max(), err_msg=name)
    assert_allclose(supple.assemble(elastic, theta).X, supple.assemble(stiff, theta).X, atol=1e-14)


def test_a_four_bar_of_beams_falls_as_one_of_rods():
    runs = [supple.simulate(four_bar("xz", bar), until=0.2, start={"crank": 0.3}, rigid=True) for bar in (rods, beams)]
    moved = np.ptp(runs[0].configuration.X, axis=0).max()
    assert moved > 0.1  # m, or of a direction: it falls
    assert_allclose(runs[1].configuration.X, runs[0].configuration.X, atol=1e-12)


@pytest.mark.parametrize("kind", JOINT_KINDS)
def test_a_joint_may_yield_where_it_holds(kind):
    own = {"axes": ("x", "y")} if JOINT_KINDS[kind].axes == 2 else {}
    own |= {item.name: 0.01 for item in JOINT_KINDS[kind].parameters}
    joint = supple.Joint(**{kind: ("ground", "part")}, **own)
    sums = sum(len(row) > 1 for row in JOINT_KINDS[kind].space.rows)  # along or about no one axis
    assert len(joint.list_held(None)) == 6 - JOINT_KINDS[kind].freedoms - sums
    if JOINT_KINDS[kind].planar_freedoms is not None:
        assert len(joint.list_held("xz")) == 3 - JOINT_KINDS[kind].planar_freedoms
        assert set(joint.list_held("xz")) <= {"x", "z", "angle"}


def test_a_structure_that_cannot_move_is_no_mistake_if_it_can_bend():
    points = {"P": [0, 0, 0], "Q": [0.5, 0, 0]}
    parts = {"materials": ALUMINIUM, "sections": SECTIONS, "points": points}
    cantilever = supple.Mechanism(bodies={"part": beam()}, joints={"P": {"weld": ["ground", "part"]}}, **parts)
    found = supple.check(cantilever)
    assert (found.mobility, found.coordinates, found.notes) == (0, (), ())
    rigid = supple.Mechanism(
        bodies={"part": {"rod": ["P", "Q"], "mass": 1.0}}, joints={"P": {"weld": ["ground", "part"]}}, points=points
    )
    with pytest.raises(InputError, match=r"cannot move: mobility 0 \(6 velocities, 6 constraints\); remove a joint"):
        supple.check(rigid)


def test_check_lists_what_is_elastic():
    mechanism = four_bar("xz", beams)
    joints = {name: joint.model_dump(exclude_none=True) for name, joint in mechanism.joints.items()}
    joints["B"]["elastic"] = {"x": 1e7, "z": 1e7}
    found = supple.check(mechanism.replace(joints=joints))
    assert [(part.name, part.beams, part.elements) for part in found.elastic_bodies] == [
        ("crank", 1, 4), ("coupler", 1, 4), ("follower", 1, 4)
    ]  # fmt: skip
    assert_allclose(found.elastic_bodies[0].mass, 0.27, rtol=1e-14)
    assert found.elastic_joints == {"B": ("x", "z")}
    assert "crank: beam of 4 elements, 0.27 kg" in found.summary()
    assert "B in x, z" in found.summary()


def test_a_frame_of_beams_is_sketched_beam_by_beam():
    points = {"P": [0, 0], "Q": [0, 1], "R": [1, 1]}
    ends = [("P", "Q"), ("Q", "R")]
    body = {"beams": [{"from": a, "to": b, "section": "bar", "material": "aluminium"} for a, b in ends]}
    mechanism = supple.Mechanism(
        plane="xz", materials=ALUMINIUM, sections=SECTIONS, points=points, bodies={"part": body},
        joints={"P": {"revolute": ["ground", "part"]}}, actuators={"motor": {"joint": "P"}},
    )  # fmt: skip
    axes = sketch(supple.assemble(mechanism), labels=False).axes[0]
    lines = [np.column_stack(line.get_data()) for line in axes.lines]
    for a, b in ends:
        assert any(line.shape == (2, 2) and np.allclose(line, [points[a], points[b]]) for line in lines)
