"""Rank, mobility and all that `check` says of large mechanisms: by sparse fronts as by dense singular values, at a cost
that grows with the bodies and loops."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from large_machines import chain, ladder, tower
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

import supple
from supple.kinematics import completion, ranked_rows, rest
from supple.kinematics import inspection as massless_motions
from supple.kinematics import rest as rank
from supple.kinematics.jacobian import scaled_jacobian
from supple.kinematics.orthogonal_fronts import Fronts
from supple.kinematics.ranked_rows import DenseRows, sparse_rows

MODULES = (ranked_rows, rank, rest, completion, massless_motions)


@pytest.fixture
def always_sparse(monkeypatch):
    for module in MODULES:
        monkeypatch.setattr(module, "LARGE", 0)


def random_rows(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows between pairs of bodies, some of which repeat others: J, the body of a column, the joint of a row."""
    rng = np.random.default_rng(seed)
    bodies, rows, joint = int(rng.integers(2, 12)), [], []
    for number in range(int(rng.integers(1, 20))):
        row = np.zeros((2, bodies, 3))
        row[:, rng.integers(bodies)] += rng.standard_normal((2, 3))
        row[:, rng.integers(bodies)] += rng.standard_normal((2, 3))
        copies = rng.standard_normal((int(rng.integers(0, 2)), 2)) @ row.reshape(2, -1)
        rows += [row.reshape(2, -1), copies]
        joint += [number] * (2 + len(copies))
    return np.vstack(rows), np.arange(3 * bodies) // 3, np.array(joint)


@pytest.mark.parametrize("seed", range(12))
def test_fronts_have_rank_singular_values_and_inverse_of_their_matrix(seed):
    J, bodies, joints = random_rows(seed)
    rng = np.random.default_rng(seed)
    for A, group in ((J, bodies), (J.T, joints)):
        fronts = Fronts(csr_array(A), group)
        sigma = np.linalg.svd(A, compute_uv=False)
        assert fronts.certain
        assert fronts.rank == np.linalg.matrix_rank(A, tol=1e-9 * sigma[0])
        # Lanczos ends at 1e-8 of the squares.
        assert_allclose([fronts.largest, fronts.smallest], sigma[[0, fronts.rank - 1]], rtol=1e-7)
        inverse, kernel, b = np.linalg.pinv(A, rcond=1e-9), fronts.kernel(), rng.standard_normal(A.shape)
        assert_allclose(fronts.inverse(b[:, 0]), inverse @ b[:, 0], atol=1e-11 / fronts.smallest)
        assert_allclose(fronts.transposed_inverse(b[0]), inverse.T @ b[0], atol=1e-11 / fronts.smallest)
        assert_allclose(kernel @ kernel.T, np.eye(A.shape[1]) - inverse @ A, atol=1e-11)
        assert_allclose(fronts.project_out(b[:, 0]), b[:, 0] - A @ (inverse @ b[:, 0]), atol=1e-11)


@pytest.mark.parametrize(
    "machine", [chain(6), chain(5, plane=None), ladder(4), ladder(4, plane=None), tower(4)], ids=lambda one: one.name
)
@pytest.mark.parametrize("coordinates", [False, True])
def test_sparse_rows_tell_what_dense_ones_do(machine, coordinates):
    found = rest.rest(machine)
    count = found.numbering.constraints + coordinates * len(found.numbering.coordinates)
    dense = DenseRows(scaled_jacobian(found.numbering, found.X)[:count])
    sparse = sparse_rows(found.numbering, found.X, count)
    assert sparse.certain
    assert sparse.rank == dense.rank
    assert_allclose(sparse.nearness(dense.rank), dense.nearness(dense.rank), rtol=1e-7)
    assert_allclose(sparse.dependent(), dense.dependent(), atol=1e-7)  # roots of squares that are nothing
    assert_allclose(sparse.find_motion_shares(), dense.find_motion_shares(), atol=1e-7)
    assert_allclose(dense.J @ sparse.motion(0), 0.0, atol=1e-12)
    if coordinates:
        slopes = np.random.default_rng(0).standard_normal((2, found.numbering.columns))
        assert_allclose(sparse.row_solution(slopes), dense.row_solution(slopes), atol=1e-9)


MACHINES = {
    "chain": lambda: chain(6),
    "chain in space": lambda: chain(5, plane=None),
    "ladder": lambda: ladder(4),
    "ladder in space": lambda: ladder(4, plane=None),
    "tower": lambda: tower(3),
    "third rod without mass": lambda: chain(5, bodies={"b2": {"rod": ["P2", "P3"], "mass": 0}}),
    "last rod without mass": lambda: chain(5, bodies={"b4": {"rod": ["P4", "P5"], "mass": 0}}),
    "θ unknown": lambda: chain(5, coordinates=None, actuators={"a": {"joint": "P0"}, "b": {"joint": "P3"}}),
    "actuators beside θ": lambda: tower(3, coordinates=["right0_foot", "right1_head", "left2_head"]),
    "one actuator": lambda: chain(4, actuators={"a": {"joint": "P2"}}),
}


@pytest.mark.parametrize("name", MACHINES)
def test_check_says_the_same_either_way(name, monkeypatch):
    dense = supple.check(MACHINES[name]())
    for module in MODULES:
        monkeypatch.setattr(module, "LARGE", 0)
    sparse = supple.check(MACHINES[name]())
    assert_allclose(sparse.singularity, dense.singularity, rtol=1e-7)
    assert replace(sparse, singularity=dense.singularity) == dense


def test_redundant_rows_leave_as_many_that_determine_the_motion(always_sparse):
    found = rest.rest(ladder(4, plane=None))
    sizes = found.numbering.sizes
    J = scaled_jacobian(found.numbering, found.X)
    chosen = np.concatenate([np.arange(sizes.tree_rows), sizes.tree_rows + found.selected])
    assert len(set(found.selected)) == sizes.free
    assert np.linalg.matrix_rank(J[chosen]) == found.numbering.columns


def test_a_rough_drawing_of_a_large_machine_closes_where_it_is_drawn(always_sparse):
    position = rest.rest(ladder(3, rough=0.02))
    assert (
        np.abs(completion.scaled_values(position.numbering, position.X)[: position.numbering.constraints]).max() < 1e-10
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", [chain, ladder], ids=lambda kind: kind.__name__)
def test_check_costs_as_much_as_there_are_bodies(kind):
    """Twice the bodies cost less than three times as much: their square would be four, their cube eight."""

    def seconds(count: int) -> float:
        machine = kind(count)
        start = time.process_time()
        supple.check(machine)
        return time.process_time() - start

    seconds(90)  # imports
    assert seconds(240) < 3.0 * max(seconds(120) for _ in range(2))


def test_notes_on_many_parts_name_the_first_and_count_the_rest():
    note = supple.check(chain(20)).notes[0]
    assert '"P9" and 10 more' in note
