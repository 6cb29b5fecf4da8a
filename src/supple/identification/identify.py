"""Numbers of drives and of damping from logged runs, by least squares on a reduced model.

    min_p Σ_runs Σ_outputs Σ_samples ((y - ŷ(p) - b)/σ)²

y is what was logged, ŷ what the model with its drives shows under the same commands, b a constant of each output and
run (its bias, and where an encoder begins), σ the noise of each output, found from what is left over, and the fit
repeated with it. To first order in the noise the covariance of p is (JᵀJ)⁻¹, J = ∂(ŷ/σ)/∂p, as long as what is left
over is white, which `Identified.whiteness` tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.identification.identified import Identified
from supple.identification.logged_runs import LoggedRun, logged_run
from supple.identification.prediction import predicted
from supple.identification.unknowns import Unknowns, unknowns
from supple.reduced.model import ReducedModel

_ROUNDS = 4  # of noise found and fits repeated, at most
_SETTLED = 0.02  # of σ: less of a change, and the noise is known
_DIFFERENCE = 1e-4  # of an unknown, for slopes: above what steps in time leave of an error
_ROUGHLY, _CONVERGED = 1e-3, 1e-5  # of the sum of squares and of the unknowns: first, and once noise is known


def identify(
    mechanism: Mechanism,
    model: ReducedModel,
    runs: Any,
    unknown: Sequence[str],
    *,
    start: Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    outputs: Sequence[str] | None = None,
) -> Identified:
    """Find numbers of drives and of damping from runs that began at rest.

    mechanism : whose file describes the drives and instruments, with first guesses of what is to be found
    model     : reduced, over where the runs went
    runs      : one or several: runs of `closed_loop`, CSV files, columns, or `LoggedRun`
    unknown   : names, see `supple.identification.unknowns`: "lift.gain", "lift.frequency", "damping", ...
    start, bounds : first guesses, and (low, high), by name; as in the file, and a tenth to ten times that, if left out
    outputs   : that are compared; all that every run has logged, if left out
    """
    require_arguments(identify, locals())
    given = [runs] if isinstance(runs, LoggedRun | str | Mapping) or not isinstance(runs, Sequence) else list(runs)
    logged = [logged_run(item) for item in given]
    if not logged:
        raise InputError("there is no run", part="identify", hint="give at least one")
    looked = _outputs(model, logged, outputs)
    asked = unknowns(mechanism, model, unknown, dict(start or {}), dict(bounds or {}))
    measured = [np.column_stack([run.measured[name] for name in looked]) for run in logged]
    fit = _Fit(asked, logged, looked, measured)
    return fit.found()


def _outputs(model: ReducedModel, runs: Sequence[LoggedRun], names: Sequence[str] | None) -> tuple[str, ...]:
    known = [name for name in runs[0].measured if all(name in run.measured for run in runs)]
    for name in names or ():
        if name not in known:
            raise InputError(f'not every run has "{name}"', part="identify", hint=nearest(name, known))
    found = tuple(names or (name for name in known if name in model.layout.outputs))
    if not found:
        raise InputError(
            f"nothing that was logged is an output of the model ({', '.join(model.layout.outputs)})",
            part="identify", hint="name logged columns as sensors are named",
        )  # fmt: skip
    return found


class _Fit:
    """Residuals over noise, and what least squares makes of them."""

    def __init__(
        self, asked: Unknowns, runs: Sequence[LoggedRun], outputs: tuple[str, ...], measured: list[Array]
    ) -> None:
        self.asked, self.runs, self.outputs, self.measured = asked, runs, outputs, measured
        spread = np.array([np.std(y, axis=0) for y in measured]).max(axis=0)
        still = np.flatnonzero(spread <= 0.0)
        if len(still):
            raise InputError(
                f'"{outputs[still[0]]}" never moves', part="identify", hint="leave it out, or log more of it"
            )
        self.noise = spread
        self.evaluations = 0

    def left(self, values: Array) -> list[Array]:
        """y - ŷ - b (N, outputs) of every run."""
        self.evaluations += 1
        model, hardware = self.asked.modified(values), self.asked.hardware(values)
        off = [
            y - predicted(model, hardware, run, self.outputs) for y, run in zip(self.measured, self.runs, strict=True)
        ]
        return [item - item.mean(axis=0) for item in off]

    def residuals(self, x: Array) -> Array:
        return np.concatenate([(item / self.noise).ravel() for item in self.left(x * self.asked.sizes)])

    def found(self) -> Identified:
        """Fits with the noise of the one before, until that stays."""
        asked = self.asked
        x, low, high = asked.guesses / asked.sizes, *(asked.bounds / asked.sizes)
        for turn in range(_ROUNDS):
            close = _CONVERGED if turn else _ROUGHLY
            solved = least_squares(
                self.residuals, np.clip(x, low, high), bounds=(low, high), diff_step=_DIFFERENCE, ftol=close,
                xtol=close, gtol=None,
            )  # fmt: skip
            x, before = solved.x, self.noise
            left = self.left(x * asked.sizes)
            self.noise = np.sqrt(np.mean(np.vstack(left) ** 2, axis=0))
            if turn and np.abs(self.noise / before - 1.0).max() < _SETTLED:
                break
        J = solved.jac * (before / self.noise)[self._columns()][:, None]
        return self._identified(x, J, left, low, high)

    def _columns(self) -> NDArray[np.int64]:
        """Which output each residual is of."""
        return np.concatenate([np.tile(np.arange(len(self.outputs)), len(run.time)) for run in self.runs])

    def _identified(self, x: Array, J: Array, left: list[Array], low: Array, high: Array) -> Identified:
        asked = self.asked
        _, s, Vt = np.linalg.svd(J, full_matrices=False)
        if s[-1] <= 1e-9 * s[0]:
            worst = asked.names[int(np.abs(Vt[-1]).argmax())]
            raise InputError(
                f'"{worst}" does not show in these runs, or not apart from the others', part="identify",
                hint="log a run that excites it, or leave it out",
            )  # fmt: skip
        covariance = (Vt.T / s**2) @ Vt * np.outer(asked.sizes, asked.sizes)
        values = x * asked.sizes
        edge = [name for k, name in enumerate(asked.names)
                if min(x[k] - low[k], high[k] - x[k]) <= 1e-6 * max(1.0, abs(x[k]))]  # fmt: skip
        return Identified(
            asked.names, values, covariance, asked.guesses, self.outputs, self.noise, _whiteness(left),
            tuple(edge), asked.modified(values), asked.hardware(values), tuple(self.runs), tuple(left),
            self.evaluations,
        )  # fmt: skip


def _whiteness(left: Sequence[Array]) -> Array:
    """Correlation of what is left over with that of the sample before, (outputs,): near 0 where it is noise alone."""
    both = sum(np.sum(item[1:] * item[:-1], axis=0) for item in left)
    return np.asarray(both / sum(np.sum(item**2, axis=0) for item in left))
