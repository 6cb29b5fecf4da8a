"""Loads at rest count in all analyses alike: a column near buckling, and what is said where they cannot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.optimize import brentq

import supple

COLUMN = """
supple: 1
name: column
points: {A: [0, 0, 0], B: [0, 0, 2]}
materials: {steel: {youngs_modulus: 210e9, density: 7850, poisson: 0.3}}
sections: {bar: {rectangle: [0.02, 0.02]}}
bodies: {column: {beam: [A, B], section: bar, material: steel, elements: 8, up: x}}
joints: {A: {prismatic: [ground, column], axis: y}}
actuators: {push: {joint: A, limits: [-0.1, 0.1]}}
forces: {top: {at: column.B, force: [0, 0, -1500]}}
sensors: {head: {position: column.B}}
"""
MESH = 2e-4  # of a frequency: eight elements, shear and rotary inertia

# A body that floats: its weight moves it, and there are no forces at rest.
FLOATING = """
supple: 1
name: floating
gravity: [0, 0, -9.81]
points: {A: [0, 0, 0], B: [0, 0, 1], C: [1, 0, 0], D: [1, 0, 1]}
materials: {steel: {youngs_modulus: 210e9, density: 7850, poisson: 0.3}}
sections: {bar: {rectangle: [0.02, 0.02]}}
bodies:
  held: {beam: [A, B], section: bar, material: steel, elements: 2, up: x}
  loose: {mass: 1, inertia: [0.1, 0.1, 0.1], at: C}
joints: {A: {prismatic: [ground, held], axis: y}, C: {prismatic: [ground, loose], axis: z}}
actuators: {push: {joint: A}}
"""


@pytest.fixture(scope="module")
def column():
    return supple.loads(COLUMN)


@pytest.fixture(scope="module")
def exact():
    """Hz: a clamped-free column under a dead load, EI y'''' + P y'' = ρA ω² y."""
    EI, rho_A, P, L = 210e9 * 0.02**4 / 12.0, 7850 * 0.02**2, 1500.0, 2.0
    k2 = P / EI

    def determinant(hertz):
        root = np.sqrt(k2 * k2 + 4.0 * rho_A * (2.0 * np.pi * hertz) ** 2 / EI)
        a, b = np.sqrt((root - k2) / 2.0), np.sqrt((root + k2) / 2.0)
        sh, ch, s, c = np.sinh(a * L), np.cosh(a * L), np.sin(b * L), np.cos(b * L)
        return (a * a * ch + b * b * c) * (a * b * b * ch + a**3 * c) - (a * a * sh + a * b * s) * (
            a * b * b * sh - a * a * b * s
        )

    found = brentq(determinant, 0.5, 3.0, xtol=1e-12)
    assert found == pytest.approx(1.5693, abs=5e-5)
    return found


def lowest(K, M):
    return np.sqrt(eigh(K, M, eigvals_only=True)[0]) / (2.0 * np.pi)


def test_a_column_at_87_percent_of_its_buckling_load(column, exact):
    assert supple.buckling(column).load_factors[0] == pytest.approx(1.0 / 0.868, rel=1e-3)
    assert supple.small_motions(column, count=1).frequencies_hz[0] == pytest.approx(exact, rel=MESH)
    for options in ({}, {"formulation": "erls"}):
        assert supple.modes(column, count=1, **options).frequencies_hz[0] == pytest.approx(exact, rel=MESH)
        free = supple.modes(column, count=2, free_actuators=True, **options).frequencies_hz
        assert free[1] == pytest.approx(exact, rel=MESH)  # across the slide; the first is the slide's own motion
    assert supple.modes(column, count=1, preload=False).frequencies_hz[0] == pytest.approx(4.178, rel=1e-3)


def test_models_with_few_modes_of_a_pressed_column(column, exact):
    """Their modes are those without load: the frequency comes from above, and is that of `truncation`."""
    errors = []
    for count in (4, 8, 12):
        found = [supple.local(column, internal_modes=count, **kept) for kept in ({}, {"stiffening": True})]
        hertz = [lowest(item.K[1:, 1:], item.M[1:, 1:]) for item in found]
        poles = np.abs(supple.linearize(column, internal_modes=count).eigenvalues) / (2.0 * np.pi)
        hertz.append(poles[poles > 0.1].min())
        assert_allclose(hertz, hertz[0], rtol=1e-9)
        errors.append(hertz[0] / exact - 1.0)
    assert (np.array(errors) < [0.016, 0.0026, 0.0008]).all()
    assert min(errors) > -MESH


def test_a_reduced_model_and_a_response_of_a_pressed_column(column, exact):
    model = supple.reduce(column, region={"push": (-0.05, 0.05)}, internal_modes=8, checks=50)
    assert model.provenance["options"]["modes"]["preload"]
    here = model.evaluate([0.01])
    found = supple.local(column, [0.01], internal_modes=8)
    assert lowest(here.K[1:, 1:], here.M[1:, 1:]) == pytest.approx(lowest(found.K[1:, 1:], found.M[1:, 1:]), rel=1e-6)
    assert model.provenance["truncation"]["frequencies"] == pytest.approx(0.0025, abs=2e-4)
    near = supple.frf(column, None, "head.x", "head.x", [0.0, 0.99 * exact, 1.01 * exact]).values[:, 0, 0].real
    assert near[1] > 0 > near[2]  # a resonance lies between them
    softer = [supple.compliance(column, None, "head.x", preload=kept).values[0, 0] for kept in (True, False)]
    assert near[0] == pytest.approx(softer[0], rel=1e-5)
    assert softer[0] / softer[1] == pytest.approx(7.508, rel=1e-3)


def test_stiffening_without_the_loads_at_rest_is_refused(column):
    with pytest.raises(supple.InputError, match=r"stiffening.*--no-preload"):
        supple.local(column, internal_modes=1, stiffening=True, preload=False)


def test_a_machine_without_loads_is_the_same_with_and_without(column):
    bare = column.replace(forces={})
    assert_allclose(supple.modes(bare, preload=True).frequencies_hz, supple.modes(bare, preload=False).frequencies_hz)
    assert not supple.local(column, rigid=True).K.any()


@pytest.mark.parametrize(
    ("words", "ask"),
    [
        ("modes", lambda made, **kept: supple.modes(made, count=4, **kept).frequencies_hz[2:]),
        ("a response", lambda made, **kept: supple.frf(made, None, "B.x", "B.x", [1.0], **kept).values.real),
    ],
)
def test_loads_that_nothing_holds_are_left_out_with_a_warning(words, ask):
    made = supple.loads(FLOATING)
    with pytest.warns(supple.SuppleWarning, match=f"{words} without the stiffness of loads.*no joint, coordinate"):
        found = ask(made)
    assert_allclose(found, ask(made, preload=False), rtol=1e-9)
