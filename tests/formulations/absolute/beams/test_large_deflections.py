"""Equilibria with large deflections whose answers are known in closed form."""

import numpy as np
import pytest
from moving_beams import beams_through, bent_pair, settled

from supple.formulations.absolute.beams.beam_sections import section_forces

EI, LENGTH, COUNT = 2e3, 2.0, 8


@pytest.mark.parametrize("planar", [True, False], ids=["plane", "space"])
def test_an_end_moment_bends_a_cantilever_into_a_circle(planar):
    beams = beams_through([(0, 0, 0), (LENGTH, 0, 0)], planar=planar, elements=COUNT)
    tip = int(np.argmax(beams.nodes[:, 0]))

    def moment(X):
        load = beams.still
        load[tip, -1] = 2.0 * np.pi * EI / LENGTH
        return load

    X = settled(beams, moment, steps=6)
    assert np.linalg.norm(X[tip, :3]) < 1e-9  # a polygon of equal sides and angles closes, whatever its sides
    a = np.pi / COUNT  # half of the angle of an element, whose chord is L sin(a)/a = L(1 - a²/6 + a⁴/120 - ...)
    order = np.argsort(beams.nodes[:, 0])
    side = np.linalg.norm(np.diff(X[order, :3], axis=0), axis=1)
    assert side == pytest.approx(LENGTH / COUNT * (1.0 - a**2 / 6.0), rel=1e-9)
    assert side == pytest.approx(LENGTH / COUNT * np.sin(a) / a, rel=a**4 / 100.0)


@pytest.mark.parametrize("planar", [True, False], ids=["plane", "space"])
def test_section_forces_end_in_the_reaction(planar):
    beams = bent_pair(planar)
    gravity, tip = np.array([3.0, -40.0, 0.0]), int(np.argmax(beams.nodes[:, 0]))
    pull = np.array([20.0, -30.0, 0.0 if planar else 10.0])
    root = int(np.argmin(beams.nodes[:, 0]))

    def load(X):
        found = beams.still
        found[tip, : 2 if planar else 3] = pull[: 2 if planar else 3]
        return found

    X = settled(beams, load, held=(root,), gravity=gravity)
    out = np.zeros((len(beams.arrays.frames), 2, 6))
    section_forces(beams.arrays, gravity, X, beams.still, beams.still, beams.still, out, np.zeros(len(out)))
    frames = beams.arrays.frames
    assert frames[0, 1] == frames[1, 0]  # on one beam, with nothing but the two elements at the node between
    whole = [np.linalg.norm(section[:3]) for section in (out[0, 0], out[0, 1], out[1, 0])]
    assert whole[1] == pytest.approx(whole[2], rel=1e-9)
    mass = beams.M[0 :: beams.d, 0 :: beams.d].sum()
    assert whole[0] == pytest.approx(np.linalg.norm(pull + mass * gravity), rel=1e-9)
