"""A superelement of a beam's own matrices moves as the beams do, as long as it bends little."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formulations.absolute.frames import floating_body
from supple.formulations.absolute.instant import instant
from supple.formulations.absolute.step import State
from supple.formulations.absolute.system import absolute
from supple.formulations.absolute.tangent import tangent_at
from supple.formulations.elastic.elastic_body import mesh_of
from supple.formulations.elastic_rest.body_coordinates import modal_condensed
from supple.geometry.rotation import tilde
from supple.kinematics.rest import rest
from supple.modal_analysis.small_motions import free_motions

ARM = """
supple: 1
name: arm
gravity: [0, 0, -9.81]
points: {O: [0, 0, 0], P: [0.6, 0.1, 0.0], Q: [0.9, 0.4, 0.1]}
materials: {alu: {youngs_modulus: 70 GPa, density: 2700, poisson: 0.3}}
sections: {tube: {tube: [40 mm, 36 mm]}}
bodies:
  upper: BODY
  lower: {mass: 1.5, center: Q, inertia: [0.02, 0.03, 0.025]}
joints:
  one: {revolute: [ground, upper], at: O, axis: [0, 0.6, 0.8]}
  two: {revolute: [upper, lower], at: P, axis: [0.6, 0, 0.8]}
point_masses: {load: {at: upper.P, mass: 0.2}}
actuators: {one: {joint: one}, two: {joint: two}}
sensors: {tip: {position: lower.Q}, wrist: {position: upper.P}}
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The arm of beams, and with their matrices as a file."""
    folder = tmp_path_factory.mktemp("arm")
    beams = supple.loads(ARM.replace("BODY", "{beam: [O, P], section: tube, material: alu, elements: 8}"))
    bare = supple.loads(
        ARM.replace("BODY", "{beam: [O, P], section: tube, material: alu, elements: 8}").replace(
            "point_masses: {load: {at: upper.P, mass: 0.2}}\n", ""
        )
    )
    numbering = rest(bare).numbering
    mesh, pose = mesh_of(numbering, "upper"), numbering.drawing.bodies["upper"]
    turn = np.kron(np.eye(2 * len(mesh.nodes)), pose.axes)
    K, M = (turn @ matrix.toarray() @ turn.T for matrix in (mesh.K, mesh.M))
    np.savez(folder / "upper.npz", K=K, M=M, nodes=mesh.nodes @ pose.axes.T + pose.position)
    (folder / "arm.yaml").write_text(ARM.replace("BODY", "{superelement: {file: upper.npz}}"))
    return beams, supple.load(folder / "arm.yaml")


def test_shapes_of_a_mesh_have_no_momentum(pair):
    """The floating frame is the one that moves with the body in the mean."""
    body = floating_body(rest(pair[1]).numbering, "upper")
    assert np.abs(body.momentum).max() < 1e-10 * body.mass
    assert np.abs(body.spin).max() < 1e-10 * body.mass * body.extent
    assert_allclose(body.M, body.mass * np.eye(body.size))


@pytest.mark.slow
def test_it_moves_as_beams_do(pair):
    """Deflections of some mm in 0.6 m, in motions of 4 cm: linear shapes leave out the square of these, 1e-6 m."""
    torques = {"one": lambda t: 6.0 * np.sin(40.0 * t), "two": 1.0}
    beams, imported = (supple.simulate(made, None, torques, until=0.1, step=5e-4) for made in pair)
    assert imported.rigid == ()
    for name in ("tip.x", "tip.y", "tip.z", "wrist.x", "wrist.y", "wrist.z"):
        assert_allclose(imported.outputs[name], beams.outputs[name], atol=2e-6, rtol=0.0)
    assert_allclose(imported.energy["kinetic"][-1], beams.energy["kinetic"][-1], rtol=1e-4)


def test_frequencies_are_those_of_its_vibrations(pair):
    """The full equations about rest, without gravity: condensed as `modes` has it, to 1e-6 of ω²."""
    made = pair[1].replace(gravity=None)
    here = supple.assemble(made)
    problem = absolute(here.rest, (0, 1))
    X = problem.frames.poses(here.X)
    V = np.zeros((problem.frames.count, 6))
    first = instant(problem, X[None], V[None], here.w[None], np.zeros((1, 2)), np.zeros((1, 2)))
    state = State(X, V, V.copy(), V.copy(), np.ascontiguousarray(first.multipliers[0]), here.w.copy())
    found = free_motions(tangent_at(problem, state, np.zeros(2), here.w[:2]), 6).eigenvalues
    assert_allclose(np.abs(found) / (2.0 * np.pi), supple.modes(made, count=6).frequencies_hz, rtol=1e-6)


@pytest.fixture(scope="module")
def by_modes(pair, tmp_path_factory):
    """The same body by its free vibrations: their integrals about the origin of the drawing."""
    numbering = rest(pair[1]).numbering
    body, offset = floating_body(numbering, "upper"), numbering.drawing.offsets["upper"]
    there, C = body.center + offset, body.momentum
    whole, A = modal_condensed(body), np.eye(6)
    A[:3, 3:] = -tilde(there)
    arms, turns = np.cross(np.eye(3), there), np.stack([tilde(e) @ C for e in np.eye(3)])
    folder = tmp_path_factory.mktemp("modes")
    np.savez(
        folder / "upper.npz", nodes=body.nodes + offset, K=body.K, M=body.M, shapes=body.shapes,
        rigid=A.T @ whole.M[:6, :6] @ A, coupling=A.T @ whole.M[:6, 6:],
        widening=np.swapaxes(whole.turning[:, 3:6, 6:], 0, 1) + np.einsum("ji,kin->jkn", arms, turns),
        turning=body.turning, turned=body.turned,
    )  # fmt: skip
    text = ARM.replace("BODY", "{superelement: {file: upper.npz}}")
    (folder / "arm.yaml").write_text(text.replace("point_masses: {load: {at: upper.P, mass: 0.2}}\n", ""))
    return supple.load(folder / "arm.yaml")


def test_a_body_by_its_modes_is_the_body(pair, by_modes):
    """The small mass on it is in its modes. Vibrations, local models and motion in time."""
    imported = pair[1]
    assert_allclose(
        supple.modes(by_modes, count=5).frequencies_hz, supple.modes(imported, count=5).frequencies_hz, rtol=1e-6
    )
    found, exact = (supple.local(made, {"one": 0.3, "two": -0.2}, internal_modes=2) for made in (by_modes, imported))
    for name in ("M", "K", "christoffel", "force"):
        expected = getattr(exact, name)
        assert_allclose(
            np.abs(getattr(found, name)), np.abs(expected), atol=1e-4 * np.abs(expected).max(), err_msg=name
        )
    torques = {"one": lambda t: 6.0 * np.sin(40.0 * t), "two": 1.0}
    runs = [supple.simulate(made, None, torques, until=0.02, step=5e-4) for made in (by_modes, imported)]
    assert_allclose(runs[0].outputs["tip.z"], runs[1].outputs["tip.z"], atol=1e-10)
