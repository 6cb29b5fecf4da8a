"""Where the origin of the drawing lies is the user's choice: nothing may depend on it but coordinates of places."""

import numpy as np
import pytest
from differences import largest
from numpy.testing import assert_allclose
from random_mechanisms import case
from redrawn import turned

import supple
from supple.kinematics.closure import assemble
from supple.parameterization.local_model import local

LOOPS = ["RSUR loop", "RCCC loop", "RRRRRRR loop", "coupled loops 1"]


def drawn_away(name, distance):
    parts = turned(case(name).parts, np.eye(3), distance * np.array([0.6, -0.8, 0.0]))
    return supple.Mechanism(**parts | {"sensors": {}})


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("distance", [1.0, 10.0, 100.0])
def test_equations_of_motion_do_not_depend_on_the_origin(name, distance):
    thetas = case(name).thetas(3)
    here, there = local(case(name).mechanism, thetas), local(drawn_away(name, distance), thetas)
    # places of a hundred metres carry 1e-14 m of rounding, which the closure enlarges by its condition
    assert_allclose(there.M, here.M, atol=1e-10 * largest(here.M))
    assert_allclose(there.christoffel, here.christoffel, atol=1e-9 * largest(here.christoffel, here.M))
    assert_allclose(there.force, here.force, atol=1e-9 * largest(here.force))


@pytest.mark.parametrize("name", LOOPS)
def test_singularity_measure_does_not_depend_on_the_origin(name):
    thetas = case(name).thetas(3)
    here = assemble(case(name).mechanism, thetas).singularity
    there = assemble(drawn_away(name, 10.0), thetas).singularity
    assert_allclose(there, here, rtol=1e-6)  # a measure to read, not to compute with


@pytest.mark.parametrize("name", ["RSUR loop", "RRRRRRR loop"])
def test_a_mechanism_drawn_a_kilometre_away_assembles_too(name):
    assert assemble(drawn_away(name, 1000.0), case(name).thetas(20), failures="mark").assembled.all()
