"""Damping that is no sum over elements, in time: the nearest that is, and said."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.diagnostics import SuppleNote
from supple.formulations.absolute.time_damping import time_damping

CANTILEVER = """
supple: 1
name: reed
plane: xy
points: {O: [0, 0], P: [1, 0]}
materials: {steel: {youngs_modulus: 210 GPa, density: 7800MATERIAL}}
sections: {bar: {rectangle: [40 mm, 10 mm]}}
bodies: {reed: {beam: [O, P], section: bar, material: steel, elements: 4}}
joints: {O: {revolute: [ground, reed]}}
actuators: {O: {joint: O}}
sensors: {tip: {position: reed.P, axis: y}}
forces: {pull: {at: reed.P, force: [0, 2]}}
"""


def reed(law="", material=""):
    return supple.loads(CANTILEVER.replace("MATERIAL", material) + law)


def decay(made):
    """ζ of the lowest mode from the decrement of a step, actuators held."""
    hertz = supple.modes(made, count=1).frequencies_hz[0]
    times = np.arange(0.0, 6.0, 0.01) / hertz
    run = supple.simulate(made, times, motion={"O": lambda t: 0.0}, step=0.01 / hertz)
    y = run.outputs["tip"] - run.outputs["tip"][-300:].mean()
    tops = [y[100 * k : 100 * (k + 1)].max() for k in (1, 4)]
    return np.log(tops[0] / tops[1]) / (2.0 * np.pi * 3.0), run


@pytest.mark.parametrize(
    ("law", "material"),
    [("damping: {modal: 0.02}", ""), ("damping: {structural: 0.04}", ""), ("", ", damping: {modal: 0.02}")],
    ids=["modal", "structural", "material"],
)
def test_a_ratio_is_kept_at_the_lowest_mode(law, material):
    with pytest.warns(SuppleNote, match="2 % of critical"):
        found, run = decay(reed(law, material))
    assert found == pytest.approx(0.02, rel=0.05)  # of tops that lie between results
    assert "lowest mode" in run.damping


def test_nothing_is_said_where_the_law_is_one_of_elements():
    assert time_damping(reed("damping: {rayleigh: [0, 1e-4]}")).remark == ""
    found = time_damping(reed("damping: {rayleigh: [0.5, 1e-4]}", ", damping: {rayleigh: [0, 1e-5]}"))
    assert (found.whole, found.of("steel")) == ((0.5, 1e-4), pytest.approx((0.0, 1.1e-4)))
    run = supple.simulate(reed("damping: {modal: 0.02}"), until=1e-3, step=5e-4, rigid=True)
    assert run.damping == ""
