"""Mass, centre and inertia of rigid bodies, and their 6 x 6 mass matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.geometry.rotation import tilde


@dataclass(frozen=True)
class MassProperties:
    """Mass (kg), centre (m) and inertia about the centre (kg m²), in one body's axes."""

    mass: float
    center: NDArray[np.float64]
    inertia: NDArray[np.float64]

    def __add__(self, other: MassProperties) -> MassProperties:
        """Combine both bodies into one (Steiner's theorem)."""
        mass = self.mass + other.mass
        if mass > 0.0:
            center = (self.mass * self.center + other.mass * other.center) / mass
        else:
            center = self.center
        inertia = np.zeros((3, 3))
        for part in (self, other):
            inertia += part.inertia + steiner(part.mass, part.center - center)
        return MassProperties(mass, center, inertia)

    def spatial(self) -> NDArray[np.float64]:
        """Return the mass matrix of a twist (v, ω) of the body's origin, in body axes.

        M = [[m I, -m c̃], [m c̃, J_c - m c̃ c̃]],  T = ½ (v, ω)ᵀ M (v, ω)
        """
        c = tilde(self.center)
        m = self.mass
        return np.block([[m * np.eye(3), -m * c], [m * c, self.inertia - m * (c @ c)]])


def part_mass(mass: Any, inertia: Any) -> Any:
    """Return the mass matrix (6, 6) of a small part for the twist of its own centre; entries may be complex."""
    found = np.zeros((6, 6), dtype=np.result_type(mass, inertia, np.float64))
    found[:3, :3], found[3:, 3:] = mass * np.eye(3), inertia
    return found


def of_spatial(M: ArrayLike) -> MassProperties:
    """Return mass, centre and inertia from the mass matrix of a twist (v, ω), the inverse of `spatial`."""
    spatial = np.asarray(M, float)
    mass = float(np.trace(spatial[:3, :3])) / 3.0
    first = 0.5 * (spatial[3:, :3] - spatial[3:, :3].T)
    # A mass that is a rounding error of the other entries has no centre; users of the mass matrix refuse it.
    real = mass > 1e-12 * np.abs(spatial[:3, :3]).max() and mass > 1e-20 * np.abs(first).max()
    center = np.array([first[2, 1], first[0, 2], first[1, 0]]) / mass if real else np.zeros(3)
    inertia = 0.5 * (spatial[3:, 3:] + spatial[3:, 3:].T) + mass * (tilde(center) @ tilde(center))
    return MassProperties(mass, center, inertia)


def steiner(mass: float, offset: ArrayLike) -> NDArray[np.float64]:
    """Return the inertia of a point mass about a point at `offset`: m (|r|² I - r rᵀ)."""
    r = np.asarray(offset, float)
    return mass * ((r @ r) * np.eye(3) - np.outer(r, r))


def zero_mass() -> MassProperties:
    """Return the mass properties of a massless body."""
    return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))


def unphysical(inertia: ArrayLike, tolerance: float = 1e-6) -> str | None:
    """Return the reason why no distribution of positive mass has this inertia, or None.

    The principal moments J₁ <= J₂ <= J₃ of a real body satisfy J₁ >= 0 and J₁ + J₂ >= J₃.
    """
    J = np.asarray(inertia, float)
    scale = float(np.abs(J).max())
    if scale == 0.0:
        return None
    if np.abs(J - J.T).max() > tolerance * scale:
        return "the inertia is not symmetric"
    moments = np.linalg.eigvalsh(J)
    listed = ", ".join(f"{value:.6g}" for value in moments)
    if moments[0] < -tolerance * scale:
        return f"a principal moment of inertia is negative (principal moments {listed} kg m²)"
    if moments[0] + moments[1] < moments[2] * (1.0 - tolerance):
        return f"the two smaller principal moments add up to less than the largest ({listed} kg m²)"
    return None
