"""Inputs that are callables are followed at every step: how a run ends does not depend on the results it keeps.

A cart of mass m under F(t):  x(T) = ∫₀ᵀ (T - t) F(t)/m dt,  exact by quadrature.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

import supple
from supple.integration.input_course import followed_course

MASS, END = 2.0, 0.6
SIGNALS = {
    "sine": (lambda t: np.sin(40.0 * t + 0.3), ()),
    "chirp": (lambda t: 3.0 * np.cos(20.0 * t + 150.0 * t * t), ()),
    "jump": (lambda t: 1.0 if t > 0.2345 else -0.5, (0.2345,)),
    "pulse": (lambda t: 4.0 if 0.4 < t < 0.403 else 0.0, (0.4, 0.403)),
    "kinks": (lambda t: abs(np.sin(25.0 * t)), tuple(np.pi / 25.0 * np.arange(1, 5))),
}
BETWEEN = 1e-3 / 4096  # s between samples around a jump; the ramp between two of them is off by half of it


def cart(**drive) -> supple.ReducedModel:
    machine = supple.Mechanism(
        supple=1, name="cart", plane="xy", gravity=[0, 0], points={"O": [0, 0]},
        bodies={"cart": {"mass": MASS, "center": [0, 0], "inertia": 0.1}},
        joints={"O": {"prismatic": ["ground", "cart"], "axis": [1, 0]}},
        actuators={"push": {"joint": "O"} | ({"drive": drive} if drive else {})},
    )  # fmt: skip
    return supple.reduce(machine, region={"push": [-2.0, 2.0]}, store=False)


@pytest.fixture(scope="module")
def free():
    return cart()


def exact(force, kinks, *, end=END):
    def part(moment):
        return quad(moment, 0.0, end, points=kinks or None, limit=400, epsabs=1e-13)[0] / MASS

    return part(lambda t: (end - t) * force(t)), part(force)


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("results", [2, 61])
def test_a_run_ends_the_same_whatever_results_it_keeps(free, name, results):
    force, kinks = SIGNALS[name]
    run = free.simulate(
        np.linspace(0.0, END, results), {"push": force}, {"push": 0.0}, tolerance=1e-10, method="explicit"
    )
    x, v = exact(force, kinks)
    # Steps err by 1e-10 each, some hundred of them; jumps of up to 4 N are off by half of the way between two samples
    allowed = 1e-8 + len(kinks) * 4.0 / MASS * 0.5 * BETWEEN * (name in ("jump", "pulse"))
    assert run.coordinates["push"][-1] == pytest.approx(x, rel=0, abs=allowed)
    assert run.rates["push"][-1] == pytest.approx(v, rel=0, abs=allowed)
    assert_allclose(run.inputs["push"], [force(t) for t in run.time], atol=1e-9 * 4.0)


def test_an_implicit_run_follows_them_too(free):
    force, kinks = SIGNALS["sine"]
    ends = [
        free.simulate([0.0, *middle, END], {"push": force}, {"push": 0.0}, tolerance=1e-8, method="implicit")
        for middle in ([], np.linspace(0.0, END, 40)[1:-1])
    ]
    for run in ends:  # of second order: some thousand steps that err by 1e-8 each, in one direction for half a period
        assert run.coordinates["push"][-1] == pytest.approx(exact(force, kinks)[0], rel=0, abs=1e-5)


@pytest.mark.parametrize(
    "drive",
    [
        {"force": {"frequency": 30.0}},
        {"motor": {"torque_constant": 2.0, "resistance": 1.0, "inductance": 0.01, "gear": 1.0}},
    ],
    ids=["force", "motor"],
)
def test_drives_are_commanded_at_every_step(drive):
    """Whatever results are kept; the command is linear between samples 1/8 of the longest step apart."""
    model = cart(**drive)
    force, _ = SIGNALS["sine"]
    ends = []
    for results in (2, 601):
        run = model.simulate(np.linspace(0.0, END, results), {"push": force}, {"push": 0.0})
        ends.append([run.coordinates["push"][-1], run.rates["push"][-1]])
    # A command linear over h = 1/8 ms is off by (ω h)²/8, a drive that feels the motion by its interval squared
    assert_allclose(ends[0], ends[1], rtol=1e-5)


def test_tables_and_callables_have_their_kinks_and_curves():
    course = followed_course(
        ("a", "b"), {"a": [0.0, 1.0, 0.0], "b": np.cos}, [0.1, 0.3, 0.8], np.array([0.0, 1.0]), None, fixed=False
    )
    assert {0.1, 0.3, 0.8} <= set(course.stops)
    at = np.random.default_rng(0).uniform(0.0, 1.0, 200)
    assert_allclose(course.at(at)[:, 0], np.interp(at, [0.1, 0.3, 0.8], [0.0, 1.0, 0.0]), atol=1e-12)
    assert_allclose(course.at(at)[:, 1], np.cos(at), atol=1e-12)


def test_noise_is_sampled_as_often_as_eight_times_a_step_and_no_more():
    calls = []

    def noise(t):
        calls.append(t)
        return float(np.sin(1e9 * t * t))

    course = followed_course(("a",), {"a": noise}, None, np.array([0.0, 5.0]), None, fixed=False)
    assert len(calls) <= 1.2 * 8 * 5.0 / 1e-3
    assert np.diff(course.breaks).max() <= 1e-3
