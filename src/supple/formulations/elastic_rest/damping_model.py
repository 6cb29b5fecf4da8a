"""Damping of the deformation from the description: of modes, of materials, proportional to mass and stiffness.

Over any coordinates δ of the deformation with locked actuators, with mass M, stiffness K and Ω² = M^-½ K M^-½,

    D = 2 M^½ ζ(Ω) Ω M^½ + αM + βK + Σ_m (α_m M_m + β_m K_m) + D(Σ_m 2ζ_m K_m)
    H = ηK + Σ_m η_m K_m + Σ_j η_j k_j C_jᵀC_j
    Ω D̂ + D̂ Ω = 2 Ĥ:  D(H)                                              (docs/theory/damping.md, eqs. 1-5)

H is hysteretic damping, K + iH in a harmonic motion. In time it is replaced by the viscous D(H) with the same loss at
every resonance, D̂_rs = 2 Ĥ_rs / (ω_r + ω_s) over the modes. All analyses use this model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.elastic.material import Damping, Material
from supple.formulations.elastic.elastic_body import weighted_beams
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest


class Materials(NamedTuple):
    """Damping of materials over some coordinates: Σ η_m K_m, Σ 2ζ_m K_m, Σ α_m M_m and Σ β_m K_m, each (..., r, r)."""

    loss: Array
    ratio: Array
    by_mass: Array
    by_stiffness: Array

    def over(self, shapes: Array) -> Materials:
        """Return the damping over the motions `shapes` (..., r, n) of these coordinates."""
        return Materials(*(shapes @ matrix @ np.swapaxes(shapes, -1, -2) for matrix in self))


class Dissipation(NamedTuple):
    """Damping D and H (..., r, r) over coordinates of the deformation."""

    viscous: Array
    hysteretic: Array


def dissipation(
    model: Damping | None, M: Array, K: Array, materials: Materials | None, joints: Array | None = None
) -> Dissipation:
    """Return D and H for mass M and stiffness K (..., r, r), with locked actuators.

    `materials` and the losses of joints are over the same coordinates.
    """
    D, H = np.zeros_like(M), np.zeros_like(K)
    if model is not None and model.rayleigh is not None:
        D += model.rayleigh[0] * M + model.rayleigh[1] * K
    if model is not None and model.structural is not None:
        H += model.structural * K
    if model is not None and model.modal is not None:
        omega, W = _modal(M, K)
        rates = 2.0 * model.ratios(omega / (2.0 * np.pi)) * omega
        D += (W * rates[..., None, :]) @ np.swapaxes(W, -1, -2)
    if materials is not None:
        D += materials.by_mass + materials.by_stiffness + equivalent(materials.ratio, M, K)
        H += materials.loss
    if joints is not None:
        H += joints
    return Dissipation(D, H)


def equivalent(H: Array, M: Array, K: Array) -> Array:
    """Return the viscous damping (..., r, r) with the same loss at each resonance as H: Ω D̂ + D̂ Ω = 2 Ĥ.

    It is nonnegative if H is, and smooth where modes cross. For H = ηK it is the damping of ratio η/2.
    """
    if not H.any():
        return np.zeros_like(H)
    omega, W = _modal(M, K)
    inverse = np.linalg.inv(W)
    total = omega[..., :, None] + omega[..., None, :]
    across = 2.0 * (inverse @ H @ np.swapaxes(inverse, -1, -2))
    return W @ np.divide(across, total, out=np.zeros_like(across), where=total > 0.0) @ np.swapaxes(W, -1, -2)


def _modal(M: Array, K: Array) -> tuple[Array, Array]:
    """Return ω (..., r) ascending and W (..., r, r) with M = WWᵀ, K = W ω² Wᵀ; unit mass if M is unknown."""
    known = np.isfinite(M + K).all(axis=(-2, -1), keepdims=True) & (np.abs(M).max(axis=(-2, -1), keepdims=True) > 0.0)
    L = np.linalg.cholesky(np.where(known, M, np.eye(M.shape[-1])))
    inverse = np.linalg.inv(L)
    squares, turn = np.linalg.eigh(inverse @ np.where(known, K, 0.0) @ np.swapaxes(inverse, -1, -2))
    return np.sqrt(np.maximum(squares, 0.0)), L @ turn


def joint_losses(rest: ElasticRest, X: Array, shapes: Array) -> Array | None:
    """Return Σ η_j k_j C_jᵀC_j (N, r, r) of elastic joints and drives over motions `shapes` (..., r, n), or None.

    The poses are X (N, bodies + 1, 12). The result is None without losses.
    """
    losses = rest.losses
    if not losses:
        return None
    C = rows_over_coordinates(rest, np.array(list(losses), dtype=np.int64), X) @ np.swapaxes(shapes, -1, -2)
    return np.asarray(np.swapaxes(C, -1, -2) @ (np.array(list(losses.values()))[:, None] * C))


def materials_over_z(rest: ElasticRest) -> Materials | None:
    """Return the damping of the materials over z (n, n), or None without it."""
    mechanism = rest.numbering.mechanism
    if all(item.damping is None for item in mechanism.materials.values()):
        return None
    found = Materials(*(np.zeros((rest.size, rest.size)) for _ in range(4)))
    for body in rest.bodies:
        of_beams = [mechanism.materials[beam.material] for beam in mechanism.bodies[body.name].all_beams]
        here = slice(body.start, body.stop)
        for factor, matrix in zip(_FACTORS, found, strict=True):
            weights = np.array([factor(item) for item in of_beams])
            if weights.any():
                matrix[here, here] = _sum_beams(rest, body, weights, by_mass=factor is _of_mass)
    return found


def material_stiffness(rest: ElasticRest, material: str) -> Array:
    """Return K_m (n, n) over z for all parts of a material."""
    mechanism, found = rest.numbering.mechanism, np.zeros((rest.size, rest.size))
    for body in rest.bodies:
        weights = np.array([float(beam.material == material) for beam in mechanism.bodies[body.name].all_beams])
        if weights.any():
            found[body.start : body.stop, body.start : body.stop] = _sum_beams(rest, body, weights, by_mass=False)
    return found


def _of_mass(material: Material) -> float:
    given = material.damping.rayleigh if material.damping else None
    return given[0] if given else 0.0


def _of_stiffness(material: Material) -> float:
    given = material.damping.rayleigh if material.damping else None
    return given[1] if given else 0.0


def _of_loss(material: Material) -> float:
    return float((material.damping and material.damping.structural) or 0.0)


def _of_ratio(material: Material) -> float:
    given = material.damping.modal if material.damping else None
    return 2.0 * given if isinstance(given, float) else 0.0


_FACTORS = (_of_loss, _of_ratio, _of_mass, _of_stiffness)


def _sum_beams(rest: ElasticRest, body: BodyCoordinates, weights: Array, *, by_mass: bool) -> Array:
    """Return Σ w K or Σ w M of a body's beams over its z."""
    elastic = body.size - body.deflections
    if not by_mass and np.ptp(weights) == 0.0:
        own = body.stiffness.copy()
        own[elastic:] = 0.0
        return np.diag(weights[0] * own)
    K, M = weighted_beams(rest.numbering.drawing, body.name, weights)
    found = body.shapes.T @ ((M if by_mass else K) @ body.shapes)
    if not by_mass:  # rigid motions come first, and strain nothing but by rounding
        d = body.rigid.shape[1]
        found[:d] = 0.0
        found[:, :d] = 0.0
    return 0.5 * (found + found.T)
