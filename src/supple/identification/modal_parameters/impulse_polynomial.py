"""Polyreference time domain: poles of a matrix polynomial that impulse responses obey (Vold et al. 1982).

The band is brought to time by the inverse transform, behind a window that goes smoothly to zero at its ends; the
samples h_j of an output (1, Ni) are then sums of ψ_r z_r^j l_rᵀ but for the first few and the second half.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from supple.array_types import Array, Complex
from supple.diagnostics import InputError
from supple.identification.modal_parameters.band import Band
from supple.identification.modal_parameters.companion import polynomial_roots
from supple.identification.modal_parameters.raw_poles import RawPoles

_TAPER = 0.1  # of the band at each end, over which the window falls to zero
_SKIPPED = 8  # first samples, in which the ends of the band are heard
_EVEN = 1e-6  # of the step between lines
_RIDGE = 1e-13


def impulse_poles(band: Band, orders: Iterable[int]) -> Iterator[RawPoles]:
    """Poles of polynomials of rising orders m: m Ni of each.

    Σ_q h_{j+q} A_q = 0 for all outputs and j,  A_0 = I,  q = 0 ... m                                        [eq. 8]

    in least squares; a mode is a left null vector, l_rᵀ A(z_r) = 0. With A_0 = I the earlier sample is predicted from
    later ones, and the roots that noise adds lie outside the unit circle, as in `fraction_poles`.
    """
    wanted = sorted(set(orders))
    h, step = impulse_responses(band)
    Ni = h.shape[2]
    rows = len(h) - wanted[-1]
    if rows < 2:
        raise InputError(
            f"{len(band.omega)} lines give {len(h)} samples in time, too few for the order {wanted[-1]}",
            part="modal_parameters", hint=f"ask for an order below {max(len(h) - 2, 1)}, or for a wider band",
        )  # fmt: skip
    # (samples, outputs, (m + 1) Ni): an equation a row
    windows = np.lib.stride_tricks.sliding_window_view(h, wanted[-1] + 1, axis=0)  # (rows, No, Ni, m + 1)
    Y = windows.transpose(0, 1, 3, 2).reshape(-1, (wanted[-1] + 1) * Ni)
    G = Y.conj().T @ Y
    for m in wanted:
        inner = G[Ni : (m + 1) * Ni, Ni : (m + 1) * Ni]
        ridge = _RIDGE * float(np.trace(inner).real) / len(inner)
        A = -np.linalg.solve(inner + ridge * np.eye(m * Ni), G[Ni : (m + 1) * Ni, :Ni])
        z, u = polynomial_roots(np.asarray(A.reshape(m, Ni, Ni)))
        turn = np.mod(np.angle(z), 2.0 * np.pi)
        s = (np.log(np.abs(z)) + 1j * turn) / step + 1j * band.omega[0]
        yield RawPoles(m, s, u)


def impulse_responses(band: Band) -> tuple[Complex, float]:
    """Samples (J, No, Ni), each output over the noise on it, and their step in s.

    h_j = Σ_k W_k H(ω_k) exp(2πi j k / N),  step 2π / (N Δω)                                                  [eq. 9]
    """
    omega = band.omega
    N = len(omega)
    gaps = np.diff(omega)
    if np.ptp(gaps) > _EVEN * gaps.mean() * N:
        raise InputError(
            "lines that are not evenly spaced have no impulse response", part="modal_parameters",
            hint='take method="plscf", or a band of evenly spaced lines',
        )  # fmt: skip
    level = np.log(band.variance).mean(axis=(1, 2))
    slope = float(np.polyfit(np.log(omega), level, 1)[0]) if N > 2 else 0.0
    # A power of ω levels the noise, moves no pole, and is smooth enough to be heard in the first samples alone.
    window = _taper(N) * (omega / omega[-1]) ** (-0.5 * slope)
    noise = np.sqrt(np.median(band.variance, axis=(0, 2)) + np.finfo(float).tiny)
    h = np.fft.ifft(window[:, None, None] * band.H / noise[None, :, None], axis=0)
    return h[_SKIPPED : max(N // 2, _SKIPPED + 2)], float(2.0 * np.pi / (N * gaps.mean()))


def _taper(N: int) -> Array:
    """1 in the middle, falling as a cosine at both ends."""
    edge = np.minimum(np.arange(N), np.arange(N)[::-1]) / max(_TAPER * N, 1.0)
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * np.minimum(edge, 1.0)))
