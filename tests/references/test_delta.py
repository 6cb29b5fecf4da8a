"""A Delta robot: the tool is where three spheres around the elbows meet, also at a rest that had to be closed.

The rods of a leg are parallel, so that the platform only shifts. Moved by the offset of their joints on the platform,
the elbows are centres of spheres of the rods' length ℓ, and the tool is their lower intersection:
|x - c_k| = ℓ, k = 0, 1, 2.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

ROUNDING = 3e-14  # m: ten bodies in a chain of loops, each to 1e-16 of about a metre


def about_z(leg: int) -> np.ndarray:
    cosine, sine = np.cos(2 * np.pi * leg / 3), np.sin(2 * np.pi * leg / 3)
    return np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])


class Delta:
    """Drawn to centimetres, with rods of a length that the drawing only nearly has."""

    def __init__(self, seed: int) -> None:
        dice = np.random.default_rng(seed)
        low, high = [0.1, 0.2, 0.02, 0.03, -0.3, 0.5], [0.3, 0.4, 0.06, 0.08, 0.5, 0.9]
        self.base, self.upper, self.half, self.platform, self.tilt, self.depth = np.round(dice.uniform(low, high), 2)
        self.elbow = np.array([self.base + self.upper * np.cos(self.tilt), 0, -self.upper * np.sin(self.tilt)])
        self.length = round(float(np.linalg.norm([self.platform, 0, -self.depth] - self.elbow)), 2)

    def mechanism(self) -> supple.Mechanism:
        place = [0, 0, -self.depth]
        points, joints, actuators = {}, {}, {}
        bodies = {"platform": {"mass": 0.6, "center": place, "at": place, "inertia": [8e-4, 8e-4, 1.5e-3]}}
        along = [self.platform, 0, -self.depth] - self.elbow
        for k in range(3):
            R = about_z(k)
            across, axis = R @ [along[2], 0, -along[0]], R @ [0, 1, 0]
            points[f"A{k}"], points[f"E{k}"] = R @ [self.base, 0, 0], R @ self.elbow
            bodies[f"arm{k}"] = {"rod": [f"A{k}", f"E{k}"], "mass": 0.9}
            joints[f"A{k}"] = {"revolute": ["ground", f"arm{k}"], "axis": axis.tolist()}
            actuators[f"q{k}"] = {"joint": f"A{k}"}
            for side, half in (("left", self.half), ("right", -self.half)):
                rod, upper, lower = f"{side}{k}", f"{side}{k}U", f"{side}{k}P"
                points[upper], points[lower] = (
                    R @ np.add(self.elbow, [0, half, 0]),
                    R @ [self.platform, half, -self.depth],
                )
                bodies[rod] = {"rod": [upper, lower], "mass": 0.1, "length": self.length}
                joints[upper] = {"universal": [f"arm{k}", rod], "axes": [axis.tolist(), across.tolist()]}
                joints[lower] = {"spherical": [rod, "platform"]}
        drawn = {name: place.tolist() for name, place in points.items()}
        data = {"supple": 1, "name": "delta", "points": drawn, "bodies": bodies, "joints": joints}
        return supple.Mechanism(**data, actuators=actuators)

    def tool(self, theta: np.ndarray) -> np.ndarray:
        """The lower of the two points at the rods' length from the three centres."""
        arm = self.elbow - [self.base, 0, 0]
        x = self.base + np.cos(theta) * arm[0] + np.sin(theta) * arm[2] - self.platform
        z = np.cos(theta) * arm[2] - np.sin(theta) * arm[0]
        centres = np.array([about_z(k) @ [x[k], 0, z[k]] for k in range(3)])
        first, second = centres[1] - centres[0], centres[2] - centres[0]
        normal = np.cross(first, second)
        # On the axis through the circumcentre: 2 (c_k - c_0)·p = |c_k - c_0|², normal·p = 0
        right = [0.5 * first @ first, 0.5 * second @ second, 0.0]
        p = np.linalg.solve([first, second, normal], right)
        height = np.sqrt(self.length**2 - p @ p) * normal / np.linalg.norm(normal)
        return centres[0] + (p + height if height[2] < 0 else p - height)


@pytest.mark.parametrize("seed", range(6))
def test_the_tool_is_where_three_spheres_meet(seed):
    delta = Delta(seed)
    mechanism = delta.mechanism()
    rest = supple.assemble(mechanism)
    assert abs(rest.theta).max() > 1e-6  # the drawing had to be closed
    assert_allclose(rest.frame("platform").position, delta.tool(rest.theta), rtol=0, atol=ROUNDING)
    thetas = np.random.default_rng(seed).uniform(-0.7, 0.7, (200, 3))
    found = supple.assemble(mechanism, thetas).frame("platform").position
    assert_allclose(found, [delta.tool(theta) for theta in thetas], rtol=0, atol=ROUNDING)
