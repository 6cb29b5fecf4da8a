"""Compensation of deflection: a reference with which the tool moves as that of the rigid mechanism, quasi-statically.

    y(θ_c, δ_qs(θ_c, θ̇_d, θ̈_d)) = y(θ_d, 0),     y = ρ(θ) + Ψ(θ) δ

δ_qs is the quasi-static deformation by weight and by the inertia of the motion, found at every sample by Newton's
method. θ_c - θ_d has corners where the reference jerk jumps. It is averaged three times over a short symmetric time
window, which rounds the corners without a delay. Vibrations are not compensated: shape the motion, or damp them.
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

_PIECES = 21  # samples of the averaging window; odd, so that it is symmetric
_AVERAGES = 3  # give a continuous second derivative where the slope jumps
_ITERATIONS = 12
_MET = 1e-9  # of the largest deflection: residual at convergence


def compensate_deflection(
    motion: Any, model: ReducedModel, outputs: str | Sequence[str], *, smoothing: float | None = None
) -> Reference:
    """Compensate the quasi-static deflection of outputs along a motion.

    Parameters
    ----------
    motion : str, Motion, Trajectory, path, callable or Reference
        Motion with an end, as in `reference`.
    model : ReducedModel
        Flexible reduced model.
    outputs : str or sequence of str
        Positions to compensate: a sensor's name ("tool" for tool.x, tool.z) or names of outputs, at most as many as
        coordinates.

        With fewer outputs than coordinates, the smallest change of the coordinates is used.
    smoothing : float, optional
        Width of the averaging window of the correction, s. Default: a quarter of the longest period.

        The correction is averaged three times, so that the reference begins earlier and ends later by 1.5 windows.

    Returns
    -------
    Reference
        Motion of the coordinates with which the outputs are where those of the rigid mechanism would be.

    Raises
    ------
    InputError
        If the motion has no end, the model is not flexible, or there are too many outputs.
    NumericalError
        If the deflection cannot be compensated, as near singular configurations.

    See Also
    --------
    stable_inversion : Exact compensation, including vibration.
    shaped : Motion without residual vibration.
    """
    require_arguments(compensate_deflection, locals())
    motion_reference = finite_reference(motion, model, otherwise="the motion has no end")
    names = _outputs(model, outputs)
    middle = motion_reference.sample(np.linspace(motion_reference.begin, motion_reference.end, 101))[:, 0]
    slowest = float(local_modes(model, middle).frequencies.min())
    width = 0.5 * np.pi / slowest if smoothing is None else float(smoothing)
    if not (np.isfinite(width) and width > 0.0):
        raise InputError(f"must be positive (got {width:g} s)", part="smoothing", hint="give a time above 0")
    step = width / _PIECES
    margin = 0.5 * _AVERAGES * width + step
    time = np.arange(motion_reference.begin - margin, motion_reference.end + margin + step, step)
    theta, rates, accelerations = motion_reference.derivatives(time)
    change = correction(model, names, theta, rates, accelerations)
    for _ in range(_AVERAGES):
        change = uniform_filter1d(change, _PIECES, axis=0, mode="nearest")
    smooth = make_interp_spline(time, change, k=5)
    found = (theta + change, rates + smooth(time, 1), accelerations + smooth(time, 2))
    return Trajectory(motion_reference.coordinates, time, *found, motion_reference.units).function


def correction(model: ReducedModel, names: tuple[str, ...], theta: Array, rates: Array, accelerations: Array) -> Array:
    """Return θ_c - θ_d (N, s) at samples of a motion, (N, s) each; names : of outputs y."""
    goal, _ = _outputs_at(model, names, theta, None)
    change = np.zeros_like(theta)
    largest = 0.0
    for _ in range(_ITERATIONS):
        delta = quasi_static(model, theta + change, rates, accelerations)
        y, J = _outputs_at(model, names, theta + change, delta)
        residual = float(np.abs(y - goal).max())
        largest = max(largest, residual)
        if residual <= _MET * largest:
            return change
        change = change - (np.linalg.pinv(J) @ (y - goal)[..., None])[..., 0]
    raise NumericalError(
        f"the deflection of {', '.join(names)} is not compensated: residual {residual:.3g}",
        part=f'model "{model.name}"', hint="keep the motion away from singular configurations, or move more slowly",
    )  # fmt: skip


def _outputs_at(model: ReducedModel, names: tuple[str, ...], theta: Array, delta: Array | None) -> tuple[Array, Array]:
    """Return outputs (N, c) and their slopes with θ (N, c, s)."""
    c = model.evaluate(theta)
    parts = [c.outputs[name] for name in names]
    y, J = np.stack([part.value for part in parts], axis=-1), np.stack([part.rigid for part in parts], axis=-2)
    if delta is not None:
        y = y + np.stack([np.einsum("ni,ni->n", part.modes, delta) for part in parts], axis=-1)
    return y, J


def _outputs(model: ReducedModel, motion_reference: str | Sequence[str]) -> tuple[str, ...]:
    found, s = position_outputs(model, motion_reference), model.layout.theta
    if not 0 < len(found) <= s:
        raise InputError(
            f"{s} coordinates cannot compensate {len(found)} outputs", part="outputs",
            hint=f"give at most {s} of {', '.join(position_outputs(model, None))}",
        )  # fmt: skip
    return found
