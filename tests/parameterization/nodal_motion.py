"""The motion of every mass of a flexible mechanism from (θ, δ), by differences alone: what the exact model must equal.

Point i of body b is at x_b(θ) + R_b(θ)(X_i + u_i), u = Ψ_δ(θ) δ, and turns with ω_b + φ̇_i + ω_b × φ_i in its own axes.
Masses are those of the whole mesh, nothing condensed: the consistent mass matrix of the beams for the velocities of
their nodes, point masses at their places, rigid bodies as their mass at its centre and their inertia about it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag

from supple.description.drawing import Drawing
from supple.description.mass_properties import mass_properties

_PLACES = np.array([-3, -2, -1, 1, 2, 3])
_WEIGHTS = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60.0


def slopes(function, theta, step):
    """∂f/∂θ_k, the last axis, of a function of a batch (N, s); its error is of order step⁶."""
    s = len(theta)
    points = theta + step * (_PLACES[:, None, None] * np.eye(s)).reshape(-1, s)
    values = np.asarray(function(points))
    return np.moveaxis(np.tensordot(_WEIGHTS, values.reshape(6, s, *values.shape[1:]), 1) / step, 0, -1)


class NodalMotion:
    """Positions, velocities and masses of all points of a case."""

    def __init__(self, case):
        self.case, self.step = case, case.step
        mechanism = case.mechanism
        drawing = Drawing(mechanism)
        system = case.local().system
        self.numbering = system.rest.numbering
        self.planar = mechanism.planar
        masses = mass_properties(drawing)
        self.bodies = []
        for b, name in enumerate(self.numbering.bodies):
            mesh = system.rest.bodies[b].mesh
            if mesh is None:
                item = masses[name]
                arm = item.center
                self.bodies.append((name, np.zeros((1, 3)), [(0, arm)], None, [_rigid_mass(item)]))
                continue
            M = mesh.M.toarray()
            arms, parts = [], []
            for point in mechanism.point_masses.values():
                body, place, _ = self.numbering.place(point.at)
                if self.numbering.bodies[body] != name:
                    continue
                node = int(np.argmin(np.linalg.norm(mesh.nodes - place, axis=1)))
                if mesh.node_at(place) is not None:
                    node = mesh.node_at(place)
                arm = place - mesh.nodes[node]
                own = np.diag([point.mass] * 3 + [point.inertia or 0.0] * 3)
                columns = mesh.columns(node)
                carried = _carried(arm)
                M[np.ix_(columns, columns)] -= (carried.T @ own @ carried)[np.ix_(self.kept, self.kept)]
                arms.append((node, arm))
                parts.append(own)
            self.bodies.append((name, mesh.nodes, arms, M, parts))
        blocks = []
        for _, _, _, M, parts in self.bodies:
            blocks += ([] if M is None else [M]) + [part[np.ix_(self.kept, self.kept)] for part in parts]
        self.mass = block_diag(*blocks)

    @property
    def kept(self):
        return [0, 1, 5] if self.planar else list(range(6))

    def points(self, theta, delta):
        """Of a batch θ (N, s) and one δ: positions (N, points, 3), rotations φ (N, points, 3), R (N, points, 3, 3)."""
        model = self.case.local(theta)
        X = model.configuration.X
        positions, turns, frames = [], [], []
        for b, (name, nodes, arms, M, _) in enumerate(self.bodies):
            x, R = X[:, b, :3], X[:, b, 3:].reshape(-1, 3, 3)
            q = np.zeros((len(theta), len(nodes), 6))
            q[:, :, self.kept] = model.displacements(name, delta).reshape(len(theta), len(nodes), -1)
            u, phi = q[..., :3], q[..., 3:]
            local, turn = ([], []) if M is None else ([nodes + u], [phi])
            for node, arm in arms:
                local.append((nodes[node] + arm + u[:, node] + np.cross(phi[:, node], arm))[:, None])
                turn.append(phi[:, node, None])
            local, turn = np.concatenate(local, axis=1), np.concatenate(turn, axis=1)
            positions.append(x[:, None] + np.einsum("nij,npj->npi", R, local))
            turns.append(turn)
            frames.append(np.broadcast_to(R[:, None], (len(theta), local.shape[1], 3, 3)))
        return tuple(np.concatenate(item, axis=1) for item in (positions, turns, frames))

    def velocities(self, theta, delta):
        """V (points · width, n): twists of all points for unit rates of η = (θ, δ)."""
        _, turns, frames = (item[0] for item in self.points(theta[None], delta))
        dx, dphi, dR = (
            slopes(lambda t, i=i: self.points(t, delta)[i], theta, self.step) for i in range(3)
        )  # (points, ..., s)
        spin = np.einsum("pji,pjks->piks", frames, dR)  # RᵀR' = ω̃
        omega = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
        v = np.einsum("pji,pjs->pis", frames, dx)
        rotation = omega + dphi + np.cross(omega, turns[:, :, None], axis=1)
        rigid = np.concatenate([v, rotation], axis=1)  # (points, 6, s)
        still = self.points(theta[None], np.zeros_like(delta))
        columns = [rigid]
        for unit in np.eye(len(delta)):
            moved = self.points(theta[None], unit)
            v = np.einsum("pji,pj->pi", frames, (moved[0] - still[0])[0])
            columns.append(np.concatenate([v, moved[1][0]], axis=1)[:, :, None])
        V = np.concatenate(columns, axis=2)[:, self.kept]
        return V.reshape(-1, V.shape[2])

    def M(self, theta, delta):
        """Mass matrix at (θ, δ)."""
        V = self.velocities(theta, delta)
        turning = self._motor_rates(V)
        return V.T @ self.mass @ V + turning.T @ turning

    def _motor_rates(self, V):
        """√J g times the rate of every motor's joint: of planar hinges between the ground and a node of a beam."""
        mechanism, rows = self.case.mechanism, []
        for name, joint in mechanism.joints.items():
            if joint.motor is None:
                continue
            assert self.planar
            assert (joint.kind, joint.bodies[0]) == ("revolute", "ground")
            b = self.numbering.body_index(joint.bodies[1])
            place = self.numbering.place(f"{joint.bodies[1]}.{name}")[1]
            before = sum(len(nodes) * (M is not None) + len(arms) for _, nodes, arms, M, _ in self.bodies[:b])
            node = int(np.argmin(np.linalg.norm(self.bodies[b][1] - place, axis=1)))
            rows.append(np.sqrt(joint.motor.inertia) * joint.motor.gear * V[3 * (before + node) + 2])
        return np.array(rows).reshape(-1, V.shape[1])

    def dM(self, theta, count):
        """∂M/∂η (n, n, n) at δ = 0. M is quadratic in δ, so differences of any size are exact there."""
        zero = np.zeros(count)
        along = slopes(lambda t: [self.M(item, zero) for item in t], theta, self.step)
        sizes = 1e-2 / np.sqrt(np.maximum(np.diag(self.M(theta, zero))[len(theta) :], 1e-12))
        aside = [
            (self.M(theta, size * unit) - self.M(theta, -size * unit)) / (2 * size)
            for size, unit in zip(sizes, np.eye(count), strict=True)
        ]
        return np.concatenate([along, np.moveaxis(np.array(aside).reshape(-1, *along.shape[:2]), 0, -1)], axis=-1)

    def gravity_potential(self, theta, delta):
        """-g · Σ m x over all points, (N,) for a batch θ."""
        gravity = self.case.mechanism.gravity
        if gravity is None:
            return np.zeros(len(theta))
        g = np.zeros(3)
        g[: len(gravity)] = gravity
        # The momentum of a unit velocity along g, times position: between nodes a beam's axis follows their rotations.
        width = len(self.kept)
        found = []
        for x, phi, R in zip(*self.points(theta, delta), strict=True):
            unit = np.zeros((len(x), 6))
            unit[:, :3] = np.einsum("pji,j->pi", R, g)
            place = np.concatenate([np.einsum("pji,pj->pi", R, x), phi], axis=1)
            found.append(-(unit[:, self.kept].ravel() @ self.mass @ place[:, self.kept].reshape(len(x) * width)))
        return np.array(found)


def _carried(arm):
    found = np.eye(6)
    found[:3, 3:] = [[0, arm[2], -arm[1]], [-arm[2], 0, arm[0]], [arm[1], -arm[0], 0]]
    return found


def _rigid_mass(item):
    found = np.zeros((6, 6))
    found[:3, :3] = item.mass * np.eye(3)
    found[3:, 3:] = item.inertia
    return found
