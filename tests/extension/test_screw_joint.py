"""A kind of joint from one file: a nut on a spindle, as somebody else would write it."""

from math import cos, pi, sin

import pytest

SOURCE = """
from math import tau

from supple.description.joints.joint_kind import AXIS, Form, JointKind, Marker, Parameter, Step
from supple.description.measure import along, turn
from supple.description.quantities.dimension import LENGTH

SPINDLE = JointKind(
    name="spindle",
    description="A nut on a thread along `axis`: it advances by `lead` with every turn.",
    space=Form(
        rows=(along("x"), along("y"), *AXIS, along("z") + turn("z", -1.0 / tau, "lead")),
        measures={"angle": turn("z")},
        steps=(Step("screw", "z", "angle", 1.0 / tau, "lead"),),
    ),
    axes=1,
    marker=Marker("h", 8.0, through=True),
    parameters=(Parameter("lead", "Advance with a turn.", LENGTH, mirrored=True),),
)
"""

PRESS = """
supple: 1
name: press
gravity: [0, 0, -9.81]
bodies:
  nut: {mass: 2, center: [0, 0, 0], inertia: [0.01, 0.01, 0.02]}
frames:
  tip: {on: nut, at: [0.1, 0, 0]}
joints:
  thread: {spindle: [ground, nut], at: [0, 0, 0], axis: z, lead: 10 mm}
actuators:
  drive: {joint: thread}
sensors:
  height: {position: tip, axis: z}
"""

GUIDED = """
supple: 1
name: guided
gravity: [0, 0, -9.81]
bodies:
  shaft: {mass: 1, center: [0, 0, 0], inertia: [0.01, 0.01, 0.02]}
  table: {mass: 2, center: [0, 0, 0], inertia: [0.02, 0.02, 0.03]}
joints:
  bearing: {revolute: [ground, shaft], at: [0, 0, 0], axis: z}
  thread: {spindle: [table, shaft], at: [0, 0, 0], axis: z, lead: 10 mm}
  guide: {prismatic: [ground, table], at: [0.2, 0, 0], axis: z}
actuators:
  drive: {joint: bearing}
"""
"""A shaft that only turns moves a table that only slides: a loop."""

M, J, G, LEAD, ARM = 2.0, 0.02, 9.81, 0.01, 0.1
H = LEAD / (2 * pi)
MASS = J + M * H**2


@pytest.fixture
def press(installed):
    package = installed(SOURCE, "SPINDLE")
    (package.folder / "press.yaml").write_text(PRESS)
    (package.folder / "guided.yaml").write_text(GUIDED)
    return package


def test_it_is_checked(press):
    report = press.supple("check", "press.yaml")
    assert (report["mobility"], report["redundant_constraints"]) == (1, 0)
    assert report["coordinates"] == ["drive"]


def test_a_missing_parameter_is_named(press):
    (press.folder / "press.yaml").write_text(PRESS.replace(", lead: 10 mm", ""))
    assert "lead" in press.supple("check", "press.yaml", status=1)


def test_it_assembles_over_many_turns(press):
    angle = 7.3 * 2 * pi
    frame = press.supple("assemble", "press.yaml", "--at", f"drive={angle!r}")["frames"]["tip"]
    assert frame["position"] == pytest.approx([ARM * cos(angle), ARM * sin(angle), 7.3 * LEAD], abs=1e-12)


def test_its_local_model_is_the_closed_form(press):
    model = press.supple("local", "press.yaml", "--at", "drive=30")
    assert model["M"][0][0] == pytest.approx(MASS, rel=1e-12)
    assert model["force"][0] == pytest.approx(-M * G * H, rel=1e-12)
    assert model["outputs"]["height"]["value"] == pytest.approx(30 * H, rel=1e-12)


def test_it_falls_as_it_should(press):
    run = press.supple("simulate", "press.yaml", "--until", "2", "--step", "1ms")
    height = -0.5 * (M * G * H / MASS) * 2.0**2 * H
    assert run["outputs"]["height"][-1] == pytest.approx(height, rel=1e-6)


def test_its_linear_model_is_the_same_as_a_tree_and_in_a_loop(press):
    for file in ("press.yaml", "guided.yaml"):
        linear = press.supple("linearize", file, "--at", "drive=2", "--rates", "drive=1")
        assert linear["B"][1][0] == pytest.approx(1 / MASS, rel=1e-9)
        assert linear["A"][1] == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.slow
def test_it_is_reduced_and_exported(press):
    reduced = press.supple("reduce", "press.yaml", "--region", "drive=-10:10", "--tolerance", "1e-6", "-o", "press.rom")
    assert max(value for value in reduced["error"].values() if value is not None) <= 1e-6
    at = press.supple("evaluate", "press.rom", "--at", "drive=3")
    assert at["M"][0][0] == pytest.approx(MASS, rel=1e-6)
    assert at["outputs"]["height"]["value"] == pytest.approx(3 * H, rel=1e-6)
    press.supple("export", "press.rom", "--to", "c", "-o", "c")
    assert (press.folder / "c").is_dir()


def test_a_package_that_cannot_be_loaded_is_named(installed):
    package = installed("import nowhere", "SPINDLE")
    (package.folder / "press.yaml").write_text(PRESS)
    assert "addition:SPINDLE" in package.supple("check", "press.yaml", status=1)
