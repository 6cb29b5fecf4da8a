"""Plane frames of inextensible beams as chains of rigid links with springs between them (Hencky 1920).

It knows nothing of finite elements: x = x₀ + S cos φ, y = y₀ + S sin φ for the angles φ of the links, half of a link's
mass at each of its ends, and V = Σ ½ k (φ_j - φ_i - α)² - F·x. Equilibria are found by Newton's method while the load
grows; small motions about them are those of the exact second derivatives. Errors fall with the square of the links'
length, which `frequencies` takes out by a chain twice as fine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, null_space


@dataclass(frozen=True)
class Beam:
    """A straight beam of length L at an angle to the first axis.

    after : number of the beam whose end it starts at, or None for the place `start`; rigid : clamped there, not hinged
    force : (2,) at its end; pinned : its end is held where it is drawn
    """

    length: float
    angle: float
    bending: float
    mass: float  # a metre
    after: int | None = None
    rigid: bool = True
    force: tuple[float, float] = (0.0, 0.0)
    pinned: bool = False
    start: tuple[float, float] = (0.0, 0.0)


class NoRest(ArithmeticError):
    """The load grows beyond a limit point, where the chain snaps to another rest."""


class Chain:
    """S (nodes, links), masses and forces of the nodes, springs (i, j, k, α); i is -1 at the wall."""

    def __init__(self, beams: list[Beam], links: int, gravity: tuple[float, float]):
        count = len(beams) * links
        rows, self.origin, self.mass, self.force, self.springs, self.pinned = [], [], [], [], [], []
        ends: list[np.ndarray] = []
        self.drawn = np.repeat([beam.angle for beam in beams], links)
        for b, beam in enumerate(beams):
            h, first = beam.length / links, b * links
            reached = np.zeros(count) if beam.after is None else ends[beam.after].copy()
            start = beam.start
            root = b
            while beams[root].after is not None:
                root = beams[root].after
                start = beams[root].start
            for k in range(links + 1):
                if k:
                    reached = reached.copy()
                    reached[first + k - 1] = h
                rows.append(reached)
                self.origin.append(start)
                self.mass.append(beam.mass * h * (0.5 if k in (0, links) else 1.0))
                self.force.append(np.array(beam.force) if k == links else np.zeros(2))
                if 0 < k < links:
                    self.springs.append((first + k - 1, first + k, beam.bending / h, 0.0))
            ends.append(reached)
            if beam.pinned:
                self.pinned.append(len(rows) - 1)
            if beam.rigid:
                if beam.after is None:
                    self.springs.append((-1, first, 2.0 * beam.bending / h, beam.angle))
                else:
                    other = beams[beam.after]
                    soft = 0.5 * h / beam.bending + 0.5 * other.length / links / other.bending
                    last = (beam.after + 1) * links - 1
                    self.springs.append((last, first, 1.0 / soft, beam.angle - other.angle))
        self.S, self.mass = np.array(rows), np.array(self.mass)
        self.origin = np.array(self.origin)
        self.force = np.array(self.force) + self.mass[:, None] * np.array(gravity)
        self.count = count

    def elastic(self, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian of the springs' energy."""
        g, H = np.zeros(self.count), np.zeros((self.count, self.count))
        for i, j, k, rest in self.springs:
            turn = phi[j] - (phi[i] if i >= 0 else 0.0) - rest
            g[j] += k * turn
            H[j, j] += k
            if i >= 0:
                g[i] -= k * turn
                H[i, i] += k
                H[i, j] -= k
                H[j, i] -= k
        return g, H

    def system(self, phi: np.ndarray, load: float, held: np.ndarray) -> tuple[np.ndarray, ...]:
        """Gradient, Hessian, gaps (2p,) and their slopes (2p, links) of pinned ends; held (2p,): forces on these."""
        g, H = self.elastic(phi)
        F = load * self.force
        F = F.copy()
        F[self.pinned] += held.reshape(-1, 2)
        along = self.S.T @ F
        c, s = np.cos(phi), np.sin(phi)
        g += along[:, 0] * s - along[:, 1] * c
        H[np.diag_indices(self.count)] += along[:, 0] * c + along[:, 1] * s
        S = self.S[self.pinned]
        drawn = np.stack([S @ np.cos(self.drawn), S @ np.sin(self.drawn)], axis=1)
        gaps = (np.stack([S @ c, S @ s], axis=1) - drawn).reshape(-1)
        slopes = np.stack([-S * s, S * c], axis=1).reshape(-1, self.count)
        return g, H, gaps, slopes

    def rest(self, steps: int = 60) -> tuple[np.ndarray, np.ndarray]:
        """φ and the forces on pinned ends under the whole load."""
        phi, held = self.drawn.copy(), np.zeros(2 * len(self.pinned))
        for load in np.linspace(0.0, 1.0, steps + 1)[1:]:
            for _ in range(50):
                g, H, gaps, slopes = self.system(phi, load, held)
                zero = np.zeros((len(gaps), len(gaps)))
                # ∂g/∂held = -slopesᵀ
                step = np.linalg.solve(np.block([[H, -slopes.T], [slopes, zero]]), -np.concatenate([g, gaps]))
                phi, held = phi + step[: self.count], held + step[self.count :]
                if np.abs(step[: self.count]).max() < 1e-10:
                    break
            else:
                raise NoRest("Newton's method did not find a rest near that of a smaller load")
        return phi, held

    def hertz(self, count: int) -> np.ndarray:
        """The lowest frequencies about rest."""
        phi, held = self.rest()
        _, K, _, slopes = self.system(phi, 1.0, held)
        x, y = -self.S * np.sin(phi), self.S * np.cos(phi)
        M = x.T @ (self.mass[:, None] * x) + y.T @ (self.mass[:, None] * y)
        N = null_space(slopes) if len(slopes) else np.eye(self.count)
        squares = eigh(N.T @ K @ N, N.T @ M @ N, eigvals_only=True)[:count]
        return np.copysign(np.sqrt(np.abs(squares)), squares) / (2.0 * np.pi)

    def place(self, node: int) -> np.ndarray:
        phi, _ = self.rest()
        return self.origin[node] + np.array([self.S[node] @ np.cos(phi), self.S[node] @ np.sin(phi)])


def frequencies(beams: list[Beam], gravity: tuple[float, float], count: int, links: int = 16) -> np.ndarray:
    """Extrapolated to links without length."""
    one, two = (Chain(beams, n, gravity).hertz(count) for n in (links, 2 * links))
    return (4.0 * two - one) / 3.0
