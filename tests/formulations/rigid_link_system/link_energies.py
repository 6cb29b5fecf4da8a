"""Energies of a chain of links with displaced nodes, written on their own: plain sums over points, for any numbers.

Kinematics are products of exponentials of the joints' axes as drawn; beams are cut into Gauss points of another count
than the product's; every point of a section moves as its axis and its turn say. Nothing is expanded in u: what the
equations leave out is taken out of the results.
"""

from __future__ import annotations

import numpy as np

from supple.formulations.elastic.beam_mesh import element_data
from supple.formulations.elastic.elastic_body import meshed_beams


def cross(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turned(axis, angle):
    """Rodrigues, for complex angles too."""
    S = cross(axis)
    return np.eye(3) + np.sin(angle) * S + (1.0 - np.cos(angle)) * (S @ S)


class Chain:
    """A mechanism whose links turn (or slide) one by one about axes in the drawing, each from the body before it.

    joints : (body, parent, axis, point, slides) in the world as drawn, in the order of q
    """

    def __init__(self, system, joints, drawn):
        self.system, self.joints, self.drawn = system, joints, drawn
        self.points = [self._together(self._points(b)) for b in range(len(system.meshes))]

    @staticmethod
    def _together(found):
        """Points that follow as many nodes, side by side; nodes (p, k)."""
        groups = []
        for k in {len(item[-1]) for item in found}:
            chosen = [(*item[:-1], np.tile(item[-1], (len(item[0]), 1))) for item in found if len(item[-1]) == k]
            groups.append(tuple(np.concatenate(part) for part in zip(*chosen, strict=True)))
        return groups

    def poses(self, q):
        """R, x of every body; bodies welded to others go with them."""
        found = {-1: (np.eye(3), np.zeros(3))}  # how far the drawing's space is carried along, R and x
        moved = {b: [] for b in range(len(self.system.meshes))}
        for k, (body, *_) in enumerate(self.joints):
            moved[body].append(k)
        for b, base in enumerate(self.system.tree.parent):
            R, x = found[-1 if base == len(self.system.tree.parent) else base]
            for k in moved[b]:
                _, _, axis, point, slides = self.joints[k]
                if slides:
                    x = x + R @ axis * q[k]
                else:
                    T = turned(axis, q[k])
                    x, R = x + R @ (point - T @ point), R @ T
            found[b] = (R, x)
        here = []
        for b in range(len(self.system.meshes)):
            R, x = found[b]
            R0, x0 = self.drawn[b, 3:].reshape(3, 3), self.drawn[b, :3]
            here.append((R @ R0, x + R @ x0))
        return here

    def kinetic(self, q, dq, u, du):
        """½ ∫ |ṗ|² dm of p = x + R (r + N Rᵀu), ṗ by a complex step along (q̇, u̇) where these are real."""
        h = 1e-30
        total = 0.0
        for now, then in zip(self.places(q, u), self.places(q + 1j * h * dq, u + 1j * h * du), strict=True):
            masses, _ = now
            velocity = then[1].imag / h
            total += 0.5 * np.einsum("p,pi,pi->", masses, velocity, velocity)
        return total

    def places(self, q, u):
        """(masses, positions) of the points of every body."""
        poses = self.poses(q)
        for b, (R, x) in enumerate(poses):
            first = self.system.first_node[b]
            for masses, r, move, turn, arms, nodes in self.points[b]:
                hat = (u.reshape(-1, 2, 3)[first + nodes] @ R).reshape(len(masses), -1)
                e = np.einsum("pij,pj->pi", move, hat) + np.cross(np.einsum("pij,pj->pi", turn, hat), arms)
                yield masses, x + (r + arms + e) @ R.T

    def gravity(self, q, u):
        g = self.system.gravity
        return -sum(np.einsum("p,pi,i->", masses, p, g) for masses, p in self.places(q, u))

    def strain(self, q, u):
        """½ ûᵀK û of the bodies."""
        hat = []
        for b, (R, _) in enumerate(self.poses(q)):
            count = 1 if self.system.meshes[b] is None else len(self.system.meshes[b].nodes)
            first = self.system.first_node[b]
            hat.append((u.reshape(-1, 2, 3)[first : first + count] @ R).reshape(-1))
        whole = np.concatenate(hat)
        return 0.5 * whole @ (self.system.stiffness @ whole)

    def _points(self, b):
        """[(masses (p,), r (p, 3), N_u, N_φ (p, 3, 6 k), s (p, 3), nodes)]: points of sections and of rigid parts."""
        system, found = self.system, []
        name, mesh = system.numbering.bodies[b], system.meshes[b]
        if mesh is None:
            m = system.inertia.mass[b]
            spatial = system.inertia.second[b]
            c = system.inertia.first[b] / m
            found.append(self._part(m, c, spatial - m * np.outer(c, c), c, 0))
            return found
        spans, cut, _, _ = meshed_beams(system.numbering.drawing, name)
        data = element_data(spans, cut)
        points, weights = np.polynomial.legendre.leggauss(6)
        for e in range(len(data.length)):
            L, axes = data.length[e], data.axes[e]
            for t, w in zip(0.5 * (points + 1.0), 0.5 * weights * L, strict=True):
                rA, rIx, rIy, rIz = ((1 - t) * getattr(data.rates, k)[e, 0] + t * getattr(data.rates, k)[e, 1]
                                     for k in ("rA", "rIx", "rIy", "rIz"))  # fmt: skip
                J = np.diag([rIx, rIy, rIz] if data.shear[e] else [rIx, 0.0, 0.0])
                move, turn = self._shapes(t, L)
                back = np.kron(np.eye(4), axes.T)
                for end in range(2):
                    back[6 * end : 6 * end + 3, 6 * end + 3 : 6 * end + 6] = -axes.T @ cross(data.arms[e, end])
                r = (1 - t) * cut.ends[e, 0] + t * cut.ends[e, 1]
                spread = axes @ (0.5 * np.trace(J) * np.eye(3) - J) @ axes.T * w
                found.append(self._spread(rA * w, r, spread, axes @ move @ back, axes @ turn @ back, cut.elements[e]))
        for part in mesh.parts:
            spread = 0.5 * part.inertia * np.eye(3)
            found.append(self._part(part.mass, mesh.nodes[part.node] + part.arm, spread, part.arm, part.node))
        return found

    @staticmethod
    def _shapes(t, L):
        """Euler and Bernoulli's beam in its axes, each function by itself."""
        move, turn = np.zeros((3, 12)), np.zeros((3, 12))
        v = [1 - 3 * t**2 + 2 * t**3, L * (t - 2 * t**2 + t**3), 3 * t**2 - 2 * t**3, L * (t**3 - t**2)]
        d = [(6 * t**2 - 6 * t) / L, 1 - 4 * t + 3 * t**2, (6 * t - 6 * t**2) / L, 3 * t**2 - 2 * t]
        move[0, [0, 6]] = turn[0, [3, 9]] = 1 - t, t
        move[1, [1, 5, 7, 11]], turn[2, [1, 5, 7, 11]] = v, d  # v' = φz
        move[2, [2, 4, 8, 10]] = v[0], -v[1], v[2], -v[3]  # w' = -φy
        turn[1, [2, 4, 8, 10]] = -d[0], d[1], -d[2], d[3]
        return move, turn

    def _part(self, mass, centre, spread, arm, node):
        move = np.hstack([np.eye(3), -cross(arm)])
        return self._spread(mass, centre, spread, move, np.hstack([np.zeros((3, 3)), np.eye(3)]), (node,))

    @staticmethod
    def _spread(mass, r, spread, move, turn, nodes):
        """A mass at r and three pairs of points whose second moments are `spread`; their masses may be negative."""
        values, axes = np.linalg.eigh(spread)
        arms = np.concatenate([np.zeros((1, 3)), axes.T, -axes.T])
        masses = np.concatenate([[mass - values.sum()], 0.5 * values, 0.5 * values])
        count = len(masses)
        return (masses, np.tile(r, (count, 1)), np.tile(move, (count, 1, 1)), np.tile(turn, (count, 1, 1)), arms, nodes)
