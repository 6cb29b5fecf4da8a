"""Forces and commands that controllers require of the actuators, from each kind of model.

For accelerations a, computed torque needs

    B u = M(θ) a + Γ[θ̇, θ̇] + D_d θ̇ - p + Σ_j J_jᵀ f_j tanh(J_j θ̇_d / v₀)

Dry friction is compensated along the reference rates; along the measured ones it would chatter at every standstill. A
flexible model is evaluated at the deformation of the reference motion, δ_qs with δ̇ = δ̈ = 0:

    M_δθ θ̈_d + Γ_δ[θ̇_d, θ̇_d] + K δ_qs = p_δ

or, along a motion that was planned with it, at the planned δ, δ̇ and δ̈, which are then in the rows of θ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial
from typing import NamedTuple, Protocol

import numpy as np

from supple.array_types import Array
from supple.control.laws.affine_matrices import ORDERS
from supple.control.plants.surrounding import hardware_in
from supple.control.redundancy.force_division import RequiredForce
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError
from supple.equations.forces import FRICTION_SPEED
from supple.hardware.drive_block import DriveBlock
from supple.hardware.hardware import Hardware
from supple.inverse_dynamics.force_distribution import Objective, multiplier_objective
from supple.inverse_dynamics.joint_reactions import unknown_multipliers
from supple.kinematics.motion import motion as motion_of
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel

# Forces for given accelerations.


_ITERATIONS = 20
_SETTLED = 1e-7  # of the deformation: its last change at convergence
_PUSHED = 1e-9  # of B: largest direct effect of actuators on the deformation


class Aim(NamedTuple):
    """Reference θ, θ̇, θ̈, (s,) each; bending : δ, δ̇, δ̈ (3, n - s) if the motion was planned with them."""

    theta: Array
    rates: Array
    accelerations: Array
    bending: Array | None = None


class ActuatorForceModel(Protocol):
    """Protocol of the equations of computed torque."""

    def compute_forces(self, theta: Array, rates: Array, a: Array, aim: Aim) -> RequiredForce:
        """Return the forces of the chosen actuators for accelerations a (s,) at measured θ, θ̇ (s,)."""
        ...


@dataclass(frozen=True, eq=False)
class MechanismEquations:
    """Equations of the mechanism with elastic bodies treated as rigid.

    numbers : indices of the actuators that are used; weights : of these
    """

    mechanism: Mechanism
    numbers: list[int]
    weights: Array

    def compute_forces(self, theta: Array, rates: Array, a: Array, aim: Aim) -> RequiredForce:
        """Return the forces for accelerations a; see `ActuatorForceModel`."""
        here = local(self.mechanism, theta, rigid=True)
        drag, _ = here.dry_friction(aim.rates, FRICTION_SPEED)
        Q = here.required_forces(rates, a) + here.friction_forces(drag)

        def multipliers() -> Objective:
            moving = motion_of(local(self.mechanism, theta[None], rigid=True).configuration, rates[None], a[None])
            free, unit = unknown_multipliers(moving, drag[None])
            return multiplier_objective(free, unit[..., self.numbers], self.weights)

        return RequiredForce(here.input_map[:, self.numbers], Q, lambda: here.M, multipliers)


@dataclass(frozen=True, eq=False)
class ModelEquations:
    """Equations of a reduced model, rigid or at δ = 0."""

    model: ReducedModel
    numbers: list[int]

    def compute_forces(self, theta: Array, rates: Array, a: Array, aim: Aim) -> RequiredForce:
        """Return the forces for accelerations a; see `ActuatorForceModel`."""
        return _compute_model_forces(self, theta, rates, a, aim._replace(bending=None))


class FlexibleEquations:
    """Equations of a flexible reduced model at the quasi-static deformation of the reference motion."""

    def __init__(self, model: ReducedModel, numbers: list[int]) -> None:
        self.model, self.numbers = model, numbers
        self._delta = self._still = np.zeros(model.layout.size - model.layout.theta)

    def compute_forces(self, theta: Array, rates: Array, a: Array, aim: Aim) -> RequiredForce:
        """Return the forces for accelerations a; see `ActuatorForceModel`."""
        if aim.bending is None:
            aim = aim._replace(bending=np.stack([self.deformation(aim), self._still, self._still]))
        return _compute_model_forces(self, theta, rates, a, aim)

    def deformation(self, aim: Aim) -> Array:
        """Return δ_qs (n - s,), by iteration with K from the result of the last call."""
        model, s = self.model, self.model.layout.theta
        v, a = self._whole(aim.rates), self._whole(aim.accelerations)
        K = model.evaluate(aim.theta).K[s:, s:]
        delta = self._delta
        for _ in range(_ITERATIONS):
            residual = model.inverse(aim.theta, v, a, delta=delta, friction_speed=np.inf)[s:]
            change = np.linalg.solve(K, residual)
            delta = delta - change
            if np.abs(change).max() <= _SETTLED * np.abs(delta).max():
                self._delta = delta
                return delta
        raise NumericalError(
            "the deformation under the reference motion did not converge: the motion is too fast for the stiffness",
            part=f'model "{model.name}"', hint="use a slower motion, or treat the model as rigid (rigid=True)",
        )  # fmt: skip

    def _whole(self, part: Array) -> Array:
        return np.concatenate([part, self._still])


def _compute_model_forces(
    of: ModelEquations | FlexibleEquations, theta: Array, rates: Array, a: Array, aim: Aim
) -> RequiredForce:
    """Return the rows of θ at the reference δ, δ̇ and δ̈; all zero if these are not given."""
    model, layout = of.model, of.model.layout
    s = layout.theta
    bending = np.zeros((3, layout.size - s)) if aim.bending is None else aim.bending
    delta = None if aim.bending is None else bending[0]
    v, whole = np.concatenate([rates, bending[1]]), np.concatenate([a, bending[2]])
    # Friction is that of the reference rates, below; an infinite friction speed removes it here.
    Q = model.inverse(theta, v, whole, delta=delta, friction_speed=np.inf)[:s]
    here = model.evaluate(theta, delta=delta)
    if layout.dry_forces:
        drag, _ = here.dry_friction(np.concatenate([aim.rates, bending[1]]), FRICTION_SPEED)
        Q = Q + here.friction_forces(drag)[:s]
    return RequiredForce(here.input_map[:s, of.numbers], Q, lambda: here.M[:s, :s])


def require_quasistatic(model: ReducedModel, theta: Array, numbers: list[int]) -> None:
    """Refuse actuators that act directly on the deformation, which the quasi-static law does not allow for."""
    B = model.evaluate(theta).input_map[:, numbers]
    s = model.layout.theta
    if np.abs(B[s:]).max(initial=0.0) > _PUSHED * np.abs(B).max(initial=0.0):
        raise InputError(
            "the actuators act directly on elastic coordinates, which a quasi-static law does not include",
            part=f'model "{model.name}"', hint="use the actuators as coordinates, or rigid=True",
        )  # fmt: skip


# Commands of force drives for the forces of a controller, at low frequency.
#
#     ẋ = A x + B c + E ω,   f = C x + D c,   force f - c_v ω        settled: force = g c - d ω
#     g = D - C A⁻¹ B,   d = c_v + C A⁻¹ E,   c = (u + d ω) / g
#
# ω = Bᵀ θ̇ is the rate along the actuator. Lags, delays, dead bands and limits are not included: a loop must stay well
# below the drive's bandwidth, or use a preview.


@dataclass(frozen=True, eq=False)
class ForceCommands:
    """Conversion between forces and commands of drives.

    gain   : g (a,), N or N m per unit of the command
    drag   : d (a,), N s/m or N m s/rad
    driven : names of the actuators that have a drive
    """

    gain: Array
    drag: Array
    driven: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether commands are the forces themselves."""
        return bool((self.gain == 1.0).all() and not self.drag.any())

    def commands(self, forces: Array, along: Array) -> Array:
        """Return the commands c (a,) for forces at rates ω (a,)."""
        return (forces + self.drag * along) / self.gain

    def forces(self, commands: Array, along: Array) -> Array:
        """Return the forces (a,) of commands at rates ω (a,)."""
        return self.gain * commands - self.drag * along

    def rows(self, forces: Array) -> Array:
        """Return the commands (a, ...) for forces (a, ...) at rest."""
        return np.asarray((forces.T / self.gain).T)

    def by_rate(self, B: Array) -> Array:
        """Return the commands (a, s) per unit of θ̇ that compensate the drag; B (s, a) maps inputs to forces along θ."""
        return self.rows(self.drag[:, None] * B.T)

    def damping(self, B: Array) -> Array:
        """Return B d Bᵀ (s, s), the damping that drives add to θ."""
        return np.asarray((B * self.drag) @ B.T)


def force_commands(
    of: Mechanism | ReducedModel, actuators: tuple[str, ...], hardware: Hardware | bool, part: str
) -> ForceCommands:
    """Return the conversion of forces to commands, for the drives of some actuators.

    hardware : as in `closed_loop`: True for that of the mechanism or model itself, False for none
    part     : name of the controller for messages
    """
    return commands_for(hardware_in(of, hardware), actuators, part)


def commands_for(known: Hardware, actuators: tuple[str, ...], part: str) -> ForceCommands:
    """Return the conversion of forces to commands for given hardware."""
    pairs = [_settle_drive(known.drive(name), part) for name in actuators]
    driven = tuple(name for name in actuators if known.drive(name) is not None)
    return ForceCommands(np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs]), driven)


def _settle_drive(block: DriveBlock | None, part: str) -> tuple[float, float]:
    """Return g and d of a drive; without a drive the command is the force."""
    if block is None:
        return 1.0, 0.0
    if block.moves:
        raise InputError(
            f'the drive of actuator "{block.actuator}" takes {block.unit} and prescribes motion, but {part} commands '
            "forces",
            part=part, hint="use joint_servo or two_time_scales, or hardware=False in both controller and loop",
        )  # fmt: skip
    settled = np.linalg.solve(block.A, np.column_stack([block.B, block.E])) if block.order else np.zeros((0, 2))
    by_command, by_rate = block.C @ settled
    gain = block.D - float(by_command)
    if gain == 0.0:
        raise InputError(
            f'a constant command of actuator "{block.actuator}" causes no force', part=part, hint="correct its drive"
        )
    return gain, block.damping + float(by_rate)


# Series in the rates of a motion: states and inputs of a linear plant whose θ follows a slow motion.
#
# With ẋ = A x + B u and θ = E x = θ_d(t), x = Σ S_k θ_d^(k) and u = Σ R_k θ_d^(k):
#
#     A S_k + B R_k = S_{k-1},   E S_k = 1 for k = 0, 0 otherwise
#
# and of samples, x⁺ = F x + G u, with e^{sT} = 1 + sT + ...:  (F - 1) S_k + G R_k = Σ_{j ≥ 1} T^j / j! S_{k-j}. Drives,
# delays and holds are in A and B, so that R is the feedforward command.


_LEFT = 1e-7  # largest deviation of E S₀ from the identity


class MotionSeries(NamedTuple):
    """Series of a plant's states and inputs in the rates of its motion: S (4, N, s) and R (4, a, s)."""

    states: Array
    inputs: Array


def motion_series(A: Array, B: Array, E: Array, step: float | None = None) -> MotionSeries:
    """Return the series of ẋ = A x + B u, or with a step of x⁺ = A x + B u.

    E (s, N) maps states to θ. With more inputs than θ the least are used.
    """
    (N, a), s = B.shape, len(E)
    own = A if step is None else A - np.eye(N)
    solve = _solver(np.block([[own, B], [E, np.zeros((s, a))]]), np.append(_sizes(A, B), np.ones(a)))
    states, inputs = np.zeros((ORDERS, N, s)), np.zeros((ORDERS, a, s))
    for k in range(ORDERS):
        if step is None:
            below = states[k - 1] if k else np.zeros((N, s))
        else:
            below = sum((step**j / factorial(j) * states[k - j] for j in range(1, k + 1)), np.zeros((N, s)))
        found = solve(np.vstack([below, np.eye(s) * (k == 0)]))
        states[k], inputs[k] = found[:N], found[N:]
    if np.abs(E @ states[0] - np.eye(s)).max(initial=0.0) > _LEFT:
        raise NumericalError(
            "the actuators cannot hold every coordinate of the motion", part="state feedback",
            hint="use a motion with as many coordinates as actuators",
        )  # fmt: skip
    return MotionSeries(states, inputs)


def _solver(whole: Array, columns: Array) -> Callable[[Array], Array]:
    """Return a solver of a linear system with unknowns of given sizes, refined once; of many solutions the least."""
    scaled = whole * columns
    rows = np.abs(scaled).max(axis=1)
    rows[rows == 0.0] = 1.0
    scaled = scaled / rows[:, None]
    inverse = np.linalg.pinv(scaled, rcond=1e-13)

    def solve(right: Array) -> Array:
        scaled_right = right / rows[:, None]
        found = inverse @ scaled_right
        found += inverse @ (scaled_right - scaled @ found)
        return np.asarray(columns[:, None] * found)

    return solve


def _sizes(A: Array, B: Array) -> Array:
    """Return the size of each state that unit inputs cause within some time of the plant, for scaling."""
    scale = max(float(np.abs(np.linalg.eigvals(A)).max(initial=0.0)), 1e-12)
    reached = np.abs(B).sum(axis=1)
    found = reached.copy()
    for _ in range(len(A)):
        reached = np.abs(A) @ reached / scale
        found = np.maximum(found, reached)
    return np.where(found > 0.0, found, 1.0)
