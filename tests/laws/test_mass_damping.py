"""A slice of the law of `mass_damping.py`: damping in proportion to mass acts on deformation alone."""

import pytest
from mass_damping import FREE, LOCKED, RIGID, compared


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed"), [("loop", 0), ("spatial", 1)])
def test_alpha_damps_deformation_in_time_as_in_reduced_models(kind, seed):
    found = compared(kind, seed)
    assert found.locked < LOCKED
    assert found.free < FREE
    assert found.rigid < RIGID
