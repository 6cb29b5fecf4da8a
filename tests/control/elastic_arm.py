"""An arm of two links with elastic gearboxes and force servos, in a vertical plane, and a flexible model of it."""

from functools import cache

import supple

TEXT = """
supple: 1
name: elastic-arm
plane: xz
gravity: [0, -9.81]
points: {S: [0, 0], E: [0.6, 0], T: [1.1, 0]}
bodies:
  upper: {rod: [S, E], mass: 4 kg}
  fore: {rod: [E, T], mass: 2.5 kg}
point_masses: {load: {at: T, mass: 3 kg}}
joints:
  S: {revolute: [ground, upper], motor: {inertia: 1e-4, gear: 100}, drive: {stiffness: 4000, damping: 2}, viscous: 2}
  E: {revolute: [upper, fore], motor: {inertia: 0.4e-4, gear: 80}, drive: {stiffness: 1500, damping: 0.8}, viscous: 1}
actuators:
  shoulder: {joint: S, limits: [30 deg, 90 deg], drive: {force: {frequency: 80 Hz, damping: 0.8, delay: 1 ms}}}
  elbow: {joint: E, limits: [-110 deg, -50 deg], drive: {force: {frequency: 80 Hz, damping: 0.8, delay: 1 ms}}}
sensors:
  shoulder_encoder: {joint: S, noise: 10 urad}
  elbow_encoder: {joint: E, noise: 10 urad}
  tip: {position: T}
configurations: {home: {shoulder: 40 deg, elbow: -60 deg}}
motions:
  pick:
    coordinates:
      shoulder: {from: 40 deg, to: 80 deg, velocity: 2, acceleration: 12, jerk: 300}
      elbow: {from: -60 deg, to: -100 deg, velocity: 2, acceleration: 12, jerk: 300}
"""


@cache
def elastic_arm():
    return supple.loads(TEXT)


@cache
def model():
    return supple.reduce(elastic_arm(), internal_modes=2, tolerance=1e-2, store=False)
