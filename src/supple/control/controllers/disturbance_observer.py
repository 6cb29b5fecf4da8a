"""Disturbance observer: estimate and cancel forces that the model does not include, such as payload.

    M(θ) (θ̈ - w) + Γ(θ)[θ̇_d, θ̇_d] + D_d θ̇ - p(θ) = B c,     ẇ = 0                  w: unknown acceleration

From θ as measured and the forces c₋ as drives applied them, θ̂, v̂ and ŵ are predicted over a sample and corrected by

    θ̂ += (1 - β³) e,   v̂ += 3/2 (1 - β)² (1 + β) e / T,   ŵ += (1 - β)³ e / T²,   e = θ - θ̂,   β = exp(-ω_o T)

which places all poles of the estimate at β, a third-order filter without overshoot. Then

    B u = M (θ̈_d + 2 ξ ω (θ̇_d - v̂) + ω² (θ_d - θ̂) - ŵ) + Γ[θ̇_d, θ̇_d] + D_d v̂ - p

A force drive gets the command c = (u + d ω)/g for a force u (`force_commands`): B c₋ is then B g c₋, and B d Bᵀ is
included in D_d. M, D_d, p, Γ and B are those at θ, fitted over the region: computed torque as an affine law. Constant
disturbances such as the weight of a payload are cancelled to zero error. ω_o should lie well above ω, and below the
bandwidth of the drives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.control.controllers.joint_law import JointModel
from supple.control.controllers.needed_forces import ForceCommands, force_commands
from supple.control.feedforward.reference import reference
from supple.control.gains.feedback_gain import PerCoordinate, per_coordinate
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_matrices import AffineMatrices, Ports, empty
from supple.control.laws.law_equilibrium import Equilibria
from supple.control.laws.scheduling import scheduled_law
from supple.control.margins.loop_check import loop_on
from supple.control.plants.surrounding import hardware_in
from supple.description.drawing import Drawing
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.equations.equations_of_motion import EquationsOfMotion
from supple.hardware.hardware import Hardware
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel

NAME = "disturbance observer"


def disturbance_observer(
    model: ReducedModel,
    motion: Any,
    *,
    sample_time: float,
    frequencies: PerCoordinate,
    damping_ratios: PerCoordinate = 1.0,
    observer_frequencies: PerCoordinate,
    sensors: Mapping[str, str] | None = None,
    hardware: Hardware | bool = True,
    tolerance: float = 5e-3,
) -> AffineController:
    """Create a controller of forces that follows a motion, and estimates and cancels disturbances.

    Parameters
    ----------
    model : ReducedModel
        Reduced model; the rows of θ of a flexible one.
    motion : str, Motion, Trajectory, path or callable
        Motion, as in `reference`.
    sample_time : float
        Sample time, s.
    frequencies : float, mapping of str to float, or array_like
        Natural frequencies ω of the errors, rad/s.
    damping_ratios : float, mapping of str to float, or array_like, optional
        Damping ratios ξ of the errors. Default: 1.
    observer_frequencies : float, mapping of str to float, or array_like
        Frequencies ω_o of the observer, rad/s.
    sensors : mapping of str to str, optional
        Sensors of the coordinates, such as {"lift": "encoder"}. Default: of the same name.
    hardware : Hardware or bool, optional
        Drives between commands and forces, as in `closed_loop`; False for commands that are forces. Default: the
        model's.
    tolerance : float, optional
        Largest change of the closed loop by the fit over the region: the error of any response relative to its peak.
        Default: 5e-3.

        The equilibrium is not approximated: the law rests at its goal whatever the tolerance.

    Returns
    -------
    AffineController
        Controller for `closed_loop` and `supple.export`.

    Raises
    ------
    InputError
        If a frequency is not positive, or the actuators do not move every coordinate.

    Warns
    -----
    UnstableLoop
        If the loop with the drives is unstable on the linearized model.

    See Also
    --------
    estimated_disturbance : Forces that the observer estimates.
    estimated_payload : Mass of a payload from these forces.
    computed_torque : The same without an observer.
    """
    require_arguments(disturbance_observer, locals())
    joints, target = JointModel(model), reference(motion, model)
    names = joints.coordinates
    omega = per_coordinate("frequencies", frequencies, names)
    ratios = per_coordinate("damping ratios", damping_ratios, names)
    fast = per_coordinate("observer frequencies", observer_frequencies, names)
    for part, values in (("frequencies", omega), ("observer frequencies", fast)):
        if not (values > 0.0).all():
            raise InputError(f"must be positive (got {values.min():g} rad/s)", part=part, hint="give numbers above 0")
    known = {} if sensors is None else dict(sensors)
    outputs = tuple(known.get(name, name) for name in names)
    ports = Ports(outputs, names, joints.actuators, sample_time, swept=True)
    drives = force_commands(model, joints.actuators, hardware, NAME)

    def matrices_of(theta: Array) -> AffineMatrices:
        return _matrices(joints, theta, (omega, ratios, fast), ports, drives)

    law = scheduled_law(
        matrices_of, model, ports, tolerance=tolerance, name=NAME, by=outputs,
        equilibria=lambda theta: _equilibria(joints, theta, ports, drives),
        loop=loop_on(model, hardware_in(model, hardware), ports),
        remedy="lower observer_frequencies and frequencies, below the bandwidth of drives and the modes of the machine",
    )  # fmt: skip
    return AffineController(replace(law, commanded_actuators=drives.driven), target)


def third_order_gains(beta: Array, T: float) -> tuple[Array, Array, Array]:
    """Return the gains of θ̂, v̂ and ŵ, (s,) each, with all poles at β."""
    return 1.0 - beta**3, 1.5 * (1.0 - beta) ** 2 * (1.0 + beta) / T, (1.0 - beta) ** 3 / T**2


def _matrices(
    joints: JointModel, theta: Array, choice: tuple[Array, Array, Array], ports: Ports, drives: ForceCommands
) -> AffineMatrices:
    (omega, ratios, fast), s, T = choice, len(ports.coordinates), ports.sample_time
    whole, here = joints.equations(theta), joints.at(theta)
    inverse, one, none = np.linalg.inv(here.M), np.eye(s), np.zeros((s, s))
    B, divide = here.input_map, drives.rows(here.divide)
    damping = here.damping + drives.damping(B)
    bend = _products(whole, ports, s)
    F = np.block([
        [one, T * one - 0.5 * T**2 * inverse @ damping, 0.5 * T**2 * one],
        [none, one - T * inverse @ damping, T * one], [none, none, one],
    ])  # fmt: skip
    pushed = np.vstack([0.5 * T**2 * inverse, T * inverse, none])  # by a force over a sample
    L = np.vstack([np.diag(gain) for gain in third_order_gains(np.exp(-fast * T), T)])
    kept = np.eye(3 * s) - L @ np.eye(3 * s)[:s]
    m = empty(3 * s, ports)
    m.A[:] = kept @ F
    m.B[:, ports.y], m.B[:, ports.products] = L, -kept @ pushed @ bend
    m.B[:, ports.applied_commands] = kept @ pushed @ (B * drives.gain)
    m.b[:] = kept @ pushed @ here.force
    U = divide @ np.hstack([-here.M * omega**2, here.damping - here.M * (2.0 * ratios * omega), -here.M])
    U[:, s : 2 * s] += drives.by_rate(B)
    m.C[:], m.D[:], m.d[:] = U @ m.A, U @ m.B, U @ m.b - divide @ here.force
    for order, gain in enumerate((omega**2, 2.0 * ratios * omega, np.ones(s))):
        m.D[:, ports.wanted(order)] += divide @ (here.M * gain)
    m.D[:, ports.products] += divide @ bend
    m.A0[:s, ports.y] = one  # it starts with the rates of the motion, without a disturbance
    m.A0[s : 2 * s, ports.wanted(1)] = one
    return m


def _equilibria(joints: JointModel, theta: Array, ports: Ports, drives: ForceCommands) -> Equilibria:
    """Return the equilibria of the law at θ (N, s), without disturbance."""
    count, s = theta.shape
    commands = np.asarray(drives.rows(joints.find_holding_inputs(theta).T).T)
    states, known = np.zeros((count, 3 * s)), np.zeros((count, ports.size))
    states[:, :s], known[:, ports.y], known[:, ports.wanted(0)], known[:, ports.applied_commands] = (
        theta,
        theta,
        theta,
        commands,
    )
    return Equilibria(states, known, commands)


def _products(here: EquationsOfMotion, ports: Ports, s: int) -> Array:
    """Return Γ of θ as a matrix (s, pairs) of the products θ̇_i θ̇_j, i <= j."""
    gamma = here.christoffel[:s, :s, :s]
    pairs = zip(*ports.factors, strict=True)
    return np.stack([(1.0 if i == j else 2.0) * gamma[:, i, j] for i, j in pairs], axis=1)


def estimated_disturbance(controller: AffineController, model: ReducedModel | Mechanism) -> dict[str, float]:
    """Return the force along each coordinate that a disturbance observer estimates.

    Parameters
    ----------
    controller : AffineController
        Controller made by `disturbance_observer`, after a run.
    model : ReducedModel or Mechanism
        Model of the inertia.

    Returns
    -------
    dict of str to float
        M(θ̂) ŵ by coordinate, N or N m.

    Raises
    ------
    InputError
        If the controller has no disturbance observer.

    See Also
    --------
    estimated_payload : Mass of a payload from these forces.
    """
    require_arguments(estimated_disturbance, locals())
    theta, _, w = _estimates(controller)
    force = JointModel(model).at(theta).M @ w
    return dict(zip(controller.coordinates, force.tolist(), strict=True))


def estimated_payload(controller: AffineController, mechanism: Mechanism, sensor: str) -> float:
    """Return the mass of a payload from the forces that a disturbance observer estimates at rest.

    Parameters
    ----------
    controller : AffineController
        Controller made by `disturbance_observer`, after a run, with the machine at rest.
    mechanism : Mechanism
        Mechanism with gravity.
    sensor : str
        Position sensor at the payload.

    Returns
    -------
    float
        Mass, kg.

    Raises
    ------
    InputError
        If a weight at the sensor moves no coordinate, or the controller has no disturbance observer.

    See Also
    --------
    estimated_disturbance : Estimated forces.

    Notes
    -----
    Solution of f = Jᵀ g m in the sense of least squares, J the rows of the sensor's outputs.
    """
    require_arguments(estimated_payload, locals())
    theta, _, _ = _estimates(controller)
    here = local(mechanism, theta, rigid=True)
    weight = np.zeros(len(theta))
    gravity = np.zeros(3)
    if mechanism.gravity is not None:
        gravity = Drawing(mechanism).vector(mechanism.gravity, ("gravity",), "gravity")
    for axis, pull in zip(mechanism.plane or "xyz", gravity, strict=False):  # in the plane, its two letters
        name = f"{sensor}.{axis}"
        if name in here.outputs:
            weight += np.asarray(here.outputs[name].rigid) * pull
    if not np.any(weight):
        raise InputError(
            f'a weight at "{sensor}" moves no coordinate at this configuration', part="payload",
            hint="name a position sensor of a mechanism with gravity",
        )  # fmt: skip
    found = np.array(list(estimated_disturbance(controller, mechanism).values()))
    return float(weight @ found / (weight @ weight))


def _estimates(controller: AffineController) -> Array:
    if controller.law.name != NAME:
        raise InputError(f'"{controller.law.name}" estimates no disturbance', hint="use a disturbance_observer")
    return controller.state.reshape(3, -1)
