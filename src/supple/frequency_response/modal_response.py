"""Responses from modes: all of them, or those up to some frequency with the static response of the others.

    z = Ψ e + Σ φ_r q_r,   A(ω) q = Φᵀ (f - (K(1 + iη) + K_g + iωD - ω²M) Ψ e)      (frequency-response, eqs. 7-10)

Ψ is the rigid motion of a prescribed coordinate, K_g the stiffness of the forces at rest. A is diagonal where damping
is modal or proportional; dampers, and a loss factor beside K_g, couple the modes, which are then solved together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from supple.array_types import Array, Complex
from supple.compilation import compile_kernel
from supple.compilation.threads import single_blas_thread
from supple.formulations.elastic_rest.constrained_modes import first_shift, rows_over_coordinates
from supple.formulations.elastic_rest.damping_model import Dissipation
from supple.formulations.elastic_rest.dense import find_free_motors
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.preload import preload_stiffness
from supple.formulations.elastic_rest.response_operator import Structure, response_operator
from supple.formulations.elastic_rest.static_response import static_response
from supple.frequency_response.direct_response import Proportional
from supple.frequency_response.driving import require_finite
from supple.kinematics.configuration import Configuration
from supple.modal_analysis.restraint import Restraint

_NOTHING = 1e-13  # fraction of the largest eigenvalue of the response below which it is rounding, not a motion
_ACROSS = 1e-2  # largest violation of an ideal row by a unit motion; those that keep it have only rounding
_STILL = 1e-13  # fraction of the largest ω² below which a mode has no stiffness
_COUPLED = 1e-10  # fraction of the largest entry above which modes are coupled; rounding is below


class ModalSystem(NamedTuple):
    """All modes of unit mass at one configuration, and the matrices that they do not diagonalise, over the modes.

    squares : (r,) ω²; shapes (r, n); stiffness (r, r) ΦᵀKΦ without that of the forces at rest
    dampers : (r, r) of dampers and elastic joints
    M, preload, J : (n, n) mass, stiffness of the forces at rest; (soft, n) rows of the soft measures
    """

    squares: Array
    shapes: Array
    stiffness: Array
    dampers: Array
    M: Array
    preload: Array
    J: Array


@single_blas_thread()
def modal_system(rest: ElasticRest, configuration: Configuration, held: Restraint, *, preload: bool) -> ModalSystem:
    """Return the modes under a restraint, at one configuration."""
    squares, Phi = _modes_of_springs(rest, configuration, held)
    J = rows_over_coordinates(rest, held.soft, configuration.X[None])[0]
    K_g = preload_stiffness(rest, configuration) if preload else np.zeros((rest.size, rest.size))
    M = np.eye(rest.size) + J.T @ (held.J[:, None] * J)
    stiffness = np.diag(squares)
    if preload or held.J.any():
        squares, vectors = eigh(stiffness + Phi @ K_g @ Phi.T, Phi @ M @ Phi.T)
        Phi, stiffness = vectors.T @ Phi, vectors.T @ stiffness @ vectors
    squares = np.where(np.abs(squares) > _STILL * squares.max(initial=0.0), squares, 0.0)
    motions = J @ Phi.T
    return ModalSystem(squares, Phi, stiffness, motions.T @ (held.c[:, None] * motions), M, K_g, J)


def _modes_of_springs(rest: ElasticRest, configuration: Configuration, held: Restraint) -> tuple[Array, Array]:
    """Return ω² (r,) ascending and modes (r, n) of bodies, ideal rows and springs.

    The response A = D - BᵀB of the shifted system has eigenvalues 1/(ω² + s): springs may have any stiffness.
    """
    with_springs = held.list_held_rows()
    shift = first_shift(rest, with_springs, configuration.X)
    C = rows_over_coordinates(rest, with_springs.rows, configuration.X[None])[0]
    n = rest.size
    A = compile_kernel(response_operator, count=1)(Structure(rest.arrays.stiffness, C, with_springs.compliance), shift)
    apart = find_free_motors(rest, C)  # separate modes, too stiff to be distinguished from rounding
    within = np.setdiff1d(np.arange(n), apart)
    inverse, vectors = eigh((np.diag(A.D) - A.B.T @ A.refined)[np.ix_(within, within)])
    # Across ideal rows A is zero except for rounding, which may look like a very stiff motion.
    ideal = C[with_springs.compliance == 0.0]
    across = np.abs((ideal / np.linalg.norm(ideal, axis=1, keepdims=True))[:, within] @ vectors)
    kept = (inverse > _NOTHING * inverse.max(initial=0.0)) & (across.max(axis=0, initial=0.0) < _ACROSS)
    count = int(np.count_nonzero(kept))
    modes = np.zeros((count + len(apart), n))
    modes[:count, within] = vectors[:, kept][:, ::-1].T
    modes[np.arange(count, len(modes)), apart] = 1.0
    squares = np.concatenate([1.0 / inverse[kept][::-1] - shift, rest.arrays.stiffness[apart]])
    order = np.argsort(squares, kind="stable")
    return squares[order], modes[order]


@single_blas_thread()
def modal_response(
    rest: ElasticRest,
    configuration: Configuration,
    held: Restraint,
    forces: Array,
    led: list[int],
    outputs: Array,
    omega: Array,
    damping: Proportional,
    deformed: Dissipation | None,
    *,
    preload: bool,
    turning: bool,
    below: float | None,
) -> Complex:
    """Return the responses as `direct_response`, from modes.

    deformed : damping of the deformation over z
    below    : highest frequency of vibrating modes, Hz; None for all
    turning  : loads at rest act along the deformation as a prescribed coordinate rotates them: deflection times motion
    """
    system = modal_system(rest, configuration, held, preload=preload)
    squares, Phi = system.squares, system.shapes
    led_by = led_rigid_motion(rest, configuration, led, held)
    count = len(squares) if below is None else int(np.searchsorted(squares, (2.0 * np.pi * below) ** 2))
    deformed = deformed or Dissipation(np.zeros((rest.size, rest.size)), np.zeros((rest.size, rest.size)))
    viscous, loss = _project_damping(system, damping, deformed)
    b = _loads(system, held, forces, led_by, omega, damping, deformed, turning=turning)
    q = np.empty(b.shape, dtype=np.complex128)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Omitted modes respond without inertia and viscous damping.
        q[:, count:] = b[:, count:] / (squares + 1j * np.diag(loss))[count:, None]
        q[:, :count] = _solve_modes(squares[:count], viscous[:count, :count], loss[:count, :count], omega, b[:, :count])
        H = (outputs @ Phi.T) @ q
    H[:, :, len(forces) :] += outputs @ led_by.shapes.T
    require_finite(f'mechanism "{rest.numbering.mechanism.name}"', omega, np.asarray(np.isfinite(H).all(axis=(1, 2))))
    return H


class LedMotion(NamedTuple):
    """Motion for a unit of each prescribed coordinate: shapes (led, n), and elastic forces K Ψ (led, n)."""

    shapes: Array
    forces: Array


def led_rigid_motion(rest: ElasticRest, configuration: Configuration, led: list[int], held: Restraint) -> LedMotion:
    """Return Ψ with the others of θ locked and no forces; strained springs between bodies may deform it a little.

    K Ψ is balanced by the rows, except for the forces along rows of θ that are free here.
    """
    ends = (np.arange(len(rest.arrays.rows_i)) == np.array(led, dtype=np.int64)[:, None]).astype(float)
    Z, multipliers = static_response(rest, configuration.X[None], np.zeros((1, len(led), rest.size)), ends)
    first = rest.numbering.constraints
    theta = np.arange(first, first + len(rest.numbering.coordinates))
    free = np.setdiff1d(theta, held.hard)
    return LedMotion(Z[0], -multipliers[0][:, free] @ rows_over_coordinates(rest, free, configuration.X[None])[0])


def _project_damping(system: ModalSystem, damping: Proportional, deformed: Dissipation) -> tuple[Array, Array]:
    """Return Φᵀ D Φ with all viscous damping, and Φᵀ H Φ with all hysteretic damping."""
    Phi = system.shapes
    by_mass = damping.alpha * np.diag(np.sum((Phi @ system.M) * Phi, axis=1))
    viscous = system.dampers + by_mass + damping.beta * system.stiffness + Phi @ deformed.viscous @ Phi.T
    return viscous, damping.eta * system.stiffness + Phi @ deformed.hysteretic @ Phi.T


def _loads(
    system: ModalSystem,
    held: Restraint,
    forces: Array,
    led: LedMotion,
    omega: Array,
    damping: Proportional,
    deformed: Dissipation,
    *,
    turning: bool,
) -> Complex:
    """Return the right sides (L, r, inputs)."""
    w = omega[:, None, None]
    Phi, Psi, J = system.shapes, led.shapes, system.J
    K, M = Phi @ led.forces.T, Phi @ system.M @ Psi.T
    viscous = Phi @ J.T @ (held.c[:, None] * (J @ Psi.T)) + damping.alpha * M + damping.beta * K
    viscous = viscous + Phi @ deformed.viscous @ Psi.T
    loss = 1j * (damping.eta * K + Phi @ deformed.hysteretic @ Psi.T)
    turned = Phi @ system.preload @ Psi.T if turning else 0.0
    by_motion = -(K + loss + turned + 1j * w * viscous - w**2 * M)
    by_force = np.broadcast_to(Phi @ forces.T, (len(omega), len(Phi), len(forces)))
    return np.concatenate([by_force, by_motion], axis=2)


def _solve_modes(squares: Array, viscous: Array, loss: Array, omega: Array, b: Complex) -> Complex:
    """Solve (ω_r² - ω² + i(ω D + η K)) q = b for q."""
    own = squares - np.square(omega)[:, None]
    limit = _COUPLED * max(np.abs(viscous).max(initial=0.0), np.abs(loss).max(initial=0.0))
    coupled = any((np.abs(matrix - np.diag(np.diag(matrix))) > limit).any() for matrix in (viscous, loss))
    if not coupled:
        diagonal = own + 1j * (omega[:, None] * np.diag(viscous) + np.diag(loss))
        return np.asarray(b / diagonal[:, :, None])
    A = 1j * (omega[:, None, None] * viscous + loss)
    A[:, np.arange(len(squares)), np.arange(len(squares))] += own
    singular = np.abs(A).max(axis=2).min(axis=1) == 0.0
    A[singular] = np.nan
    return np.asarray(np.linalg.solve(A, b))
