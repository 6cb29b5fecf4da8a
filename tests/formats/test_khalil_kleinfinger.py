"""Robots from tables: transforms, arms against their mechanism files, a public robot against its own recursion."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError
from supple.formats.khalil_kleinfinger.geometry import khalil_kleinfinger, parameters_of
from supple.formats.mechanism_file import loads
from supple.formats.mechanism_text import to_yaml

EXAMPLES = Path(__file__).parents[2] / "examples"

TWO_LINK = """
supple: 1
name: two-link
gravity: [0, 0, -9.80665]
parameters: {length: 2.0, center: 1.0, mass: 10.0, inertia: 20.0}
tables:
  geometry: |
    joint,    antecedent, μ, σ, α,    d,      θ,        r
    shoulder, 0,          1, 0, pi/2, 0,      q - pi/2, 0
    elbow,    shoulder,   1, 0, 0,    length, q,        0
    tip,      elbow,      0, 2, 0,    length, 0,        0
  masses: |
    body,     mass, x,      Ixx,       Iyy,       Izz
    shoulder, mass, center, inertia/2, inertia/2, inertia
    elbow,    mass, center, inertia/2, inertia/2, inertia
sensors: {tip: {position: tip}}
"""

SEVEN_JOINT = """
supple: 1
name: seven-joint
gravity: [0, 0, -9.80665]
parameters: {upper: 0.60, fore: 0.55, hand: 0.22, offset: 0.14, wall: 0.12, gear: 100}
tables:
  geometry:
    - [joint, antecedent, actuated, sigma, gamma, b, alpha, d, theta, r, body]
    - [shoulder_roll, 0, 1, 0, pi/2, 0, pi/2, 0, q, 0, shoulder]
    - [shoulder_pitch, shoulder_roll, 1, 0, pi/2, offset, pi/2, 0, q, 0, upper_arm]
    - [elbow_roll, shoulder_pitch, 1, 0, pi/2, 0, pi/2, 0, q, -upper/2, elbow]
    - [elbow_pitch, elbow_roll, 1, 0, pi, -upper/2, pi/2, 0, q, 0, forearm]
    - [wrist_roll, elbow_pitch, 1, 0, -pi/2, 0, pi/2, 0, q, fore/2, wrist]
    - [wrist_pitch, wrist_roll, 1, 0, pi, fore/2, pi/2, 0, q, 0, hand]
    - [tool_roll, wrist_pitch, 1, 0, pi, 0, pi/2, 0, q, hand/2, tool]
    - [tip, tool_roll, 0, 2, 0, 0, 0, 0, 0, hand/2, ""]
  masses: |
    body,           mass, x,        y,      z,        Ixx,                            Iyy,                             Izz,               IA,          FV
    shoulder_roll,  12,   0,        0,      offset/2, 3*wall**2 + offset**2,          3*wall**2 + offset**2,           6*wall**2,         1e-4*gear**2, 2
    shoulder_pitch, 9,    -upper/4, 0,      0,        9*0.08**2/2, 9*(3*0.08**2 + upper**2/4)/12, 9*(3*0.08**2 + upper**2/4)/12,         1e-4*gear**2, 2
    elbow_roll,     7,    0,        0,      -upper/4, 7*(3*0.07**2 + upper**2/4)/12, 7*(3*0.07**2 + upper**2/4)/12, 7*0.07**2/2,          5e-5*gear**2, 1
    elbow_pitch,    5,    -fore/4,  0,      0,        5*0.06**2/2, 5*(3*0.06**2 + fore**2/4)/12, 5*(3*0.06**2 + fore**2/4)/12,           5e-5*gear**2, 1
    wrist_roll,     3.5,  0,        0,      fore/4,   3.5*(3*0.05**2 + fore**2/4)/12, 3.5*(3*0.05**2 + fore**2/4)/12, 3.5*0.05**2/2,     1e-5*gear**2, 0.3
    wrist_pitch,    2,    0,        hand/4, 0,        2*(3*0.045**2 + hand**2/4)/12, 2*0.045**2/2, 2*(3*0.045**2 + hand**2/4)/12,        1e-5*gear**2, 0.3
    tool_roll,      1.5,  0,        0,      hand/4,   1.5*(hand**2/4 + 0.12**2)/12, 1.5*(hand**2/4 + 0.05**2)/12, 1.5*(0.12**2 + 0.05**2)/12, 1e-5*gear**2, 0.1
sensors: {tip: {position: tip}}
"""  # noqa: E501


def _elementary(kind: str, axis: int, value: float) -> np.ndarray:
    T = np.eye(4)
    if kind == "trans":
        T[axis, 3] = value
        return T
    i, j = (axis + 1) % 3, (axis + 2) % 3
    c, s = np.cos(value), np.sin(value)
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def _product(gamma: float, b: float, alpha: float, d: float, theta: float, r: float) -> np.ndarray:
    steps = [("rot", 2, gamma), ("trans", 2, b), ("rot", 0, alpha), ("trans", 0, d), ("rot", 2, theta), ("trans", 2, r)]
    T = np.eye(4)
    for step in steps:
        T = T @ _elementary(*step)
    return T


def _special(count: int) -> list[np.ndarray]:
    """Random rows, among them parallel, opposite and crossing axes."""
    random = np.random.default_rng(15)
    found = []
    for k in range(count):
        row = random.uniform(-3.0, 3.0, 6)
        if k % 3 == 0:
            row[2] = (0.0, np.pi)[k % 2]
        if k % 5 == 0:
            row[3] = 0.0
        found.append(row)
    return found


def test_a_transform_is_the_product_of_its_six_elementary_ones():
    for row in _special(60):
        pose, T = khalil_kleinfinger(*row), _product(*row)
        assert_allclose(pose.axes, T[:3, :3], atol=1e-14)
        assert_allclose(pose.position, T[:3, 3], atol=1e-14)


def test_every_frame_has_six_parameters():
    for row in _special(60):
        pose = khalil_kleinfinger(*row)
        again = khalil_kleinfinger(*parameters_of(pose))
        assert_allclose(again.axes, pose.axes, atol=1e-13)
        assert_allclose(again.position, pose.position, atol=1e-12)  # lengths of 3, divided by sin α > 1e-2


@pytest.mark.parametrize(("text", "name"), [(TWO_LINK, "two-link"), (SEVEN_JOINT, "seven-joint")])
def test_an_arm_as_a_table_is_its_mechanism_file(text, name):
    tables = loads(text)
    drawn = supple.load(next((EXAMPLES / name).glob("*.yaml")))
    random = np.random.default_rng(7)
    assert list(tables.actuators) == list(drawn.actuators)
    for _ in range(4):
        theta = dict(zip(drawn.actuators, random.uniform(-1.5, 1.5, len(drawn.actuators)), strict=True))
        ours, theirs = supple.local(tables, theta), supple.local(drawn, theta)
        assert_allclose(ours.M, theirs.M, rtol=0.0, atol=1e-12 * np.abs(theirs.M).max())
        assert_allclose(
            supple.assemble(tables, theta).frame("tip").position,
            supple.assemble(drawn, theta).frame("tip").position,
            atol=1e-13,
        )


RX90_ALPHA = (0.0, np.pi / 2, 0.0, -np.pi / 2, np.pi / 2, -np.pi / 2)  # Khalil and Dombre, table 3.1
RX90_D = (0.0, 0.0, 0.45, 0.0, 0.0, 0.0)
RX90_R = (0.0, 0.0, 0.0, 0.45, 0.0, 0.0)


def _dynamic_parameters() -> np.ndarray:
    """(6, 10) M, MX, MY, MZ, XX, XY, XZ, YY, YZ, ZZ about the origins, of bodies that may exist."""
    random = np.random.default_rng(90)
    found = []
    for _ in range(6):
        points, weights = random.uniform(-0.2, 0.2, (8, 3)), random.uniform(0.3, 1.0, 8)
        J = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(weights, points, strict=True))
        found.append([weights.sum(), *(weights @ points), *J[np.triu_indices(3)]])
    return np.array(found)


def _recursion(q: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """M(q) = Σ_i J_iᵀ 𝕄_i J_i, Jacobians of all frames carried outwards from the base: twists (v, ω) of O_i in R_i."""
    M, jacobian = np.zeros((6, 6)), np.zeros((6, 6))
    for i in range(6):
        T = _product(0.0, 0.0, RX90_ALPHA[i], RX90_D[i], q[i], RX90_R[i])
        R, p = T[:3, :3], T[:3, 3]
        v, w = jacobian[:3], jacobian[3:]
        jacobian = np.vstack([R.T @ (v + np.cross(w.T, p).T), R.T @ w])
        jacobian[5, i] += 1.0
        m, s, (xx, xy, xz, yy, yz, zz) = parameters[i, 0], parameters[i, 1:4], parameters[i, 4:]
        S = np.array([[0, -s[2], s[1]], [s[2], 0, -s[0]], [-s[1], s[0], 0]])
        spatial = np.block([[m * np.eye(3), -S], [S, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])]])
        M += jacobian.T @ spatial @ jacobian
    return M


def _rx90() -> str:
    rows = "".join(f"    {i + 1}, {i}, 1, 0, {RX90_ALPHA[i]!r}, {RX90_D[i]}, q{i + 1}, {RX90_R[i]}\n" for i in range(6))
    masses = "".join(
        f"    {i + 1}, {', '.join(repr(float(value)) for value in row)}\n"
        for i, row in enumerate(_dynamic_parameters())
    )
    return (
        "supple: 1\nname: rx90\ntables:\n  geometry: |\n    j, ant, mu, sigma, alpha, d, theta, r\n"
        f"{rows}  masses: |\n    j, M, MX, MY, MZ, XX, XY, XZ, YY, YZ, ZZ\n{masses}"
    )


def test_the_rx90_has_the_mass_matrix_of_its_own_recursion():
    robot = loads(_rx90())
    random = np.random.default_rng(3)
    for _ in range(4):
        q = random.uniform(-2.5, 2.5, 6)
        M = supple.local(robot, dict(zip(robot.actuators, q, strict=True))).M
        assert_allclose(M, _recursion(q, _dynamic_parameters()), atol=1e-12)


def test_a_table_and_the_file_it_is_converted_to_are_one_mechanism():
    tables = loads(SEVEN_JOINT)
    written = loads(to_yaml(tables))
    theta = dict.fromkeys(tables.actuators, 0.4)
    assert_allclose(supple.local(written, theta).M, supple.local(tables, theta).M, rtol=0.0, atol=1e-13)


def test_tables_in_files_of_their_own(tmp_path):
    lines = TWO_LINK.split("  geometry: |\n")[1].split("  masses: |\n")
    geometry = "\n".join(line.strip() for line in lines[0].splitlines())
    (tmp_path / "geometry.csv").write_text("# a comment\n" + geometry + "\n\n", "utf-8")
    text = TWO_LINK.split("  geometry: |\n")[0] + "  geometry: geometry.csv\n  masses: |\n" + lines[1]
    (tmp_path / "arm.yaml").write_text(text, "utf-8")
    arm = supple.load(tmp_path / "arm.yaml", parameters={"length": 1.0})
    assert_allclose(supple.assemble(arm).frame("tip").position, [0.0, 0.0, -2.0], atol=1e-14)


FOUR_BAR = """
supple: 1
name: four-bar
gravity: [0, 0, -9.81]
tables:
  geometry: |
    joint,    a, mu, sigma, gamma, b, alpha, d,   theta,   r
    crank,    0, 1,  0,     0,     0, pi/2,  0,   60 deg,  0
    coupler,  crank, 0, 0,  0,     0, 0,     0.4, -50 deg, 0
    follower, 0, 0,  0,     0,     0, pi/2,  1,   100 deg, 0
    pin,      coupler, 0, 0, 0,    0, 0,     0.9, 80 deg,  0
    end,      follower, 0, 2, 0,   0, 0,     0.6, 0,       0
  masses: |
    body,     mass, x,    Iyy,   Izz
    crank,    1,    0.2,  0.02,  0.02
    coupler,  2,    0.45, 0.1,   0.1
    follower, 1.5,  0.3,  0.05,  0.05
  closures: CLOSURES
"""
BY_HAND = """
supple: 1
name: four-bar
gravity: [0, 0, -9.81]
points: {A: [0, 0, 0], B: [0.2, 0, 0.35], C: [0.9, 0, 0.6], D: [1, 0, 0]}
bodies:
  crank: {rod: [A, B], length: 0.4, mass: 1, center: 0.2, inertia: [0, 0.02, 0.02]}
  coupler: {rod: [B, C], length: 0.9, mass: 2, center: 0.45, inertia: [0, 0.1, 0.1]}
  follower: {rod: [D, C], length: 0.6, mass: 1.5, center: 0.3, inertia: [0, 0.05, 0.05]}
joints:
  A: {revolute: [ground, crank], axis: -y}
  B: {revolute: [crank, coupler], axis: -y}
  C: {revolute: [coupler, follower], axis: -y}
  D: {revolute: [follower, ground], axis: -y}
actuators: {crank: {joint: A}}
"""


@pytest.mark.parametrize("closures", ["[{first: pin, second: end}]", "[{first: end, second: pin, kind: weld}]"])
def test_a_loop_closes_through_a_joint_that_was_cut(closures):
    """The inertia at the crank is that of the same loop drawn by hand: angles there count from where it is drawn."""
    tables, drawn = loads(FOUR_BAR.replace("CLOSURES", closures)), loads(BY_HAND)
    assert "pin" not in tables.bodies
    start = np.arctan2(0.35, 0.2)
    for angle in (0.7, 1.1, 1.6):
        ours = supple.local(tables, {"crank": angle}).M
        assert_allclose(ours, supple.local(drawn, {"crank": angle - start}).M, rtol=1e-8)  # closure's tolerance


def test_a_closure_may_be_a_joint_of_its_own():
    closures = "[{first: end, second: pin, kind: revolute, name: last}]"
    text = FOUR_BAR.replace("CLOSURES", closures).replace("pin,      coupler, 0, 0,", "pin,      coupler, 0, 2,")
    tables = loads(text)
    assert tables.joints["last"].kind == "revolute"
    assert "pin" in tables.frames
    other = loads(FOUR_BAR.replace("CLOSURES", "[{first: pin, second: end}]"))
    assert_allclose(supple.local(tables, {"crank": 1.0}).M, supple.local(other, {"crank": 1.0}).M, rtol=1e-8)


WRONG = [
    ("pi/2, 0,      q - pi/2", "pi/2, 3 kg,   q - pi/2", 'row 1 ("shoulder"), column "d"', "a mass"),
    ("elbow,    shoulder,   1, 0", "elbow,    sholder,    1, 0", 'row 2 ("elbow"), column "antecedent"', "unknown row"),
    ("elbow,    shoulder,   1, 0", "elbow,    tip,        1, 0", 'row 2 ("elbow"), column "antecedent"', "circle"),
    ("1, 0, pi/2", "1, 3, pi/2", 'row 1 ("shoulder"), column "sigma"', '"3" is not a value of σ'),
    ("1, 0, pi/2", "2, 0, pi/2", 'row 1 ("shoulder"), column "actuated"', '"2" is not a value of μ'),
    ("tip,      elbow,      0, 2", "tip,      elbow,      1, 2", 'row 3 ("tip"), column "actuated"', "fixed"),
    ("q - pi/2", "2*q", 'row 1 ("shoulder"), column "theta"', "q plus a constant"),
    ("length, q,        0", "lenght, q,        0", 'row 2 ("elbow"), column "d"', "lenght"),
    ("length, q,        0", "length, q,", 'row 2 ("elbow"), column "r"', "empty"),
    ("length, q,        0", "length, q", "table geometry, row 2", "7 cells for 8 headings"),
    ("tip,      elbow,      0", "elbow,    elbow,      0", 'row 3 ("elbow"), column "joint"', "row 2"),
    ("joint,    antecedent", "joint,    antecendent", "table geometry", 'unknown heading "antecendent"'),
    ("μ, σ, α,    d, ", "μ, σ, α,    α, ", "table geometry", "duplicate"),
    ("elbow,    mass, center", "ellbow,   mass, center", 'table masses, row 2 ("ellbow")', "unknown row"),
    ("elbow,    mass, center", "elbow,    -mass, center", 'row 2 ("elbow"), column "mass"', "must not be negative"),
    ("body,     mass, x,      Ixx", "body,     mass, MX,     Ixx", "table masses", "about the centre"),
]


@pytest.mark.parametrize(("written", "wrong", "where", "why"), WRONG)
def test_a_wrong_table_gives_row_column_and_reason(written, wrong, where, why):
    assert written in TWO_LINK
    with pytest.raises(InputError) as caught:
        loads(TWO_LINK.replace(written, wrong, 1), name="arm.yaml")
    told = str(caught.value)
    assert told.startswith("arm.yaml:"), told
    assert where in told, told
    assert why in told, told


def test_a_wrong_word_under_tables_is_told_with_the_right_one():
    with pytest.raises(InputError, match=r"masses"):
        loads(TWO_LINK.replace("  masses: |", "  mases: |"))


GEARED = """
supple: 1
name: arm with a belt
gravity: [0, 0, -9.81]
tables:
  geometry: |
    joint, a, mu, sigma, alpha, d,   theta,        r
    1,     0, 1,  0,     0,     0,   q,            0
    2,     1, 1,  0,     -pi/2, 0.1, q,            0
    3,     2, 0,  0,     0,     0.4, -q2 + pi/3,   0
    4,     3, 0,  1,     pi/2,  0,   0,            0.02*q1 + 0.01*q3 + 0.1
  masses: |
    body, mass, x,   y,    z,    Ixx,  Iyy,  Izz
    1,    2,    0.1, 0,    0.05, 0.02, 0.02, 0.02
    2,    1.5,  0.2, 0.01, 0,    1e-3, 0.02, 0.02
    3,    0.7,  0.1, 0,    0,    1e-3, 2e-3, 2e-3
    4,    0.3,  0,   0.02, 0.05, 1e-3, 1e-3, 1e-3
"""


def test_a_row_may_follow_others():
    """θ₃ = -q₂ + π/3 and r₄ = 0.02 q₁ + 0.01 q₃ + 0.1, against the arm whose joints all move, M = GᵀM_qG."""
    machine = loads(GEARED)
    assert list(machine.couplings) == ["joint3_follows", "joint4_follows"]
    assert supple.check(machine).mobility == 2
    G = np.array([[1, 0], [0, 1], [0, -1], [0.02, -0.01]])
    free = GEARED.replace("-q2 + pi/3,   0", "q + pi/3,     0").replace("0.02*q1 + 0.01*q3 + 0.1", "q + 0.1")
    tree = loads(free.replace("3,     2, 0", "3,     2, 1").replace("4,     3, 0", "4,     3, 1"))
    for theta in np.random.default_rng(3).uniform(-2.0, 2.0, (3, 2)):
        whole, ours = supple.local(tree, G @ theta), supple.local(machine, theta)
        M = G.T @ whole.M @ G
        assert_allclose(ours.M, M, rtol=0.0, atol=1e-12 * np.abs(M).max())
        assert_allclose(ours.force, G.T @ whole.force, rtol=0.0, atol=1e-11)
    again = loads(GEARED.replace("0, 1,  0,     0,     0,   q, ", "0, 1,  0,     0,     0,   0.5, "))
    assert_allclose(supple.local(again, [0.7, 0.2]).M, supple.local(machine, [0.7, 0.2]).M, rtol=1e-12)


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("q3 - q2", "its own q and follows row 2"),
        ("q2**2", "linear in q"),
        ("q1*q2", "linear in q"),
        ("q9", "q9"),
        ("2*q4", "rows 3, 4 follow each other in a circle"),
    ],
)
def test_a_row_that_cannot_follow_is_told(cell, why):
    with pytest.raises(InputError, match=re.escape(why)) as caught:
        loads(GEARED.replace("-q2 + pi/3", cell), name="arm.yaml")
    assert 'table geometry, row 3 ("3"), column "theta"' in str(caught.value)
    assert str(caught.value).startswith("arm.yaml:10:")
