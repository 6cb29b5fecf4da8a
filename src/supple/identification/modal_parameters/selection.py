"""Selection of the poles that are modes: the fewest that explain the responses.

The clusters of a stabilisation diagram are the start. They are refined together. A mode that explains no more than
noise would, or whose role another one takes, is removed. The residuals are then searched for modes that stronger ones
hid, until none is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Complex
from supple.identification.modal_parameters.maximum_likelihood import Refined, refine
from supple.identification.modal_parameters.modal_model import RESIDUALS, Band, Poles, synthesise_receptances
from supple.identification.modal_parameters.noise import ABOUT, local_excess
from supple.modal_analysis.mode_set import mac

Noise = Callable[[Complex, Complex, float], Array]
"""(residuals, fitted, fraction of the data that the parameters use) -> variance, all of receptances."""

_ROUNDS = 8
_SETTLED = 3  # final rounds of noise and fit
_COARSE = 12  # steps of a refinement before the last
_EVIDENT = 10.0  # difference of 2χ² that decides between two models: the odds are 150 to 1
_SLIGHT = 0.003  # damping ratio up to which |s| of structural damping is within 1e-5 of that of viscous damping
_ALIKE = 0.8  # MAC of shapes that may be one mode


class Selected(NamedTuple):
    """Selected modes.

    band : with the estimated noise; refined : poles; dropped : number of poles that explain nothing; rounds : of
    selection
    """

    band: Band
    refined: Refined
    dropped: int
    rounds: int


def select(band: Band, start: Poles, noise: Noise, *, largest_damping: float, moving: bool = True) -> Selected:
    """Add missing modes and remove unnecessary ones until nothing changes.

    noise  : function that estimates the noise after a fit
    moving : refine the poles; otherwise they keep the values of the estimator
    """
    dropped, rounds = 0, 0
    steps = _COARSE if moving else 0
    at = start
    refined = refine(band, at, iterations=steps)
    while True:
        band = _update_noise(band, refined, noise)
        before = len(refined.at.poles)
        refined = _prune(band, refine(band, refined.at, iterations=steps), steps, largest_damping)
        dropped += before - len(refined.at.poles)
        rounds += 1
        if rounds >= _ROUNDS or not moving:
            break
        fuller = _add_hidden(band, refined, steps, largest_damping)
        if fuller is None:
            break
        refined = fuller
    for _ in range(_SETTLED):
        band = _update_noise(band, refined, noise)
        refined = refine(band, refined.at, iterations=40 if moving else 0)
    last = _prune(band, refined, 40 if moving else 0, largest_damping)
    dropped += len(refined.at.poles) - len(last.at.poles)
    return Selected(band, last, dropped, rounds)


def select_damping_kind(
    viscous: Selected, window_rate: float, again: Callable[[float], Selected]
) -> tuple[Selected, bool | None]:
    """Return the modes with viscous or structural damping, whichever explains the lines better.

    With viscous damping, s* is a pole beside s; with structural damping, -s.

    again : function that selects modes with structural damping, for a given `mirror` of the band. It is called only if
    the
            poles, refined as structural ones, do not explain less.                                           [eq. 23]

    The second value is True for structural, False for viscous damping, and None (with viscous modes) if the lines do
    not determine it, or if the damping is so small that it makes no difference.
    """
    band, refined = viscous.band, viscous.refined
    s = refined.at.poles + window_rate
    if not (-s.real > _SLIGHT * np.abs(s)).any():
        return viscous, None
    other = refine(band._replace(mirror=2.0 * window_rate), refined.at)
    if _deviance(other) - _deviance(refined) > _EVIDENT * float(np.max(excess_at(band, refined))):
        return viscous, False
    structural = again(2.0 * window_rate)
    gained = _penalised_deviance(viscous) - _penalised_deviance(structural)
    if abs(gained) < _EVIDENT:
        return viscous, None
    return (structural, True) if gained > 0.0 else (viscous, False)


def _penalised_deviance(found: Selected) -> float:
    """Return -2 ln of the likelihood of all lines, with Schwarz's penalty for the modes."""
    band, refined = found.band, found.refined
    left = np.abs(band.H - _fitted_responses(band, refined)) ** 2
    return 2.0 * float(np.sum(np.log(band.variance) + left / band.variance)) + len(refined.at.poles) * price(band)


def price(band: Band) -> float:
    """Return the deviance that a mode must explain to be accepted: (2 No + 2 Ni) ln(2n), n complex numbers (eq. 15).

    This is Schwarz's criterion; noise alone would explain about 2 No + 2 Ni.
    """
    _, No, Ni = band.H.shape
    return float((2 * No + 2 * Ni) * np.log(2.0 * band.H.size))


def excess_at(band: Band, refined: Refined) -> Array:
    """Return the ratio (R,) of residuals to noise around each mode.

    It is that of all channels, see `local_excess`, or that along the mode's shape, whichever is larger. Noise of a
    force acts on all responses to it simultaneously: such errors add up along a shape as modes do.
    """
    left = band.H - _fitted_responses(band, refined)
    of_all = np.interp(refined.at.poles.imag, band.omega, local_excess(left, band.variance))
    return np.maximum(of_all, _excess_along(band, refined, left))


def _excess_along(band: Band, refined: Refined, left: Complex) -> Array:
    """Return the ratio (R,) for a_k = ŵᴴ e_k, e the whitened residuals around a mode, ŵ its whitened unit residues."""
    found = np.ones(len(refined.at.poles))
    for r, s in enumerate(refined.at.poles):
        middle = int(np.abs(band.omega - s.imag).argmin())
        near = slice(max(middle - ABOUT // 2, 0), middle + ABOUT // 2 + 1)
        white = left[near] / np.sqrt(band.variance[near])
        w = np.outer(refined.fit.shapes[r], refined.at.participation[r]) / np.sqrt(band.variance[middle])
        a = np.einsum("koi,oi->k", white, w.conj()) / max(float(np.linalg.norm(w)), 1e-300)
        power = float(np.mean(np.abs(a) ** 2))
        chance = 3.0 / np.sqrt(len(a))
        rho = float(np.clip(np.sum((a[1:] * a[:-1].conj()).real) / max(np.sum(np.abs(a) ** 2), 1e-300), 0.0, 0.9))
        if power > 1.0 + chance:
            found[r] = power * ((1.0 + rho) / (1.0 - rho) if rho > chance else 1.0)
    return found


def significance(band: Band, refined: Refined) -> Array:
    """Return the deviance (R,) that each mode explains: 2 Σ_o x_rᵀ C_r⁻¹ x_r.

    The other shapes are refitted without the mode. The deviance is reduced where residuals exceed the noise, see
    `local_excess`, and limited to what the mode explains without its strongest line: a single line is a disturbance,
    such as mains hum.
    """
    near = excess_at(band, refined)
    fit = refined.fit
    R = len(refined.at.poles)
    found = np.zeros(R)
    for r in range(R):
        part = slice(2 * r, 2 * r + 2)
        x = fit.x[:, part]
        found[r] = 2.0 * float(np.einsum("op,opq,oq->", x, np.linalg.inv(fit.inverse[:, part, part]), x))
    return np.asarray(np.minimum(found, _beside_strongest(band, refined)) / near)


def visible_share(band: Band, refined: Refined) -> Array:
    """Return the fraction (R,) of |H|² around each resonance that is due to the mode, in its best pair of channels.

    The range is two half bandwidths and one line to either side.
    """
    at, shapes = refined.at, refined.fit.shapes
    step = float(np.median(np.diff(band.omega)))
    found = np.zeros(len(at.poles))
    for r, s in enumerate(at.poles):
        near = np.abs(band.omega - s.imag) <= max(-2.0 * s.real, 1.5 * step)
        if near.any():
            own = (
                np.sum(np.abs(1.0 / (1j * band.omega[near] - s)) ** 2)
                * np.abs(np.outer(shapes[r], at.participation[r])) ** 2
            )
            found[r] = np.max(own / np.maximum(np.sum(np.abs(band.H[near]) ** 2, axis=0), np.finfo(float).tiny))
    return found


def _beside_strongest(band: Band, refined: Refined) -> Array:
    """Return 2 Σ |ψ_o l_i g_k|² / v_oik (R,) without the line at which it is largest."""
    residues = np.abs(refined.fit.shapes[:, :, None] * refined.at.participation[:, None, :]) ** 2
    R = len(residues)
    weight = (1.0 / band.variance).reshape(len(band.omega), -1) @ residues.reshape(R, -1).T  # (N, R)
    lines = 2.0 * weight * np.abs(1.0 / (1j * band.omega[:, None] - refined.at.poles)) ** 2
    return np.asarray(lines.sum(axis=0) - lines.max(axis=0, initial=0.0))


def _add_hidden(band: Band, refined: Refined, steps: int, largest_damping: float) -> Refined | None:
    """Return the fit with modes hidden in the residuals, several or the clearest one; None if none is found."""
    left = band._replace(H=band.H - _fitted_responses(band, refined))
    excess = local_excess(left.H, band.variance)
    found = hidden_modes(left, excess, 0.5 * price(band), largest_damping)
    for count in sorted({len(found.poles), min(len(found.poles), 1)} - {0}, reverse=True):
        both = Poles(
            np.r_[refined.at.poles, found.poles[:count]], np.r_[refined.at.participation, found.participation[:count]]
        )
        tried = _prune(band, refine(band, both, iterations=steps), steps, largest_damping)
        if len(tried.at.poles) > len(refined.at.poles) and _deviance(tried) < _deviance(refined):
            return tried
    return None


def _deviance(refined: Refined) -> float:
    return 2.0 * refined.fit.misfit


def _fitted_responses(band: Band, refined: Refined) -> Complex:
    fit = refined.fit
    return synthesise_receptances(band.omega, refined.at, fit.shapes, fit.lower, fit.upper, band.mirror)


def _update_noise(band: Band, refined: Refined, noise: Noise) -> Band:
    fitted = _fitted_responses(band, refined)
    _, No, Ni = band.H.shape
    R = len(refined.at.poles)
    unknowns = 2 * R * (No + Ni) + RESIDUALS * No * Ni
    return band._replace(variance=noise(band.H - fitted, fitted, unknowns / (2.0 * band.H.size)))


def _prune(band: Band, refined: Refined, steps: int, largest_damping: float) -> Refined:
    """Remove modes that explain too little, the weakest first, and those whose role another one takes."""
    least = price(band)
    while len(refined.at.poles):
        s = refined.at.poles
        explained = significance(band, refined)
        weak = (explained < least) | (-s.real > 1.5 * largest_damping * np.abs(s)) | (s.imag <= 0.0)
        if weak.any():
            kept = np.ones(len(s), dtype=bool)
            worst = np.argsort(np.where(weak, explained, np.inf))[: max(int(weak.sum()) // 2, 1)]
            kept[worst] = False
            refined = refine(band, refined.at.where(kept), iterations=steps)
            continue
        merged = _merge_alike(band, refined, explained, steps, least)
        if merged is None:
            return refined
        refined = merged
    return refined


def _merge_alike(band: Band, refined: Refined, explained: Array, steps: int, least: float) -> Refined | None:
    """Return the fit without one of two close and similar poles if the other explains as much alone, else None."""
    s, shapes = refined.at.poles, refined.fit.shapes
    likeness = mac(shapes, shapes) * mac(refined.at.participation, refined.at.participation)
    step = float(np.median(np.diff(band.omega)))
    near = np.abs(s[:, None] - s) < np.add.outer(-s.real, -s.real) + step
    for i, j in np.argwhere(np.triu(near & (likeness > _ALIKE), 1)):
        weaker = i if explained[i] < explained[j] else j
        without = refine(band, refined.at.where(np.arange(len(s)) != weaker), iterations=max(steps, 1))
        if abs(s[i] - s[j]) < step:
            return without  # the lines cannot separate them: what two explain better is an error of the model
        nearest = int(np.abs(without.at.poles - s[weaker]).argmin())  # the one that stands for both
        excess = float(excess_at(band, without)[nearest])
        if _deviance(without) - _deviance(refined) < least * excess:
            return without
    return None


# Modes hidden in the residuals of a fit, which are correlated with one trial resonance after the other.
#
# A mode that is weak on every line is no outlier on any, and an estimator with polynomials does not find it. In a sum
# over the lines with the shape of a resonance, over all channels, it stands out.


_RATIOS = (0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128)
_PER_WIDTH = 1.0  # trial poles per half bandwidth
_AT_ONCE = 64  # trial poles
_REACH = 20.0  # half bandwidths, or lines, around a pole that its resonance covers
_FEWEST = 0.5  # of the step of the lines: closer trial poles are equivalent


def hidden_modes(band: Band, excess: Array, least: float, largest_damping: float, most: int = 4) -> Poles:
    """Return poles at which a mode would explain more than `least` of the residual deviance, the best first.

    y_oi = Σ_k g*_k e_oik / v_oik / √(Σ_k |g_k|² / v_oik),   g = 1/(iω - s)                                   [eq. 16]

    excess : (N,) ratio of residuals to noise around each line, see `local_excess`

    A mode gives y rank one: 2 σ₁(y)² is what it explains; for noise alone σ₁² is about (√No + √Ni)². The first right
    singular vector is its participation.
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
            part = _lines_around(band.omega, s, step)
            g = 1.0 / (1j * band.omega[part, None] - s)
            y = (g.conj().T @ weighted[part]) / np.sqrt((np.abs(g.T) ** 2) @ flat[part])
            _, size, right = np.linalg.svd(y.reshape(-1, No, Ni), full_matrices=False)
            explained = 2.0 * size[:, 0] ** 2 / np.interp(s.imag, band.omega, excess)
            # y ≈ σ₁ u vᴴ is ψ lᵀ, so that l is the conjugate of v, which is what svd returns.
            tried.append((explained, s, right[:, 0]))
        # Most trials meet no mode: what they explain is the level of noise that channels have in common.
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
    """Yield batches of poles of one damping ratio over the band, spaced by their half bandwidth or by half a line."""
    places = [float(omega[0])]
    while places[-1] < omega[-1]:
        places.append(places[-1] + max(ratio * places[-1] * _PER_WIDTH, _FEWEST * step))
    magnitude = np.array(places)
    s = magnitude * (-ratio + 1j * np.sqrt(1.0 - ratio**2))
    return (s[first : first + _AT_ONCE] for first in range(0, len(s), _AT_ONCE))


def _lines_around(omega: Array, s: Complex, step: float) -> slice:
    """Return the lines that these resonances cover."""
    reach = _REACH * max(float(np.max(-s.real)), step)
    return slice(
        int(np.searchsorted(omega, s.imag.min() - reach)), int(np.searchsorted(omega, s.imag.max() + reach)) or 1
    )
