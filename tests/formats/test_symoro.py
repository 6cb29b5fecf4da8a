"""SYMORO's files: the same robot as the same tables; loops through joints that are cut; mistakes by name and line."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError

RX90 = """(* Robotname = 'RX90' *)
NL = 6
NJ = 6
NF = 6
Type = 0
is_mobile = 0

(* Geometric parameters [Khalil and Dombre] *)
Ant = {0,1,2,3,4,5}
Sigma = {0,0,0,0,0,0}
B = {0,0,0,0,0,0}
d = {0,0,D3,0,0,0}
R = {0,0,0,RL4,0,0}
gamma = {0,0,0,0,0,0}
Alpha = {0,Pi/2,0,-Pi/2,
         Pi/2,-Pi/2}
Mu = {1,1,1,1,1,1}
Theta = {t1,t2,t3,t4,t5,t6}

(* Dynamic parameters and external forces *)
XX = {2,1,0.5,0.2,0.05,0.01}
YY = {2,1.5,0.5,0.2,0.05,0.01}
ZZ = {ZZ1,2,0.2,0.05,0.05,0.01}
XY = {0,-0.05,0,0,0,0}
MX = {0,2.5,0.1,0,0,0}
MZ = {0,0.4,0,-0.5,0,0.02}
M = {20,12,6,4,1,0.5}
IA = {IA1,5,3,0.3,0.2,0.1}
FV = {8,8,6,2,2,1}
FX = {0,0,0,0,0,FX6}

G = {0,0,G3}
Z = {1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1}
"""
VALUES = {"D3": 0.45, "RL4": 0.45, "ZZ1": 3.0, "IA1": 5.0, "G3": -9.81}
FILE = "supple: 1\ntables: {symoro: rx90.par}\nparameters: {D3: 0.45, RL4: 45 cm, ZZ1: 3.0, IA1: 5.0, G3: -9.81}\n"


def _filled(text: str = RX90) -> str:
    for name, value in VALUES.items():
        text = text.replace(name, str(value))
    return text


def test_symbols_are_parameters_and_numbers_need_none(tmp_path):
    (tmp_path / "rx90.par").write_text(RX90, "utf-8")
    (tmp_path / "plain.par").write_bytes(_filled().replace("Khalil", "Noë").encode("latin-1"))
    (tmp_path / "robot.yaml").write_text(FILE, "utf-8")
    robot, plain = supple.load(tmp_path / "robot.yaml"), supple.load(tmp_path / "plain.par")
    assert robot.name == plain.name == "RX90"
    assert robot.gravity == plain.gravity == (0.0, 0.0, -9.81)
    theta = dict(zip(robot.actuators, (0.3, -0.6, 1.2, 0.4, 0.9, -0.2), strict=True))
    ours, theirs = supple.local(robot, theta), supple.local(plain, theta)
    assert_allclose(ours.M, theirs.M, rtol=0.0, atol=1e-13)
    heavier = supple.load(tmp_path / "robot.yaml", parameters={"ZZ1": 3.5})  # about the first axis, and nothing else
    change = supple.local(heavier, theta).M - ours.M
    assert_allclose(change, np.diag([0.5, 0.0, 0.0, 0.0, 0.0, 0.0]), atol=1e-12)


LOOP = """(* Robotname = 'four-bar' *)
NL = 3
NJ = 4
NF = 5
Type = 2
ant = {0,1,0,2,3}
sigma = {0,0,0,0,2}
gamma = {0,0,0,0,0}
b = {0,0,0,0,0}
alpha = {pi/2,0,pi/2,0,0}
d = {0,0.4,1,0.9,0.6}
theta = {1.0,-0.9,1.8,1.4,0}
r = {0,0,0,0,0}
mu = {1,0,0,0,0}
M = {1,2,1.5}
MX = {0.2,0.9,0.45}
YY = {0.06,0.505,0.185}
ZZ = {0.06,0.505,0.185}
"""


def test_a_cut_joint_coincides_with_the_frame_behind_all_joints(tmp_path):
    """The inertia that the crank feels is 2T / q̇², with velocities from poses a little apart."""
    (tmp_path / "loop.par").write_text(LOOP, "utf-8")
    loop = supple.load(tmp_path / "loop.par")
    assert set(loop.bodies) == {"body1", "body2", "body3"}
    assert set(loop.joints) == {"joint1", "joint2", "joint3", "joint4"}
    q, h = 1.0, 1e-5
    ahead, behind = (supple.assemble(loop, {"joint1": q + step}) for step in (h, -h))
    total = 0.0
    centers = {"body1": 0.2, "body2": 0.45, "body3": 0.3}
    for (body, c), mass, J in zip(centers.items(), (1.0, 2.0, 1.5), (0.02, 0.1, 0.05), strict=True):
        frames = [pose.frame(body) for pose in (ahead, behind)]
        v = (frames[0].position + c * frames[0].rotation[:, 0] - frames[1].position - c * frames[1].rotation[:, 0]) / (
            2 * h
        )
        w = np.linalg.norm(frames[0].rotation[:, 0] - frames[1].rotation[:, 0]) / (2 * h)
        total += mass * v @ v + J * w**2
    assert_allclose(supple.local(loop, {"joint1": q}).M, [[total]], rtol=1e-8)


def test_a_variable_with_a_value_is_drawn_there(tmp_path):
    symbols = LOOP.replace("{1.0,-0.9,1.8,1.4,0}", "{th1,th2,th3,th4,0}")
    (tmp_path / "loop.par").write_text(LOOP, "utf-8")
    (tmp_path / "symbols.par").write_text(symbols, "utf-8")
    text = "supple: 1\ntables: {symoro: symbols.par}\nparameters: {th1: 1, th2: -0.9, th3: 1.8, th4: 1.4 rad}\n"
    (tmp_path / "symbols.yaml").write_text(text, "utf-8")
    one, other = supple.load(tmp_path / "loop.par"), supple.load(tmp_path / "symbols.yaml")
    assert_allclose(supple.local(other, {"joint1": 1.1}).M, supple.local(one, {"joint1": 1.1}).M, rtol=1e-12)


@pytest.mark.parametrize(
    ("written", "wrong", "line", "why"),
    [
        ("D3,0,0,0}", "D3,0,0}", 12, "5 values (expected 6)"),
        ("Sigma = {0,", "Sigma = {4,", 10, '"4" is not a value of σ'),
        ("Ant = {0,1,2,", "Ant = {0,1,9,", 9, 'unknown row "9"'),
        ("NF = 6", "NF = 7", 4, "do not fit"),
        ("NJ = 6\n", "", 1, "is missing"),
        ("Mu = ", "Mue = ", 17, 'unknown name "Mue"'),
        ("is_mobile = 0", "is_mobile = 1", 6, "moving base is not supported"),
        ("Z = {1,", "Z = {2,", 33, "frame 0"),
        ("M = {20,", "M = {-20,", 27, "negative"),
        ("FV = {8,", "IA = {8,", 29, "twice"),
    ],
)
def test_a_wrong_file_gives_line_and_reason(tmp_path, written, wrong, line, why):
    text = _filled(RX90.replace(written, wrong, 1))
    assert text != _filled()
    (tmp_path / "rx90.par").write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        supple.load(tmp_path / "rx90.par")
    assert f"rx90.par:{line}:" in str(caught.value)
    assert why in str(caught.value)


def test_all_symbols_without_a_value_are_told_at_once(tmp_path):
    (tmp_path / "rx90.par").write_text(RX90, "utf-8")
    with pytest.raises(InputError, match=r"4 symbols have no value: D3, RL4, .*parameters"):
        supple.load(tmp_path / "rx90.par")
