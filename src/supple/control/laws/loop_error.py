"""Change of a closed loop by an error of its law, and the weights of the entries of the law in it.

The loop of the sampled plant X⁺ = F X + G (c + d), y = H X with the law [x⁺; c] = M [x; z] at a fixed σ has the state
ξ = (X, x, c₋) and the excitations v = (d, z̃): forces or commands at the inputs of the plant, and additions to every
input z of the law (noise, motion, products of rates). Its responses are those of (y, c):

    ξ⁺ = (N + L M R) ξ + B v,     T(ω) = responses from v to (y, c),  e^{iωT} on the unit circle

An error ΔM of the law changes them to first order by

    ΔT(ω) = O(ω) ΔM I(ω),     O : from [x⁺; c] to (y, c),   I : from v to [x; z]

T has units. Every entry is therefore divided by r_i c_j >= max |T_ij| over frequencies and points of the region. The
error of a loop is the largest |ΔT_ij| so divided, over the frequencies: the peak error of any response relative to the
peak of responses of that signal. The frequencies are a logarithmic grid and those of the poles of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Complex, Integers
from supple.control.laws.affine_matrices import AffineMatrices, Ports

SMALL = 1e-7  # of the largest size of a row: lower limit of the others, which may be those of rounding
_GRID = 24  # frequencies between _LOWEST of the Nyquist frequency and it
_LOWEST = 1e-4
_UNDAMPED = 1e-9  # distance to the unit circle: a pole closer to it is no frequency of the grid


class SampledLoop(NamedTuple):
    """Plant of a law at one σ: X⁺ = F X + G c, y = H X at its samples, with measurements and actuators of the law."""

    F: Array
    G: Array
    H: Array


LoopAt = Callable[[Array], SampledLoop]
"""Function from σ (s,) to the plant there."""


class Responses(NamedTuple):
    """T (w, o, e), O (w, o, n + a) and I (w, n + m, e) at w frequencies, for o responses and e excitations."""

    whole: Complex
    left: Complex
    right: Complex


class ClosedLoop:
    """Loop of a plant with a law of n states at one σ."""

    def __init__(self, plant: SampledLoop, ports: Ports, n: int) -> None:
        (F, G, H), m, a = plant, ports.size, len(ports.actuators)
        self.plant, self.ports, self._n = plant, ports, n
        N, whole = len(F), len(F) + n + a
        self.base, self.left, self.right = np.zeros((whole, whole)), np.zeros((whole, n + a)), np.zeros((n + m, whole))
        self.base[:N, :N] = F
        self.left[:N, n:], self.left[N : N + n, :n], self.left[N + n :, n:] = G, np.eye(n), np.eye(a)
        y, applied = (slice(n + part.start, n + part.stop) for part in (ports.y, ports.applied_commands))
        self.right[:n, N : N + n], self.right[y, :N], self.right[applied, N + n :] = np.eye(n), H, np.eye(a)

    def matrix(self, matrices: AffineMatrices) -> Array:
        """Return N + L M R."""
        return self.base + self.left @ law_matrix(matrices) @ self.right

    def poles(self, matrices: AffineMatrices) -> Complex:
        """Return the poles of the samples."""
        return np.linalg.eigvals(self.matrix(matrices)).astype(complex)

    def frequencies(self, matrices: AffineMatrices) -> Array:
        """Return angles ωT of the grid and of the poles."""
        poles = self.poles(matrices)
        oscillating = poles[(poles.imag > np.pi * _LOWEST) & (np.abs(poles) < 1.0 - _UNDAMPED) & (np.abs(poles) > 0.2)]
        return np.concatenate([np.pi * np.geomspace(_LOWEST, 0.999, _GRID), np.angle(oscillating)])

    def responses(self, matrices: AffineMatrices, angles: Array) -> Responses:
        """Return the responses at angles ωT (w,)."""
        M, m, a = law_matrix(matrices), self.ports.size, len(self.ports.actuators)
        N, o, n = len(self.plant.F), len(self.plant.H), self._n
        known = np.eye(n + m)[:, n:]
        excited = np.hstack([self.left[:, n:] * (np.arange(len(self.base)) < N)[:, None], self.left @ M @ known])
        shown = np.zeros((o + a, len(self.base)))
        shown[:o, :N], shown[o:] = self.plant.H, M[n:] @ self.right
        inverse: Complex = np.linalg.inv(
            np.exp(1j * angles)[:, None, None] * np.eye(len(self.base)) - self.matrix(matrices)
        )
        by_excitation: Complex = inverse @ excited
        whole: Complex = shown @ by_excitation
        right: Complex = self.right @ by_excitation
        whole[:, o:, a:] += M[n:] @ known
        right[:, n:, a:] += np.eye(m)
        left: Complex = shown @ inverse @ self.left
        left[:, o:, n:] += np.eye(a)
        return Responses(whole, left, right)


def law_matrix(matrices: AffineMatrices) -> Array:
    """Return M = [A B; C D]."""
    return np.block([[matrices.A, matrices.B], [matrices.C, matrices.D]])


def growth(loop: ClosedLoop, matrices: AffineMatrices) -> float:
    """Return the largest real part of the poles of a loop, 1/s."""
    return float(np.log(np.abs(loop.poles(matrices)).max()) / loop.ports.sample_time)


class LoopMeasure:
    """Error of a law in its closed loop, at points of the region.

    sizes : r_i and c_j, for all points
    """

    def __init__(self, loops: Sequence[ClosedLoop], designs: Sequence[AffineMatrices]) -> None:
        peaks: Array = np.zeros(0)
        self._found = []
        for loop, design in zip(loops, designs, strict=True):
            found = loop.responses(design, loop.frequencies(design))
            largest = np.abs(found.whole).max(axis=0)
            peaks = np.maximum(peaks, largest) if len(peaks) else largest
            self._found.append(found)
        outer = outer_sizes(peaks)
        self._rows = outer[:, 0]
        columns = outer[0] / outer[0, 0]
        self._columns = np.maximum(columns, SMALL * columns.max())

    def sensitivities(self) -> Array:
        """Return the square roots of the diagonal of S for all entries of M, row by row."""
        total: Array = np.zeros(0)
        for _, left, right in self._found:
            by_row = (np.abs(left / self._rows[:, None]) ** 2).sum(axis=1)
            by_column = (np.abs(right / self._columns) ** 2).sum(axis=2)
            mean = np.einsum("wi,wj->ij", by_row, by_column).ravel() / len(left)
            total = mean if not len(total) else total + mean
        return np.sqrt(total / len(self._found))

    def weights(self, places: Integers) -> Array:
        """Return S (v, v) for entries Δ of M at some places: Δᵀ S Δ = |O ΔM I|², mean over frequencies and points."""
        width = self._found[0].right.shape[1]
        i, j = places // width, places % width
        total = np.zeros((len(places), len(places)))
        for _, left, right in self._found:
            share = 1.0 / (len(left) * len(self._found))
            for shown, felt in zip(left / self._rows[:, None], right / self._columns, strict=True):
                by_row, by_column = shown.conj().T @ shown, felt @ felt.conj().T
                total += share * (by_row[np.ix_(i, i)] * by_column[np.ix_(j, j)].T).real
        return total

    def error(self, loop: ClosedLoop, design: AffineMatrices, fit: AffineMatrices) -> float:
        """Return the error of a fitted law at a point."""
        angles = loop.frequencies(design)
        change = loop.responses(fit, angles).whole - loop.responses(design, angles).whole
        return float((np.abs(change) / np.outer(self._rows, self._columns)).max())


def outer_sizes(whole: Array) -> Array:
    """Return r_i c_j >= m_ij of a matrix of sizes m_ij >= 0, nearly as small as possible after a few iterations."""
    columns, rows = np.ones(whole.shape[1]), np.ones(whole.shape[0])
    for _ in range(6):
        rows = (whole / columns).max(axis=1, initial=0.0)
        rows[rows == 0.0] = 1.0
        columns = (whole / rows[:, None]).max(axis=0, initial=0.0)
        columns[columns == 0.0] = 1.0
    return np.outer(rows, columns)


def standing_error(loop: ClosedLoop, matrices: AffineMatrices, off: Array) -> Array:
    """Return how far the plant rests from its goal, in measurements y (o,), by an error of the equilibrium of its law.

    (1 - N - L M R) ξ = L ((1, 0; 0, 1) (δx_e; δu_e) - M (δx_e; δz_e))

    off : δx_e, δz_e, δu_e side by side
    """
    n, m = matrices.B.shape
    x, z, u = off[:n], off[n : n + m], off[n + m :]
    injected = np.concatenate([x, u]) - law_matrix(matrices) @ np.concatenate([x, z])
    moved = np.linalg.lstsq(np.eye(len(loop.base)) - loop.matrix(matrices), loop.left @ injected, rcond=1e-12)[0]
    return np.asarray(loop.plant.H @ moved[: len(loop.plant.F)])
