"""Paths that can be followed without knowing what comes: those that went through the all-pass of the growing exponents.

    y_a = A(s) y_d,   A(s) = Π_λ (1 - s/λ)/(1 + s/λ),   λ the exponents of the zero dynamics that grow

Inverting y_a, the zeros of A cancel what would have to begin early. Every frequency keeps its size, |A(iω)| = 1, and is
late by τ = Σ 2/λ, less by O((ω/|λ|)²) of that for fast ones: the tip follows y_d(t - τ) but for this.
                                                                          [zero magnitude error, Butterworth 2012]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.signal import ZerosPolesGain, lsim

from supple.control.feedforward.reference import Reference, through
from supple.trajectories.trajectory import Trajectory

_FINE = 0.05  # of 1/|λ|: instants of the filtered path
_LEFT = 1e-8  # of the path: where its end is cut off


def causal_path(path: Reference, exponents: NDArray[np.complex128]) -> tuple[Reference, float]:
    """y_a(t), and by how much it is late, s; exponents : of the zero dynamics, of which those that grow are taken."""
    growing = exponents[exponents.real > 0.0]
    if not len(growing):
        return path, 0.0
    late = float((2.0 / growing).sum().real)
    end = path.end - np.log(_LEFT) / float(growing.real.min())
    count = int(np.ceil((end - path.begin) / (_FINE / float(np.abs(growing).max()))))
    times = np.linspace(path.begin, end, count + 1)
    system = ZerosPolesGain(growing, -growing, float((-1.0) ** len(growing))).to_ss()
    seen = path.sampled(times)[:, :3]
    seen[:, 0] -= seen[0, 0]
    passed = np.stack(
        [
            np.stack([lsim(system, seen[:, order, i], times - times[0])[1] for i in range(seen.shape[2])], axis=1)
            for order in range(3)
        ]
    )
    passed[0] += path.at(path.begin)[0]
    return through(Trajectory(path.coordinates, times, passed[0], passed[1], passed[2], path.units)), late
