"""Forces of flexible mechanisms come from one potential; dampers and the law of damping from one quadratic form."""

import numpy as np
import pytest
from flexible_cases import CASES, FURNISHED, FlexibleCase
from nodal_motion import NodalMotion, slopes
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import supple

GRAVITY_ALONE = [name for name in CASES if name not in ("furnished", "four-bar in space")]


@pytest.mark.parametrize("name", GRAVITY_ALONE)
def test_gravity_on_modes_is_the_slope_of_the_potential_of_all_masses(name):
    case = CASES[name]
    model, motion, s = case.local(), NodalMotion(case), len(case.theta)
    count = len(model.M) - s
    zero = np.zeros(count)
    V = motion.gravity_potential
    assert_allclose(slopes(lambda t: V(t, zero), case.at, case.step), -model.force[:s], rtol=1e-8)
    size = np.abs(model.force[s:]).max()
    for a, unit in enumerate(np.eye(count)):
        slope = 0.5 * (V(case.at[None], unit) - V(case.at[None], -unit))[0]
        assert_allclose(-slope, model.force[s + a], rtol=0, atol=1e-9 * size)
        cross = slopes(lambda t, unit=unit: 0.5 * (V(t, unit) - V(t, -unit)), case.at, case.step)
        limit = 1e-7 * np.abs(model.dforce[s:, :s]).max()
        assert_allclose(-cross, model.dforce[s + a, :s], rtol=0, atol=limit)
        assert_allclose(-cross, model.dforce[:s, s + a], rtol=0, atol=limit)


def test_springs_and_forces_on_modes_are_the_slope_of_their_potential():
    """½ k (ℓ - ℓ₀)² of the spring between places, -F·x of a force, written out with the motion of the nodes."""
    case = CASES["furnished"]
    bare = "\n".join(line for line in FURNISHED.splitlines() if not line.startswith(("gravity:", "  hinge:")))
    case = FlexibleCase(bare, case.theta, case.constraint, case.internal, case.step)
    model, count = case.local(), len(case.local().M) - 1
    numbering = model.configuration.rest.numbering

    def place(found, body, name, delta):
        b, X = numbering.body_index(body), found.configuration.X
        at = numbering.place(f"{body}.{name}")[1]
        mesh = found.system.rest.bodies[b].mesh
        node = mesh.node_at(at)
        u = np.zeros((len(X), 3))
        u[:, :2] = found.displacements(body, delta)[:, mesh.columns(node)[:2]]
        R = X[:, b, 3:].reshape(-1, 3, 3)
        return X[:, b, :3] + np.einsum("nij,nj->ni", R, at + u)

    def V(theta, delta):
        found = case.local(theta)
        stretch = np.linalg.norm(place(found, "crank", "F", delta) - [0.2, -0.3, 0], axis=1) - 0.3
        return 450 * stretch**2 - place(found, "follower", "E", delta) @ [3, 5, 0]

    assert_allclose(-slopes(lambda t: V(t, np.zeros(count)), case.at, case.step), model.force[:1], rtol=1e-7)
    for a, unit in enumerate(np.eye(count)):
        small = 1e-4 * unit
        slope = (V(case.at[None], small) - V(case.at[None], -small))[0] / 2e-4
        assert_allclose(-slope, model.force[1 + a], rtol=0, atol=1e-6 * np.abs(model.force[1:]).max())


def test_gradient_of_the_forces_is_symmetric(flexible_case):
    """At rest the stiffness matrix K - ∂p/∂η is symmetric: nothing circulates."""
    model = flexible_case.local()
    stiffness = model.K - model.dforce
    rounding = 1e-10 * np.abs(model.dforce).max() + 1e-12 * np.abs(model.K).max()
    assert_allclose(stiffness, stiffness.T, rtol=0, atol=rounding)
    s = len(flexible_case.theta)
    assert not model.dforce[s:, s:].any()


def test_the_locked_mechanism_sags_as_the_nodes_say():
    """K_δδ δ = p_δ with all modes that there are is the static deflection, which is of first order in the loads."""
    case = CASES["planar four-bar"]
    model = supple.local(case.mechanism, case.at, constraint_modes=["E.x", "E.z"], internal_modes=9, preload=False)
    s = 1
    delta = np.linalg.solve(model.K[s:, s:], model.force[s:])
    found = supple.deflection(case.mechanism, case.at)
    by_name = dict(zip(model.coordinates[s:], delta, strict=True))
    assert_allclose(by_name["E.x"], found.of("E.x"), rtol=1e-6)
    assert_allclose(by_name["E.z"], found.of("E.z"), rtol=1e-6)


def test_dampers_dissipate_what_their_measures_say():
    """D_d of a damper between places and of viscous friction: c ℓ̇² for every rate of η."""
    case = CASES["furnished"]
    model = case.local()
    # The sensor sees the damper's length: it ends on the other of two bodies that the hinge E holds together.
    jacobian = np.concatenate([model.outputs["apart"].rigid, model.outputs["apart"].modes])
    bare = "\n".join(line for line in FURNISHED.splitlines() if not line.startswith(("  dash:", "dampers:")))
    without = FlexibleCase(bare, case.theta, case.constraint, case.internal).local()
    expected = 12.0 * np.outer(jacobian, jacobian)
    assert_allclose(model.damping - without.damping, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert np.linalg.eigvalsh(without.damping)[0] > -1e-12
    assert without.damping[0, 0] > 0.02


@pytest.mark.parametrize(("law", "ratio"), [("modal: 0.01", 0.01), ("structural: 0.03", 0.015)])
def test_every_mode_has_the_ratio_of_the_law_of_damping(law, ratio):
    case = CASES["planar four-bar"]
    made = supple.loads(case.text + f"damping: {{{law}}}\n")
    model = supple.local(made, case.at, constraint_modes=["E.x"], internal_modes=3, preload=False)  # loads do not damp
    M, K, D = (x[1:, 1:] for x in (model.M, model.K, model.damping))
    squares, modes = eigh(K, M)
    assert_allclose(modes.T @ D @ modes, np.diag(2 * ratio * np.sqrt(squares)), atol=1e-9 * np.sqrt(squares[-1]))
    assert not model.damping[0].any()


def test_rayleigh_damping_is_a_sum_of_mass_and_stiffness():
    case = CASES["planar four-bar"]
    made = supple.loads(case.text + "damping: {rayleigh: [0.4, 1e-5]}\n")
    model = supple.local(made, case.at, constraint_modes=["E.x"], internal_modes=3, preload=False)  # loads do not damp
    M, K, D = (x[1:, 1:] for x in (model.M, model.K, model.damping))
    assert_allclose(D, 0.4 * M + 1e-5 * K, rtol=1e-12, atol=1e-12 * np.abs(D).max())


def test_damping_of_an_elastic_joint_dissipates():
    """elastic_damping c beside a stiffness k: with c = βk in all that gives way, D_d is β times its stiffness."""
    text = CASES["planar four-bar"].text.replace("youngs_modulus: 70 GPa", "youngs_modulus: 7000000 GPa")
    hinge = "B: {revolute: [crank, coupler]}"
    assert hinge in text
    soft = hinge.replace("]}", "], elastic: {x: 2e4, z: 1e4}, elastic_damping: {x: 20, z: 10}}")
    model = supple.local(supple.loads(text.replace(hinge, soft)), [0.4], constraint_modes=["E.x"])
    assert_allclose(model.damping[1, 1], 1e-3 * model.K[1, 1], rtol=1e-3)
