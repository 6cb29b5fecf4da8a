"""Forces and commands that a controller asks of the actuators, from each kind of model that it may have.

For wanted accelerations a, computed torque needs

    B u = M(θ) a + Γ[θ̇, θ̇] + D_d θ̇ - p + Σ_j J_jᵀ f_j tanh(J_j θ̇_d / v₀)

Dry friction is cancelled along the wanted rates: along the measured ones it would chatter at every standstill. A
flexible model is asked at the deformation that the wanted motion keeps up, δ_qs with δ̇ = δ̈ = 0:

    M_δθ θ̈_d + Γ_δ[θ̇_d, θ̇_d] + K δ_qs = p_δ

or, along a motion that was planned with it, at δ, δ̇ and δ̈ as planned, which are in the rows of θ then.
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
from supple.control.redundancy.force_division import Needed
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

# Forces for wanted accelerations.


_ITERATIONS = 20
_SETTLED = 1e-7  # of the deformation: its last change
_PUSHED = 1e-9  # of B: what counts as a push on the deformation


class Aim(NamedTuple):
    """The wanted θ, θ̇, θ̈, (s,) each; bending : δ, δ̇, δ̈ (3, n - s) where the motion was planned with them."""

    theta: Array
    rates: Array
    accelerations: Array
    bending: Array | None = None


class ActuatorForceModel(Protocol):
    """What is needed of the chosen actuators for accelerations a (s,) at θ, θ̇ (s,) as measured."""

    def needed(self, theta: Array, rates: Array, a: Array, aim: Aim) -> Needed: ...


@dataclass(frozen=True, eq=False)
class MechanismEquations:
    """The mechanism itself, its elastic parts as rigid. numbers : of the actuators that work; weights : theirs."""

    mechanism: Mechanism
    numbers: list[int]
    weights: Array

    def needed(self, theta: Array, rates: Array, a: Array, aim: Aim) -> Needed:
        here = local(self.mechanism, theta, rigid=True)
        drag, _ = here.dry_friction(aim.rates, FRICTION_SPEED)
        Q = here.required_forces(rates, a) + here.friction_forces(drag)

        def multipliers() -> Objective:
            moving = motion_of(local(self.mechanism, theta[None], rigid=True).configuration, rates[None], a[None])
            free, unit = unknown_multipliers(moving, drag[None])
            return multiplier_objective(free, unit[..., self.numbers], self.weights)

        return Needed(here.input_map[:, self.numbers], Q, lambda: here.M, multipliers)


@dataclass(frozen=True, eq=False)
class ModelEquations:
    """A reduced model, rigid or at δ = 0."""

    model: ReducedModel
    numbers: list[int]

    def needed(self, theta: Array, rates: Array, a: Array, aim: Aim) -> Needed:
        return _needed(self, theta, rates, a, aim._replace(bending=None))


class FlexibleEquations:
    """A flexible reduced model, which deforms as the wanted motion makes it, quasi-statically."""

    def __init__(self, model: ReducedModel, numbers: list[int]) -> None:
        self.model, self.numbers = model, numbers
        self._delta = self._still = np.zeros(model.layout.size - model.layout.theta)

    def needed(self, theta: Array, rates: Array, a: Array, aim: Aim) -> Needed:
        if aim.bending is None:
            aim = aim._replace(bending=np.stack([self.deformation(aim), self._still, self._still]))
        return _needed(self, theta, rates, a, aim)

    def deformation(self, aim: Aim) -> Array:
        """δ_qs (n - s,), by iteration with K from where the last call ended."""
        model, s = self.model, self.model.layout.theta
        v, a = self._whole(aim.rates), self._whole(aim.accelerations)
        K = model.evaluate(aim.theta).K[s:, s:]
        delta = self._delta
        for _ in range(_ITERATIONS):
            left = model.inverse(aim.theta, v, a, delta=delta, friction_speed=np.inf)[s:]
            change = np.linalg.solve(K, left)
            delta = delta - change
            if np.abs(change).max() <= _SETTLED * np.abs(delta).max():
                self._delta = delta
                return delta
        raise NumericalError(
            "its deformation under the wanted motion was not found: it moves too fast for its stiffness",
            part=f'model "{model.name}"', hint="move more slowly, or take it as rigid (rigid=True)",
        )  # fmt: skip

    def _whole(self, part: Array) -> Array:
        return np.concatenate([part, self._still])


def _needed(of: ModelEquations | FlexibleEquations, theta: Array, rates: Array, a: Array, aim: Aim) -> Needed:
    """The rows of θ at δ, δ̇ and δ̈ as they are wanted; all zero if nothing is said of them."""
    model, layout = of.model, of.model.layout
    s = layout.theta
    bending = np.zeros((3, layout.size - s)) if aim.bending is None else aim.bending
    delta = None if aim.bending is None else bending[0]
    v, whole = np.concatenate([rates, bending[1]]), np.concatenate([a, bending[2]])
    # Friction is that of the wanted rates, below: at an infinite speed of sliding there is none.
    Q = model.inverse(theta, v, whole, delta=delta, friction_speed=np.inf)[:s]
    here = model.evaluate(theta, delta=delta)
    if layout.dry_forces:
        drag, _ = here.dry_friction(np.concatenate([aim.rates, bending[1]]), FRICTION_SPEED)
        Q = Q + here.friction_forces(drag)[:s]
    return Needed(here.input_map[:s, of.numbers], Q, lambda: here.M[:s, :s])


def require_unpushed(model: ReducedModel, theta: Array, numbers: list[int]) -> None:
    """Actuators that push the deformation as well are beyond a law that takes it as given by the motion."""
    B = model.evaluate(theta).input_map[:, numbers]
    s = model.layout.theta
    if np.abs(B[s:]).max(initial=0.0) > _PUSHED * np.abs(B).max(initial=0.0):
        raise InputError(
            "its actuators push modes of deformation as well, which a quasi-static law does not know",
            part=f'model "{model.name}"', hint="take the actuators as coordinates, or rigid=True",
        )  # fmt: skip


# Commands with which drives that pull give the forces that a controller asks for, slowly speaking.
#
#     ẋ = A x + B c + E ω,   f = C x + D c,   force f - c_v ω        settled: force = g c - d ω
#     g = D - C A⁻¹ B,   d = c_v + C A⁻¹ E,   c = (u + d ω) / g
#
# ω = Bᵀ θ̇ is the rate along the actuator. Lags, delays, dead bands and limits are not in it: a loop stays well below
# the drive's bandwidth, or is given a preview where it has one.


@dataclass(frozen=True, eq=False)
class ForceCommands:
    """gain : g (a,), N or N m for a unit of the command; drag : d (a,), N s/m or N m s/rad; driven : names of the
    actuators that have a drive."""

    gain: Array
    drag: Array
    driven: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether commands are the forces themselves."""
        return bool((self.gain == 1.0).all() and not self.drag.any())

    def commands(self, forces: Array, along: Array) -> Array:
        """c (a,) of forces at rates ω (a,)."""
        return (forces + self.drag * along) / self.gain

    def forces(self, commands: Array, along: Array) -> Array:
        """Back."""
        return self.gain * commands - self.drag * along

    def rows(self, forces: Array) -> Array:
        """Commands (a, ...) for a unit of whatever forces (a, ...) are for, where nothing moves."""
        return np.asarray((forces.T / self.gain).T)

    def by_rate(self, B: Array) -> Array:
        """Commands (a, s) for a unit of θ̇ that make up for the drag; B (s, a): of forces along θ."""
        return self.rows(self.drag[:, None] * B.T)

    def damping(self, B: Array) -> Array:
        """B d Bᵀ (s, s), which drives add to the damping of θ."""
        return np.asarray((B * self.drag) @ B.T)


def force_commands(
    of: Mechanism | ReducedModel, actuators: tuple[str, ...], hardware: Hardware | bool, part: str
) -> ForceCommands:
    """Commands for forces, of the drives of some actuators.

    hardware : as in `closed_loop`: True those of the mechanism or model itself, False none
    part     : who asks
    """
    return commands_for(hardware_in(of, hardware), actuators, part)


def commands_for(known: Hardware, actuators: tuple[str, ...], part: str) -> ForceCommands:
    """Commands for forces, of the drives among some hardware."""
    pairs = [_settled(known.drive(name), part) for name in actuators]
    driven = tuple(name for name in actuators if known.drive(name) is not None)
    return ForceCommands(np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs]), driven)


def _settled(block: DriveBlock | None, part: str) -> tuple[float, float]:
    """g and d of a drive; of none the command is the force."""
    if block is None:
        return 1.0, 0.0
    if block.moves:
        raise InputError(
            f'the drive of actuator "{block.actuator}" takes {block.unit} and moves it, and {part} asks for forces',
            part=part, hint="take joint_servo or two_time_scales, or leave drives out on both sides (hardware=False)",
        )  # fmt: skip
    settled = np.linalg.solve(block.A, np.column_stack([block.B, block.E])) if block.order else np.zeros((0, 2))
    by_command, by_rate = block.C @ settled
    gain = block.D - float(by_command)
    if gain == 0.0:
        raise InputError(
            f'a constant command of actuator "{block.actuator}" gives no force', part=part, hint="correct its drive"
        )
    return gain, block.damping + float(by_rate)


# Series in the rates of a motion: what a linear plant does, and is told, where its θ follows a slow motion.
#
# With ẋ = A x + B u and θ = E x = θ_d(t), x = Σ S_k θ_d^(k) and u = Σ R_k θ_d^(k):
#
#     A S_k + B R_k = S_{k-1},   E S_k = 1 for k = 0, 0 otherwise
#
# and of samples, x⁺ = F x + G u, with e^{sT} = 1 + sT + ...:  (F - 1) S_k + G R_k = Σ_{j ≥ 1} T^j / j! S_{k-j}. Drives,
# delays and holds are in A and B, so that R says what has to be commanded beforehand.


_LEFT = 1e-7  # of 1: how far E S₀ may be from it


class MotionSeries(NamedTuple):
    """Series of a plant's states and inputs in the rates of its motion: S (4, N, s) and R (4, a, s)."""

    states: Array
    inputs: Array


def motion_series(A: Array, B: Array, E: Array, step: float | None = None) -> MotionSeries:
    """The series of ẋ = A x + B u, or with a step of x⁺ = A x + B u.

    E (s, N) tells θ; of more inputs than θ the least are taken.
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
            "the actuators cannot hold every coordinate of the motion where it is wanted", part="state feedback",
            hint="follow a motion of as many coordinates as there are actuators",
        )  # fmt: skip
    return MotionSeries(states, inputs)


def _solver(whole: Array, columns: Array) -> Callable[[Array], Array]:
    """Solutions of a linear system with unknowns of these sizes, refined once; of many the least."""
    scaled = whole * columns
    rows = np.abs(scaled).max(axis=1)
    rows[rows == 0.0] = 1.0
    scaled = scaled / rows[:, None]
    inverse = np.linalg.pinv(scaled, rcond=1e-13)

    def solve(right: Array) -> Array:
        wanted = right / rows[:, None]
        found = inverse @ wanted
        found += inverse @ (wanted - scaled @ found)
        return np.asarray(columns[:, None] * found)

    return solve


def _sizes(A: Array, B: Array) -> Array:
    """A size of each state that inputs of 1 give within some time of the plant, so that units do not decide."""
    scale = max(float(np.abs(np.linalg.eigvals(A)).max(initial=0.0)), 1e-12)
    reached = np.abs(B).sum(axis=1)
    found = reached.copy()
    for _ in range(len(A)):
        reached = np.abs(A) @ reached / scale
        found = np.maximum(found, reached)
    return np.where(found > 0.0, found, 1.0)
