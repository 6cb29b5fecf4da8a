"""Two time scales on a Kalman filter, at one configuration of ralf: poles, inverses of drives, and what is refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.control.controllers.two_time_scales import _slow
from supple.control.observers.kalman_filter import pairs, with_centrifugal_inputs
from supple.diagnostics import InputError
from supple.hardware.hardware import NO_HARDWARE

HOME, T = [1.15, 1.0], 1e-3

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def model() -> supple.ReducedModel:
    ralf = supple.load(EXAMPLES / "ralf" / "mechanism.yaml")
    around = {"lift": (1.1, 1.2), "elbow": (0.95, 1.05)}
    return supple.reduce(ralf, region=around, checks=200, internal_modes=2, tolerance=1e-3)


@pytest.fixture(scope="module")
def observer(model) -> control.KalmanFilter:
    return control.kalman_filter(model, sample_time=T, accelerations=0.2, noise={"imu.x": 0.1, "imu.z": 0.1})


@pytest.fixture(scope="module")
def standing() -> control.Reference:
    return control.Reference(("lift", "elbow"), np.array([0.0, 1.0]), np.array([[HOME]]))


def poles(model, observer, standing, ratio):
    """Of the loop, in hertz and damping ratios, below 40 Hz."""
    law = control.two_time_scales(observer, standing, damping_ratios=ratio, at=HOME).law
    found = control.closed_poles(model.linearize(HOME, pade=4), [control.linear_law(law)])
    found = found[(found.imag > 0.0) & (np.abs(found) < 2.0 * np.pi * 40.0)]
    return np.abs(found) / (2.0 * np.pi), -found.real / np.abs(found)


@pytest.mark.slow
def test_modes_get_the_damping_that_is_asked_for(model, observer, standing):
    """Delay, hold and servo turned back at each mode's frequency: of first order in the damping, so a small one."""
    hertz, ratios = poles(model, observer, standing, 0.05)
    for mode, own in zip(model.evaluate(HOME).internal_hz, (0.01, 0.01), strict=True):
        found = np.argmin(np.abs(hertz - mode) + 10.0 * np.abs(ratios - 0.06))
        assert hertz[found] == pytest.approx(mode, rel=5e-3)
        assert ratios[found] == pytest.approx(own + 0.05, rel=0.07)


def test_what_the_observer_does_is_its_own_matter(model, observer, standing):
    """Separation: with a model that is right, poles of the filter are poles of the loop, whatever is fed back."""
    sampled = observer.at(HOME)
    F, H, L = sampled.plant.F, sampled.plant.H, sampled.gain.L
    own = np.linalg.eigvals(F - L @ H @ F)
    own = np.log(own[np.abs(own) > 0.2]) / T
    law = control.two_time_scales(observer, standing, damping_ratios=0.3, at=HOME).law
    # The plant with delays of whole samples is the filter's own, exactly.
    m, ports = law.at(), law.ports
    told, before = m.D[:, ports.y] @ H, m.D[:, ports.applied_commands]
    n, k, a = len(F), law.states, len(ports.actuators)
    loop = np.zeros((n + k + a, n + k + a))
    commands = np.hstack([told, m.C, before])
    loop[:n] = sampled.plant.G @ commands
    loop[:n, :n] += F
    loop[n : n + k] = np.hstack([m.B[:, ports.y] @ H, m.A, m.B[:, ports.applied_commands]])
    loop[n + k :] = commands
    found = np.log(np.linalg.eigvals(loop).astype(complex) + 1e-300) / T
    for pole in own:
        assert np.abs(found - pole).min() < 1e-4 * abs(pole)


def test_the_inverse_of_a_velocity_servo(observer):
    """1/H(s) = 1 + 2ζ s/ω + s²/ω²."""
    omega = 2.0 * np.pi * 20.0
    assert_allclose(_slow(observer.hardware.drives[0]).inverse, [1.0, 1.4 / omega, 1.0 / omega**2], rtol=1e-9)


def test_a_drive_that_is_inverted_follows(model, observer):
    """Its lag of 13 ms would leave 2.9 mm at 0.225 m/s; what is left comes of held commands and of noise."""
    ways = _quintic([1.18, 1.03], [1.12, 0.97], 0.5)
    inside = control.Reference(("lift", "elbow"), np.array([0.0, 0.5]), ways)
    law = control.two_time_scales(observer, inside, damping_ratios=0.0, at=HOME)
    run = control.closed_loop(model, law, until=0.7, sample_time=T, start={"lift": 1.18, "elbow": 1.03})
    assert max(np.abs(run.errors[name]).max() for name in ("lift", "elbow")) < 1e-4  # m


def _quintic(first, last, duration):
    """Rest to rest, (1, 6, s)."""
    way = np.subtract(last, first)
    powers = np.array([0.0, 0.0, 0.0, 10.0, -15.0, 6.0]) / duration ** np.arange(6)
    c = powers[:, None] * way
    c[0] = first
    return c[None]


def test_forces_of_rates_are_those_of_the_model(model):
    """Q_ij θ̇_i θ̇_j is what the inverse dynamics has beyond first order, of any rates."""
    swept, names = with_centrifugal_inputs(model, model.linearize(HOME, drives=False))
    assert names == ("lift.rate lift.rate", "lift.rate elbow.rate", "elbow.rate elbow.rate")
    delta = [swept.at["states"][name] for name in ("mode1", "mode2")]
    rates, still = np.array([0.3, -0.2, 0.0, 0.0]), np.zeros(4)
    tau = model.inverse(HOME, rates, still, delta=delta) - model.inverse(HOME, still, still, delta=delta)
    products = [rates[i] * rates[j] for i, j in pairs(2)]
    assert_allclose(-swept.second_order.P3[:, 2:] @ products, tau, rtol=1e-9, atol=1e-9)


def test_bias_of_an_accelerometer_is_found(model, observer, standing):
    """Standing, gravity known: what is left over is the bias."""
    watch = control.kalman_filter(model, sample_time=T, accelerations=0.02, bias={"imu.x": 0.5, "imu.z": 0.5})
    here = watch.at(HOME)
    F, H, L = here.plant.F, here.plant.H, here.gain.L
    X, wrong = here.plant.state.copy(), np.array([0.3, -0.2, 0.0, 0.0])
    for _ in range(4000):
        X = here.plant.state + F @ (X - here.plant.state)
        X = X + L @ (here.plant.output + wrong - here.plant.output - H @ (X - here.plant.state))
    found = dict(zip(here.plant.names, X, strict=True))
    assert found["imu.x.bias"] == pytest.approx(0.3, abs=1e-3)
    assert found["imu.z.bias"] == pytest.approx(-0.2, abs=1e-3)


def test_what_cannot_be_made_is_refused(model, observer, standing):
    with pytest.raises(InputError, match=r'no sensor measures .*"lift"'):
        control.kalman_filter(replace(model, hardware=NO_HARDWARE), sample_time=T, accelerations=0.2)
    with pytest.raises(InputError, match=r'"tip\.x" has no noise'):
        control.kalman_filter(model, sample_time=T, accelerations=0.2, measured=("tip.x",))
    forces = replace(model.hardware, drives=())
    with pytest.raises(InputError, match=r'no drive .*"lift".*state_feedback'):
        control.two_time_scales(
            control.kalman_filter(model, sample_time=T, accelerations=0.2, hardware=forces), standing, at=HOME
        )
