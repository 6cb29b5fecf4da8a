"""Rest is reached from rest, also near a dead point, where rounding is larger than what closure asks for elsewhere."""

import numpy as np
from elastic_mechanisms import spatial
from numpy.testing import assert_allclose

import supple

STEPS = np.array([-1e-16, -1e-17, 0.0, 1e-17, 1e-16, 3e-16])
MECHANISMS = [supple.Mechanism.model_validate(spatial(seed)) for seed in range(3, 60, 8)]


def test_rest_is_reached_from_rest():
    singular = []
    for mechanism in MECHANISMS:
        rest = supple.assemble(mechanism)
        found = supple.assemble(mechanism, rest.theta + STEPS[:, None], failures="mark")
        assert found.assembled.all()
        assert_allclose(found.X, np.broadcast_to(rest.X, found.X.shape), atol=1e-14 / rest.singularity)
        singular.append(rest.singularity)
    assert min(singular) < 2e-3  # one that stands close to a dead point is among them
