"""Mass properties of rigid bodies against clouds of point masses, for which everything is a plain sum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.geometry.inertia import MassProperties, steiner, unphysical, zero_mass


class Cloud:
    """Point masses: mass, centre, inertia and energy straight from the definition."""

    def __init__(self, rng, count=7):
        self.m, self.r = rng.uniform(0.1, 1.0, count), rng.standard_normal((count, 3))

    def properties(self):
        mass = self.m.sum()
        center = self.m @ self.r / mass
        J = sum(m * ((d @ d) * np.eye(3) - np.outer(d, d)) for m, d in zip(self.m, self.r - center, strict=True))
        return MassProperties(mass, center, J)

    def energy(self, v, w):
        speeds = v + np.cross(w, self.r)
        return 0.5 * self.m @ (speeds**2).sum(1)


@pytest.mark.parametrize("seed", range(4))
def test_spatial_inertia_gives_the_kinetic_energy_of_every_point(seed):
    rng = np.random.default_rng(seed)
    cloud = Cloud(rng)
    M = cloud.properties().spatial()
    assert_allclose(M, M.T, atol=1e-14)
    for v, w in rng.standard_normal((5, 2, 3)):
        twist = np.concatenate([v, w])
        assert_allclose(0.5 * twist @ M @ twist, cloud.energy(v, w), rtol=1e-13)  # a sum of a few dozen terms


@pytest.mark.parametrize("seed", range(4))
def test_two_bodies_as_one_are_the_union_of_their_points(seed):
    rng = np.random.default_rng(seed)
    first, second = Cloud(rng), Cloud(rng, 4)
    both = Cloud(rng)
    both.m, both.r = np.append(first.m, second.m), np.vstack([first.r, second.r])
    found, expected = first.properties() + second.properties(), both.properties()
    assert_allclose(found.mass, expected.mass, rtol=1e-14)
    assert_allclose(found.center, expected.center, atol=1e-14)
    assert_allclose(found.inertia, expected.inertia, atol=1e-13)
    assert_allclose(found.spatial(), first.properties().spatial() + second.properties().spatial(), atol=1e-13)


def test_adding_nothing_changes_nothing():
    body = Cloud(np.random.default_rng(5)).properties()
    for total in (body + zero_mass(), zero_mass() + body):
        assert_allclose(total.spatial(), body.spatial(), atol=1e-14)
    assert not (zero_mass() + zero_mass()).spatial().any()


def test_massless_parts_keep_their_inertia():
    """A rotor given by its inertia alone."""
    rotor = MassProperties(0.0, np.array([1.0, 0.0, 0.0]), np.diag([1.0, 2.0, 2.5]))
    body = Cloud(np.random.default_rng(6)).properties()
    total = rotor + body
    assert_allclose(total.center, body.center, atol=1e-15)
    assert_allclose(total.inertia, body.inertia + rotor.inertia, atol=1e-14)


def test_steiner_is_a_point_mass_at_a_distance():
    assert_allclose(steiner(2.0, [3.0, 0.0, 0.0]), np.diag([0.0, 18.0, 18.0]), atol=1e-14)


@pytest.mark.parametrize("seed", range(10))
def test_inertias_of_real_bodies_are_physical(seed):
    assert unphysical(Cloud(np.random.default_rng(seed)).properties().inertia) is None


@pytest.mark.parametrize(
    "inertia",
    [np.diag([1.0, 1.0, 2.1]), np.diag([-0.1, 1.0, 1.0]), [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]],
)
def test_inertias_of_no_body_are_refused_with_a_reason(inertia):
    assert unphysical(inertia)


def test_thin_bodies_are_physical():
    assert unphysical(np.diag([0.0, 1.0, 1.0])) is None  # a rod
    assert unphysical(np.diag([1.0, 1.0, 2.0])) is None  # a plate
    assert unphysical(np.zeros((3, 3))) is None  # a point
