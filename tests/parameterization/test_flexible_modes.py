"""Rigid, constraint and internal modes: what they are by definition, and what they promise."""

import numpy as np
import pytest
from flexible_cases import CASES, EXAMPLES
from numpy.testing import assert_allclose
from scipy.linalg import eigh

import supple

CONDENSED = 2e-6
"""Of ω²: bodies are condensed to 1e-6, for the modes asked of them and once more for `supple.modes`."""


def locked_hz(model):
    s = len(model.theta)
    return np.sqrt(eigh(model.K[s:, s:], model.M[s:, s:], eigvals_only=True)) / (2 * np.pi)


def with_internal(case, count):
    return supple.local(case.mechanism, case.at, constraint_modes=case.constraint, internal_modes=count)


def test_stiffness_is_zero_for_rigid_motions_and_uncoupled_between_the_kinds(flexible_case):
    """Without loads, whose stiffness couples them."""
    model = flexible_case.local(preload=False)
    s, g = len(flexible_case.theta), len(flexible_case.constraint)
    assert not model.K[:s].any()
    assert not model.K[:, :s].any()
    assert not model.K[s : s + g, s + g :].any()
    assert_allclose(model.K, model.K.T, rtol=0, atol=1e-12 * np.abs(model.K).max())
    assert np.linalg.eigvalsh(model.K[s:, s:])[0] > 0


@pytest.mark.parametrize("name", ["four-bar in space", "planar four-bar", "ralf"])
def test_stiffness_is_the_strain_energy_of_all_nodes(name):
    """Nothing but beams deforms in these: K_ab = Σ u_aᵀ K u_b over the whole meshes."""
    case = CASES[name]
    model, s = case.local(preload=False), len(case.theta)
    expected = np.zeros((len(model.M) - s,) * 2)
    for body in model.system.rest.bodies:
        if body.mesh is not None:
            u = np.array([model.displacements(body.name, unit) for unit in np.eye(len(expected))])
            expected += u @ body.mesh.K.toarray() @ u.T
    assert_allclose(model.K[s:, s:], expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_internal_modes_are_mass_normalised_and_their_stiffness_is_their_frequency(flexible_case):
    model = flexible_case.local(tracking="none", preload=False)
    first = len(flexible_case.theta) + len(flexible_case.constraint)
    Z = model.modes[first:]
    assert_allclose(Z @ Z.T, np.eye(len(Z)), atol=1e-11)  # without the motors
    assert_allclose(model.K[first:, first:], np.diag((2 * np.pi * model.internal_hz) ** 2), rtol=1e-12)
    assert (np.diff(model.internal_hz) > 0).all()


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.constraint])
def test_constraint_stiffness_is_the_inverse_of_the_static_compliance(name):
    """Without loads: constraint modes are static shapes of the unloaded mechanism."""
    flexible_case = CASES[name]
    model = flexible_case.local(preload=False)
    s, g = len(flexible_case.theta), len(flexible_case.constraint)
    places = list(flexible_case.constraint)
    found = supple.compliance(flexible_case.mechanism, flexible_case.at, places, preload=False)
    expected = np.atleast_2d(found.stiffness)
    # Static displacements of the touched nodes are exact in every condensation.
    assert_allclose(model.K[s : s + g, s : s + g], expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


def test_a_constraint_coordinate_is_its_displacement(flexible_case):
    """Its row is one for its own mode and zero for all others; θ moves it as the rigid mechanism does."""
    model = flexible_case.local()
    s, actuators = len(flexible_case.theta), len(flexible_case.mechanism.actuators)
    for a, name in enumerate(flexible_case.constraint):
        assert model.inputs[actuators + a] == name
        along = model.input_map[:, actuators + a]
        assert_allclose(along[s:], np.eye(len(along) - s)[a], atol=1e-9)
        place = name.split(".")[0]
        if f"{place}.{name[-1]}" in model.outputs:
            assert_allclose(along[:s], model.outputs[name].rigid, atol=1e-12)


def test_frequencies_come_from_above_and_converge(flexible_case):
    expected = supple.modes(flexible_case.mechanism, flexible_case.at, count=3).frequencies_hz
    before = np.full(3, np.inf)
    errors = []
    for count in (2, 4, 7, 11):
        found = locked_hz(with_internal(flexible_case, count))
        lowest = np.full(3, np.inf)
        lowest[: min(3, len(found))] = found[:3]
        assert (lowest <= before * (1 + CONDENSED)).all()  # a larger set is never worse
        assert (lowest >= expected * (1 - CONDENSED)).all()
        before = lowest
        errors.append(lowest[0] / expected[0] - 1)
    assert errors[-1] < 2e-4
    assert errors[-1] < 0.5 * errors[0] or errors[0] < CONDENSED


def test_without_constraint_modes_internal_ones_are_those_of_the_locked_mechanism():
    case = CASES["ralf"]
    model = supple.local(case.mechanism, case.at, internal_modes=4)
    expected = supple.modes(case.mechanism, case.at, count=4, preload=False).frequencies_hz
    assert_allclose(model.internal_hz, expected, rtol=CONDENSED)


def test_a_single_configuration_is_a_batch_of_one_to_the_bit(flexible_case):
    rng = np.random.default_rng(11)
    around = flexible_case.at + 0.03 * rng.uniform(-1, 1, (9, len(flexible_case.theta)))
    for tracking in ("none", "subspace", "modes"):
        whole = flexible_case.local(around, tracking=tracking)
        few = flexible_case.local(around[[7, 2]], tracking=tracking)
        single = flexible_case.local(around[2], tracking=tracking)
        for name in (
            "M",
            "dM",
            "K",
            "dK",
            "christoffel",
            "force",
            "dforce",
            "input_map",
            "damping",
            "internal_hz",
            "overlap",
            "modes",
        ):
            one, other = getattr(whole, name)[2], getattr(single, name)
            assert np.array_equal(one, other), (tracking, name)
            assert np.array_equal(one, getattr(few, name)[1]), (tracking, name)


def test_largest_displacement_of_a_sorted_mode_is_positive(flexible_case):
    model = flexible_case.local(tracking="none")
    s = len(flexible_case.theta)
    for a in range(len(flexible_case.constraint), len(model.M) - s):
        unit = np.eye(len(model.M) - s)[a]
        touched = []
        for body in model.system.rest.bodies:
            u = model.displacements(body.name, unit)
            if body.mesh is None:
                touched.append(u)
            else:
                touched += [u[body.mesh.columns(i)] for i in body.mesh.interface]
        touched = np.concatenate(touched)
        largest = touched[np.argmax(np.abs(touched))]
        ties = touched[np.abs(touched) > 0.99999 * abs(largest)]
        assert (ties > 0).any()


def test_modes_of_a_rigid_mechanism_are_refused():
    made = supple.load(EXAMPLES / "four-bar" / "mechanism.yaml")
    with pytest.raises(supple.InputError, match="rigid"):
        supple.local(made, internal_modes=1)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"constraint_modes": ["E.y"]}, "displacement"),
        ({"constraint_modes": ["A.x", "A.x"]}, "twice"),
        ({"constraint_modes": ["E.x"], "internal_modes": -1}, "-1"),
        ({"internal_modes": 2, "tracking": "closely"}, "closely"),
    ],
)
def test_senseless_choices_are_refused(options, word):
    with pytest.raises(supple.InputError, match=word):
        supple.local(CASES["planar four-bar"].mechanism, **options)


def test_more_modes_than_exist_are_refused():
    with pytest.raises(supple.SuppleError, match=r"500.*fewer"):
        supple.local(CASES["planar four-bar"].mechanism, internal_modes=500)
