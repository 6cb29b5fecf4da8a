"""Robots from URDF: what links and joints become, and every way to get one wrong."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.cli.main import run
from supple.description.drawing import Drawing
from supple.description.mass_properties import mass_properties
from supple.formats.source import source_of
from supple.formats.urdf.grammar import part_names
from supple.formats.urdf.urdf import robot_element
from supple.geometry.rotation import rotation_about

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="2"/>'
    '<inertia ixx="0.1" iyy="0.12" izz="0.15" ixy="0.01" ixz="-0.02" iyz="0.03"/></inertial>'
)
HINGE = '<parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>'
WHOLE = f"""\
<robot name="test">
  <link name="base"/>
  <link name="arm">{INERTIAL}</link>
  <joint name="hinge" type="revolute">{HINGE}</joint>
</robot>
"""


@pytest.fixture
def robot(tmp_path):
    """Writes a URDF (and its side-car) and loads it."""

    def load(text: str, sidecar=None, **options) -> supple.Mechanism:
        file = tmp_path / "robot.urdf"
        file.write_text(text)
        if isinstance(sidecar, str):
            file.with_suffix(".yaml").write_text(sidecar)
        return supple.load(file, sidecar=None if isinstance(sidecar, str) else sidecar, **options)

    return load


def masses(mechanism):
    return mass_properties(Drawing(mechanism))


def roll_pitch_yaw(r, p, y):
    return rotation_about([0, 0, 1], y) @ rotation_about([0, 1, 0], p) @ rotation_about([1, 0, 0], r)


def test_inertial_frames_are_turned(robot):
    found = masses(robot(WHOLE))["arm"]
    R = roll_pitch_yaw(0.4, -0.5, 0.6)
    J = np.array([[0.1, 0.01, -0.02], [0.01, 0.12, 0.03], [-0.02, 0.03, 0.15]])
    assert found.mass == 2
    assert_allclose(found.center, [0.1, 0.2, 0.3], atol=1e-15)
    assert_allclose(found.inertia, R @ J @ R.T, atol=1e-15)


def test_the_drawing_is_the_robot_at_zero(robot):
    text = WHOLE.replace(HINGE, HINGE + '<origin xyz="1 2 3" rpy="0.3 0.2 0.1"/>')
    mechanism = robot(text)
    pose = Drawing(mechanism).bodies["arm"]
    assert_allclose(pose.position, [1, 2, 3], atol=1e-15)
    assert_allclose(pose.axes, roll_pitch_yaw(0.3, 0.2, 0.1), atol=1e-15)
    assert_allclose(mechanism.joint("hinge").axis, pose.axes[:, 2], atol=1e-15)


def test_fixed_links_are_frames_and_their_mass_is_carried(robot):
    held = '<parent link="arm"/><child link="tool"/><origin xyz="0 1 0" rpy="0 0 1.5707963267948966"/>'
    text = WHOLE.replace(
        "</robot>", f'<link name="tool">{INERTIAL}</link><joint name="j" type="fixed">{held}</joint></robot>'
    )
    mechanism = robot(text)
    assert list(mechanism.bodies) == ["arm"]
    assert mechanism.frame("tool").on == "arm"
    assert list(mechanism.joints) == ["hinge"]
    found = masses(mechanism)["arm"]
    assert found.mass == 4
    assert_allclose(found.center, np.mean([[0.1, 0.2, 0.3], [-0.2, 1.1, 0.3]], axis=0), atol=1e-15)


@pytest.mark.parametrize(
    ("kind", "ours", "actuated"),
    [
        ("revolute", "revolute", True),
        ("continuous", "revolute", True),
        ("prismatic", "prismatic", True),
        ("planar", "planar", False),
        ("floating", "free", False),
    ],
)
def test_joint_types(robot, kind, ours, actuated):
    mechanism = robot(WHOLE.replace('type="revolute"', f'type="{kind}"'))
    assert mechanism.joint("hinge").kind == ours
    assert mechanism.joint("hinge").bodies == ("ground", "arm")
    assert list(mechanism.actuators) == (["hinge"] if actuated else [])


def test_limits_damping_and_friction(robot):
    said = '<limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.25"/>'
    mechanism = robot(WHOLE.replace(HINGE, HINGE + said))
    joint, actuator = mechanism.joint("hinge"), mechanism.actuator("hinge")
    assert joint.limits == actuator.limits == (-1, 2)
    assert actuator.force_limits == (-30, 30)
    assert (joint.viscous, joint.dry) == (0.5, 0.25)
    nothing = robot(WHOLE.replace(HINGE, HINGE + '<limit lower="0" upper="0" effort="0" velocity="0"/>'))
    assert nothing.actuator("hinge").limits is None
    assert nothing.actuator("hinge").force_limits is None


def test_a_floating_base_has_a_body(robot):
    mechanism = robot(WHOLE, {"base": "floating"})
    assert list(mechanism.bodies) == ["base", "arm"]
    assert mechanism.joint("floating_base").kind == "free"
    assert supple.check(mechanism).mobility == 7


def test_meshes_need_not_exist(robot):
    mesh = '<visual><geometry><mesh filename="package://no/such.stl"/></geometry></visual><collision/>'
    assert robot(WHOLE.replace("</link>", mesh + "</link>")).bodies


MIMIC = (
    '<link name="b">' + INERTIAL + '</link><joint name="follower" type="revolute"><parent link="base"/>'
    '<child link="b"/><axis xyz="0 0 1"/><mimic joint="hinge" multiplier="2" offset="0.5"/></joint></robot>'
)


def test_mimicking_joints_follow_are_held_or_freed(robot):
    text = WHOLE.replace("</robot>", MIMIC)
    coupled = robot(text)
    assert list(coupled.actuators) == ["hinge"]
    assert coupled.couplings["follower_mimic"].coordinates == {"follower": 1.0, "hinge": -2.0}
    assert source_of(coupled).lines["couplings", "follower_mimic"] == 5
    assert_allclose(supple.assemble(coupled).joint_coordinates["follower"], 0.5, rtol=1e-14)
    assert_allclose(supple.assemble(coupled, [4.0]).joint_coordinates["follower"], 8.5, rtol=1e-14)
    turned = supple.assemble(coupled, [0.3]).frames["b"].rotation
    assert_allclose(turned, rotation_about([0, 0, 1], 2 * 0.3 + 0.5), atol=1e-14)
    assert robot(text, {"mimic": "coupled"}).couplings == coupled.couplings
    held = robot(text, {"mimic": "locked"})
    assert list(held.joints) == ["hinge"]
    assert_allclose(Drawing(held).frames["b"].pose.axes, rotation_about([0, 0, 1], 0.5), atol=1e-15)
    free = robot(text, {"mimic": "free"})
    assert list(free.joints) == ["hinge", "follower"]
    assert list(free.actuators) == ["hinge"]
    assert not free.couplings


@pytest.mark.parametrize(
    "text",
    [
        WHOLE.replace("</robot>", MIMIC.replace('multiplier="2"', 'multiplier="0"')),
        WHOLE.replace("</robot>", MIMIC).replace('type="revolute"', 'type="fixed"', 1),
    ],
)
def test_what_mimics_a_joint_that_is_held_is_held(robot, text):
    held = robot(text, {"base": "floating"})
    assert not held.couplings
    assert_allclose(Drawing(held).frames["b"].pose.axes, rotation_about([0, 0, 1], 0.5), atol=1e-15)


def test_mimicking_joints_may_follow_one_another(robot):
    third = MIMIC.replace('"b"', '"c"').replace('"follower"', '"third"').replace('"hinge"', '"follower"')
    text = WHOLE.replace("</robot>", third.replace('multiplier="2"', 'multiplier="-1"'))
    text = text.replace("</robot>", MIMIC)
    there = supple.assemble(robot(text), [0.2]).joint_coordinates
    assert_allclose([there["follower"], there["third"]], [0.9, -0.4], rtol=1e-13)
    round_about = text.replace('mimic joint="hinge"', 'mimic joint="third"')
    with pytest.raises(supple.InputError, match=r'joint "third": it mimics itself, .*"third", "follower"'):
        robot(round_about)


def test_names_that_are_not_ours(robot):
    text = WHOLE.replace('"arm"', '"1 left/arm.0"').replace('"hinge"', '"the hinge"')
    sidecar = "actuators: {the hinge: {limits: [0, 1]}}\nsensors: {s: {position: 1 left/arm.0}}\n"
    mechanism = robot(text, sidecar)
    assert list(mechanism.bodies) == ["_1_left_arm_0"]
    assert list(mechanism.joints) == list(mechanism.actuators) == ["the_hinge"]
    assert mechanism.actuator("the_hinge").limits == (0, 1)
    assert mechanism.sensors["s"].position == "_1_left_arm_0"
    assert source_of(mechanism).names["joints", "the_hinge"] == "the hinge"
    negative = text.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/>\n<dynamics damping="-1"/>')
    with pytest.raises(supple.InputError, match=r'joint "the_hinge" \("the hinge" in the file\).*viscous') as refused:
        robot(negative, sidecar)
    assert refused.value.line == 5


def test_name_table():
    names = ["a", "a b", "a_b", "ground", "9", "ground_2", "x" * 70, "x" * 71, "é"]
    found = part_names(names)
    assert found["a_b"] == "a_b"
    assert found["a b"] == "a_b_2"
    assert found["ground"] == "ground_3"  # ground_2 is a name of its own
    assert found["9"] == "_9"
    assert len(set(found.values())) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_\-]{0,63}", name) for name in found.values())
    assert part_names(names) == found


EXTRA = '<link name="tip"/><joint name="second" type="revolute">{}</joint></robot>'
WRONG = {
    "not XML": ("<robot><link name='a'></robot>", r":1: this is not valid XML: .*check its tags"),
    "cut short": (WHOLE[:120], r"not valid XML"),
    "not a robot": ("<sdf/>", r":1: .*<sdf>, not <robot>"),
    "empty": ("<robot name='r'/>", r":1: .*no links; add <link>"),
    "nameless link": (WHOLE.replace(' name="base"', ""), r":2: a <link> has no name"),
    "two links of a name": (WHOLE.replace('"arm"', '"base"'), r':3: link "base": the name is already used \(line 2\)'),
    "unknown type": (
        WHOLE.replace('"revolute"', '"hinged"'),
        r':4: joint "hinge": unknown type "hinged"; use one of revolute',
    ),
    "no type": (WHOLE.replace(' type="revolute"', ""), r':4: joint "hinge": it has no type'),
    "no parent": (WHOLE.replace('<parent link="base"/>', ""), r':4: joint "hinge": it has no parent'),
    "missing link": (
        WHOLE.replace('<child link="arm"/>', '<child link="amr"/>'),
        r':4: joint "hinge": unknown child link "amr"; did you mean "arm"',
    ),
    "with itself": (WHOLE.replace('<parent link="base"/>', '<parent link="arm"/>'), r"connects a link with itself"),
    "zero axis": (WHOLE.replace('"0 0 1"', '"0 0 0"'), r':4: joint "hinge": its axis is the zero vector; .*xyz='),
    "axis of two": (WHOLE.replace('"0 0 1"', '"0 1"'), r':4: joint "hinge": xyz="0 1" of <axis> must be 3 finite'),
    "axis of words": (WHOLE.replace('"0 0 1"', '"0 nan 1"'), r':4: joint "hinge": xyz="0 nan 1" of <axis>'),
    "xacro": (WHOLE.replace('value="2"', 'value="${m}"'), r':3: link "arm": value=.*expand the xacro'),
    "negative mass": (WHOLE.replace('value="2"', 'value="-2"'), r':3: link "arm": its mass .*negative \(got -2 kg\)'),
    "no inertia": (WHOLE.replace('ixx="0.1"', ""), r':3: link "arm": <inertia> has no ixx'),
    "impossible inertia": (
        WHOLE.replace('ixx="0.1"', 'ixx="9"'),
        r':3: body "arm": the two smaller principal moments add up to less',
    ),
    "limits": (
        WHOLE.replace(HINGE, HINGE + '<limit lower="2" upper="1" effort="1" velocity="1"/>'),
        r':4: joint "hinge": its lower limit 2 is above its upper limit 1',
    ),
    "slip in an attribute": (
        WHOLE.replace('<axis xyz="0 0 1"/>', '<axis xzy="0 0 1"/>'),
        r':4: joint "hinge": unknown attribute xzy="0 0 1" of <axis>; did you mean "xyz"',
    ),
    "slip in a limit": (
        WHOLE.replace(HINGE, HINGE + '<limit lowr="-1" upper="1" effort="1" velocity="1"/>'),
        r':4: joint "hinge": unknown attribute lowr="-1" of <limit>; did you mean "lower"',
    ),
    "attribute that geometry does not have": (
        WHOLE.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><origin quat_xyzw="0 0 0 1"/>'),
        r'unknown attribute quat_xyzw="0 0 0 1" of <origin>; known: "xyz", "rpy"',
    ),
    "slip in an element": (
        WHOLE.replace(HINGE, HINGE + '<limits lower="0" upper="1"/>'),
        r':4: joint "hinge": unknown element <limits> in <joint>; did you mean "limit"',
    ),
    "slip in a part": (
        WHOLE.replace("joint ", "Joint ").replace("/joint>", "/Joint>"),
        r"unknown element <Joint> in <robot>",
    ),
    "mass out of place": (
        WHOLE.replace('name="base"/>', 'name="base"><mass value="1"/></link>'),
        r':2: link "base": unknown element <mass> in <link>; it belongs in <inertial>',
    ),
    "element that mass does not have": (
        WHOLE.replace("<inertial>", "<inertial><density/>"),
        r":3: .*unknown element <density> in <inertial>",
    ),
    "two masses": (
        WHOLE.replace("<inertial>", '<inertial><mass value="1"/>'),
        r':3: link "arm": .*a second <mass> \(the first is in line 3\)',
    ),
    "two inertials": (WHOLE.replace(INERTIAL, INERTIAL * 2), r':3: link "arm": .*a second <inertial>'),
    "two axes": (WHOLE.replace(HINGE, HINGE + '\n<axis xyz="1 0 0"/>'), r":5: .*second <axis> .*first is in line 4"),
    "underscored number": (WHOLE.replace('"2"', '"1_5"'), r':3: link "arm": value="1_5" of <mass> must be a finite'),
    "number in other digits": (WHOLE.replace('"2"', '"\u0662"'), r":3: .*of <mass> must be a finite number"),
    "negative effort": (
        WHOLE.replace(HINGE, HINGE + '<limit effort="-30" velocity="1"/>'),
        r':4: joint "hinge": effort="-30" of <limit> must not be negative',
    ),
    "text": (
        WHOLE.replace('<axis xyz="0 0 1"/>', "<axis>0 0 1</axis>"),
        r'<axis> contains the text "0 0 1"; .*attributes',
    ),
    "unexpanded": (
        WHOLE.replace('"test">', '"test" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arm/>'),
        r"unknown element .*xacro.* in <robot>; expand the xacro first",
    ),
    "hidden document type": (
        '<?a <!-- ?><!DOCTYPE robot [<!ENTITY x "y">]><?b --> ?>\n' + WHOLE,
        r":1: document types and entities are not allowed",
    ),
    "two parents": (
        WHOLE.replace("</robot>", EXTRA.format(HINGE)),
        r':5: joint "second": link "arm" already has a parent, through joint "hinge" \(line 4\).*`constraints:`',
    ),
    "two roots": (WHOLE.replace("</robot>", '<link name="tip"/></robot>'), r':5: link "tip": no joint leads to it'),
    "circle": (
        WHOLE.replace("</robot>", EXTRA.format('<parent link="arm"/><child link="base"/>')),
        r':5: joint "second": .*circle \(base, arm\).*root',
    ),
    "circle of all": (
        WHOLE.replace("</robot>", EXTRA[18:].format('<parent link="arm"/><child link="base"/>')),
        r"every link has a parent: .*circle; .*`constraints:`",
    ),
    "mimics nothing": (
        WHOLE.replace(HINGE, HINGE + '<mimic joint="x"/>'),
        r'it mimics "x", which is not another joint',
    ),
    "nothing moves": (
        WHOLE.replace('"revolute"', '"fixed"'),
        r':2: robot "test": .*root link "base"; .*base: floating',
    ),
    "external entity": (
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/hostname">]>\n' + WHOLE.replace('"arm"', '"&x;"'),
        r":1: document types and entities are not allowed",
    ),
    "bomb": (
        '<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;">]>\n' + WHOLE,
        r":2: document types and entities are not allowed",
    ),
    "unknown entity": (WHOLE.replace('name="arm"', 'name="&x;"'), r":3: this is not valid XML: Entity 'x' not defined"),
    "bytes": (b"<robot name='\xff'/>", r":1: this is not UTF-8 text"),
    "other encoding": (WHOLE.encode("utf-16"), r"this is not UTF-8 text"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_robots_are_answered_by_one_line(name, tmp_path, capsys):
    text, pattern = WRONG[name]
    file = tmp_path / "robot.urdf"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SystemExit) as ended:
        run(["check", str(file)])
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (1, "")
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"error: {file}")
    assert re.search(pattern, said.err), said.err


def test_what_others_add_is_said_and_left_out(robot):
    """URDF's own readers pass over what they do not know, and published robots make use of that."""
    added = (
        WHOLE.replace('type="revolute"', 'type="revolute" dont_collapse="true"')
        .replace(HINGE, HINGE + '\n<limit lower="-1" upper="1" effort="3" velocity="1" gear_velocity="9"/><springy/>')
        .replace("</link>", '<contact><stiffness value="1"/></contact><visual/></link>')
        .replace("</robot>", "<gazebo/><transmission/><plan/></robot>")
    )
    said = (
        r"robot\.urdf: .*not define: <contact> in <link> \(line 3\), dont_collapse of <joint> \(line 4\), "
        r"gear_velocity of <limit> \(line 5\), <springy> in <joint> \(line 5\), <plan> in <robot> \(line 6\)$"
    )
    with pytest.warns(supple.SuppleWarning, match=said):
        mechanism = robot(added)
    assert mechanism == robot(WHOLE.replace(HINGE, HINGE + '<limit lower="-1" upper="1" effort="3" velocity="1"/>'))


@pytest.mark.parametrize("hostile", ["<!--", "<?a", "<!-- -->", "<![CDATA[", "<!", "<!-"])
def test_remarks_are_found_in_one_pass(hostile):
    """A megabyte of openings: a search from each to the end takes minutes, one pass milliseconds."""
    started = time.process_time()
    with pytest.raises(supple.InputError, match="not valid XML"):
        robot_element((hostile * (2**20 // len(hostile))).encode(), "r.urdf")
    assert time.process_time() - started < 5.0  # s, on a slow machine


@pytest.mark.slow
def test_a_robot_needs_no_more_than_the_parser(tmp_path):
    """Meshes, pictures and graphs are not ours: reading a robot loads no package but those of any mechanism."""
    (tmp_path / "robot.urdf").write_text(WHOLE)
    code = "import sys, supple; supple.load('robot.urdf'); print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "lxml" in loaded
    assert not loaded & {"yourdfpy", "trimesh", "networkx", "PIL", "requests", "matplotlib", "numba"}


def test_a_document_type_in_a_comment_is_harmless(robot):
    assert robot("<!-- <!DOCTYPE robot> -->\n" + WHOLE).bodies


def test_text_cut_anywhere_is_an_answer(tmp_path):
    file = tmp_path / "robot.urdf"
    for length in range(0, len(WHOLE) - 9, 7):
        file.write_text(WHOLE[:length])
        with pytest.raises(supple.InputError):
            supple.load(file)


@pytest.mark.parametrize("command", [["check"], ["assemble", "--at", "hinge=0.5"], ["local"], ["linearize"]])
def test_commands_take_a_robot(command, tmp_path, capsys):
    file = tmp_path / "robot.urdf"
    file.write_text(WHOLE)
    with pytest.raises(SystemExit) as ended:
        run([command[0], str(file), *command[1:], "--json"])
    assert (ended.value.code, capsys.readouterr().out[:1]) == (0, "{")


def test_what_is_read_can_be_written_as_a_mechanism_file(robot):
    mechanism = robot(WHOLE)
    assert supple.loads(supple.to_yaml(mechanism)) == mechanism
