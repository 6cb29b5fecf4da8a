"""Noise of measured responses: from their coherence, from neighbouring lines, or from the residuals of a fit.

Variances are those of the complex number, E|δH|²; its real and imaginary part have half each.
"""

from __future__ import annotations

import numpy as np

from supple.array_types import Array, Complex
from supple.results.responses import explained_power

_FLOOR = 1e-10  # of the mean of |H|²: least variance of a measured line
_LEAST = 1e-4  # 1 - γ²: a coherence closer to 1 is rounding, or due to a single record
_SWEEPS = 12
ABOUT = 41  # lines around a frequency over which residuals are averaged
_THIRD = 20.0  # variance of a third difference of white noise: 1 + 9 + 9 + 1


def from_coherence(H: Complex, coherence: Array, averages: int) -> Array:
    """Return E|δH|² = S (1 - γ²) / (n γ²), with n averages (1 if unknown) and S as in `explained_power` (eq. 10)."""
    share = np.clip(coherence, 1e-3, 1.0 - _LEAST)
    found = explained_power(H, coherence) * (1.0 - share) / (max(averages, 1) * share)
    return np.asarray(found + _floor(H))


def from_neighbours(H: Complex) -> Array:
    """Return a first estimate of the variance from third differences of neighbouring lines.

    Where H is smooth, these are noise. Their squares are modelled as a + b|H|² (see `two_parts`). At sharp peaks they
    are not noise, which makes b large and gives the peaks too little weight. A fit provides a better estimate.
    """
    if len(H) < 8:
        return np.asarray(np.abs(H) ** 2 + _floor(H))
    difference = np.diff(H, 3, axis=0)
    squares = np.abs(difference) ** 2 / _THIRD
    middle = 0.5 * (np.abs(H[1:-2]) ** 2 + np.abs(H[2:-1]) ** 2)
    a, b = two_parts(squares, middle)
    return np.asarray(a + b * np.abs(H) ** 2 + _floor(H))


def from_residuals(left: Complex, fitted: Complex, used: float) -> Array:
    """Return the variance from the residuals of a fit, modelled as a + b|Ĥ|² for each pair of channels.

    used : fraction of the data that the parameters of the fit use, 0 to 1
    """
    # A pole that is too sharp would make the line that it overshoots seem noisy, and persist: measured values bound it.
    size = np.minimum(np.abs(fitted) ** 2, 2.0 * np.abs(fitted + left) ** 2)
    a, b = two_parts(np.abs(left) ** 2, size)
    return np.asarray((a + b * size) / max(1.0 - used, 0.05) + _floor(fitted))


def after_fit(left: Complex, fitted: Complex, used: float, coherent: Array | None) -> Array:
    """Return the variance after a fit: from its residuals, or by coherence with a factor for each pair of channels.

    coherent : variance by coherence, if known; each pair uses the one that makes its residuals more likely
    """
    parts = from_residuals(left, fitted, used)
    if coherent is None:
        return parts
    squares = np.abs(left) ** 2
    scaled = coherent * np.mean(squares / coherent, axis=0, keepdims=True) / max(1.0 - used, 0.05)
    unlikely = [np.mean(np.log(v) + squares / v, axis=0) for v in (parts, scaled)]
    return np.where(unlikely[1] < unlikely[0], scaled, parts)


def local_excess(left: Complex, variance: Array) -> Array:
    """Return the ratio (N,), at least 1, of the residual power around each line to the variance, over all channels.

    c τ with c the mean of |e|²/v over the lines around, and τ = (1 + ρ)/(1 - ρ), ρ the correlation of neighbouring
    lines there: errors that are correlated between lines count once, not line by line                              [eq.
    14]

    For noise alone it is 1. Where the model is wrong, or a record was disturbed, lines have less weight and deviations
    grow.
    """
    white = left / np.sqrt(variance)
    power = (np.abs(white) ** 2).mean(axis=(1, 2))
    product = np.zeros(len(left))
    product[:-1] = np.sum((white[1:] * white[:-1].conj()).real, axis=(1, 2)) / white[0].size
    c, shared = running_mean(power), running_mean(product)
    chance = 2.0 / np.sqrt(min(ABOUT, len(left)) * white[0].size)
    c = np.where(c > 1.0 + chance, c, 1.0)
    rho = np.clip(shared / np.maximum(running_mean(power), np.finfo(float).tiny), 0.0, 0.9)
    tau = np.where(rho > chance, (1.0 + rho) / (1.0 - rho), 1.0)
    return np.asarray(c * tau)


def running_mean(values: Array, width: int = ABOUT) -> Array:
    """Return the mean over `width` neighbours, fewer at the ends."""
    kernel = np.ones(min(width, len(values)))
    return np.asarray(np.convolve(values, kernel, "same") / np.convolve(np.ones(len(values)), kernel, "same"))


def two_parts(squares: Array, size: Array) -> tuple[Array, Array]:
    """Return a and b (1, No, Ni), not negative, of E[squares] = a + b size, with lines along the first axis.

    Noise of instruments does not depend on the response (a); that of impacts, averages and model errors grows with it
    (b). For a complex Gaussian the squares are exponentially distributed, so that repeated least squares with the
    weights 1/(a + b size)² are maximum likelihood.
    """
    scale = np.maximum(size.mean(axis=0, keepdims=True), np.finfo(float).tiny)
    x = size / scale
    a = np.median(squares, axis=0, keepdims=True) / np.log(2.0)
    b = np.zeros_like(a)
    least = np.maximum(squares.mean(axis=0, keepdims=True) * 1e-12, np.finfo(float).tiny)
    for _ in range(_SWEEPS):
        expected = np.maximum(a + b * x, least)
        weight = 1.0 / expected**2
        s0, s1, s2 = (np.sum(weight * x**k, axis=0, keepdims=True) for k in range(3))
        t0, t1 = (np.sum(weight * squares * x**k, axis=0, keepdims=True) for k in range(2))
        det = np.maximum(s0 * s2 - s1 * s1, 1e-14 * s0 * s2)
        a, b = (t0 * s2 - t1 * s1) / det, (t1 * s0 - t0 * s1) / det
        alone_a, alone_b = t0 / s0, t1 / np.maximum(s2, np.finfo(float).tiny)
        a, b = np.where(b < 0.0, alone_a, a), np.maximum(b, 0.0)
        b, a = np.where(a < 0.0, alone_b, b), np.maximum(a, 0.0)
    return a, b / scale


def _floor(H: Complex) -> Array:
    return np.asarray(_FLOOR * (np.abs(H) ** 2).mean(axis=0, keepdims=True) + np.finfo(float).tiny)
