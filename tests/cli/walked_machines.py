"""Two machines that are walked from their file to C: a planar five-bar and a delta, with gearboxes that yield."""

from __future__ import annotations

import math

FIVE_BAR = """\
supple: 1
name: five-bar
plane: xz
gravity: [0, -9.81]
parameters: {base: 0.15, prox: 0.35, dist: 0.5, payload: 2, rotor: 1e-4, ratio: 50, open: 120 deg}
materials: {alu: {youngs_modulus: 70 GPa, density: 2700, poisson: 0.33}}
sections: {arm: {box: [40 mm, 30 mm, 2 mm]}}
points:
  A: [-base, 0]
  B: [-base + prox*cos(open), prox*sin(open)]
  T: [0, 0.65]
  D: [base - prox*cos(open), prox*sin(open)]
  E: [base, 0]
bodies:
  left_arm:  {beam: [A, B], length: prox, section: arm, material: alu, elements: 6}
  right_arm: {beam: [E, D], length: prox, section: arm, material: alu, elements: 6}
  left_rod:  {rod: [B, T], length: dist, mass: 0.35}
  right_rod: {rod: [D, T], length: dist, mass: 0.35}
joints:
  left:  {revolute: [ground, left_arm], at: A, rest: open, motor: {inertia: rotor, gear: ratio}, viscous: 0.5,
          drive: {stiffness: 8000}}
  right: {revolute: [ground, right_arm], at: E, rest: pi - open, motor: {inertia: rotor, gear: ratio}, viscous: 0.5,
          drive: {stiffness: 8000}}
  B: {revolute: [left_arm, left_rod]}
  D: {revolute: [right_arm, right_rod]}
  T: {revolute: [left_rod, right_rod]}
point_masses:
  payload: {at: left_rod.T, mass: payload}
damping: {modal: [0.01, 0.015]}
actuators:
  left:  {joint: left,  limits: [60 deg, 170 deg], force_limits: [-120, 120]}
  right: {joint: right, limits: [10 deg, 120 deg], force_limits: [-120, 120]}
sensors:
  tool: {position: left_rod.T}
configurations:
  home: {left: 120 deg, right: 60 deg}
motions:
  reach:
    coordinates:
      left:  {from: 118 deg, to: 122 deg, velocity: 5, acceleration: 60, jerk: 3000}
      right: {from: 58 deg, to: 62 deg, velocity: 5, acceleration: 60, jerk: 3000}
"""

_ARM = """\
  rod{i}l: {{rod: [B{i}l, P{i}l], mass: 0.08}}
  rod{i}r: {{rod: [B{i}r, P{i}r], mass: 0.08}}
  arm{i}: {{beam: [A{i}, E{i}], section: tube, material: alu, attach: {{B{i}l: E{i}, B{i}r: E{i}}}}}
"""
_JOINTS = """\
  A{i}: {{revolute: [ground, arm{i}], axis: {axis}, motor: {{inertia: 1e-4, gear: 20}}, drive: {{stiffness: 3000}}}}
  B{i}l: {{universal: [arm{i}, rod{i}l], axes: [{axis}, {across}]}}
  B{i}r: {{universal: [arm{i}, rod{i}r], axes: [{axis}, {across}]}}
  P{i}l: {{spherical: [rod{i}l, platform]}}
  P{i}r: {{spherical: [rod{i}r, platform]}}
"""


def delta() -> str:
    """A delta of arms of 250 mm, 20 degrees below the plane, and pairs of rods of 600 mm, 60 mm apart."""
    reach, below = 0.2 + 0.25 * math.cos(math.radians(20)), 0.25 * math.sin(math.radians(20))
    height = below + math.sqrt(0.6**2 - (reach - 0.05) ** 2)
    rod = [0.05 - reach, 0.0, below - height]
    across = [rod[2] / 0.6, 0.0, -rod[0] / 0.6]
    points, bodies, joints = [], "", ""
    for i in range(3):
        turn = 2.0 * math.pi * i / 3.0
        c, s = math.cos(turn), math.sin(turn)

        def at(x: float, y: float, z: float, c: float = c, s: float = s) -> str:
            return f"[{c * x - s * y!r}, {s * x + c * y!r}, {z!r}]"

        points += [f"  A{i}: {at(0.2, 0, 0)}", f"  E{i}: {at(reach, 0, -below)}"]
        for side, y in (("l", 0.03), ("r", -0.03)):
            points += [f"  B{i}{side}: {at(reach, y, -below)}", f"  P{i}{side}: {at(0.05, y, -height)}"]
        bodies += _ARM.format(i=i)
        joints += _JOINTS.format(i=i, axis=at(0, 1, 0), across=at(*across))
    actuators = ", ".join(f"q{i}: {{joint: A{i}, limits: [-0.9, 0.9]}}" for i in range(3))
    lines = "\n".join(points)
    return f"""\
supple: 1
name: delta
gravity: [0, 0, -9.81]
points:
{lines}
materials: {{alu: {{youngs_modulus: 70 GPa, density: 2700, damping: {{structural: 0.002}}}}}}
sections: {{tube: {{tube: [30 mm, 26 mm]}}}}
bodies:
{bodies}  platform: {{mass: 0.5, center: [0, 0, {-height!r}], inertia: [5e-4, 5e-4, 1e-3], at: [0, 0, {-height!r}]}}
joints:
{joints}damping: {{modal: 0.01}}
actuators: {{{actuators}}}
sensors: {{tool: {{position: platform}}}}
configurations: {{home: {{q0: 0, q1: 0, q2: 0}}}}
motions:
  reach: {{coordinates: {{q0: {{to: 0.04, velocity: 2, acceleration: 40}}}}}}
"""
