"""All measurements of a machine as one least-squares problem in x = (ln p, ln of damping), with the noise of responses.

min Σ r(x)² + Σ ((x - x₀)/σ₀)²,      J exact                                               (updating, eq. 10)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.diagnostics import InputError
from supple.identification.modal_parameters.noise import running_mean
from supple.identification.updating.measurement import Measurement
from supple.identification.updating.observed_responses import Loss, ResponseObserver, response_observer
from supple.identification.updating.observing import Observer, ResidualsWithSlopes
from supple.identification.updating.posture_model import PostureModel, posture_model
from supple.identification.updating.structure import CondensedStructure
from supple.kinematics.closure import assemble
from supple.results.responses import Responses

# Noise of measured responses: that of each channel, and that of the force, which all channels of a line share.
#
#     H_m - H = -ε H + n,   E|n_o|² = w a_o,   E|ε|² = w b,   C = w (diag a + b H Hᴴ)      (updating, eqs. 25-27)
#
# w describes how noise changes along the lines, since the force of an impact decreases towards high frequencies.
# Variances are of complex numbers: their real and imaginary parts have half each.


_SWEEPS = 40  # of expectation and maximization: b, the slowest, has then converged to a fraction of its scatter
_ABOUT = 400  # values that determine the noise around a line
_FEWEST = 11  # lines, however many channels there are
_LEAST = 1e-9  # of the largest response: least noise of a channel


@dataclass(frozen=True, eq=False)
class ResponseNoise:
    """Noise of responses (L, o, i).

    channels (1, o, i) a, by channel; force (1, 1, i) b, relative; lines (L, 1, 1) w, 1 on average
    along (L, o, i) : the unit vector of the force's noise in whitened channels; less (L, 1, i) : its reduction
    shown (L, 1, i) : mean factor of the estimator on a response
    """

    channels: Array
    force: Array
    lines: Array
    along: Complex
    less: Array
    shown: Array

    def white(self, values: NDArray[Any]) -> Complex:
        """Return C^-½ times values (..., L, o, i), so that parts of the noise have the variance 1 (eq. 26)."""
        u = values / np.sqrt(0.5 * self.channels * self.lines)
        return np.asarray(u - self.less * self.along * np.sum(self.along.conj() * u, axis=-2, keepdims=True))


def uniform_noise(measured: Responses, share: float) -> ResponseNoise:
    """Return noise that is a fraction of the size of all responses, as a first estimate."""
    one = np.ones((1, 1, 1))
    level = 2.0 * (share**2) * float(np.mean(np.abs(measured.H) ** 2))
    return ResponseNoise(level * one, 0.0 * one, one, one.astype(complex), 0.0 * one, one)


def response_noise(measured: Responses, H: Complex, numbers: int) -> ResponseNoise:
    """Return the most likely noise if H is the response without noise and `numbers` parameters were fitted.

    By expectation maximization [Dempster, Laird and Rubin 1977] over ε, which is not observed:

        ε̂ = -b HᴴV⁻¹e/(1 + bρ),   P = b/(1 + bρ),   ρ = HᴴV⁻¹H,   V = diag a
        b ← mean(|ε̂|² + P),   a ← mean(|e + ε̂H|² + P|H|²),   e of lines with w = 1
    """
    left = measured.H - H
    L, o, i = H.shape
    least = (_LEAST * float(np.abs(measured.H).max())) ** 2
    w = np.ones((L, 1, 1))
    a = np.maximum(np.mean(np.abs(left) ** 2, axis=0, keepdims=True), least)
    b = np.mean(np.abs(left) ** 2) / np.maximum(np.mean(np.abs(H) ** 2, axis=(0, 1), keepdims=True), least)
    for _ in range(_SWEEPS):
        e = left / np.sqrt(w)
        rho = np.sum(np.abs(H) ** 2 / a, axis=1, keepdims=True)
        y = np.sum(H.conj() * e / a, axis=1, keepdims=True)
        P = b / (1.0 + b * rho)
        power = np.sum(np.abs(e) ** 2 / a, axis=1, keepdims=True) - P * np.abs(y) ** 2
        w = _smooth(w[:, 0, 0] * power.mean(axis=(1, 2)) / o, o * i)
        w = w / w.mean()
        b = np.mean(np.abs(P * y) ** 2 + P, axis=0, keepdims=True)
        a = np.maximum(np.mean(np.abs(e - P * y * H) ** 2 + P * np.abs(H) ** 2, axis=0, keepdims=True), least)
    free = max(1.0 - 0.5 * numbers / left.size, 0.1)
    rho = np.sum(np.abs(H) ** 2 / a, axis=1, keepdims=True)
    along = H / np.sqrt(np.where(rho > 0.0, a * rho, 1.0))
    return ResponseNoise(
        a / free, b / free, w, along, 1.0 - 1.0 / np.sqrt(1.0 + b * rho), 1.0 - _h1_bias(measured, b / free * w)
    )


def _h1_bias(measured: Responses, relative: Array) -> Array:
    """Return the mean bias of H1 by noise on the force: (N - 1) b of N averages (updating, eq. 27).

    The coherence is reduced at least as much, and limits it: a model error may look like noise.
    """
    count = measured.averages / max(1, len(measured.references))
    if measured.estimator != "H1" or measured.coherence is None or count <= 1.0:
        return np.zeros_like(relative)
    incoherent = float((1.0 - measured.coherence).mean(axis=0).min())
    return np.asarray((count - 1.0) * relative * min(1.0, incoherent / max((count - 1.0) * relative.mean(), 1e-300)))


def _smooth(power: Array, channels: int) -> Array:
    """Return means over the lines around each: (L, 1, 1)."""
    return np.maximum(running_mean(power, max(_FEWEST, -(-_ABOUT // channels))), 1e-6)[:, None, None]


# The least-squares problem.


LOSSES = {"structural": ("eta",), "rayleigh": ("alpha", "beta"), "none": ()}
_FIRST = 0.05  # of the size of responses: first estimate of their noise
_HUBER = 1.345  # residuals in units of noise beyond which they count linearly


@dataclass(frozen=True, eq=False)
class UpdatingProblem:
    """Least-squares problem of model updating in x: ln p of the structure's parameters, then ln of the damping.

    losses  : damping parameters noise   : of responses; weights (n,) of residuals, which reduce outliers stretch :
    factor on the stated noise of all other measurements ties    : (t, n) rows of further priors: differences of
    neighbouring knots of a table blur    : of a line's frequency: width over which responses, of model and measurement,
    are smeared along the lines, so
              that separate peaks still attract each other
    """

    structure: CondensedStructure
    observers: tuple[Observer, ...]
    responses: tuple[ResponseObserver, ...]
    start: Array
    prior: Array
    bounds: Array
    losses: tuple[str, ...] = ()
    loss: Loss = field(default_factory=Loss)
    noise: tuple[ResponseNoise, ...] = ()
    weights: Array | None = None
    stretch: float = 1.0
    blur: float = 0.0
    ties: Array | None = None

    @property
    def count(self) -> int:
        """Number of parameters of the structure."""
        return len(self.structure.numbers)

    def build_prior_rows(self) -> Array:
        """Return the rows (r, n) of the prior, for which rows @ (x - start) should be 0.

        They are each parameter over its deviation, and ties.
        """
        finite = np.isfinite(self.prior)
        rows = np.eye(len(self.prior))[finite] / self.prior[finite][:, None]
        return rows if self.ties is None else np.vstack([rows, self.ties])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all unknowns."""
        return (*self.structure.numbers.names, *(f"damping.{name}" for name in self.losses))

    def split(self, x: Array) -> tuple[Array, Loss]:
        """Return p and the damping at x."""
        given = dict(zip(self.losses, np.exp(x[self.count :]).tolist(), strict=True))
        return np.exp(x[: self.count]), self.loss._replace(**given)

    def data(self, x: Array) -> ResidualsWithSlopes:
        """Return residuals over noise and their slopes with respect to x."""
        values, loss = self.split(x)
        trial = self.structure.at(values)
        extra = np.zeros((0, len(x)))
        residuals, slopes = [np.zeros(0)], [extra]
        for observer in self.observers:
            found = observer.compare(trial)
            residuals.append(found.residuals / self.stretch)
            beside = np.zeros((len(found.slopes), len(self.losses)))
            slopes.append(np.hstack([found.slopes, beside]) / self.stretch)
        for seen, noise in zip(self.responses, self.noise, strict=True):
            shown = seen.compute_responses(trial, loss)
            smear = _smear(seen.measured.frequencies_hz, self.blur)
            off = smear(noise.white(noise.shown * shown.H - seen.measured.H)).ravel()
            along = [part * value for part, value in zip(shown.slopes, values, strict=True)]
            along += [shown.of_loss[Loss._fields.index(name)] * getattr(loss, name) for name in self.losses]
            along = [smear(noise.white(noise.shown * part)).ravel() for part in along]
            residuals += [off.real, off.imag]
            J = np.array(along).T
            slopes += [J.real, J.imag]
        r, J = np.concatenate(residuals), np.vstack(slopes)
        if self.weights is not None:
            r, J = r * self.weights, J * self.weights[:, None]
        return ResidualsWithSlopes(r, J)

    def by_lines(self, found: ResidualsWithSlopes) -> list[tuple[Complex, Complex]]:
        """Return complex residuals (L, channels) and slopes (L, channels, k) of each set of responses."""
        sets, end = [], len(found.residuals)
        for seen in reversed(self.responses):
            n = seen.measured.H.size
            real, imaginary = slice(end - 2 * n, end - n), slice(end - n, end)
            r = found.residuals[real] + 1j * found.residuals[imaginary]
            J = found.slopes[real] + 1j * found.slopes[imaginary]
            lines = len(seen.measured.H)
            sets.append((r.reshape(lines, -1), J.reshape(lines, n // lines, -1)))
            end -= 2 * n
        return sets[::-1]

    def robust(self, x: Array) -> UpdatingProblem:
        """Return the problem with Huber weights for the residuals at x."""
        r = np.abs(replace(self, weights=None).data(x).residuals)
        return replace(self, weights=np.sqrt(np.minimum(1.0, _HUBER / np.maximum(r, 1e-300))))

    def with_noise(self, x: Array) -> UpdatingProblem:
        """Return the problem with the most likely noise of responses if those at x are exact."""
        values, loss = self.split(x)
        trial = self.structure.at(values)
        found = [observer.compute_responses(trial, loss, slopes=False).H for observer in self.responses]
        noise = [response_noise(seen.measured, H, len(x)) for seen, H in zip(self.responses, found, strict=True)]
        return replace(self, noise=tuple(noise))

    def coarse(self, lines: int) -> UpdatingProblem:
        """Return the problem with fewer lines of responses, for a first search."""
        few = []
        for observer in self.responses:
            total = len(observer.measured.frequencies_hz)
            step = max(1, total // lines)
            few.append(replace(observer, measured=observer.measured.select(lines=np.arange(0, total, step))))
        return replace(self, responses=tuple(few))


def _smear(lines: Array, blur: float) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a convolution with Poisson's kernel over lines, γ/π/((f - f')² + γ²), γ a fraction of f.

    It is the response at iω + γ (updating, eq. 20).
    """
    if not blur:
        return lambda values: values
    gamma = blur * lines[:, None]
    W = np.gradient(lines)[None] * gamma / ((lines[:, None] - lines[None]) ** 2 + gamma**2) / np.pi
    return lambda values: np.tensordot(W, values, axes=1)


def models_of(structure: CondensedStructure, measured: Sequence[Measurement]) -> list[PostureModel]:
    """Return a model at each posture; equal postures share one."""
    known: list[tuple[object, PostureModel]] = list(structure.postures.items())
    found = []
    for item in measured:
        for at, model in known:
            if at is item.at or (isinstance(at, str) and at == item.at):
                found.append(model)
                break
        else:
            model = posture_model(structure, assemble(structure.mechanism, item.at))
            if model.configuration.X.ndim != 2:
                raise InputError(
                    "a measurement must be at one posture", part=item.label, hint="give one measurement for each"
                )
            if isinstance(item.at, str):
                structure.postures[item.at] = model
            known.append((item.at, model))
            found.append(model)
    return found


def problem_of(
    structure: CondensedStructure,
    measured: Sequence[Measurement],
    prior: Array,
    bounds: Array,
    losses: tuple[str, ...],
    loss: Loss,
) -> UpdatingProblem:
    """Return the problem of all measurements; the first estimate of responses' noise is a fraction of their size."""
    models = models_of(structure, measured)
    observers = tuple(Observer(model, item) for model, item in zip(models, measured, strict=True))
    responses = tuple(
        response_observer(model, item.responses, item.band)
        for model, item in zip(models, measured, strict=True)
        if item.responses is not None
    )
    noise = tuple(uniform_noise(item.measured, _FIRST) for item in responses)
    guess = [np.log(getattr(loss, name)) for name in losses]
    start = np.concatenate([np.log(structure.numbers.values), guess])
    wide = np.concatenate([prior, np.full(len(losses), np.inf)])
    limits = np.hstack([bounds, np.array([[-20.0], [5.0]]) * np.ones((2, len(losses)))])
    return UpdatingProblem(structure, observers, responses, start, wide, limits, losses, loss, noise)
