"""Responses at a posture with any damping, and their exact derivatives with respect to the damping parameters.

    A(s) = 1 + i H₀ + s D₀ + μ s² + Σ_k d_k f_k(s) T_k,   f = i or s       over modes with ψᵀKψ = 1
    H = s^d a A⁻¹ bᵀ,   ∂H/∂d_k = -s^d f_k a A⁻¹ T_k A⁻¹ bᵀ                                      (updating, eqs. 34-35)

H₀ and D₀ are the damping in the file besides the unknowns: dampers, joints, materials, the damping model. If all
matrices are diagonal, every line is a division. If only hysteretic parts couple modes, one complex eigenvalue problem G
V = V μ̃, G = (1 + iH)⁻¹ μ serves all lines, A⁻¹ = V (1 + μ̃ s²)⁻¹ V⁻¹ (1 + iH)⁻¹. Otherwise each line is solved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Complex
from supple.compilation.threads import single_blas_thread
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.damping_model import dissipation, joint_losses, materials_over_z
from supple.formulations.elastic_rest.dense import collect_by_row
from supple.identification.updating.observed_responses import ResponseObserver
from supple.identification.updating.posture_model import PostureModes

_TOGETHER = 16  # lines at a time
_FASTEST = 1e-24  # s²: modes above 1e11 Hz respond statically


@dataclass(frozen=True, eq=False)
class DampedPosture:
    """Modes of a posture, the responses measured there, the given damping, and T (m,) or (m, m) of each parameter.

    loss, viscous : H₀ and D₀ (m, m), or (m,) if they are diagonal; hysteretic (k,) : whether f is i
    """

    observer: ResponseObserver
    spectrum: PostureModes
    loss: Array
    viscous: Array
    terms: tuple[Array, ...]
    hysteretic: tuple[bool, ...]

    @single_blas_thread()
    def compute_responses(self, values: Array, *, slopes: bool = True) -> tuple[Complex, Complex]:
        """Return H (L, o, i) and its slopes (k, L, o, i)."""
        H, D = self._total(values)
        if H.ndim == D.ndim == 1 and all(term.ndim == 1 for term in self.terms):
            return self._modal_lines(
                lambda s: 1.0 / (1.0 + 1j * H + s * D + s**2 * self.spectrum.mu), None, None, slopes
            )
        if not D.any() and (not slopes or all(self.hysteretic)):
            stiff = np.eye(len(self.spectrum.mu)) + 1j * _full(H)
            values_, V = np.linalg.eig(np.linalg.solve(stiff, np.diag(self.spectrum.mu)))
            W = np.linalg.solve(stiff @ V, np.eye(len(V)))
            return self._modal_lines(lambda s: 1.0 / (1.0 + s**2 * values_), V, W, slopes)
        return self._solve_lines(_full(H), _full(D), slopes)

    def _total(self, values: Array) -> tuple[Array, Array]:
        found = [self.loss, self.viscous]
        for value, term, is_hysteretic in zip(values, self.terms, self.hysteretic, strict=True):
            at = 0 if is_hysteretic else 1
            one, other = found[at], value * term
            found[at] = one + other if one.ndim == other.ndim else _full(one) + _full(other)
        return found[0], found[1]

    def _factors(self, s: Complex) -> list[Complex]:
        return [np.full_like(s, 1j) if is_hysteretic else s for is_hysteretic in self.hysteretic]

    def _ports(self) -> tuple[Array, Array, Complex, NDArray[np.int64]]:
        observer, psi = self.observer, self.spectrum.psi
        return observer.g @ psi, observer.f @ psi, observer.points, observer.orders

    def _modal_lines(self, inverse, V, W, slopes: bool) -> tuple[Complex, Complex]:  # type: ignore[no-untyped-def]
        """Return H and slopes for A⁻¹ = V diag(inverse(s)) W; V and W are 1 if they are None."""
        a, b, s, orders = self._ports()
        left, right = (a, b) if V is None else (a @ V, b @ W.T)
        terms = self.terms if V is None else [W @ _full(term) @ V for term in self.terms]
        H, dH = self._empty(slopes)
        for start in range(0, len(s), _TOGETHER):
            here = slice(start, start + _TOGETHER)
            at = s[here, None, None]
            D = inverse(at)  # (L, 1, m)
            q, times = D * right, at ** orders[None, :, None]
            H[here] = times * np.swapaxes(q @ left.T, 1, 2)
            for k, factor in enumerate(self._factors(at) if slopes else ()):
                pulled = q * terms[k] if terms[k].ndim == 1 else q @ terms[k].T
                dH[k, here] = -factor * times * np.swapaxes((D * pulled) @ left.T, 1, 2)
        return H, dH

    def _solve_lines(self, H_: Array, D: Array, slopes: bool) -> tuple[Complex, Complex]:
        """Return H and slopes, solved line by line."""
        a, b, s, orders = self._ports()
        mu, H, dH = np.diag(self.spectrum.mu), *self._empty(slopes)
        for n, at in enumerate(s):
            inverse = np.linalg.inv(np.eye(len(mu)) + 1j * H_ + at * D + at**2 * mu)
            q, times = inverse @ b.T, at ** orders[:, None]
            H[n] = times * (a @ q)
            for k, factor in enumerate(self._factors(at[None]) if slopes else ()):
                pulled = self.terms[k][:, None] * q if self.terms[k].ndim == 1 else self.terms[k] @ q
                dH[k, n] = -factor * times * (a @ (inverse @ pulled))
        return H, dH

    def _empty(self, slopes: bool) -> tuple[Complex, Complex]:
        shape = self.observer.measured.H.shape
        return np.empty(shape, np.complex128), np.empty((len(self.terms) if slopes else 0, *shape), np.complex128)


def _full(matrix: Array) -> Array:
    return np.diag(matrix) if matrix.ndim == 1 else matrix


def _slim(matrix: Array) -> Array:
    """Return the diagonal (m,) of a matrix that is diagonal except for rounding, else the matrix."""
    diagonal = np.diag(matrix)
    off = np.abs(matrix - np.diag(diagonal)).max(initial=0.0)
    return diagonal.copy() if off <= 1e-10 * max(np.abs(diagonal).max(initial=0.0), 1e-300) else matrix


def described_damping(spectrum: PostureModes) -> tuple[Array, Array]:
    """Return H₀ and D₀ over the modes from the mechanism: its damping model, materials, joints and dampers."""
    model = spectrum.model
    rest, X = model.structure.rest, model.configuration.X[None]
    shapes = (model.N @ spectrum.psi).T  # (m, n)
    mu = np.maximum(spectrum.mu, _FASTEST)
    materials, joints = materials_over_z(rest), joint_losses(rest, X, shapes)
    found = dissipation(
        rest.numbering.mechanism.damping, np.diag(mu), np.eye(len(mu)),
        None if materials is None else materials.over(shapes), None if joints is None else joints[0],
    )  # fmt: skip
    dampers = dict(collect_by_row(rest, "damping"))
    for row, value in rest.dampers.items():
        dampers[row] = dampers.get(row, 0.0) + value
    dampers = {row: value for row, value in dampers.items() if value}
    viscous = found.viscous
    if dampers:
        C = rows_over_coordinates(rest, np.array(list(dampers), dtype=np.int64), X)[0] @ shapes.T
        viscous = viscous + C.T @ (np.array(list(dampers.values()))[:, None] * C)
    return _slim(found.hysteretic), _slim(viscous)


def slim(matrix: Array) -> Array:
    """Return T in its shortest form: (m,) if it is diagonal."""
    return matrix if matrix.ndim == 1 else _slim(matrix)
