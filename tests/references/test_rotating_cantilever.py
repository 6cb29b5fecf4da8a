"""A cantilever that turns with its clamp: first flapwise frequencies of an Euler-Bernoulli beam, hub radius 0."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

E, RHO, SIDE, LENGTH = 70e9, 2700.0, 5e-3, 1.0
UNIT = np.sqrt(E * SIDE**2 / (12.0 * RHO)) / LENGTH**2  # rad/s, of speeds and frequencies: √(EI/ρA)/L²
BLADE = supple.loads(f"""\
supple: 1
name: blade
points: {{O: [0, 0, 0], T: [{LENGTH}, 0, 0]}}
materials: {{aluminium: {{youngs_modulus: {E}, density: {RHO}, poisson: 0.3}}}}
sections: {{square: {{rectangle: [{SIDE}, {SIDE}]}}}}
bodies: {{blade: {{beam: [O, T], section: square, material: aluminium, elements: 12}}}}
joints: {{O: {{revolute: [ground, blade], axis: [0, 0, 1]}}}}
actuators: {{spin: {{joint: O}}}}
""")


@pytest.mark.parametrize(("speed", "published"), [(2, 4.1373), (4, 5.5850), (6, 7.3603), (8, 9.2568), (10, 11.2023)])
def test_flapwise_frequencies(speed, published):
    found = supple.small_motions(BLADE, rates={"spin": speed * UNIT}, count=2)
    swing, flap = found.eigenvalues / UNIT
    assert_allclose(flap, 1j * published, rtol=1e-3, atol=1e-9)
    # In the plane of rotation the same less the stiffness that turning takes, ω² - Ω², but for Coriolis' force.
    assert_allclose(swing.imag**2, flap.imag**2 - speed**2, rtol=5e-3)
    out_of_plane = np.abs(found.shapes[1, :, 2]).max()
    assert out_of_plane > 1e3 * np.abs(found.shapes[1, :, :2]).max()


def test_at_rest_it_is_the_cantilever():
    assert_allclose(np.abs(supple.small_motions(BLADE, count=2).eigenvalues) / UNIT, 3.516015, rtol=1e-5)


@pytest.fixture(scope="module", params=[True, False])
def reduced(request):
    return supple.reduce(
        BLADE, region={"spin": (-0.5, 0.5)}, internal_modes=4, stiffening=request.param, boxes=1, degree=2,
        fit="chebyshev", checks=50, progress=False,
    )  # fmt: skip


IN_DOCS = {0: 3.5160, 2: 4.1377, 4: 5.5892, 6: 7.3759, 8: 9.2934, 10: 11.2703}
"""First frequencies out of the plane of rotation over the speed, as docs/theory/stiffening.md has them."""


@pytest.mark.parametrize(
    ("speed", "published"), [(0, 3.5160), (2, 4.1373), (4, 5.5850), (6, 7.3603), (8, 9.2568), (10, 11.2023)]
)
def test_of_a_reduced_model_in_motion(reduced, speed, published):
    """Within 1 % with stiffening; without it the speed changes nothing out of the plane of rotation."""
    linear = reduced.linearize([0.1], rates=[speed * UNIT, 0.0, 0.0, 0.0, 0.0])
    frequencies = np.abs(np.linalg.eigvals(linear.A).imag) / UNIT
    flap = frequencies[np.abs(frequencies - published).argmin()]
    assert (reduced.stiffening or not speed) == (abs(flap / published - 1.0) < 0.01)
    assert not reduced.stiffening or flap == pytest.approx(IN_DOCS[speed], abs=6e-5)
    assert reduced.stiffening or np.abs(frequencies - 3.516015).min() < 1e-4


def test_a_beam_that_turns_steadily_is_longer():
    """u = tan(λL)/λ - L, λ = ω √(ρA/EA): exact, of the spin-up problem when its spin is constant."""
    length, EA, EI, line_mass, speed = 10.0, 2.8e7, 1.4e4, 1.2, 6.0
    area = 0.04
    spun = supple.loads(f"""\
supple: 1
name: spun
plane: xy
points: {{O: [0, 0], T: [{length}, 0]}}
materials: {{it: {{youngs_modulus: {EA / area}, density: {line_mass / area}, poisson: 0}}}}
sections: {{it: {{area: {area}, Iy: {EI * area / EA}, Iz: {EI * area / EA}, torsion: 1e-5}}}}
bodies: {{beam: {{beam: [O, T], section: it, material: it, elements: 8}}}}
joints: {{O: {{revolute: [ground, beam]}}}}
actuators: {{spin: {{joint: O}}}}
""")
    found = supple.small_motions(spun, rates=[speed], count=1).configuration.frame("beam.T").position
    k = speed * np.sqrt(line_mass / EA)
    exact = np.tan(k * length) / k - length
    assert_allclose(exact, 5.1432e-4, rtol=1e-4)
    assert_allclose(found, [length + exact, 0.0, 0.0], atol=1e-3 * exact)
