"""An arm in the plane with two joints and two materials that lose, small enough for a test a second long."""

LOSSY = """
supple: 1
name: lossy arm
plane: xz
points: {O: [0, 0], P: [0.6, 0], T: [1.1, 0.1]}
materials:
  alu: {youngs_modulus: 70 GPa, density: 2700}
  steel:
    youngs_modulus: 210 GPa
    density: 7800
sections: {bar: {rectangle: [12 mm, 30 mm]}, thin: {rectangle: [10 mm, 20 mm]}}
bodies:
  upper: {beam: [O, P], section: bar, material: alu, elements: 3}
  fore: {beam: [P, T], section: thin, material: steel, elements: 3}
  hand: {mass: 1.5, center: T, inertia: 0.05, at: T}
joints:
  O: {revolute: [ground, upper], drive: {stiffness: 9e3}}
  knee:      # a gearbox
    revolute: [upper, fore]
    at: P
    drive: {stiffness: 4e3}
  wrist: {weld: [fore, hand], at: T, stiffness: {angle: 2e3}}
actuators: {shoulder: {joint: O}, knee: {joint: knee}}
configurations: {bent: {shoulder: 0.3, knee: -0.9}, other: {shoulder: -0.4, knee: 0.7}}
"""
