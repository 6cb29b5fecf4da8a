"""Measured frequency responses and those of the model, line by line, with exact derivatives.

    H = s^d Σ_m (g ψ_m)(f ψ_m) / D_m,   D_m = 1 + iη + sβ + μ_m (s² + sα),   s = iω + σ_w        (updating, eqs. 15-16)
    ∂H/∂p = -s^d g_s ((1 + iη + sβ) K' + (s² + sα) M') f_s,   g_s = Σ ψ_m (g ψ_m)/D_m

The sum is over all modes of the condensed mechanism, without truncation. σ_w is the rate of an exponential window:
records multiplied by exp(-σ_w t) have the response at iω + σ_w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.compilation.threads import single_blas_thread
from supple.diagnostics import InputError
from supple.identification.updating.posture_model import PostureModel, PostureModes, Slopes
from supple.identification.updating.structure import Trial
from supple.results.responses import Responses

_TOGETHER = 32  # lines at a time


class Loss(NamedTuple):
    """Proportional damping: loss factor η, α (1/s) by mass and β (s) by stiffness."""

    eta: float = 0.0
    alpha: float = 0.0
    beta: float = 0.0


class ResponsesWithSlopes(NamedTuple):
    """H (L, o, i), its slopes with respect to p (k, L, o, i), and to η, α, β (3, L, o, i)."""

    H: Complex
    slopes: Complex
    of_loss: Complex


@dataclass(frozen=True, eq=False)
class ResponseObserver:
    """Model of a posture and the responses measured there; g (o, f) and f (i, f) are rows of the channels."""

    model: PostureModel
    measured: Responses
    g: Array
    f: Array

    @single_blas_thread()
    def compute_responses(self, trial: Trial, loss: Loss, *, slopes: bool = True) -> ResponsesWithSlopes:
        """Return the responses of the model at every line."""
        return responses_with_slopes(
            self.model.spectrum(trial), self.g, self.f, self.points, self.orders, loss, slopes=slopes
        )

    @property
    def points(self) -> Complex:
        """Points s (L,): iω plus the rate of the window."""
        return np.asarray(2j * np.pi * self.measured.frequencies_hz + self.measured.window_rate)

    @property
    def orders(self) -> NDArray[np.int64]:
        """Orders of differentiation (o,) of the displacements."""
        return np.array([one.order or 0 for one in self.measured.responses])

    def estimate_remainder(self, trial: Trial, loss: Loss) -> tuple[float, float] | None:
        """Return the remaining fraction of the slowest mode in the band at the end of a record, and its frequency.

        It is None if responses are not known to come from records. See eq. 30.
        """
        lines = self.measured.frequencies_hz
        hertz = self.model.spectrum(trial).hertz
        hertz = hertz[(hertz >= lines[0]) & (hertz <= lines[-1])]
        if not self.measured.averages or not len(hertz):
            return None
        omega = 2.0 * np.pi * hertz
        rates = 0.5 * (loss.eta * omega + loss.alpha + loss.beta * omega**2) + self.measured.window_rate
        slowest = int(np.argmin(rates))
        return float(np.exp(-rates[slowest] / np.diff(lines).min())), float(hertz[slowest])

    def misfit(self, H: Complex) -> float:
        """Return J_Q = Σ|H - H_m|² / Σ|H_m|² [Rognant 2010, eq. 34]."""
        return float(np.sum(np.abs(H - self.measured.H) ** 2) / np.sum(np.abs(self.measured.H) ** 2))

    def misfit_by_response(self, H: Complex) -> dict[str, float]:
        """Return J_Q of each response over all references."""
        left, whole = (np.sum(np.abs(X) ** 2, axis=(0, 2)) for X in (H - self.measured.H, self.measured.H))
        names = [one.name for one in self.measured.responses]
        return {name: float(a / b) if b > 0.0 else np.nan for name, a, b in zip(names, left, whole, strict=True)}


def response_observer(model: PostureModel, measured: Responses, band: tuple[float, float] | None) -> ResponseObserver:
    """Return the lines within the band, without 0 Hz, and the channels; refuse invalid responses."""
    lines = measured.frequencies_hz
    low, high = band or (0.0, np.inf)
    kept = np.flatnonzero((lines >= low) & (lines <= high) & (lines > 0.0))
    if len(kept) < 2:
        raise InputError(
            f"at least two lines between {low:g} and {high:g} Hz are needed (got {len(kept)})",
            part="responses",
            hint="widen the band",
        )
    chosen = measured.select(lines=kept)
    wrong = [one.name for i, one in enumerate(chosen.responses) if not np.isfinite(chosen.H[:, i]).all()]
    if wrong:
        raise InputError(f"channel {wrong[0]} has lines that are not finite", part="responses", hint="omit it")
    for one in chosen.responses:
        if one.order is None or one.quantity == "strain":
            raise InputError(
                f"response {one.name} must be a displacement, velocity or acceleration (got {one.quantity})",
                part="responses", hint="omit it",
            )  # fmt: skip
    for one in chosen.references:
        if one.quantity != "force":
            raise InputError(
                f"reference {one.name} must be a force (got {one.quantity})", part="responses", hint="omit it"
            )
    return ResponseObserver(model, chosen, model.channels(chosen.responses), model.channels(chosen.references))


def responses_with_slopes(
    spectrum: PostureModes, g: Array, f: Array, s: Complex, orders: NDArray[np.int64], loss: Loss, *, slopes: bool
) -> ResponsesWithSlopes:
    """Return responses at s (L,) of outputs g (o, f), differentiated `orders` (o,) times, to forces f (i, f).

    Modes respond to each force by q = b/D, and a change of a parameter acts as the force -ψᵀ((1 + iη + sβ)K' + (s² +
    sα)M')ψq on them. All columns are computed mode by mode, and the outputs in one product.
    """
    model, psi, mu = spectrum.model, spectrum.psi, spectrum.mu
    a, b = g @ psi, f @ psi
    L, o, i, m = len(s), len(g), len(f), len(mu)
    change = model.slopes(spectrum.trial)
    k = len(change.rows) if slopes else 0
    seen = np.empty((3 + k, L, o, i), dtype=np.complex128)  # derivatives with respect to η, β and α; then to p
    H = np.empty((L, o, i), dtype=np.complex128)
    for start in range(0, L, _TOGETHER):
        here = slice(start, start + _TOGETHER)
        at = s[here, None, None]
        stiff, heavy = 1.0 + 1j * loss.eta + at * loss.beta, at**2 + at * loss.alpha
        D = stiff + heavy * mu  # (L, 1, m)
        q = b / D  # (L, i, m)
        forces = np.empty((3 + k, *q.shape), dtype=np.complex128)
        forces[:3] = -1j * q, -at * mu * q, -at * q
        if slopes:
            forces[3:] = -_changes(model, change, psi, q, stiff, heavy)
        answer = np.concatenate([q[None], forces / D]).reshape(-1, m)
        shape = (4 + k, *q.shape[:2], o)
        moved = (answer.real @ a.T + 1j * (answer.imag @ a.T)).reshape(shape)
        moved = np.swapaxes(moved * at**orders, 2, 3)  # (columns, L, o, i)
        H[here], seen[:, here] = moved[0], moved[1:]
    return ResponsesWithSlopes(H, seen[3:], seen[:3])


def _changes(model: PostureModel, change: Slopes, psi: Array, q: Complex, stiff: Complex, heavy: Complex) -> Complex:
    """Return ψᵀ((1 + iη + sβ)K' + (s² + sα)M')ψq of every parameter: (k, L, i, m)."""
    k, m = len(change.rows), q.shape[-1]
    c = model.C @ psi
    pulled = stiff * _real_times(q, c.T)  # rows of joints and springs: (L, i, r)
    found = _real_times(change.rows[:, None, None] * pulled, c)
    for column, slope in change.columns.items():
        u = model.N[column] @ psi
        found += slope[:, None, None, None] * (stiff * (q @ u)[..., None] * u)
    for number, (dK, dM) in change.bodies.items():
        part = model._part(number) @ psi
        bent = _real_times(q, part.T)
        for p in range(k):
            if dK[p].any() or dM[p].any():
                force = stiff * _real_times(bent, dK[p].T) + heavy * _real_times(bent, dM[p].T)
                found[p] += _real_times(force, part)
    return found.reshape(k, *q.shape[:2], m)


def _real_times(left: Complex, right: Array) -> Complex:
    """Multiply a complex array (..., n) by a real matrix (n, c), without converting that to complex."""
    return np.asarray(left.real @ right + 1j * (left.imag @ right))
