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

from supple.control.feedforward.led_outputs import Course, LedOutputs
from supple.control.feedforward.reference import Reference
from supple.diagnostics import InputError
from supple.reduced.time.led_motion import quasi_static

Array = NDArray[np.float64]

_SWEEPS = 30
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

    def matrices(self, theta: Array) -> tuple[Array, Array, Array]:
        """M̃, D̃, K (N, m, m) of small motions about rest at θ (N, s)."""
        s = self.s
        J, Psi = self.outputs.slopes(theta)
        c = self.model.evaluate(np.ascontiguousarray(theta))
        lead = np.linalg.solve(J, Psi)
        M, D = (part[:, s:, s:] - part[:, s:, :s] @ lead for part in (c.M, c.damping))
        return M, D, c.K[:, s:, s:]

    def defect(self, theta: Course, delta: Course) -> Array:
        """What is left in the rows of δ, (N, m)."""
        v, a = np.hstack([theta.rate, delta.rate]), np.hstack([theta.second, delta.second])
        return self.model.inverse(theta.value, v, a, delta=delta.value)[:, self.s :]

    def rest(self, t: float) -> tuple[Array, Array]:
        """θ (s,) and δ (m,) at which the outputs stand as wanted at that time."""
        goal = self.wanted.at(t)[0]
        theta = self.nominal.at(t)[0]
        delta = np.zeros(self.m)
        zero, still = np.zeros((1, self.s)), np.zeros((1, self.m))
        for _ in range(_SWEEPS):
            delta = quasi_static(self.model, theta[None], zero, zero)[0]
            y = self.outputs.along(Course(theta[None], zero, zero), Course(delta[None], still, still)).value[0]
            step = np.linalg.solve(self.outputs.slopes(theta[None])[0][0], goal - y)
            theta = theta + step
            if float(np.abs(step).max()) <= 1e-13 * float(np.abs(theta).max()):
                break
        return theta, delta

    def split(self, theta: Array) -> Split:
        """What grows and what decays about rest at θ (s,)."""
        M, D, K = (part[0] for part in self.matrices(theta[None]))
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
