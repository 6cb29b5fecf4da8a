"""A kind of joint from one file: a pin in a slot, which is a slide and a hinge with nothing between them."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose

PIN_IN_SLOT = """
import supple
from supple.description.joints.joint_kind import AXIS, Form, Marker, Step
from supple.description.measure import along, turn

_COORDINATES = {"slide": along("x"), "angle": turn("z")}
_STEPS = (Step("prismatic", "x", "slide"), Step("revolute", "z", "angle"))

PIN_IN_SLOT = supple.JointKind(
    name="pin_in_slot",
    says="A pin along `axis` that turns in a slot at right angles to it.",
    space=Form(rows=(along("y"), along("z"), *AXIS), measures=_COORDINATES, steps=_STEPS),
    plane=Form(rows=(along("y"),), measures=_COORDINATES, steps=_STEPS),
    axes=1,
    marker=Marker("d", 7.0),
)
"""

PENDULUM = """
supple: 1
name: pendulum on a slide
plane: xz
gravity: [0, -9.81]
points: {A: [0, 0], B: [0.4, -0.3]}
bodies: {bar: {rod: [A, B], mass: 2}MORE}
joints: JOINTS
actuators: {push: {joint: SLIDE}, turn: {joint: ANGLE}}
sensors: {tip: {position: bar.B}}
"""
OURS = PENDULUM.replace("MORE", "").replace("JOINTS", "{A: {pin_in_slot: [ground, bar], viscous: {slide: 3}}}")
OURS = OURS.replace("SLIDE", "A.slide").replace("ANGLE", "A.angle")
TWO = "{G: {prismatic: [ground, block], at: A, axis: x, viscous: 3}, A: {revolute: [block, bar]}}"
THEIRS = PENDULUM.replace("MORE", ", block: {mass: 0, at: A}").replace("JOINTS", TWO)
THEIRS = THEIRS.replace("SLIDE", "G").replace("ANGLE", "A")

USED = """
import json
import numpy as np
import supple

found = {}
for name in ("ours", "theirs"):
    machine = supple.load(name + ".yaml")
    turned = supple.assemble(machine).theta[1]
    theta = np.array([[0.1, turned + 0.4], [-0.2, turned + 7.0]])
    model = supple.local(machine, theta)
    linear = supple.linearize(machine, theta[0])
    run = supple.simulate(machine, until=0.2)
    region = {"turn": (turned, turned + 0.2), "push": (0, 0.1)}
    rom = supple.reduce(machine, region=region, tolerance=1e-3, progress=False)
    found[name] = {
        "place": supple.assemble(machine, theta).frame("bar").position.tolist(),
        "mass": model.M.tolist(), "force": model.force.tolist(), "A": linear.A.tolist(), "B": linear.B.tolist(),
        "end": run.frame("bar").position[-1].tolist(),
        "reduced": rom.evaluate(theta[:1] * 0 + [0.05, turned + 0.1]).M.tolist(),
    }
    if name == "ours":
        again = supple.loads(supple.to_yaml(machine))
        assert again == machine, "written and read"
        supple.assemble(machine).plot()
print(json.dumps(found))
"""


@pytest.fixture
def pin(installed):
    found = installed(PIN_IN_SLOT, "PIN_IN_SLOT")
    for name, text in (("ours", OURS), ("theirs", THEIRS)):
        (found.folder / f"{name}.yaml").write_text(text)
    return found


def test_a_joint_moves_as_the_two_that_it_stands_for(pin):
    found = pin.python(USED)
    for name, ours in found["ours"].items():
        assert_allclose(ours, found["theirs"][name], rtol=1e-6, atol=1e-7, err_msg=name)  # of steps in time


def test_the_command_line_knows_it_and_says_what_is_wrong(pin):
    assert pin.supple("check", "ours.yaml")["mobility"] == 2
    assert "pin_in_slot" in pin.run("-m", "supple", "schema").stdout
    (pin.folder / "wrong.yaml").write_text(OURS.replace("pin_in_slot", "pin_in_slott"))
    assert 'did you mean "pin_in_slot"' in pin.supple("check", "wrong.yaml", status=1)


def test_a_script_registers_it(installed):
    found = installed("", "nothing")
    (found.folder / "addition-1.0.dist-info" / "entry_points.txt").write_text("")
    (found.folder / "ours.yaml").write_text(OURS)
    script = PIN_IN_SLOT + "\nsupple.register(PIN_IN_SLOT)\nprint(supple.check(supple.load('ours.yaml')).mobility)"
    assert found.python(script) == 2
