"""How a model deforms while its outputs are held on a path: the dynamics that inversion has to live with.

With θ led so that y(θ, δ) = y_d(t), θ̈ = J⁻¹(ÿ_d - Ψ_o δ̈ - ...), and the rows of δ become

    M̃ δ̈ + D̃ δ̇ + K δ = f(t, δ, δ̇),   M̃ = M_δδ - M_δθ J⁻¹ Ψ_o,   D̃ = D_δδ - D_δθ J⁻¹ Ψ_o

A tip that is led from afar begins by moving the wrong way: M̃ is not positive, and half of the exponents of the zero
dynamics grow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import schur

from supple.array_types import Array
from supple.control.feedforward.led_outputs import Course, LedOutputs
from supple.control.feedforward.reference import Reference
from supple.diagnostics import InputError
from supple.reduced.time.led_motion import quasi_static

_SWEEPS = 30
_SLOPE_SWEEPS = 2  # with J as it is: each leaves the square of the last error
_ON_THE_AXIS = 1e-6  # of the fastest exponent: one that neither grows nor decays


class Split(NamedTuple):
    """Rows (k, 2m) that are zero on all that grows, and on all that decays; exponents (2m,), 1/s."""

    decaying: Array
    growing: Array
    exponents: NDArray[np.complex128]


class ZeroDynamics:
    """Of a model whose outputs follow `wanted`; nominal : θ close to what leads them."""

    def __init__(self, outputs: LedOutputs, wanted: Reference, nominal: Reference):
        self.outputs, self.model, self.wanted, self.nominal = outputs, outputs.model, wanted, nominal
        self.s, self.m = self.model.layout.theta, self.model.layout.size - self.model.layout.theta

    def led(self, wanted: Course, delta: Course, guess: Course) -> tuple[Course, Array]:
        """θ with which the outputs are as wanted, and what is then left in the rows of δ, (N, m)."""
        theta = self.outputs.leading(wanted, delta, guess)
        return theta, self.defect(theta, delta)

    def defect(self, theta: Course, delta: Course) -> Array:
        """What is left in the rows of δ, (N, m)."""
        v, a = np.hstack([theta.rate, delta.rate]), np.hstack([theta.second, delta.second])
        return self.model.inverse(theta.value, v, a, delta=delta.value)[:, self.s :]

    def matrices(self, wanted: Course, theta: Course, delta: Course) -> tuple[Array, Array, Array]:
        """M̃, D̃, K̃ (N, m, m): slopes of the defect with δ̈, δ̇ and δ while the outputs are as wanted, by differences.

        M̃ is the small difference of large numbers where the tip carries most of the mass: no part may be left out.
        """
        J = self.outputs.slopes(theta.value, delta.value)
        size = float(np.abs(delta.value).max()) + 1e-9
        steps = (1e-4 * size, 1e-2 * size, size)  # of δ, δ̇ (1/s), δ̈ (1/s²): the defect is close to linear in each
        here = self.defect(theta, delta)
        found = []
        for order, step in enumerate(steps):
            columns = []
            for unit in np.eye(self.m):
                moved = Course(*(part + (step * unit if k == order else 0.0) for k, part in enumerate(delta)))
                led = theta
                for _ in range(_SLOPE_SWEEPS):
                    led, _ = self.outputs.closer(led, wanted, moved, J)
                columns.append((self.defect(led, moved) - here) / step)
            found.append(np.stack(columns, axis=-1))
        K, D, M = found
        return M, D, K

    def rest(self, t: float) -> tuple[Array, Array]:
        """θ (s,) and δ (m,) at which the outputs stand as wanted at that time."""
        goal = self.wanted.at(t)[0]
        theta = self.nominal.at(t)[0]
        delta = np.zeros(self.m)
        zero, still = np.zeros((1, self.s)), np.zeros((1, self.m))
        for _ in range(_SWEEPS):
            delta = quasi_static(self.model, theta[None], zero, zero)[0]
            y = self.outputs.along(Course(theta[None], zero, zero), Course(delta[None], still, still)).value[0]
            step = np.linalg.solve(self.outputs.slopes(theta[None], delta[None])[0], goal - y)
            theta = theta + step
            if float(np.abs(step).max()) <= 1e-13 * float(np.abs(theta).max()):
                break
        return theta, delta

    def split(self, t: float) -> Split:
        """What grows and what decays about rest as wanted at that time."""
        theta, delta = self.rest(t)
        zero, still = np.zeros((1, self.s)), np.zeros((1, self.m))
        wanted = Course(self.wanted.at(t)[:1], zero, zero)
        at = self.matrices(wanted, Course(theta[None], zero, zero), Course(delta[None], still, still))
        M, D, K = (part[0] for part in at)
        A = np.block([[np.zeros_like(M), np.eye(self.m)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
        exponents = np.linalg.eigvals(A)
        slow = exponents[np.abs(exponents.real) <= _ON_THE_AXIS * np.abs(exponents).max()]
        if len(slow):
            raise InputError(
                f"with the outputs on the path the model vibrates undamped at {np.abs(slow[0]) / (2 * np.pi):.4g} Hz",
                part=f'model "{self.model.name}"', hint="give it damping, or lead other outputs",
            )  # fmt: skip
        return Split(_left_rows(A, "lhp"), _left_rows(A, "rhp"), exponents)


def _left_rows(A: Array, half: str) -> Array:
    """Rows L with L A = Λ L, Λ holding the exponents of one half of the plane: what x has of them."""
    _, Z, count = schur(A.T, sort=half)
    return np.asarray(Z[:, :count].T)
