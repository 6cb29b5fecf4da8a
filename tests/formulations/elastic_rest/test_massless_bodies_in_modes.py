"""Bodies without mass: welded to one that has mass they go the fast way, alone all motions are taken at once."""

from pathlib import Path

import pytest
from numpy.testing import assert_allclose

import supple
from supple.formulations.elastic_rest.dense import dense_modes, needs_dense, welded_groups

EXAMPLES = Path(__file__).parents[3] / "examples"

HUNG = """
supple: 1
name: hung
points: {O: [0, 0, 0], A: [0.5, 0, 0], B: [0.6, 0, 0], C: [0.7, 0, 0.1]}
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
bodies:
  bar: {beam: [O, A], section: bar, material: steel}
  link: {mass: 0, center: B}
  load: {mass: 2, center: C, inertia: [0.01, 0.01, 0.01]}
joints:
  O: {weld: [ground, bar]}
  A: {weld: [bar, link], elastic: {rx: 300, ry: 200, rz: 100}}
  B: {weld: [link, load]FIRM}
"""


def hung(firm: bool) -> supple.Mechanism:
    return supple.loads(HUNG.replace("FIRM", "" if firm else ", elastic: {rx: 1e3, ry: 1e3, rz: 1e3}"))


def test_what_is_welded_moves_as_one():
    assert {"link", "load"} in welded_groups(hung(firm=True))
    assert all(len(group) == 1 for group in welded_groups(hung(firm=False)))  # the bar bends, the other weld yields


@pytest.mark.parametrize("firm", [True, False])
def test_only_a_lone_body_without_mass_needs_all_motions(firm):
    assert needs_dense(hung(firm), free_actuators=False) is not firm


def test_a_welded_body_without_mass_is_no_body():
    text = HUNG.replace("  link: {mass: 0, center: B}\n", "").replace("  B: {weld: [link, load]FIRM}\n", "")
    alone = supple.loads(text.replace("[bar, link]", "[bar, load]"))
    found, expected = (supple.modes(made, count=6).frequencies_hz for made in (hung(firm=True), alone))
    assert_allclose(found, expected, rtol=1e-6)  # it is given 1e-8 of all mass, spread over the size of the whole


@pytest.mark.slow
@pytest.mark.parametrize("preload", [True, False])
def test_both_ways_find_the_same_modes(preload):
    """The Surgiscope's hands have no mass and are welded to its platform."""
    robot = supple.load(EXAMPLES / "surgiscope" / "mechanism.yaml")
    found = supple.modes(robot, "second", count=9, preload=preload)
    squares, _ = dense_modes(found.rest, found.configuration, found.held, preload=preload)
    assert_allclose((2.0 * 3.141592653589793 * found.frequencies_hz) ** 2, squares[:9], rtol=1e-9)
