"""Loops with drives and instruments: what passes through them is what their equations say, on every plant alike."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from flexible_arm import HOME, five_bar, model
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.control.plants import sampled
from supple.diagnostics import EarlyEnd, InputError, SuppleNote
from supple.results.closed_loop import ClosedLoop
from supple.results.signals import Signals

SERVO = {"velocity": {"frequency": 30.0, "damping": 0.7, "delay": 1.3e-3}}
HELD = {"position": {"frequency": 40.0, "damping": 0.8}, "stiffness": 2e3, "viscous": 5.0}
T = 1e-3
HOLDS = {"E": HOME["E"]}


@cache
def machine():
    """The five-bar with a servo that leads A, one that pulls E through a spring, and sensors."""
    given = five_bar()
    data = given.model_dump(exclude_unset=True, by_alias=True)
    data["actuators"] = {"A": {"joint": "A", "drive": SERVO}, "E": {"joint": "E", "drive": HELD}}
    data["sensors"] = {
        "tool": {"position": "bc.C"}, "A": {"joint": "A", "noise": 1e-4, "delay": 2e-3},
        "E": {"joint": "E", "resolution": 1e-5}, "swing": {"acceleration": "bc.C", "noise": 0.1},
    }  # fmt: skip
    return supple.Mechanism(**data)


@cache
def small():
    return supple.reduce(machine(), region={"A": (2.0, 2.2), "E": (0.95, 1.2)}, tolerance=1e-3, internal_modes=2,
                         checks=200, store=False)  # fmt: skip


class CommandQuantity:
    """Commands as a function of time and measurement, and what was seen."""

    def __init__(self, law, **more):
        self.law, self.seen = law, []
        for name, value in more.items():
            setattr(self, name, value)

    def step(self, t, measurement):
        self.seen.append(measurement.time)
        return self.law(t, measurement)


def moving(t, _):
    return {"A": 0.2 if t > 0.0045 else 0.0, "E": HOME["E"] + 0.01 * np.sin(20.0 * t)}


def run(plant, law=moving, until=0.04, **options):
    return control.closed_loop(plant, CommandQuantity(law), until=until, sample_time=T, start=HOME, **options)


@pytest.fixture(scope="module")
def loop():
    return run(small())


@pytest.mark.slow
def test_a_servo_that_leads_moves_as_its_equation_says(loop):
    w, z, late = 2.0 * np.pi * 30.0, 0.7, 5e-3 + 1.3e-3  # from the first sample after 4.5 ms on
    damped = w * np.sqrt(1.0 - z * z)
    t = np.maximum(loop.time - late, 0.0)
    swing = 2.0 * z / w * np.cos(damped * t) + (2.0 * z * z - 1.0) / damped * np.sin(damped * t)
    expected = HOME["A"] + 0.2 * (t - 2.0 * z / w + np.exp(-z * w * t) * swing)
    assert_allclose(loop.coordinates["A"], expected, atol=1e-9)
    assert set(loop.inputs) == {"E"}
    assert set(loop.driving_forces) == {"A"}
    assert loop.energy_defect < 1e-5
    # The force of the spring, from where it stands: it moves with a servo's motion that no load changes.
    own = supple.hardware_of(machine()).drive("E")
    assert own.stiffness == 2e3
    assert np.abs(loop.inputs["E"]).max() < 2e3 * 0.02


def test_one_compiled_call_a_sample_is_one_after_the_other(loop, monkeypatch):
    monkeypatch.setattr(sampled, "CompiledSamples", sampled.StagedSamples)
    staged = run(small())
    for group in ("coordinates", "rates", "outputs", "measured", "commands", "applied", "inputs", "driving_forces"):
        for name, values in getattr(loop, group).items():
            size = np.abs(values).max() + 1e-12
            assert_allclose(getattr(staged, group)[name], values, atol=1e-11 * size, err_msg=f"{group} {name}")


def test_the_mechanism_in_the_loop_moves_as_its_model(loop):
    with pytest.warns(SuppleNote, match=r"damping model .*stiffness-proportional.*2 % .*62\.55 Hz.*rayleigh: \[0, "):
        full = run(machine())
    assert_allclose(full.coordinates["A"], loop.coordinates["A"], atol=1e-9)
    for name in ("tool.x", "tool.z"):
        assert_allclose(full.outputs[name], loop.outputs[name], atol=5e-3 * np.ptp(loop.outputs[name]))
    assert_allclose(full.coordinates["E"], loop.coordinates["E"], atol=2e-2 * np.ptp(loop.coordinates["E"]))
    for one, other in ((full, loop),):  # the same noise, whatever the plant
        noise = [each.measured["swing.x"] - each.outputs["swing.x"] for each in (one, other)]
        assert_allclose(noise[0], noise[1], atol=1e-9)


def test_measurements_are_what_sensors_show(loop):
    seen = loop.measured["A"][2:] - loop.outputs["A"][:-2]  # two samples late
    assert 0.7e-4 < seen.std() < 1.4e-4
    assert_allclose(np.round(loop.measured["E"] / 1e-5), loop.measured["E"] / 1e-5, atol=1e-6)
    other = run(small(), seed=1)
    assert np.abs(other.measured["A"] - loop.measured["A"]).max() > 1e-5
    assert_allclose(other.outputs["A"], loop.outputs["A"])

    def asks(name):
        return lambda t, measurement: {"A": measurement[name]} if t > 0.0025 else {}

    for name, remedy in (
        (
            "A.rate",
            r"add a sensor of the rate of A, filter it from A \(rate_filter= of joint_pd, joint_pid and ",
        ),
        ("mode1", 'did you mean|known: "A"'),
    ):
        with pytest.warns(EarlyEnd, match=rf'the controller failed at 0.003 s: "{name}" is not measured; ({remedy})'):
            ended = run(small(), asks(name))
        assert_allclose(ended.time, [0.0, 1e-3, 2e-3, 3e-3])
    exact = run(small(), lambda t, measurement: {"E": 0.0 * measurement["mode1"]}, until=5e-3, hardware=False)
    assert exact.measured["A"][-1] == exact.outputs["A"][-1]


def test_controllers_of_several_rates_add_up(loop):
    slow = CommandQuantity(lambda t, _: {"A": moving(t, _)["A"]}, sample_time=5 * T)
    fast = CommandQuantity(lambda t, _: {"E": moving(t, _)["E"]})
    both = control.closed_loop(small(), [slow, fast], until=0.04, sample_time=T, start=HOME)
    assert_allclose(slow.seen, 5e-3 * np.arange(9))
    assert len(fast.seen) == 41
    assert_allclose(both.coordinates["A"], loop.coordinates["A"], atol=1e-12)  # it began at a sample of both
    with pytest.raises(InputError, match=r"0.0015 s .*multiple of the loop's 0.001 s"):
        control.closed_loop(small(), CommandQuantity(moving, sample_time=1.5e-3), until=0.04, sample_time=T, start=HOME)


def test_a_computation_takes_as_long_as_a_delay():
    later = run(small(), computation_delay=2 * T)
    sooner = run(small(), lambda t, m: moving(max(t - 2 * T, 0.0), m))
    assert_allclose(later.coordinates["A"][3:], sooner.coordinates["A"][3:], atol=1e-9)


def test_a_push_is_the_force_it_is():
    def push(t):
        return 2.0 if t < 0.01 else 0.0

    still = control.closed_loop(
        model(), CommandQuantity(lambda *_: [0.0, 0.0]), until=0.02, sample_time=T, start=HOME, disturbances={"A": push}
    )
    sagged = {name: values[0] for name, values in still.coordinates.items()}
    pushed = {"A": [push(t) for t in still.time]}  # disturbances grow from sample to sample
    whole = model().simulate(still.time, pushed, sagged, input_times=still.time, method="explicit")
    assert_allclose(still.coordinates["A"], whole.coordinates["A"], atol=1e-9)
    assert not still.commands["A"].any()


def interrupted():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (lambda t, _: HOLDS | {"A": 3.0}, r'leaves the region of the model at .*\("A" moves fastest\); keep the'),
        (lambda t, _: HOLDS | {"A": np.nan if t > 0.0095 else 0.0}, r'failed at 0.01 s: .*"A" is nan; .*unstable'),
        (lambda t, m: {"E": m["E"] - 400.0 * (m["E"] - HOME["E"] - 1e-4)}, "leaves the region|no step from"),
        (lambda t, _: HOLDS | {"A": 1.0 / (0.0 if t > 0.0095 else 1.0) - 1.0},
         r"failed at 0.01 s: ZeroDivisionError: .*division by zero \(test_hardware_loops.py, line \d+\)"),
        (lambda t, _: interrupted() if t > 0.0095 else HOLDS, "interrupted at 0.01 s"),
    ],
)  # fmt: skip
def test_what_goes_wrong_ends_the_run_with_one_message(law, message):
    with pytest.warns(EarlyEnd, match=message) as caught:
        ended = run(small(), law, until=0.3)
    assert len(caught) == 1
    assert 0 < len(ended.time) < 301
    assert len(ended.measured["A"]) == len(ended.commands["A"]) == len(ended.time)
    assert np.isfinite(ended.outputs["tool.x"]).all()


def test_what_is_left_of_a_motion():
    t = np.arange(0.0, 4.0, 1e-3)
    ringing = 0.5 * np.exp(-t) * np.sin(2.0 * np.pi * 8.0 * t)
    steady = 3.0 + 0.2 * np.sin(2.0 * np.pi * 8.0 * t)
    seen, none = Signals(t, {"a": ringing, "b": steady}), Signals(t, {})
    made = ClosedLoop("made", t, SimpleNamespace(coordinates=none), seen_outputs=seen)
    one, other = made.residual("a", after=1.0), made.residual("b", after=1.0)
    assert_allclose(other, 0.2 / np.sqrt(2.0), rtol=1e-3)
    assert_allclose(made.residual("a", "b", after=1.0), np.hypot(one, other), rtol=1e-9)
    settled = made.settling("a", within=0.05, after=1.0, to=[0.0])
    assert abs(np.log(10.0) - 1.0 - settled) < 0.5 / 8.0
    assert made.settling("b", within=0.1) == np.inf
    spectrum = made.spectrum("b")
    assert_allclose(spectrum.peak("b"), 8.0, atol=0.01)
    assert_allclose(spectrum["b"].max(), 0.2, rtol=1e-3)
