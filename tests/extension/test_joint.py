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
    description="A pin along `axis` that turns in a slot at right angles to it.",
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


RACK = """
import supple
from supple.description.joints.joint_kind import AXIS, Form, Marker
from supple.description.measure import along, turn
from supple.description.quantities.dimension import LENGTH

_ROLLS = along("x") + turn("z", 1.0, "radius")
RACK = supple.JointKind(
    name="rack_and_pinion",
    description="The second body, a pinion, rolls on the first, a rack along `axis`; its centre keeps its height.",
    space=Form(rows=(_ROLLS, along("y"), along("z"), *AXIS), measures={"angle": turn("z")}),
    plane=Form(rows=(_ROLLS, along("y")), measures={"angle": turn("z")}AXIS_OF_PLANE),
    axes=1,
    marker=Marker("o", 7.0),
    parameters=(supple.description.joints.joint_kinds.Parameter("radius", "Of the pinion.", LENGTH),),
)
"""
ROLLING = """
supple: 1
name: pinion
plane: xz
gravity: [0, -9.81]
points: {A: [0.2, 0.1], B: [0.3, -0.2]}
bodies: {pinion: {rod: [A, B], mass: 2}MORE}
joints: JOINTS
REST
sensors: {tip: {position: pinion.B}, middle: {position: pinion.A}}
"""
SLOPE = "[0.8, 0.6]"
ON_A_RACK = ROLLING.replace("MORE", "").replace("REST", "actuators: {turn: {joint: A}}")
ON_A_RACK = ON_A_RACK.replace("JOINTS", f"{{A: {{rack_and_pinion: [ground, pinion], radius: 50 mm, axis: {SLOPE}}}}}")
COUPLED = ROLLING.replace("MORE", ", block: {mass: 0, at: A}").replace(
    "REST", "couplings: {mesh: {coordinates: {G: 1, A: 0.05 m}}}\nactuators: {turn: {joint: A}}\ncoordinates: [turn]"
)
COUPLED = COUPLED.replace(
    "JOINTS", f"{{G: {{prismatic: [ground, block], at: A, axis: {SLOPE}}}, A: {{revolute: [block, pinion]}}}}"
)
ROLLED = """
import json
import supple

found = {}
for name in ("rack", "coupled"):
    machine = supple.load(name + ".yaml")
    drawn = float(supple.assemble(machine).theta[0])
    here = supple.assemble(machine, [drawn + 1.3])
    run = supple.simulate(machine, until=0.1)
    found[name] = {
        "drawn": supple.assemble(machine).frame("pinion").position.tolist(),
        "place": here.frame("pinion").position.tolist(), "turned": here.frame("pinion").rotation.tolist(),
        "mass": supple.local(machine, [drawn + 1.3]).M.tolist(),
        "force": supple.local(machine, [drawn + 1.3]).force.tolist(),
        "end": run.frame("pinion").position[-1].tolist(),
    }
    assert supple.loads(supple.to_yaml(machine)) == machine
print(json.dumps(found))
"""


@pytest.mark.parametrize("of_plane", ["", ', axis="x"'], ids=["optional axis", "axis that is needed"])
def test_a_rack_in_the_plane_points_where_it_is_told(installed, of_plane):
    """A pinion on a rack along (0.8, 0.6) moves as one on a slide along it, coupled: x = -r φ."""
    found = installed(RACK.replace("AXIS_OF_PLANE", of_plane), "RACK")
    (found.folder / "rack.yaml").write_text(ON_A_RACK)
    (found.folder / "coupled.yaml").write_text(COUPLED)
    told = found.python(ROLLED)
    for name, ours in told["rack"].items():
        assert_allclose(ours, told["coupled"][name], rtol=1e-6, atol=1e-7, err_msg=name)  # of steps in time
    moved = [told["rack"]["place"][k] - told["rack"]["drawn"][k] for k in (0, 2)]
    assert_allclose(moved, [-0.05 * 1.3 * 0.8, -0.05 * 1.3 * 0.6], atol=1e-9)


def test_an_axis_in_the_plane_turns_a_slot(pin):
    """The slot of `pin_in_slot` along (0.8, 0.6), against the slide and hinge that it stands for."""
    for name, text in (("ours", OURS), ("theirs", THEIRS)):
        sloped = text.replace("pin_in_slot: [ground, bar]", f"pin_in_slot: [ground, bar], axis: {SLOPE}")
        (pin.folder / f"{name}.yaml").write_text(sloped.replace("axis: x", f"axis: {SLOPE}"))
    found = pin.python(USED)
    for name, ours in found["ours"].items():
        assert_allclose(ours, found["theirs"][name], rtol=1e-6, atol=1e-7, err_msg=name)


def test_a_hinge_in_the_plane_has_no_direction():
    import supple

    text = OURS.replace("pin_in_slot: [ground, bar]", "revolute: [ground, bar], axis: x").replace("{slide: 3}", "3")
    text = text.replace("push: {joint: A.slide}, ", "").replace("A.angle", "A")
    with pytest.raises(supple.InputError, match=r'joint "A": .*axis.*normal of the plane; remove axis'):
        supple.check(supple.loads(text))
