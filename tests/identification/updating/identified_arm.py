"""A machine with every kind of number that can be identified, small enough to be taken apart by differences."""

ARM = """
supple: 1
name: test arm
# stiffnesses are guesses
parameters:
  k_knee: 2.0e4        # bending of the knee
  soft: k_knee/3
  E: 70 GPa
  rho: 2700
  outer: 40 mm
  width: 30 mm
  load: 1.5
  Ixx: 2e-3
  k_spring: 4e3
  k_drive: 8e3
  reach: 0.5
points: {O: [0, 0, 0], P: [0.6, 0, 0], T: [1.1, 0.1, 0], W: [0, 0, 0.4]}
materials:
  alu: {youngs_modulus: E, density: rho}
  steel: {youngs_modulus: 210e9, density: 7800, poisson: 0.28}
sections:
  tube: {tube: {outer: outer, wall: 0.1*outer}}
  bar: {rectangle: [width, 20 mm]}
bodies:
  upper: {beam: [O, P], section: tube, material: alu, elements: 3}
  fore:
    beams:
      - {from: P, to: [0.9, 0, 0], section: bar, material: alu, elements: 2, theory: timoshenko}
      - {from: [0.9, 0, 0], to: T, section: tube, material: steel, elements: 2}
  hand: {mass: load, center: [1.1, 0.1, 0.02], inertia: {xx: Ixx, yy: 3e-3, zz: 2.5e-3}, at: T}
joints:
  O:
    revolute: [ground, upper]
    axis: y
    elastic: {x: 2e7, y: 2e7, z: 1e7, rx: 4e4, ry: 3*soft}
    drive: {stiffness: k_drive}
  knee: {revolute: [upper, fore], at: P, axis: y, elastic: {rx: k_knee, ry: soft, x: 3e6}, drive: {stiffness: 6e3}}
  T: {weld: [fore, hand], elastic: {rz: 5e3}}
point_masses: {lump: {at: fore.P, mass: 0.3, inertia: {xx: 2e-3, yy: 3e-3, zz: 4e-3, xy: 5e-4}}}
springs: {strut: {between: [W, fore.P], stiffness: k_spring, length: 0.7}}
frames: {W: {on: ground, at: W}}
sensors: {tip: {position: T}}
actuators: {shoulder: {joint: O}, knee: {joint: knee}}
configurations: {bent: {shoulder: 0.4, knee: -0.7}, other: {shoulder: -0.2, knee: 0.5}}
"""
