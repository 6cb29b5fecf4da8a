"""The YAML file beside a robot: loops, drives, sensors and what else URDF cannot say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formats.source import source_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "five-bar-urdf"

MASS = '<inertial><origin xyz="0.5 0 0"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'
# A parallelogram in the x-y plane, cut between the coupler and the second crank.
TREE = f"""\
<robot name="parallelogram">
  <link name="base"/>
  <link name="crank">{MASS}</link> <link name="coupler">{MASS}</link> <link name="rocker">{MASS}</link>
  <joint name="A" type="revolute"><parent link="base"/><child link="crank"/><axis xyz="0 0 1"/></joint>
  <joint name="B" type="revolute"><parent link="crank"/><child link="coupler"/><origin xyz="1 0 0" rpy="0 0 1"/>
    <axis xyz="0 0 1"/></joint>
  <joint name="D" type="revolute"><parent link="base"/><child link="rocker"/>
    <origin xyz="1.0806046117362795 1.682941969615793 0"/><axis xyz="0 0 1"/></joint>
</robot>
"""
LOOP = """\
constraints:
  C:
    type: {type}
    parent: coupler
    parent_origin: {{xyz: [2, 0, 0]}}
    parent_axis: [0, 0, 1]
    child: {{link: rocker}}
    child_origin: {{xyz: [1, 0, 0]}}
    child_axis: {{xyz: [0, 0, 1]}}
"""


@pytest.fixture
def robot(tmp_path):
    def load(sidecar: str, tree: str = TREE, **options) -> supple.Mechanism:
        file = tmp_path / "robot.urdf"
        file.write_text(tree)
        file.with_suffix(".yaml").write_text(sidecar)
        return supple.load(file, **options)

    return load


@pytest.mark.parametrize(("kind", "ours", "redundant"), [
    ("revolute", "revolute", 3), ("continuous", "revolute", 3), ("spherical", "spherical", 1), ("ball", "spherical", 1),
    ("cylindrical", "cylindrical", 2),
])  # fmt: skip
def test_constraints_close_loops(robot, kind, ours, redundant):
    mechanism = robot(LOOP.format(type=kind) + "actuators: [A]\n")
    file, line = source_of(mechanism).place(("joints", "C"))
    assert (Path(file).name, line) == ("robot.yaml", 2)
    found = supple.check(mechanism)
    assert mechanism.joint("C").kind == ours
    assert (found.mobility, found.redundant_constraints) == (1, redundant)
    here = supple.assemble(mechanism, {"A": 0.3})
    place = here.frame("C_parent").position
    assert_allclose(here.frame("C_child").position, place, atol=1e-12)
    # Opposite sides stay parallel, the rocker parallel to the crank.
    assert_allclose(place - here.frame("rocker").position, [np.cos(0.3), np.sin(0.3), 0], atol=1e-12)


def test_a_universal_joint_takes_an_axis_from_either_side(robot):
    tree = (
        f'<robot name="r"><link name="base"/><link name="arm">{MASS}</link><joint name="j" type="floating">'
        '<parent link="base"/><child link="arm"/><origin xyz="0 0 1"/></joint></robot>'
    )
    loop = (
        "constraints: {C: {type: universal, parent: base, parent_axis: [0, 1, 0], child: arm, child_axis: [1, 0, 0], "
    )
    mechanism = robot(loop + "child_origin: {xyz: [0, 0, -1]}}}\ncoordinates: [C.first, C.second]\n", tree)
    assert supple.check(mechanism).mobility == 2
    here = supple.assemble(mechanism, [0.3, 0.4])
    c, s = np.cos([0.3, 0.4]), np.sin([0.3, 0.4])
    # The arm's origin, at (0, 0, 1) of its frame, turned by 0.4 about its x and then by 0.3 about the base's y.
    assert_allclose(here.frame("arm").position, [s[0] * c[1], -s[1], c[0] * c[1]], atol=1e-12)


def test_constraints_may_stand_in_the_robot_itself(robot):
    element = (
        '<constraint name="C" type="revolute"><parent link="coupler"/><parent_origin xyz="2 0 0"/>'
        '<parent_axis xyz="0 0 1"/><child link="rocker"/><child_origin xyz="1 0 0"/><child_axis xyz="0 0 1"/>'
        "</constraint>"
    )
    mechanism = robot("actuators: [A]\n", TREE.replace("</robot>", element + "\n</robot>"))
    beside = robot(LOOP.format(type="revolute") + "actuators: [A]\n")
    assert mechanism == beside
    with pytest.raises(supple.InputError, match='constraint "C": unknown link "copler"') as refused:
        robot("actuators: [A]\n", TREE.replace("</robot>", element.replace("coupler", "copler") + "\n</robot>"))
    assert (Path(refused.value.file).name, refused.value.line) == ("robot.urdf", 9)


def test_it_adds_to_what_the_robot_says(robot):
    mechanism = robot(
        "supple: 1\nurdf: robot.urdf\nname: other\nparameters: {k: 2}\ngravity: [0, -k, 0]\n"
        "joints: {A: {rest: 30 deg, motor: {inertia: 0.1, gear: k}, elastic: {x: 1e6}}}\n"
        "actuators: {A: {force_limits: [-k, k]}, pull: {between: [rocker, base]}}\n"
        "point_masses: {load: {at: coupler, mass: 3}}\nbodies: {crank: {mass: 5}}\n"
        "frames: {tip: {on: rocker, local: [1, 0, 0]}}\nsensors: {tip: {position: tip}}\n",
        parameters={"k": 4},
    )
    assert (mechanism.name, mechanism.gravity) == ("other", (0, -4, 0))
    joint = mechanism.joint("A")
    assert (joint.kind, joint.motor.gear, joint.elastic) == ("revolute", 4, {"x": 1e6})
    assert_allclose(joint.rest, np.pi / 6)
    assert list(mechanism.actuators) == ["A", "pull"]
    assert (mechanism.actuator("A").joint, mechanism.actuator("A").force_limits) == ("A", (-4, 4))
    assert mechanism.body("crank").mass == 5
    assert mechanism.body("crank").inertia.xx == 0.1
    assert mechanism.point_masses["load"].mass == 3


def test_a_gearbox_of_the_robot_yields(robot):
    """Locked, a crank of inertia J on a drive k has ω² = k/J (its coupler and rocker hang on it)."""
    gearbox = "{drive: {stiffness: 500, damping: 2}, motor: {inertia: 1e-4, gear: 50}}"
    made = robot(f"joints: {{A: {gearbox}}}\nactuators: [A, B, D]\n")
    assert made.elastic
    assert made.joints["A"].drive == supple.Drive(stiffness=500, damping=2)
    inertia = supple.local(made, rigid=True).M[0, 0] - 1e-4 * 50**2
    assert_allclose(supple.modes(made, count=1).frequencies_hz, np.sqrt(500 / inertia) / (2 * np.pi), rtol=1e-7)


def test_gravity_points_down_unless_something_else_is_said(robot):
    assert robot("name: a\n").gravity == (0, 0, -9.81)
    assert robot("gravity: [0, 0, 0]\n").gravity == (0, 0, 0)


def test_the_side_car_may_name_its_robot(robot, tmp_path):
    robot("name: a\n")
    other = tmp_path / "other.yaml"
    other.write_text("urdf: robot.urdf\nname: b\n")
    assert supple.load(other).name == "b"
    assert supple.load(tmp_path / "robot.urdf", sidecar=other).name == "b"
    assert supple.load(tmp_path / "robot.urdf", sidecar={"name": "c"}).name == "c"


HINGED = LOOP.format(type="revolute")
WRONG = {
    "unknown key": ("name: a\nactuator: [A]\n", 2, r'unknown key "actuator"; did you mean "actuators"'),
    "unknown base": ("base: flying\n", 1, r'"base" cannot be "flying"; give .fixed. or .floating.'),
    "unknown link": (HINGED.replace("rocker", "roker"), 7, r'"C": unknown link "roker"; did you'),
    "unknown type": (LOOP.format(type="hinge"), 3, r'"constraints.C.type" cannot be "hinge"'),
    "zero axis": (HINGED.replace("[0, 0, 1]\n    child:", "[0, 0, 0]\n    child:"), 6, r'"C": .*zero vector; .*0, 1'),
    "key of a constraint": (LOOP.format(type="ball") + "    child_orign: {}\n", 10, "did you mean \"child_origin\""),
    "unknown actuator": ("actuators: [A, E]\n", 1, r'actuators: unknown joint with one coordinate "E"; known: "A"'),
    "unknown motor": ("name_mot:\n  - A\n  - mot\n", 3, r'name_mot: unknown joint .*"mot"'),
    "unknown joint": ("\nclosed_loop: [[A, F]]\n", 2, r'closed_loop: unknown joint or link "F"'),
    "unknown ball": ("joint_name: [F]\njoint_type: [SPHERICAL]\n", 1, r'joint_name: unknown joint "F"'),
    "balls": ("joint_name: [A]\n", 1, r"joint_type: .*0 types for 1 names"),
    "types": ("closed_loop: [[coupler, rocker]]\ntype: [6d, 6d]\n", 2, r"type: .*2 types for 1 loops"),
    "unknown place": ("sensors:\n  s: {position: tip}\n", 2, r'sensor "s": unknown .*"tip"'),
    "field of a joint": ("joints:\n  A: {dri: 1}\n", 2, r'unknown key "dri"; did you mean "drive" or "dry"'),
    "frame on nothing": ("frames: {f: {on: cranck}}\n", 1, r'frame "f": unknown body "cranck"; did you mean "crank"'),
    "another robot": ("urdf: five.urdf\n", 1, r'side-car of "robot.urdf", but belongs to "five.urdf"'),
    "a mechanism file": ("supple: 1\nbodies: {}\n", 1, "complete mechanism file.*`urdf: robot.urdf`"),
    "a newer one": ("supple: 2\n", 1, "written for a newer supple"),
    "parameters": ("parameters:\n  a: b + 1\n", 2, r'parameter "a"'),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_side_cars(robot, name):
    text, line, pattern = WRONG[name]
    with pytest.raises(supple.InputError, match=pattern) as refused:
        supple.check(robot(text))
    assert (Path(refused.value.file).name, refused.value.line) == ("robot.yaml", line)


def test_a_side_car_belongs_to_a_robot(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("urdf: 3\n")
    with pytest.raises(supple.InputError, match=r"urdf: .*not a file name; write urdf: robot.urdf"):
        supple.load(file)
    with pytest.raises(supple.InputError, match=r"side-car .*only.*URDF"):
        supple.load(EXAMPLE / "mechanism.yaml", sidecar={})


@pytest.mark.filterwarnings("ignore:.*URDF does not define. <joint_properties>")  # as the program that wrote them adds
@pytest.mark.parametrize(
    ("name", "motors", "hinges"),
    [("5bar_linkage", ("mot1", "mot2"), 5), ("robot_delta", ("mot1_rod1", "mot1_rod2"), 11)],
)
def test_published_robots_with_loops_in_the_older_spelling(name, motors, hinges, shared_data):
    """Both are planar chains of hinges; 3 bodies - 2 hinges leaves two freedoms, driven by the two motors."""
    mechanism = supple.load(shared_data(f"robots/{name}.urdf"))
    found = supple.check(mechanism)
    assert len(mechanism.joints) == hinges
    assert 3 * len(mechanism.bodies) - 2 * hinges == 2
    assert found.mobility == 2
    assert found.coordinates == motors
    theta = supple.assemble(mechanism).theta + np.array([0.05, -0.04])
    here = supple.assemble(mechanism, theta)
    for joint, (first, second) in ((name, part.frames) for name, part in mechanism.joints.items() if part.frames):
        gap = here.frame(first).position - here.frame(second).position
        assert np.linalg.norm(gap) < 1e-12, joint
    assert np.linalg.eigvalsh(supple.local(mechanism, theta).M).min() > 0


def test_markers_of_another_kind_stay_joints(robot):
    """Two hinges on one axis are a hinge that was cut; links that are no marks are welded."""
    mechanism = robot("closed_loop: [[coupler, rocker]]\ntype: [3d]\n")
    assert mechanism.joint("loop_1").kind == "spherical"
    mechanism = robot("closed_loop: [[B, D]]\n", TREE.replace('"D" type="revolute"', '"D" type="floating"'))
    assert mechanism.joint("loop_1").kind == "weld"
    mechanism = robot("joint_name: [D]\njoint_type: [SPHERICAL]\nname_mot: [A, B]\n")
    assert mechanism.joint("D").kind == "spherical"
    assert list(mechanism.actuators) == ["A", "B"]
