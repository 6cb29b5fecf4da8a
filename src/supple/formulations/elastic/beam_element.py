"""Mass and stiffness of straight beam elements, many at a time, in element axes or in body axes.

Each node has six degrees of freedom (u, v, w, φx, φy, φz): translations, then rotations. The x axis runs along the
element, y and z are the section's principal axes. All sectional quantities vary linearly between the two ends and
are integrated exactly against the shape functions. docs/theory/elastic-bodies.md has the equations by number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array

AXIAL = np.array([0, 6])
TORSION = np.array([3, 9])
BENDING = (  # degrees (deflection, slope, deflection, slope) and their signs: w' = -φy, v' = φz
    (np.array([1, 5, 7, 11]), np.array([1.0, 1.0, 1.0, 1.0])),
    (np.array([2, 4, 8, 10]), np.array([1.0, -1.0, 1.0, -1.0])),
)
GAUSS = 4  # points: exact to degree 7, two cubics and a linear coefficient


class SectionRates(NamedTuple):
    """Properties of a beam per metre at both ends of each of e elements: arrays (e, 2).

    EA, GJ : axial and torsional stiffness, N and N m²
    EIy, EIz : bending stiffness in the x-z and the x-y plane, N m²
    GAy, GAz : shear stiffness k G A along y and z, N; not used where `shear` is false
    rA       : mass, kg/m
    rIx      : moment of inertia about the axis, ρ(Iy + Iz), kg m
    rIy, rIz : rotary inertia in bending, kg m; not used where `shear` is false
    """

    EA: Array
    GJ: Array
    EIy: Array
    EIz: Array
    GAy: Array
    GAz: Array
    rA: Array
    rIx: Array
    rIy: Array
    rIz: Array

    def at(self, station: Array) -> Array:
        """Return values at fractions of the length, (e, points, 10)."""
        ends = np.stack(self, axis=-1)  # (e, 2, 10)
        t = np.asarray(station, float)[None, :, None]
        return (1.0 - t) * ends[:, :1] + t * ends[:, 1:]


def beam_matrices(length: Array, rates: SectionRates, shear: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return stiffness and consistent mass of e elements in element axes, two arrays (e, 12, 12).

    length : (e,), m
    shear  : (e,), true for Timoshenko's theory (shear, rotary inertia), false for Euler-Bernoulli (neither)

    K = ∫ EA u'² + GJ φx'² + EI θ'² + GA (v' - θ)²,  M = ∫ ρA (u² + v² + w²) + ρIx φx² + ρI θ²   (elastic-bodies, 1-4)
    """
    length = np.asarray(length, float)
    points, weights = np.polynomial.legendre.leggauss(GAUSS)
    xi, weight = 0.5 * (points + 1.0), 0.5 * weights[None] * length[:, None]
    EA, GJ, EIy, EIz, GAy, GAz, rA, rIx, rIy, rIz = np.moveaxis(rates.at(xi), 2, 0)
    count = len(length)
    kind = np.result_type(*rates)  # a complex step through the section gives the matrices' slopes
    K, M = np.zeros((count, 12, 12), dtype=kind), np.zeros((count, 12, 12), dtype=kind)
    N = np.broadcast_to(np.stack([1.0 - xi, xi]), (count, 2, GAUSS))
    slope = np.broadcast_to(np.array([-1.0, 1.0])[None, :, None] / length[:, None, None], N.shape)
    for degrees, stiffness, inertia in ((AXIAL, EA, rA), (TORSION, GJ, rIx)):
        K[:, degrees[:, None], degrees] = _integral(slope, stiffness * weight)
        M[:, degrees[:, None], degrees] = _integral(N, inertia * weight)
    no, yes = np.zeros(1), np.asarray(shear, bool)[:, None]
    for (degrees, sign), EI, GA, rI in zip(BENDING, (EIz, EIy), (GAy, GAz), (rIz, rIy), strict=True):
        v, theta, curvature, strain = bending_shapes(xi, length, shear_parameter(EI, GA, length, shear))
        k = _integral(curvature, EI * weight) + _integral(strain, np.where(yes, GA, no) * weight)
        m = _integral(v, rA * weight) + _integral(theta, np.where(yes, rI, no) * weight)
        K[:, degrees[:, None], degrees] = sign[:, None] * k * sign
        M[:, degrees[:, None], degrees] = sign[:, None] * m * sign
    return K, M


def shear_parameter(EI: Array, GA: Array, length: Array, shear: NDArray[np.bool_]) -> Array:
    """Return 12 EI / (GA L²) of the element's mean values, (e,); zero for Euler-Bernoulli (elastic-bodies, 3)."""
    mean_EI, mean_GA = EI.mean(axis=1), GA.mean(axis=1)
    return np.where(shear, 12.0 * mean_EI / np.where(shear, mean_GA * length**2, 1.0), 0.0)


def bending_shapes(xi: Array, length: Array, shear: Array) -> tuple[Array, Array, Array, Array]:
    """Return deflection v, slope θ, curvature θ' and shear strain v' - θ for unit (v₁, θ₁, v₂, θ₂).

    The arrays are (e, 4, points).

    They solve the equations of the uniform beam without load between its nodes; they are Hermite cubics if shear = 0.
    """
    L, s, x = length[:, None], shear[:, None], xi[None]
    scale = (1.0 / (1.0 + s))[:, None]
    one = np.ones_like(L * x)
    v = scale * np.stack(
        [
            1.0 - 3.0 * x**2 + 2.0 * x**3 + s * (1.0 - x),
            L * (x - 2.0 * x**2 + x**3 + 0.5 * s * (x - x**2)),
            3.0 * x**2 - 2.0 * x**3 + s * x,
            L * (x**3 - x**2 - 0.5 * s * (x - x**2)),
        ],
        axis=1,
    )
    swing = 6.0 * (x**2 - x) / L
    theta = scale * np.stack(
        [swing, 1.0 - 4.0 * x + 3.0 * x**2 + s * (1.0 - x), -swing, 3.0 * x**2 - 2.0 * x + s * x], axis=1
    )
    bend = 6.0 * (2.0 * x - 1.0) / L**2
    curvature = scale * np.stack([bend, (6.0 * x - 4.0 - s) / L, -bend, (6.0 * x - 2.0 + s) / L], axis=1)
    strain = scale * s[:, None] * np.stack([-one / L, -0.5 * one, one / L, -0.5 * one], axis=1)
    return v, theta, curvature, strain


def in_body_axes(matrices: Array, axes: Array) -> Array:
    """Return element matrices for displacements in body axes; axes : (e, 3, 3), columns are the element axes."""
    R_eb = np.zeros((len(matrices), 12, 12))
    for block in range(0, 12, 3):
        R_eb[:, block : block + 3, block : block + 3] = np.swapaxes(axes, 1, 2)
    return np.swapaxes(R_eb, 1, 2) @ matrices @ R_eb


def on_arms(matrices: Array, arms: Array) -> Array:
    """Return element matrices for nodes that hold the ends on rigid arms: u_end = u + φ × arm (elastic-bodies, 5).

    arms : (e, 2, 3), from each node to the element's end, in body axes
    """
    if not arms.any():
        return matrices
    A = np.broadcast_to(np.eye(12), matrices.shape).copy()
    for end in range(2):
        A[:, 6 * end : 6 * end + 3, 6 * end + 3 : 6 * end + 6] = -_skews(arms[:, end])
    return np.swapaxes(A, 1, 2) @ matrices @ A


def _skews(vectors: Array) -> Array:
    x, y, z = vectors.T
    o = np.zeros_like(x)
    return np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], axis=1)


def _integral(shapes: Array, weight: Array) -> Array:
    """Return ∫ N_iᵀ c N_j (e, n, n), with c and the measure in `weight` (e, points)."""
    return np.einsum("eip,ep,ejp->eij", shapes, weight, shapes, optimize=True)
