"""LQG: the regulator of least cost on the estimates of a Kalman filter, about the state of a linear model.

    u = c* - K (X̂ - X*)

X̂ is the estimate of the filter from what is measured, K the gain of least Σ T (XᵀQX + uᵀRu) of the samples, X* the
state at rest on the target and c* the command that holds it. The poles of the loop are those of the regulator,
F - G K, and those of the filter, (I - L H) F [Åström 1997, section 11.4].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from supple.array_types import Array
from supple.control.controllers.state_feedback import sampled_regulator
from supple.control.gains.decoupled_gains import PerCoordinate
from supple.control.gains.linear_quadratic import Weights, weights
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import fixed
from supple.control.laws.ports import Ports
from supple.control.observers.kalman_filter import kalman_filter
from supple.control.observers.linear_filter import LinearFilter, rigid_coordinates
from supple.control.observers.observed_law import Feedback, on_observer
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
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
    cost = np.zeros((N, N))
    cost[: plant.model, : plant.model] = weights("Q", Q, linear.states)
    K = sampled_regulator(F, G, T * cost, T * weights("R", R, linear.inputs))
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
    theta = rigid_coordinates(observer.linear)
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
