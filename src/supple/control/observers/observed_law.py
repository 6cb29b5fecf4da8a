"""Laws on an observer: feedback of estimates as an affine law, and the filter itself as a law, run over measurements.

With P = I - L H, the filter (`kalman_filter`) is x⁺ = A x + B z + b, x = X̂ after the measurement,

    A = P F,   B_y = L,   B_c = P G,   B_w = P E - L Y,   b = P (X⁰ - F X⁰ - G c⁰) + L (H X⁰ - y⁰)

and u = U X̂ + V z + v is computed from X̂ after the measurement: C = U A, D = U B + V, d = U b + v.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.control.feedforward.reference import reference
from supple.control.laws.affine_law import AffineLaw, constant_law
from supple.control.laws.affine_matrices import AffineMatrices, Ports, empty
from supple.control.laws.law_equilibrium import Equilibria
from supple.control.laws.law_kernel import OUTSIDE, law_in_place
from supple.control.laws.loop_error import SampledLoop
from supple.control.laws.scheduling import scheduled_law
from supple.control.observers.kalman_filter import FilterAt, KalmanFilter, SampledRests, pairs
from supple.control.observers.linear_filter import LinearFilter
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.results.result import brief
from supple.results.signals import Signals, label_signals
from supple.results.text import list_names

# Laws on an observer.


class Feedback(NamedTuple):
    """Feedback u = U X̂ + V z + v: estimates U (a, N), known V (a, m), offset v (a,)."""

    estimates: Array
    known: Array
    offset: Array


def observer_ports(
    observer: KalmanFilter,
    coordinates: tuple[str, ...] | None = None,
    previews: tuple[float, ...] = (0.0,),
    answers: tuple[str, ...] = (),
) -> Ports:
    """Return the ports of a law on an observer: all measurements of the filter, and all inputs of its model.

    coordinates : of the motion, if these are more than θ
    """
    layout = observer.model.layout
    names = layout.coordinates[: layout.theta] if coordinates is None else coordinates
    T = observer.sample_time
    return Ports(observer.measured, names, layout.inputs, T, previews, swept=True, answers=answers)


def product_columns(observer: KalmanFilter | LinearFilter, ports: Ports) -> list[int]:
    """Return the positions in z of the products of θ̇ that the filter uses, in its order; none for a linear filter."""
    if isinstance(observer, LinearFilter):
        return []
    names, theta = ports.coordinates, observer.model.layout.coordinates
    places = {pair: ports.products.start + k for k, pair in enumerate(zip(*ports.factors, strict=True))}
    found = []
    for i, j in pairs(observer.model.layout.theta):
        first, second = sorted((names.index(theta[i]), names.index(theta[j])))
        found.append(places[first, second])
    return found


def observer_matrices(
    observer: KalmanFilter | LinearFilter, here: FilterAt | LinearFilter, ports: Ports
) -> AffineMatrices:
    """Return the filter at one θ as a law without outputs; it begins at rest at the encoder readings."""
    (F, G, H, E, Y, state, command, output, *_), L = here.plant, here.gain.L
    m = empty(len(F), ports)
    kept = np.eye(len(F)) - L @ H
    products = product_columns(observer, ports)
    m.A[:] = kept @ F
    m.B[:, ports.y], m.B[:, ports.applied_commands], m.B[:, products] = L, kept @ G, kept @ E - L @ Y
    m.b[:] = kept @ (state - F @ state - G @ command) + L @ (H @ state - output)
    m.a0[:] = state
    for i, encoder in observer.direct_states:
        m.a0[i], m.A0[i, ports.place(encoder)] = 0.0, 1.0
    actuators = ports.actuators
    for k in range(here.plant.commands.start, here.plant.commands.stop):
        actuator = here.plant.names[k].rsplit(".", 1)[0]
        m.a0[k], m.A0[k, ports.applied_commands.start + actuators.index(actuator)] = 0.0, 1.0
    return m


def feedback_law(
    observer: KalmanFilter | LinearFilter, here: FilterAt | LinearFilter, ports: Ports, feedback: Feedback
) -> AffineMatrices:
    """Return the law at one θ with a feedback of estimates."""
    m = observer_matrices(observer, here, ports)
    U, V, v = feedback
    return m._replace(C=U @ m.A, D=U @ m.B + V, d=U @ m.b + v)


def estimating_law(
    observer: KalmanFilter | LinearFilter, here: FilterAt | LinearFilter, ports: Ports
) -> AffineMatrices:
    """Return the law at one θ whose outputs are all estimates except past commands, then the innovations y - ŷ."""
    m = observer_matrices(observer, here, ports)
    F, G, H, E, Y, state, command, output, *_ = here.plant
    shown = estimated_states(here)
    o = len(output)
    C, D, d = np.zeros((o, len(F))), np.zeros((o, ports.size)), -output + H @ (F @ state + G @ command)
    C[:] = -H @ F
    D[:, ports.y], D[:, ports.applied_commands] = np.eye(o), -H @ G
    D[:, product_columns(observer, ports)] = -H @ E - Y
    return m._replace(C=np.vstack([m.A[shown], C]), D=np.vstack([m.B[shown], D]), d=np.append(m.b[shown], d))


def estimated_states(here: FilterAt | LinearFilter) -> list[int]:
    """Return the states that are estimated rather than known."""
    return [k for k in range(len(here.plant.F)) if not here.plant.commands.start <= k < here.plant.commands.stop]


def observed_equilibria(
    observer: KalmanFilter, ports: Ports, theta: Array, answers: Callable[[SampledRests], Array]
) -> Equilibria:
    """Return the equilibria of laws on an observer at θ (N, s): X̂ = X⁰, y = y⁰, c₋ = c⁰, the motion at rest.

    answers : function from rests to u_e (N, a)
    """
    rests = observer.rests(theta)
    known = np.zeros((len(theta), ports.size))
    known[:, ports.y], known[:, ports.applied_commands] = rests.outputs, rests.commands
    places = [observer.model.layout.coordinates.index(name) for name in ports.coordinates]
    for preview in range(len(ports.previews)):
        known[:, ports.wanted(0, preview)] = rests.states[:, places]
    return Equilibria(rests.states, known, answers(rests))


def observed_loop(observer: KalmanFilter, theta: Array) -> SampledLoop:
    """Return the model of an observer at θ as the plant of a law, without biases."""
    plant = observer.at(theta).plant
    N = len(plant.F) - len(observer.biased_outputs)
    return SampledLoop(plant.F[:N, :N], plant.G[:N], plant.H[:, :N])


def state_places(here: FilterAt, names: tuple[str, ...]) -> list[int]:
    """Return the positions of states in X, by name."""
    for name in names:
        if name not in here.plant.names:
            raise InputError(f'the filter has no state "{name}"', part="observer", hint="name a state of its model")
    return [here.plant.names.index(name) for name in names]


# A filter run over measurements: estimates and innovations at every sample.


class Estimates(NamedTuple):
    """Estimates of an observer over a run.

    Attributes
    ----------
    states : Signals
        Estimates of the model's coordinates, rates, states of drives and biases, by name.
    innovations : Signals
        Differences between the measurements and their predictions.
    """

    states: Signals
    innovations: Signals

    def __repr__(self) -> str:
        return brief("Estimates", f"of {list_names(self.states)}; innovations of {list_names(self.innovations)}")


def observer_law(observer: KalmanFilter | LinearFilter, *, tolerance: float = 1e-4) -> AffineLaw:
    """Return the filter as a law whose outputs are estimates and innovations.

    Parameters
    ----------
    observer : KalmanFilter or LinearFilter
        Filter of a reduced model, scheduled over its region, or of a linear model.
    tolerance : float, optional
        Relative error of the fit over the region. Default: 1e-4.

        A filter that trusts its model corrects little, so that errors of the fit accumulate.

    Returns
    -------
    AffineLaw
        Law for `estimates` and `supple.export`.

    See Also
    --------
    estimates : Run the law over measurements.
    kalman_filter : Design of the filter.
    """
    require_arguments(observer_law, locals())
    if isinstance(observer, LinearFilter):
        answers = tuple(observer.plant.names[k] for k in estimated_states(observer))
        answers += tuple(f"{name}.innovation" for name in observer.measured)
        ports = Ports(observer.measured, (), observer.linear.inputs, observer.sample_time, answers=answers)
        return constant_law(estimating_law(observer, observer, ports), ports, name="observer")
    middle = observer.at(observer.model.fitted.arrays.roots_f[0].mean(axis=0))
    names = [middle.plant.names[k] for k in estimated_states(middle)]
    answers = (*names, *(f"{name}.innovation" for name in observer.measured))
    ports = observer_ports(observer, answers=answers)
    shown = estimated_states(middle)

    def outputs_at(rests: SampledRests) -> Array:
        return np.pad(rests.states[:, shown], ((0, 0), (0, len(observer.measured))))

    return scheduled_law(
        lambda theta: estimating_law(observer, observer.at(theta), ports), observer.model, ports,
        tolerance=tolerance, name="observer", by=observer.encoders,
        equilibria=lambda theta: observed_equilibria(observer, ports, theta, outputs_at),
    )  # fmt: skip


def estimates(
    law: AffineLaw,
    time: Array,
    measured: Mapping[str, Array],
    applied: Mapping[str, Array],
    motion: Any = None,
    *,
    before: Mapping[str, float] | None = None,
) -> Estimates:
    """Run an observer over measurements and commands.

    Parameters
    ----------
    law : AffineLaw
        Law made by `observer_law`.
    time : ndarray of shape (N,)
        Sample times, s.
    measured : mapping of str to ndarray of shape (N,)
        Measurements by output.
    applied : mapping of str to ndarray of shape (N,)
        Commands from each sample on, by actuator.
    motion : str, Motion, Trajectory or Reference, optional
        Reference motion, whose rates the filter uses. Default: none; rates are assumed zero.
    before : mapping of str to float, optional
        Commands at rest before the first sample. Default: those of the first sample.

    Returns
    -------
    Estimates
        Estimates and innovations at the samples.

    Raises
    ------
    InputError
        If the measurements leave the region of the law.

    See Also
    --------
    observer_law : The law.
    """
    ports, count = law.ports, len(time)
    z = np.zeros((count, ports.size))
    z[:, ports.y] = np.stack([measured[name] for name in ports.measured], axis=1)
    commands = np.stack([applied[name] for name in ports.actuators], axis=1)
    first_commands = [float((before or {}).get(name, applied[name][0])) for name in ports.actuators]
    z[:, ports.applied_commands] = np.vstack([first_commands, commands[:-1]])
    if motion is not None:
        sampled = reference(motion).sample(time)
        z[:, ports.wanted_all] = sampled.reshape(count, -1)
        first, second = ports.factors
        z[:, ports.products] = sampled[:, 1, first] * sampled[:, 1, second]
    outputs = _run(law, z)
    o, kept = len(ports.measured), len(ports.outputs) - len(ports.measured)
    return Estimates(
        label_signals(time, ports.outputs[:kept], outputs[:, :kept], {}),
        label_signals(time, ports.measured, outputs[:, len(outputs[0]) - o :], {}),
    )


def _run(law: AffineLaw, z: Array) -> Array:
    """Return the outputs (N, u) for z (N, m), from a start at rest."""
    n, m, u = law.states, law.ports.size, len(law.ports.outputs)
    vector = law.vector()
    here = law.at(z[0, [law.ports.place(name) for name in law.scheduled_by]])
    vector[:n] = here.A0 @ z[0] + here.a0
    step, outputs = compile_kernel(law_in_place), np.empty((len(z), u))
    for k in range(len(z)):
        vector[n : n + m] = z[k]
        if step(law.memory, law.rest_memory, vector) == OUTSIDE:
            raise InputError(
                f"the measurement at sample {k} is outside the region of the law",
                part="observer",
                hint="give measurements inside the region, or design the law over a larger one",
            )
        outputs[k] = vector[n + m : n + m + u]
    return outputs
