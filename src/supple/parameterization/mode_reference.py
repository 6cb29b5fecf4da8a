"""Modes at θ turned to those of one reference: the subspace is followed, whatever its modes do within it.

P, the overlaps of the modes with the reference, is made symmetric positive definite by an orthogonal R and stays so if
the modes turn by a skew T with T P + P T = Wᵀ - W, W the change of P along Y. Overlap is that of motions, P = ΦΦ_refᵀ,
or that of strains                                                      (docs/theory/parameterization.md, eqs. 11-12b).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import kernel
from supple.parameterization.mode_choice import STRAIN


class Following(NamedTuple):
    """What modes at θ are chosen by: `tracking` of mode_choice, and the modes to turn to, reference (k, n); by strains
    their stresses (k, n + m), see `ModalParameterization`."""

    tracking: int
    reference: NDArray[np.float64]


@kernel
def compared(following, C):
    """B (k, n): what of the reference modes are compared with: its motions, or what its stresses do on each z. Those in
    the bodies, ΛΦ_ref/ω_ref, stay as they are in the axes of the bodies, those in elastic rows, C_refΦ_ref/(c ω_ref),
    act along the rows C as they are at θ."""
    n = C.shape[1]
    B = following.reference[:, :n].copy()
    if following.tracking == STRAIN:
        B += np.dot(np.ascontiguousarray(following.reference[:, n:]), C)
    return B


@kernel
def overlaps(modes, here):
    """P = ΦBᵀ: cosines between motions of modes and the reference's; or Ω⁻¹ΦBᵀ, between strains by elastic energy.

    modes : Eigenmodes; here : what of the reference they are compared with at θ
    """
    P = np.dot(modes.shapes, np.ascontiguousarray(here.reference.T))
    if here.tracking == STRAIN:
        for i in range(P.shape[0]):
            P[i] /= np.sqrt(modes.squares[i])
    return P


@kernel
def overlap_slopes(modes, following, P, Y, G, dB):
    """W (k, k), the change of P where Φ' = Y and B' = dB. By strains ΦKΦᵀ changes by G, and with it Ω⁻¹ by
    -G_ij / (ω_i ω_j (ω_i + ω_j))."""
    W = np.dot(Y, np.ascontiguousarray(following.reference.T)) + np.dot(modes.shapes, np.ascontiguousarray(dB.T))
    if following.tracking == STRAIN:
        omega = np.sqrt(modes.squares)
        k = P.shape[0]
        for i in range(k):
            for j in range(k):
                W[i, j] /= omega[i]
            for m in range(k):
                factor = G[i, m] / (omega[i] * (omega[i] + omega[m]))
                for j in range(k):
                    W[i, j] -= factor * P[m, j]
    return W


@kernel
def towards(P):
    """P = U Σ Vᵀ: R = V Uᵀ (k, k), orthogonal, with R P = V Σ Vᵀ symmetric positive definite; V and Σ (k,), falling."""
    U, sigma, Vt = np.linalg.svd(P)
    V = np.ascontiguousarray(Vt.T)
    return np.dot(V, np.ascontiguousarray(U.T)), V, sigma


@kernel
def turned_with_reference(V, sigma, W):
    """T skew with T P + P T = Wᵀ - W, for P = V Σ Vᵀ."""
    Vt = np.ascontiguousarray(V.T)
    right = np.dot(np.dot(Vt, W.T - W), V)
    for i in range(sigma.shape[0]):
        for j in range(sigma.shape[0]):
            right[i, j] /= sigma[i] + sigma[j]
    return np.dot(np.dot(V, right), Vt)


@kernel
def turn_to_reference(structure, dC, modes, following, Y, G):
    """Φ and K_ιι turned to the reference, and the overlap; Y and G in place become ∂Φ and ∂K_ιι.    [eqs. 7, 9, 11-12b]

    modes : Eigenmodes at θ; following : Following, its reference (k, n), or by strains its stresses (k, n + m)
    """
    n = structure.rows.shape[1]
    here = Following(following.tracking, compared(following, structure.rows))
    acting = np.ascontiguousarray(following.reference[:, n:])  # along rows; nothing, by motions
    dB = np.zeros(here.reference.shape)
    P = overlaps(modes, here)
    R, V, sigma = towards(P)
    Rt = np.ascontiguousarray(R.T)
    Phi = np.dot(R, modes.shapes)
    K = np.dot(np.dot(R, np.diag(modes.squares)), Rt)
    for k in range(dC.shape[0]):
        if acting.shape[1] > 0:
            dB = np.dot(acting, dC[k])
        W = overlap_slopes(modes, here, P, Y[k], G[k], dB)
        Y[k] = np.dot(R, Y[k])
        G[k] = np.dot(np.dot(R, G[k]), Rt)
        turn_slopes(turned_with_reference(V, sigma, np.dot(R, W)), Phi, K, Y[k], G[k])
    return Phi, K, sigma[sigma.shape[0] - 1]


@kernel
def turn_slopes(T, Phi, K, Y, G):
    """Y + T Φ and G + T K + (T K)ᵀ, in place: how modes Φ and K change turned by a skew T.              [eqs. 7, 9]"""
    Y += np.dot(T, Phi)
    turned = np.dot(T, K)
    G += turned + turned.T
