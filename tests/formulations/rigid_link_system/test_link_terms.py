"""Every term of the equations of the rigid link system against derivatives of energies written on their own."""

from __future__ import annotations

import numpy as np
import pytest
from link_energies import Chain
from numpy.testing import assert_allclose

import supple
from supple.formats.mechanism_file import loads
from supple.formulations.rigid_link_system.link_system import rigid_link_system
from supple.formulations.rigid_link_system.link_terms import (
    displaced_forces,
    elastic_forces,
    gravity_forces,
    gyroscopic_forces,
    link_mass,
    link_state,
    rigid_forces,
)
from supple.formulations.rigid_link_system.tree_freedoms import link_bias

ARM = """
supple: 1
name: arm
gravity: [1.0, -2.0, -9.0]
points: {O: [0.1, 0, 0.2], P: [0.5, 0.3, 0.4], Q: [0.5, 0.3, 0.9], T: [0.9, 0.1, 0.7]}
materials: {alu: {youngs_modulus: 70e9, poisson: 0.3, density: 2700}}
sections: {thick: {rectangle: [0.03, 0.02]}, thin: {tube: [0.02, 0.016]}}
bodies:
  upper: {beam: [O, P], section: thick, material: alu, elements: 2, up: [1, 0, 2]}
  slide: {mass: 0.7, center: [0.55, 0.3, 0.6], inertia: [0.02, 0.03, 0.025], at: P}
  fore: {beam: [Q, T], section: thin, material: alu, elements: 1}
point_masses: {tip: {at: fore.T, mass: 0.4, inertia: 1e-3}}
frames: {tip: {on: fore, at: T}}
joints:
  shoulder: {universal: [ground, upper], at: O, axes: [[0, 0, 1], [0.6, 0.8, 0]]}
  rail: {prismatic: [slide, upper], at: P, axis: [0, 0.6, 0.8]}
  elbow: {revolute: [slide, fore], at: Q, axis: [1, 0, 0]}
coordinates: [shoulder.first, shoulder.second, rail, elbow]
"""
AXES = [  # body, parent, axis, point, slides: as drawn, in the order of q; the rail measures backwards
    (0, -1, [0, 0, 1], [0.1, 0, 0.2], False),
    (0, -1, [0.6, 0.8, 0], [0.1, 0, 0.2], False),
    (1, 0, [0, -0.6, -0.8], [0.5, 0.3, 0.4], True),
    (2, 1, [1, 0, 0], [0.5, 0.3, 0.9], False),
]
AT = [0.4, -0.3, 0.1, 0.7]


class Terms:
    """Of the arm at one state, and of energies there."""

    def __init__(self):
        self.mechanism = loads(ARM)
        self.system = system = rigid_link_system(self.mechanism)
        assert system.tree.labels == ("shoulder.first", "shoulder.second", "rail", "elbow")
        joints = [(*item[:2], np.array(item[2], float), np.array(item[3], float), item[4]) for item in AXES]
        self.chain = Chain(system, joints, system.numbering.drawn)
        random = np.random.default_rng(5)
        self.q = np.array(AT)
        self.n, self.n_u = len(AT), 6 * system.nodes
        self.dq = random.standard_normal(self.n)
        self.u, self.du = 1e-2 * random.standard_normal((2, self.n_u))
        self.X = supple.assemble(self.mechanism, AT).X
        self.state = link_state(system, self.X, self.u)
        self.bias = link_bias(system.tree, self.X, self.state.twists, self.dq)
        rates = np.einsum("nji,nsj->nsi", self.state.R, self.du.reshape(-1, 2, 3))
        self.gyroscopic = gyroscopic_forces(self.state, self.bias, rates)

    def mass(self, q, u):
        """∂²T/∂ẇ² by polarisation: T is a square."""
        size = self.n + self.n_u
        unit = np.eye(size)
        T = lambda w: self.chain.kinetic(q, w[: self.n], u, w[self.n :])  # noqa: E731
        chosen = self.chosen()
        single = {i: T(unit[i]) for i in chosen}
        M = np.zeros((len(chosen), len(chosen)))
        for a, i in enumerate(chosen):
            for b, j in enumerate(chosen[: a + 1]):
                M[a, b] = M[b, a] = T(unit[i] + unit[j]) - single[i] - single[j]
        return M

    def chosen(self):
        """All of q, and displacements and turns of a few nodes: enough to see every block."""
        n = self.n
        return [*range(n), *(n + k for k in (2, 4, 10, 16, 18, 21, 24, 29, 30))]

    def inertia_forces(self, u, du):
        """d/dt ∂T/∂ẇ - ∂T/∂w with ẅ = 0: changes of M along the motion, and of T with w, by differences."""
        w, dw = np.concatenate([self.q, u]), np.concatenate([self.dq, du])
        n = self.n

        def momentum(t, k):
            """∂T/∂ẇ_k at w + t ẇ: T is a square, so that central differences with a step of one are exact."""
            here, one = w + t * dw, np.eye(len(w))[k]
            T = [self.chain.kinetic(here[:n], v[:n], here[n:], v[n:]) for v in (dw + one, dw - one)]
            return 0.5 * (T[0] - T[1])

        def energy(t, k):
            here = w + t * np.eye(len(w))[k]
            return self.chain.kinetic(here[:n], dw[:n], here[n:], dw[n:])

        return np.array([slope(momentum, k) - slope(energy, k) for k in self.chosen()])


def slope(f, k, h=0.02):
    """By central differences of order eight."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(c * (f((i + 1) * h, k) - f(-(i + 1) * h, k)) for i, c in enumerate(weights)) / h


@pytest.fixture(scope="module")
def arm():
    return Terms()


def test_links_are_where_the_mechanism_is_assembled(arm):
    for b, (R, x) in enumerate(arm.chain.poses(arm.q)):
        assert_allclose(x, arm.X[b, :3], atol=1e-12)
        assert_allclose(R, arm.X[b, 3:].reshape(3, 3), atol=1e-12)


def test_twists_are_derivatives_of_poses(arm):
    for k in range(arm.n):
        step = 1e-30j * np.eye(arm.n)[k]
        for b, (R, x) in enumerate(arm.chain.poses(arm.q + step)):
            spin = R.real.T @ R.imag / 1e-30
            assert_allclose(R.real.T @ x.imag / 1e-30, arm.state.twists.v[b, :, k], atol=1e-13)
            assert_allclose([spin[2, 1], spin[0, 2], spin[1, 0]], arm.state.twists.w[b, :, k], atol=1e-13)


def test_mass_is_the_second_derivative_of_kinetic_energy_to_first_order_in_u(arm):
    plus, minus, still = (arm.mass(arm.q, sign * arm.u) for sign in (1.0, -1.0, 0.0))
    first = 0.5 * (plus - minus)  # M is a square in u: what is odd is of first order
    ours = link_mass(arm.state)
    none = link_mass(link_state(arm.system, arm.X))
    n, nodes = arm.n, [k - arm.n for k in arm.chosen()[arm.n :]]
    scale = np.abs(still).max()  # rounding of differences of squares
    assert_allclose(none.qq, still[:n, :n], atol=1e-12 * scale)
    assert_allclose(none.qu[:, nodes], still[:n, n:], atol=1e-12 * scale)
    assert_allclose(ours.uu.toarray()[np.ix_(nodes, nodes)], still[n:, n:], atol=1e-12 * scale)
    assert_allclose((ours.qq - none.qq), first[:n, :n], atol=1e-12 * scale)
    assert_allclose((ours.qu - none.qu)[:, nodes], first[:n, n:], atol=1e-12 * scale)
    assert np.abs(first[:n, :n]).max() > 1e-4 * scale
    assert np.abs(first[:n, n:]).max() > 1e-6 * scale


@pytest.mark.slow
def test_velocity_forces_are_those_of_lagrange_to_first_order_in_u(arm):
    n, nodes = arm.n, [k - arm.n for k in arm.chosen()[arm.n :]]
    zero = np.zeros(arm.n_u)
    alone = arm.inertia_forces(zero, zero)
    F_r = rigid_forces(arm.state, arm.bias)
    scale = np.abs(alone).max()
    assert_allclose(np.concatenate([F_r.q, F_r.u[nodes]]), alone, atol=1e-9 * scale)  # of differences of order 8
    # The forces are squares in (u, u̇): what is odd is of first order.
    for u, du, found in ((arm.u, zero, displaced_forces(arm.state, arm.bias)), (zero, arm.du, arm.gyroscopic)):
        first = 0.5 * (arm.inertia_forces(u, du) - arm.inertia_forces(-u, -du))
        assert_allclose(np.concatenate([found.q, found.u[nodes]]), first, atol=1e-9 * scale)
        assert np.abs(first[:n]).max() > 1e-4 * scale
        assert np.abs(first[n:]).max() > 1e-5 * scale


def gradient(f, w):
    """Of a function that is analytic, by complex steps."""
    return np.array([np.imag(f(w + 1e-30j * e)) / 1e-30 for e in np.eye(len(w))])


def test_gravity_is_the_gradient_of_its_potential(arm):
    V = lambda w: arm.chain.gravity(w[: arm.n], w[arm.n :])  # noqa: E731
    ours = gravity_forces(arm.state)
    expected = gradient(V, np.concatenate([arm.q, arm.u]))  # the potential is linear in u
    assert_allclose(np.concatenate([ours.q, ours.u]), expected, atol=1e-12 * np.abs(expected).max())
    assert np.abs(gravity_forces(link_state(arm.system, arm.X)).q - ours.q).max() > 1e-5 * np.abs(ours.q).max()


def test_elastic_forces_are_the_gradient_of_strain_energy(arm):
    V = lambda w: arm.chain.strain(w[: arm.n], w[arm.n :])  # noqa: E731
    ours = elastic_forces(arm.state)
    expected = gradient(V, np.concatenate([arm.q, arm.u]))
    assert_allclose(np.concatenate([ours.q, ours.u]), expected, atol=1e-12 * np.abs(expected).max())
    assert np.abs(ours.q).max() > 1e-3 * np.abs(ours.u).max() * np.abs(arm.u).max()


def test_a_rigid_motion_of_all_nodes_strains_nothing(arm):
    """K_uu: a turn of the whole arm about a point, in u alone."""
    about, turn = np.array([0.2, -0.1, 0.3]), np.array([1e-3, 2e-3, -1e-3])
    u = []
    for b, (R, x) in enumerate(arm.chain.poses(arm.q)):
        mesh = arm.system.meshes[b]
        for place in np.zeros((1, 3)) if mesh is None else mesh.nodes:
            u += [*np.cross(turn, x + R @ place - about), *turn]
    force = elastic_forces(link_state(arm.system, arm.X, np.array(u)))
    assert np.abs(force.u).max() < 1e-9 * np.abs(arm.system.stiffness).max() * np.abs(u).max()
