"""Clusters of modes: a slice of the law that mode_clusters.py checks on as many machines as one likes."""

import mode_clusters
import numpy as np
import pytest

from supple.formulations.elastic_rest.block_modes import Search, lowest_modes, make_start
from supple.formulations.elastic_rest.response_operator import Structure


@pytest.mark.parametrize("seed", [0, 2, 5, 7, 13])
def test_modes_in_clusters_are_those_of_a_dense_solution(seed):
    found = mode_clusters.errors(mode_clusters.machine(seed), seed, counts=4)
    assert found.frequencies < mode_clusters.FREQUENCIES
    assert found.shapes < mode_clusters.SHAPES


def test_a_block_that_ends_within_a_cluster_grows():
    """Twenty-four equal modes and a block of nine: whatever the start is, the lowest eight are found."""
    stiffness = np.concatenate([np.full(24, 4.0), np.linspace(10.0, 90.0, 40)])
    structure = Structure(stiffness, np.zeros((0, 64)), np.zeros(0))
    search = Search(1.0, 4.0, make_start(9, 64), 1e-9)
    squares, Z = np.empty(8), np.empty((8, 64))
    assert lowest_modes(structure, search, squares, Z) == 8
    np.testing.assert_allclose(squares, 4.0, rtol=1e-12)
    assert np.abs(Z[:, 24:]).max() < 1e-9
