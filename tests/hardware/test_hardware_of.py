"""Drives and instruments as the mechanism file gives them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError, SuppleNote
from supple.hardware.hardware import NO_HARDWARE, hardware_from

MACHINE = """
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {A: [0, 0], B: [1, 0], C: [2, 0.3], P: [0.5, 0.5], Q: [0.8, 0]}
bodies: {arm: {rod: [A, B], mass: 1}, fore: {rod: [B, C], mass: 1}}
frames: {P: {on: ground, at: P}, Q: {on: arm, at: Q}}
joints:
  A: {revolute: [ground, arm]}
  B: {revolute: [arm, fore], motor: {inertia: 1e-4, gear: 50}}
actuators:
  lift: {between: [P, Q], DRIVE}
  elbow: {joint: B, force_limits: [-50 Nm, 30 Nm], ELBOW}
sensors:
  rod: {between: [Q, P], resolution: 10 um}
  angle: {joint: B}
  speed: {joint: B, order: 1, noise: 0.01 rad/s}
  tip:
    acceleration: fore.C
    noise: {rms: 0.02 m/s**2, frequency: 200 Hz, walk: 0.001 m/s**2/sqrt(s)}
    bandwidth: {frequency: 400 Hz, damping: 0.6}
    delay: 1 ms
"""
VELOCITY = "velocity: {frequency: 20 Hz, damping: 0.7, delay: 2 ms}, limits: [-0.5 m/s, 0.5 m/s], dead_band: 1 mm/s"
MOTOR = "motor: {torque_constant: 0.05 Nm/A, resistance: 1.2 Ohm, inductance: 2 mH}, limits: [-48 V, 48 V]"


def machine(drive: str = VELOCITY, elbow: str = MOTOR) -> supple.Mechanism:
    text = MACHINE.replace("DRIVE", f"drive: {{{drive}}}" if drive else "").replace(", ELBOW", f", drive: {{{elbow}}}")
    return supple.loads(text.replace(", }", "}"))


def test_a_file_without_them_has_none():
    plain = supple.loads(MACHINE[: MACHINE.index("actuators:")] + "actuators: {a: {joint: A}, b: {joint: B}}\n")
    assert not supple.hardware_of(plain)


def test_the_file_says_it_all():
    hardware = supple.hardware_of(machine())
    servo, motor = hardware.drives
    omega = 40.0 * np.pi
    assert (servo.leads, servo.unit, servo.delay, servo.limits, servo.dead_band) == (
        True,
        "m/s",
        2e-3,
        (-0.5, 0.5),
        1e-3,
    )
    assert_allclose(servo.A, [[0, 1, 0], [0, 0, 1], [0, -(omega**2), -1.4 * omega]])
    assert (motor.moves, motor.unit) == (False, "V")
    assert_allclose(
        [motor.A[0, 0], motor.B[0], motor.C[0], motor.E[0]], [-600.0, 500.0, 2.5, -1250.0]
    )  # the joint's gear
    assert hardware.encoders == {"lift": "rod", "elbow": "angle"}
    assert hardware.rate_sensors == {"elbow": "speed"}
    assert [item.output for item in hardware.instruments] == ["rod", "speed", "tip.x", "tip.z"]
    summary = "lift: velocity drive (m/s), prescribes motion, delay 2 ms; elbow: motor drive (V), applies force"
    assert repr(hardware) == f"<Hardware: {summary}; instruments of rod, speed, tip.x, tip.z>"
    tip = hardware.instrument("tip.z")
    assert (tip.noise, tip.noise_frequency, tip.walk, tip.frequency, tip.damping) == (0.02, 200.0, 0.001, 400.0, 0.6)


def test_it_survives_text_and_json():
    here = machine()
    assert supple.loads(supple.to_yaml(here)) == here
    data = supple.hardware_of(here).data()
    assert hardware_from(json.loads(json.dumps(data))).data() == data
    for wrong in ({}, {**data, "drives": [{}]}, {**data, "instruments": 3}, {**data, "encoders": []}):
        with pytest.raises(InputError, match="reduce again"):
            hardware_from(wrong)


def test_a_force_drive_keeps_the_force_limits():
    (drive,) = supple.hardware_of(machine("", "force: {gain: 2}, limits: [-10 Nm, 100 Nm]")).drives
    assert drive.limits == (-10.0, 15.0)
    assert (drive.order, drive.D) == (0, 2.0)


@pytest.mark.parametrize(
    ("drive", "words"),
    [
        (
            "velocity: {}",
            'actuator "lift": a velocity drive .*velocity jump.*; give it a freq',
        ),
        ("position: {frequency: 5 Hz}", "velocity jump"),
        ("position: {damping: 0.7}", '"frequency" is missing'),
        ("velocity: {damping: 0.7}, stiffness: 1e6", "damping ratio needs a frequency"),
        ("velocity: {frequency: 20 rad/s}", "a frequency .Hz. is expected"),
        ("velocity: {frequency: 20, delay: -1 ms}", "0 or more"),
        ("velocity: {frequency: 20}, limits: [-1 V, 1 V]", "is a voltage .V., but a speed .m/s. is expected"),
        ("valve: {gain: 0.05 m/s}", "is a speed"),
        ("valve: {gain: 0.05 m/s/V, frequency: 20}, limits: [1 V, -1 V]", r"limits must increase .got 1 to -1."),
        ("velocity: {frequency: 20}, stiffness: 5 Nm/rad", "a stiffness .N/m. is expected"),
        ("velocity: {frequency: 20}, viscous: 5", "viscous needs a stiffness"),
        ("force: {}, stiffness: 1e6", "force drive outputs a force and has no stiffness"),
        ("velocity: {frequency: 20}, force: {}", "exactly one kind"),
        ("velocty: {frequency: 20}", 'did you mean "velocity"'),
        ("velocity: {freqency: 20}", 'did you mean "frequency"'),
        ("motor: {torque_constant: 1 Nm/A}", '"resistance" is missing'),
    ],
)
def test_a_wrong_drive_is_told(drive, words):
    with pytest.raises(InputError, match=words) as told:
        machine(drive)
    assert told.value.line is not None


@pytest.mark.parametrize(
    ("sensor", "words"),
    [
        ("noise: 0.02 m/s", "is a speed .m/s., but an acceleration .m/s². is expected"),
        ("noise: {rms: 0.02, walk: 1 m/s**2}", "is an acceleration"),
        ("noise: -1", "0 or more"),
        ("range: [3, -3]", r"range must increase .got 3 to -3."),
        ("delay: 2 mm", "a time .s. is expected"),
        ("bandwith: 3", 'did you mean "bandwidth"'),
    ],
)
def test_a_wrong_instrument_is_told(sensor, words):
    text = MACHINE.replace(", DRIVE", "").replace(", ELBOW", "")
    with pytest.raises(InputError, match=words) as told:
        supple.loads(text[: text.index("  tip:")] + f"  tip: {{acceleration: fore.C, {sensor}}}\n")
    assert told.value.line is not None


def test_changes_in_python_are_looked_at_too():
    hardware = supple.hardware_of(machine())
    with pytest.raises(InputError, match=r'drive of actuator "lift": .*delay -1; give a value of 0 or more'):
        replace(hardware.drives[0], delay=-1.0)
    with pytest.raises(InputError, match=r'instrument of output "rod": .*frequency 0; give a value above 0'):
        replace(hardware.instruments[0], frequency=0.0)


@pytest.mark.parametrize("drive", ["velocity: {}, stiffness: 1e6", "position: {frequency: 5}, stiffness: 1e6"])
def test_a_drive_that_yields_may_jump(drive):
    assert supple.hardware_of(machine(drive)).drives[0].stiffness == 1e6


@pytest.fixture(scope="module")
def models() -> dict[str, supple.ReducedModel]:
    """Reduced over both coordinates, and with the one that is led held."""
    elbow = (0.2, 0.4)
    both = supple.reduce(machine(), region={"lift": (0.55, 0.6), "elbow": elbow}, tolerance=0.1, progress=False)
    with pytest.warns(SuppleNote, match='"lift"'):
        held = supple.reduce(machine(), region={"lift": 0.58, "elbow": elbow}, tolerance=0.1, progress=False)
    return {"both": both, "held": held}


def test_reduced_models_carry_it_to_their_files(models, tmp_path):
    both, held = models["both"], models["held"]
    assert both.hardware.data() == supple.hardware_of(machine()).data()
    assert [block.actuator for block in held.hardware.drives] == ["elbow"]
    assert set(held.hardware.encoders) == {"elbow"}
    again = supple.load(both.save(tmp_path / "arm.rom"))
    assert again.hardware.data() == both.hardware.data()
    plain = supple.ReducedModel(both.name, both.layout, both.fitted)
    assert supple.load(plain.save(tmp_path / "plain.rom")).hardware is NO_HARDWARE
