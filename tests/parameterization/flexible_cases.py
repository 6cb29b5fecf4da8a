"""Flexible mechanisms, each with modes and a configuration at which the laws are tried."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import supple

EXAMPLES = Path(__file__).parents[2] / "examples"

PLANAR_FOUR_BAR = """\
supple: 1
name: planar-four-bar
plane: xz
gravity: [1.5, -9.81]
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {rectangle: [20 mm, 10 mm]}, thin: {rectangle: [20 mm, 7 mm]}}
points: {A: [0, 0], B: [0.5, 0.1], E: [0.54, 0.52], D: [1, 0]}
bodies:
  crank: {beam: [A, B], section: bar, material: aluminium, elements: 3}
  coupler: {beam: [B, E], section: [bar, thin], material: aluminium, elements: 4}
  follower: {beam: [D, E], section: bar, material: aluminium, elements: 3}
joints:
  A: {revolute: [ground, crank]}
  B: {revolute: [crank, coupler]}
  E: {revolute: [coupler, follower]}
  D: {revolute: [ground, follower]}
actuators: {crank: {joint: A}}
sensors: {E: {position: E}, swing: {joint: D}}
"""

# Everything that acts along a measure: springs (on a joint and between places), dampers, motors (one of them on a joint
# that the links' bending turns), dry and viscous friction, a constant force, elastic joints, a point mass on a beam.
FURNISHED = """\
supple: 1
name: furnished-four-bar
plane: xz
gravity: [0, -9.81]
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {A: [0, 0], B: [0.5, 0.1], E: [0.54, 0.52], D: [1, 0], F: [0.3, 0.06], G: [0.2, -0.3]}
bodies:
  crank: {beam: [A, B], section: bar, material: aluminium, elements: 3}
  coupler: {beam: [B, E], section: bar, material: aluminium, elements: 3}
  follower: {beam: [D, E], section: bar, material: aluminium, elements: 2}
joints:
  A: {revolute: [ground, crank], viscous: 0.02, motor: {inertia: 1e-3, gear: 3}}
  B: {revolute: [crank, coupler], elastic: {x: 2e5, z: 1e5}, dry: 0.1}
  E: {revolute: [coupler, follower], viscous: 0.05, dry: 0.2}
  D: {revolute: [ground, follower], motor: {inertia: 2e-3, gear: 2}}
point_masses:
  tip: {at: follower.E, mass: 0.4, inertia: 1e-3}
springs:
  hinge: {joint: D, stiffness: 7, rest: 1.1}
  wire: {between: [ground.G, crank.F], stiffness: 900, length: 0.3}
dampers:
  dash: {between: [ground.G, coupler.E], damping: 12}
forces:
  pull: {at: follower.E, force: [3, 5]}
actuators: {crank: {joint: A}}
sensors: {E: {position: E}, swing: {joint: D}, apart: {between: [ground.G, follower.E]}}
"""

# A coupler of two beams and a rigid rocker whose mass stands off its frame, about skew axes, one end on springs that
# are coupled.
SPATIAL = """\
supple: 1
name: spatial-crank-rocker
gravity: [1, 2, -9]
materials: {steel: {youngs_modulus: 210 GPa, poisson: 0.3, density: 7850}}
sections: {bar: {rectangle: [30 mm, 12 mm]}, pipe: {tube: [30 mm, 20 mm]}}
points: {A: [0, 0, 0], B: [0.4, 0.1, 0.2], Q: [0.45, 0.5, 0.35], C: [0.5, 0.8, 0.3], D: [0.9, 0.9, 0]}
bodies:
  crank: {beam: [A, B], section: bar, material: steel, elements: 2, up: [0, 0, 1]}
  coupler:
    beams:
      - {from: B, to: Q, section: pipe, material: steel, elements: 2}
      - {from: Q, to: C, section: pipe, material: steel, elements: 2}
  rocker: {mass: 1.3, center: [0.65, 0.7, 0.2], inertia: [0.02, 0.03, 0.025]}
joints:
  A: {revolute: [ground, crank], axis: [0.2, 0.1, 1]}
  B: {spherical: [crank, coupler], elastic: {x: 3e6, y: 3e6, z: 3e6}}
  C: {universal: [coupler, rocker], axes: [[1, 0, 0], [0, 1, 0.3]]}
  D: {revolute: [rocker, ground], axis: [1, 0.3, 0.2], stiffness: {x: 1e6, y: 1e6, z: 2e6, rx: 2e3, ry: 3e3, x.ry: 2e4,
      y.rx: -1e4, z.x: 3e5}}
actuators: {crank: {joint: A}}
sensors: {C: {position: coupler.C}}
"""

TWO_DRIVES = """\
supple: 1
name: five-bar-of-two-kinds
plane: xz
gravity: [0, -9.81]
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {A: [0, 0], B: [-0.1, 0.5], C: [0.35, 0.9], D: [0.85, 0.45], E: [0.7, 0]}
bodies:
  left: {beam: [A, B], section: bar, material: aluminium, elements: 3}
  upper_left: {beam: [B, C], section: bar, material: aluminium, elements: 3}
  upper_right: {beam: [C, D], section: bar, material: aluminium, elements: 3}
  right: {rod: [D, E], mass: 0.4}
joints:
  A: {revolute: [ground, left]}
  B: {revolute: [left, upper_left]}
  C: {revolute: [upper_left, upper_right]}
  D: {revolute: [upper_right, right]}
  E: {revolute: [ground, right], stiffness: [[4e4, 1e4, 0], [1e4, 3e4, 0], [0, 0, 0]]}
actuators: {one: {joint: A}, two: {joint: E}}
sensors: {C: {position: C}}
"""


@dataclass(frozen=True)
class FlexibleCase:
    """A mechanism, its modes, and θ."""

    text: str
    theta: tuple[float, ...]
    constraint: tuple[str, ...]
    internal: int
    step: float = 4e-3  # of differences

    @cached_property
    def mechanism(self) -> supple.Mechanism:
        return supple.loads(self.text)

    @property
    def at(self):
        return np.array(self.theta)

    def local(self, at=None, **options):
        """Internal modes follow those at θ, so that they are functions of θ around it, and the sorted ones there."""
        options = {"tracking": "subspace", "germ": self.theta} | options
        return supple.local(
            self.mechanism,
            self.at if at is None else at,
            constraint_modes=self.constraint,
            internal_modes=self.internal,
            **options,
        )


def _example(name: str) -> str:
    return (EXAMPLES / name / "mechanism.yaml").read_text("utf-8")


CASES = {
    "four-bar in space": FlexibleCase(_example("flexible-four-bar"), (-0.3,), ("E.z",), 3),
    "planar four-bar": FlexibleCase(PLANAR_FOUR_BAR, (0.4,), ("E.x",), 2),
    "furnished": FlexibleCase(FURNISHED, (0.25,), ("E.z",), 3),
    "spatial": FlexibleCase(SPATIAL, (-0.3,), ("C.z", "B.x"), 2),
    "two drives": FlexibleCase(TWO_DRIVES, (1.8, -1.85), (), 3),
    "ralf": FlexibleCase(_example("ralf"), (1.1, 0.93), ("T.z",), 2),
}
