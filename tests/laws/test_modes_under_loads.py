"""Modes under loads: a slice of the law that modes_under_loads.py checks on as many machines as one likes."""

import modes_under_loads
import numpy as np
import pytest

import supple


@pytest.mark.parametrize("seed", range(modes_under_loads.KINDS))
def test_modes_under_loads_are_those_of_a_dense_solution(seed):
    found = modes_under_loads.errors(modes_under_loads.machine(seed), seed, counts=2)
    assert found.hold, found
    assert found.change > 0.0


def test_batches_and_single_calls_agree_under_loads():
    """A batch is divided among threads; each configuration is found for itself."""
    machine = modes_under_loads.machine(1)
    theta = supple.assemble(machine).theta + np.linspace(-0.1, 0.1, 5)[:, None]
    batch = supple.modes(machine, theta, preload=True).frequencies_hz
    for own, at in zip(batch, theta, strict=True):
        np.testing.assert_allclose(supple.modes(machine, at, preload=True).frequencies_hz, own, rtol=1e-12)
