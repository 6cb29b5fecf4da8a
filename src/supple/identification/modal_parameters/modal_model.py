"""Modal model of responses, and least squares for its linear part, shapes and residual terms (LSFD).

    H_oi(ω) = Σ_r ψ_ro l_ri / (iω - s_r) + conj. + LR_oi / (iω)² + UR_oi                                      (eq. 1)

LR represents the modes below the band, including rigid ones, UR those above it. Without damping both are real; filters
and delays of instruments rotate them with the rest, so that they are complex here. With structural damping
-ψ_ro l_ri / (iω + s_r) replaces the conjugate term (eq. 23).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex

_FULL = 0.95  # of the unit circle that the band covers: the rest joins its ends


class Band(NamedTuple):
    """Lines of a band for estimators: receptances and their noise, N lines of No outputs to Ni references.

    omega    : (N,) rad/s, ascending, above zero H        : (N, No, Ni) receptances, from any quantity: H_measured /
    (iω)^m variance : (N, No, Ni) of the noise on H, E|δH|²; a common factor is unknown mirror   : None: poles come in
    conjugate pairs; for structural damping twice the rate of the exponential window, 1/s:
               the other pole of s is then -s                                                         [eqs. 1, 23]
    """

    omega: Array
    H: Complex
    variance: Array
    mirror: float | None = None

    @property
    def step(self) -> float:
        """Sample time T, s, of a signal with this spectrum; the band covers most of the unit circle."""
        return float(2.0 * np.pi * _FULL / (self.omega[-1] - self.omega[0]))

    @property
    def angles(self) -> Array:
        """Angles (N,) of z = exp(i (ω - ω_1) T) (eq. 3)."""
        return np.asarray((self.omega - self.omega[0]) * self.step)

    def continuous(self, z: Complex) -> Complex:
        """Return the poles s of poles z = exp((s - iω_1) T) that are nearest to the band."""
        open_end = np.pi * (1.0 - _FULL)  # half of the gap belongs to each end
        turn = np.mod(np.angle(z) + open_end, 2.0 * np.pi) - open_end
        return np.asarray((np.log(np.abs(z)) + 1j * turn) / self.step + 1j * self.omega[0])


RESIDUALS = 4  # lower and upper, real and imaginary
_CHUNK = 256  # lines whose products are in memory at a time
_RIDGE = 1e-13


class Poles(NamedTuple):
    """Poles s (R,) and participation l (R, Ni) with a largest entry of 1."""

    poles: Complex
    participation: Complex

    def where(self, kept: NDArray[np.bool_] | NDArray[np.int64]) -> Poles:
        """Return a selection of the poles."""
        return Poles(self.poles[kept], self.participation[kept])


class LinearFit(NamedTuple):
    """Linear part of a fit, for fixed poles.

    shapes    : (R, No) ψ; lower, upper : (No, Ni) LR and UR
    x         : (No, P) the same as real numbers: Re ψ_r, Im ψ_r, ..., then LR and UR of each reference
    inverse   : (No, P, P) inverse of their normal matrix (for unit whitened noise twice their covariance)
    misfit    : χ² = Σ |H - Ĥ|² / variance
    """

    shapes: Complex
    lower: Complex
    upper: Complex
    x: Array
    inverse: Array
    misfit: float


class Gram(NamedTuple):
    """Weighted products of the functions of the model and its derivatives, for each pair of channels.

    The functions are the same for all pairs, (N, K) with K = 4R + 4 (`pole_functions`): with g = 1/(iω - s_r) and ḡ =
    1/(iω - s_r*) they are g + ḡ, i(g - ḡ), g² + ḡ², i(g² - ḡ²) of every mode, 1/(iω)², i/(iω)², 1 and i. With
    structural damping those of a mode are g - m, i(g - m), g² + m², i(g² + m²), m = 1/(iω + s_r).

    G : (No, Ni, K, K) Re Σ_k f̄_j f_l / v;  b : (No, Ni, K) Re Σ_k f̄_j H / v;  h : Σ |H|² / v
    """

    G: Array
    b: Array
    h: float


def pole_functions(omega: Array, poles: Complex, mirror: float | None = None) -> Complex:
    """Return the functions (N, 4R + 4) of `Gram`; mirror as in `Band`."""
    g = 1.0 / (1j * omega[:, None] - poles)
    if mirror is None:
        other = 1.0 / (1j * omega[:, None] - poles.conj())
        columns = [g + other, 1j * (g - other), g**2 + other**2, 1j * (g**2 - other**2)]
    else:
        other = 1.0 / (1j * omega[:, None] + mirror + poles)
        columns = [g - other, 1j * (g - other), g**2 + other**2, 1j * (g**2 + other**2)]
    modes = np.stack(columns, axis=2)
    low, high = residual_functions(omega)
    return np.concatenate([modes.reshape(len(omega), -1), np.stack([low, 1j * low, high, 1j * high], axis=1)], axis=1)


def residual_functions(omega: Array) -> tuple[Complex, Complex]:
    """Return 1/(iω)² and 1, (N,) each."""
    return np.asarray(1.0 / (1j * omega) ** 2), np.ones(len(omega), dtype=np.complex128)


def gram(band: Band, poles: Complex) -> Gram:
    """Return all products, in one pass over the lines."""
    N, No, Ni = band.H.shape
    K = 4 * len(poles) + RESIDUALS
    starts = np.r_[0, np.cumsum(np.arange(K, 0, -1))]  # of the rows of the upper triangle
    packed = np.zeros((starts[-1], No * Ni))
    b = np.zeros((No * Ni, K))
    products = np.empty((starts[-1], min(N, _CHUNK)))
    for start in range(0, N, _CHUNK):
        part = slice(start, start + _CHUNK)
        f = pole_functions(band.omega[part], poles, band.mirror)
        re, im = np.ascontiguousarray(f.real.T), np.ascontiguousarray(f.imag.T)
        weight = (1.0 / band.variance[part]).reshape(len(f), -1)
        some = products[:, : len(f)]
        for j in range(K):
            some[starts[j] : starts[j + 1]] = re[j] * re[j:] + im[j] * im[j:]
        packed += some @ weight
        H = band.H[part].reshape(len(f), -1)
        b += (weight * H.real).T @ re.T + (weight * H.imag).T @ im.T
    G = np.zeros((No * Ni, K, K))
    upper = np.triu_indices(K)
    G[:, upper[0], upper[1]] = packed.T
    G[:, upper[1], upper[0]] = packed.T
    h = float(np.sum(np.abs(band.H) ** 2 / band.variance))
    return Gram(G.reshape(No, Ni, K, K), b.reshape(No, Ni, K), h)


def linear_map(participation: Complex) -> Array:
    """Return the coefficients (Ni, K, P) of the functions for each linear unknown and reference.

    ψ l g + conj. = Re ψ (Re l f₁ + Im l f₂) + Im ψ (Re l f₂ - Im l f₁)
    """
    R, Ni = participation.shape
    found = np.zeros((Ni, 4 * R + RESIDUALS, 2 * R + RESIDUALS * Ni))
    r = np.arange(R)
    for i in range(Ni):
        l_i = participation[:, i]
        found[i, 4 * r, 2 * r], found[i, 4 * r + 1, 2 * r] = l_i.real, l_i.imag
        found[i, 4 * r, 2 * r + 1], found[i, 4 * r + 1, 2 * r + 1] = -l_i.imag, l_i.real
        for term in range(RESIDUALS):
            found[i, 4 * R + term, 2 * R + RESIDUALS * i + term] = 1.0
    return found


def linear_fit(products: Gram, at: Poles) -> LinearFit:
    """Return shapes and residual terms of all outputs from normal equations scaled to a unit diagonal (eq. 11)."""
    R, Ni = at.participation.shape
    map_ = linear_map(at.participation)
    normal = np.einsum("ikp,oikl,ilq->opq", map_, products.G, map_, optimize=True)
    right = np.einsum("ikp,oik->op", map_, products.b, optimize=True)
    size = np.sqrt(np.maximum(np.einsum("opp->op", normal), np.finfo(float).tiny))
    scaled = normal / (size[:, :, None] * size[:, None, :]) + _RIDGE * np.eye(normal.shape[-1])
    inverse = np.linalg.inv(scaled) / (size[:, :, None] * size[:, None, :])
    x = np.einsum("opq,oq->op", inverse, right)
    shapes = (x[:, : 2 * R : 2] + 1j * x[:, 1 : 2 * R : 2]).T
    terms = x[:, 2 * R :].reshape(len(x), Ni, RESIDUALS)
    lower, upper = terms[:, :, 0] + 1j * terms[:, :, 1], terms[:, :, 2] + 1j * terms[:, :, 3]
    return LinearFit(shapes, lower, upper, x, inverse, products.h - float(np.sum(x * right)))


def synthesise_receptances(
    omega: Array, at: Poles, shapes: Complex, lower: Complex, upper: Complex, mirror: float | None = None
) -> Complex:
    """Return the receptances Ĥ (N, No, Ni) of the modal model; mirror as in `Band`."""
    g = 1.0 / (1j * omega[:, None] - at.poles)
    residues = shapes[:, :, None] * at.participation[:, None, :]
    R, No, Ni = residues.shape
    flat = residues.reshape(R, No * Ni)
    if mirror is None:
        modes = g @ flat + 1.0 / (1j * omega[:, None] - at.poles.conj()) @ flat.conj()
    else:
        modes = (g - 1.0 / (1j * omega[:, None] + mirror + at.poles)) @ flat
    modes = modes.reshape(len(omega), No, Ni)
    low, high = residual_functions(omega)
    return np.asarray(modes + low[:, None, None] * lower + high[:, None, None] * upper)
