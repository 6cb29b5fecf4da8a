"""Elastic robots from tables: an arm against the same arm drawn, a parallel robot against figures of another model."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import supple
from supple.diagnostics import InputError
from supple.formats.khalil_kleinfinger.beams import orientation
from supple.formats.khalil_kleinfinger.written import to_tables
from supple.formats.mechanism_file import loads
from supple.formats.mechanism_text import to_yaml

ARM = """
supple: 1
name: arm
parameters: {l1: 0.6, l2: 0.5, E: 70 GPa, G: 27 GPa, rho: 2700 kg/m**3}
tables:
  geometry: |
    joint,    a,        mu, sigma, alpha, d,  theta,  r
    shoulder, 0,        1,  0,     pi/2,  0,  20 deg, 0
    elbow,    shoulder, 1,  0,     0,     l1, 40 deg, 30 mm
    tip,      elbow,    0,  2,     0,     l2, 0,      -30 mm
  beams: |
    body,     beam, l,     S,    Iy,   Iz,     J,      E, G, rho, phi, theta, psi
    shoulder, 1,    l1/2,  4e-4, 3e-8, 1.2e-8, 2.6e-8, E, G, rho, 0,   0,     0
    shoulder, 2,    l1/2,  4e-4, 3e-8, 1.2e-8, 2.6e-8, E, G, rho, 0,   0,     0
    elbow,    1,    30 mm, 2e-4, 8e-9, 3e-9,   6e-9,   E, G, rho, 0,   pi/2,  0
    elbow,    2,    l2,    2e-4, 8e-9, 3e-9,   6e-9,   E, G, rho, 0,   0,     0
  masses: |
    body, mass, z,     Ixx,  Iyy,  Izz
    tip,  0.8,  20 mm, 2e-3, 3e-3, 1e-3
  stiffness: |
    joint,    x,   y,   z,   rx,  ry,  rz
    shoulder, 2e7, 2e7, 1e7, 4e4, 4e4, 8e3
    elbow,    1e7, 1e7, ,    1e4, 1e4, 3e3
"""
# The same by hand: angles turn about -y, the second joint sits where the first link ends, 30 mm aside of its frame.
DRAWN = """
supple: 1
name: arm
parameters: {a: 20 deg, b: 60 deg, x1: 0.6*cos(a), z1: 0.6*sin(a), x2: x1 + 0.5*cos(b), z2: z1 + 0.5*sin(b)}
points:
  O: [0, 0, 0]
  M: [x1/2, 0, z1/2]
  P: [x1, 0, z1]
  Q: [x1, -0.03, z1]
  T: [x2, 0, z2]
materials: {alu: {youngs_modulus: 70e9, shear_modulus: 27e9, density: 2700}}
sections:
  thick: {area: 4e-4, Iy: 3e-8, Iz: 1.2e-8, torsion: 2.6e-8}
  thin: {area: 2e-4, Iy: 8e-9, Iz: 3e-9, torsion: 6e-9}
bodies:
  upper:
    beams:
      - {from: O, to: M, section: thick, material: alu, elements: 1, up: [0, -1, 0]}
      - {from: M, to: P, section: thick, material: alu, elements: 1, up: [0, -1, 0]}
  fore:
    beams:
      - {from: Q, to: P, section: thin, material: alu, elements: 1, up: [cos(b), 0, sin(b)]}
      - {from: P, to: T, section: thin, material: alu, elements: 1, up: [0, -1, 0]}
  load: {mass: 0.8, center: [x2, -0.02, z2], inertia: [2e-3, 3e-3, 1e-3], at: T, rotation: TURN}
joints:
  shoulder: {revolute: [ground, upper], at: O, axis: -y, elastic: {x: 2e7, y: 2e7, z: 1e7, rx: 4e4, ry: 4e4}, drive: {stiffness: 8e3}}
  elbow: {revolute: [upper, fore], at: P, axis: -y, elastic: {x: 1e7, y: 1e7, rx: 1e4, ry: 1e4}, drive: {stiffness: 3e3}}
  load: {weld: [fore, load], at: T}
actuators: {shoulder: {joint: shoulder}, elbow: {joint: elbow}}
"""  # noqa: E501


def test_beams_are_turned_by_roll_pitch_and_yaw():
    random = np.random.default_rng(2)
    for phi, theta, psi in random.uniform(-3.0, 3.0, (20, 3)):
        c, s = np.cos, np.sin
        Rz = np.array([[c(phi), -s(phi), 0], [s(phi), c(phi), 0], [0, 0, 1]])
        Ry = np.array([[c(theta), 0, s(theta)], [0, 1, 0], [-s(theta), 0, c(theta)]])
        Rx = np.array([[1, 0, 0], [0, c(psi), -s(psi)], [0, s(psi), c(psi)]])
        assert_allclose(orientation(phi, theta, psi), Rz @ Ry @ Rx, atol=1e-14)


def test_an_elastic_arm_as_a_table_is_the_arm_as_it_is_drawn():
    turn = Rotation.from_euler("XZ", [90.0, 60.0], degrees=True).as_rotvec()  # R_2: about x, then about the new z
    rotation = f"{{about: {turn.tolist()}, angle: {np.linalg.norm(turn)}}}"
    tables, drawn = loads(ARM), loads(DRAWN.replace("TURN", rotation))
    ours, theirs = (supple.modes(machine, count=8).frequencies_hz for machine in (tables, drawn))
    assert_allclose(ours, theirs, rtol=1e-9)  # of eigenvalues over five decades


DELTA = """
supple: 1
name: delta
parameters:
  Lb: 0.75
  Lc: 0.125
  Lp: 0.95
  Rb: 0.22
  Rn: 0.10
  Sb: pi/4*(0.11**2 - 0.1**2)
  Ib: pi/64*(0.11**4 - 0.1**4)
  Sp: pi/4*(0.02**2 - 0.016**2)
  Ip: pi/64*(0.02**4 - 0.016**4)
  Sc: pi/4*0.03**2
  Ic: pi/64*0.03**4
  k: 2e7
  first: 38.4233 deg
  rods: pi - acos((Rb + Lb*cos(first) - Rn)/Lp)
bodies:
  platform: {mass: 6.64, center: [0, 0, -1.1], inertia: [0.04, 0.04, 0.06], at: [0, 0, -1.1]}
tables:
  copies: {count: 3}
  geometry: |
    joint, a,        mu, sigma, gamma, b,     alpha, d,     theta,        r
    arm,   0,        1,  0,     0,     0,     -pi/2, Rb,    first,        0
    2,     arm,      0,  0,     0,     0,     0,     Lb,    rods - first, Lc
    3,     2,        0,  0,     0,     0,     pi/2,  0,     0,            0
    4,     3,        0,  0,     0,     0,     0,     Lp,    0,            0
    5,     4,        0,  0,     0,     0,     -pi/2, 0,     -rods,        -Lc
    6,     2,        0,  0,     0,     -2*Lc, pi/2,  0,     0,            0
    7,     6,        0,  0,     0,     0,     0,     Lp,    0,            0
    8,     4,        0,  2,     pi/2,  0,     0,     -2*Lc, -pi/2,        0
    E,     5,        0,  2,     0,     0,     pi/2,  -Rn,   0,            0
    P,     platform, 0,  2,     0,     0,     0,     0,     0,            0
  closures: |
    first, second
    7,     8
    E,     P
  beams: |
    body, beam, l,    S,  Iy, Iz, J,    E,     G,         rho,  phi,   theta, psi
    arm,  1,    Lb/3, Sb, Ib, Ib, 2*Ib, 70e9,  70e9/2.6,  2700, 0,     0,     0
    arm,  2,    Lb/3, Sb, Ib, Ib, 2*Ib, 70e9,  70e9/2.6,  2700, 0,     0,     0
    arm,  3,    Lb/3, Sb, Ib, Ib, 2*Ib, 70e9,  70e9/2.6,  2700, 0,     0,     0
    2,    1,    Lc,   Sc, Ic, Ic, 2*Ic, 210e9, 210e9/2.6, 7800, -pi/2, pi/2,  pi/2
    2,    2,    Lc,   Sc, Ic, Ic, 2*Ic, 210e9, 210e9/2.6, 7800, -pi/2, pi/2,  pi/2
    3,    1,    Lp/3, Sp, Ip, Ip, 2*Ip, 70e9,  70e9/2.6,  2700, 0,     0,     0
    3,    2,    Lp/3, Sp, Ip, Ip, 2*Ip, 70e9,  70e9/2.6,  2700, 0,     0,     0
    3,    3,    Lp/3, Sp, Ip, Ip, 2*Ip, 70e9,  70e9/2.6,  2700, 0,     0,     0
    4,    1,    Lc,   Sc, Ic, Ic, 2*Ic, 210e9, 210e9/2.6, 7800, -pi/2, 0,     0
    4,    2,    Lc,   Sc, Ic, Ic, 2*Ic, 210e9, 210e9/2.6, 7800, -pi/2, 0,     0
    6,    1,    Lp/3, Sp, Ip, Ip, 2*Ip, 70e9,  70e9/2.6,  2700, 0,     0,     0
    6,    2,    Lp/3, Sp, Ip, Ip, 2*Ip, 70e9,  70e9/2.6,  2700, 0,     0,     0
    6,    3,    Lp/3, Sp, Ip, Ip, 2*Ip, 70e9,  70e9/2.6,  2700, 0,     0,     0
  stiffness: |
    joint, x, y, z, rx,    ry,    rz
    arm,   k, k, k, 1.1e5, 1.1e5, 6.6e4
    2,     k, k, k, 1e4,   1e4,
    3,     k, k, k, 6e3,   6e3,
    4,     k, k, k, 6e3,   6e3,
    6,     k, k, k, 6e3,   6e3,
    7,     k, k, k, 6e3,   6e3,
    5,     k, k, k, 8e3,   8e3,
"""


@pytest.fixture(scope="module")
def delta():
    return loads(DELTA)


def test_a_parallel_robot_of_three_copied_chains(delta):
    """The tables of a Delta structure [Rognant, Courteille, Maurine 2010, table III], sections and stiffnesses ours.

    The symmetry of three chains makes pairs of modes; the figures are those of a beam model written on its own.
    """
    assert list(delta.actuators) == ["arm1", "arm2", "arm3"]
    found = supple.modes(delta, count=9).frequencies_hz
    expected = [11.709762, 11.709762, 15.358492, 31.613967, 31.613967, 35.851265, 39.013092, 39.013092, 40.695904]
    assert_allclose(found, expected, rtol=1e-4)  # the angle of the arms is known to 1e-4 degrees
    assert_allclose(found[[0, 3, 6]], found[[1, 4, 7]], rtol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "at"), [("delta", None), ("arm", {"shoulder": 0.7, "elbow": -0.4})])
def test_tables_of_elastic_robots_are_written_and_read_back(name, at):
    """Beams that begin aside of a joint, masses on them, elastic joints, copies, loops, and a body of the file."""
    robot = loads({"delta": DELTA, "arm": ARM}[name])
    text = to_tables(robot)
    again = loads(text)
    assert "_mass" not in text  # masses on beams are rows again
    assert set(again.elastic_names) == set(robot.elastic_names)
    assert list(again.actuators) == list(robot.actuators)
    ours, theirs = (supple.modes(machine, at, count=9).frequencies_hz for machine in (again, robot))
    assert_allclose(ours, theirs, rtol=1e-9)
    plain = loads(to_yaml(robot))  # and by way of the mechanism file
    assert_allclose(supple.modes(loads(to_tables(plain)), at, count=9).frequencies_hz, theirs, rtol=1e-9)


@pytest.mark.parametrize(
    ("written", "wrong", "where", "why"),
    [
        (
            "    3,    1,    Lp/3, Sp",
            "    3,    1,    Lp/3, -Sp",
            'table beams, row 6 ("3"), column "S"',
            "must be positive (got -",
        ),
        ("    3,    2,    Lp/3", "    3,    1,    Lp/3", 'table beams, row 7 ("3"), column "beam"', "row 6"),
        ("    6,    3,    Lp/3", "    8,    3,    Lp/3", 'table beams, row 13 ("8"), column "body"', "a frame"),
        ("    6,    3,    Lp/3", "    6,    3,    Lp/4", 'row 7 ("7"), column "r"', "not on the beams"),
        ("    7,     8\n", "    7,     9\n", 'table closures, row 1 ("7"), column "second"', "unknown row"),
        ("    7,     8\n", "    7,     6\n", 'table closures, row 1 ("7"), column "second"', "the same body"),
        ("    E,     P\n", "    E,     5\n", 'table closures, row 2 ("E"), column "second"', "the same body"),
        (
            "    2,     k, k, k, 1e4",
            "    2,     0, k, k, 1e4",
            'table stiffness, row 2 ("2"), column "x"',
            "must be positive (got 0)",
        ),
        ("    2,     k, k, k, 1e4", "    8,     k, k, k, 1e4", 'table stiffness, row 2 ("8")', "no joint"),
    ],
)
def test_a_wrong_table_of_an_elastic_robot_gives_row_column_and_reason(written, wrong, where, why):
    assert written in DELTA
    with pytest.raises(InputError) as caught:
        loads(DELTA.replace(written, wrong, 1), name="delta.yaml")
    told = str(caught.value)
    assert told.startswith("delta.yaml:"), told
    assert where in told, told
    assert why in told, told


COUPLED = """
supple: 1
parameters: {l1: 0.4}
tables:
  geometry: |
    joint, a, mu, sigma, alpha, d, theta,  r
    1,     0, 1,  0,     0.3,   0, 20 deg, 0
    2,     1, 0,  0,     0,     l1, 0, 0
  masses: |
    body, mass, x,   Ixx,  Iyy,  Izz
    1,    0.8,  0.2, 2e-3, 3e-3, 1e-3
    2,    0.5,  0.1, 1e-3, 1e-3, 1e-3
  stiffness: |
    joint, x,   y,   z,   rx,  ry,  rz,  x.ry, rz.y
    1,     2e6, 2e6, 1e6, 4e3, 4e3, 8e2, 3e4,  1e4
    2,     1e6, 1e6, ,    1e3, 1e3, 50,  ,
"""


def test_a_table_may_couple_directions():
    found = loads(COUPLED).joints
    K = np.diag([2e6, 2e6, 1e6, 4e3, 4e3, 8e2])
    K[0, 4] = K[4, 0] = 3e4
    K[1, 5] = K[5, 1] = 1e4
    first, second = found.values()
    assert first.stiffness_matrix().tolist() == K.tolist()
    assert np.diag(second.stiffness_matrix()).tolist() == [1e6, 1e6, np.inf, 1e3, 1e3, 0.0]


SECOND = "2,     1e6, 1e6, ,    1e3, 1e3, 50,  ,"


@pytest.mark.parametrize(
    ("row", "where", "why"),
    [
        ("2,     1e6, 1e6, ,    1e3, 1e3, 50,  5e4,", 'joint "joint2"', "not positive"),
        ("2,     1e6, 1e6, ,    1e3, 1e3, 50,  , 10", 'row 2 ("2"), column "y.rz"', "a spring on its own axis, rz"),
        ("2,     1e6, 1e6, ,    1e3, , 50,  10,", 'row 2 ("2"), column "x.ry"', "couples ry, which has no stiffness"),
        ("2,     1e6, 1e6, ,    1e3, 1e3, 50,  1 mm,", 'row 2 ("2"), column "x.ry"', "a force (N) is expected"),
    ],
)
def test_what_cannot_be_coupled_is_told_by_row_and_column(row, where, why):
    with pytest.raises(InputError) as told:
        supple.check(loads(COUPLED.replace(SECOND, row)))
    assert where in str(told.value)
    assert why in str(told.value)
