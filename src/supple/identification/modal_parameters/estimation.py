"""Modal parameters of measured responses: from the lines of a band to modes with standard deviations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, NumericalError, SuppleWarning, require_known
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import excerpt
from supple.diagnostics.limits import require_memory
from supple.identification.modal_parameters.modal_model import Band, Poles
from supple.identification.modal_parameters.modal_parameters import ModalParameters, derivatives, rotate_to_real
from supple.identification.modal_parameters.noise import after_fit, from_coherence, from_neighbours
from supple.identification.modal_parameters.selection import (
    Selected,
    excess_at,
    select,
    select_damping_kind,
    visible_share,
)
from supple.identification.modal_parameters.stabilisation import Criteria, RawPoles, Stabilisation, label_poles
from supple.results.responses import Responses
from supple.results.text import list_names

# Polyreference time domain: poles of a matrix polynomial that impulse responses satisfy (Vold et al. 1982).
#
# The band is transformed to time with a window that decreases smoothly to zero at its ends. The samples h_j of an
# output (1, Ni) are then sums of ψ_r z_r^j l_rᵀ, except for the first few and the second half.


_TAPER = 0.1  # of the band at each end, over which the window falls to zero
_SKIPPED = 8  # first samples, which contain the ends of the band
_EVEN = 1e-6  # of the step between lines
_RIDGE = 1e-13


def impulse_poles(band: Band, orders: Iterable[int]) -> Iterator[RawPoles]:
    """Yield the poles of polynomials of increasing orders m, m Ni of each.

    Σ_q h_{j+q} A_q = 0 for all outputs and j,  A_0 = I,  q = 0 ... m                                        [eq. 8]

    in least squares; a mode is a left null vector, l_rᵀ A(z_r) = 0. With A_0 = I the earlier sample is predicted from
    later ones, and the roots that noise adds are outside the unit circle, as in `fraction_poles`.
    """
    rising = sorted(set(orders))
    h, step = impulse_responses(band)
    Ni = h.shape[2]
    rows = len(h) - rising[-1]
    if rows < 2:
        raise InputError(
            f"{len(band.omega)} lines give {len(h)} samples in time, too few for the order {rising[-1]}",
            part="modal_parameters", hint=f"use an order below {max(len(h) - 2, 1)}, or a wider band",
        )  # fmt: skip
    # (samples, outputs, (m + 1) Ni): one equation per row
    windows = np.lib.stride_tricks.sliding_window_view(h, rising[-1] + 1, axis=0)  # (rows, No, Ni, m + 1)
    Y = windows.transpose(0, 1, 3, 2).reshape(-1, (rising[-1] + 1) * Ni)
    G = Y.conj().T @ Y
    for m in rising:
        inner = G[Ni : (m + 1) * Ni, Ni : (m + 1) * Ni]
        ridge = _RIDGE * float(np.trace(inner).real) / len(inner)
        A = -np.linalg.solve(inner + ridge * np.eye(m * Ni), G[Ni : (m + 1) * Ni, :Ni])
        z, u = polynomial_roots(np.asarray(A.reshape(m, Ni, Ni)))
        turn = np.mod(np.angle(z), 2.0 * np.pi)
        s = (np.log(np.abs(z)) + 1j * turn) / step + 1j * band.omega[0]
        yield RawPoles(m, s, u)


def impulse_responses(band: Band) -> tuple[Complex, float]:
    """Return samples (J, No, Ni), each output over its noise, and their step, s.

    h_j = Σ_k W_k H(ω_k) exp(2πi j k / N),  step 2π / (N Δω)                                                  [eq. 9]
    """
    omega = band.omega
    N = len(omega)
    gaps = np.diff(omega)
    if np.ptp(gaps) > _EVEN * gaps.mean() * N:
        raise InputError(
            'method "ptd" requires evenly spaced lines', part="modal_parameters",
            hint='use method="plscf", or a band of evenly spaced lines',
        )  # fmt: skip
    level = np.log(band.variance).mean(axis=(1, 2))
    slope = float(np.polyfit(np.log(omega), level, 1)[0]) if N > 2 else 0.0
    # A power of ω levels the noise, moves no pole, and is so smooth that it affects only the first samples.
    window = _taper(N) * (omega / omega[-1]) ** (-0.5 * slope)
    noise = np.sqrt(np.median(band.variance, axis=(0, 2)) + np.finfo(float).tiny)
    h = np.fft.ifft(window[:, None, None] * band.H / noise[None, :, None], axis=0)
    return h[_SKIPPED : max(N // 2, _SKIPPED + 2)], float(2.0 * np.pi / (N * gaps.mean()))


def _taper(N: int) -> Array:
    """Return a window that is 1 in the middle and falls as a cosine at both ends."""
    edge = np.minimum(np.arange(N), np.arange(N)[::-1]) / max(_TAPER * N, 1.0)
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * np.minimum(edge, 1.0)))


# Polyreference least-squares complex frequency: poles of a right matrix fraction fitted to responses.
#
# H_o(ω) ≈ B_o(z) A(z)⁻¹ for each output o, with z = exp(i (ω - ω_1) T); multiplied by A the error is linear in the
# coefficients, and those of B_o are eliminated output by output (Guillaume et al. 2003; Peeters et al. 2004).


_TOGETHER = 256  # outputs at a time


def fraction_poles(band: Band, orders: Iterable[int]) -> Iterator[RawPoles]:
    """Yield the poles of the matrix fractions of increasing orders m, m Ni of each.

    J = Σ_o Σ_k w_ok² ‖H_o(ω_k) A(z_k) - B_o(z_k)‖²,   A_0 = I                                                [eq. 4]

    With A_0 fixed (not A_m) the noise adds roots outside the unit circle, which decay backwards in time: those with Re
    s < 0 belong, with few exceptions, to the structure (Cauberghe et al. 2005).
    """
    rising = sorted(set(orders))
    sums = _Sums(band, rising[-1])
    for m in rising:
        A = _denominator(sums.normal_matrix(m), m, band.H.shape[2])
        z, u = polynomial_roots(A)
        yield RawPoles(m, band.continuous(z), u)


class _Sums:
    """Sums over the lines for the normal equations of every order; all of them are Toeplitz."""

    def __init__(self, band: Band, highest: int):
        N, No, Ni = band.H.shape
        powers = np.exp(1j * np.outer(np.arange(-highest, highest + 1), band.angles))  # (2m + 1, N)
        weight = 1.0 / band.variance.mean(axis=2)  # (N, No): a row of H has one weight
        self.highest = highest
        self.R = powers @ weight  # Σ w² z^(s - r)
        self.S = (powers @ (weight[:, :, None] * band.H).reshape(N, -1)).reshape(-1, No, Ni)
        squares = np.einsum("ko,koi,koj->kij", weight, band.H.conj(), band.H, optimize=True)
        self.T = (powers @ squares.reshape(N, -1)).reshape(-1, Ni, Ni)

    def normal_matrix(self, m: int) -> Complex:
        """Return M = Σ_o (T_o - S_oᴴ R_o⁻¹ S_o), ((m + 1) Ni)² (eq. 6)."""
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
    """Return A_1 ... A_m (m, Ni, Ni) that minimize M (A_0; A_1; ...) with A_0 = I."""
    size = np.sqrt(np.maximum(np.diag(M).real, np.finfo(float).tiny))
    scaled = M / np.outer(size, size)
    inner = scaled[Ni:, Ni:] + _RIDGE * np.eye(m * Ni)
    found = -np.linalg.solve(inner, scaled[Ni:, :Ni]) * size[:Ni] / size[Ni:, None]
    return np.asarray(found.reshape(m, Ni, Ni))


Estimator = Callable[[Band, Iterable[int]], Iterator[RawPoles]]
METHODS: dict[str, Estimator] = {"plscf": fraction_poles, "ptd": impulse_poles}
"""Polyreference least-squares complex frequency, and polyreference time domain."""

_POLES = 96  # of the highest order, shared by the references
_ORDERS = (16, 60)  # bounds of the default highest order
_FIRST = 4
_FEWEST_LINES = 16
_FASTEST, _SLOWEST = 1e12, 1e-9  # Hz of the last line, and the first relative to it
_SIZES = 1e-80, 1e80  # SI, of responses: their squares are finite
_FLAT = 1e-12  # of the largest: a smaller change is constant
_SEEN = 0.01  # of a frequency: a mode closer than this to a cluster of the diagram belongs to it
_VISIBLE = 0.02  # of the energy around a resonance: a smaller mode outside the diagram corrects a stronger one
_UNDETERMINED = 0.3  # deviation of a damping ratio over the ratio: a larger one is undetermined


def modal_parameters(
    responses: Responses,
    *,
    band_hz: tuple[float, float] | None = None,
    method: str = "plscf",
    order: int | None = None,
    refine: bool = True,
    criteria: Criteria | None = None,
) -> ModalParameters:
    """Identify the modes in a frequency band, with their standard deviations, without manual selection of poles.

    Parameters
    ----------
    responses : Responses
        Measured frequency responses.
    band_hz : (float, float), optional
        Frequency band, Hz, both ends included. Default: all lines above 0 Hz.
    method : {"plscf", "ptd"}, optional
        Estimation method: polyreference least-squares complex frequency, or polyreference time domain.
        Default: "plscf".
    order : int, optional
        Highest order of the matrix polynomial. It has as many poles as the order times the number of references.
        Default: 16 to 60, according to the number of lines and references.
    refine : bool, optional
        Refine the poles by maximum likelihood; otherwise the estimates of the method are returned. Default: True.
    criteria : Criteria, optional
        Criteria of the stabilisation diagram.

    Returns
    -------
    ModalParameters
        Poles, shapes and participation factors with their deviations.

    Raises
    ------
    InputError
        If fewer than 16 lines are given, or if responses are not finite.
    NumericalError
        If no pole is stable over the orders, or if no mode stands out of the noise.

    See Also
    --------
    pair_modes : Pair measured modes with those of a model.
    update : Fit parameters to the modes.

    Notes
    -----
    Stabilisation diagram, clustering and maximum likelihood: docs/theory/modal-parameters.md.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> test = supple.virtual_test(arm, "home", "tip.-z", ["tip", "link1[0.5]"], sampling_hz=256.0, noise=0.01)
    >>> modes = supple.modal_parameters(test.responses, band_hz=(20.0, 100.0))
    >>> modes.frequencies_hz.round(0)
    array([37., 60.])
    """
    require_arguments(modal_parameters, locals())
    given = criteria or Criteria()
    require_known("method", method, METHODS, part="modal_parameters")
    test, notes = _usable(responses, band_hz)
    try:
        with np.errstate(all="ignore"):  # results that are not finite are refused
            return _estimate(test, notes, method, order, refine, given)
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"no modes can be fitted to these responses ({excerpt(error)})", part="modal_parameters",
            hint="check the responses, omit faulty channels, or use another band",
        ) from None  # fmt: skip


def _estimate(
    test: Responses, notes: list[str], method: str, order: int | None, refine: bool, given: Criteria
) -> ModalParameters:
    omega = 2.0 * np.pi * test.frequencies_hz
    factor = derivatives(test, omega)[:, :, None]
    lines = _Lines(factor, test)
    band = Band(omega, test.H / factor, lines.first_guess() / np.abs(factor) ** 2)
    highest = _highest(order, band, method)
    diagram = label_poles(METHODS[method](band, range(min(_FIRST, highest), highest + 1)), omega, given)
    if not len(diagram.clusters.poles):
        raise NumericalError(
            f"no pole is stable over the orders up to {highest}",
            part="modal_parameters", hint="use a higher order, or a band in which the responses have peaks",
        )  # fmt: skip
    No, Ni = band.H.shape[1:]
    unknowns = 4 * len(diagram.clusters.poles) + 4
    require_memory(
        24.0 * No * Ni * unknowns**2, f"{len(diagram.clusters.poles)} modes of {No} x {Ni} responses take",
        part="modal_parameters", hint="select fewer channels",
    )  # fmt: skip
    found = select(band, diagram.clusters, lines.noise, largest_damping=given.largest_damping, moving=refine)
    structural: bool | None = None
    if refine:

        def again(mirror: float) -> Selected:
            as_structural = band._replace(mirror=mirror)
            return select(as_structural, diagram.clusters, lines.noise, largest_damping=given.largest_damping)

        found, structural = select_damping_kind(found, test.window_rate, again)
    if not len(found.refined.at.poles):
        raise NumericalError(
            "no mode stands out of the noise of these responses", part="modal_parameters",
            hint="check the responses; use another band, longer records or more averages",
        )  # fmt: skip
    if not (np.isfinite(found.refined.at.poles).all() and np.isfinite(found.refined.fit.x).all()):
        raise np.linalg.LinAlgError("the fit is not finite")
    return _result(test, found, diagram, factor, given, method, highest, refine, notes, structural)


class _Lines(NamedTuple):
    """Noise on the lines, in the unit of each response."""

    factor: Complex
    test: Responses

    def first_guess(self) -> Array:
        """Return the first estimate of the variance, from coherence or neighbouring lines."""
        if self.test.coherence is not None:
            return from_coherence(self.test.H, self.test.coherence, self.test.averages)
        return from_neighbours(self.test.H)

    def noise(self, left: Complex, fitted: Complex, used: float) -> Array:
        """Return the variance of receptances from the residuals of a fit."""
        coherent = None
        if self.test.coherence is not None:
            coherent = from_coherence(self.test.H, self.test.coherence, self.test.averages)
        known = after_fit(left * self.factor, fitted * self.factor, used, coherent)
        return np.asarray(known / np.abs(self.factor) ** 2)


def _usable(responses: Responses, band_hz: tuple[float, float] | None) -> tuple[Responses, list[str]]:
    """Return the lines of the band above zero and notes on omissions; refuse responses that cannot be fitted."""
    test, notes = responses, []
    if band_hz is not None:
        if not 0.0 <= band_hz[0] < band_hz[1]:
            raise InputError(
                f"must be two increasing frequencies, not negative (got {band_hz[0]:g}, {band_hz[1]:g} Hz)",
                part="band", hint="give the lower limit first",
            )  # fmt: skip
        test = test.select(band_hz=band_hz)
    if len(test.frequencies_hz) and test.frequencies_hz[0] == 0.0:
        test = test.select(lines=np.arange(1, len(test.frequencies_hz)))
    if len(test.frequencies_hz) < _FEWEST_LINES:
        raise InputError(
            f"at least {_FEWEST_LINES} lines are needed (got {len(test.frequencies_hz)})",
            part="modal_parameters", hint="use a wider band, or longer records",
        )  # fmt: skip
    if not test.responses or not test.references:
        raise InputError("no responses or no references are given", part="modal_parameters", hint="give both")
    _require_frequencies(test)
    bad = [
        f"{a.name} from {b.name}"
        for o, a in enumerate(test.responses)
        for i, b in enumerate(test.references)
        if not np.isfinite(test.H[:, o, i]).all()
        or (test.coherence is not None and not np.isfinite(test.coherence[:, o, i]).all())
    ]
    if bad:
        raise InputError(
            f"values of {list_names(bad)} are not finite", part="modal_parameters",
            hint="omit these channels or lines: responses.select(...)",
        )  # fmt: skip
    dead = [one.name for o, one in enumerate(test.responses) if not np.any(test.H[:, o])]
    dead += [one.name for i, one in enumerate(test.references) if not np.any(test.H[:, :, i])]
    if dead:
        raise InputError(
            f"all lines are zero for {list_names(dead)}", part="modal_parameters",
            hint="omit dead channels: responses.select(...)",
        )  # fmt: skip
    largest = np.abs(test.H).max(axis=0)
    for o, i in np.argwhere((largest > _SIZES[1]) | ((largest < _SIZES[0]) & (largest > 0.0))):
        raise InputError(
            f"values of {test.responses[o].name} from {test.references[i].name} reach {largest[o, i]:.3g} (allowed are "
            f"{_SIZES[0]:g} to {_SIZES[1]:g})", part="modal_parameters",
            hint="check the unit and the lines of this channel, or omit it: responses.select(...)",
        )  # fmt: skip
    # A constant has neither a resonance nor noise.
    level = test.H - test.H[:1]
    flat = (np.abs(level.real) + np.abs(level.imag)).max(axis=0) <= _FLAT * largest
    still = [one.name for o, one in enumerate(test.responses) if flat[o].all()]
    still += [one.name for i, one in enumerate(test.references) if flat[:, i].all() and not flat.all()]
    if still:
        raise InputError(
            f"all {len(test.H)} lines have the same value for {list_names(still)}", part="modal_parameters",
            hint="omit dead channels: responses.select(...)",
        )  # fmt: skip
    unknown = [one.name for one in test.responses if one.order is None]
    if unknown:
        notes.append(f"{list_names(unknown)}: treated as proportional to displacement")
    return test, notes


def _require_frequencies(test: Responses) -> None:
    hertz = test.frequencies_hz
    if not np.isfinite(hertz).all() or hertz[-1] > _FASTEST or hertz[0] < _SLOWEST * hertz[-1]:
        raise InputError(
            f"lines from {hertz[0]:g} to {hertz[-1]:g} Hz are outside the allowed range", part="frequencies_hz",
            hint=f"give lines up to {_FASTEST:g} Hz, the first at least {_SLOWEST:g} of the last, or a band",
        )  # fmt: skip
    if not 0.0 <= test.window_rate < np.inf:
        raise InputError(
            f"must not be negative (got {test.window_rate:g} 1/s)", part="window_rate",
            hint="give σ of the exponential window exp(-σt), or 0",
        )  # fmt: skip


def _highest(order: int | None, band: Band, method: str) -> int:
    """Return the highest order: the requested one if the lines allow it, or the default."""
    N, No, Ni = band.H.shape
    # Unknowns (m + 1) Ni² of A and (m + 1) Ni of each B_o, complex like the N Ni No values; the other method has half
    # of a band's samples in time.
    most = N * No // (2 * (No + Ni)) if method == "plscf" else max(N // 4 - 8, 1)
    if order is None:
        return max(min(max(-(-_POLES // Ni), _ORDERS[0]), _ORDERS[1], most), 2)
    if not 1 <= order <= most:
        raise InputError(
            f"order must be 1 to {most} for {N} lines of {No} x {Ni} responses (got {order})",
            part="modal_parameters", hint="use a lower order, or a wider band",
        )  # fmt: skip
    return order


def _result(
    test: Responses,
    found: Selected,
    diagram: Stabilisation,
    factor: Complex,
    criteria: Criteria,
    method: str,
    highest: int,
    refined: bool,
    notes: list[str],
    structural: bool | None,
) -> ModalParameters:
    """Return the modes of the selected poles, with their deviations and notes."""
    fit, at, band = found.refined.fit, found.refined.at, found.band
    R = len(at.poles)
    # Where residuals exceed the noise, deviations are larger by the root of the ratio.
    excess = excess_at(band, found.refined)
    s = at.poles + test.window_rate
    f_dev, z_dev, correlation = _deviations(s, found.refined.covariance)
    f_dev, z_dev = f_dev * np.sqrt(excess), z_dev * np.sqrt(excess)
    zeta = -s.real / np.abs(s)
    inside = (s.imag >= band.omega[0]) & (s.imag <= band.omega[-1])
    clear = z_dev <= _UNDETERMINED * np.abs(-at.poles.real / np.abs(s))
    damped = zeta <= criteria.largest_damping
    seen = np.min(np.abs(at.poles[:, None] - diagram.clusters.poles), axis=1) <= _SEEN * np.abs(s)
    visible = visible_share(band, found.refined) >= _VISIBLE
    kept = inside & damped & (seen | (clear & visible))
    order = np.flatnonzero(kept)[np.argsort(np.abs(s[kept]))]
    others = np.flatnonzero(~kept)
    vague = [f"{abs(s[r]) / 2 / np.pi:.4g} Hz" for r in np.flatnonzero(kept & ~clear)]
    if vague:
        notes.append(f"the damping of the modes at {list_names(vague)} is not determined by these lines")
    if not found.refined.converged and refined:
        notes.append("the refinement did not converge: deviations are approximate")
    if (zeta[order] <= 0.0).any():
        warnings.warn(
            "the exponential window accounts for more than the total damping of a mode; check its rate",
            SuppleWarning, stacklevel=3,
        )  # fmt: skip
    shapes = rotate_to_real(fit.shapes)
    rows = np.arange(R)
    peak = np.abs(fit.shapes).argmax(axis=1) if R else rows
    ratio = fit.shapes[rows, peak] / shapes[rows, peak]
    variances = found.refined.shape_variance[:, : 2 * R]  # (No, 2R)
    deviations = (
        np.sqrt(0.5 * (variances[:, 0::2] + variances[:, 1::2])).T * np.sqrt(excess)[:, None] / np.abs(ratio)[:, None]
    )
    beside = None
    if len(others):
        beside = Poles(at.poles[others], at.participation[others]), fit.shapes[others]
    modes = ModalParameters(
        poles=s[order], shapes=shapes[order], participation=(at.participation * ratio[:, None])[order],
        frequency_deviations_hz=f_dev[order], damping_deviations=z_dev[order], correlation=correlation[order],
        shape_deviations=deviations[order], lower=fit.lower, upper=fit.upper, responses=test,
        noise=np.sqrt(band.variance) * np.abs(factor), stabilisation=diagram, method=method, order=highest,
        refined=refined, beside=beside, structural=structural, notes=(*test.notes, *notes),
    )  # fmt: skip
    if modes.residual_power > 1.0:
        raise InputError(
            f"the modes do not explain the responses: {modes.residual_power:.3g} times their power is unexplained "
            "(limit 1)",
            part="responses",
            hint="check the responses for outliers and their units; then use a narrower band or a lower order",
        )
    if not len(modes.missing_hz):
        return modes
    near = list_names([f"{f:.4g} Hz" for f in modes.missing_hz])
    note = (
        f"{modes.residual_power:.2%} of the responses' power is unexplained, and a mode near {near} may be missing; "
        "check the fit there; measure with more references, longer records or (slow decay) an exponential window"
    )
    return replace(modes, notes=(*modes.notes, note))


def _deviations(s: Complex, covariance: Array) -> tuple[Array, Array, Array]:
    """Return the deviations of frequencies (Hz) and damping ratios, and their correlation (eq. 19).

    They follow from the covariance of (Re s_1, Im s_1, ...) with f = |s|/2π, ζ = -Re s/|s|:
    ∂ζ/∂Re s = -Im² s/|s|³, ∂ζ/∂Im s = Re s Im s/|s|³
    """
    size = np.abs(s)
    by_f = np.stack([s.real, s.imag], axis=1) / (2.0 * np.pi * size)[:, None]
    by_z = np.stack([-(s.imag**2), s.real * s.imag], axis=1) / (size**3)[:, None]
    blocks = np.stack([covariance[2 * r : 2 * r + 2, 2 * r : 2 * r + 2] for r in range(len(s))]).reshape(-1, 2, 2)
    ff, zz, fz = (np.einsum("rp,rpq,rq->r", a, blocks, b) for a, b in ((by_f, by_f), (by_z, by_z), (by_f, by_z)))
    f_dev, z_dev = np.sqrt(np.maximum(ff, 0.0)), np.sqrt(np.maximum(zz, 0.0))
    return f_dev, z_dev, np.asarray(fz / np.maximum(f_dev * z_dev, np.finfo(float).tiny))


# Poles of a matrix polynomial: eigenvalues of its block companion matrix.


def polynomial_roots(A: Complex) -> tuple[Complex, Complex]:
    """Return the roots z (m n,) and unit left null vectors (m n, n) of A(z) = I + A_1 z + ... + A_m z^m.

    A : (m, n, n), A_1 ... A_m

    uᵀ A(z) = 0 with μ = 1/z is the eigenproblem of the companion matrix                                       [eq. 7]

        [-A_1ᵀ ... -A_mᵀ; I 0 ...; ...] (μ^{m-1} u, ..., u) = μ (μ^{m-1} u, ..., u)

    Roots at infinity (μ = 0) are far outside the unit circle and are not used.
    """
    m, n, _ = A.shape
    companion = np.zeros((m * n, m * n), dtype=np.complex128)
    companion[:n] = -A.transpose(2, 0, 1).reshape(n, m * n)
    companion[n:, :-n] = np.eye((m - 1) * n)
    mu, vectors = np.linalg.eig(companion)
    # Of the n-blocks of an eigenvector, in the ratio μ, the largest is the most accurate.
    blocks = vectors.reshape(m, n, m * n)
    u = np.where(np.abs(mu) > 1.0, blocks[0], blocks[-1]).T
    size = np.linalg.norm(u, axis=1)
    tiny = np.finfo(float).tiny
    z = 1.0 / np.where(np.abs(mu) > 1e-12, mu, 1e-12)
    return np.asarray(z), np.asarray(u / np.maximum(size, tiny)[:, None])
