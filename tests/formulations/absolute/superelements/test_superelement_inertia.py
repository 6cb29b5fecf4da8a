"""Superelements against mass points that move as x = r + R (X + S q): energy, forces, and the mass of the iteration."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from point_bodies import PointBody

from supple.formulations.absolute.elements import superelement_tangents
from supple.formulations.absolute.step_work import LOST, STRAIN
from supple.formulations.absolute.superelements.superelement_arrays import (
    PlacedBody,
    coordinate_frames,
    superelement_arrays,
)
from supple.formulations.absolute.superelements.superelement_forces import superelement_forces, superelement_kinetic
from supple.geometry.rotation import exponential

GRAVITY = np.array([0.3, -9.81, 0.0])
PLANE, AXIS_Z = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])


class Case:
    """Two bodies with different numbers of coordinates, moving at random."""

    def __init__(self, planar):
        rng = np.random.default_rng(4 + planar)
        self.planar, self.d, held = planar, 3 if planar else 6, 2 if planar else 3
        self.column = np.array([0, 1, 5] if planar else range(6))
        self.points = [PointBody(rng, coordinates=n, planar=planar) for n in (5, 3)]
        self.bodies = [body.floating() for body in self.points]
        placed, frames = [], 0
        for body in self.bodies:
            root = rng.normal(size=(body.size, body.size))
            placed.append(PlacedBody(body, -1, frames, frames + 1, root @ root.T))
            frames += 1 + coordinate_frames(body.size, planar)
        self.placed, self.elements = placed, superelement_arrays(placed, planar)
        self.X = np.zeros((frames + 1, 12))
        self.X[:, 3:] = np.eye(3).ravel()
        self.V, self.A = rng.normal(size=(2, frames, self.d))
        self.motions = []
        for item in placed:
            turn = rng.normal(size=3) * (AXIS_Z if planar else 1.0)
            self.X[item.frame, :3] = rng.normal(size=3) * (PLANE if planar else 1.0)
            self.X[item.frame, 3:] = exponential(turn).ravel()
            n = item.body.size
            q = 0.2 * rng.normal(size=n)
            for i in range(n, held * coordinate_frames(n, planar)):  # of no shape: they never move
                self.V[item.first + i // held, i % held] = self.A[item.first + i // held, i % held] = 0.0
            for i in range(n):
                self.X[item.first + i // held, i % held] = q[i]
            self.motions.append((q, self._of(self.V, item), self._of(self.A, item)))

    def _of(self, values, item):
        full = np.zeros(6)
        full[self.column] = values[item.frame]
        held = 2 if self.planar else 3
        return full[:3], full[3:], np.array([values[item.first + i // held, i % held] for i in range(item.body.size)])


@pytest.fixture(scope="module", params=[True, False], ids=["plane", "space"])
def case(request):
    return Case(request.param)


def forces(case, gravity=GRAVITY):
    work = SimpleNamespace(forces=np.zeros((len(case.V), case.d)), account=np.zeros(5))
    potential = superelement_forces(case.elements, case.column, gravity, case.X, case.V, case.A, work)
    return work, potential


def test_kinetic_energy_is_that_of_the_points(case):
    expected = 0.0
    for item, points, (q, velocity, _) in zip(case.placed, case.points, case.motions, strict=True):
        R = case.X[item.frame, 3:].reshape(3, 3)
        speeds = points.motion(item.body.center, R, velocity, q)
        expected += 0.5 * points.masses @ (speeds**2).sum(axis=1)
    assert superelement_kinetic(case.elements, case.column, case.X, case.V) == pytest.approx(expected, rel=1e-13)


def test_forces_are_those_that_move_the_points(case):
    """Σ δxᵀ m (ẍ - g) for every virtual motion of frame and coordinates, and elasticity and damping beside it."""
    work, _ = forces(case)
    for item, points, (q, velocity, accelerations) in zip(case.placed, case.points, case.motions, strict=True):
        R = case.X[item.frame, 3:].reshape(3, 3)
        _, second = points.motion(item.body.center, R, velocity, q, accelerations)
        inertial = points.masses[:, None] * (second - GRAVITY)
        local = inertial @ R
        expected = np.concatenate(
            [inertial.sum(axis=0), np.cross(points.X - item.body.center + points.S @ q, local).sum(axis=0)]
        )
        np.testing.assert_allclose(-work.forces[item.frame], expected[case.column], atol=1e-12 * np.abs(expected).max())
        on_q = np.einsum("pin,pi->n", points.S, local) + points.K @ q + item.damping @ velocity[2]
        found = np.array([case._of(work.forces, item)[2]])[0]
        np.testing.assert_allclose(-found, on_q, atol=1e-12 * np.abs(on_q).max())


def test_potential_strain_and_loss(case):
    work, potential = forces(case)
    strain = lost = height = 0.0
    for item, points, (q, velocity, _) in zip(case.placed, case.points, case.motions, strict=True):
        R, r = case.X[item.frame, 3:].reshape(3, 3), case.X[item.frame, :3]
        strain += 0.5 * q @ points.K @ q
        lost += velocity[2] @ item.damping @ velocity[2]
        height -= points.masses @ ((r + (points.X - item.body.center + points.S @ q) @ R.T) @ GRAVITY)
    assert work.account[STRAIN] == pytest.approx(strain, rel=1e-13)
    assert work.account[LOST] == pytest.approx(-lost, rel=1e-13)
    assert potential == pytest.approx(strain + height, rel=1e-12)


def test_mass_in_the_iteration_matrix_is_the_slope_of_the_forces(case):
    """Forces are linear in accelerations; damping and stiffness of the coordinates come with their factors. The matrix
    has the displacements of the floating frame in its own axes."""
    none = np.zeros(3)
    rest, _ = forces(case, none)
    for e, item in enumerate(case.placed):
        n = item.body.size
        size = case.d + n
        places = np.zeros((len(case.placed), *case.elements.places.shape[1:]), dtype=np.int64)
        places[:] = size * size  # the other body's go to a place of their own
        places[e, :size, :size] = np.arange(size * size).reshape(size, size)
        work = SimpleNamespace(matrix=np.zeros(size * size + 1))
        superelement_tangents(case.elements._replace(places=places), case.column, case.X, (0.3, 0.01), work)
        half = work.matrix[:-1].reshape(size, size)
        found = half + np.triu(half, 1).T
        assert not np.tril(half, -1).any()
        found[case.d :, case.d :] -= 0.3 * item.damping + 0.01 * item.body.K
        shown = 2 if case.planar else 3
        R = case.X[item.frame, 3:].reshape(3, 3)[:shown, :shown]
        found[:shown] = R @ found[:shown]
        found[:, :shown] = found[:, :shown] @ R.T
        columns = case.elements.columns[e, :size]
        for k, column in enumerate(columns):
            moved = Case(case.planar)
            moved.A.ravel()[column] += 1.0
            slope = -(forces(moved, none)[0].forces - rest.forces).ravel()[columns]
            np.testing.assert_allclose(found[:, k], slope, atol=1e-11 * np.abs(found).max())


def test_a_motion_of_everything_changes_nothing(case):
    """Turned about z and moved, gravity with it: forces turn along, moments and forces on coordinates stay."""
    still, _ = forces(case)
    moved, R = Case(case.planar), exponential(np.array([0.0, 0.0, 0.8]))
    for item in case.placed:
        frame = item.frame
        moved.X[frame, :3] = R @ case.X[frame, :3] + [3.0, -2.0, 0.0]
        moved.X[frame, 3:] = (R @ case.X[frame, 3:].reshape(3, 3)).ravel()
        for values in (moved.V, moved.A):
            linear = np.zeros(3)
            kept = case.column[case.column < 3]
            linear[kept] = values[frame, : len(kept)]
            values[frame, : len(kept)] = (R @ linear)[kept]
    found, _ = forces(moved, R @ GRAVITY)
    size = np.abs(still.forces).max()
    for item in case.placed:
        kept = len(case.column[case.column < 3])
        turned = np.zeros(3)
        turned[:kept] = still.forces[item.frame, :kept]
        np.testing.assert_allclose(found.forces[item.frame, :kept], (R @ turned)[:kept], atol=1e-12 * size)
        np.testing.assert_allclose(found.forces[item.frame, kept:], still.forces[item.frame, kept:], atol=1e-12 * size)
        np.testing.assert_allclose(case._of(found.forces, item)[2], case._of(still.forces, item)[2], atol=1e-12 * size)
    assert found.account[STRAIN] == pytest.approx(still.account[STRAIN], rel=1e-14)
