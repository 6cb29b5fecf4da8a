"""LQG: linear quadratic regulator on the estimates of a Kalman filter, about the operating point of a linear model.

    u = c* - K (X̂ - X*)

X̂ is the estimate of the filter from the measurements, K the gain of least Σ T (XᵀQX + uᵀRu) of the samples, X* the
state at rest on the target and c* the command that holds it. The poles of the loop are those of the regulator,
F - G K, and those of the filter, (I - L H) F [Åström 1997, section 11.4].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve, solve_continuous_are, solve_discrete_are

from supple.array_types import Array
from supple.control.controllers.needed_forces import motion_series
from supple.control.feedforward.reference import reference
from supple.control.gains.feedback_gain import FeedbackGain, PerCoordinate, require_continuous_time
from supple.control.gains.pole_placement import UnreachableModes, unreachable_modes
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import constant_law
from supple.control.laws.affine_matrices import ORDERS, AffineMatrices, Ports
from supple.control.laws.scheduling import scheduled_law
from supple.control.observers.kalman_filter import FilterAt, KalmanFilter, kalman_filter
from supple.control.observers.linear_filter import LinearFilter, rigid_coordinate_names
from supple.control.observers.observed_law import (
    Feedback,
    feedback_law,
    observed_equilibria,
    observed_loop,
    observer_ports,
    product_columns,
)
from supple.control.observers.sampled_plant import discretize, discretize_cost, require_sample_time
from supple.diagnostics import InputError, NumericalError, require_known
from supple.diagnostics.arguments import require_arguments
from supple.reduced.repertoire import named_theta
from supple.reduced.state_arguments import in_order, theta_points
from supple.results.linear_model import LinearModel

_HELD = 1e-9  # largest change in a sample at the target, of the distance to the target


def lqg(
    linear: LinearModel,
    Q: Weights,
    R: Weights,
    *,
    sample_time: float,
    accelerations: PerCoordinate,
    noise: float | Mapping[str, float],
    measured: Sequence[str] | None = None,
    bias: Mapping[str, float] | None = None,
    target: Mapping[str, float] | None = None,
    computation_delay: float = 0.0,
) -> AffineController:
    """Create a linear quadratic regulator on a Kalman filter, for machines whose states are not all measured.

    Parameters
    ----------
    linear : LinearModel
        Linear model in continuous time; with drives=False its inputs are forces, otherwise commands of its drives.
    Q : float, mapping of str to float, or array_like
        Weights of the states, as in `lqr`.
    R : float, mapping of str to float, or array_like
        Weights of the inputs, as in `lqr`.
    sample_time : float
        Sample time, s.
    accelerations : float, mapping of str to float, or array_like
        RMS of the unknown part of θ̈, m/s² or rad/s²; for all coordinates or each.

        With larger values the filter trusts the measurements more.
    noise : float or mapping of str to float
        RMS noise of the measurements, for all or by name.
    measured : sequence of str, optional
        Outputs, coordinates or rates that are measured. Default: the coordinates θ.
    bias : mapping of str to float, optional
        Drift of sensor biases, RMS per √s, as in `kalman_filter`. Default: none.
    target : mapping of str to float, optional
        Target coordinates θ by name, the others as in the linear model. Default: the operating point.

        Elastic coordinates follow from them.
    computation_delay : float, optional
        Delay from a measurement to its command, s, as in `closed_loop`. Default: 0.

    Returns
    -------
    AffineController
        Controller for `closed_loop` and `supple.export`.

    Raises
    ------
    InputError
        If no inputs hold the target, the measurements do not observe all states, or weights are invalid.
    NumericalError
        If the Riccati equation has no stabilizing solution.

    See Also
    --------
    lqr : Gain for machines whose states are all measured.
    kalman_filter : The filter alone.
    state_feedback : The same over a region, along a motion.

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> linear = supple.linearize(supple.load("two-link"), "near")
    >>> Q = {"shoulder": 1e6, "elbow": 1e6}
    >>> controller = control.lqg(linear, Q, 1.0, sample_time=0.01, accelerations=1.0, noise=1e-4)
    >>> controller.law.measurements
    ('shoulder', 'elbow')
    """
    require_arguments(lqg, locals())
    observer = kalman_filter(
        linear, sample_time=sample_time, accelerations=accelerations, measured=measured, noise=noise, bias=bias,
        computation_delay=computation_delay,
    )  # fmt: skip
    plant, T = observer.plant, sample_time
    N = len(plant.F) - len(observer.biased_outputs)  # without biases, which no command changes
    F, G = plant.F[:N, :N], plant.G[:N]
    K = sampled_regulator(F, G, T * _whole(Q, linear.states, N), T * weights("R", R, linear.inputs))
    state, command = _find_held_state(observer, target, F, G)
    ports = Ports(observer.measured, (), linear.inputs, T)
    U = np.zeros((len(K), len(plant.F)))
    U[:, :N] = -K
    feedback = Feedback(U, np.zeros((len(K), ports.size)), command + K @ state)
    law = constant_law(feedback_law(observer, observer, ports, feedback), ports, name="lqg")
    return AffineController(replace(law, undriven=linear.undriven))


def _find_held_state(
    observer: LinearFilter, target: Mapping[str, float] | None, F: Array, G: Array
) -> tuple[Array, Array]:
    """Return X* and c*: (F - I) δX + G δc = 0 with θ on the target."""
    plant, N = observer.plant, len(F)
    state, command = plant.state[:N].copy(), plant.command.copy()
    if not target:
        return state, command
    theta = rigid_coordinate_names(observer.linear)
    for name in target:
        require_known("coordinate", name, theta, part="target")
    change = np.array([target.get(name, state[i]) for i, name in enumerate(theta)]) - state[: len(theta)]
    rows = np.block([[F - np.eye(N), G], [np.eye(len(theta), N), np.zeros((len(theta), G.shape[1]))]])
    right = np.append(np.zeros(N), change)
    found = np.linalg.lstsq(rows, right, rcond=1e-13)[0]
    residual = float(np.abs(rows @ found - right).max())
    if residual > _HELD * max(float(np.abs(change).max()), 1e-300):
        raise InputError(
            f"no inputs hold the target: residual {residual:.3g} of a change of {np.abs(change).max():.3g}",
            part="target",
            hint="choose a target at rest that the actuators can hold",
        )  # fmt: skip
    return state + found[:N], command + found[N:]


# State feedback on an observer: the regulator of least cost of the machine as sampled, with drives and delays.
#
#     u = c⁰ + Σ_k R_k θ_d^(k) + R_w w - K (X̂ - X⁰ - Σ_k S_k θ_d^(k) - S_w w)
#
# X̂ is the estimate of the Kalman filter of the model's coordinates, rates and drives, and of delayed commands;
# K minimises Σ T (XᵀQX + uᵀRu) of the samples, relative to the motion; S and R are states and commands of the machine
# while it follows the motion (`motion_series`), w are the products of its rates (centrifugal forces). All of it at θ,
# and fitted over the region.


def state_feedback(
    observer: KalmanFilter,
    motion: Any,
    *,
    Q: Weights,
    R: Weights,
    at: Any = None,
    tolerance: float = 5e-3,
) -> AffineController:
    """Create a linear quadratic state feedback on a Kalman filter that follows a motion.

    Parameters
    ----------
    observer : KalmanFilter
        Kalman filter of a reduced model, with its drives, instruments and delays, from `kalman_filter`.
    motion : str, Motion, Trajectory, path or callable
        Motion, as in `reference`.
    Q : float, mapping of str to float, or array_like
        Weights of the model's states ("lift", "lift.rate", ...), as in `lqr`.
    R : float, mapping of str to float, or array_like
        Weights of the commands, as in `lqr`.
    at : mapping, array_like or str, optional
        Configuration of a constant law, used everywhere. Default: the law is scheduled over θ.
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
        If weights are invalid, or the configuration is unknown.
    NumericalError
        If the Riccati equation has no stabilizing solution.

    See Also
    --------
    lqg : The same about one operating point.
    gain_scheduled : Scheduled feedback of measured states.
    two_time_scales : Joint tracking with damping of vibration.
    """
    require_arguments(state_feedback, locals())
    model = observer.model
    target = reference(motion, model)
    ports = observer_ports(observer, target.coordinates)

    def matrices_of(theta: Array) -> AffineMatrices:
        here = observer.at(theta)
        return feedback_law(observer, here, ports, _feedback(observer, here, ports, Q, R))

    if at is not None:
        theta = theta_points(model.layout, named_theta(model, at))[0][0]
        law = constant_law(matrices_of(theta), ports, name="state feedback")
    else:
        law = scheduled_law(
            matrices_of, model, ports, tolerance=tolerance, name="state feedback", by=observer.encoders,
            equilibria=lambda theta: observed_equilibria(observer, ports, theta, lambda rests: rests.commands),
            loop=lambda theta: observed_loop(observer, theta),
        )  # fmt: skip
    driven = {block.actuator for block in observer.hardware.drives}
    return AffineController(replace(law, commanded_actuators=tuple(n for n in ports.actuators if n in driven)), target)


def _feedback(observer: KalmanFilter, here: FilterAt, ports: Ports, Q: Weights, R: Weights) -> Feedback:
    plant, T, s = here.plant, observer.sample_time, observer.model.layout.theta
    N = len(plant.F) - len(observer.biased_outputs)  # without biases, which no command changes
    F, G, E = plant.F[:N, :N], plant.G[:N], plant.E[:N]
    K = sampled_regulator(F, G, T * _whole(Q, plant.names[: plant.model], N), T * weights("R", R, ports.actuators))
    theta = np.eye(N)[:s]
    series = motion_series(F, G, theta, T)
    U, V = np.zeros((len(K), len(plant.F))), np.zeros((len(K), ports.size))
    U[:, :N] = -K
    for k in range(ORDERS):
        V[:, ports.wanted(k)] = series.inputs[k] + K @ series.states[k]
    rest_map = np.linalg.pinv(np.block([[F - np.eye(N), G], [theta, np.zeros((s, len(K)))]]), rcond=1e-13)
    by_products = rest_map @ np.vstack([-E, np.zeros((s, E.shape[1]))])
    V[:, product_columns(observer, ports)] = by_products[N:] + K @ by_products[:N]
    return Feedback(U, V, plant.command + K @ plant.state[:N] - V[:, ports.wanted(0)] @ plant.state[:s])


def _whole(Q: Weights, names: tuple[str, ...], N: int) -> Array:
    """Return the weights of the model's states among all N."""
    found = np.zeros((N, N))
    found[: len(names), : len(names)] = weights("Q", Q, names)
    return found


def sampled_regulator(F: Array, G: Array, Q: Array, R: Array) -> Array:
    """Return K of least Σ XᵀQX + uᵀRu of X⁺ = F X + G u: K = (R + Gᵀ P G)⁻¹ Gᵀ P F, P from the Riccati equation."""
    try:
        P = solve_discrete_are(F, G, Q, R)
    except (LinAlgError, ValueError) as error:
        raise NumericalError(
            f"the Riccati equation was not solved ({' '.join(str(error).split())})", part="state feedback",
            hint="give weights to the coordinates, weights closer to each other, or fewer modes",
        ) from None  # fmt: skip
    K = np.linalg.solve(R + G.T @ P @ G, G.T @ P @ F)
    largest = float(np.abs(np.linalg.eigvals(F - G @ K)).max())
    if not largest < 1.0:
        raise NumericalError(
            f"the closed loop has an eigenvalue of {largest:.9g} per sample, which does not decay",
            part="state feedback", hint="give weights to the coordinates, or weights closer to each other",
        )  # fmt: skip
    return np.asarray(K)


# Linear quadratic regulator: the feedback of least cost ∫ (δxᵀ Q δx + δuᵀ R δu) dt.
#
# K = R⁻¹ Bᵀ P,   Aᵀ P + P A - P B R⁻¹ Bᵀ P + Q = 0


Weights = float | Mapping[str, float] | ArrayLike

_SYMMETRIC = 1e-12


def lqr(linear: LinearModel, Q: Weights, R: Weights, *, sample_time: float | None = None) -> FeedbackGain:
    """Compute the gain of the linear quadratic regulator.

    Parameters
    ----------
    linear : LinearModel
        Linear model in continuous time.
    Q : float, mapping of str to float, or array_like
        Weights of the states, not negative.

        One number for all, by name (others zero), in order, or a symmetric matrix.
    R : float, mapping of str to float, or array_like
        Weights of the inputs, positive, given as those of the states.
    sample_time : float, optional
        Sample time for which inputs are held, s. Default: none, for continuous feedback.

        The cost is then the same integral over the motion between samples.

    Returns
    -------
    FeedbackGain
        Gain and poles.

    Raises
    ------
    InputError
        If weights are not definite, or inputs or weights do not reach modes that do not decay.
    NumericalError
        If the Riccati equation has no stabilizing solution.

    See Also
    --------
    lqg : Regulator for machines whose states are not all measured.
    pole_placement : Gain for given poles.

    Notes
    -----
    K = R⁻¹ Bᵀ P minimizes ∫ (δxᵀ Q δx + δuᵀ R δu) dt, with Aᵀ P + P A - P B R⁻¹ Bᵀ P + Q = 0.

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> linear = supple.linearize(supple.load("two-link"), "near")
    >>> gain = control.lqr(linear, Q={"shoulder": 1e6, "elbow": 1e6}, R=1.0)
    >>> bool((gain.poles.real < 0).all())
    True
    """
    require_arguments(lqr, locals())
    require_continuous_time(linear)
    require_sample_time(sample_time)
    states, inputs = weights("Q", Q, linear.states), weights("R", R, linear.inputs)
    _require_definite("Q", states, linear.states, strict=False)
    _require_definite("R", inputs, linear.inputs, strict=True)
    _require(unreachable_modes(linear.A, linear.B, linear.states, unstable=True), "inputs", "add an actuator there")
    _require_detectable(linear, states)
    A, B, N = linear.A, linear.B, np.zeros_like(linear.B)
    try:
        if sample_time is None:
            P = solve_continuous_are(A, B, states, inputs)
            K = cho_solve(cho_factor(inputs), B.T @ P)
        else:
            A, B = discretize(A, B, sample_time)
            states, N, inputs = discretize_cost(linear.A, linear.B, states, inputs, sample_time)
            P = solve_discrete_are(A, B, states, inputs, s=N)
            K = cho_solve(cho_factor(inputs + B.T @ P @ B), B.T @ P @ A + N.T)
    except np.linalg.LinAlgError as error:
        raise NumericalError(
            f"the Riccati equation was not solved ({' '.join(str(error).split())})", part="lqr",
            hint="give weights closer to each other, or scaled to the units of the states",
        ) from None  # fmt: skip
    found = np.linalg.eigvals(A - B @ K).astype(complex)
    poles = found if sample_time is None else np.log(found) / sample_time
    if not (poles.real < 0.0).all():
        raise NumericalError(
            f"the loop has a pole at {poles[int(poles.real.argmax())]:.4g} 1/s, which does not decay", part="lqr",
            hint="give weights to more states, or weights closer to each other",
        )  # fmt: skip
    return FeedbackGain(linear, K, poles, sample_time)


def weights(part: str, values: Weights, names: tuple[str, ...]) -> Array:
    """Return a symmetric matrix of weights (k, k) from any form of them."""
    k = len(names)
    if isinstance(values, int | float):
        return float(values) * np.eye(k)
    given = np.diag(in_order(part, values, names)) if isinstance(values, Mapping) or np.ndim(values) == 1 else None
    if given is not None:
        return given
    matrix = in_order(part, values, names)
    if matrix.shape != (k, k):
        raise InputError(f"wrong shape {matrix.shape}", part=part, hint=f"give ({k},) or ({k}, {k}) weights")
    if np.abs(matrix - matrix.T).max() > _SYMMETRIC * np.abs(matrix).max():
        raise InputError("the matrix is not symmetric", part=part, hint="use the mean of it and its transpose")
    return 0.5 * (matrix + matrix.T)


def _require_definite(part: str, matrix: Array, names: tuple[str, ...], *, strict: bool) -> None:
    values, vectors = np.linalg.eigh(matrix)
    least, size = float(values[0]), float(np.abs(values).max())
    if least > 0.0 or (not strict and least >= -1e-12 * size):
        return
    name = names[int(np.abs(vectors[:, 0]).argmax())]
    what = "not positive definite" if strict else "not positive semidefinite"
    raise InputError(
        f'the matrix is {what}: eigenvalue {least:.3g} in a direction with "{name}"', part=part,
        hint="give every input a weight above 0" if strict else "give weights from 0 on",
    )  # fmt: skip


def _require(missed: UnreachableModes, who: str, hint: str) -> None:
    if missed:
        modes = ", ".join(f"{mode:.4g}" for mode in missed.modes)
        raise InputError(
            f"the {who} do not reach modes that do not decay, at {modes} 1/s, in the states {missed}", part="lqr",
            hint=hint,
        )  # fmt: skip


def _require_detectable(linear: LinearModel, Q: Array) -> None:
    """Refuse undamped modes without cost: they would stay undamped, and no regulator is optimal."""
    values, vectors = np.linalg.eigh(Q)
    half = vectors * np.sqrt(np.maximum(values, 0.0))
    blind = unreachable_modes(linear.A.T, half, linear.states, unstable=True)
    large = max(float(np.abs(linear.A).max()), 1.0)
    undamped = UnreachableModes(blind.modes[np.abs(blind.modes.real) <= 1e-9 * large], blind.states)
    _require(undamped, "weights Q", "give a weight to one of those states")
