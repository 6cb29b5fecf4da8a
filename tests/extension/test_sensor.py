"""A kind of sensor from one file: the gap between two places along the first one's z axis, or along another."""

from __future__ import annotations

from numpy.testing import assert_allclose

GAP = """
import supple
from supple.description.measure import along

GAP = supple.SensorKind(
    name="gap",
    description="Two places: how far the second is away along the first one's z axis, or along `axis`.",
    places=2,
    space={"": along("z")},
    axis={"": along("z")},
)
"""
MACHINE = """
supple: 1
name: arm
points: {A: [0, 0, 0], B: [1, 0, 0.2]}
bodies: {arm: {rod: [A, B], mass: 1}}
joints: {A: {universal: [ground, arm], axes: [z, y]}}
actuators: {first: {joint: A.first}, second: {joint: A.second}}
sensors: {height: {gap: [ground, arm.B]}, ahead: {gap: [ground, arm.B], axis: x}, B: {position: arm.B}}
"""
USED = """
import json
import numpy as np
import supple

machine = supple.load("machine.yaml")
model = supple.local(machine, [0.3, -0.4])
frf = supple.linearize(machine, [0.3, -0.4])
rom = supple.reduce(machine, region={"first": (0, 0.2), "second": (0, 0.2)}, tolerance=1e-3, progress=False)
print(json.dumps({
    "values": {name: float(np.ravel(out.value)[0]) for name, out in model.outputs.items()},
    "linear": list(frf.outputs),
    "reduced": list(rom.simulate(until=0.001).outputs),
    "run": list(supple.simulate(machine, until=0.01).outputs),
}))
"""


def test_a_sensor_is_an_output_of_every_model(installed):
    found = installed(GAP, "GAP")
    (found.folder / "machine.yaml").write_text(MACHINE)
    told = found.python(USED)
    assert_allclose(told["values"]["height"], told["values"]["B.z"], atol=1e-15)
    assert_allclose(told["values"]["ahead"], told["values"]["B.x"], atol=1e-15)
    names = ["height", "ahead", "B.x", "B.y", "B.z"]
    assert told["reduced"] == told["run"] == told["linear"] == names
    assert "gap" in found.supple("schema")["$defs"]["Sensor"]["properties"]


CLOSING = """
import supple
from supple.description.measure import distance

CLOSING = supple.SensorKind(
    name="closing",
    description="Two places: how fast they part.",
    places=2,
    space={"": distance()},
    order=1,
)
"""
SEEN = """
import json
import supple

machine = supple.load("machine.yaml")
run = supple.simulate(machine, until=0.01, rates={"first": 0.5, "second": 0.4})
print(json.dumps({
    "seen": list(run.outputs["speed"]), "rate": list(run.output_rates["apart"]), "unit": run.outputs.units["speed"],
    "slope": supple.linearize(machine, [0.3, -0.4]).C[1, 2:].tolist(),
}))
"""


def test_a_sensor_of_a_rate_is_a_record_too(installed):
    found = installed(CLOSING, "CLOSING")
    machine = MACHINE[: MACHINE.index("sensors:")]
    machine += "sensors: {apart: {between: [P, arm.B]}, speed: {closing: [P, arm.B]}}\n"
    (found.folder / "machine.yaml").write_text(
        machine.replace("points: {", "points: {P: [0, 2, 0], ").replace(
            "actuators:", "frames: {P: {on: ground, at: P}}\nactuators:"
        )
    )
    told = found.python(SEEN)
    assert_allclose(told["seen"], told["rate"], atol=1e-12)
    assert told["unit"] == "m/s"
    assert max(map(abs, told["slope"])) > 0.1
