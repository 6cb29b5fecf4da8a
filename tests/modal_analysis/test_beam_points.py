"""Places anywhere along beams: at nodes they are the nodes, between them the beam's own shape."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formats.mechanism_file import loads
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.modal_analysis.ports import motion_between_nodes

CANTILEVER = """
supple: 1
name: cantilever
points: {A: [0, 0, 0], B: [0, 0.6, 0], M: [0, 0.2, 0], C: [0, 0.6, 0.3]}
materials: {steel: {youngs_modulus: 210e9, poisson: 0.3, density: 7800}}
sections: {bar: {rectangle: [30 mm, 10 mm]}}
bodies:
  bar:
    beams:
      - {from: A, to: B, section: bar, material: steel, elements: ELEMENTS, up: x}
      - {from: B, to: C, section: bar, material: steel, elements: ELEMENTS, up: x}
joints: {foot: {weld: [ground, bar], at: A}}
SENSOR
"""


def machine(elements=3, sensor=""):
    return loads(CANTILEVER.replace("ELEMENTS", str(elements)).replace("SENSOR", sensor))


def test_a_share_of_the_length_counts_all_beams():
    """A force at a node, and at the same place by its share: the same response."""
    found = machine(3, "sensors: {tip: {position: C}, corner: {position: B}}")
    lines = [3.0, 20.0, 70.0]
    for share, name in ((1.0, "tip"), (2.0 / 3.0, "corner")):
        both = supple.frf(found, None, "tip.x", [f"{name}.x", f"bar[{share}].x"], lines, damping=0.01)
        assert_allclose(both.values[:, 1], both.values[:, 0], rtol=1e-9)


def test_between_nodes_a_static_deflection_is_the_cubic_it_is():
    """Of a beam loaded at its end: exact with one element, so that a node there changes nothing."""
    coarse, with_node = machine(1), machine(1, "sensors: {M: {position: bar.M}}")
    ours, theirs = (supple.frf(one, None, "bar[1].x", f"{name}.x", [0.0], damping=0).values.real
                    for one, name in ((coarse, f"bar[{0.2 / 0.9}]"), (with_node, "M")))  # fmt: skip
    assert_allclose(ours, theirs, rtol=1e-8)


@pytest.mark.parametrize("share", [0.0, 0.17, 0.5, 0.81, 1.0])
def test_rigid_motions_are_rigid_in_between(share):
    """u = v + ω × x and φ = ω for every place."""
    found = machine(2)
    rest = elastic_rest(found, 100.0)
    body = rest.bodies[0]
    place = np.array([0.0, 0.9 * share, 0.0]) if share <= 2 / 3 else np.array([0.0, 0.6, 0.9 * share - 0.6])
    motion = motion_between_nodes(body, place, rest.arrays.column) @ body.rigid
    expected = np.block([[np.eye(3), -np.cross(np.eye(3), place).T], [np.zeros((3, 3)), np.eye(3)]])
    expected[:3, 3:] = np.array([np.cross(e, place) for e in np.eye(3)]).T
    assert_allclose(motion, expected, atol=1e-9)


def test_turns_between_nodes_are_the_slope_of_the_shape():
    """φ × t is du/ds along the beam, by differences of the cubic."""
    found = machine(2)
    rest = elastic_rest(found, 100.0)
    body, h = rest.bodies[0], 1e-4

    def at(y):
        return motion_between_nodes(body, np.array([0.0, y, 0.0]), rest.arrays.column)

    slope = (at(0.2 + h) - at(0.2 - h))[:3] / (2.0 * h)
    turn = at(0.2)[3:]
    across = np.cross(turn, np.array([0.0, 1.0, 0.0])[:, None], axis=0)
    scale = np.abs(across).max()
    assert_allclose(slope[[0, 2]], across[[0, 2]], atol=1e-6 * scale)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("bar[1.5].x", "1.5.*0 to 1"),
        ("beam[0.5].x", r'unknown point.* "beam\[0\.5\]"; known: .*"bar"'),
        ("bar[0.5].w", 'unknown direction "w"|unknown sensor output'),
    ],
)
def test_what_is_no_place_on_a_beam_is_told(name, what):
    with pytest.raises(supple.InputError, match=what):
        supple.frf(machine(2), None, name, "bar[1].x", [1.0])


def test_a_place_that_nothing_touches_answers_as_one_that_a_sensor_touches():
    """Over a band with two modes. Sensors divide the mesh elsewhere, which is most of the 7e-4 of the peak between."""
    lines = np.linspace(0.0, 250.0, 26)
    inside = supple.frf(machine(6), None, "bar[0.5].x", "bar[0.25].x", lines, damping=0.02).values
    sensors = "sensors: {a: {position: bar.P}, b: {position: bar.Q}}"
    text = CANTILEVER.replace("M: [0, 0.2, 0]", "P: [0, 0.45, 0], Q: [0, 0.225, 0]")
    drawn = loads(text.replace("ELEMENTS", "6").replace("SENSOR", sensors))
    assert_allclose(
        inside, supple.frf(drawn, None, "a.x", "b.x", lines, damping=0.02).values, atol=1e-3 * np.abs(inside).max()
    )
