"""Stiffened models against the full equations about the deformed state: how loads and spin change frequencies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

FOUR_BAR = """\
supple: 1
name: four-bar
plane: xz
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {A: [0, 0], B: [0.5, 0], E: [0.54, 0.52], D: [1, 0]}
bodies:
  crank: {beam: [A, B], section: bar, material: aluminium, elements: 4}
  coupler: {beam: [B, E], section: bar, material: aluminium, elements: 4}
  follower: {beam: [D, E], section: bar, material: aluminium, elements: 4}
joints:
  A: {revolute: [ground, crank]}
  B: {revolute: [crank, coupler]}
  E: {revolute: [coupler, follower]}
  D: {revolute: [ground, follower]}
actuators: {crank: {joint: A}}
"""

BENT_BLADE = """\
supple: 1
name: bent-blade
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700, poisson: 0.3}}
sections: {bar: {rectangle: [10 mm, 5 mm]}}
points: {O: [0, 0, 0], P: [0.6, 0, 0], T: [0.6, 0.4, 0.1]}
bodies:
  blade:
    beams:
      - {from: O, to: P, section: bar, material: aluminium, elements: 6, up: z}
      - {from: P, to: T, section: bar, material: aluminium, elements: 6, up: z}
joints: {O: {revolute: [ground, blade], axis: z}}
actuators: {spin: {joint: O}}
point_masses: {tip: {at: blade.T, mass: 0.05}}
"""

ON_AN_ARM = """\
supple: 1
name: mass-on-an-arm
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700, poisson: 0.3}}
sections: {bar: {rectangle: [10 mm, 5 mm]}}
points: {O: [0, 0, 0], P: [0.6, 0, 0], T: [0.75, 0.2, 0.1]}
bodies: {blade: {beam: [O, P], section: bar, material: aluminium, elements: 6, up: z, attach: {T: P}}}
joints: {O: {revolute: [ground, blade], axis: z}}
actuators: {spin: {joint: O}}
point_masses: {tip: {at: blade.T, mass: 0.1}}
"""


def squares(model, rates):
    """ω² of the deformation with θ̇ prescribed, about where it rests then; gyroscopic forces included."""
    s, d = len(rates), len(model.M) - len(rates)
    v = np.concatenate([rates, np.zeros(d)])
    K, M = model.K[s:, s:], model.M[s:, s:]
    force = model.force[s:] - np.einsum("ijk,j,k->i", model.christoffel, v, v)[s:]
    if model.stiffening:
        K = K - 0.5 * np.einsum("ijab,i,j->ab", model.mass_curvature, rates, rates)
        M = M + model.dM[s:, s:, s:] @ np.linalg.solve(K, force)
    G = 2.0 * np.einsum("ijk,k->ij", model.christoffel, v)[s:, s:]
    A = np.block([[np.zeros((d, d)), np.eye(d)], [-np.linalg.solve(M, K), -np.linalg.solve(M, G)]])
    return np.sort(np.linalg.eigvals(A).imag)[d:] ** 2


@pytest.mark.parametrize(
    ("text", "gravity", "at", "rate"),
    [
        (FOUR_BAR, "[0, -9.81]", 0.3, 0.0),
        (BENT_BLADE, None, 0.0, 2.0),
        (ON_AN_ARM, "[1, 0, 0]", 0.0, 0.0),
        (ON_AN_ARM, None, 0.0, 1.0),
    ],
)
def test_frequencies_change_with_the_load_as_in_the_full_model(text, gravity, at, rate):
    free, loaded = supple.loads(text), supple.loads(text + (f"gravity: {gravity}\n" if gravity else ""))
    rates = np.array([rate])
    full = [np.sort(supple.small_motions(machine, [at], rates=v, count=4).eigenvalues.imag) ** 2
            for machine, v in ((free, 0.0 * rates), (loaded, rates))]  # fmt: skip
    changed = full[1] / full[0] - 1.0
    stiff = squares(supple.local(loaded, [at], internal_modes=10, stiffening=True), rates)[:4] / full[0] - 1.0
    plain = squares(supple.local(loaded, [at], internal_modes=10), rates)[:4] / full[0] - 1.0
    largest = np.abs(changed).max()
    assert_allclose(stiff, changed, atol=5e-3 * largest)
    assert np.abs(plain - changed).max() > 0.9 * largest
