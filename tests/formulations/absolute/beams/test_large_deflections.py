"""Equilibria with large deflections whose answers are known in closed form."""

import numpy as np
import pytest
from moving_beams import Work, beams_through, bent_pair, settled

from supple.formulations.absolute.elements import beam_tangents
from supple.formulations.absolute.section_forces import section_forces
from supple.formulations.absolute.tangent import complex_steps
from supple.geometry.rotation import exponential

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


@pytest.mark.parametrize(("planar", "angle"), [(True, np.pi), (False, 0.5 * np.pi)], ids=["plane", "space"])
def test_the_iteration_matrix_is_good_where_beams_are_bent_far(planar, angle):
    """An arc of this angle in four elements: corrections still fall, whatever inertia and strain weigh. The matrix has
    displacements in the axes of the nodes; the moment that holds the end is not in it, and turns with nothing."""
    beams = beams_through([(0, 0, 0), (LENGTH, 0, 0)], planar=planar, elements=4)
    n, d, frames = beams.d * len(beams.nodes), beams.d, beams.arrays.frames
    X, arc = beams.at_rest, angle * beams.nodes[:, 0] / LENGTH
    X[:-1, 0], X[:-1, 1] = LENGTH / angle * np.sin(arc), LENGTH / angle * (1.0 - np.cos(arc))
    X[:-1, 3:] = [exponential([0.0, 0.0, turn]).ravel() for turn in arc]
    columns = (d * frames[:, :, None] + np.arange(d)).reshape(len(frames), -1)
    places = np.minimum(columns[:, :, None], columns[:, None]) * n + np.maximum(columns[:, :, None], columns[:, None])
    found = np.zeros((3, len(frames), 2 * d, 2 * d))
    complex_steps(beams.arrays, np.zeros(3), X, beams.still, beams.still, found)
    turn = np.eye(n)
    for b, R in enumerate(X[:-1, 3:].reshape(-1, 3, 3)):
        shown = slice(d * b, d * b + (2 if planar else 3))
        turn[shown, shown] = R[: 2 if planar else 3, : 2 if planar else 3]
    free = np.flatnonzero(np.arange(n) // d != np.argmin(beams.nodes[:, 0]))
    for share in (1e-8, 1e-6, 1e-4):  # of stiffness: h²/4 as a rule
        work = Work(beams.still, np.zeros(1), np.zeros(n * n))
        beam_tangents(beams.arrays._replace(places=places), X, 0.0, share, work)
        upper = work.matrix.reshape(n, n)
        taken = (upper + np.triu(upper, 1).T)[np.ix_(free, free)]
        exact = -(turn.T @ (beams.whole(found[2]) + share * beams.whole(found[0])) @ turn)[np.ix_(free, free)]
        left = np.linalg.eigvals(np.eye(len(free)) - np.linalg.solve(taken, exact))
        assert np.abs(left).max() < 0.6
