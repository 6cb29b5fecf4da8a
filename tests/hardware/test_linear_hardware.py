"""Linear models from commands to what instruments show, against the same written at every frequency."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.diagnostics import InputError, SuppleNote
from supple.hardware.drive_block import DriveBlock
from supple.hardware.drive_response import force_response, impedance, instrument_response, motion_response
from supple.hardware.hardware import Hardware
from supple.hardware.instrument import Instrument
from supple.hardware.linear_hardware import with_hardware
from supple.results.linear_model import LinearModel, SecondOrder

NAMES = ("a", "b", "c", "d")
LINES = np.array([0.3, 1.7, 9.0, 33.0])
W, ZETA = 2.0 * np.pi * 20.0, 0.7

LEADS = DriveBlock(
    "a", "velocity", True, np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, -W * W, -2.0 * ZETA * W]]),
    np.array([0.0, 0.0, W * W]), np.array([1.0, 0.0, 0.0]), 0.0, np.zeros(3), delay=0.002, unit="m/s",
)  # fmt: skip
YIELDS = DriveBlock(
    "b", "position", True, np.array([[-30.0]]), np.array([30.0]), np.ones(1), 0.0, np.zeros(1),
    stiffness=500.0, damping=3.0, unit="m",
)  # fmt: skip
PULLS = DriveBlock(
    "c", "motor", False, np.array([[-40.0]]), np.array([20.0]), np.array([1.5]), 0.1, np.array([-7.0]),
    damping=0.4, delay=0.001, unit="V",
)  # fmt: skip
INSTRUMENTS = (Instrument("acc", delay=0.003, frequency=100.0, damping=0.7), Instrument("y", frequency=30.0))
ALL = Hardware((LEADS, YIELDS, PULLS), INSTRUMENTS)


@pytest.fixture(scope="module")
def plant():
    """Four coordinates, three of them with an actuator; a displacement, an acceleration, and the force of one."""
    random, n = np.random.default_rng(1), 4
    M, K = (part @ part.T for part in random.normal(size=(2, n, n)))
    M, K, D_d, P3 = M + n * np.eye(n), 50.0 * K, 0.3 * np.eye(n), np.eye(n, 3)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D_d)]])
    B = np.vstack([np.zeros((n, 3)), np.linalg.solve(M, P3)])
    place, felt = random.normal(size=(2, n))
    C = np.vstack([np.append(place, np.zeros(n)), felt @ A[n:], np.zeros(2 * n)])
    D = np.vstack([np.zeros(3), felt @ B[n:], [1.0, 0.0, 0.0]])
    states = (*NAMES, *(f"{name}.rate" for name in NAMES))
    at = {
        "states": dict.fromkeys(states, 0.0) | {"a": 0.3, "b": 0.2},
        "inputs": {"a": 3.0, "b": 1.0, "c": 2.0}, "outputs": {"y": 0.4, "acc": 0.0, "f": 3.0}, "accelerations": {},
    }  # fmt: skip
    model = LinearModel(A, B, C, D, states, NAMES[:3], ("y", "acc", "f"), at, SecondOrder(M, -K, -D_d, P3))
    return SimpleNamespace(model=model, M=M, K=K, D_d=D_d, place=place, felt=felt)


def at_a_frequency(plant, omega):
    """Outputs (3,) for each command, from κ with drives in it; the force of what leads is what κ asks for."""
    s, one = 1j * omega, np.array([omega])
    kappa = plant.K + s * plant.D_d + s * s * plant.M
    kappa[1, 1] += impedance(YIELDS, one)[0]
    kappa[2, 2] += impedance(PULLS, one)[0]
    found = np.zeros((3, 3), complex)
    for j in range(3):
        eta, right = np.zeros(4, complex), np.zeros(4, complex)
        eta[0] = motion_response(LEADS, one)[0] if j == 0 else 0.0
        if j:
            right[j] = force_response((YIELDS, PULLS)[j - 1], one)[0]
        eta[1:] = np.linalg.solve(kappa[1:, 1:], right[1:] - kappa[1:, 0] * eta[0])
        found[:, j] = plant.place @ eta, s * s * (plant.felt @ eta), kappa[0] @ eta
    found[1] *= instrument_response(INSTRUMENTS[0], one)[0]
    found[0] *= instrument_response(INSTRUMENTS[1], one)[0]
    return found


def test_commands_to_readings_are_those_of_every_frequency(plant):
    """The delays of 1 to 3 ms at 33 Hz turn by at most 0.6 rad, where Padé's order 8 is exact to rounding."""
    found = with_hardware(plant.model, ALL, 8)
    for hz in LINES:
        wanted = at_a_frequency(plant, 2.0 * np.pi * hz)
        values = np.array([[found.response(hz, y, u) for u in found.inputs] for y in found.outputs])
        assert_allclose(values, wanted, rtol=0.0, atol=1e-9 * np.abs(wanted).max())


def test_a_low_order_is_told_and_errs_by_what_pade_does(plant):
    found = with_hardware(plant.model, ALL, 1)
    assert found.pade == 1
    assert dict(found.delays) == {"a": 0.002, "c": 0.001, "acc": 0.003}
    assert "delays of a, c, acc as Padé approximants of order 1" in found.summary()
    hz, T = 33.0, 0.002
    x = 2j * np.pi * hz * T
    ratio = found.response(hz, "f", "a") / at_a_frequency(plant, 2.0 * np.pi * hz)[2, 0]
    assert_allclose(ratio, (1.0 - x / 2) / (1.0 + x / 2) * np.exp(x), rtol=1e-9)


def test_a_led_coordinate_is_not_counted_twice(plant):
    """A velocity servo of second order with its integral has three states: θ, θ̇, and one beside them."""
    found = with_hardware(plant.model, Hardware((LEADS,)), 2)
    assert found.states[8:] == ("a.drive3", "a.delay1", "a.delay2")
    assert found.coordinates == NAMES
    reached = np.hstack([np.linalg.matrix_power(found.A / 1e3, k) @ found.B for k in range(len(found.states))])
    assert np.linalg.matrix_rank(reached / np.linalg.norm(reached, axis=0), tol=1e-10) == len(found.states)
    modes = found.modes()
    assert modes.coordinates == (*NAMES, "a.drive3", "a.delay1", "a.delay2")
    assert_allclose(modes.participation.sum(axis=1), 1.0)


def test_what_it_is_about_stands_still(plant):
    """Commands in place of forces; drives that yield and pull give those forces, by their own equations."""
    found = with_hardware(plant.model, ALL, 2)
    states, inputs = found.at["states"], found.at["inputs"]
    assert found.at["forces"] == {"a": 3.0, "b": 1.0, "c": 2.0}
    assert inputs["a"] == pytest.approx(0.0)
    assert YIELDS.stiffness * (states["b.drive1"] - states["b"]) == pytest.approx(1.0)
    assert inputs["b"] == pytest.approx(states["b.drive1"])
    assert 1.5 * states["c.drive1"] + 0.1 * inputs["c"] == pytest.approx(2.0)
    assert -40.0 * states["c.drive1"] + 20.0 * inputs["c"] == pytest.approx(0.0)
    assert states["y.filter1"] == 0.4
    assert states["c.delay1"] == inputs["c"]
    assert found.units.inputs == {"a": "m/s", "b": "m", "c": "V"}


def test_nothing_described_changes_nothing(plant):
    assert with_hardware(plant.model, Hardware()) is plant.model


def test_a_dead_band_is_told_of_and_left_out(plant):
    from dataclasses import replace

    with pytest.warns(SuppleNote, match=r'dead band: .*"b" \(0.01 m\)'):
        found = with_hardware(plant.model, Hardware((replace(YIELDS, dead_band=0.01),)), 2)
    assert_allclose(found.A, with_hardware(plant.model, Hardware((YIELDS,)), 2).A)


def test_a_drive_that_moves_along_no_coordinate_is_refused(plant):
    from dataclasses import replace

    skew = plant.model.second_order._replace(P3=plant.model.second_order.P3 + 0.3)
    with pytest.raises(InputError, match=r'actuator "a": its velocity drive .*no coordinate.*drives=False'):
        with_hardware(replace(plant.model, second_order=skew), ALL)
