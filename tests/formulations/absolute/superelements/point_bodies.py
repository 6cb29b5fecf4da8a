"""Bodies of mass points that move as x = r + R (X + S q): the law that a superelement's inertia follows."""

from __future__ import annotations

from itertools import product

import numpy as np

from supple.formulations.absolute.superelements.superelement_arrays import Integrals, about_centre
from supple.geometry.rotation import tilde

AXES = np.eye(3)


class PointBody:
    """Masses (p,), places X (p, 3) from the body's origin and shapes (p, 3, n), in the plane without z."""

    def __init__(self, rng, count=7, coordinates=4, planar=False):
        self.masses = rng.uniform(0.5, 2.0, count)
        self.X = rng.normal(size=(count, 3))
        self.S = 0.3 * rng.normal(size=(count, 3, coordinates))
        if planar:
            self.X[:, 2] = 0.0
            self.S[:, 2] = 0.0
        root = rng.normal(size=(coordinates, coordinates))
        self.K = 50.0 * root @ root.T

    def floating(self):
        """The same by its integrals."""
        m, X, S = self.masses, self.X, self.S
        T = np.array([np.hstack([np.eye(3), -tilde(x)]) for x in X])
        turned = np.array([np.cross(e, S, axisb=1, axisc=1) for e in AXES])  # (3, p, 3, n)
        n = S.shape[2]
        widening, both = np.zeros((3, 3, n)), np.zeros((3, 3, n, n))
        for j, k in product(range(3), range(3)):
            widening[j, k] = np.einsum("p,pi,pin->n", m, T[:, :, 3 + j], turned[k])
            both[j, k] = np.einsum("p,pia,pib->ab", m, turned[j], turned[k])
        integrals = Integrals(
            np.einsum("p,pia,pib->ab", m, T, T), np.einsum("p,pia,pin->an", m, T, S), widening,
            np.einsum("p,pia,kpib->kab", m, S, turned), both, np.einsum("p,pia,pib->ab", m, S, S),
        )  # fmt: skip
        return about_centre("body", integrals, self.K, X[:1], np.concatenate([S[:1], np.zeros((1, 3, n))], axis=1))

    def motion(self, center, R, velocity, q, accelerations=None):
        """Velocities (p, 3) of the points, and with accelerations (ẍ, ω̇, q̈) those; velocity : ẋ, ω, q̇."""
        v, w, rate = velocity
        r, flow = self.X - center + self.S @ q, self.S @ rate
        found = v + (np.cross(w, r) + flow) @ R.T
        if accelerations is None:
            return found
        a, dw, second = accelerations
        local = np.cross(dw, r) + np.cross(w, np.cross(w, r)) + 2.0 * np.cross(w, flow) + self.S @ second
        return found, a + local @ R.T
