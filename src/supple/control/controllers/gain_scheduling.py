"""Gain scheduling: state feedback with gains designed on the linear model at every θ, fitted over the region.

    u = u⁰(θ) + Σ_k R_k(θ) θ_d^(k) + B⁺ Γ(θ)[θ̇_d, θ̇_d] - K(θ) (x - x⁰(θ) - Σ_k S_k(θ) θ_d^(k)),     x = (η, η̇)

x⁰ and u⁰ are the state and the inputs at rest at θ. S and R are the states and inputs of the linear model there while
it follows the motion (`motion_series`; the term of order 0 is that of θ_d - θ). All of x must be measured; otherwise
use `state_feedback` on an observer. The design maps a linear model to a gain: lqr, pole_placement, decoupled_gains, ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.control.controllers.joint_law import least_inputs, outputs_read
from supple.control.controllers.needed_forces import ForceCommands, force_commands, motion_series
from supple.control.feedforward.reference import reference
from supple.control.gains.feedback_gain import FeedbackGain
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_matrices import ORDERS, AffineMatrices, Ports, empty
from supple.control.laws.law_equilibrium import Equilibria
from supple.control.laws.scheduling import scheduled_law
from supple.control.margins.loop_check import loop_on
from supple.control.plants.surrounding import hardware_in
from supple.diagnostics.arguments import require_arguments
from supple.hardware.hardware import Hardware
from supple.reduced.holding import find_rest
from supple.reduced.model import ReducedModel
from supple.results.linear_model import LinearModel

Design = Callable[[LinearModel], FeedbackGain]


def gain_scheduled(
    model: ReducedModel,
    motion: Any,
    design: Design,
    *,
    sample_time: float,
    tolerance: float = 5e-3,
    sensors: Mapping[str, str] | None = None,
    hardware: Hardware | bool = True,
) -> AffineController:
    """Create a state feedback whose gains are scheduled over the region of a reduced model.

    Parameters
    ----------
    model : ReducedModel
        Reduced model.
    motion : str, Motion, Trajectory, path or callable
        Motion, as in `reference`.
    design : callable
        Function from a linear model to its gain, such as ``lambda linear: lqr(linear, Q, R, sample_time=1e-3)``.
    sample_time : float
        Sample time, s.
    tolerance : float, optional
        Largest change of the closed loop by the fit over the region: the error of any response relative to its peak.
        Default: 5e-3.

        The equilibrium is not approximated: the law rests at its goal whatever the tolerance.
    sensors : mapping of str to str, optional
        Sensors of the states, where names differ from theirs. Default: of the same name.
    hardware : Hardware or bool, optional
        Drives between commands and forces, as in `closed_loop`; False for commands that are forces. Default: the
        model's.

        The design does not include the lag of the drives.

    Returns
    -------
    AffineController
        Controller for `closed_loop` and `supple.export`.

    Raises
    ------
    InputError
        If the actuators do not move every coordinate, or a sensor is unknown.

    Warns
    -----
    UnstableLoop
        If the loop with the drives is unstable on the linearized model.

    See Also
    --------
    state_feedback : Scheduled state feedback on a Kalman filter.
    scheduled : General fit of a law over a region.
    """
    require_arguments(gain_scheduled, locals())
    drives = force_commands(model, model.layout.inputs, hardware, "gain scheduling")
    target = reference(motion, model)
    names = model.layout.coordinates
    own = (*names, *(f"{name}.rate" for name in names))
    outputs = outputs_read(own, sensors)
    ports = Ports(outputs, target.coordinates, model.layout.inputs, sample_time, swept=True)

    def matrices_of(theta: Array) -> AffineMatrices:
        return _matrices(model, theta, design, ports, drives)

    law = scheduled_law(
        matrices_of, model, ports, tolerance=tolerance, name="gain scheduling", by=outputs[: model.layout.theta],
        equilibria=lambda theta: _equilibria(model, theta, ports, drives),
        loop=loop_on(model, hardware_in(model, hardware), ports),
        remedy="the lag of drives is not part of the design: use slower gains, or state_feedback on an observer",
    )  # fmt: skip
    return AffineController(replace(law, commanded_actuators=drives.driven), target)


def _matrices(model: ReducedModel, theta: Array, design: Design, ports: Ports, drives: ForceCommands) -> AffineMatrices:
    n, s = model.layout.size, model.layout.theta
    linear = model.linearize(theta, drives=False)
    K = design(linear).K
    at = linear.at
    x = np.array([at["states"][name] for name in linear.states])
    u = np.array([at["inputs"][name] for name in linear.inputs])
    series = motion_series(linear.A, linear.B, np.eye(2 * n)[:s])
    m = empty(0, ports)
    m.D[:, ports.y] = -K
    m.d[:] = u + K @ x
    for k in range(ORDERS):
        m.D[:, ports.wanted(k)] = series.inputs[k] + K @ series.states[k]
    m.d[:] -= m.D[:, ports.wanted(0)] @ x[:s]
    here = model.evaluate(theta)
    divide, gamma = least_inputs(here.input_map[:s], theta), here.christoffel[:s]
    for place, (i, j) in enumerate(zip(*ports.factors, strict=True), ports.products.start):
        m.D[:, place] = (1.0 if i == j else 2.0) * divide @ gamma[:, i, j]
    m.D[:], m.d[:] = drives.rows(m.D), drives.rows(m.d)
    m.D[:, n : 2 * n] += drives.by_rate(here.input_map)
    return m


def _equilibria(model: ReducedModel, theta: Array, ports: Ports, drives: ForceCommands) -> Equilibria:
    """Return the equilibria of the law at θ (N, s); it has no states."""
    found, n = find_rest(model, theta), model.layout.size
    commands = np.asarray(drives.rows(found.inputs.T).T)
    known = np.zeros((len(theta), ports.size))
    known[:, :n], known[:, ports.wanted(0)], known[:, ports.applied_commands] = found.eta, theta, commands
    return Equilibria(np.zeros((len(theta), 0)), known, commands)
