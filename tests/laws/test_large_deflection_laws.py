"""Laws of deflections of any size: the linear ones are their limit, and where the drawing stands does not matter."""

import numpy as np
import pytest
from elastic_mechanisms import mechanism, parts, turned
from numpy.testing import assert_allclose
from random_parts import rotation

import supple

PLACES = [f"{sensor}.{axis}" for sensor in ("one", "two") for axis in "xyz"]
some = pytest.mark.parametrize("name", ["loop 0", "loop 1", "spatial 1", "spatial 4"])


def displaced(made, **options):
    found = supple.deflection(made, **options)
    return np.array([found.of(place) for place in PLACES]).reshape(2, 3)


def under(made, part):
    return made.replace(gravity=tuple(part * np.array(made.gravity)))


@some
def test_small_loads_deflect_linearly(name):
    made = mechanism(name)
    linear = displaced(made)
    errors = [np.abs(displaced(under(made, g), large=True) / g - linear).max() for g in (1e-1, 1e-2)]
    size = np.abs(linear).max()
    # What the linear model leaves out grows with the square of the load.
    assert errors[1] < 2e-4 * size
    assert_allclose(errors[1], 0.1 * errors[0], rtol=0.1, atol=1e-9 * size)


@some
def test_nothing_depends_on_where_it_is_drawn(name):
    rng = np.random.default_rng(5)
    R, shift = rotation(rng), rng.standard_normal(3)
    here, there = (
        displaced(mechanism(name), large=True),
        displaced(supple.Mechanism(**turned(parts(name), R, shift)), large=True),
    )
    assert_allclose(there, here @ R.T, atol=1e-9 * np.abs(here).max())


@some
def test_forces_that_hold_it_are_the_slope_of_its_energy(name):
    """Q_θ = dV/dθ, V = strain energy and potential of gravity of the deformed mechanism."""
    made = mechanism(name)
    first, *others = supple.assemble(made).coordinates.items()
    rest = dict(others)

    def energy(value):
        held = supple.deflection(made, rest | {first[0]: value}, large=True)
        run = supple.simulate(made, [0.0, 1e-9], start=held.deformed_configuration, step=1e-9)
        return run.energy["potential"][0], held.holding_forces[first[0]]

    h = 1e-3
    (low, _), (high, _), (_, force) = (energy(float(first[1]) + d) for d in (-h, h, 0.0))
    assert_allclose((high - low) / (2 * h), force, rtol=1e-4, atol=1e-4 * abs(force) + 1e-6)
