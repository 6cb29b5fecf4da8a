"""Polyreference least-squares complex frequency: poles of a right matrix fraction fitted to responses.

H_o(ω) ≈ B_o(z) A(z)⁻¹ for each output o, with z = exp(i (ω - ω_1) T); multiplied by A the error is linear in the
coefficients, and those of B_o are eliminated output by output (Guillaume et al. 2003; Peeters et al. 2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from supple.array_types import Complex
from supple.identification.modal_parameters.band import Band
from supple.identification.modal_parameters.companion import polynomial_roots
from supple.identification.modal_parameters.raw_poles import RawPoles

_TOGETHER = 256  # outputs at a time
_RIDGE = 1e-13  # of the largest diagonal entry: below, a coefficient is not determined in double precision


def fraction_poles(band: Band, orders: Iterable[int]) -> Iterator[RawPoles]:
    """Poles of the matrix fractions of rising orders m: m Ni of each.

    J = Σ_o Σ_k w_ok² ‖H_o(ω_k) A(z_k) - B_o(z_k)‖²,   A_0 = I                                                [eq. 4]

    With A_0 held (not A_m) what the noise adds are roots outside the unit circle, which decay backwards: those with
    Re s < 0 are, but for a few, of the structure (Cauberghe et al. 2005).
    """
    wanted = sorted(set(orders))
    sums = _Sums(band, wanted[-1])
    for m in wanted:
        A = _denominator(sums.reduced(m), m, band.H.shape[2])
        z, u = polynomial_roots(A)
        yield RawPoles(m, band.continuous(z), u)


class _Sums:
    """Sums over the lines that the normal equations of every order are made of; all of them are Toeplitz."""

    def __init__(self, band: Band, highest: int):
        N, No, Ni = band.H.shape
        powers = np.exp(1j * np.outer(np.arange(-highest, highest + 1), band.angles))  # (2m + 1, N)
        weight = 1.0 / band.variance.mean(axis=2)  # (N, No): a row of H has one weight
        self.highest = highest
        self.R = powers @ weight  # Σ w² z^(s - r)
        self.S = (powers @ (weight[:, :, None] * band.H).reshape(N, -1)).reshape(-1, No, Ni)
        squares = np.einsum("ko,koi,koj->kij", weight, band.H.conj(), band.H, optimize=True)
        self.T = (powers @ squares.reshape(N, -1)).reshape(-1, Ni, Ni)

    def reduced(self, m: int) -> Complex:
        """M = Σ_o (T_o - S_oᴴ R_o⁻¹ S_o), ((m + 1) Ni)²                                                      [eq. 6]"""
        Ni = self.T.shape[1]
        place = np.subtract.outer(np.arange(m + 1), np.arange(m + 1)).T + self.highest
        M = self.T[place].transpose(0, 2, 1, 3).reshape((m + 1) * Ni, -1)
        for start in range(0, self.R.shape[1], _TOGETHER):
            some = slice(start, start + _TOGETHER)
            R = self.R[place, some].transpose(2, 0, 1)  # (No, m + 1, m + 1)
            R = R + _RIDGE * R[:, :1, :1].real * np.eye(m + 1)
            S = self.S[place, some].transpose(2, 0, 1, 3).reshape(len(R), m + 1, (m + 1) * Ni)
            half = np.linalg.solve(np.linalg.cholesky(R), S)  # R = L Lᴴ: SᴴR⁻¹S = (L⁻¹S)ᴴ(L⁻¹S)
            flat = half.reshape(-1, (m + 1) * Ni)
            M = M - flat.conj().T @ flat
        return np.asarray(M)


def _denominator(M: Complex, m: int, Ni: int) -> Complex:
    """A_1 ... A_m (m, Ni, Ni) that make M (A_0; A_1; ...) smallest with A_0 = I."""
    size = np.sqrt(np.maximum(np.diag(M).real, np.finfo(float).tiny))
    scaled = M / np.outer(size, size)
    inner = scaled[Ni:, Ni:] + _RIDGE * np.eye(m * Ni)
    found = -np.linalg.solve(inner, scaled[Ni:, :Ni]) * size[:Ni] / size[Ni:, None]
    return np.asarray(found.reshape(m, Ni, Ni))
