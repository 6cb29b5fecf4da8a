"""Residuals of a model against measurements, over their noise, with exact derivatives with respect to ln p.

frequencies  r = ln(|s|/|s_m|)/σ    shapes  r = (1 - B B⁺)φ_m/σ, |r σ|² = 1 - MAC with the span B of a level
deflections  r = (y - y_m)/σ        antiresonances  r = ln(f_z/f_m)/σ, H(f_z) = 0          (updating, eqs. 10-14)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.identification.damping.damped_responses import described_damping
from supple.identification.modal_parameters.pairing import close_groups, subspace_mac
from supple.identification.updating.measurement import Measurement
from supple.identification.updating.posture_model import PostureModel, PostureModes
from supple.identification.updating.structure import Trial
from supple.results.channel import Channel, channel

_SPARE = 8  # modes beyond those that were measured
_CLOSE = 0.01  # of a frequency: closer modes are compared as a subspace, not one by one
_ZERO = 1e-3  # of ω²: resolution of the search for antiresonances


class ResidualsWithSlopes(NamedTuple):
    """Residuals (n,) and their slopes (n, k) with respect to ln p."""

    residuals: Array
    slopes: Array


@dataclass(frozen=True, eq=False)
class Observer:
    """Model and measurement of one posture; rows of its channels, forces and gauges are computed once."""

    model: PostureModel
    measured: Measurement
    _rows: dict[tuple[str, ...], Array] = field(default_factory=dict, repr=False)
    _channels: list[Array] = field(default_factory=list, repr=False)

    def rows(self, names: tuple[str, ...]) -> Array:
        """Return the rows of places or sensors, computed once."""
        if names not in self._rows:
            self._rows[names] = self.model.ports(names)
        return self._rows[names]

    def compare(self, trial: Trial) -> ResidualsWithSlopes:
        """Return the residuals of all measurements except responses."""
        parts = []
        if len(self.measured.frequencies_hz):
            parts.append(self._vibration(trial))
        if self.measured.deflections:
            parts.append(self._deflections(trial))
        if self.measured.antiresonances:
            parts.append(self._antiresonances(trial))
        k = len(trial.values)
        return ResidualsWithSlopes(
            np.concatenate([np.zeros(0), *(part.residuals for part in parts)]),
            np.vstack([np.zeros((0, k)), *(part.slopes for part in parts)]),
        )

    def spectrum(self, trial: Trial) -> PostureModes:
        """Return the modes for the comparison, with some spare ones."""
        return self.model.spectrum(trial, 2 * len(self.measured.frequencies_hz) + _SPARE)

    def pairs(self, spectrum: PostureModes) -> list[tuple[list[int], list[int]]]:
        """Return pairs of measured modes and modes of the model: one level each, or subspaces by shape."""
        measured, levels = np.asarray(self.measured.frequencies_hz, float), spectrum.levels
        match self.measured.active_pairing:
            case "order":
                found = np.minimum(np.arange(len(measured)), len(levels) - 1)
            case "closest":
                found = closest_in_order(measured, spectrum.level_hertz())
            case _:
                shapes = np.asarray(self.measured.shapes)
                return pair_subspaces(measured, shapes, spectrum.hertz, (self.channels() @ spectrum.psi).T, _CLOSE)
        return [([i], list(range(levels[j].start, levels[j].stop))) for i, j in enumerate(found)]

    def channels(self) -> Array:
        """Return the rows of the channels of shapes."""
        if not self._channels:
            given = [one if isinstance(one, Channel) else channel(one) for one in self.measured.channels]
            self._channels.append(self.model.channels(given))
        return self._channels[0]

    def paired_hz(self, spectrum: PostureModes) -> tuple[Array, Array | None]:
        """Return the model's frequency (k,) of each measured mode, and the similarity of shapes.

        Close modes are in ascending order. The similarity is cos² of the angle to the paired subspace, None without
        shapes.
        """
        hertz = np.empty(len(self.measured.frequencies_hz))
        alike = np.full(len(hertz), np.nan)
        model_hz = spectrum.hertz * self._coupling(spectrum)
        for measured, modes in self.pairs(spectrum):
            own = model_hz[modes]
            hertz[measured] = own if len(own) == len(measured) else np.sqrt(np.mean(own**2))
            if self.measured.shapes is not None:
                Q, _ = np.linalg.qr(self.channels() @ spectrum.psi[:, modes])
                alike[measured] = np.square(np.abs(_unit(np.asarray(self.measured.shapes)[measured]) @ Q)).sum(axis=1)
        return hertz * self.damping_factors, None if self.measured.shapes is None else alike

    @cached_property
    def damping_factors(self) -> Array:
        """Ratio |s|/ω (k,) of the measured modes from their damping ratios; 1 if frequencies are undamped."""
        share = self._share
        return magnitudes(self._ratios, 0.5 if share is None else share)

    @cached_property
    def sigma(self) -> Array:
        """Relative standard deviation (k,) of the frequencies.

        If neither test nor file defines the kind of damping, half of the difference between both kinds is added, √k
        times because the errors of all modes are correlated.
        """
        stated = self.measured.frequency_sigma
        if self._share is not None:
            return stated
        apart = 0.5 * np.log(magnitudes(self._ratios, 1.0))
        return np.asarray(np.hypot(stated, np.sqrt(len(apart)) * apart))

    @property
    def _share(self) -> float | None:
        """Fraction of structural damping, from the test or else from the file."""
        given = self.measured.structural
        return structural_share(self.model.structure.mechanism) if given is None else float(given)

    @property
    def _ratios(self) -> Array:
        given = np.asarray(self.measured.damping, float)
        return given if given.size else np.zeros(len(self.measured.frequencies_hz))

    def _coupling(self, spectrum: PostureModes) -> Array:
        """Return the factor (m,) of damping of parts on |s| of the model's modes, if damped poles were measured."""
        return coupling_magnitudes(spectrum) if len(self.measured.damping) else np.ones(len(spectrum.mu))

    def mac(self, spectrum: PostureModes) -> Array:
        """Return the MAC (measured, levels) of each measured shape with the best shape of each level."""
        channels = self.channels()
        shapes = _unit(np.asarray(self.measured.shapes))
        found = np.empty((len(shapes), len(spectrum.levels)))
        for j, level in enumerate(spectrum.levels):
            Q, _ = np.linalg.qr(channels @ spectrum.psi[:, level])
            found[:, j] = np.square(np.abs(shapes @ Q)).sum(axis=1)
        return found

    def _vibration(self, trial: Trial) -> ResidualsWithSlopes:
        """Return the residuals of frequencies and shapes.

        For close modes the mean of ln f is used, once for each measured mode, so that the number of residuals is
        constant.
        """
        spectrum, given = self.spectrum(trial), self.measured
        log_slopes, model_hz = spectrum.log_slopes(), spectrum.hertz * self._coupling(spectrum)
        measured, sigma = np.asarray(given.frequencies_hz, float) / self.damping_factors, self.sigma
        shape_sigma = given.shape_sigma
        k = len(measured)
        off, along = np.empty(k), np.empty((k, len(trial.values)))
        residuals, slopes = [off], [along]
        for group, modes in self.pairs(spectrum):
            noise = 1.0 / np.sqrt(np.mean(1.0 / np.square(sigma[group])))  # each with their common uncertainty
            mean = 0.5 * np.log(np.mean(np.square(model_hz[modes])))
            off[group] = (mean - np.log(measured[group]).mean()) / noise
            along[group] = _mean_slope(model_hz[modes], log_slopes[:, modes]) / noise
        if given.shapes is not None:
            shapes = _unit(np.asarray(given.shapes))
            for group, modes in self.pairs(spectrum):
                span = self._span(spectrum, modes)
                for i in group:
                    r, dr = _outside_subspace(span, shapes[i])
                    residuals.append(r / shape_sigma[i])
                    slopes.append(dr * trial.values / shape_sigma[i])
        return ResidualsWithSlopes(np.concatenate(residuals), np.vstack(slopes))

    def _span(self, spectrum: PostureModes, modes: list[int]) -> tuple[Array, Array]:
        """Return shapes (channels, q) of modes, and their slopes (k, channels, q)."""
        channels = self.channels()
        B = channels @ (spectrum.psi[:, modes] / np.sqrt(spectrum.mu[modes]))
        return B, channels @ spectrum.shape_slopes(modes)

    def compute_deflections(self, trial: Trial) -> tuple[Array, Array]:
        """Return the deflections (g,) of the gauges under the force, and their slopes (k, g)."""
        given = self.measured
        force = np.array(list(given.force.values())) @ self.rows(tuple(given.force))
        y, dy = self.model.deflections(trial, force[None], self.rows(tuple(given.deflections)))
        return y[0], dy[:, 0]

    def _deflections(self, trial: Trial) -> ResidualsWithSlopes:
        (y, dy), noise = self.compute_deflections(trial), self.measured.gauge_noise
        return ResidualsWithSlopes(
            (y - np.array(list(self.measured.deflections.values()))) / noise, dy.T * trial.values / noise
        )

    def _antiresonances(self, trial: Trial) -> ResidualsWithSlopes:
        residuals, slopes = [], []
        spectrum = self.model.spectrum(trial)
        model = spectrum.model.slopes(trial)
        for (output, source), measured in self.measured.antiresonances.items():
            g, f = (self.rows((name,))[0] for name in (output, source))
            a, b = g @ spectrum.psi, f @ spectrum.psi
            for hertz in measured:
                s = _nearest_zero(a * b, spectrum.mu, (2.0 * np.pi * hertz) ** 2)
                D = 1.0 - s * spectrum.mu
                left, right = spectrum.psi @ (a / D), spectrum.psi @ (b / D)
                along = float(np.sum(a * b * spectrum.mu / D**2))  # ∂H/∂s
                change = (
                    self.model.form(model, left[:, None], right[:, None], s)[:, 0, 0] / along
                )  # ds = -∂H/∂p / ∂H/∂s
                residuals.append(0.5 * np.log(s / (2.0 * np.pi * hertz) ** 2) / self.measured.antiresonance_sigma)
                slopes.append(0.5 * change / s * trial.values / self.measured.antiresonance_sigma)
        return ResidualsWithSlopes(np.array(residuals), np.array(slopes))


def _mean_slope(hertz: Array, slopes: Array) -> Array:
    """Return ∂ ½ ln mean f² of modes (q,) with slopes (k, q) of ln f."""
    weight = np.square(hertz)
    return np.asarray(slopes @ weight / weight.sum())


def _outside_subspace(span: tuple[Array, Array], shape: NDArray) -> tuple[Array, Array]:
    """Return the part of a shape outside a subspace, and its slopes with respect to p [Golub and Pereyra 1973]."""
    B, dB = span
    pinv = np.linalg.pinv(B)
    left = shape - B @ (pinv @ shape)
    dr = -(dB @ (pinv @ shape))
    dr = dr - dr @ (B @ pinv).T - (np.swapaxes(dB, 1, 2) @ left) @ pinv
    parts = (left.real, left.imag) if np.iscomplexobj(shape) else (left,)
    slopes = (dr.real, dr.imag) if np.iscomplexobj(shape) else (dr,)
    return np.concatenate(parts), np.concatenate(slopes, axis=1).T


def _unit(shapes: NDArray) -> NDArray:
    return shapes / np.linalg.norm(shapes, axis=-1, keepdims=True)


def _nearest_zero(residues: Array, mu: Array, near: float) -> float:
    """Return s = ω² closest to `near` with Σ r/(1 - s μ) = 0."""
    from scipy.optimize import brentq

    from supple.diagnostics import NumericalError

    def response(s: float) -> float:
        return float(np.sum(residues / (1.0 - s * mu)))

    poles = np.sort(1.0 / mu[mu > 1e-6 / near])
    edges = np.concatenate([[0.0], poles[poles < 100.0 * near]])
    found: list[float] = []
    for low, high in pairwise(edges):
        inner = np.linspace(low, high, 32)[1:-1]
        values = [response(s) for s in inner]
        for i in np.flatnonzero(np.diff(np.sign(values)) != 0):
            found.append(float(brentq(response, inner[i], inner[i + 1], rtol=1e-14)))
    if not found:
        raise NumericalError(
            f"the model has no antiresonance near {np.sqrt(near) / (2.0 * np.pi):.4g} Hz", part="antiresonances",
            hint="omit it",
        )  # fmt: skip
    return min(found, key=lambda s: abs(np.log(s / near)))


# Pairing of measured frequencies with those of the model: by order, by closeness in ascending order, or by shapes.


_DOUBLE = 1e-4  # of a frequency: modes closer than this are one level


def closest_in_order(measured: Array, model: Array) -> NDArray[np.int64]:
    """Return for each measured frequency one of the model's, ascending and unique, with least Σ (ln f/f')²."""
    k, n = len(measured), len(model)
    if n < k:
        raise InputError(f"{k} frequencies were measured, but the model has {n}", hint="request more modes")
    off = np.square(np.log(np.asarray(measured)[:, None] / np.asarray(model)[None]))
    best = np.full((k + 1, n + 1), np.inf)
    best[0] = 0.0
    for i in range(1, k + 1):
        for j in range(i, n + 1):
            best[i, j] = min(best[i, j - 1], best[i - 1, j - 1] + off[i - 1, j - 1])
    found, j = np.empty(k, dtype=np.int64), n
    for i in range(k, 0, -1):
        while best[i, j] == best[i, j - 1]:
            j -= 1
        found[i - 1] = j - 1
        j -= 1
    return found


def pair_subspaces(
    measured_hz: Array, shapes: NDArray[Any], model_hz: Array, model_shapes: Array, close: float, window: float = 0.5
) -> list[tuple[list[int], list[int]]]:
    """Return groups of measured modes (k) and modes of a model (n), paired by shape, each mode once.

    Modes of one side closer than `close` are a subspace: the similarity is cos² of the angle to it, if that is more
    than the MAC. Modes further apart than a window of ln f are not paired. Measured modes that are close form one group
    with all their partners.
    """
    from scipy.optimize import linear_sum_assignment

    groups, families = close_groups(measured_hz, close), close_groups(model_hz, close)
    likeness = np.maximum(subspace_mac(shapes, model_shapes, families), subspace_mac(model_shapes, shapes, groups).T)
    far = np.abs(np.log(np.asarray(measured_hz)[:, None] / np.asarray(model_hz)[None])) > window
    rows, columns = linear_sum_assignment(np.where(far, 2.0, 0.0) - likeness)
    partner = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    taken = set(partner.values())
    found = []
    for group in groups:
        modes = {partner[i] for i in group}
        for level in close_groups(model_hz, _DOUBLE):  # the rest of a double mode that was measured in part
            if modes & set(level):
                modes |= {j for j in level if j not in taken}
        found.append((sorted(group), sorted(modes)))
    return sorted(found)


# Poles of the damped model, for comparison with measured ones: |s| of a mode over its undamped ω.
#
#     viscous damping  |s| = ω,      structural damping  s² = -ω²(1 + iη), |s| = ω (1 - 2ζ²)^-½     (updating, eq. 38)
#
# ζ = -Re s/|s| is the measured one, mode by mode, so that no damping model needs to be valid for all of them. Dampers
# and losses of parts also couple modes; their effect on |s| follows from the file.


_FASTEST = 1e-24  # s²: modes above 1e11 Hz respond statically


def structural_share(mechanism: Mechanism) -> float | None:
    """Return the fraction of structural damping in the file, 0 or 1; None if it has no damping, or both kinds."""
    models = [mechanism.damping, *(item.damping for item in mechanism.materials.values())]
    kinds = {float(model.structural is not None) for model in models if model is not None}
    kinds |= {1.0 for joint in mechanism.joints.values() if joint.elastic_loss}
    kinds |= {0.0 for _ in mechanism.dampers}
    return kinds.pop() if len(kinds) == 1 else None


def magnitudes(damping: Array, share: float) -> Array:
    """Return |s|/ω of modes with damping ratios ζ (k,): (1 - 2 share ζ²)^-½."""
    return np.asarray(1.0 / np.sqrt(np.maximum(1.0 - 2.0 * share * np.square(damping), 0.1)))


def coupling_magnitudes(spectrum: PostureModes) -> Array:
    """Return the effect (m,) of dampers and losses of parts on |s|/ω, relative to proportional damping.

    (μs² + D s + 1 + iH) v = 0 over all modes; a pole belongs to the mode with the largest part of its shape.
    """
    count = len(spectrum.mu)
    if all(part.ndim == 1 for part in described_damping(spectrum)):
        return np.ones(count)
    every = spectrum.model.spectrum(spectrum.trial)  # stiff modes also deform with the loss of a part
    H, D = (np.diag(part) if part.ndim == 1 else part for part in described_damping(every))
    H = H + _changed_losses(every)
    omega, m = 1.0 / np.sqrt(np.maximum(every.mu, _FASTEST)), len(every.mu)
    stiff, viscous = omega[:, None] * (np.eye(m) + 1j * H) * omega, omega[:, None] * D * omega
    s, V = np.linalg.eig(np.block([[np.zeros((m, m)), np.eye(m)], [-stiff, -viscous]]))
    upper = s.imag > 0.0
    s, V = s[upper], np.abs(V[:m, upper]) ** 2
    V = V / np.maximum(V.sum(axis=0), np.finfo(float).tiny)
    own = V[:count].argmax(axis=1)  # for each mode, the pole with its largest part
    found = s[own]
    zeta = -found.real / np.abs(found)
    hysteretic, viscous_part = np.diag(H)[:count], np.diag(D)[:count] * omega[:count]
    share = hysteretic / np.maximum(hysteretic + viscous_part, np.finfo(float).tiny)
    ratio = np.abs(found) / omega[:count] * np.sqrt(np.maximum(1.0 - 2.0 * share * np.square(zeta), 0.1))
    once = np.bincount(own, minlength=len(s))[own] == 1  # overdamped or mixed modes have no pole of their own
    return np.asarray(np.where(once, ratio, 1.0))


def _changed_losses(spectrum: PostureModes) -> Array:
    """Return Σ η (k - k₀) (m, m) of losses proportional to a changed stiffness: joints, drives, bodies."""
    model, trial, psi = spectrum.model, spectrum.trial, spectrum.psi
    rest, described = model.structure.rest, model.structure.mechanism
    found = np.zeros((len(spectrum.mu), len(spectrum.mu)))
    soft = [rest.elastic_rows.get(int(row)) for row in model.structure.soft]
    eta = np.array([item.loss if item is not None else 0.0 for item in soft])
    if eta.any():
        C = model.C @ psi
        found += C.T @ ((eta * (model.springs(trial).values - model.before))[:, None] * C)
    for drive in rest.drives.values():
        if drive.loss and drive.column in trial.columns:
            u = model.N[drive.column] @ psi
            found += drive.loss * trial.columns[drive.column][0] * np.outer(u, u)
    for b, change in trial.bodies.items():
        body = rest.bodies[b]
        models = [described.materials[beam.material].damping for beam in described.bodies[body.name].all_beams]
        factors = {(item.structural or 0.0) if item is not None else 0.0 for item in models}
        if len(factors) == 1 and max(factors):  # with several materials the change cannot be divided
            part = model.N[body.start : body.stop] @ psi
            found += max(factors) * (part.T @ change.K @ part)
    return found
