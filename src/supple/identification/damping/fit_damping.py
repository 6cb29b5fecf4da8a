"""Fit of damping to measured responses, with the stiffnesses and masses of the mechanism unchanged.

    J_Q = Σ|H - H_m|² / Σ|H_m|² least                                                        [Rognant 2010, eq. 34]

over all lines of a band, all responses and postures, d ≥ 0, with exact derivatives. First a loss factor η₀ of the whole
mechanism is fitted. Parameters that the data do not determine stay equivalent to it, and are reported.
(updating, eqs. 34-37)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.identification.damping.damped_responses import DampedPosture, slim
from supple.identification.damping.damping_kind import DampingKind, DampingNumber, TestedSystem
from supple.identification.damping.damping_kinds import DAMPING_KINDS, STRUCTURAL
from supple.identification.damping.fitted_damping import DampingMisfit, FittedDamping, FittedKind, damped_postures
from supple.identification.damping.loss_factors import require_groups
from supple.identification.updating.identifiability import identifiability
from supple.identification.updating.least_squares import response_noise
from supple.identification.updating.measurement import Measurement

Progress = Callable[[str], None]

_BAND = 3.0  # of the highest line: frequency band of the condensed bodies
_FIRST = 0.02  # first guess of η
_KNOWN = 1.0  # of η₀: prior standard deviation of the parameters
_NOTHING = 1e-6  # of η₀: smaller values are at the bound
_ROUNDS = 3  # of noise estimated from the residuals
_NO_GROUPS: Mapping[str, Sequence[str]] = {}


def fit_damping(
    mechanism: Mechanism | str | Path,
    measured: Measurement | Sequence[Measurement],
    kinds: str | Sequence[str] = "structural",
    *,
    groups: Mapping[str, Sequence[str]] = _NO_GROUPS,
    progress: Progress | None = None,
) -> FittedDamping:
    """Fit damping to measured responses, with locked actuators and unchanged stiffnesses and masses.

    Find the stiffnesses and masses first, with `update`. The result replaces the damping of the same kind in the
    mechanism; all its other damping acts as well.

    Parameters
    ----------
    mechanism : Mechanism, str or Path
        Mechanism, or its file.
    measured : Measurement or sequence of Measurement
        Measurements; those with responses are used.
    kinds : str or sequence of str, optional
        Damping model: structural, rayleigh, modal, joints, materials, or several of them. Only one of the first three,
        which damp the whole mechanism, can be fitted; joints and materials can be added. Default: "structural".
    groups : mapping of str to sequence of str, optional
        Joints or materials that share one loss factor: {name: patterns}.
    progress : callable, optional
        Function that is called with a line of text for every step.

    Returns
    -------
    FittedDamping
        Damping values with their intervals, and the misfit of each measurement.

    Raises
    ------
    InputError
        If no measurement has responses, or if two kinds damp the whole mechanism.

    See Also
    --------
    update : Fit stiffnesses and masses.

    Notes
    -----
    Minimizes the misfit J_Q = Σ|H - H_m|² / Σ|H_m|² over all lines, responses and postures with d ≥ 0 [Rognant 2010,
    eq. 34]; see equations 34-37 of docs/theory/updating.md.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("ralf")
    >>> test = supple.virtual_test(arm, "home", "tip.-z", ["tip", "link1[0.5]"], sampling_hz=256.0, noise=0.01)
    >>> measured = supple.Measurement(at="home", responses=test.responses, band=(3.0, 100.0))
    >>> found = supple.fit_damping(arm, measured, "modal")
    >>> round(found["damping.60Hz"], 3)
    0.01
    """
    require_arguments(fit_damping, locals())
    from supple.formats.document import load_mechanism

    machine = mechanism if isinstance(mechanism, Mechanism) else load_mechanism(mechanism)
    items = [measured] if isinstance(measured, Measurement) else list(measured)
    items = [item for item in items if item.responses is not None]
    if not items:
        raise InputError("no measurement has responses", part="damping", hint="give a Measurement with responses")
    chosen = damping_kinds(kinds)
    bare = machine
    for kind in chosen:
        bare = kind.without(bare, ())
    report = progress or (lambda text: None)
    fit = _Fit(bare, items)
    eta = fit.whole()
    report(f"loss factor of the whole mechanism: {eta:.3g}")
    found = [FittedKind(kind, kind.numbers(fit.tested_system(machine, groups))) for kind in chosen]
    require_groups(groups, [number for item in found for number in item.numbers])
    start = np.concatenate([[item.kind.like(eta, fit.middle, k) for k in range(len(item.numbers))] for item in found])
    postures = fit.with_terms(found)
    d, noise, before = (
        start,
        np.inf,
        [one.observer.misfit(one.compute_responses(start, slopes=False)[0]) for one in postures],
    )
    for turn in range(_ROUNDS):
        left = [one.compute_responses(d, slopes=False)[0] - one.observer.measured.H for one in postures]
        last, noise = noise, float(np.sqrt(np.mean(np.concatenate([np.abs(part.ravel()) ** 2 for part in left])) / 2.0))
        noise = max(noise, 1e-9 * max(np.abs(one.observer.measured.H).max() for one in postures))
        d = _least(postures, d, start, noise)
        report(f"damping, round {turn + 1}: {len(d)} parameters")
        if abs(noise / last - 1.0) < 0.01:
            break
    d = np.where(d < _NOTHING * start, 0.0, d)
    _, J = _residuals(postures, d, noise)
    scale = _KNOWN * np.maximum(start, 1e-12)
    names = tuple(number.name for item in found for number in item.numbers)
    return FittedDamping(
        mechanism=machine, kinds=tuple(found), names=names, values=d, whole=eta,
        covariance=_covariance(postures, d, noise, scale), start=start,
        identifiability=identifiability(names, J, scale),
        postures=tuple(_misfit(one, item, d, old) for one, item, old in zip(postures, items, before, strict=True)),
        measured=tuple(items),
    )  # fmt: skip


def damping_kinds(given: str | Sequence[str]) -> list[DampingKind]:
    """Return the damping kinds by name, such as `joints,materials`, with at most one model of the whole mechanism."""
    names = [name.strip() for item in ([given] if isinstance(given, str) else given) for name in item.split(",")]
    chosen = [DAMPING_KINDS[name] for name in dict.fromkeys(names)]
    if not chosen:
        raise InputError("no damping model is given", part="damping", hint=f"give one of {', '.join(DAMPING_KINDS)}")
    models = [kind.name for kind in chosen if kind.law]
    if len(models) > 1:
        raise InputError(
            f"{' and '.join(models)} are both models of the whole mechanism", part="damping", hint="choose one"
        )
    return chosen


class _Fit:
    """Postures of a mechanism without the damping that is fitted."""

    def __init__(self, mechanism: Mechanism, items: Sequence[Measurement]):
        highest = _BAND * max(item.highest_hz for item in items)
        self.postures = damped_postures(mechanism, items, highest, [item.band for item in items])
        lines = np.concatenate([one.observer.measured.frequencies_hz for one in self.postures])
        self.band = float(lines.min()), float(lines.max())
        self.middle = 2.0 * np.pi * float(np.median(lines))

    def whole(self) -> float:
        """Return η₀ in addition to the given damping."""
        number = (DampingNumber("damping.eta"),)
        one = self.with_terms([FittedKind(STRUCTURAL, number)])
        size = float(np.sqrt(np.mean([np.mean(np.abs(item.observer.measured.H) ** 2) for item in one])))
        return max(float(_least(one, np.array([_FIRST]), np.array([np.inf]), size)[0]), 1e-4)

    def tested_system(self, mechanism: Mechanism, groups: Mapping[str, Sequence[str]]) -> TestedSystem:
        """Return the system under test; mechanism : as loaded, which knows the copies of parts."""
        return TestedSystem(mechanism, [one.spectrum for one in self.postures], self.band, groups)

    def with_terms(self, kinds: Sequence[FittedKind]) -> list[DampedPosture]:
        """Return the postures with the matrices of these kinds."""
        each = [(item.kind, item.numbers, k) for item in kinds for k in range(len(item.numbers))]
        hysteretic = tuple(kind.hysteretic for kind, _, _ in each)
        return [
            replace(
                one, terms=tuple(slim(kind.over(one.spectrum, numbers, k)) for kind, numbers, k in each),
                hysteretic=hysteretic,
            )
            for one in self.postures
        ]  # fmt: skip


def _residuals(postures: Sequence[DampedPosture], d: Array, noise: float) -> tuple[Array, Array]:
    """Return residuals (n,) over noise and their slopes (n, k)."""
    r, J = [], []
    for one in postures:
        H, dH = one.compute_responses(d)
        off, along_d = ((H - one.observer.measured.H) / noise).ravel(), (dH / noise).reshape(len(d), -1).T
        r += [off.real, off.imag]
        J += [along_d.real, along_d.imag]
    return np.concatenate(r), np.vstack(J)


def _least(postures: Sequence[DampedPosture], d: Array, known: Array, noise: float) -> Array:
    """Solve the least-squares problem with d ≥ 0, scaled by its start; `known` : prior values of the parameters."""
    scale = np.maximum(np.where(np.isfinite(known), known, d), 1e-12)
    rows = np.diag(np.where(np.isfinite(known), 1.0 / _KNOWN, 0.0))
    last: dict[bytes, tuple[Array, Array]] = {}

    def at(x: Array) -> tuple[Array, Array]:
        key = x.tobytes()
        if key not in last:
            last.clear()
            r, J = _residuals(postures, x * scale, noise)
            last[key] = np.concatenate([r, rows @ (x - 1.0)]), np.vstack([J * scale, rows])
        return last[key]

    solved = least_squares(
        lambda x: at(x)[0], np.maximum(d / scale, 1e-6), jac=lambda x: at(x)[1], bounds=(0.0, np.inf), ftol=1e-8,
        xtol=1e-7, gtol=None, max_nfev=40,
    )  # fmt: skip
    return np.asarray(solved.x * scale)


def _covariance(postures: Sequence[DampedPosture], d: Array, noise: float, scale: Array) -> Array:
    """Return the covariance A B A of the values (updating, eq. 37).

    A = (JᵀJ + σ₀⁻²)⁻¹, B = σ₀⁻² + ½ Re JᴴCJ, C the most likely noise of the residuals. The noise is that of each
    channel, and that of the force, which all channels of a line share: C = w (diag a + b HHᴴ).
    """
    prior = np.diag(1.0 / scale**2)
    whole, B = prior.copy(), prior.copy()
    for one in postures:
        H, dH = one.compute_responses(d)
        J = dH / noise  # (k, L, o, i)
        found = response_noise(one.observer.measured, H, len(d))
        whole += np.einsum("kloi,mloi->km", J.conj(), J, optimize=True).real
        own = np.einsum("kloi,mloi->km", J.conj(), found.channels * found.lines * J, optimize=True)
        force = np.sum(J.conj() * H, axis=2)  # (k, L, i)
        own = own + np.einsum("kli,mli->km", force, (found.force * found.lines)[:, 0] * force.conj(), optimize=True)
        B += 0.5 * own.real / noise**2
    A = np.linalg.pinv(whole, hermitian=True)
    return np.asarray(A @ B @ A, np.float64)


def _misfit(one: DampedPosture, item: Measurement, d: Array, before: float) -> DampingMisfit:
    H = one.compute_responses(d, slopes=False)[0]
    return DampingMisfit(
        item.label, before, one.observer.misfit(H), one.observer.misfit_by_response(H), one.observer.measured, H
    )
