"""Where an elastic mechanism rests with everything it has of deformation, or what steady motion bends it to.

The undeformed mechanism comes first: at its own equilibrium where coordinates are free, or where they are held. Held
there, loads bend it, step by step where they must; then the coordinates that are free are let go.
(docs/theory/flexible-statics.md)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import SuppleWarning
from supple.formulations.absolute.instant import centre_motion, least_multipliers
from supple.formulations.absolute.march import WIDEST
from supple.formulations.absolute.settling import Settled, Steady, settle_bodies
from supple.formulations.absolute.step import State
from supple.formulations.absolute.system import Absolute, absolute
from supple.formulations.coefficients import ACTUATOR, NUMBER, ROLE
from supple.kinematics.configuration import Configuration, Deformed
from supple.kinematics.motion import motion


class DeformedRest(NamedTuple):
    """The full equations with what is held prescribed, where they rest, and under what inputs."""

    problem: Absolute
    settled: Settled
    inputs: Array

    @property
    def state(self) -> State:
        return self.settled.state

    @property
    def configuration(self) -> Configuration:
        """The deformed mechanism; a run may start from it."""
        state, rest, frames = self.state, self.problem.rest, self.problem.frames
        theta = state.w[: len(rest.numbering.coordinates)].copy()
        one = np.ones(())
        return Configuration(rest, theta, frames.bodies(state.X), state.w.copy(), one, Deformed(frames, state.X.copy()))

    @property
    def multipliers(self) -> Array:
        """(rows,) of joints and held coordinates, the least where they are redundant: Φ_qᵀ λ acts on the frames."""
        rows = _in_world(self.problem, self.state, self.settled.tangent.J.toarray())
        forces = rows.T @ self.state.multipliers
        return np.asarray(least_multipliers(self.problem, rows[None], forces[None, :, None])[0, :, 0])


def deformed_rest(
    here: Configuration,
    inputs: Array,
    held: tuple[int, ...] | None = None,
    *,
    rates: Array | None = None,
    loads: Mapping[int, float] | None = None,
) -> DeformedRest:
    """Close to an undeformed configuration (or from a deformed one), under constant inputs (actuators,).

    held  : numbers of the coordinates that stay where they are; None for all
    rates : θ̇ (s,) of a steady motion, in which bodies are carried along as if they were rigid, θ̈ = 0; all are held
    loads : further forces (N, N m) along measures, by their rows; all coordinates are held
    """
    count = len(here.rest.numbering.coordinates)
    every = tuple(range(count))
    problem = absolute(here.rest, every)
    if loads:
        problem, inputs = pushed_along(problem, list(loads)), np.concatenate([inputs, list(loads.values())])
    X = problem.frames.poses(here.X) if here.deformed is None else here.deformed.X.copy()
    still = np.zeros((len(X) - 1, len(problem.system.rows.column)))
    begin = State(X, still, still.copy(), still.copy(), np.zeros(_rows(problem)), here.w.copy())
    steady = None
    if rates is not None and np.any(rates):
        moving = motion(here.part(None), np.asarray(rates, float)[None], np.zeros((1, count)))
        steady = Steady(*(part[0] for part in centre_motion(problem, moving)))
    found = settle_bodies(problem, begin, inputs, here.theta, steady)
    if held is None or held == every:
        _warn_of_bending(found)
        return DeformedRest(problem, found, inputs)
    # Let go what is free: the forces that held it are taken off.
    joints, state = here.rest.numbering.constraints, found.state
    others = np.arange(joints + count, len(state.multipliers))  # what holds superelements together
    kept = np.concatenate([np.arange(joints), joints + np.array(held, dtype=np.int64), others]).astype(np.int64)
    freed = absolute(here.rest, held)
    found = settle_bodies(freed, state._replace(multipliers=state.multipliers[kept]), inputs, here.theta[list(held)])
    _warn_of_bending(found)
    return DeformedRest(freed, found, inputs)


def _warn_of_bending(found: Settled) -> None:
    if found.tangent.bent > WIDEST:
        warnings.warn(
            f"an element is bent by {found.tangent.bent:.2g} rad against its chord (limit {WIDEST:g} rad), and its "
            "strains are not what they should be; give its beam more elements", SuppleWarning, stacklevel=4,
        )  # fmt: skip


def _rows(problem: Absolute) -> int:
    return problem.rest.numbering.constraints + len(problem.system.driven)


def _in_world(problem: Absolute, state: State, rows: Array) -> Array:
    """Rows (m, n) over displacements in the axes of the frames, brought to those of the world."""
    column, frames = problem.system.rows.column, len(state.V)
    blocks = np.zeros((frames, 6, 6))
    blocks[:, :3, :3], blocks[:, 3:, 3:] = state.X[:-1, 3:].reshape(-1, 3, 3), np.eye(3)
    R = blocks[:, column[:, None], column]
    return np.asarray(np.einsum("mfc,fdc->mfd", rows.reshape(len(rows), frames, -1), R).reshape(len(rows), -1))


# Further forces along measures, beside those of the actuators: what deflects a mechanism until it is let go.


def pushed_along(problem: Absolute, rows: Sequence[int]) -> Absolute:
    """The same equations with one more input along each of the measures of these rows, after the actuators."""
    system, numbering = problem.system, problem.rest.numbering
    starts, kinds, values = system.uses_start.copy(), system.uses_i, system.uses_f
    for k, row in enumerate(rows):
        measure = row - numbering.constraints
        use = np.zeros((1, kinds.shape[1]), dtype=np.int64)
        use[0, ROLE], use[0, NUMBER] = ACTUATOR, len(numbering.mechanism.actuators) + k
        at = int(starts[measure + 1])
        kinds = np.insert(kinds, at, use, axis=0)
        values = np.insert(values, at, np.zeros((1, values.shape[1])), axis=0)
        starts[measure + 1 :] += 1
    return problem._replace(system=system._replace(uses_start=starts, uses_i=kinds, uses_f=values))
