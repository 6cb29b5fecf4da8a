"""Constraint and internal modes of small made-up systems and all their derivatives, against a dense solution.

    diag(Λ) z + Cᵀλ = ω² z,   C z = c λ
with rows C(t) that turn smoothly with two parameters, some of them redundant, some with a compliance c.
"""

import numpy as np
import pytest
from nodal_motion import slopes
from numpy.testing import assert_allclose
from scipy.linalg import eigh, null_space

from supple.formulations.elastic_rest.block_modes import Search, lowest_modes, make_start
from supple.formulations.elastic_rest.elastic_rest import ElasticArrays
from supple.formulations.elastic_rest.joint_stiffness_over_position import StiffnessTables
from supple.formulations.elastic_rest.response_operator import Structure
from supple.parameterization.internal_modes import (
    DONE,
    EXACT,
    SPARE,
    Eigenmodes,
    ModeShapes,
    TrackedModes,
    elastic_modes,
)
from supple.parameterization.mode_choice import SORTED, STRAIN, SUBSPACE
from supple.parameterization.mode_matching import Following

STEP = 2e-3


class Made:
    """Λ of three free bodies and rows between them: hard, one of them twice, then soft, then loaded ones last."""

    def __init__(self, seed, hard=4, soft=2, loaded=2):
        rng = np.random.default_rng(seed)
        self.stiffness = np.concatenate([np.zeros(4), rng.uniform(1.0, 8.0, 6), rng.uniform(20.0, 400.0, 10)])
        n, m = len(self.stiffness), hard + soft + loaded
        self.base, self.ways, self.bends = (rng.standard_normal(shape) for shape in ((m, n), (2, m, n), (2, m, n)))
        self.soft, self.loaded = slice(hard + 1, hard + 1 + soft), loaded
        self.compliance = np.zeros(m + 1)
        self.compliance[self.soft] = rng.uniform(0.01, 0.1, soft)

    def rows(self, t):
        C = self.base + np.tensordot(np.sin(t), self.ways, 1) * 0.5 + np.tensordot(np.square(t), self.bends, 1) * 0.3
        return np.insert(C, 4, C[0] - 2.0 * C[1], axis=0)  # a redundant row

    def slopes_of_rows(self, t):
        dC = 0.5 * np.cos(t)[:, None, None] * self.ways + 0.6 * t[:, None, None] * self.bends
        return np.insert(dC, 4, dC[:, 0] - 2.0 * dC[:, 1], axis=1)

    def dense(self, t, count):
        """Constraint modes, internal modes by rising ω², and stiffness of the former."""
        C, c = self.rows(t), self.compliance
        soft = c > 0.0
        K = np.diag(self.stiffness) + C[soft].T @ np.diag(1.0 / c[soft]) @ C[soft]
        hard = C[~soft]
        N = null_space(hard, rcond=1e-12)
        squares, vectors = eigh(N.T @ K @ N)
        internal = (N @ vectors[:, :count]).T
        ends = np.zeros((len(hard), self.loaded))
        ends[len(hard) - self.loaded :] = np.eye(self.loaded)
        particular = np.linalg.pinv(hard) @ ends
        shapes = particular - N @ np.linalg.solve(N.T @ K @ N, N.T @ K @ particular)
        return shapes.T, internal, squares[:count], shapes.T @ K @ shapes

    def strains(self, t, modes):
        """In the bodies and in the soft rows, (k, n + m): orthonormal, as the modes are in elastic energy."""
        root = np.sqrt(np.where(self.compliance > 0.0, self.compliance, np.inf))
        found = np.hstack([modes * np.sqrt(self.stiffness), modes @ (self.rows(t) / root[:, None]).T])
        # The root of the energies of modes that are mixed is a matrix.
        energy, turn = eigh(found @ found.T)
        return turn @ np.diag(energy**-0.5) @ turn.T @ found

    def stresses(self, t, modes):
        """What a unit of each strain above is counted with, as the kernel takes it."""
        root = np.sqrt(np.where(self.compliance > 0.0, self.compliance, np.inf))
        return self.strains(t, modes) * np.concatenate([np.sqrt(self.stiffness), 1.0 / root])

    def kernel(self, t, count, tracking, reference):
        n, d = len(self.stiffness), self.loaded + count
        Psi, dPsi, K, dK = np.zeros((d, n)), np.zeros((2, d, n)), np.zeros((d, d)), np.zeros((2, d, d))
        spectrum = TrackedModes(np.zeros(count), np.zeros(1), np.zeros(1))
        part_i = np.array([[0, 0, n]], dtype=np.int64)
        column = np.zeros(n, dtype=np.int64)  # all of them translations, between no rows
        no_rows = np.zeros((0, 4), dtype=np.int64), np.zeros((0, 17)), np.zeros(0)
        none, empty = np.zeros(0, dtype=np.int64), np.zeros(0)
        no_tables = StiffnessTables(none, none, np.zeros(1, dtype=np.int64), *(empty,) * 5)
        shape = np.eye(n)[None]
        rest = ElasticArrays(part_i, np.zeros((1, 3)), shape, self.stiffness, column, *no_rows, no_tables, 1.0)
        search = Search(0.05, 30.0, make_start(count + 7, n), EXACT)
        structure = Structure(self.stiffness, self.rows(t), self.compliance)
        size = count + SPARE
        lowest = Eigenmodes(np.empty(size), np.empty((size, n)))
        number = lowest_modes(structure, search, *lowest)
        status = elastic_modes(
            rest, structure, search.shift, self.slopes_of_rows(t),
            Eigenmodes(lowest.squares[:number], lowest.shapes[:number]), Following(tracking, reference),
            ModeShapes(Psi, dPsi, K, dK), spectrum,
        )  # fmt: skip
        assert status == DONE
        return Psi, dPsi, K, dK, spectrum


class Follow:
    """The germ's modes as a reference, by motions or by strains: as the kernel takes it, and here once more."""

    def __init__(self, made, germ, modes, tracking):
        self.made, self.count, self.strained = made, len(modes), tracking == STRAIN
        self.taken = made.stresses(germ, modes) if self.strained else modes
        self.reference = made.strains(germ, modes) if self.strained else modes

    def turned(self, t):
        """Φ at t, turned until its product with the reference is symmetric positive definite, and the smallest singular
        value of that."""
        _, internal, _, _ = self.made.dense(t, self.count)
        likeness = self.made.strains(t, internal) if self.strained else internal
        U, sigma, Vt = np.linalg.svd(likeness @ self.reference.T)
        return Vt.T @ U.T @ internal, sigma[-1]


@pytest.mark.parametrize("tracking", [SUBSPACE, STRAIN], ids=["motion", "strain"])
@pytest.mark.parametrize("seed", range(4))
def test_subspace_and_its_slopes(seed, tracking):
    made, t, count = Made(seed), np.array([0.3, -0.2]), 3
    germ = np.array([0.1, 0.0])
    follow = Follow(made, germ, made.dense(germ, count)[1], tracking)
    Psi, dPsi, K, dK, spectrum = made.kernel(t, count, tracking, follow.taken)

    def shapes(points):
        found = [(made.dense(point, count)[0], follow.turned(point)[0]) for point in points]
        return np.array([np.vstack(both) for both in found])

    def stiffness(points):
        found = []
        for point in points:
            _, internal, squares, stiff = made.dense(point, count)
            R = follow.turned(point)[0] @ internal.T
            whole = np.zeros((made.loaded + count,) * 2)
            whole[: made.loaded, : made.loaded] = stiff
            whole[made.loaded :, made.loaded :] = R @ np.diag(squares) @ R.T
            found.append(whole)
        return np.array(found)

    here, stiff = shapes(t[None])[0], stiffness(t[None])[0]
    assert_allclose(Psi, here, atol=1e-9 * np.abs(here).max())
    assert_allclose(K, stiff, atol=1e-9 * np.abs(stiff).max())
    expected = slopes(shapes, t, STEP)
    assert_allclose(np.moveaxis(dPsi, 0, -1), expected, atol=1e-7 * np.abs(expected).max())
    expected = slopes(stiffness, t, STEP)
    assert_allclose(np.moveaxis(dK, 0, -1), expected, atol=1e-7 * np.abs(expected).max())
    assert_allclose(spectrum.overlap[0], follow.turned(t)[1], atol=1e-9)
    assert_allclose(spectrum.squares, made.dense(t, count)[2], rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_sorted_modes_and_their_slopes(seed):
    made, t, count = Made(seed), np.array([0.3, -0.2]), 3
    Psi, dPsi, _, dK, _ = made.kernel(t, count, SORTED, np.zeros((count, 20)))
    here = Psi[made.loaded :]

    def shapes(points):
        found = np.array([made.dense(point, count)[1] for point in points])
        return found * np.sign(np.einsum("kz,nkz->nk", here, found))[:, :, None]

    expected = slopes(shapes, t, STEP)
    assert_allclose(here, shapes(t[None])[0], atol=1e-9)
    assert_allclose(np.moveaxis(dPsi[:, made.loaded :], 0, -1), expected, atol=1e-6 * np.abs(expected).max())
    squares = slopes(lambda points: np.array([made.dense(point, count)[2] for point in points]), t, STEP)
    found = np.moveaxis(dK, 0, -1)[made.loaded :, made.loaded :]
    assert_allclose(np.einsum("iis->is", found), squares, atol=1e-7 * np.abs(squares).max())
    assert_allclose(found[~np.eye(count, dtype=bool)], 0.0, atol=1e-9 * np.abs(squares).max())
    assert (np.take_along_axis(here, np.abs(here).argmax(axis=1)[:, None], 1) > 0).all()


@pytest.mark.parametrize("tracking", [SUBSPACE, STRAIN], ids=["motion", "strain"])
def test_slopes_where_two_frequencies_are_equal(tracking):
    """Two copies of one system, uncoupled: every frequency is double, and the subspace still turns smoothly."""
    one = Made(1, loaded=0)
    both = Made(1, loaded=0)
    both.stiffness = np.tile(one.stiffness, 2)
    both.compliance = np.tile(one.compliance, 2)
    zero = np.zeros_like
    both.rows = lambda t: np.block([[one.rows(t), zero(one.rows(t))], [zero(one.rows(t)), one.rows(t)]])
    both.slopes_of_rows = lambda t: np.array([np.block([[d, zero(d)], [zero(d), d]]) for d in one.slopes_of_rows(t)])
    t, count = np.array([0.3, -0.2]), 4
    rng = np.random.default_rng(0)
    mixed = np.linalg.qr(rng.standard_normal((count, count)))[0]
    germ = np.array([0.2, -0.1])
    follow = Follow(both, germ, mixed @ both.dense(germ, count)[1], tracking)
    Psi, dPsi, _, _, spectrum = both.kernel(t, count, tracking, follow.taken)
    assert_allclose(spectrum.squares[0::2], spectrum.squares[1::2], rtol=1e-10)

    def shapes(points):
        return np.array([follow.turned(point)[0] for point in points])

    assert_allclose(Psi, shapes(t[None])[0], atol=1e-9)
    expected = slopes(shapes, t, STEP)
    assert_allclose(np.moveaxis(dPsi, 0, -1), expected, atol=1e-7 * np.abs(expected).max())
