"""Bodies of beams: nodes where something touches, rigid motions, mass, indifference to axes, arms and offsets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from single_bodies import columns, hertz, relative, single

from supple.description.drawing import Drawing
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formulations.elastic.condensation import condense
from supple.formulations.elastic.elastic_body import elastic_body
from supple.geometry.rotation import exponential

MATERIALS = {"m": {"youngs_modulus": 70e9, "density": 2700}}
SECTIONS = {"s": {"rectangle": [0.02, 0.01]}, "t": {"tube": [0.03, 0.02]}}
POINTS = {"A": [0.1, 0.0, 0.2], "B": [0.9, 0.3, 0.1], "C": [0.5, -0.4, 0.6], "P": [1.0, 0.5, 0.0]}


def described(points=POINTS, up=(0.2, 0.3, 1.0)):
    """Three welded beams of a general kind."""
    beams = [
        {"from": "A", "to": "B", "section": "s", "material": "m", "elements": 3},
        {"from": "B", "to": "C", "section": ("s", "t"), "material": "m", "elements": 2, "theory": "timoshenko"},
        {"from": "C", "to": "A", "section": "t", "material": "m", "elements": 3, "offset": [0.01, -0.03]},
    ]
    return {"beams": [{**beam, "up": tuple(up)} for beam in beams], "attach": {"P": "B"}, "at": points["A"]}


def frame(turn=None, shift=(0.0, 0.0, 0.0), **more):
    """The frame as drawn, or turned and shifted as a whole."""
    R = np.eye(3) if turn is None else turn
    moved = {key: (R @ np.array(at) + shift).tolist() for key, at in POINTS.items()}
    body = described(moved, (R @ np.array([0.2, 0.3, 1.0])).tolist())
    return single(body, points=moved, touched=("C",), sections=SECTIONS, materials=MATERIALS, **more)


def planar_frame():
    beams = [{"from": a, "to": b, "section": "s", "material": "m", "elements": 3} for a, b in ("AB", "BC")]
    points = {"A": [0.1, 0.2], "B": [0.9, 0.1], "C": [0.5, 0.6]}
    return single({"beams": beams}, points=points, touched=("C",), plane="xz", sections=SECTIONS, materials=MATERIALS)


@pytest.mark.parametrize("body", [frame(), planar_frame()], ids=["space", "plane"])
def test_stiffness_is_symmetric_and_semi_definite_with_exactly_the_rigid_motions_in_its_kernel(body):
    K, M, T = body.K.toarray(), body.M.toarray(), body.rigid_motions()
    assert_allclose(K, K.T, atol=1e-13 * abs(K).max())
    assert_allclose(M, M.T, atol=1e-13 * abs(M).max())
    assert_allclose(K @ T, 0.0, atol=1e-12 * abs(K).max())
    scale = 1 / np.sqrt(np.diag(K))
    values = np.linalg.eigvalsh(scale[:, None] * K * scale)
    assert np.sum(np.abs(values) < 1e-10) == body.width
    assert values[0] > -1e-12
    assert np.linalg.eigvalsh(M).min() > 0.0


def test_the_mass_is_that_of_the_rigid_body():
    masses = {"p": {"at": "body.P", "mass": 0.7, "inertia": 0.003}, "q": {"at": "body.A", "mass": 0.2}}
    body = frame(point_masses=masses)
    T = body.rigid_motions()
    mechanism = Mechanism(
        points=POINTS, sections=SECTIONS, materials=MATERIALS, point_masses=masses, bodies={"body": described()}
    )
    expected = mass_properties(Drawing(mechanism))["body"].spatial()
    assert_allclose(T.T @ (body.M @ T), expected, atol=1e-12)


def test_frequencies_do_not_depend_on_the_axes_the_body_is_drawn_in():
    turn = exponential([0.3, -0.7, 0.5])
    shift = np.array([3.0, -2.0, 1.0])
    here, there = frame(), frame(turn=turn, shift=shift)
    # Both bodies keep the drawing's axes, so the matrices differ and the frequencies must not.
    assert_allclose(hertz(there)[6:20], hertz(here)[6:20], rtol=1e-8)


def test_every_touched_place_has_a_node_and_no_element_is_longer_than_asked_for():
    points = {"A": [0, 0, 0], "B": [1, 0, 0], "C": [0.27, 0, 0], "D": [0.8, 0, 0]}
    body = single(
        {"beam": ["A", "B"], "section": "s", "material": "m", "elements": 4},
        points=points, touched=("B", "C"), sections=SECTIONS, materials=MATERIALS,
        point_masses={"d": {"at": "body.D", "mass": 1.0}},
    )  # fmt: skip
    for place in points.values():
        assert np.linalg.norm(body.nodes - place, axis=1).min() < 1e-12
    lengths = np.linalg.norm(body.ends[:, 1] - body.ends[:, 0], axis=1)
    assert lengths.max() < 0.25 + 1e-12
    assert_allclose(lengths.sum(), 1.0)
    touched = {tuple(np.round(body.nodes[node], 12)) for node in body.interface}
    assert touched == {(0, 0, 0), (1, 0, 0), (0.27, 0, 0)}  # a point mass is no place for rows
    assert body.node_at(np.array([0.27, 0, 0])) in body.interface
    assert body.node_at(np.array([0.8, 0, 0])) is None


def test_splitting_a_beam_does_not_change_it():
    """A cubic between the same nodes: the two halves of an element span its shapes, so statics agree exactly."""
    given = {"sections": SECTIONS, "materials": MATERIALS}
    points = {"A": [0, 0, 0], "B": [1, 0, 0], "C": [0.3, 0, 0]}
    one = {"beam": ["A", "B"], "section": "s", "material": "m", "elements": 1}
    whole, split = (single(one, points=points, touched=touched, **given) for touched in (("B",), ("B", "C")))
    found = []
    for body in (whole, split):
        free = np.setdiff1d(np.arange(body.size), columns(body, (0, 0, 0)))
        tip = np.searchsorted(free, columns(body, (1, 0, 0)))
        found.append(np.linalg.inv(body.K.toarray()[np.ix_(free, free)])[np.ix_(tip, tip)])
    assert_allclose(found[1], found[0], atol=1e-10 * abs(found[0]).max())


def test_a_place_on_an_arm_is_its_own_node_and_moves_rigidly_with_the_beam():
    given = {"sections": SECTIONS, "materials": MATERIALS}
    points = {"A": [0, 0, 0], "B": [1, 0, 0], "P": [1.0, 0.2, 0.1]}
    one = {"beam": ["A", "B"], "section": "s", "material": "m"}
    plain = single(one, points=points, touched=("B",), **given)
    armed = single({**one, "attach": {"P": "B"}}, points=points, touched=("P",), **given)
    assert armed.node_at(np.array(points["P"])) is not None
    assert_allclose(armed.nodes[armed.node_at(np.array(points["P"]))], points["P"])
    assert_allclose(hertz(armed, columns(armed, (0, 0, 0))), hertz(plain, columns(plain, (0, 0, 0))), rtol=1e-7)
    # two places on one node: the node stays, places stand on arms
    both = single({**one, "attach": {"P": "B"}}, points=points, touched=("P", "B"), **given)
    node = both.node_at(np.array(points["P"]))
    assert node == both.node_at(np.array(points["B"]))
    assert_allclose(both.nodes[node], points["B"])


def test_an_offset_beam_is_the_beam_on_two_rigid_arms():
    given = {"sections": SECTIONS, "materials": MATERIALS}
    points = {"A": [0, 0, 0], "B": [1, 0, 0], "C": [0, 0.1, 0.05], "D": [1, 0.1, 0.05]}
    beam = {"section": "s", "material": "m", "elements": 4, "up": "z"}
    shifted = single({"beams": [{"from": "A", "to": "B", "offset": [0.1, 0.05], **beam}]}, points=points,
                     touched=("A", "B"), **given)  # fmt: skip
    armed = single({"beams": [{"from": "C", "to": "D", **beam}], "attach": {"A": "C", "B": "D"}}, points=points,
                   touched=("A", "B"), **given)  # fmt: skip
    held = [columns(body, (0, 0, 0)) for body in (shifted, armed)]
    assert_allclose(hertz(shifted, held[0]), hertz(armed, held[1]), rtol=1e-9)


def test_an_attached_beam_end_on_another_axis_is_welded_there():
    given = {"sections": SECTIONS, "materials": MATERIALS}
    points = {"A": [0, 0, 0], "B": [1, 0, 0], "C": [0.4, 0, 0], "D": [0.4, 0.5, 0]}
    beam = {"section": "s", "material": "m", "elements": 2}
    body = single(
        {"beams": [{"from": "A", "to": "B", **beam}, {"from": "C", "to": "D", **beam}]}, points=points, **given
    )
    scale = 1 / np.sqrt(body.K.diagonal())
    values = np.linalg.eigvalsh(scale[:, None] * body.K.toarray() * scale)
    assert np.sum(np.abs(values) < 1e-10) == 6  # one body, not two


def test_turning_is_the_mass_times_the_turned_displacement_of_every_point():
    """uᵀ(M W_k)q on a body without arms; with a point mass on an arm it is m (e_k × u_p)."""
    points = {"A": [0, 0, 0], "B": [1, 0, 0], "P": [1.0, 0.2, 0.1]}
    one = {"beam": ["A", "B"], "section": "s", "material": "m", "attach": {"P": "B"}}
    light, heavy = (
        single(one, points=points, touched=("B",), sections=SECTIONS, materials=MATERIALS, point_masses=masses)
        for masses in ({}, {"p": {"at": "body.P", "mass": 2.0}})
    )
    random = np.random.default_rng(4)
    q, u = random.normal(size=(2, light.size))
    tip = columns(light, (1, 0, 0))
    arm = np.array([0.0, 0.2, 0.1])
    moved, tried = (vector[tip[:3]] + np.cross(vector[tip[3:]], arm) for vector in (q, u))
    for k in range(3):
        e = np.eye(3)[k]
        W = np.kron(np.eye(light.size // 3), np.column_stack([np.cross(e, column) for column in np.eye(3)]))
        assert_allclose(light.turning[k].toarray(), light.M.toarray() @ W, atol=1e-14)
        extra = u @ (heavy.turning[k] - light.turning[k]) @ q
        assert_allclose(extra, 2.0 * tried @ np.cross(e, moved), rtol=1e-10)


def test_a_place_off_all_beams_is_refused_by_name_and_distance():
    with pytest.raises(InputError, match=r'sensor "at1".*\(0\.5, 0\.1, 0\) .*not on a beam.*0\.1 m away') as caught:
        single({"beam": ["A", "B"], "section": "s", "material": "m", "elements": 2},
               points={"A": [0, 0, 0], "B": [1, 0, 0], "P": [0.5, 0.1, 0]}, touched=("B", "P"),
               sections=SECTIONS, materials=MATERIALS)  # fmt: skip
    assert caught.value.path == ("sensors", "at1", "position")
    assert "attach" in caught.value.hint


def test_an_arm_to_nowhere_is_refused():
    with pytest.raises(InputError, match=r'"P" is attached .*not on its beams; .*axis, or .*end'):
        single({"beam": ["A", "B"], "section": "s", "material": "m", "attach": {"P": [0.5, 0.05, 0]}},
               points={"A": [0, 0, 0], "B": [1, 0, 0], "P": [0.5, 0.1, 0]}, touched=("P",),
               sections=SECTIONS, materials=MATERIALS)  # fmt: skip


def test_beams_that_do_not_meet_are_refused():
    beam = {"section": "s", "material": "m"}
    points = {"A": [0, 0, 0], "B": [1, 0, 0], "C": [0.4, 0.1, 0], "D": [0.4, 0.5, 0]}
    with pytest.raises(
        InputError, match=r"beam 2 is not connected to the first .*common points.*separate bodies"
    ) as caught:
        single({"beams": [{"from": "A", "to": "B", **beam}, {"from": "C", "to": "D", **beam}]}, points=points,
               sections=SECTIONS, materials=MATERIALS)  # fmt: skip
    assert caught.value.path == ("bodies", "body", "beams", 1)


def test_several_parts_touching_one_place_share_its_node():
    mechanism = Mechanism(
        points={"A": [0, 0], "B": [1, 0], "C": [2, 0]}, plane="xy", sections=SECTIONS, materials=MATERIALS,
        bodies={"one": {"beam": ["A", "B"], "section": "s", "material": "m"},
                "two": {"beam": ["B", "C"], "section": "s", "material": "m"}},
        joints={"A": {"revolute": ["ground", "one"]}, "B": {"revolute": ["one", "two"]}},
        sensors={"tip": {"position": "two.C"}, "elbow": {"position": "one.B"}},
    )  # fmt: skip
    one, two = (elastic_body(Drawing(mechanism), name) for name in ("one", "two"))
    assert [len(body.interface) for body in (one, two)] == [2, 2]
    assert relative(hertz(one)[3], hertz(two)[3]) < 1e-9


def test_bodies_that_are_equal_in_two_mechanisms_are_meshed_and_condensed_once():
    def boom(payload, width):
        return Mechanism(
            plane="xz", points={"A": [0, 0], "B": [0.6, 0], "C": [0.9, 0]}, materials=MATERIALS,
            sections={"s": {"rectangle": [width, 0.01]}},
            bodies={
                "boom": {"beam": ["A", "B"], "section": "s", "material": "m"},
                "tool": {"rod": ["B", "C"], "mass": 0.1},
            },
            joints={"A": {"revolute": ["ground", "boom"]}, "B": {"weld": ["boom", "tool"]}},
            point_masses={"load": {"at": "tool.C", "mass": payload}},
            actuators={"motor": {"joint": "A"}},
        )  # fmt: skip

    light, heavy, wide = boom(1.0, 0.02), boom(2.0, 0.02), boom(2.0, 0.03)
    bodies = [elastic_body(Drawing(item), "boom") for item in (light, heavy, wide)]
    assert bodies[0] is bodies[1]
    assert bodies[0] is not bodies[2]
    assert condense(bodies[0], 100.0) is condense(bodies[1], 100.0)
    assert condense(bodies[0], 100.0) is not condense(bodies[0], 200.0)
    assert condense(bodies[2], 100.0).K[0, 0] != condense(bodies[0], 100.0).K[0, 0]
    assert frame(point_masses={"p": {"at": "body.P", "mass": 0.7}}) is not frame()
