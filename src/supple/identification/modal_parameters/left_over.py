"""Modes hidden in what a fit leaves over: one resonance after the other is held against it.

A mode that is weak on every line is no outlier on any; an estimator that divides by polynomials does not see it. Summed
over the lines with the shape of a resonance, over all channels, it stands out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.array_types import Array, Complex
from supple.identification.modal_parameters.band import Band
from supple.identification.modal_parameters.modal_model import Poles

_RATIOS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128)
_PER_WIDTH = 1.0  # trial poles a half bandwidth
_AT_ONCE = 64  # trial poles
_REACH = 20.0  # half bandwidths, or lines, beside a pole where its resonance is looked at
_FEWEST = 0.5  # of the step of the lines: closer trial poles say the same


def hidden_modes(band: Band, excess: Array, least: float, largest_damping: float, most: int = 4) -> Poles:
    """Poles at which a mode would explain more than `least` of the deviance of what is left over, the best first.

    y_oi = Σ_k g*_k e_oik / v_oik / √(Σ_k |g_k|² / v_oik),   g = 1/(iω - s)                                   [eq. 16]

    excess : (N,) how much more than noise is left over about each line, see `local_excess`

    A mode gives y the rank one: 2 σ₁(y)² is what it explains; of noise alone σ₁² is about (√No + √Ni)². The first
    right singular vector is its participation.
    """
    weight = 1.0 / band.variance
    N, No, Ni = band.H.shape
    weighted = (weight * band.H).reshape(N, -1)
    flat = weight.reshape(N, -1)
    step = float(np.median(np.diff(band.omega))) if N > 1 else 1.0
    found: list[tuple[float, complex, Complex]] = []
    usual = 2.0 * (np.sqrt(No) + np.sqrt(Ni)) ** 2
    for ratio in _RATIOS:
        if ratio > largest_damping:
            continue
        tried: list[tuple[Array, Complex, Complex]] = []
        for s in _trials(band.omega, ratio, step):
            part = _around(band.omega, s, step)
            g = 1.0 / (1j * band.omega[part, None] - s)
            y = (g.conj().T @ weighted[part]) / np.sqrt((np.abs(g.T) ** 2) @ flat[part])
            _, size, right = np.linalg.svd(y.reshape(-1, No, Ni), full_matrices=False)
            explained = 2.0 * size[:, 0] ** 2 / np.interp(s.imag, band.omega, excess)
            # y ≈ σ₁ u vᴴ is ψ lᵀ, so that l is the conjugate of v, which is what svd returns.
            tried.append((explained, s, right[:, 0]))
        # Most trials meet no mode: what they explain tells how far noise on one channel is that on others.
        level = max(float(np.median(np.concatenate([one[0] for one in tried]))) / usual, 1.0)
        for explained, s, l_r in tried:
            found += [(explained[j], s[j], l_r[j]) for j in np.flatnonzero(explained > least * level)]
    found.sort(key=lambda one: -one[0])
    kept: list[tuple[float, complex, Complex]] = []
    for one in found:
        if len(kept) == most:
            break
        if all(abs(one[1].imag - other[1].imag) > 3.0 * max(-one[1].real, -other[1].real, step) for other in kept):
            kept.append(one)
    return Poles(
        np.array([s for _, s, _ in kept], dtype=complex),
        np.array([l_r for _, _, l_r in kept], dtype=complex).reshape(-1, Ni),
    )


def _trials(omega: Array, ratio: float, step: float) -> Iterator[Complex]:
    """Poles of one damping ratio over the band, spaced by their half bandwidth or by half a line, some at a time."""
    places = [float(omega[0])]
    while places[-1] < omega[-1]:
        places.append(places[-1] + max(ratio * places[-1] * _PER_WIDTH, _FEWEST * step))
    magnitude = np.array(places)
    s = magnitude * (-ratio + 1j * np.sqrt(1.0 - ratio**2))
    return (s[first : first + _AT_ONCE] for first in range(0, len(s), _AT_ONCE))


def _around(omega: Array, s: Complex, step: float) -> slice:
    """The lines at which these resonances are seen."""
    reach = _REACH * max(float(np.max(-s.real)), step)
    return slice(
        int(np.searchsorted(omega, s.imag.min() - reach)), int(np.searchsorted(omega, s.imag.max() + reach)) or 1
    )
