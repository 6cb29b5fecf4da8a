"""Controllers in the loop: against an independent integration, on every kind of plant, and when they go wrong."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import supple
from supple import control
from supple.diagnostics import SuppleNote

T = 0.05


class Law:
    """A controller made of a function."""

    def __init__(self, law):
        self.law, self.seen = law, []

    def step(self, t, measurement):
        self.seen.append((t, measurement))
        return self.law(t, measurement)


@pytest.fixture(scope="module")
def regulator(linear):
    return control.decoupled_gains(linear, [4.0, 5.0], 0.7).regulator()


def by_hand(arm, controller, x, until):
    """The two-link arm's own equations, to 1e-12 between samples."""
    p, g = arm.parameters, 9.80665
    m, L, c, J = p["mass"], p["length"], p["center"], p["inertia"]

    def slope(_, x, u):
        (a, b), v = x[:2], x[2:]
        coupling = m * L * c * np.cos(b)
        M = np.array([[2 * J + 2 * m * c**2 + m * L**2 + 2 * coupling, J + m * c**2 + coupling], [0, J + m * c**2]])
        M[1, 0] = M[0, 1]
        bend = m * L * c * np.sin(b) * np.array([-(2 * v[0] + v[1]) * v[1], v[0] ** 2])
        weight = m * g * np.array([(c + L) * np.sin(a) + c * np.sin(a + b), c * np.sin(a + b)])
        return np.concatenate([v, np.linalg.solve(M, u - bend - weight)])

    states, inputs = [np.array(x, float)], []
    for k in range(round(until / T)):
        now = states[-1]
        u = np.asarray(controller.step(k * T, control.Measurement(("shoulder", "elbow"), now[:2], now[2:])))
        inputs.append(u)
        states.append(solve_ivp(slope, (0, T), now, args=(u,), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1])
    return np.array(states), np.array(inputs)


def test_against_the_equations_by_hand(arm, regulator):
    """Second order in the step: the jumps of the inputs cost nothing."""
    states, inputs = by_hand(arm, regulator, [1.0, 1.0, 0.5, -0.5], 2.0)
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        loop = control.closed_loop(
            arm, regulator, until=2.0, sample_time=T, start="far", rates={"shoulder": 0.5, "elbow": -0.5}, step=step
        )
        found = np.stack([*loop.coordinates.values(), *loop.rates.values()], axis=1)
        errors.append(np.abs(found - states).max())
    assert errors[-1] < 2e-5
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert 3.5 < errors[1] / errors[2] < 4.5
    held = np.stack([*loop.inputs.values()], axis=1)[:-1]
    assert_allclose(held, inputs, atol=np.abs(regulator.gain).sum(axis=1).max() * errors[-1])
    assert loop.complete
    assert_allclose(loop.time, T * np.arange(41), atol=1e-12)


def test_a_loop_is_a_simulation(arm, regulator):
    """Its energy balances, its rates are the slopes of its coordinates, its accelerations fit the forces held."""
    loop = control.closed_loop(arm, regulator, until=1.0, sample_time=T, start="far", step=1e-3)
    assert isinstance(loop, supple.Simulation)
    assert np.abs(loop.energy["balance"]).max() < 1e-4 * loop.energy["kinetic"].max()
    assert_allclose(loop.outputs["tip.x"], loop.frame("tip").position[:, 0], atol=1e-12)
    # v̇ as it was when a sample was reached, under the forces of the interval before it
    before = np.column_stack([*loop.inputs.values()])[:-1]
    here, there = (np.column_stack([*group.values()]) for group in (loop.coordinates, loop.rates))
    model = supple.local(arm, here[1:])
    bent = np.einsum("nijk,nj,nk->ni", model.christoffel, there[1:], there[1:])
    force = np.einsum("nij,nj->ni", model.input_map, before) + model.force - bent
    expected = np.linalg.solve(model.M, force[..., None])[..., 0]
    found = np.column_stack([*loop.accelerations.values()])[1:]
    assert_allclose(
        found, expected, atol=3e-3 * np.abs(expected).max()
    )  # the method meets positions, not accelerations


def test_held_forces_are_a_simulation_with_constant_inputs(arm):
    loop = control.closed_loop(
        arm, Law(lambda *_: {"elbow": 30.0}), until=0.5, sample_time=0.1, start="near", step=1e-3
    )
    run = supple.simulate(arm, until=0.5, step=1e-3, start="near", inputs={"elbow": 30.0}, output_step=0.1)
    for name, values in loop.coordinates.items():
        assert_allclose(values, run.coordinates[name], atol=1e-12)


def test_closed_chain(four_bar):
    """A crank against gravity: the loop settles where its linear model says, its constraints hold."""
    linear = supple.linearize(four_bar, [0.3])
    gain = control.decoupled_gains(linear, 10.0, 0.9)
    loop = control.closed_loop(four_bar, gain.regulator(), until=1.5, sample_time=5e-3, start={"crank": 0.35})
    assert_allclose(loop.coordinates["crank"][-1], 0.3, atol=1e-6)
    same = control.closed_loop(linear, gain.regulator(), until=1.5, sample_time=5e-3, start={"crank": 0.35})
    assert_allclose(loop.coordinates["crank"], same.coordinates["crank"], atol=0.05 * 0.05)


def test_linear_plant_is_exact(linear, regulator):
    loop = control.closed_loop(linear, regulator, until=1.0, sample_time=T, start=[0.1, -0.1], rates=[0.0, 1.0])

    def slope(_, x, u):
        return linear.A @ x + linear.B @ u

    x = np.array([0.1, -0.1, 0.0, 1.0])
    for k in range(20):
        found = [loop.coordinates["shoulder"][k], loop.coordinates["elbow"][k], *(r[k] for r in loop.rates.values())]
        assert_allclose(found, x, atol=1e-9)
        u = np.array([values[k] for values in loop.inputs.values()])
        x = solve_ivp(slope, (0, T), x, args=(u,), rtol=1e-12, atol=1e-13).y[:, -1]
    x = np.column_stack([*loop.coordinates.values(), *loop.rates.values()])
    slopes = x @ linear.A.T + np.column_stack([*loop.inputs.values()]) @ linear.B.T
    assert_allclose(np.column_stack([*loop.accelerations.values()]), slopes[:, 2:], atol=1e-9)
    with pytest.raises(supple.InputError, match="reactions"):
        loop.reaction("shoulder")
    assert loop.balanced is None
    assert_allclose(loop.outputs["tip.x"][0], 2 * 0.1 + 2 * 0.0, atol=1e-12)


def test_linear_plant_away_from_balance_drifts(arm):
    """Linearized where it cannot stay without forces, it accelerates as the mechanism does."""
    falling = supple.linearize(arm, [0.5, 0.2], inputs=[0.0, 0.0])
    nothing = Law(lambda *_: {})
    loop = control.closed_loop(falling, nothing, until=0.02, sample_time=0.01)
    full = control.closed_loop(arm, nothing, until=0.02, sample_time=0.01, start=[0.5, 0.2], step=1e-3)
    for name in ("shoulder", "elbow"):
        moved = full.coordinates[name][-1] - full.coordinates[name][0]
        assert_allclose(loop.coordinates[name][-1] - loop.coordinates[name][0], moved, rtol=2e-3)


def test_reduced_model_in_the_loop(four_bar, tmp_path):
    model = supple.reduce(four_bar, region={"crank": (-0.5, 0.5)}, tolerance=1e-5, output=tmp_path / "four-bar.rom")
    gain = control.decoupled_gains(model.linearize([0.3]), 10.0, 0.9)
    whole = supple.linearize(four_bar, [0.3])
    assert_allclose(gain.K, control.decoupled_gains(whole, 10.0, 0.9).K, rtol=1e-3)
    options = {"until": 0.6, "sample_time": 1e-2, "start": {"crank": 0.1}, "rates": {"crank": 1.0}}
    small = control.closed_loop(model, gain.regulator(), **options)
    full = control.closed_loop(four_bar, gain.regulator(), **options, step=2e-4)
    assert_allclose(small.coordinates["crank"], full.coordinates["crank"], atol=2e-5)
    assert_allclose(small.inputs["crank"], full.inputs["crank"], atol=1e-3 * np.abs(full.inputs["crank"]).max())
    with pytest.warns(supple.SuppleWarning, match="leaves the region"):
        out = control.closed_loop(model, Law(lambda *_: [50.0]), until=1.0, sample_time=1e-2, start={"crank": 0.1})
    assert not out.complete
    assert "leaves the region" in out.reason
    assert len(out.time) == len(out.coordinates["crank"]) == len(out.inputs["crank"]) < 101


def test_what_a_controller_is_told(arm):
    spy = Law(lambda *_: [0.0, 0.0])
    control.closed_loop(arm, spy, until=0.25, sample_time=0.1, start=[0.3, 0.1], rates=[1.0, -1.0])
    assert_allclose([t for t, _ in spy.seen], [0.0, 0.1, 0.2, 0.25])  # the last interval is shorter
    first = spy.seen[0][1]
    assert first.coordinates == ("shoulder", "elbow")
    assert_allclose(first.state, [0.3, 0.1, 1.0, -1.0])
    assert first["elbow"] == pytest.approx(0.1)
    assert first["elbow.rate"] == pytest.approx(-1.0)
    assert first["tip.x"] == pytest.approx(2 * np.sin(0.3) + 2 * np.sin(0.4))
    with pytest.raises(supple.InputError, match=r'"elbow.rates" is not measured'):
        first["elbow.rates"]


def test_references_may_move(linear, arm):
    gain = control.decoupled_gains(linear, 12.0)

    def state(t):
        return [0.1 * np.sin(t), 0.0, 0.1 * np.cos(t), 0.0]

    moving = control.StateFeedback(gain.K, state, np.zeros(2))
    loop = control.closed_loop(arm, moving, until=4.0, sample_time=1e-2, rates=[0.1, 0.0])
    late = loop.time > 1.0
    assert np.abs(loop.coordinates["shoulder"] - 0.1 * np.sin(loop.time))[late].max() < 0.01  # 1/ω² of it, and lag


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0], r"controller at 0 s: .*shape \(1,\)"),
        ([np.nan, 0.0], '"shoulder" is nan; .*unstable'),
        ({"elbows": 1.0}, 'unknown name "elbows"; did you mean "elbow"'),
        (None, "returned None; return numbers for shoulder, elbow"),
        (np.zeros((3, 2)), "shape"),
    ],
)
def test_wrong_answers_are_refused(arm, answer, message):
    with pytest.raises(supple.InputError, match=message):
        control.closed_loop(arm, Law(lambda *_: answer), until=0.1, sample_time=0.05)


def test_wrong_times_are_refused(arm, regulator):
    with pytest.raises(supple.InputError, match="sample time"):
        control.closed_loop(arm, regulator, until=1.0, sample_time=2.0)
    with pytest.raises(supple.InputError, match=r"until .*positive .*-1 s"):
        control.closed_loop(arm, regulator, until=-1.0, sample_time=0.1)
    with pytest.raises(supple.InputError, match=r"step .*above 0 s .*at most 1 s.*got 0 s"):
        control.closed_loop(arm, regulator, until=1.0, sample_time=0.1, step=0.0)


def test_a_gain_for_another_machine_is_refused(arm, four_bar):
    other = control.decoupled_gains(supple.linearize(four_bar, "home"), 10.0).regulator()
    with pytest.raises(supple.InputError, match='unknown actuator "crank"'):
        control.closed_loop(arm, other, until=0.1, sample_time=0.05)


def test_a_loop_that_explodes_says_so(arm, linear):
    bad = control.StateFeedback(-1e9 * np.eye(2, 4), np.zeros(4), np.zeros(2))
    with pytest.warns(supple.SuppleWarning, match="results end at"):
        loop = control.closed_loop(arm, bad, until=2.0, sample_time=0.1, start="near")
    assert not loop.complete
    assert re.search(r"20000 steps .*tolerance of 1e-06; .*unstable; lower the gains", loop.reason)
    assert len(loop.time) == len(loop.coordinates["elbow"]) == len(loop.inputs["elbow"])


def test_the_state_of_a_linear_model_is_a_start():
    """Its own, with the states of drives; of the mechanism, which has no modes, θ, at rest under its own weight."""
    ralf = supple.load(Path(__file__).parents[2] / "examples" / "ralf" / "mechanism.yaml")
    linear = supple.linearize(ralf, "home", internal_modes=2)
    state = linear.at["states"]

    class Idle:
        sample_time = 1e-3

        def step(self, t, measurement):
            return [0.0] * len(ralf.actuators)

    own = supple.control.closed_loop(linear, Idle(), until=2e-3, start=state)
    assert own.coordinates["mode1"][0] == pytest.approx(state["mode1"], rel=1e-12)
    with pytest.warns(SuppleNote) as said:
        full = supple.control.closed_loop(ralf, Idle(), until=2e-3, start=state)
    assert any("mode1, mode2" in str(item.message) and "at rest" in str(item.message) for item in said)
    assert full.coordinates["lift"][0] == pytest.approx(state["lift"], rel=1e-9)
    moving = type(state)({**state, "mode1.rate": 0.1}, state.basis)
    with pytest.raises(supple.InputError, match=r'"mode1.rate" is 0.1, .*start at rest'):
        supple.control.closed_loop(ralf, Idle(), until=2e-3, start=moving)
