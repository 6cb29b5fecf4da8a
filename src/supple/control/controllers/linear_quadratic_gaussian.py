"""LQG: the regulator of least cost on the estimates of a Kalman filter, about the state of a linear model.

    u = c* - K (X̂ - X*)

X̂ is the estimate of the filter from what is measured, K the gain of least Σ T (XᵀQX + uᵀRu) of the samples, X* the
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
from supple.control.gains.pole_placement import Unreached, unreached
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import fixed
from supple.control.laws.affine_matrices import ORDERS, AffineMatrices, Ports
from supple.control.laws.scheduling import scheduled
from supple.control.observers.kalman_filter import FilterAt, KalmanFilter, kalman_filter
from supple.control.observers.linear_filter import LinearFilter, rigid_coordinate_names
from supple.control.observers.observed_law import (
    Feedback,
    loop_growth,
    observed_equilibria,
    observer_ports,
    on_observer,
    swept_columns,
)
from supple.control.observers.sampled_plant import held, held_cost, require_sample_time
from supple.diagnostics import InputError, NumericalError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.reduced.repertoire import named_theta
from supple.reduced.state_arguments import in_order, theta_points
from supple.results.linear_model import LinearModel

_HELD = 1e-9  # what may change in a sample at the target, of the way there


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
    """The regulator of least cost on estimates: for machines whose states are not all measured.

    linear        : in continuous time; with drives=False its inputs are forces, otherwise commands of its drives
    Q, R          : weights of the states and of the inputs, as `lqr` takes them
    sample_time   : s
    accelerations : RMS of what is not known of θ̈, m/s² or rad/s², for all coordinates or each. Larger ones make the
                    filter trust the measurements more
    noise         : RMS of each measurement, for all or by name
    measured      : outputs, coordinates or rates that the controller is told; the coordinates θ if left out
    bias          : as in `kalman_filter`
    target        : coordinates θ by name, those left out as in the linear model; what is elastic follows. If left out,
                    the state that the model is about
    computation_delay : s from a measurement to the command that answers it, as in `closed_loop`

    `supple.export` writes the result as C.
    """
    require_arguments(lqg, locals())
    observer = kalman_filter(
        linear, sample_time=sample_time, accelerations=accelerations, measured=measured, noise=noise, bias=bias,
        computation_delay=computation_delay,
    )  # fmt: skip
    plant, T = observer.plant, sample_time
    N = len(plant.F) - len(observer.biased)  # biases are not the machine's, and no command moves them
    F, G = plant.F[:N, :N], plant.G[:N]
    K = sampled_regulator(F, G, T * _whole(Q, linear.states, N), T * weights("R", R, linear.inputs))
    state, command = _held_at(observer, target, F, G)
    ports = Ports(observer.measured, (), linear.inputs, T)
    U = np.zeros((len(K), len(plant.F)))
    U[:, :N] = -K
    feedback = Feedback(U, np.zeros((len(K), ports.size)), command + K @ state)
    law = fixed(on_observer(observer, observer, ports, feedback), ports, name="lqg")
    return AffineController(replace(law, undriven=linear.undriven))


def _held_at(observer: LinearFilter, target: Mapping[str, float] | None, F: Array, G: Array) -> tuple[Array, Array]:
    """X* and c*: (F - I) δX + G δc = 0 with θ on the target."""
    plant, N = observer.plant, len(F)
    state, command = plant.state[:N].copy(), plant.command.copy()
    if not target:
        return state, command
    theta = rigid_coordinate_names(observer.linear)
    for name in target:
        if name not in theta:
            raise InputError(f'"{name}" is no coordinate θ', part="target", hint=nearest(name, theta))
    wanted = np.array([target.get(name, state[i]) for i, name in enumerate(theta)]) - state[: len(theta)]
    rows = np.block([[F - np.eye(N), G], [np.eye(len(theta), N), np.zeros((len(theta), G.shape[1]))]])
    right = np.append(np.zeros(N), wanted)
    found = np.linalg.lstsq(rows, right, rcond=1e-13)[0]
    left = float(np.abs(rows @ found - right).max())
    if left > _HELD * max(float(np.abs(wanted).max()), 1e-300):
        raise InputError(
            f"no inputs hold it there: {left:.3g} is left of {np.abs(wanted).max():.3g}", part="target",
            hint="choose a target at rest that the actuators can hold",
        )  # fmt: skip
    return state + found[:N], command + found[N:]


# State feedback on an observer: the regulator of least cost of the machine as sampled, with drives and delays.
#
#     u = c⁰ + Σ_k R_k θ_d^(k) + R_w w - K (X̂ - X⁰ - Σ_k S_k θ_d^(k) - S_w w)
#
# X̂ is what the Kalman filter says of the model's coordinates, rates and drives, and of commands that are on their way;
# K minimises Σ T (XᵀQX + uᵀRu) of the samples, counted from the motion; S and R say what the machine does, and is told,
# where it follows the motion (`motion_series`), w are the products of its rates (centrifugal forces). All of it at θ,
# and fitted over the region.


def state_feedback(
    observer: KalmanFilter,
    motion: Any,
    *,
    Q: Weights,
    R: Weights,
    at: Any = None,
    tolerance: float = 1e-3,
) -> AffineController:
    """The regulator on a Kalman filter that follows a motion.

    observer  : `kalman_filter` of the reduced model, whose drives, instruments and delays it knows
    motion    : as `reference` takes it
    Q, R      : weights of the model's states ("lift", "lift.rate", ...) and of the commands, as `lqr` takes them
    at        : one configuration; the law is made there and used everywhere. If left out it changes over θ
    tolerance : of the fit over the region, at most; it is closer where the loop would lose half of its damping to it
    """
    require_arguments(state_feedback, locals())
    model = observer.model
    wanted = reference(motion, model)
    ports = observer_ports(observer, wanted.coordinates)

    def matrices_of(theta: Array) -> AffineMatrices:
        here = observer.at(theta)
        return on_observer(observer, here, ports, _feedback(observer, here, ports, Q, R))

    if at is not None:
        theta = theta_points(model.layout, named_theta(model, at))[0][0]
        law = fixed(matrices_of(theta), ports, name="state feedback")
    else:
        law = scheduled(
            matrices_of, model, ports, tolerance=tolerance, name="state feedback", by=observer.encoders,
            equilibria=lambda theta: observed_equilibria(observer, ports, theta, lambda rests: rests.commands),
            growth=lambda theta, matrices: loop_growth(observer, theta, ports, matrices),
        )  # fmt: skip
    driven = {block.actuator for block in observer.hardware.drives}
    return AffineController(replace(law, commanded=tuple(n for n in ports.actuators if n in driven)), wanted)


def _feedback(observer: KalmanFilter, here: FilterAt, ports: Ports, Q: Weights, R: Weights) -> Feedback:
    plant, T, s = here.plant, observer.sample_time, observer.model.layout.theta
    N = len(plant.F) - len(observer.biased)  # biases are not the machine's, and no command moves them
    F, G, E = plant.F[:N, :N], plant.G[:N], plant.E[:N]
    K = sampled_regulator(F, G, T * _whole(Q, plant.names[: plant.model], N), T * weights("R", R, ports.actuators))
    theta = np.eye(N)[:s]
    series = motion_series(F, G, theta, T)
    U, V = np.zeros((len(K), len(plant.F))), np.zeros((len(K), ports.size))
    U[:, :N] = -K
    for k in range(ORDERS):
        V[:, ports.wanted(k)] = series.inputs[k] + K @ series.states[k]
    held = np.linalg.pinv(np.block([[F - np.eye(N), G], [theta, np.zeros((s, len(K)))]]), rcond=1e-13)
    swept = held @ np.vstack([-E, np.zeros((s, E.shape[1]))])
    V[:, swept_columns(observer, ports)] = swept[N:] + K @ swept[:N]
    return Feedback(U, V, plant.command + K @ plant.state[:N] - V[:, ports.wanted(0)] @ plant.state[:s])


def _whole(Q: Weights, names: tuple[str, ...], N: int) -> Array:
    """Weights of the model's states among all N."""
    found = np.zeros((N, N))
    found[: len(names), : len(names)] = weights("Q", Q, names)
    return found


def sampled_regulator(F: Array, G: Array, Q: Array, R: Array) -> Array:
    """K of least Σ XᵀQX + uᵀRu of X⁺ = F X + G u: K = (R + Gᵀ P G)⁻¹ Gᵀ P F, P by Riccati's equation."""
    try:
        P = solve_discrete_are(F, G, Q, R)
    except (LinAlgError, ValueError) as error:
        raise NumericalError(
            f"Riccati's equation was not solved ({' '.join(str(error).split())})", part="state feedback",
            hint="weigh the coordinates, bring the weights closer to each other, or keep fewer modes",
        ) from None  # fmt: skip
    K = np.linalg.solve(R + G.T @ P @ G, G.T @ P @ F)
    largest = float(np.abs(np.linalg.eigvals(F - G @ K)).max())
    if not largest < 1.0:
        raise NumericalError(
            f"a mode of the samples is left with {largest:.9g}, which does not decay", part="state feedback",
            hint="weigh the coordinates, or bring the weights closer to each other",
        )  # fmt: skip
    return np.asarray(K)


# The linear quadratic regulator: the feedback of least cost ∫ (δxᵀ Q δx + δuᵀ R δu) dt.
#
# K = R⁻¹ Bᵀ P,   Aᵀ P + P A - P B R⁻¹ Bᵀ P + Q = 0


Weights = float | Mapping[str, float] | ArrayLike

_SYMMETRIC = 1e-12


def lqr(linear: LinearModel, Q: Weights, R: Weights, *, sample_time: float | None = None) -> FeedbackGain:
    """The gain of least cost.

    Q : weights of the states, R : of the inputs: one number for all, by name (zero if left out), in order, or a
        symmetric matrix. Q must not be negative, R must be positive
    sample_time : s, for which inputs are held; the same cost, integrated between samples, is then the least
    """
    require_arguments(lqr, locals())
    require_continuous_time(linear)
    require_sample_time(sample_time)
    states, inputs = weights("Q", Q, linear.states), weights("R", R, linear.inputs)
    _require_definite("Q", states, linear.states, strict=False)
    _require_definite("R", inputs, linear.inputs, strict=True)
    _require(unreached(linear.A, linear.B, linear.states, unstable=True), "inputs", "add an actuator there")
    _require_seen(linear, states)
    A, B, N = linear.A, linear.B, np.zeros_like(linear.B)
    try:
        if sample_time is None:
            P = solve_continuous_are(A, B, states, inputs)
            K = cho_solve(cho_factor(inputs), B.T @ P)
        else:
            A, B = held(A, B, sample_time)
            states, N, inputs = held_cost(linear.A, linear.B, states, inputs, sample_time)
            P = solve_discrete_are(A, B, states, inputs, s=N)
            K = cho_solve(cho_factor(inputs + B.T @ P @ B), B.T @ P @ A + N.T)
    except np.linalg.LinAlgError as error:
        raise NumericalError(
            f"Riccati's equation was not solved ({' '.join(str(error).split())})", part="lqr",
            hint="bring the weights closer to each other, or to the units of the states",
        ) from None  # fmt: skip
    found = np.linalg.eigvals(A - B @ K).astype(complex)
    poles = found if sample_time is None else np.log(found) / sample_time
    if not (poles.real < 0.0).all():
        raise NumericalError(
            f"the loop has a pole at {poles[int(poles.real.argmax())]:.4g} 1/s that does not decay", part="lqr",
            hint="weigh more states, or bring the weights closer to each other",
        )  # fmt: skip
    return FeedbackGain(linear, K, poles, sample_time)


def weights(part: str, values: Weights, names: tuple[str, ...]) -> Array:
    """A symmetric matrix of weights (k, k), however they are given."""
    k = len(names)
    if isinstance(values, int | float):
        return float(values) * np.eye(k)
    given = np.diag(in_order(part, values, names)) if isinstance(values, Mapping) or np.ndim(values) == 1 else None
    if given is not None:
        return given
    matrix = in_order(part, values, names)
    if matrix.shape != (k, k):
        raise InputError(f"has the shape {matrix.shape}", part=part, hint=f"give ({k},) or ({k}, {k}) weights")
    if np.abs(matrix - matrix.T).max() > _SYMMETRIC * np.abs(matrix).max():
        raise InputError("it is not symmetric", part=part, hint="take the mean of it and its transpose")
    return 0.5 * (matrix + matrix.T)


def _require_definite(part: str, matrix: Array, names: tuple[str, ...], *, strict: bool) -> None:
    values, vectors = np.linalg.eigh(matrix)
    least, size = float(values[0]), float(np.abs(values).max())
    if least > 0.0 or (not strict and least >= -1e-12 * size):
        return
    name = names[int(np.abs(vectors[:, 0]).argmax())]
    what = "not positive" if strict else "negative"
    raise InputError(
        f'it is {what}: {least:.3g} in a direction with "{name}"', part=part,
        hint="weigh every input by a number above 0" if strict else "give weights of 0 and above",
    )  # fmt: skip


def _require(missed: Unreached, who: str, hint: str) -> None:
    if missed:
        modes = ", ".join(f"{mode:.4g}" for mode in missed.modes)
        raise InputError(
            f"modes that do not decay are beyond the {who}, at {modes} 1/s, in the states {missed}", part="lqr",
            hint=hint,
        )  # fmt: skip


def _require_seen(linear: LinearModel, Q: Array) -> None:
    """Modes on the imaginary axis that cost nothing would stay there: no regulator is then the best."""
    values, vectors = np.linalg.eigh(Q)
    half = vectors * np.sqrt(np.maximum(values, 0.0))
    blind = unreached(linear.A.T, half, linear.states, unstable=True)
    large = max(float(np.abs(linear.A).max()), 1.0)
    standing = Unreached(blind.modes[np.abs(blind.modes.real) <= 1e-9 * large], blind.states)
    _require(standing, "weights Q", "weigh one of those states")
