"""A filter run over what was measured: estimates and innovations at every sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compiled
from supple.control.feedforward.reference import reference
from supple.control.laws.affine_law import AffineLaw, fixed
from supple.control.laws.law_kernel import OUTSIDE, law_in_place
from supple.control.laws.law_ports import Ports
from supple.control.laws.scheduling import scheduled
from supple.control.observers.kalman_filter import KalmanFilter, SampledRests
from supple.control.observers.linear_filter import LinearFilter
from supple.control.observers.observed_law import estimated, estimating_law, observed_equilibria, observer_ports
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.results.names import listed
from supple.results.result import brief
from supple.results.signals import Signals, labelled


class Estimates(NamedTuple):
    """states : estimates by the names of the model's coordinates, rates, states of drives, biases; innovations : what
    each measurement was beyond what had been expected."""

    states: Signals
    innovations: Signals

    def __repr__(self) -> str:
        return brief("Estimates", f"of {listed(self.states)}; innovations of {listed(self.innovations)}")


def observer_law(observer: KalmanFilter | LinearFilter, *, tolerance: float = 1e-4) -> AffineLaw:
    """The filter as a law that answers with estimates and innovations: over the region of a reduced model, or about the
    state of a linear one.

    tolerance : of the fit over a region; a filter that trusts its model corrects little, and errors of the fit add up
    """
    require_arguments(observer_law, locals())
    if isinstance(observer, LinearFilter):
        answers = tuple(observer.plant.names[k] for k in estimated(observer))
        answers += tuple(f"{name}.innovation" for name in observer.measured)
        ports = Ports(observer.measured, (), observer.linear.inputs, observer.sample_time, answers=answers)
        return fixed(estimating_law(observer, observer, ports), ports, name="observer")
    middle = observer.at(observer.model.fitted.arrays.roots_f[0].mean(axis=0))
    names = [middle.plant.names[k] for k in estimated(middle)]
    answers = (*names, *(f"{name}.innovation" for name in observer.measured))
    ports = observer_ports(observer, answers=answers)
    shown = estimated(middle)

    def answered(rests: SampledRests) -> Array:
        return np.pad(rests.states[:, shown], ((0, 0), (0, len(observer.measured))))

    return scheduled(
        lambda theta: estimating_law(observer, observer.at(theta), ports), observer.model, ports,
        tolerance=tolerance, name="observer", by=observer.encoders,
        equilibria=lambda theta: observed_equilibria(observer, ports, theta, answered),
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
    """What an observer makes of a run.

    law      : made by `observer_law`
    time     : (N,) s, its samples; measured : of each output, (N,); applied : commands from each sample on, (N,)
    motion   : the wanted motion, whose rates the filter knows; it takes them for zero if left out
    before   : commands that it stood at before the first sample; those of the first sample where left out
    """
    ports, count = law.ports, len(time)
    z = np.zeros((count, ports.size))
    z[:, ports.y] = np.stack([measured[name] for name in ports.measured], axis=1)
    commands = np.stack([applied[name] for name in ports.actuators], axis=1)
    stood = [float((before or {}).get(name, applied[name][0])) for name in ports.actuators]
    z[:, ports.applied] = np.vstack([stood, commands[:-1]])
    if motion is not None:
        wanted = reference(motion).sampled(time)
        z[:, ports.wanted_all] = wanted.reshape(count, -1)
        first, second = ports.factors
        z[:, ports.products] = wanted[:, 1, first] * wanted[:, 1, second]
    answers = _run(law, z)
    o, kept = len(ports.measured), len(ports.answered) - len(ports.measured)
    return Estimates(
        labelled(time, ports.answered[:kept], answers[:, :kept], {}),
        labelled(time, ports.measured, answers[:, len(answers[0]) - o :], {}),
    )


def _run(law: AffineLaw, z: Array) -> Array:
    """Answers (N, u) to z (N, m), from a start that stood."""
    n, m, u = law.states, law.ports.size, len(law.ports.answered)
    vector = law.vector()
    here = law.at(z[0, [law.ports.place(name) for name in law.scheduled_by]])
    vector[:n] = here.A0 @ z[0] + here.a0
    step, answers = compiled(law_in_place), np.empty((len(z), u))
    for k in range(len(z)):
        vector[n : n + m] = z[k]
        if step(law.memory, law.rest_memory, vector) == OUTSIDE:
            raise InputError(
                f"nothing was made for what is measured at sample {k}", part="observer", hint="stay inside the region"
            )
        answers[k] = vector[n + m : n + m + u]
    return answers
