"""Mechanisms with drives that yield, and the same with a hub between motor and arm: an elastic weld about the axis.

A hub has some inertia of its own about the axis, which stands for the motor's; the drive has the motor.
"""

from __future__ import annotations

FIVE_BAR = """
supple: 1
name: driven-five-bar
plane: xz
gravity: [0, -9.81]
parameters: {base: 0.15, prox: 0.35, dist: 0.5, k_gear: 8000, c_gear: 5, motor: 0.25, open: 120 deg, payload: 2}
materials:
  alu: {youngs_modulus: 70 GPa, density: 2700, poisson: 0.33}
sections:
  arm: {box: [40 mm, 30 mm, 2 mm]}
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
HUBS
joints:
JOINTS
  B: {revolute: [left_arm, left_rod]}
  D: {revolute: [right_arm, right_rod]}
  T: {revolute: [left_rod, right_rod]}
point_masses:
  payload: {at: left_rod.T, mass: payload}
damping: {modal: 0.015}
actuators:
  left:  {joint: left, limits: [60 deg, 170 deg]}
  right: {joint: right, limits: [10 deg, 120 deg]}
sensors:
  tool: {position: left_rod.T}
  encoder: {joint: left}
configurations:
  home: {left: 120 deg, right: 60 deg}
  side: {left: 100 deg, right: 50 deg}
"""

FIVE_BAR_DRIVES = """
  left:  {revolute: [ground, left_arm], at: A, rest: open, motor: {inertia: motor}, viscous: 0.5,
          drive: {stiffness: k_gear, damping: c_gear}}
  right: {revolute: [ground, right_arm], at: E, rest: pi - open, motor: {inertia: motor}, viscous: 0.5,
          drive: {stiffness: k_gear, damping: c_gear}}
"""

FIVE_BAR_HUBS = """
  left:  {revolute: [ground, left_hub], at: A, rest: open, viscous: 0.5}
  right: {revolute: [ground, right_hub], at: E, rest: pi - open, viscous: 0.5}
  left_gear:  {weld: [left_hub, left_arm], at: A, elastic: {angle: k_gear}, elastic_damping: {angle: c_gear}}
  right_gear: {weld: [right_hub, right_arm], at: E, elastic: {angle: k_gear}, elastic_damping: {angle: c_gear}}
"""


def five_bar(*, hubs: bool) -> str:
    """The five-bar with drives, or with hubs of the motors' inertia."""
    bodies = "".join(f"  {side}_hub: {{mass: 0.5, center: {at}, inertia: motor}}\n" for side, at in
                     (("left", "A"), ("right", "E")))  # fmt: skip
    text = FIVE_BAR.replace("HUBS\n", bodies if hubs else "")
    return text.replace("JOINTS\n", (FIVE_BAR_HUBS if hubs else FIVE_BAR_DRIVES).lstrip("\n"))


ARM = """
supple: 1
name: driven-arm
gravity: [0, 0, -9.81]
points: {{O: [0, 0, 0.3], P: [0.6, 0.1, 0.4], Q: [0.9, 0.5, 0.3]}}
materials: {{alu: {{youngs_modulus: 70 GPa, density: 2700}}}}
sections: {{tube: {{tube: [40 mm, 36 mm]}}}}
bodies:
  upper: {upper}
  lower: {lower}
{hubs}frames: {{{frames}}}
joints:
{joints}
actuators: {{one: {{joint: one}}, two: {{joint: two}}}}
sensors: {{tip: {{position: lower.Q}}}}
configurations: {{bent: {{one: 0.4, two: 0.3}}}}
"""

RIGID = ("{mass: 2, center: [0.3, 0.1, 0.35], inertia: [0.05, 0.06, 0.04]}",
         "{mass: 1, center: [0.8, 0.3, 0.33], inertia: [0.02, 0.03, 0.025]}")  # fmt: skip
BEAMS = ("{beam: [O, P], section: tube, material: alu}", "{beam: [P, Q], section: tube, material: alu}")
_AXES = {"one": ("O", "[0, 0.6, 0.8]"), "two": ("P", "[0.6, 0, 0.8]")}


def spatial_arm(bodies: tuple[str, str], *, first: str, turned: bool, hubs: bool, damped: bool = False) -> str:
    """An arm of two links in space with drives at both joints, or with small hubs in their place.

    first : kind of the first joint; turned : joints name their bodies the other way round
    """
    stiffness = {"one": 3000 if first == "revolute" else 4e4, "two": 2000}
    ends = {"one": ("ground", "upper"), "two": ("upper", "lower")}
    kinds = {"one": first, "two": "revolute"}
    joints, frames = [], []
    for name, (a, b) in ends.items():
        at, axis = _AXES[name]
        k, c = stiffness[name], 1e-3 * stiffness[name] if damped else 0.0
        moved = f"hub_{name}" if hubs else b
        pair = f"[{moved}, {a}]" if turned else f"[{a}, {moved}]"
        drive = "" if hubs else f", drive: {{stiffness: {k}, damping: {c}}}"
        joints.append(f"  {name}: {{{kinds[name]}: {pair}, at: {at}, axis: {axis}{drive}}}")
        if hubs:
            way = "rz" if kinds[name] == "revolute" else "z"
            pair, on = (f"[{b}, {moved}]", (b, moved)) if turned else (f"[{moved}, {b}]", (moved, b))
            joints.append(f"  gear_{name}: {{weld: {pair}, frames: [{name}1, {name}2], elastic: {{{way}: {k}}}, "
                          f"elastic_damping: {{{way}: {c}}}}}")  # fmt: skip
            placed = f"at: {at}, rotation: {_TURNS[name]}"
            frames += [f"{name}{i + 1}: {{on: {body}, {placed}}}" for i, body in enumerate(on)]
    small = "{{mass: 1e-5, center: {}, inertia: [1e-6, 1e-6, 1e-6]}}"
    between = "".join(f"  hub_{name}: {small.format(at)}\n" for name, (at, _) in _AXES.items()) if hubs else ""
    upper, lower = bodies
    return ARM.format(upper=upper, lower=lower, hubs=between, frames=", ".join(frames), joints="\n".join(joints))


# From the drawing's z to the axes above: both lie 36.87 degrees off it.
_TURNS = {"one": "{about: x, angle: -acos(0.8)}", "two": "{about: y, angle: acos(0.8)}"}
