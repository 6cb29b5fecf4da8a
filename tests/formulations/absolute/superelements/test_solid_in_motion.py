"""A mesh of bricks, its ends tied to hinges, swings as a Timoshenko beam does: positions and reactions."""

from __future__ import annotations

import numpy as np
import pytest

import supple

SIDE = 0.05
SWING = """
supple: 1
name: swing
points: {A: [0, 0, 0], B: [1, 0, 0], C: [1.5, 0, 0.3]}
materials: {alu: {youngs_modulus: 70 GPa, density: 2700, poisson: 0.3}}
sections: {square: {rectangle: [50 mm, 50 mm]}}
bodies:
  bar: BODY
  tool: {mass: 5, center: C, inertia: [0.1, 0.1, 0.1]}
joints:
  A: {revolute: [ground, bar], axis: y}
  B: {revolute: [bar, tool], axis: y}
actuators: {A: {joint: A}, B: {joint: B}}
sensors: {tip: {position: tool.C}}
"""


@pytest.fixture(scope="module")
def bricks(tmp_path_factory):
    skfem = pytest.importorskip("skfem")
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    folder = tmp_path_factory.mktemp("swing")
    across = np.linspace(-SIDE / 2, SIDE / 2, 3)
    basis = skfem.Basis(
        skfem.MeshHex.init_tensor(np.linspace(0.0, 1.0, 11), across, across),
        skfem.ElementVector(skfem.ElementHex2()), intorder=4,
    )  # fmt: skip
    K = linear_elasticity(*lame_parameters(70e9, 0.3)).assemble(basis)
    M = skfem.BilinearForm(lambda u, v, w: 2700.0 * skfem.helpers.dot(u, v)).assemble(basis)
    at = np.round(basis.doflocs.T, 9)
    order = np.lexsort((np.arange(len(at)), at[:, 2], at[:, 1], at[:, 0]))  # three rows a place, x, y, z in turn
    nodes, parts = at[order].reshape(-1, 3, 3)[:, 0], {}
    for name, matrix in (("K", K[order][:, order].tocoo()), ("M", M[order][:, order].tocoo())):
        parts |= {f"{name}_row": matrix.row, f"{name}_col": matrix.col, f"{name}_data": matrix.data}
    np.savez(folder / "bar.npz", nodes=nodes, **parts)
    faces = [np.flatnonzero(np.abs(nodes[:, 0] - x) < 1e-9).tolist() for x in (0.0, 1.0)]
    ties = f"{{A: {{nodes: {faces[0]}, tie: average}}, B: {{nodes: {faces[1]}}}}}"
    (folder / "swing.yaml").write_text(
        SWING.replace("BODY", f"{{superelement: {{file: bar.npz, interfaces: {ties}}}}}")
    )
    return supple.load(folder / "swing.yaml")


@pytest.mark.slow
def test_bricks_swing_as_a_beam(bricks):
    """Over 14 cm, bending by 0.4 mm: 6e-8 m apart; reactions 4e-4, as bricks and beams shear a little differently."""
    beam = SWING.replace("BODY", "{beam: [A, B], section: square, material: alu, elements: 8, theory: timoshenko}")
    torque = {"A": lambda t: 100.0 * np.sin(np.pi * min(t, 0.1) / 0.2) ** 2}
    found, exact = (
        supple.simulate(made, None, torque, {"A": np.pi / 2}, until=0.2, step=4e-4)
        for made in (bricks, supple.loads(beam))
    )
    for name in ("tip.x", "tip.z"):
        np.testing.assert_allclose(found.outputs[name], exact.outputs[name], rtol=0.0, atol=3e-7)
    for joint in ("A", "B"):
        one, other = found.reaction(joint).force, exact.reaction(joint).force
        np.testing.assert_allclose(one, other, rtol=0.0, atol=2e-3 * np.abs(other).max())
