"""References that make up for the deformation: the tool goes where the rigid mechanism would bring it, slowly speaking.

    y(θ_c, δ_qs(θ_c, θ̇_d, θ̈_d)) = y(θ_d, 0),     y = ρ(θ) + Ψ(θ) δ

with the quasi-static deformation δ_qs of weight and of the inertia of the motion, at every instant by Newton's method.
θ_c - θ_d has corners where the wanted jerk jumps; it is averaged thrice over a short time, before and after the instant
alike, which rounds them and delays nothing. Vibrations are not in it: shape the motion, or damp them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.ndimage import uniform_filter1d

from supple.array_types import Array
from supple.control.feedforward.input_shaping import local_modes
from supple.control.feedforward.planned_motion import position_outputs
from supple.control.feedforward.reference import Reference, finite_reference
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.arguments import require_arguments
from supple.reduced.model import ReducedModel
from supple.reduced.time.begin import quasi_static
from supple.time_functions.function_of_time import Trajectory

_PIECES = 21  # of the time that is averaged over; an odd number lies about its middle
_AVERAGES = 3  # leave a continuous second derivative where the slope jumped
_ITERATIONS = 12
_MET = 1e-9  # of the largest deflection: what is left of it


def compensated(
    motion: Any, model: ReducedModel, outputs: str | Sequence[str], *, smoothing: float | None = None
) -> Reference:
    """The motion with which outputs of a flexible mechanism are where those of the rigid one would be.

    motion    : as `reference` takes it; it must end
    model     : a flexible reduced model
    outputs   : a sensor's name ("tool" for tool.x, tool.z) or names of outputs; as many as coordinates. Of fewer, the
                least change of the coordinates is taken
    smoothing : s, over which the correction is averaged, thrice; a quarter of the longest period if left out. By three
                halves of it the reference begins sooner and ends later
    """
    require_arguments(compensated, locals())
    given = finite_reference(motion, model, otherwise="it never ends")
    names = _outputs(model, outputs)
    middle = given.sampled(np.linspace(given.begin, given.end, 101))[:, 0]
    slowest = float(local_modes(model, middle).frequencies.min())
    width = 0.5 * np.pi / slowest if smoothing is None else float(smoothing)
    if not (np.isfinite(width) and width > 0.0):
        raise InputError(f"it is {width:g} s", part="smoothing", hint="give a time above 0")
    step = width / _PIECES
    margin = 0.5 * _AVERAGES * width + step
    time = np.arange(given.begin - margin, given.end + margin + step, step)
    theta, rates, accelerations = given.derivatives(time)
    change = correction(model, names, theta, rates, accelerations)
    for _ in range(_AVERAGES):
        change = uniform_filter1d(change, _PIECES, axis=0, mode="nearest")
    smooth = make_interp_spline(time, change, k=5)
    found = (theta + change, rates + smooth(time, 1), accelerations + smooth(time, 2))
    return Trajectory(given.coordinates, time, *found, given.units).function


def correction(model: ReducedModel, names: tuple[str, ...], theta: Array, rates: Array, accelerations: Array) -> Array:
    """θ_c - θ_d (N, s) at instants of a motion, (N, s) each; names : of outputs y."""
    goal, _ = _reached(model, names, theta, None)
    change = np.zeros_like(theta)
    largest = 0.0
    for _ in range(_ITERATIONS):
        delta = quasi_static(model, theta + change, rates, accelerations)
        y, J = _reached(model, names, theta + change, delta)
        left = float(np.abs(y - goal).max())
        largest = max(largest, left)
        if left <= _MET * largest:
            return change
        change = change - (np.linalg.pinv(J) @ (y - goal)[..., None])[..., 0]
    raise NumericalError(
        f"the deflection of {', '.join(names)} was made up for only to {left:.3g}", part=f'model "{model.name}"',
        hint="keep the motion away from singular positions, or move more slowly",
    )  # fmt: skip


def _reached(model: ReducedModel, names: tuple[str, ...], theta: Array, delta: Array | None) -> tuple[Array, Array]:
    """Outputs (N, c) and their slopes with θ (N, c, s)."""
    c = model.evaluate(theta)
    parts = [c.outputs[name] for name in names]
    y, J = np.stack([part.value for part in parts], axis=-1), np.stack([part.rigid for part in parts], axis=-2)
    if delta is not None:
        y = y + np.stack([np.einsum("ni,ni->n", part.modes, delta) for part in parts], axis=-1)
    return y, J


def _outputs(model: ReducedModel, given: str | Sequence[str]) -> tuple[str, ...]:
    found, s = position_outputs(model, given), model.layout.theta
    if not 0 < len(found) <= s:
        raise InputError(
            f"{len(found)} outputs are asked for, and {s} coordinates move them", part="outputs",
            hint=f"give at most {s} of {', '.join(position_outputs(model, None))}",
        )  # fmt: skip
    return found
