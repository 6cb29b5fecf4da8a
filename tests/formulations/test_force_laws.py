"""A law that a user registers acts everywhere as its closed form says: a hardening spring, f = -(k x + q x³) - c ℓ̇."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ellipk

import supple
from supple.compilation import compile_kernel
from supple.description.force_model import FORCE_MODELS, ForceLaw, LawParameter
from supple.formulations.force_models import law, number_of
from supple.formulations.recursive.tree_of_mechanism import tree_of_mechanism

K, Q, C, MASS, REST = 100.0, 4e4, 0.7, 1.5, 0.02


def hardening(p, x):
    k, q, c = p[0], p[1], p[2]
    return 0.5 * k * x * x + 0.25 * q * x**4, -k * x - q * x**3, -k - 3.0 * q * x * x, c, 0, 0


HARDENING = ForceLaw(
    "hardening",
    {
        "stiffness": LawParameter("stiffness"),
        "cubic": LawParameter("stiffness", per=2),
        "damping": LawParameter("damping", default=0.0),
    },
    hardening,
)


@pytest.fixture(scope="module", autouse=True)
def known():
    if "hardening" not in FORCE_MODELS:
        supple.register(HARDENING)


def sledge(**more):
    """A mass on a rail with a hardening bumper."""
    parameters = {"stiffness": K, "cubic": Q} | more.pop("parameters", {})
    bump = {"joint": "rail", "rest": REST, "law": {"hardening": parameters}} | more.pop("bump", {})
    return supple.Mechanism(**{
        "plane": "xz", "points": {"O": [0, 0], "P": [0.2, 0]},
        "bodies": {"sledge": {"mass": MASS, "center": "O", "inertia": 0.01}},
        "joints": {"rail": {"prismatic": ["ground", "sledge"], "at": "O", "axis": "x"}},
        "springs": {"bump": bump}, "actuators": {"push": {"joint": "rail"}}, "coordinates": ["rail"],
    } | more)  # fmt: skip


@pytest.mark.slow
def test_local_models_have_its_energy_force_and_slope():
    theta = np.array([[REST], [0.05], [-0.07]])
    found = supple.local(sledge(parameters={"damping": C}), theta)
    x = theta[:, 0] - REST
    assert_allclose(found.potential.ravel(), 0.5 * K * x**2 + 0.25 * Q * x**4, rtol=1e-13, atol=1e-15)
    assert_allclose(found.force[:, 0], -K * x - Q * x**3, rtol=1e-13, atol=1e-14)
    assert_allclose(found.dforce[:, 0, 0], -K - 3.0 * Q * x**2, rtol=1e-13)
    assert_allclose(found.damping[:, 0, 0], C, rtol=1e-15)


def test_along_a_distance_its_force_turns_with_the_line():
    """p = f(ℓ) ∂ℓ, and ∂p by differences."""
    bump = {"joint": None, "rest": None, "between": ["ground.anchor", "sledge.P"], "length": 0.3}
    mechanism = sledge(bump=bump, points={"O": [0, 0], "P": [0.2, 0], "anchor": [0.1, 0.4]})
    theta, step = np.array([[0.03]]), 1e-5
    found = supple.local(mechanism, theta)
    run = np.array([0.2 + 0.03 - 0.1, -0.4])
    length = np.linalg.norm(run)
    x = length - 0.3
    assert_allclose(found.force[0, 0], (-K * x - Q * x**3) * run[0] / length, rtol=1e-12)
    ends = [supple.local(mechanism, theta + sign * step).force[0, 0] for sign in (1.0, -1.0)]
    assert_allclose(found.dforce[0, 0, 0], (ends[0] - ends[1]) / (2.0 * step), rtol=1e-6)  # h² f'''/6 is 1e-8 of it


@pytest.mark.slow
def test_simulated_it_is_duffings_oscillator():
    """T = 4 K(κ) / √((k + q a²)/m), κ² = q a² / 2(k + q a²); energy is kept."""
    a = 0.08
    stiff = (K + Q * a**2) / MASS
    period = 4.0 * ellipk(Q * a**2 / (2.0 * (K + Q * a**2))) / np.sqrt(stiff)
    found = supple.simulate(
        sledge(), until=3.0 * period, step=period / 2000, output_step=3 * period / 60, start=[REST + a]
    )
    x = np.asarray(found.coordinates["rail"]) - REST
    assert_allclose(x[[20, 40, 60]], a, rtol=2e-5)  # after whole periods; the method is of second order in the step
    assert_allclose(x[[10, 30, 50]], -a, rtol=2e-5)
    energy = 0.5 * K * a**2 + 0.25 * Q * a**4
    total = np.asarray(found.energy["kinetic"]) + np.asarray(found.energy["potential"])
    assert_allclose(total, energy, rtol=1e-4)


def test_its_damping_takes_energy_away():
    found = supple.simulate(sledge(parameters={"damping": C}), until=0.5, step=1e-4, start=[0.1])
    assert np.abs(found.energy["balance"]).max() < 1e-4 * found.energy["potential"][0]
    assert found.energy["kinetic"][-1] + found.energy["potential"][-1] < 0.9 * found.energy["potential"][0]


@pytest.mark.slow
def test_equilibrium_and_linear_model_about_a_deflected_rest():
    force = 12.0
    here = supple.equilibrium(sledge(), inputs=[force])
    x = float(here.theta[0]) - REST
    assert_allclose(K * x + Q * x**3, force, rtol=1e-9)
    found = supple.linearize(sledge(parameters={"damping": C}), here.theta, inputs=[force])
    assert_allclose(found.A, [[0.0, 1.0], [-(K + 3.0 * Q * x**2) / MASS, -C / MASS]], rtol=1e-9)


def test_native_and_interpreted_laws_agree():
    p = np.array([K, Q, C, REST])
    number = number_of(HARDENING)
    for length in (0.0, 0.05):
        assert_allclose(compile_kernel(law)(number, p, length), law(number, p, length), rtol=1e-14)
    for record in FORCE_MODELS.values():  # a law that came later takes nothing from those before it
        expected = record.along(p, 0.05 - REST)
        assert_allclose(compile_kernel(law)(number_of(record), p, 0.05), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("bump", "said"),
    [
        ({"law": {"hardning": {"stiffness": K}}}, 'unknown force law "hardning".*did you mean "hardening"'),
        ({"law": {"hardening": {"stiffness": K}}}, "needs cubic"),
        ({"law": {"hardening": {"stiffness": K, "cubic": Q, "cubed": 1}}}, '"hardening" has no parameter cubed'),
        ({"law": {"hardening": {"stiffness": K, "cubic": "3 N/m"}}}, "a stiffness"),
        ({"stiffness": K}, "a stiffness, or one force model"),
        ({"joint": None, "rest": None, "between": ["ground.O", "sledge.P"], "length": 0}, "needs a length"),
    ],
)
def test_a_law_that_cannot_be_is_refused_by_name(bump, said):
    with pytest.raises((supple.InputError, ValueError), match=said):
        supple.check(sledge(bump=bump))


def test_what_is_linear_refuses_it_by_name():
    with pytest.raises(supple.InputError, match=r'"bump".*"hardening" is not linear, but a tree .*give it a stiff'):
        tree_of_mechanism(sledge())
    elastic = {"rail": {"prismatic": ["ground", "sledge"], "at": "O", "axis": "x", "elastic": {"z": 1e5}}}
    with pytest.raises(supple.InputError, match='"hardening" is not linear, but a flexible model'):
        supple.local(sledge(joints=elastic), internal_modes=1)
