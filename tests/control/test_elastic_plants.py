"""Controllers on elastic mechanisms: what they see deforms, jumps of their forces are taken as such, and a loop that
cannot go on returns what there is with one message."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.diagnostics import EarlyEnd, InputError

ARM = supple.loads("""\
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {O: [0, 0], P: [1, 0]}
materials: {steel: {youngs_modulus: 210e9, density: 7800, poisson: 0.3}}
sections: {bar: {rectangle: [20 mm, 6 mm]}}
bodies: {link: {beam: [O, P], section: bar, material: steel, elements: 2}}
joints: {O: {revolute: [ground, link]}}
actuators: {O: {joint: O}}
damping: {rayleigh: [0, 1e-3]}
sensors: {P: {position: link.P}}
""")
WEIGHT = 9.81 * 0.02 * 0.006 * 7800


class CommandQuantity:
    """Forces as told, and what was seen at every call."""

    def __init__(self, force):
        self.force, self.seen = force, []

    def step(self, t, measurement):
        self.seen.append((t, measurement["O"], measurement["P.z"]))
        return [self.force(t, measurement)]


def test_a_held_force_is_the_run_under_that_force():
    told = CommandQuantity(lambda t, _: 6.0 if t < 0.0199 else 8.0)
    begin = supple.equilibrium(ARM, [0.0], held=["O"])
    run = control.closed_loop(ARM, told, until=0.04, sample_time=0.01, start=begin, step=2e-4)
    assert run.rigid == ()
    times = [0.0, 0.02 - 1e-9, 0.02, 0.04]
    whole = supple.simulate(ARM, run.time, {"O": [6.0, 6.0, 8.0, 8.0]}, begin, input_times=times, step=2e-4)
    # Order two: both err by (ωh)², the jump that is not resolved among it.
    assert_allclose(run.outputs["P.z"], whole.outputs["P.z"], atol=1e-2 * np.ptp(whole.outputs["P.z"]))
    t, angle, height = np.array(told.seen).T
    assert_allclose(t, run.time)
    assert_allclose(angle, run.coordinates["O"], atol=1e-12)
    assert_allclose(height, run.outputs["P.z"], atol=1e-12)
    bent = height - np.sin(angle)
    assert np.ptp(bent) > 1e-3  # the tip is not where the joint's angle alone would have it
    stiff = control.closed_loop(ARM, told, until=0.04, sample_time=0.01, start=[0.0], step=2e-4, rigid=True)
    assert stiff.rigid == ("link",)


def test_what_holds_it_at_rest_keeps_it_there():
    held = supple.deflection(ARM, large=True)
    told = CommandQuantity(lambda *_: held.holding_forces["O"])
    run = control.closed_loop(ARM, told, until=0.02, sample_time=0.005, start=held.deformed_configuration)
    # The first force takes the place of none at all: a jump of all accelerations, taken back at once.
    assert np.abs(run.rates["O"]).max() < 1e-9
    assert run.energy["kinetic"].max() < 1e-16 * WEIGHT


def test_a_beam_bent_too_far_ends_the_loop_with_one_message():
    told = CommandQuantity(lambda t, _: 2e4 * t)
    with pytest.warns(EarlyEnd, match=r"results end at .* an element .* 0\.5 rad .*more elements") as caught:
        run = control.closed_loop(ARM, told, until=0.1, sample_time=0.002)
    assert len(caught) == 1
    assert not run.complete
    assert 0.0 < run.time[-1] < 0.1
    assert len(run.outputs["P.z"]) == len(run.time)
    with pytest.warns(EarlyEnd, match=r"an element .* 0\.5 rad .*chord"):
        whole = supple.simulate(ARM, until=0.1, inputs={"O": lambda t: 2e4 * t})
    assert_allclose(whole.stopped, run.stopped, atol=0.004)  # forces that are held come half a sample later


def test_a_sensor_that_is_missing_ends_the_loop_where_it_is_asked_for():
    asked = CommandQuantity(lambda t, measurement: 6.0 if t < 0.0099 else measurement["Q.z"])
    with pytest.warns(EarlyEnd, match=r'the controller failed at 0.01 s: "Q.z" is not measured; did you mean "P.z"'):
        run = control.closed_loop(ARM, asked, until=0.05, sample_time=0.005)
    assert_allclose(run.time, [0.0, 0.005, 0.01])
    with pytest.raises(InputError, match=r'"Q.z" is not measured'):  # at once: nothing has been computed
        control.closed_loop(
            ARM, CommandQuantity(lambda t, measurement: measurement["Q.z"]), until=0.05, sample_time=0.005
        )


def test_a_step_that_does_not_converge_ends_runs_with_what_there_is():
    absurd = 1e15
    with pytest.warns(EarlyEnd, match=r"results end at 0.009 s: no step from 0.009 s on converged") as caught:
        run = supple.simulate(ARM, until=0.02, inputs={"O": lambda t: 0.0 if t < 0.01 else absurd}, step=1e-3)
    assert len(caught) == 1
    assert len(run.time) == 10
    assert np.isfinite(run.outputs["P.z"]).all()
    with pytest.warns(EarlyEnd, match=r"results end at 0.01 s: no step from 0.01 s on converged"):
        loop = control.closed_loop(
            ARM, CommandQuantity(lambda t, _: 0.0 if t < 0.0099 else absurd), until=0.02, sample_time=0.005
        )
    assert_allclose(loop.time, [0.0, 0.005, 0.01])
