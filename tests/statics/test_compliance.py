"""Static compliance and deflection with locked actuators."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple


def refined(mechanism, elements):
    bodies = {name: body.model_copy(update={"elements": elements}) for name, body in mechanism.bodies.items()}
    return mechanism.replace(bodies=bodies)


def test_the_stiffness_at_e_of_the_flexible_four_bar(example):
    """8.13465e3, 3.32502e3, 2.38171e7 N/m with four elements a bar, computed independently; a beam element is exact
    under forces at its ends, so that it does not depend on the mesh."""
    made = example("flexible-four-bar")
    thetas = [[-1.2], [0.0], [0.7]]
    stiffness = supple.compliance(made, thetas, "E.z").stiffness[:, 0, 0]
    assert_allclose(stiffness, [8.13465e3, 3.32502e3, 2.38171e7], rtol=2e-6)
    for elements in (1, 16):
        finer = supple.compliance(refined(made, elements), thetas, "E.z").stiffness[:, 0, 0]
        assert_allclose(finer, stiffness, rtol=1e-7)


def test_a_map_is_its_configurations_one_by_one(example):
    made = example("ralf")
    thetas = np.random.default_rng(1).uniform([0.85, 0.76], [1.3, 1.18], (70, 2))
    together = supple.compliance(made, thetas, "tip")
    assert together.names == ("tip.x", "tip.z", "tip.angle")
    assert together.units == ("m", "m", "rad")
    assert together.values.shape == (70, 3, 3)
    for i in (0, 33, 69):
        assert_allclose(supple.compliance(made, thetas[i], "tip").values, together.values[i], rtol=1e-12)
    assert (np.linalg.eigvalsh(together.values) > 0).all()
    assert_allclose(together.stiffness @ together.values, np.broadcast_to(np.eye(3), (70, 3, 3)), atol=1e-9)


def test_the_compliance_of_springs_alone():
    """A rigid bar on an elastic hinge: 1/k, and the hinge's turn on the bar's length."""
    made = supple.Mechanism(
        plane="xy", points={"A": [0, 0], "B": [0.5, 0]}, bodies={"bar": {"rod": ["A", "B"], "mass": 1}},
        joints={"A": {"weld": ["ground", "bar"], "elastic": {"x": 1e6, "y": 2e6, "angle": 3e3}}},
    )  # fmt: skip
    exact = [[1e-6, 0, 0], [0, 1 / 2e6 + 0.25 / 3e3, 0.5 / 3e3], [0, 0.5 / 3e3, 1 / 3e3]]
    assert_allclose(supple.compliance(made, None, "bar.B").values, exact, atol=1e-15)


def test_sagging_of_the_long_arm(example):
    """The potential's slope along θ is what cylinders hold, elastic or not: statics of the rigid arm."""
    made = example("ralf")
    for at in ("home", {"lift": 0.9, "elbow": 1.1}):
        found = supple.deflection(made, at)
        rigid = supple.local(made, at, rigid=True)
        held = dict(zip(rigid.coordinates, -rigid.force, strict=True))
        assert found.holding_forces.keys() == held.keys()
        for name, force in held.items():
            assert_allclose(found.holding_forces[name], force, rtol=1e-9)
        assert found.of("tip.z") < -1e-3
        assert_allclose(found.of("lift"), 0.0, atol=1e-15)
    assert_allclose(supple.deflection(made, "home").of("tip.z"), -0.0074986, atol=1e-7)  # what supple once printed


def test_reactions_balance_the_weight_and_loads(example):
    made = example("flexible-four-bar").replace(
        gravity=[1.0, 2.0, -9.81], forces={"push": supple.Force(at="E", force=[3.0, -4.0, 5.0])}
    )
    found = supple.deflection(made, {"crank": -0.6})
    masses = {name: 2700 * 2e-4 * body.length for name, body in made.bodies.items()}
    weight = sum(masses.values()) * np.array([1.0, 2.0, -9.81])
    on_ground = found.reactions["A"].force + found.reactions["D"].force  # the second bodies are the bars
    assert_allclose(on_ground, -weight - [3.0, -4.0, 5.0], atol=1e-7)
    # work of the loads on a small displacement: f·u at E by Maxwell and Betti
    alone = supple.deflection(made.replace(gravity=None), {"crank": -0.6})
    values = supple.compliance(made, {"crank": -0.6}, ["E.x", "E.y", "E.z"], preload=False).values
    assert_allclose([alone.of(f"E.{axis}") for axis in "xyz"], values @ [3.0, -4.0, 5.0], rtol=1e-7)


def test_sag_of_every_node_is_that_of_a_finer_condensation(example):
    """Nodes between joints sag although nothing touches them: the energy of the whole mesh is least."""
    made = example("ralf")
    found = supple.deflection(made, "home")
    for number, body in enumerate(found.rest.bodies):
        if body.mesh is None:
            continue
        u = found.displacements(body.name)
        down = found.configuration.X[number, 3:].reshape(3, 3).T @ found.gravity
        weight = body.mesh.M @ body.mesh.rigid_motions()[:, :2] @ down[:2]
        left = body.mesh.K @ u - weight
        touched = np.concatenate([body.mesh.columns(node) for node in body.condensed.interface])
        inner = np.setdiff1d(np.arange(body.mesh.size), touched)
        assert np.abs(left[inner]).max() < 1e-6 * np.abs(weight).max()
        assert np.abs(left[touched]).max() > 1.0  # reactions of the joints


def test_what_cannot_be_asked_is_named(example):
    made = example("flexible-four-bar")
    with pytest.raises(supple.InputError, match=r"no place.*tip"):
        supple.compliance(made, None, [])
    with pytest.raises(supple.InputError, match=r"E\.z, E\.z.* singular.*compliance"):
        _ = supple.compliance(made, None, ["E.z", "E.z"]).stiffness
    with pytest.raises(supple.InputError, match=r"elastic.*replace a rod by a beam"):
        supple.compliance(example("four-bar"), None, "E.z")
    with pytest.raises(supple.InputError, match="one configuration"):
        supple.deflection(made, [[0.0], [0.1]])
    off = made.replace(points={**made.points, "M": (0.25, 0.0, 0.0)})
    with pytest.raises(supple.InputError, match=r'crank\.M.*"crank".*sensors:'):
        supple.compliance(off, None, "crank.M")
