"""A second opinion: the equations of motion in absolute coordinates and world axes, written from the paper.

Nothing here uses supple. Every body has six velocities (ẋ of its origin, ω), both in world axes; in the plane the
three that leave it are rows to be zero. Jacobians are dense, redundant rows stay in, and every solve is a
least-squares one [Brüls 2004, eqs. 11-28].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from drawn_parts import GROUND, KINDS, SINGLE, DrawnParts, Pose, by_coordinate, skew, turn, turn_vector
from scipy.linalg import null_space


def derivative(function, step):
    """f'(0) from six values, error O(step⁶): arrays or tuples of arrays along the way are not needed."""
    weights = {1: 45.0, 2: -9.0, 3: 1.0}
    return sum(c * (function(k * step) - function(-k * step)) for k, c in weights.items()) / (60.0 * step)


class WorldAxes:
    """The mechanism of a dictionary of parts, in absolute coordinates."""

    def __init__(self, parts: dict[str, Any]):
        self.parts, self.drawing = parts, DrawnParts(parts)
        self.planar, self.drawn = self.drawing.planar, self.drawing.drawn
        self.joints, self.spots, self.mass = self.drawing.joints, self.drawing.spots, self.drawing.mass
        self.vector, self.spot = self.drawing.vector, self.drawing.spot
        self.bodies = list(parts["bodies"])
        self.names = list(parts.get("coordinates") or parts.get("actuators", {}))

    # ------------------------------------------------------------------ measures: value and row

    def _twist_rows(self, poses, spot):
        """(P, E, rows of Ṗ, rows of ω) of a spot: place and axes in the world, and what moves them."""
        n = 6 * len(self.bodies)
        V, Wr = np.zeros((3, n)), np.zeros((3, n))
        pose = poses[spot.body]
        r = pose.R @ spot.p
        if spot.body != GROUND:
            at = 6 * self.bodies.index(spot.body)
            V[:, at : at + 3], V[:, at + 3 : at + 6] = np.eye(3), -skew(r)
            Wr[:, at + 3 : at + 6] = np.eye(3)
        return pose.x + r, pose.R @ spot.E, V, Wr

    def joint_rows(self, poses, name):
        """Residuals and Jacobian of a joint's constraints (exact where it is closed)."""
        kind, a, b = self.joints[name]
        Pa, Ea, Va, Wa = self._twist_rows(poses, a)
        Pb, Eb, Vb, Wb = self._twist_rows(poses, b)
        D, dD, dW = Pb - Pa, Vb - Va, Wb - Wa
        values, rows = [], []
        where, which = KINDS[kind] if not (self.planar and kind == "prismatic") else ((1,), "all")  # it slides along x
        for axis in where:  # no separation along this axis of a
            values.append([Ea[:, axis] @ D])
            rows.append((Ea[:, axis] @ dD + np.cross(Ea[:, axis], D) @ Wa)[None])
        if which == "axis":
            za, zb = Ea[:, 2], Eb[:, 2]
            values.append(np.cross(za, zb))
            rows.append(skew(za) @ -skew(zb) @ Wb + skew(zb) @ skew(za) @ Wa)
        elif which == "all":
            values.append(turn_vector(Ea.T @ Eb))
            rows.append(Ea.T @ dW)
        elif which == "cross":
            values.append([Ea[:, 2] @ Eb[:, 0]])
            rows.append((np.cross(Eb[:, 0], Ea[:, 2]) @ dW)[None])
        if not values:
            return np.zeros(0), np.zeros((0, 6 * len(self.bodies)))
        return np.concatenate(values), np.concatenate(rows)

    def joint_coordinate(self, poses, name, coordinate):
        """Value and row of one coordinate of a joint."""
        _, a, b = self.joints[name]
        Pa, Ea, Va, Wa = self._twist_rows(poses, a)
        Pb, Eb, Vb, Wb = self._twist_rows(poses, b)
        dW = Wb - Wa
        if coordinate in ("angle", "first"):
            c, s = Ea[:, 0] @ Eb[:, 0], Ea[:, 1] @ Eb[:, 0]
            row = (c * np.cross(Eb[:, 0], Ea[:, 1]) - s * np.cross(Eb[:, 0], Ea[:, 0])) @ dW / (c * c + s * s)
            return np.arctan2(s, c), row
        if coordinate == "second":  # a's z seen from b turns backwards about b's x
            c, s = Ea[:, 2] @ Eb[:, 2], Ea[:, 2] @ Eb[:, 1]
            row = (c * np.cross(Eb[:, 1], Ea[:, 2]) - s * np.cross(Eb[:, 2], Ea[:, 2])) @ dW / (c * c + s * s)
            return np.arctan2(s, c), row
        if coordinate == "slide":
            axis = 0 if self.planar else 2
        else:
            axis = (self.parts.get("plane") or "xyz").index(coordinate)
        u, D = Ea[:, axis], Pb - Pa
        return u @ D, u @ (Vb - Va) + np.cross(u, D) @ Wa

    def distance(self, poses, between):
        Pa, _, Va, _ = self._twist_rows(poses, self.spot(between[0]))
        Pb, _, Vb, _ = self._twist_rows(poses, self.spot(between[1]))
        D = Pb - Pa
        length = np.linalg.norm(D)
        return length, D / length @ (Vb - Va)

    def find_measure(self, poses, part):
        if "between" in part:
            return self.distance(poses, part["between"])
        name, _, coordinate = part["joint"].partition(".")
        return self.joint_coordinate(poses, name, coordinate or SINGLE[self.joints[name][0]])

    def coordinate(self, poses, name):
        actuator = self.parts.get("actuators", {}).get(name)
        return self.find_measure(poses, actuator if actuator is not None else {"joint": name})

    # ------------------------------------------------------------------ closure

    def constraints(self, poses):
        """Φ and Φ_q, the plane included."""
        n = 6 * len(self.bodies)
        values, rows = [np.zeros(0)], [np.zeros((0, n))]
        for name in self.joints:
            value, row = self.joint_rows(poses, name)
            values.append(value)
            rows.append(row)
        if self.planar:
            flat = np.zeros((3 * len(self.bodies), n))
            for i in range(len(self.bodies)):
                flat[3 * i : 3 * i + 3, 6 * i + 2 : 6 * i + 5] = np.eye(3)
            values.append(np.zeros(len(flat)))
            rows.append(flat)
        return np.concatenate(values), np.concatenate(rows)

    def theta(self, poses):
        """θ (angles within half a turn) and A."""
        found = [self.coordinate(poses, name) for name in self.names]
        return np.array([value for value, _ in found]), np.array([row for _, row in found])

    def moved(self, poses, q):
        """Poses after the small velocities q have acted for a unit of time."""
        new = {GROUND: poses[GROUND]}
        for i, name in enumerate(self.bodies):
            x, R = poses[name]
            v, w = q[6 * i : 6 * i + 3], q[6 * i + 3 : 6 * i + 6]
            new[name] = Pose(x + v, turn(w) @ R)
        return new

    def close(self, poses, theta=None, iterations=30):
        """Newton's method [eq. 12] with least-squares steps, to rounding."""
        size = np.inf
        for _ in range(iterations):
            value, J = self.constraints(poses)
            if theta is not None:
                here, A = self.theta(poses)
                gap = here - theta
                angles = [self.is_angle(name) for name in self.names]
                gap = np.where(angles, (gap + np.pi) % (2.0 * np.pi) - np.pi, gap)
                value, J = np.append(value, gap), np.vstack([J, A])
            last, size = size, np.abs(value).max(initial=0.0)
            if size < 1e-9 and size >= 0.5 * last:  # no longer improving: rounding
                return poses
            step = np.linalg.lstsq(J, -value, rcond=1e-10)[0]
            poses = self.moved(poses, step * min(1.0, 0.5 / max(np.abs(step).max(), 1e-300)))
        assert size < 1e-9, f"own closure stopped with a gap of {size}"
        return poses

    def is_angle(self, name):
        """Whether a coordinate of θ is an angle; otherwise it is a length."""
        part = self.parts.get("actuators", {}).get(name, {"joint": name})
        if "between" in part:
            return False
        joint, _, coordinate = part["joint"].partition(".")
        return (coordinate or SINGLE[self.joints[joint][0]]) in ("angle", "first", "second")

    def poses_at(self, theta, start=None, steps=8):
        """Assembled at θ along the straight segment from the drawing (or from the poses given)."""
        poses = self.close(self.drawn) if start is None else start
        begin = self.theta(poses)[0]
        for share in np.linspace(0.0, 1.0, steps + 1)[1:]:
            poses = self.close(poses, begin + share * (np.asarray(theta) - begin))
        return poses

    def mobility(self, poses):
        return null_space(self.constraints(poses)[1], rcond=1e-9).shape[1]

    # ------------------------------------------------------------------ the reduction

    def modes(self, poses):
        """q_θ [eq. 11]: (6 bodies, s)."""
        _, J = self.constraints(poses)
        _, A = self.theta(poses)
        right = np.vstack([np.zeros((len(J), len(A))), np.eye(len(A))])
        return np.linalg.lstsq(np.vstack([J, A]), right, rcond=1e-10)[0]

    def measure(self, poses):
        """Smallest over largest singular value of [Φ_q; A]."""
        J = np.vstack([self.constraints(poses)[1], self.theta(poses)[1]])
        values = np.linalg.svd(J, compute_uv=False)
        return values[-1] / values[0]

    def bodies_at(self, poses, q_theta):
        """For each body: mass, J in the world, centre velocity (3, s), ω (3, s), arm of the centre."""
        for i, name in enumerate(self.bodies):
            m, c, J = self.mass[name]
            R = poses[name].R
            w = q_theta[6 * i + 3 : 6 * i + 6]
            r = R @ c
            yield name, m, R @ J @ R.T, q_theta[6 * i : 6 * i + 3] - skew(r) @ w, w, r

    def motors(self):
        """(joint reference, inertia gear²) of every motor."""
        for name, joint in self.parts["joints"].items():
            for coordinate, motor in by_coordinate(joint.get("motor"), self.joints[name][0]):
                yield f"{name}.{coordinate}", motor["inertia"] * motor.get("gear", 1.0) ** 2

    def inertia(self, poses):
        """H = q_θᵀ M q_θ [eq. 18]."""
        q_theta = self.modes(poses)
        H = np.zeros((len(self.names),) * 2)
        for _, m, J, v, w, _ in self.bodies_at(poses, q_theta):
            H += m * v.T @ v + w.T @ J @ w
        for reference, inertia in self.motors():
            a = self.find_measure(poses, {"joint": reference})[1] @ q_theta
            H += inertia * np.outer(a, a)
        return H

    def gyroscopic(self, poses, step=1e-3):
        """h* = q_θᵀ(A + M B) [eq. 28], symmetric in its last two; B by differences of q_θ [eq. 26]."""
        theta, _ = self.theta(poses)
        q_theta = self.modes(poses)
        s = len(theta)

        motors = list(self.motors())

        def sampled(k, offset):
            """q_θ, and the slopes of the motors' joints below it, a little way along θ_k."""
            near = self.close(self.moved(poses, offset * q_theta[:, k]), theta + offset * np.eye(s)[k])
            modes = self.modes(near)
            slopes = [self.find_measure(near, {"joint": reference})[1] @ modes for reference, _ in motors]
            return np.vstack([modes, *slopes])

        B = np.stack([derivative(lambda o, k=k: sampled(k, o), step) for k in range(s)], axis=2)
        h = np.zeros((s, s, s))
        for i, (_, m, J, v, w, r) in enumerate(self.bodies_at(poses, q_theta)):
            # acceleration of the centre and ω̇ for θ̇_j θ̇_k, then Newton and Euler in world axes
            dw = B[6 * i + 3 : 6 * i + 6]
            a = B[6 * i : 6 * i + 3] - np.einsum("ab,bjk->ajk", skew(r), dw)
            a += np.stack([np.cross(w[:, j], np.cross(w.T, r)).T for j in range(s)], axis=1)
            euler = np.einsum("ab,bjk->ajk", J, dw)
            euler += np.stack([np.cross(w[:, j], (J @ w).T).T for j in range(s)], axis=1)
            h += m * np.einsum("ai,ajk->ijk", v, a) + np.einsum("ai,ajk->ijk", w, euler)
        for bend, (reference, inertia) in zip(B[6 * len(self.bodies) :], motors, strict=True):
            slope = self.find_measure(poses, {"joint": reference})[1] @ q_theta
            h += inertia * np.einsum("i,jk->ijk", slope, bend)
        return 0.5 * (h + h.transpose(0, 2, 1))

    def force(self, poses):
        """p_ext = q_θᵀ g_ext [eq. 16]: gravity, springs, and forces of every sort."""
        q_theta = self.modes(poses)
        p = np.zeros(len(self.names))
        if self.parts.get("gravity") is not None:
            g = self.vector(self.parts["gravity"])
            for _, m, _, v, _, _ in self.bodies_at(poses, q_theta):
                p += m * g @ v
        for spring in self.parts.get("springs", {}).values():
            value, row = self.find_measure(poses, spring)
            relaxed = spring.get("rest", spring.get("length", 0.0)) or 0.0
            p -= spring["stiffness"] * (value - relaxed) * row @ q_theta
        for force in self.parts.get("forces", {}).values():
            if "at" not in force:
                p += force["force"] * self.find_measure(poses, force)[1] @ q_theta
                continue
            _, E, V, W = self._twist_rows(poses, self.spot(force["at"]))
            turned = E if force.get("follower") else np.eye(3)
            if force.get("force") is not None:
                p += turned @ self.vector(force["force"]) @ V @ q_theta
            if force.get("moment") is not None:
                moment = [0.0, 0.0, force["moment"]] if self.planar else force["moment"]
                p += turned @ np.array(moment) @ W @ q_theta
        return p
